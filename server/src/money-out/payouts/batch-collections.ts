import type { Collection } from '../../state/commit/commit.ts';
import { loadPerTenant } from '../../state/db/each-tenant.ts';
import type { BatchTask, PayoutBatch } from './batch.ts';
import { batchTable, selectNewestBatch, selectSameRows } from './batch-store.ts';

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

/** The newest batch with the same rows, by their hash. It is not saved: a group makes at most one batch of a tenant. */
export const batchOfRows: Collection<Pick<PayoutBatch, 'rowsHash' | 'createdAt'>> = {
  name: 'payout_batch of rows',
  loadEach: loadPerTenant(async (sql, tenant, hashes) => {
    const found = await Promise.all(hashes.map((rowsHash) => selectSameRows(sql, tenant, rowsHash)));
    return found.flatMap((createdAt, nth) => (createdAt ? [{ rowsHash: hashes[nth]!, createdAt }] : []));
  }),
  keyOf: ({ rowsHash }) => rowsHash,
  saveEach: async () => undefined,
};

const REQUEST_NEXT: BatchTask = 'payout.batch';

/** The task that requests the next row of a batch at `at`. */
export function nextRowTask({ batchId }: PayoutBatch, at: Date) {
  return { kind: REQUEST_NEXT, key: batchId, at };
}
