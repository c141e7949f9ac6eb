import type { Collection } from '../../state/commit/commit.ts';
import { loadPerTenant } from '../../state/db/each-tenant.ts';
import type { BatchTask, PayoutBatch } from './batch.ts';
import { batchTable, selectNewestBatch } from './batch-store.ts';

/** Batches of payouts. */
export const batches: Collection<PayoutBatch> = batchTable;

export const NEWEST = 'newest';

/** The newest batch of a tenant, under the key `newest`. It is not saved; each command of a group sees that of the one before. */
export const newestBatch: Collection<PayoutBatch> = {
  name: 'newest payout_batch',
  loadEach: loadPerTenant(async (sql, tenant) => {
    const newest = await selectNewestBatch(sql, tenant);
    return newest ? [newest] : [];
  }),
  keyOf: () => NEWEST,
  saveEach: async () => undefined,
};

const REQUEST_NEXT: BatchTask = 'payout.batch';

/** The task that requests the next row of a batch at `at`. */
export function nextRowTask({ batchId }: PayoutBatch, at: Date) {
  return { kind: REQUEST_NEXT, key: batchId, at };
}
