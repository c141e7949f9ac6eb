import { type Change, type Collection, put, type Writes } from '../../state/commit/commit.ts';
import type { PayoutChange } from './decisions.ts';
import type { RecentPayouts } from './limits.ts';
import type { OwnPayout, PayoutTask } from './model.ts';
import { savePayouts, selectPayoutsOf, selectRecent } from './store.ts';

/** The payouts, as a decision reads and writes them. */
export const payouts: Collection<OwnPayout> = {
  name: 'payout',
  loadEach: selectPayoutsOf,
  keyOf: ({ withdrawalId }) => withdrawalId,
  saveEach: savePayouts,
};

/** The one record of the recent payouts that the hourly limits count, under the key `recent`. */
export interface RecentRecord extends RecentPayouts {
  key: typeof RECENT;
}

export const RECENT = 'recent';

/** The recent payouts. They are not saved; each command of a group counts those before it. */
export const recentPayouts: Collection<RecentRecord> = {
  name: 'recent payouts',
  loadEach: async (sql, keys) =>
    (await selectRecent(sql, keys)).map(({ tenant, record }) => ({
      tenant,
      record: { key: RECENT, ...record },
    })),
  keyOf: ({ key }) => key,
  saveEach: async () => undefined,
};

const SEND: PayoutTask = 'payout.send';

/** The writes of a payout's change: its record, its ledger transactions, an event for each step, and the next task. */
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
    tasks: sendAt ? [sendTask(payout.withdrawalId, sendAt)] : [],
  };
}

/** The task that sends a payout at `at`, or asks the bank for its state. */
export function sendTask(withdrawalId: string, at: Date) {
  return { kind: SEND, key: withdrawalId, at };
}
