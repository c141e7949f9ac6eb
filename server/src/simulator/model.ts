import { z } from 'zod';
import type { Cents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { plainText } from '../kernel/text.ts';
import type { PayoutMethod } from '../payouts/model.ts';
import type { Wallet } from '../wallet/model.ts';

// ── Data of the page ─────────────────────────────────────────────────────────────────────────────

/** A transfer that the simulated bank has accepted and not finished. */
export interface TransferInFlight {
  id: string;
  method: PayoutMethod;
  /** The masked destination; a public address is shown in full. */
  destination: string;
  amountCents: Cents;
  status: 'in_verification' | 'queued' | 'sent';
  receivedAt: Date;
  /** The instant at which it ends, or is released, by itself; null where it is unknown. */
  until: Date | null;
}

export interface RefundablePayment {
  orderCode: string;
  amountCents: Cents;
  description: string | null;
  paidAt: Date | null;
}

/** The outcomes of a dispute. `won` and `forgiven` free its amount; `lost` blocks it until it is forgiven. */
export const DISPUTE_OUTCOMES = ['won', 'lost', 'forgiven'] as const;
export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];

export interface DisputeLine {
  id: string;
  amountCents: Cents;
  status: 'open' | DisputeOutcome;
  createdAt: Date;
}

export interface PendingTestPayment {
  id: string;
  valueCents: Cents;
  createdAt: Date;
}

export interface SimulatorState {
  clock: {
    now: Date;
    /** The time by which the clock is ahead of the machine's. */
    offsetMs: number;
    /** The instant at which the next task is due. */
    nextDueAt: Date | null;
  };
  accounts: { id: string; name: string }[];
  tenant: Tenant;
  wallet: Wallet;
  transfers: TransferInFlight[];
  cardPayments: RefundablePayment[];
  disputes: DisputeLine[];
  testPayments: PendingTestPayment[];
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** Controls of the world outside of the service. */
export interface Controls {
  /** Lists unfinished transfers, newest first. */
  transfers(tenant: Tenant): Promise<TransferInFlight[]>;
  /** Completes a transfer now. False where it has ended already. @throws NotFoundError */
  settleTransfer(tenant: Tenant, id: string): Promise<boolean>;
  /** Denies a transfer now; the amount returns. False where it has ended already. @throws NotFoundError */
  denyTransfer(tenant: Tenant, id: string, reason: string): Promise<boolean>;
  /**
   * Postpones the end of a transfer, as it would have ended, to `until`. False where it has ended already.
   * @throws NotFoundError
   */
  delayTransfer(tenant: Tenant, id: string, until: Date): Promise<boolean>;
  /** Lists paid card payments, newest first. */
  refundable(tenant: Tenant): Promise<RefundablePayment[]>;
  /** Refunds a card payment. False where it is not paid, or refunded already. @throws NotFoundError */
  refund(tenant: Tenant, orderCode: string): Promise<boolean>;
  /** Lists disputes that are open, or lost and not forgiven, newest first. */
  disputes(tenant: Tenant): Promise<DisputeLine[]>;
  openDispute(tenant: Tenant, amountCents: Cents): Promise<DisputeLine>;
  /** @throws NotFoundError */
  closeDispute(tenant: Tenant, id: string, outcome: DisputeOutcome): Promise<DisputeLine>;
  /** Credits money without a sale. */
  credit(tenant: Tenant, credit: Credit): Promise<void>;
  /** Lists unpaid test payments of the sandbox, newest first. */
  testPayments(tenant: Tenant): Promise<PendingTestPayment[]>;
  /** Marks a test payment as paid. False where it is paid already. @throws NotFoundError */
  settleTestPayment(tenant: Tenant, id: string): Promise<boolean>;
}

// ── Input of the controls ───────────────────────────────────────────────────────────────────────

const DAY_SECONDS = 86_400;
/** The upper limit of a credit, R$ 10.000.000,00: beyond that a wallet demonstrates nothing. */
const MAX_CENTS = 1_000_000_000;
/** The upper limit of a credit in LTC: 1,000 LTC. */
const MAX_LITOSHI = 100_000_000_000;

const wholeNumber = (unit: string, max: number) =>
  z
    .number({ error: `must be a whole number of ${unit}` })
    .int(`must be a whole number of ${unit}`)
    .min(1, 'must be at least 1')
    .max(max, `must be at most ${max}`);

/** The tenant of a request: the first account, live, where none is named. */
const selector = z.object({
  account: z.string('must be an account’s id').max(64, 'must be an account’s id').optional(),
  environment: z.enum(['live', 'sandbox'], 'must be live or sandbox').default('live'),
});
export const stateQuery = selector;
export type TenantSelector = z.output<typeof selector>;

export const plainInput = selector;
export const denyInput = selector.extend({
  reason: z
    .string('must be a text')
    .trim()
    .pipe(plainText({ max: 200 }))
    .default('O banco de destino recusou a transferência'),
});
export const delayInput = selector.extend({ seconds: wholeNumber('seconds', 30 * DAY_SECONDS).default(600) });
export const openDisputeInput = selector.extend({ amountCents: wholeNumber('cents', MAX_CENTS) });
export const closeDisputeInput = selector.extend({
  outcome: z.enum(DISPUTE_OUTCOMES, `must be one of ${DISPUTE_OUTCOMES.join(', ')}`),
});
export const creditInput = selector
  .extend({
    amountCents: wholeNumber('cents', MAX_CENTS).optional(),
    litoshi: wholeNumber('litoshi', MAX_LITOSHI).optional(),
  })
  .refine(({ amountCents, litoshi }) => (amountCents === undefined) !== (litoshi === undefined), {
    path: ['amountCents'],
    message: 'must be given, or litoshi in its place, and not both',
  });
export type Credit = Pick<z.output<typeof creditInput>, 'amountCents' | 'litoshi'>;
export const clockInput = z
  .object({
    seconds: wholeNumber('seconds', 400 * DAY_SECONDS).optional(),
    to: z.literal('next', 'must be next').optional(),
  })
  .refine(({ seconds, to }) => (seconds === undefined) !== (to === undefined), {
    path: ['seconds'],
    message: 'must be given, or "to": "next" in its place, and not both',
  });
