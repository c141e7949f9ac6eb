import { z } from 'zod';
import { UnavailableError } from '../kernel/errors.ts';
import { type Cents, isCents } from '../kernel/money.ts';
import type { Environment, Tenant } from '../kernel/tenant.ts';
import { requiredOr } from '../kernel/text.ts';
import { type Balances, type LedgerTransaction, ledgerTransaction } from '../ledger/postings.ts';

/** A simulated payment. These make up the sandbox balance (the document's 2.4 and 4.5). */
export interface TestPayment {
  valueCents: Cents;
  /** `pending` lasts until the simulator confirms the payment. */
  status: 'pending' | 'paid';
}

/** A test payment in the embedded service. */
export interface StoredTestPayment extends TestPayment {
  id: string;
  createdAt: Date;
  paidAt: Date | null;
}

export function isTestPaymentId(text: string): boolean {
  return /^test_[0-9a-f]{24}$/.test(text);
}

/** The upper limit of an amount: R$ 100 million, as for a card payment. */
const TEST_PAYMENT_MAX_CENTS = 10_000_000_000;

export const createTestPaymentInput = z.object({
  valueCents: z
    .number({ error: requiredOr('must be an integer number of cents') })
    .refine(isCents, 'must be an integer number of cents')
    .refine((cents) => cents >= 1, 'must be at least 1')
    .refine((cents) => cents <= TEST_PAYMENT_MAX_CENTS, `must be at most ${TEST_PAYMENT_MAX_CENTS}`)
    .meta({ type: 'integer', minimum: 1, maximum: TEST_PAYMENT_MAX_CENTS }),
  pending: z
    .boolean()
    .nullish()
    .describe('Counts as pendingRelease until the simulator settles it; false where left out'),
});
export type CreateTestPaymentInput = z.infer<typeof createTestPaymentInput>;

export interface SandboxService<P extends TestPayment = TestPayment> {
  /** @throws UnavailableError (ONLY_IN_SANDBOX; LIMIT_REACHED where the balance would be too large to count) */
  createTestPayment(tenant: Tenant, input: CreateTestPaymentInput): Promise<P>;
}

/** Changes to test payments that the simulator makes and no client can. */
export interface TestPaymentControls {
  /** Marks a pending payment as paid; a paid one stays as it is. @throws NotFoundError */
  settleTestPayment(tenant: Tenant, id: string): Promise<StoredTestPayment>;
  /** Lists test payments, newest first. */
  listTestPayments(tenant: Tenant, page: { limit: number }): Promise<StoredTestPayment[]>;
}

/** @throws UnavailableError */
export function assertSandbox(environment: Environment): void {
  if (environment !== 'sandbox')
    throw new UnavailableError('ONLY_IN_SANDBOX', 'The sandbox takes test keys alone');
}

/** Records a test payment and its posting, the only income of the sandbox. @throws UnavailableError */
export function decideTestPayment(
  { valueCents, pending }: CreateTestPaymentInput,
  { id, balances, now }: { id: string; balances: Balances; now: Date },
): { payment: StoredTestPayment; transaction: LedgerTransaction } {
  if (valueCents - balances.received > Number.MAX_SAFE_INTEGER / 2)
    throw new UnavailableError('LIMIT_REACHED', 'The sandbox holds as much as it can count');
  const status = pending ? 'pending' : 'paid';
  return {
    payment: { id, valueCents, status, createdAt: now, paidAt: pending ? null : now },
    transaction: ledgerTransaction(`test_payment.created:${id}`, [
      {
        from: 'received',
        to: status === 'pending' ? 'merchant_pending' : 'merchant_balance',
        amount: valueCents,
      },
    ]),
  };
}

/** Marks a payment as paid; null where it is paid already. */
export function decideSettle(
  payment: StoredTestPayment,
  now: Date,
): { payment: StoredTestPayment; transaction: LedgerTransaction } | null {
  if (payment.status === 'paid') return null;
  return {
    payment: { ...payment, status: 'paid', paidAt: now },
    transaction: ledgerTransaction(`test_payment.settled:${payment.id}`, [
      { from: 'merchant_pending', to: 'merchant_balance', amount: payment.valueCents },
    ]),
  };
}
