import type { Caller } from '../../kernel/caller.ts';
import { type Clock, secondsUntil } from '../../kernel/clock.ts';
import { RateLimitError } from '../../kernel/errors.ts';
import { tenantKey } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { createWindows } from './windows.ts';

/** The exports that a credential begins in a minute, over all instances. */
const A_MINUTE = 6;
/** The exports that are open at once on this instance: of an account and environment, and of all. */
const OPEN = { tenant: 2, all: 4 };
/** An estimate: the end of an export makes room at once, but its time is not known. */
const RETRY_AFTER_SECONDS = 10;

/** Creates the limits on exports: each reads a whole list, and lasts as long as its client takes to read it. */
export function createExportLimits({ sql, clock }: { sql: Sql; clock: Clock }) {
  const windows = createWindows({ sql, clock, name: 'exports', limit: A_MINUTE, chunk: 1 });
  /** The open exports by tenant. */
  const open = new Map<string, number>();

  function assertRoom(key: string): void {
    const all = [...open.values()].reduce((sum, count) => sum + count, 0);
    if ((open.get(key) ?? 0) >= OPEN.tenant)
      throw new RateLimitError(
        `${OPEN.tenant} open exports of one account and environment`,
        RETRY_AFTER_SECONDS,
      );
    if (all >= OPEN.all)
      throw new RateLimitError(`${OPEN.all} open exports of one server`, RETRY_AFTER_SECONDS);
  }

  function change(key: string, by: 1 | -1): void {
    const count = (open.get(key) ?? 0) + by;
    if (count > 0) open.set(key, count);
    else open.delete(key);
  }

  return {
    /** Opens an export. Returns the function that closes it, which is called once. @throws RateLimitError */
    async open({ tenant, credential }: Caller): Promise<() => void> {
      const key = tenantKey(tenant);
      assertRoom(key);
      change(key, 1);
      const close = () => change(key, -1);
      try {
        const ofCredential = `${key} ${credential.id}`;
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
