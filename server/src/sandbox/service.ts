import { type ChargeService, isChargeId, type StoredCharge } from '../charges/model.ts';
import { type Committer, put } from '../commit/commit.ts';
import type { Database } from '../db/database.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { objectId } from '../kernel/ids.ts';
import type { PaymentService, StoredPayment } from '../payments/model.ts';
import { type PixReceiver, type PixSimulation, txidOf } from '../pix/model.ts';
import { testPayments } from './collections.ts';
import {
  assertSandbox,
  decideSettle,
  decideTestPayment,
  notPayable,
  type SandboxService,
  type SimulatedPayer,
  type StoredTestPayment,
  type TestPaymentControls,
} from './model.ts';
import { listTestPayments } from './store.ts';

/** Test payments and the payer of others, in the same ledger as live ones, under the tenant of the sandbox. */
export function createSandboxService({
  database,
  committer,
  payments,
  charges,
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
  payer: SimulatedPayer;
}): SandboxService<StoredTestPayment, StoredPayment | StoredCharge> & TestPaymentControls {
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
      // One PIX of each amount, so that a request which is repeated after a timeout does not pay twice.
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

    listTestPayments: (tenant, { limit }) => listTestPayments(database.sql, tenant, limit),
  };
}
