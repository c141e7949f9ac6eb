import { NotFoundError, ValidationError } from '../../kernel/errors.ts';
import { objectId } from '../../kernel/ids.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { type Committer, put } from '../../state/commit/commit.ts';
import type { Database } from '../../state/db/database.ts';
import { type ChargeService, isChargeId, type StoredCharge } from '../charges/model.ts';
import type { PaymentService, StoredPayment } from '../payments/model.ts';
import { type PixReceiver, type PixSimulation, txidOf } from '../pix/model.ts';
import {
  isLive,
  isSubscriptionId,
  type StoredSubscription,
  type SubscriptionReceiver,
  type SubscriptionService,
} from '../subscriptions/model.ts';
import { testPayments } from './collections.ts';
import {
  assertSandbox,
  decideSettle,
  decideTestPayment,
  notPayable,
  type SandboxService,
  type SimulatedPayer,
  type SimulatePaymentInput,
  type StoredTestPayment,
  type TestPaymentControls,
} from './model.ts';
import { listTestPayments, testPaymentTable } from './store.ts';

/**
 * Test payments, and the payer of other payments, in the same ledger as live ones, under the sandbox tenant.
 */
export function createSandboxService({
  database,
  committer,
  payments,
  charges,
  subscriptions,
  payer,
}: {
  database: Database;
  committer: Committer;
  payments: Pick<PaymentService<StoredPayment>, 'find'> &
    PixReceiver<StoredPayment> &
    PixSimulation<StoredPayment>;
  charges: Pick<ChargeService<StoredCharge>, 'find'> &
    PixReceiver<StoredCharge> &
    PixSimulation<StoredCharge>;
  subscriptions: Pick<SubscriptionService<StoredSubscription>, 'find'> &
    SubscriptionReceiver &
    Pick<PixSimulation<StoredSubscription>, 'expireNow'>;
  payer: SimulatedPayer;
}): SandboxService<StoredTestPayment, StoredPayment | StoredCharge | StoredSubscription> &
  TestPaymentControls {
  /** Plays the next step of a subscription: its authorization, then the attempt of its open cycle. */
  async function simulateSubscription(
    tenant: Tenant,
    { id, outcome, amountCents }: SimulatePaymentInput,
  ): Promise<StoredSubscription> {
    const found = await subscriptions.find(tenant, id);
    if (!found) throw new NotFoundError('Subscription not found');
    const refused = (why: string) => notPayable(why, 'subscription');
    const txid = txidOf(id);
    if (outcome === 'expired') {
      const ended = await subscriptions.expireNow(tenant, id);
      if (ended?.status !== 'expired') throw refused('was authorized or has ended, and cannot expire');
      return ended;
    }
    if (isLive(found.status)) {
      if (amountCents != null)
        throw new ValidationError([{ path: 'amountCents', message: 'is for the authorization alone' }]);
      await subscriptions.instruct(tenant, id);
      const isDecided = await payer.decideDebit(txid, outcome === 'declined' ? 'failed' : 'paid');
      if (!isDecided) throw refused('has no attempt that waits for its payer');
      return (await subscriptions.receive(tenant, id))!;
    }
    if (outcome === 'declined') {
      if (found.status !== 'pending') throw refused('has ended');
      await payer.endByPayer(txid);
    } else {
      if (found.brCode === null) throw refused('has no code yet');
      const sentCents = amountCents ?? found.amountCents;
      await payer.pay({ txid, amountCents: sentCents, key: String(sentCents) });
    }
    return (await subscriptions.receive(tenant, id))!;
  }

  return {
    async createTestPayment(tenant, input) {
      assertSandbox(tenant.environment);
      const id = `test_${objectId()}`;
      return committer.change({
        tenant,
        read: async () => undefined,
        decide({ balances, now }) {
          const { payment, transaction } = decideTestPayment(input, { id, balances, now });
          return {
            outcome: payment,
            writes: { records: [put(testPayments, payment)], transactions: [transaction] },
          };
        },
      });
    },

    async simulatePayment(tenant, { id, outcome, amountCents }) {
      assertSandbox(tenant.environment);
      if (isSubscriptionId(id)) return simulateSubscription(tenant, { id, outcome, amountCents });
      const family = isChargeId(id) ? charges : payments;
      const payment = await family.find(tenant, id);
      if (!payment) throw new NotFoundError(`${family === charges ? 'Charge' : 'Payment'} not found`);
      if (outcome === 'expired') {
        const ended = await family.expireNow(tenant, id);
        if (ended?.status !== 'expired') throw notPayable('has ended, and cannot expire');
        return ended;
      }
      if (payment.status === 'failed') throw notPayable('has failed');
      if (payment.brCode === null) throw notPayable('has no code yet');
      const sentCents = amountCents ?? payment.amountCents;
      // One PIX for each amount, so that a request that is repeated after a timeout does not pay twice.
      await payer.pay({ txid: txidOf(id), amountCents: sentCents, key: String(sentCents) });
      return (await family.receive(tenant, id))!;
    },

    settleTestPayment: (tenant, id) =>
      committer.change({
        tenant,
        read: (reader) => reader.load(testPayments, id),
        decide(state) {
          const before = state.get(testPayments, id);
          if (!before) throw new NotFoundError('Test payment not found');
          const settled = decideSettle(before, state.now);
          if (!settled) return { outcome: before };
          return {
            outcome: settled.payment,
            writes: {
              records: [put(testPayments, settled.payment)],
              transactions: [settled.transaction],
            },
          };
        },
      }),

    async findTestPayment(tenant, id) {
      const [found] = await testPaymentTable.load(database.sql, tenant, [id]);
      return found ?? null;
    },

    listTestPayments: (tenant, page) => listTestPayments(database.sql, tenant, page),
  };
}
