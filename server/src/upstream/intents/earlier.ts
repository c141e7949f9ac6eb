import { PreconditionError, RateLimitError } from '../../kernel/errors.ts';
import { type Behind, describeBehind } from '../../kernel/records.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { type Committer, put, type Writes } from '../../state/commit/commit.ts';
import type { Records } from '../../state/db/records.ts';
import { toUpstreamError } from '../responses.ts';
import { UpstreamFault } from '../upstream.ts';
import { changeWhileOpen } from './commands.ts';
import {
  type Found,
  isFound,
  isRefusal,
  type LookupResult,
  type Operation,
  unknownOutcome,
} from './operations.ts';
import { intents } from './store.ts';
import {
  type Intent,
  isOpen,
  isSameAttempt,
  mayBeMissing,
  type NotFound,
  type Outcome,
} from './transitions.ts';

/**
 * Creates the guard against repeating requests that are missing from restored records: before a request that
 * moves money is sent, its earlier result is looked for. The guard uses the coordinator's own steps.
 */
export function createEarlierRequests({
  committer,
  records,
  onFault,
  movesMoney,
  lookUp,
  complete,
  refuse,
  recordUnknown,
}: {
  committer: Committer;
  records: Pick<Records, 'behind'>;
  onFault: (fault: unknown) => void;
  movesMoney: (operation: string) => boolean;
  lookUp: (tenant: Tenant, intent: Intent) => Promise<LookupResult>;
  complete: (tenant: Tenant, intent: Intent, found: Found) => Promise<string | null>;
  refuse: (tenant: Tenant, intent: Intent) => Promise<void>;
  recordUnknown: (tenant: Tenant, intent: Intent, result: NotFound) => Promise<unknown>;
}) {
  return {
    /**
     * Reads the mark of missing records, for a request that moves money. `isNamed`: its caller has given a
     * key.
     * @throws PreconditionError if it has none: in doubt, nobody could name the request again
     */
    async behind(operation: string, { isNamed }: { isNamed: boolean }): Promise<Behind | null> {
      const behind = movesMoney(operation) ? await records.behind() : null;
      if (behind && !isNamed)
        throw new PreconditionError(
          'RECORDS_BEHIND',
          `Give an idempotencyKey: ${describeBehind(behind.since)}. Nothing was sent`,
        );
      return behind;
    },

    /**
     * Looks for the result of a request that was made before it was recorded; null if there is none, and the
     * request is sent now.
     * @throws UpstreamError if that is not known; an error that allows a retry, if the service cannot
     * be reached
     */
    async lookFor<Input>(
      tenant: Tenant,
      intent: Intent,
      operation: Operation<Input>,
    ): Promise<Outcome | null> {
      let result: LookupResult = 'unclear';
      try {
        result = await lookUp(tenant, intent);
        const resourceId = isFound(result) ? await complete(tenant, intent, result) : null;
        if (resourceId !== null) return { resourceId, replayed: true };
      } catch (error) {
        if (isRefusal(error) && (error instanceof UpstreamFault || error instanceof RateLimitError)) {
          await refuse(tenant, intent);
          throw error instanceof UpstreamFault ? toUpstreamError(error) : error;
        }
        if (!(error instanceof UpstreamFault)) onFault(error);
      }
      if (result === 'not_there') {
        const decide = (known: Intent): Writes => ({
          records: [put(intents, { ...known, behindSince: null })],
        });
        const current = await committer.change(changeWhileOpen(tenant, intent, decide));
        return isOpen(current) && isSameAttempt(current, intent) ? null : 'changed';
      }
      await recordUnknown(tenant, intent, isFound(result) ? 'unclear' : result);
      throw unknownOutcome(operation, intent, false);
    },

    /**
     * @throws PreconditionError if the records may lack a request under this key; `intent` is all that they
     * have of it
     */
    async assertNotMissing(intent: Intent | null): Promise<void> {
      const behind = await records.behind();
      if (behind && mayBeMissing(intent, behind))
        throw new PreconditionError(
          'RECORDS_BEHIND',
          `It is not known whether this was requested: ${describeBehind(behind.since)}. Request it with the same key, and no other`,
        );
    },
  };
}
