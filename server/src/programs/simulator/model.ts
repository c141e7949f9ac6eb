import { z } from 'zod';
import { type StoreProduct, storeProductsInput } from '../../catalogue/store/model.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { plainText } from '../../kernel/text.ts';
import {
  DISPUTE_OUTCOMES,
  DISPUTE_REASONS,
  type DisputeOutcome,
  type DisputeStatus,
} from '../../money-in/disputes/model.ts';
import type { ReturnedCredit } from '../../money-in/pix/model.ts';
import type { PaymentStatus, ReturnCause } from '../../money-in/receiving/model.ts';
import { pixIdText } from '../../money-in/sandbox/model.ts';
import type {
  CycleStatus,
  StoredSubscription,
  SubscriptionStatus,
} from '../../money-in/subscriptions/model.ts';
import type { PayoutMethod } from '../../money-out/payouts/model.ts';
import type { Wallet } from '../../money-out/wallet/model.ts';

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
  /** The instant at which it ends, or is released, by itself; null if it is unknown. */
  until: Date | null;
}

/** A transfer that has arrived and can be sent back. */
export type ReturnableTransfer = Omit<TransferInFlight, 'status' | 'until'>;

export interface RefundablePayment {
  orderCode: string;
  amountCents: Cents;
  description: string | null;
  paidAt: Date | null;
}

export interface DisputeLine {
  id: string;
  amountCents: Cents;
  status: DisputeStatus;
  /** The id of the disputed payment; null if no service reports it. */
  resourceId: string | null;
  /** The number of submissions of evidence. */
  evidence: number;
  evidenceDueAt: Date;
  createdAt: Date;
}

export interface PendingTestPayment {
  id: string;
  valueCents: Cents;
  createdAt: Date;
}

/** A PIX payment or a charge in the eyes of its payer's bank. */
export interface PixPaymentLine {
  id: string;
  status: PaymentStatus;
  amountCents: Cents;
  description: string | null;
  /** The name of the payer, or its e-mail. */
  payer: string | null;
  /** PIX Copia e Cola. Null if there is no code: not yet, or never. */
  copyPaste: string | null;
  createdAt: Date;
  expiresAt: Date;
  paidAt: Date | null;
  paidLate: boolean;
  refundedCents: Cents;
  returnedCredits: readonly ReturnedCredit[];
  /** Whether the bank refuses to send money of this payment back. */
  refusesReturns: boolean;
}

/** A payment by LTC in the eyes of its payer's wallet and of the miners. */
export interface LtcPaymentLine {
  id: string;
  status: PaymentStatus;
  amountCents: Cents;
  description: string | null;
  /** Null if the network has not given it. */
  address: string | null;
  litoshi: number;
  receivedLitoshi: number;
  confirmations: number;
  requiredConfirmations: number;
  createdAt: Date;
  expiresAt: Date;
  paidAt: Date | null;
  paidLate: boolean;
  outputs: readonly { txid: string; litoshi: number; confirmations: number }[];
}

/** The outputs at an address after a control, and the payment of the address. */
export interface LtcAtAddress {
  id: string;
  status: PaymentStatus;
  receivedLitoshi: number;
  confirmations: number;
  outputs: readonly { txid: string; litoshi: number; confirmations: number }[];
}

/** A subscription in the eyes of its payer's bank. */
export interface SubscriptionLine {
  id: string;
  status: SubscriptionStatus;
  amountCents: Cents;
  interval: StoredSubscription['interval'];
  description: string | null;
  /** The name of the payer, or its e-mail. */
  payer: string | null;
  /** Whether the bank has a code that the payer can authorize. */
  isAuthorisable: boolean;
  createdAt: Date;
  expiresAt: Date;
  nextDueAt: Date | null;
  /** The newest cycle; null before the authorization. */
  cycle: { number: number; status: CycleStatus; attempts: number; nextAttemptAt: Date | null } | null;
}

/** The steps of a payer: for the authorization, the subscription, and the next attempt. */
export const SUBSCRIPTION_STEPS = ['authorise', 'reject', 'cancel', 'debit', 'fail'] as const;
export type SubscriptionStep = (typeof SUBSCRIPTION_STEPS)[number];

/** A PIX that the payer's bank has sent. */
export interface PaidPix {
  /** The payment whose code was paid. */
  id: string;
  endToEndId: string;
  amountCents: Cents;
  at: Date;
  /** The cause for which the service sends the money back; null if it has accepted it. */
  cause: ReturnCause | 'unknown' | null;
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
  returnableTransfers: ReturnableTransfer[];
  cardPayments: RefundablePayment[];
  disputes: DisputeLine[];
  testPayments: PendingTestPayment[];
  pixPayments: PixPaymentLine[];
  ltcPayments: LtcPaymentLine[];
  /** The number of products of the store. */
  storeProducts: number;
  subscriptions: SubscriptionLine[];
}

/** A control of one resource, which its slice has. */
export interface SimulatorControl {
  /** The path behind `/simulator/`. */
  path: `${string}/{id}/${string}`;
  /** Makes the change. False if there is nothing to do. @throws NotFoundError */
  apply(tenant: Tenant, id: string): Promise<boolean>;
  /** The refusal if there is nothing to do. */
  conflict: string;
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** Controls of the world outside of the service. */
export interface Controls {
  /** Lists unfinished transfers, newest first. */
  transfers(tenant: Tenant): Promise<TransferInFlight[]>;
  /** Lists the newest transfers that can be sent back. */
  returnableTransfers(tenant: Tenant): Promise<ReturnableTransfer[]>;
  /**
   * Sends a completed transfer by PIX back, as its receiver or the receiver's bank does. False if it has not
   * arrived, or was returned already.
   * @throws NotFoundError
   */
  returnTransfer(tenant: Tenant, id: string): Promise<boolean>;
  /** Completes a transfer now. False if it has ended already. @throws NotFoundError */
  settleTransfer(tenant: Tenant, id: string): Promise<boolean>;
  /** Denies a transfer now; the amount returns. False if it has ended already. @throws NotFoundError */
  denyTransfer(tenant: Tenant, id: string, reason: string): Promise<boolean>;
  /**
   * Postpones the end of a transfer to `until`, with the same outcome. False if it has ended, or ends then or
   * later already.
   * @throws NotFoundError
   */
  delayTransfer(tenant: Tenant, id: string, until: Date): Promise<boolean>;
  /** Lists paid card payments, newest first. */
  refundable(tenant: Tenant): Promise<RefundablePayment[]>;
  /** Lists disputes that are not decided, or lost and not forgiven, newest first. */
  disputes(tenant: Tenant): Promise<DisputeLine[]>;
  /**
   * Opens a dispute as the payer's bank does: of a payment by its id, or of none. `waits`: the claim waits
   * for the end of a refund. Null if nothing of the payment can be claimed.
   * @throws NotFoundError (the payment)
   */
  openDispute(tenant: Tenant, claim: DisputeInput): Promise<DisputeLine | 'waits' | null>;
  /** @throws NotFoundError */
  closeDispute(tenant: Tenant, id: string, outcome: DisputeOutcome): Promise<DisputeLine>;
  /** Credits money without a sale. */
  credit(tenant: Tenant, credit: Credit): Promise<void>;
  /** Lists unpaid test payments of the sandbox, newest first. */
  testPayments(tenant: Tenant): Promise<PendingTestPayment[]>;
  /** Lists the newest PIX payments and charges. */
  pixPayments(tenant: Tenant): Promise<PixPaymentLine[]>;
  /**
   * Pays as the payer's bank does, also twice, with another amount, or after the expiry: a payment or a
   * charge of the tenant by its id, or any account's by its code. A PIX that is sent again with its
   * end-to-end id has one effect. Null if the payment has no code.
   * @throws ValidationError (no code, another bank's, or an end-to-end id of another payment), NotFoundError
   */
  payPix(tenant: Tenant, order: PixOrderInput): Promise<PaidPix | null>;
  /** Lists the newest payments by LTC. */
  ltcPayments(tenant: Tenant): Promise<LtcPaymentLine[]>;
  /**
   * Sends LTC to an address of any account, mines blocks over its outputs, or removes an output from the
   * chain. Null if there is nothing to mine or to remove.
   * @throws NotFoundError, ValidationError (an output of another address)
   */
  changeLtc(address: string, change: LtcChangeInput): Promise<LtcAtAddress | null>;
  /** Makes the bank refuse or accept each later return of a payment's money. @throws NotFoundError */
  setPixReturns(tenant: Tenant, id: string, returns: PixReturns): Promise<boolean>;
  /** Replaces all products of the store, as its own platform does. */
  replaceStore(tenant: Tenant, products: readonly StoreProduct[]): Promise<void>;
  /** Counts the products of the store. */
  storeProducts(tenant: Tenant): Promise<number>;
  /** Lists the newest subscriptions. */
  subscriptions(tenant: Tenant): Promise<SubscriptionLine[]>;
  /** Does a step of a subscription's payer. False if the step does not fit its status. @throws NotFoundError */
  stepSubscription(tenant: Tenant, id: string, step: SubscriptionStep): Promise<boolean>;
}

// ── Input of the controls ───────────────────────────────────────────────────────────────────────

const DAY_SECONDS = 86_400;
/** The upper limit of a credit, R$ 10.000.000,00: beyond that a wallet demonstrates nothing. */
const MAX_CENTS = 1_000_000_000;
/** The upper limit of a credit in LTC: 1,000 LTC. */
const MAX_LITOSHI = 100_000_000_000;
/** The upper limit of one PIX, R$ 100 million: that of a payment. */
const MAX_PIX_CENTS = 10_000_000_000;

const wholeNumber = (unit: string, max: number) =>
  z
    .number({
      error: ({ input }) => (input === undefined ? 'is required' : `must be a whole number of ${unit}`),
    })
    .int(`must be a whole number of ${unit}`)
    .min(1, 'must be at least 1')
    .max(max, `must be at most ${max}`);

/** The tenant of a request: by default the first account, live. */
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
export const openDisputeInput = selector.extend({
  amountCents: wholeNumber('cents', MAX_PIX_CENTS),
  id: z
    .string('must be the id of a payment')
    .min(1, 'must not be empty')
    .max(64, 'must be the id of a payment')
    .optional(),
  reason: z.enum(DISPUTE_REASONS, `must be one of ${DISPUTE_REASONS.join(', ')}`).optional(),
});
export type DisputeInput = Pick<z.output<typeof openDisputeInput>, 'amountCents' | 'id' | 'reason'>;
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
export const payPixInput = selector
  .extend({
    copyPaste: z.string('must be a PIX code').max(512, 'must be at most 512 characters').optional(),
    id: pixIdText.optional(),
    amountCents: wholeNumber('cents', MAX_PIX_CENTS).optional(),
    endToEndId: z
      .string('must be an end-to-end id')
      .regex(/^E\d{20}[0-9A-Za-z]{11}$/, 'must be E, 20 digits, and 11 letters or digits')
      .optional(),
  })
  .refine(({ copyPaste, id }) => (copyPaste === undefined) !== (id === undefined), {
    path: ['copyPaste'],
    message: 'must be given, or id in its place, and not both',
  });
export type PixOrderInput = Pick<
  z.output<typeof payPixInput>,
  'copyPaste' | 'id' | 'amountCents' | 'endToEndId'
>;
const PIX_RETURNS = ['refused', 'accepted'] as const;
export type PixReturns = (typeof PIX_RETURNS)[number];
export const pixReturnsInput = selector.extend({
  id: pixIdText,
  returns: z.enum(PIX_RETURNS, `must be one of ${PIX_RETURNS.join(', ')}`),
});
const txidText = z
  .string('must be a transaction’s id')
  .regex(/^[0-9a-f]{64}$/, 'must be 64 hex digits, in lower case');
export const ltcInput = selector
  .extend({
    litoshi: wholeNumber('litoshi', MAX_LITOSHI).optional(),
    confirmations: z
      .number('must be a whole number of blocks')
      .int('must be a whole number of blocks')
      .min(0, 'must not be negative')
      .max(1_000, 'must be at most 1000')
      .optional(),
    txid: txidText.optional(),
    blocks: wholeNumber('blocks', 1_000).optional(),
    reorganise: txidText.optional(),
  })
  .refine(
    ({ litoshi, confirmations, txid, blocks, reorganise }) =>
      Number(blocks !== undefined) +
        Number(reorganise !== undefined) +
        Number((litoshi ?? confirmations ?? txid) !== undefined) <=
      1,
    { path: ['blocks'], message: 'must stand alone, as reorganise must' },
  );
export type LtcChangeInput = Omit<z.output<typeof ltcInput>, 'account' | 'environment'>;
export const storeInput = selector.extend({ products: storeProductsInput });
export const clockInput = z
  .object({
    seconds: wholeNumber('seconds', 400 * DAY_SECONDS).optional(),
    to: z.literal('next', 'must be next').optional(),
  })
  .refine(({ seconds, to }) => (seconds === undefined) !== (to === undefined), {
    path: ['seconds'],
    message: 'must be given, or "to": "next" in its place, and not both',
  });
