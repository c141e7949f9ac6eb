import type { Caller } from '../../kernel/caller.ts';
import { type Clock, secondsUntil } from '../../kernel/clock.ts';
import { RateLimitError } from '../../kernel/errors.ts';
import { tenantKey } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { createOpenSlots } from './open-slots.ts';
import { createWindows } from './windows.ts';

/** The exports that a credential begins in a minute, over all instances. */
const A_MINUTE = 6;

/** Creates the limits on exports. */
export function createExportLimits({ sql, clock }: { sql: Sql; clock: Clock }) {
  const windows = createWindows({ sql, clock, name: 'exports', limit: A_MINUTE, chunk: 1 });
  // Each reads a whole list, and lasts as long as its client takes to read it.
  const openOne = createOpenSlots({ tenant: 2, all: 4, noun: 'exports' });

  return {
    /** Opens an export. Returns the function that closes it, which is called once. @throws RateLimitError */
    async open({ tenant, credential }: Caller): Promise<() => void> {
      const close = openOne(tenant);
      try {
        const ofCredential = `${tenantKey(tenant)} ${credential.id}`;
        if (await windows.take(ofCredential)) return close;
        const { resetAt } = windows.peek(ofCredential);
        throw new RateLimitError(
          `${A_MINUTE} exports a minute of one credential`,
          secondsUntil(resetAt, clock),
        );
      } catch (error) {
        close();
        throw error;
      }
    },
    release: windows.release,
  };
}
