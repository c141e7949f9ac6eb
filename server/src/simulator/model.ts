import { z } from 'zod';
import type { Cents } from '../kernel/money.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { plainText } from '../kernel/text.ts';
import type { PayoutMethod } from '../payouts/model.ts';
import type { Wallet } from '../wallet/model.ts';

// ── What the page shows ─────────────────────────────────────────────────────────────────────────

/** A transfer that the simulated bank has taken on and not ended. */
export interface TransferInFlight {
  id: string;
  method: PayoutMethod;
  /** Masked, but for a public address. */
  destination: string;
  amountCents: Cents;
  status: 'in_verification' | 'queued' | 'sent';
  receivedAt: Date;
  /** When it ends, or is let go of, by itself; null where nobody knows. */
  until: Date | null;
}

export interface RefundablePayment {
  orderCode: string;
  amountCents: Cents;
  description: string | null;
  paidAt: Date | null;
}

/** Won and forgiven free what they held; lost keeps it until it is forgiven. */
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
    /** How far ahead of the machine's it is. */
    offsetMs: number;
    /** When the next thing that waits falls due. */
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

/** The world outside of the service, by its levers. */
export interface Controls {
  /** Not ended, newest first. */
  transfers(tenant: Tenant): Promise<TransferInFlight[]>;
  /** Ends well, now. False where it has ended already. @throws NotFoundError */
  settleTransfer(tenant: Tenant, id: string): Promise<boolean>;
  /** Ends badly, now; the amount goes back. False where it has ended already. @throws NotFoundError */
  denyTransfer(tenant: Tenant, id: string, reason: string): Promise<boolean>;
  /** Ends at `until`, as it would have. False where it has ended already. @throws NotFoundError */
  delayTransfer(tenant: Tenant, id: string, until: Date): Promise<boolean>;
  /** Paid, newest first. */
  refundable(tenant: Tenant): Promise<RefundablePayment[]>;
  /** False where it is not paid, or refunded already. @throws NotFoundError */
  refund(tenant: Tenant, orderCode: string): Promise<boolean>;
  /** Open, or lost and not forgiven; newest first. */
  disputes(tenant: Tenant): Promise<DisputeLine[]>;
  openDispute(tenant: Tenant, amountCents: Cents): Promise<DisputeLine>;
  /** @throws NotFoundError */
  closeDispute(tenant: Tenant, id: string, outcome: DisputeOutcome): Promise<DisputeLine>;
  /** Money that comes in without a sale. */
  credit(tenant: Tenant, credit: Credit): Promise<void>;
  /** Of the sandbox, not paid yet; newest first. */
  testPayments(tenant: Tenant): Promise<PendingTestPayment[]>;
  /** False where it is paid already. @throws NotFoundError */
  settleTestPayment(tenant: Tenant, id: string): Promise<boolean>;
}

// ── What a lever is told ────────────────────────────────────────────────────────────────────────

const DAY_SECONDS = 86_400;
/** R$ 10.000.000,00: beyond that a wallet is no longer a demonstration. */
const MOST_CENTS = 1_000_000_000;
/** 1,000 LTC. */
const MOST_LITOSHI = 100_000_000_000;

const whole = (unit: string, most: number) =>
  z
    .number({ error: `must be a whole number of ${unit}` })
    .int(`must be a whole number of ${unit}`)
    .min(1, 'must be at least 1')
    .max(most, `must be at most ${most}`);

/** Whose world: the first account's live one where it is not said. */
const whose = z.object({
  account: z.string('must be an account’s id').max(64, 'must be an account’s id').optional(),
  environment: z.enum(['live', 'sandbox'], 'must be live or sandbox').default('live'),
});
export const stateQuery = whose;
export type Whose = z.output<typeof whose>;

export const plainInput = whose;
export const denyInput = whose.extend({
  reason: z
    .string('must be a text')
    .trim()
    .pipe(plainText({ max: 200 }))
    .default('O banco de destino recusou a transferência'),
});
export const delayInput = whose.extend({ seconds: whole('seconds', 30 * DAY_SECONDS).default(600) });
export const openDisputeInput = whose.extend({ amountCents: whole('cents', MOST_CENTS) });
export const closeDisputeInput = whose.extend({
  outcome: z.enum(DISPUTE_OUTCOMES, `must be one of ${DISPUTE_OUTCOMES.join(', ')}`),
});
export const creditInput = whose
  .extend({
    amountCents: whole('cents', MOST_CENTS).optional(),
    litoshi: whole('litoshi', MOST_LITOSHI).optional(),
  })
  .refine(({ amountCents, litoshi }) => (amountCents === undefined) !== (litoshi === undefined), {
    path: ['amountCents'],
    message: 'must be given, or litoshi in its place, and not both',
  });
export type Credit = Pick<z.output<typeof creditInput>, 'amountCents' | 'litoshi'>;
export const clockInput = z
  .object({
    seconds: whole('seconds', 400 * DAY_SECONDS).optional(),
    to: z.literal('next', 'must be next').optional(),
  })
  .refine(({ seconds, to }) => (seconds === undefined) !== (to === undefined), {
    path: ['seconds'],
    message: 'must be given, or "to": "next" in its place, and not both',
  });
