import { type Committer, put } from '../commit/commit.ts';
import type { Database } from '../db/database.ts';
import { NotFoundError } from '../kernel/errors.ts';
import { objectId } from '../kernel/ids.ts';
import { testPayments } from './collections.ts';
import {
  assertSandbox,
  decideSettle,
  decideTestPayment,
  type SandboxService,
  type StoredTestPayment,
  type TestPaymentControls,
} from './model.ts';
import { listTestPayments } from './store.ts';

/** Test payments and their balance, in the same ledger as live ones, under the tenant of the sandbox. */
export function createSandboxService({
  database,
  committer,
}: {
  database: Database;
  committer: Committer;
}): SandboxService<StoredTestPayment> & TestPaymentControls {
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
