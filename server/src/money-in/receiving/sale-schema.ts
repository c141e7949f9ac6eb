import { builder, UNKNOWN } from '../../api/graphql/builder.ts';
import { Currency } from '../../api/graphql/currency.ts';
import { callerOf, seesCustomer } from '../../kernel/caller.ts';
import { secondsLeft } from '../../kernel/clock.ts';
import type { Language } from '../../kernel/language.ts';
import type { Cents } from '../../kernel/money.ts';
import type { Customer } from '../checkout/model.ts';
import { CustomerRef, languageField } from '../checkout/schema.ts';
import { type Doubt, type PaymentStatus, refundableCents } from './model.ts';

// The interface of everything that a payer pays for: each field has one name, one type and one meaning for
// card payments, payments and charges.

/** A sale as far as its interface reads it, whichever method pays it. */
export interface Sale extends Doubt {
  version: number;
  status: PaymentStatus | 'unknown';
  amountCents: Cents;
  otherPaidCents?: Cents;
  /** Omitted if it depends on the service, as that of a card payment. */
  feeCents?: Cents | null;
  refundedCents: Cents | null;
  refundingCents: Cents | null;
  disputedCents?: Cents;
  /** Omitted in a charge, which has none. */
  customer?: Customer | null;
  description: string | null;
  metadata: string | null;
  language?: Language | null;
  createdAt: Date | null;
  expiresAt: Date;
  paidAt: Date | null;
  paidLate: boolean;
  canceledAt?: Date | null;
  refundedAt: Date | null;
  failureReason: string | null;
}

export const PaymentStatusEnum = builder.enumType('PaymentStatus', {
  description: 'The states of a sale: of a card payment, a payment or a charge.',
  values: {
    PENDING: { value: 'pending', description: 'The payer has not paid yet.' },
    PAID: {
      value: 'paid',
      description:
        'The bank or the acquirer holds the money. It is in the balance; that of a card is in the wallet’s pendingReleaseCents until its release.',
    },
    EXPIRED: {
      value: 'expired',
      description:
        'The payer did not pay in time, or it was canceled. Money that arrives late still makes it PAID; that of a canceled one is returned.',
    },
    REFUNDED: { value: 'refunded', description: 'The payer has the whole amount back.' },
    FAILED: {
      value: 'failed',
      description:
        'Nobody can pay it any more: the bank or the acquirer refused it for good; its money is returned, because another payment of the order was paid before or because it was canceled, see `returned`; or, by LTC, less than the amount came in time.',
    },
    UNKNOWN,
  } as const,
});

export const SalesMethodEnum = builder.enumType('SalesMethod', {
  description: 'The method by which a sale is paid.',
  values: {
    CARD: { value: 'card', description: 'A card, on the hosted page.' },
    LTC: { value: 'ltc', description: 'Litecoin.' },
    PIX: { value: 'pix', description: 'A PIX code, or a debit of a subscription.' },
    UNKNOWN,
  } as const,
});

/** The statuses that no other follows, whichever method pays. */
const FINAL: ReadonlySet<string> = new Set<PaymentStatus>(['refunded', 'failed']);

export function isFinalSale({ status, claimedAt }: Pick<Sale, 'status' | 'claimedAt'>): boolean {
  return FINAL.has(status) && claimedAt === undefined;
}

export const SALE_IS_FINAL =
  'Whether the status is final, as REFUNDED and FAILED are: no later status follows. A PAID sale may be refunded; an EXPIRED one may be paid late, or have its money returned. False while only a webhook reports the end; a newer answer of the upstream service corrects any status.';

/** The members that a sale has under other names in GraphQL, or not at all. */
type Unshown = 'feeCents' | 'refundingCents' | 'disputedCents' | 'claimedAt';

export const SaleRef = builder.interfaceRef<Sale>('Sale').implement({
  description:
    'A sale: a card payment, a payment or a charge. What one of them does not have is null there. `__typename` says which one it is.',
  interfaces: [builder.nodeInterfaceRef()],
  fields: (t) =>
    ({
      status: t.field({ type: PaymentStatusEnum, resolve: ({ status }) => status }),
      method: t.field({
        type: SalesMethodEnum,
        description: 'The method by which the payer pays; it never changes.',
      }),
      isFinal: t.boolean({ description: SALE_IS_FINAL }),
      version: t.exposeInt('version', {
        description:
          'A number that grows with each change of this sale: of two answers the larger is the newer.',
      }),
      unresolved: t.boolean({
        description:
          'Whether a signed webhook has said that this was paid, and the upstream service does not say so. Release nothing, and let nobody pay again: ask the service. False once the service has said that it was paid, and without an upstream service.',
        resolve: ({ unresolved = false }) => unresolved,
      }),
      amountCents: t.expose('amountCents', { type: 'Cents' }),
      currency: t.field({ type: Currency, resolve: () => 'BRL' as const }),
      otherPaidCents: t.field({
        type: 'Cents',
        nullable: true,
        description:
          'The amount that the upstream service has reported as paid, if it is not amountCents. Such a report alone does not make the sale PAID: compare both with your order. Null otherwise, and to a browser’s checkout or payment token.',
        resolve: ({ otherPaidCents = null }, _, context) =>
          seesCustomer(callerOf(context)) ? otherPaidCents : null,
      }),
      serviceFeeCents: t.field({
        type: 'Cents',
        nullable: true,
        description:
          'The service’s fee in cents, which it deducts from the amount; 0 for a card payment and for LTC. Null if the upstream service does not report it, and to a browser’s checkout or payment token.',
        resolve: ({ feeCents = null }, _, context) => (seesCustomer(callerOf(context)) ? feeCents : null),
      }),
      netAmountCents: t.field({
        type: 'Cents',
        nullable: true,
        description:
          'The amount without the service’s fee, in cents, which reaches the balance; that of a split charge reaches several, and LTC reach cryptoBalanceLtc. Null if the upstream service does not report the fee, and to a browser’s checkout or payment token.',
        resolve: ({ amountCents, feeCents = null }, _, context) =>
          feeCents === null || !seesCustomer(callerOf(context)) ? null : amountCents - feeCents,
      }),
      refundedCents: t.expose('refundedCents', {
        type: 'Cents',
        nullable: true,
        description:
          'The amount that completed refunds have given back to the payer, in cents; a refund under way does not count yet. The status is REFUNDED once it is the whole amount. Null if the upstream service does not report it.',
      }),
      refundableCents: t.field({
        type: 'Cents',
        nullable: true,
        description:
          'The amount that a refund may still take, in cents: the whole amount less refunds that are completed or under way, and less disputes that were not won. 0 for LTC, and for a sale that is not PAID. Null if the upstream service does not report it.',
        resolve: refundableCents,
      }),
      customer: t.field({
        type: CustomerRef,
        nullable: true,
        description:
          'The customer as given at creation. Null for a charge, which has none, and to a browser’s checkout or payment token.',
        resolve: ({ customer = null }, _, context) => (seesCustomer(callerOf(context)) ? customer : null),
      }),
      orderId: t.string({
        nullable: true,
        description:
          'The number of your order, of whose payments one is kept. Null for a charge, which belongs to no order, if none was given, and to a browser’s checkout or payment token.',
      }),
      description: t.exposeString('description', { nullable: true }),
      metadata: t.string({
        nullable: true,
        description:
          'The string given at creation, byte for byte; a split charge takes none. Null to a browser’s checkout or payment token.',
        resolve: ({ metadata }, _, context) => (seesCustomer(callerOf(context)) ? metadata : null),
      }),
      checkoutUrl: t.field({
        type: 'Url',
        nullable: true,
        description: 'The URL of the hosted page where the payer pays.',
      }),
      language: languageField(t),
      createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
      expiresAt: t.expose('expiresAt', {
        type: 'DateTime',
        description:
          'The end of the time to pay: 30 minutes after creation; of a charge a day, or as requested.',
      }),
      expiresInSeconds: t.int({
        description:
          'The seconds until expiresAt by the server’s clock, 0 when past: a countdown must not trust the device’s clock.',
        resolve: ({ expiresAt }, _, { clock }) => secondsLeft(expiresAt, clock),
      }),
      paidAt: t.expose('paidAt', {
        type: 'DateTime',
        nullable: true,
        description: 'The time of the payment, by the clock of the bank or of the acquirer; null before.',
      }),
      paidLate: t.exposeBoolean('paidLate', { description: 'Whether it was paid after expiresAt.' }),
      canceledAt: t.field({
        type: 'DateTime',
        nullable: true,
        description:
          'The time at which the merchant canceled it, since which it is EXPIRED. Null if it was not canceled.',
        resolve: ({ canceledAt = null }) => canceledAt,
      }),
      refundedAt: t.expose('refundedAt', { type: 'DateTime', nullable: true }),
      failureReason: t.string({
        nullable: true,
        description:
          'The reason of the bank or of the acquirer for the failure; `paid_elsewhere` or `canceled` for a payment that is `returned`, and `underpaid` for one by LTC. Null unless FAILED, and to a browser’s checkout or payment token: a payer reads a neutral sentence.',
        resolve: ({ failureReason }, _, context) => (seesCustomer(callerOf(context)) ? failureReason : null),
      }),
    }) satisfies { [Member in Exclude<keyof Sale, Unshown>]: unknown } & Record<string, unknown>,
});
