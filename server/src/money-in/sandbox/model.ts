import { z } from 'zod';
import { amountMembers, demandAmount, withKnownAmount } from '../../kernel/aliases.ts';
import { PreconditionError } from '../../kernel/errors.ts';
import { type Cents, isCents } from '../../kernel/money.ts';
import type { Environment, Tenant } from '../../kernel/tenant.ts';
import { notNull, optionalLimit, requiredOr } from '../../kernel/text.ts';
import type { JournalEntry } from '../../state/ledger/journal.ts';
import { type Balances, type LedgerTransaction, ledgerTransaction } from '../../state/ledger/postings.ts';
import { type Charge, isChargeId } from '../charges/model.ts';
import { isPaymentId, type Payment } from '../payments/model.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import { isSubscriptionId, SUBSCRIPTION_STATUSES, type Subscription } from '../subscriptions/model.ts';

/** The statuses of all resources whose payer a client can play. */
export const SHOWN_STATUSES = [...new Set([...PAYMENT_STATUSES, ...SUBSCRIPTION_STATUSES])];

/** A simulated payment. The sandbox balance consists of these (the document's 2.4 and 4.5). */
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

const NOT_CENTS = 'must be an integer number of cents';

function amountWith(error: (issue: { input?: unknown }) => string | undefined) {
  return z
    .number({ error })
    .refine(isCents, NOT_CENTS)
    .refine((cents) => cents >= 1, 'must be at least 1')
    .refine((cents) => cents <= TEST_PAYMENT_MAX_CENTS, `must be at most ${TEST_PAYMENT_MAX_CENTS}`)
    .meta({ type: 'integer', minimum: 1, maximum: TEST_PAYMENT_MAX_CENTS });
}

const testAmount = amountWith(requiredOr(NOT_CENTS));

const testPayment = z.object({
  ...amountMembers(testAmount, 'The amount of a test payment'),
  pending: z
    .boolean()
    .nullish()
    .describe('Counts as pendingRelease until the simulator settles it; false where left out'),
});
export const createTestPaymentInput = testPayment.superRefine(demandAmount).transform(withKnownAmount);
export type CreateTestPaymentInput = z.infer<typeof createTestPaymentInput>;

/** The events that a client can cause: the payer pays, its bank refuses, or the time ends. */
const SIMULATED_OUTCOMES = ['paid', 'declined', 'expired'] as const;

/** The id of a resource that a PIX code pays. */
export const pixIdText = z
  .string()
  .refine(
    (text) => isPaymentId(text) || isChargeId(text),
    'must be psa_, psc_ or psplit_, and 32 hex digits in lower case',
  )
  .meta({
    description: 'psa_ of a payment, psc_ or psplit_ of a charge, and 32 hex digits',
    examples: ['psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'],
  });

const simulatedId = z
  .string()
  .refine(
    (text) => isPaymentId(text) || isChargeId(text) || isSubscriptionId(text),
    'must be psa_, psc_, psplit_ or psa_sub_, and 32 hex digits in lower case',
  )
  .meta({
    description:
      'psa_ of a payment, psc_ or psplit_ of a charge, psa_sub_ of a subscription, and 32 hex digits',
    examples: ['psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'],
  });

const simulation = z.object({
  id: simulatedId,
  outcome: z
    .enum(SIMULATED_OUTCOMES, `must be one of ${SIMULATED_OUTCOMES.join(', ')}`)
    .nullish()
    .describe(
      'paid where left out; what has expired is paid late. Of a subscription paid and declined are its next step: the authorization, then each cycle',
    ),
  amountCents: optionalLimit(amountWith(notNull('the amount of the payment', NOT_CENTS))).describe(
    'The amount that the payer sends, where it is not the payment’s: it is sent back',
  ),
});

const isOfPayer = ({ outcome, amountCents }: Partial<Omit<z.infer<typeof simulation>, 'id'>>) =>
  outcome == null || outcome === 'paid' || amountCents == null;
const NO_AMOUNT = { path: ['amountCents'], message: 'is for the outcome paid alone' };

const canDecline = ({
  id,
  outcome,
}: {
  id?: string | null | undefined;
  outcome?: string | null | undefined;
}) => outcome !== 'declined' || id == null || isSubscriptionId(id);
const NO_DECLINE = { path: ['outcome'], message: 'declined is for a subscription alone' };

export const simulatePaymentInput = simulation.refine(isOfPayer, NO_AMOUNT).refine(canDecline, NO_DECLINE);
export type SimulatePaymentInput = z.infer<typeof simulatePaymentInput>;

/** The body of the REST operation that creates a test payment, or plays the payer of a payment by its `id`. */
export const testPaymentBody = testPayment
  .extend(simulation.shape)
  .extend({
    valueCents: testAmount.nullish().describe('The amount of a test payment; not together with id'),
    amountCents: optionalLimit(amountWith(notNull('the amount of the payment', NOT_CENTS))).describe(
      'With id the amount that the payer sends, where it is not the payment’s: it is sent back. Without id the amount of a test payment, in place of valueCents',
    ),
    id: simulatedId
      .nullish()
      .describe(
        'A payment, charge or subscription that was created with a test key; not together with valueCents or pending',
      ),
  })
  .superRefine((body, context) => {
    if (body.id == null) return demandAmount(body, context);
    if (body.valueCents == null) return;
    const message = 'must be given, or id in its place, and not both';
    context.addIssue({ code: 'custom', path: ['valueCents'], message });
  })
  .refine(({ id, pending }) => id == null || pending == null, {
    path: ['pending'],
    message: 'is of no use together with id',
  })
  .refine(({ id, outcome }) => id != null || outcome == null, {
    path: ['outcome'],
    message: 'needs an id',
  })
  .refine(isOfPayer, NO_AMOUNT)
  .refine(canDecline, NO_DECLINE)
  .meta({ anyOf: ['id', 'amountCents', 'valueCents'].map((member) => ({ required: [member] })) });

export interface SandboxService<
  P extends TestPayment = TestPayment,
  Played extends Payment | Charge | Subscription = Payment | Charge | Subscription,
> {
  /** @throws PreconditionError (ONLY_IN_SANDBOX; LIMIT_REACHED if the balance would be too large to count) */
  createTestPayment(tenant: Tenant, input: CreateTestPaymentInput): Promise<P>;
  /**
   * Plays the payer of a payment or a charge: the same input is the same PIX, and changes nothing when it is
   * repeated. For a subscription each call plays the next step.
   * @throws PreconditionError (ONLY_IN_SANDBOX; NOT_PAYABLE; in front of another service NOT_OFFERED),
   * NotFoundError
   */
  simulatePayment(tenant: Tenant, input: SimulatePaymentInput): Promise<Played>;
}

/** The bank of a simulated payer. Null if it has no such code. */
export interface SimulatedPayer {
  pay(order: { txid: string; amountCents: Cents; key: string }): Promise<unknown | null>;
  /** Decides the newest open attempt of a recurrence. False if there is none. */
  decideDebit(txid: string, outcome: 'paid' | 'failed'): Promise<boolean>;
  /** Rejects or cancels a recurrence as its payer does. False if it has ended. */
  endByPayer(txid: string): Promise<boolean>;
}

export function notPayable(why: string, what = 'payment'): PreconditionError {
  return new PreconditionError('NOT_PAYABLE', `This ${what} ${why}`);
}

/** Changes to test payments that the simulator makes and no client can. */
export interface TestPaymentControls {
  /** Marks a pending payment as paid; a paid one stays as it is. @throws NotFoundError */
  settleTestPayment(tenant: Tenant, id: string): Promise<StoredTestPayment>;
  findTestPayment(tenant: Tenant, id: string): Promise<StoredTestPayment | null>;
  /** Lists test payments, newest first: all, or those of a status. */
  listTestPayments(
    tenant: Tenant,
    page: { limit: number; status?: StoredTestPayment['status'] },
  ): Promise<StoredTestPayment[]>;
}

/** @throws PreconditionError */
export function assertSandbox(environment: Environment): void {
  if (environment !== 'sandbox')
    throw new PreconditionError('ONLY_IN_SANDBOX', 'The sandbox takes test keys alone');
}

/** Records a test payment and its posting, the only income of the sandbox. @throws PreconditionError */
export function decideTestPayment(
  { valueCents, pending }: CreateTestPaymentInput,
  { id, balances, now }: { id: string; balances: Balances; now: Date },
): { payment: StoredTestPayment; transaction: LedgerTransaction } {
  if (valueCents - balances.received > Number.MAX_SAFE_INTEGER / 2)
    throw new PreconditionError('LIMIT_REACHED', 'The sandbox holds as much as it can count');
  const status = pending ? 'pending' : 'paid';
  return {
    payment: { id, valueCents, status, createdAt: now, paidAt: pending ? null : now },
    transaction: ledgerTransaction(
      `test_payment.created:${id}`,
      [
        {
          from: 'received',
          to: status === 'pending' ? 'merchant_pending' : 'merchant_balance',
          amount: valueCents,
        },
      ],
      entryOfTest(id),
    ),
  };
}

/** Marks a payment as paid; null if it is paid already. */
export function decideSettle(
  payment: StoredTestPayment,
  now: Date,
): { payment: StoredTestPayment; transaction: LedgerTransaction } | null {
  if (payment.status === 'paid') return null;
  return {
    payment: { ...payment, status: 'paid', paidAt: now },
    transaction: ledgerTransaction(
      `test_payment.settled:${payment.id}`,
      [{ from: 'merchant_pending', to: 'merchant_balance', amount: payment.valueCents }],
      entryOfTest(payment.id),
    ),
  };
}

function entryOfTest(id: string): JournalEntry {
  return { kind: 'test_payment', ref: id, resource: null, feeCents: 0 };
}
