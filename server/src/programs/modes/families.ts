import { DAY_MS } from '../../kernel/clock.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { disputableCardPayments } from '../../money-in/card-payments/collections.ts';
import { disputableCharges } from '../../money-in/charges/collections.ts';
import type { DisputeSources } from '../../money-in/disputes/collections.ts';
import { CLAIMED_AFTER_MS, DECISION_DAYS, type DisputeTask } from '../../money-in/disputes/model.ts';
import type { LtcTask } from '../../money-in/ltc/model.ts';
import { disputablePayments } from '../../money-in/payments/collections.ts';
import type { PixTask } from '../../money-in/pix/model.ts';
import { cyclePaymentId, newSubscriptionId } from '../../money-in/subscriptions/model.ts';
import type { SubscriptionTask } from '../../money-in/subscriptions/steps.ts';
import type { SimulatedClaims } from '../../rails/simulated/pix.ts';
import type { Notify } from '../../rails/simulated/recurrences.ts';
import type { Sql } from '../../state/db/database.ts';
import { scheduleTasks } from '../../state/work/store.ts';

/** The resources that can be disputed. */
export const DISPUTE_SOURCES: DisputeSources = {
  card_payment: disputableCardPayments,
  payment: {
    ...disputablePayments,
    // The PIX that authorizes a subscription has its txid, and pays the first cycle's payment.
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

/**
 * Schedules the task that reads the bank's credits. The task also names the notice, so a later notice does
 * not postpone it.
 */
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

/**
 * Schedules the task that reads a report. The task also names the revision, so a later notice does not
 * postpone it.
 */
export function notifyOfOutputs(
  sql: Sql,
  tenant: Tenant,
  { id, revision, at }: { id: string; revision: number; at: Date },
): Promise<void> {
  const kind: LtcTask = 'ltc.receive';
  return scheduleTasks(sql, tenant, [{ kind, key: `${id} ${revision}`, at }]);
}
