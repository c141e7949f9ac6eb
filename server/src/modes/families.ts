import { disputableCardPayments } from '../card-payments/collections.ts';
import { disputableCharges, pixCharges } from '../charges/collections.ts';
import type { Sql } from '../db/database.ts';
import type { DisputeSources } from '../disputes/collections.ts';
import { CLAIMED_AFTER_MS, DECISION_DAYS, type DisputeTask } from '../disputes/model.ts';
import { DAY_MS } from '../kernel/clock.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { LtcTask } from '../ltc/model.ts';
import { disputablePayments, pixPayments } from '../payments/collections.ts';
import type { PixFamily } from '../pix/collections.ts';
import type { CodedResource, PixTask } from '../pix/model.ts';
import type { SimulatedClaims } from '../rails/simulated/pix.ts';
import type { Notify } from '../rails/simulated/recurrences.ts';
import { pixSubscriptions } from '../subscriptions/collections.ts';
import { cyclePaymentId, newSubscriptionId } from '../subscriptions/model.ts';
import type { SubscriptionTask } from '../subscriptions/steps.ts';
import { scheduleTasks } from '../work/store.ts';

/** The families of resources that have PIX codes. */
export const PIX_FAMILIES = [
  pixPayments,
  pixCharges,
  pixSubscriptions,
] as unknown as readonly PixFamily<CodedResource>[];

/** The resources that can be disputed. */
export const DISPUTE_SOURCES: DisputeSources = {
  card_payment: disputableCardPayments,
  payment: {
    ...disputablePayments,
    // The PIX that authorises a subscription has its txid, and pays the first cycle's payment.
    idsOfTxid: (txid) => [...disputablePayments.idsOfTxid(txid), cyclePaymentId(`psa_sub_${txid}`, 1)],
  },
  charge: disputableCharges,
};

/** The claims of the simulated bank, with their times in the simulation. */
export const SIMULATED_CLAIMS: SimulatedClaims = {
  afterMs: CLAIMED_AFTER_MS,
  decidedAfterMs: DECISION_DAYS * DAY_MS,
  notify(sql, tenant, { txid, endToEndId, at }) {
    const kind: DisputeTask = 'dispute.receive';
    return scheduleTasks(sql, tenant, [{ kind, key: `${txid} ${endToEndId}`, at }]);
  },
};

/** Schedules the receipt of what the bank has. The task names the notice too: one that comes later does not postpone it. */
export function notifyOfCredit(
  sql: Sql,
  tenant: Tenant,
  { txid, at, ...notice }: Parameters<Notify>[2],
): Promise<void> {
  const kind: PixTask | SubscriptionTask = 'recurrence' in notice ? 'subscription.look_up' : 'pix.receive';
  const key =
    'recurrence' in notice
      ? `${newSubscriptionId(txid)} ${notice.recurrence}`
      : `${txid} ${notice.endToEndId}`;
  return scheduleTasks(sql, tenant, [{ kind, key, at }]);
}

/** Schedules the receipt of a report. The task names the revision too: one that comes later does not postpone it. */
export function notifyOfOutputs(
  sql: Sql,
  tenant: Tenant,
  { id, revision, at }: { id: string; revision: number; at: Date },
): Promise<void> {
  const kind: LtcTask = 'ltc.receive';
  return scheduleTasks(sql, tenant, [{ kind, key: `${id} ${revision}`, at }]);
}
