import { type Change, type Collection, put, type Writes } from '../../state/commit/commit.ts';
import type { ReturnSnapshot, StoredReturn } from './model.ts';
import { saveReturns, selectReturns } from './store.ts';

/** Returns, as a decision reads and writes them. */
export const returns: Collection<StoredReturn> = {
  name: 'payment_return',
  loadEach: selectReturns,
  keyOf: ({ returnId }) => returnId,
  saveEach: saveReturns,
};

/** The writes of a return. Its one event comes once the payer has the money. */
export function writesOfReturn(
  stored: StoredReturn,
  details: Pick<ReturnSnapshot, 'metadata' | 'callbackUrl'>,
): Required<Pick<Writes, 'events'>> & { records: Change[] } {
  const { railId: _, failedReturns: __, ...shown } = stored;
  return {
    records: [put(returns, stored)],
    events: stored.returnedAt
      ? [
          {
            kind: 'return.completed',
            resource: 'return',
            resourceId: stored.returnId,
            previousStatus: null,
            snapshot: { ...shown, ...details },
          },
        ]
      : [],
  };
}
