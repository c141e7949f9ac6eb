import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  amountMembers,
  amountName,
  exactlyOneOf,
  refuseTwoAmounts,
  refuseTwoOrders,
  withKnownNames,
} from '../../kernel/aliases.ts';
import type { CheckoutGrant } from '../../kernel/caller.ts';
import { plusMs } from '../../kernel/clock.ts';
import type { Language } from '../../kernel/language.ts';
import { among, type Conditions, detailConditions, matches } from '../../kernel/list-filter.ts';
import type { Cents } from '../../kernel/money.ts';
import type { OrderStatus } from '../../kernel/orders.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { idempotencyKeyText } from '../../kernel/text.ts';
import {
  CHECKOUT_SESSION_MS,
  type Customer,
  checkoutDetails,
  productIdText,
  type StartCheckoutInput,
  type StartedCheckout,
  startInput,
} from '../checkout/model.ts';
import type { LtcRequest, StoredLtcRequest } from '../ltc/model.ts';
import {
  type PixFilter,
  type PixReads,
  type PixResource,
  pixAmount,
  pixResourceFromJson,
  type StoredPixResource,
} from '../pix/model.ts';
import { type PaymentStatus, refundableCents } from '../receiving/model.ts';
import { PAYMENT_METHODS, type PaymentMethod, whyNotRefundable } from './methods.ts';

/** Names a payment: by the given 32 hex digits, else by random ones. */
export function newPaymentId(digits: string | null): string {
  return `psa_${digits ?? randomUUID().replaceAll('-', '')}`;
}

/** Whether a text has the form of a payment's id (the document's section 2.1): `psa_` and 32 hex digits. */
export function isPaymentId(text: string): boolean {
  return /^psa_[0-9a-f]{32}$/.test(text);
}

/**
 * Whether a text can be the id of a payment of any service: the document shows only the beginning of its
 * form.
 */
export function isAnyPaymentId(text: string): boolean {
  return /^psa_(?!sub_)[A-Za-z0-9_-]{1,64}$/.test(text);
}

export const PAYMENT_ID_FORM = 'psa_ and 32 hex digits, in lower case';

/** The id of a payment of any service; this one asserts its own form. */
export const anyPaymentIdText = z.string().refine(isAnyPaymentId, `must be ${PAYMENT_ID_FORM}`);

export const paymentIdText = z
  .string()
  .refine(isPaymentId, `must be ${PAYMENT_ID_FORM}`)
  .meta({ description: 'psa_ and 32 hex digits', examples: ['psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b'] });

/** A payment by PIX or LTC (the document's section 2.5), as far as it is known. */
export interface Payment extends PixResource {
  /** `psa_` and 32 hex digits. */
  paymentId: string;
  method: PaymentMethod | 'unknown';
  /** Null unless the method is LTC. Such a payment has no code. */
  ltc: LtcRequest | null;
  callbackUrl: string | null;
  customer: Customer | null;
  /** The merchant's order, which keeps one of its payments. */
  externalId: string | null;
  productId: string | null;
  /** The subscription whose cycle it pays. Left out of events of an earlier version. */
  subscriptionId?: string | null;
  successUrl: string | null;
  cancelUrl: string | null;
  /**
   * Whether the money of a payment that its order did not keep is returned. Omitted in events of an earlier
   * version.
   */
  returned?: boolean;
  keptPayment?: string | null;
  /**
   * The status of its order, if another payment has paid the order while this one was open or had expired.
   */
  orderStatus?: OrderStatus | null;
}

/** A payment of the embedded service. */
export interface StoredPayment extends Payment, StoredPixResource {
  status: PaymentStatus;
  method: PaymentMethod;
  ltc: StoredLtcRequest | null;
  feeCents: Cents;
  language: Language | null;
  createdAt: Date;
  canceledAt: Date | null;
  returned: boolean;
  keptPayment: string | null;
  /** The checkout attempt. If two of its payments are paid, the second is returned. */
  checkoutAttempt: string | null;
  orderStatus: OrderStatus | null;
  refundedCents: Cents;
  refundingCents: Cents;
  disputedCents: Cents;
  returnedCredits: StoredPixResource['returnedCredits'];
}

/** The amount that a refund may still take. */
export function refundableCentsOf(payment: Payment): Cents | null {
  return whyNotRefundable(payment.method) === null ? refundableCents(payment) : 0;
}

/** Reads a snapshot back from JSON. Snapshots of earlier versions show PIX payments, and have no `ltc`. */
export function paymentFromJson(json: unknown): Payment {
  return { ...pixResourceFromJson<Payment>(json), ltc: (json as Partial<Payment>).ltc ?? null };
}

/** The instant of the creation, derived from the expiry if the service does not show it. */
export function paymentBeganAt({ createdAt, expiresAt }: Pick<Payment, 'createdAt' | 'expiresAt'>): Date {
  return createdAt ?? plusMs(expiresAt, -CHECKOUT_SESSION_MS);
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

export const createPaymentInput = checkoutDetails
  .extend({
    ...amountMembers(pixAmount, 'The amount, not together with productId'),
    productId: productIdText
      .nullish()
      .describe('A product, whose price and name are the payment’s; not together with an amount'),
    method: z
      .enum(PAYMENT_METHODS, `must be one of ${PAYMENT_METHODS.join(', ')}`)
      .nullish()
      .describe('pix where left out'),
    idempotencyKey: idempotencyKeyText.nullish().describe('The same key and input give the same payment'),
  })
  .superRefine(refuseTwoAmounts)
  .superRefine(refuseTwoOrders)
  .superRefine((input, context) => {
    const name = amountName(input);
    if ((input[name] == null) !== (input.productId == null)) return;
    const [path, message] =
      input[name] == null
        ? ['amountCents', 'is required, or valueCents, which is the same, or productId in its place']
        : [name, 'must be given, or productId in its place, and not both'];
    context.addIssue({ code: 'custom', path: [path], message });
  })
  .transform(withKnownNames)
  .meta(exactlyOneOf('amountCents', 'valueCents', 'productId'));
export type CreatePaymentInput = z.infer<typeof createPaymentInput>;

/** The input of a PIX checkout: that of a card checkout, with the amounts of PIX. */
export const startPixCheckoutInput = startInput(pixAmount);

// ── The port ────────────────────────────────────────────────────────────────────────────────────

export interface PaymentFilter extends PixFilter {
  method?: readonly PaymentMethod[] | undefined;
}

/** The condition of each member of the filter, for lists and updates. */
export const paymentConditions = {
  status: among('status'),
  method: among('method'),
  ...detailConditions(['paymentId', 'endToEndId']),
} satisfies Conditions<PaymentFilter, Payment>;

/** Whether a filter selects a payment. */
export function matchesFilter(payment: Payment, filter: PaymentFilter): boolean {
  return matches(paymentConditions, payment, filter);
}

/** The port of payments. The embedded service knows every payment completely. */
export interface PaymentService<P extends Payment = Payment> extends PixReads<P, PaymentFilter> {
  /**
   * Creates a payment and gets its code from the bank, or its address from the network. The same idempotency
   * key and input give the same payment again, `replayed`.
   * @throws ValidationError, NotFoundError (the product), PreconditionError (PAYMENTS_NOT_CONFIGURED,
   * NOT_IN_SANDBOX, LIMIT_REACHED; in front of another service NOT_OFFERED), IdempotencyError, UpstreamError
   * (the bank gave no code: `lookupReference` is the payment's id)
   */
  create(tenant: Tenant, input: CreatePaymentInput): Promise<{ payment: P; replayed: boolean }>;
  /**
   * Starts the PIX payment that a checkout token describes, once for each attempt id. If the PIX payment of a
   * single-use token is open, another start joins it. A payment whose code is still missing is returned
   * without it.
   * @throws ValidationError, NotFoundError (its product was deleted), PermissionError (the token takes no
   * PIX), PreconditionError (also: a single-use token whose order is paid), IdempotencyError
   */
  startCheckout(
    tenant: Tenant,
    token: { id: string; grant: CheckoutGrant },
    input: StartCheckoutInput,
  ): Promise<StartedCheckout<P>>;
  /**
   * Cancels a pending payment, which is expired from then on: a later PIX is sent back, and later LTC waits
   * for the operator. A repeated call changes nothing: `replayed`.
   * @throws ValidationError (the id), NotFoundError, PreconditionError (NOT_CANCELABLE; in front of another
   * service NOT_OFFERED)
   */
  cancel(tenant: Tenant, paymentId: string): Promise<{ payment: P; replayed: boolean }>;
}
