import { type Change, type Collection, put, type Writes } from '../commit/commit.ts';
import type { OwnPayout, PayoutChange, PayoutTask, RecentPayouts } from './model.ts';
import { savePayouts, selectPayouts, selectRecent } from './store.ts';

/** The records of this slice as a decision reads and writes them. */
export const payouts: Collection<OwnPayout> = {
  name: 'payout',
  load: selectPayouts,
  keyOf: ({ withdrawalId }) => withdrawalId,
  save: savePayouts,
};

/** The tenant's one record of what the hourly limits count, under the key `recent`. */
export interface RecentRecord extends RecentPayouts {
  key: typeof RECENT;
}

export const RECENT = 'recent';

/** Follows from the payouts, so there is nothing to save; within a group of commands each counts those before it. */
export const recentPayouts: Collection<RecentRecord> = {
  name: 'recent payouts',
  load: async (sql, tenant) => [{ key: RECENT, ...(await selectRecent(sql, tenant)) }],
  keyOf: ({ key }) => key,
  save: async () => undefined,
};

const SEND: PayoutTask = 'payout.send';

/** Steps of a payout as what is written of them. */
export function writesOf({
  payout,
  steps,
  transactions,
  sendAt,
}: PayoutChange): Writes & { records: Change[] } {
  return {
    records: steps.length > 0 ? [put(payouts, payout)] : [],
    transactions,
    events: steps.map((step) => ({
      kind: `payout.${step.payout.status}`,
      resource: 'payout',
      resourceId: payout.withdrawalId,
      previousStatus: step.previous,
      snapshot: step.payout,
    })),
    tasks: sendAt ? [lookAt(payout.withdrawalId, sendAt)] : [],
  };
}

/** The next look at the bank. */
export function lookAt(withdrawalId: string, at: Date) {
  return { kind: SEND, key: withdrawalId, at };
}
