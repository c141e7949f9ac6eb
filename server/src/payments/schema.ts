import {
  assertMay,
  assertUnrestrictedKey,
  type Caller,
  mayReadPayment,
  seesCustomer,
} from '../access/model.ts';
import { methodsOf, orderTokenOf } from '../card-payments/checkout/model.ts';
import {
  Currency,
  CustomerInput,
  CustomerRef,
  EXTERNAL_ID,
  StartCheckoutInput,
} from '../card-payments/schema.ts';
import { assertNotPaused } from '../card-payments/tokens/model.ts';
import { builder } from '../graphql/builder.ts';
import { callerOf } from '../graphql/context.ts';
import { authorized, replayableSuccessType, successType } from '../graphql/mutations.ts';
import { connectionOf, knownValue, pagesBeside, rangeOf, totalOf } from '../graphql/paging.ts';
import {
  IdempotencyError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../kernel/errors.ts';
import { qrCode } from '../kernel/qr-code.ts';
import { isFinal, isPayable, type ReturnedCredit, txidOf } from '../pix/model.ts';
import { type PaymentStatus, refundableCents } from '../receiving/model.ts';
import { type CreatePaymentInput, createPaymentInput, type Payment, type PaymentMethod } from './model.ts';

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const UNKNOWN = {
  value: 'unknown',
  description: 'A value that this server does not know yet. Never accepted as input.',
} as const;

const PaymentMethodEnum = builder.enumType('PaymentMethod', {
  values: {
    PIX: { value: 'pix', description: 'Paid in the payer’s bank, by the code or its QR code.' },
    LTC: { value: 'ltc', description: 'Litecoin. No account takes it yet.' },
    UNKNOWN,
  } as const,
});

export const PaymentStatusEnum = builder.enumType('PaymentStatus', {
  description: 'The words of a card payment, for a payment and a charge alike.',
  values: {
    PENDING: { value: 'pending', description: 'Waits for the payer.' },
    PAID: { value: 'paid', description: 'The bank holds the money, and it is in the balance.' },
    EXPIRED: {
      value: 'expired',
      description: 'Not paid in time. A PIX that comes late still makes it PAID.',
    },
    REFUNDED: { value: 'refunded', description: 'All of it was given back.' },
    FAILED: { value: 'failed', description: 'The bank refused it: nobody can pay it.' },
    UNKNOWN,
  } as const,
});

const ReturnCauseEnum = builder.enumType('ReturnCause', {
  values: {
    ALREADY_PAID: { value: 'already_paid', description: 'The payment was paid before.' },
    AMOUNT_MISMATCH: { value: 'amount_mismatch', description: 'Another amount than the payment’s.' },
    NOT_PAYABLE: { value: 'not_payable', description: 'The payment has failed.' },
    PAID_ELSEWHERE: {
      value: 'paid_elsewhere',
      description: 'Another payment of the same checkout attempt or order was paid first.',
    },
    UNKNOWN,
  } as const,
});

const QrCode = builder.objectRef<{ path: string; size: number }>('QrCode').implement({
  description:
    'Modules of a QR code as one SVG path: `<path d>` in a viewBox of -4 -4 size+8 size+8 (the quiet zone is in it). Dark on white, also on a dark page.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'The dark modules; for the attribute `d`.' }),
    size: t.exposeInt('size', { description: 'Modules on a side.' }),
  }),
});

const PixCode = builder.objectRef<{ copyPaste: string; txid: string | null }>('PixCode').implement({
  description: 'The code of a PIX payment.',
  fields: (t) => ({
    copyPaste: t.exposeString('copyPaste', {
      description: 'PIX Copia e Cola: the BR Code, with its CRC.',
    }),
    qr: t.field({
      type: QrCode,
      nullable: true,
      description: 'The same as a QR code; null where the service’s code is too long to draw.',
      resolve: ({ copyPaste }) => qrCode(copyPaste),
    }),
    txid: t.exposeString('txid', {
      nullable: true,
      description: '26 to 35 letters and digits; null where the service does not tell.',
    }),
  }),
});

const ReturnedCreditRef = builder.objectRef<ReturnedCredit>('ReturnedCredit').implement({
  description: 'Money that came for a payment and is sent back. It never gets into the balance.',
  fields: (t) => ({
    amountCents: t.expose('amountCents', { type: 'Cents' }),
    cause: t.field({
      type: ReturnCauseEnum,
      description: 'Why it is sent back.',
      resolve: ({ cause }) => cause,
    }),
    endToEndId: t.exposeString('endToEndId', { description: 'The bank’s identifier of the PIX that came.' }),
    receivedAt: t.expose('receivedAt', { type: 'DateTime', description: 'When the payer sent it.' }),
    returnedAt: t.expose('returnedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Null while the bank is sending it back.',
    }),
  }),
});

export const PaymentRef = builder.objectRef<Payment>('Payment');

builder.node(PaymentRef, {
  id: { resolve: ({ paymentId }) => paymentId },
  loadOne: (paymentId, context) =>
    mayReadPayment(callerOf(context), paymentId) ? context.loaders.payment.load(paymentId) : null,
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'paymentId' in value,
  description: 'A payment by PIX.',
  fields: (t) => ({
    paymentId: t.exposeString('paymentId', {
      description:
        'psa_ and 32 hex digits, in front of another service psa_ and what that gives; also the secret part of checkoutUrl.',
    }),
    status: t.field({ type: PaymentStatusEnum, resolve: ({ status }) => status }),
    method: t.field({ type: PaymentMethodEnum, resolve: ({ method }) => method }),
    amountCents: t.expose('amountCents', { type: 'Cents' }),
    otherPaidCents: t.field({
      type: 'Cents',
      nullable: true,
      description:
        'An amount, other than amountCents, with which the payments service behind this server has said that it is paid. That alone does not make it PAID: compare both with your order. Null otherwise, and to a browser’s checkout or payment token.',
      resolve: ({ otherPaidCents = null }, _, context) =>
        seesCustomer(callerOf(context)) ? otherPaidCents : null,
    }),
    feeCents: t.expose('feeCents', {
      type: 'Cents',
      nullable: true,
      description: 'What the service keeps of it; null where it does not tell.',
    }),
    netAmountCents: t.field({
      type: 'Cents',
      nullable: true,
      description: 'What gets into the balance; null where the service does not tell.',
      resolve: ({ amountCents, feeCents }) => (feeCents === null ? null : amountCents - feeCents),
    }),
    currency: t.field({ type: Currency, resolve: () => 'BRL' as const }),
    pix: t.field({
      type: PixCode,
      nullable: true,
      description:
        'Null until the bank has given the code, which paymentUpdates tells, and once no more can be paid.',
      resolve: (payment) =>
        isPayable(payment)
          ? {
              copyPaste: payment.brCode!,
              txid: payment.txid === undefined ? txidOf(payment.paymentId) : payment.txid,
            }
          : null,
    }),
    checkoutUrl: t.field({
      type: 'Url',
      nullable: true,
      description: 'The hosted page where the payer finds the code.',
      resolve: ({ paymentId, checkoutUrl }, _, context) =>
        checkoutUrl === undefined ? context.checkoutUrl(paymentId) : checkoutUrl,
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: '30 minutes after creation.' }),
    expiresInSeconds: t.int({
      description:
        'Seconds until expiresAt by the server’s clock, 0 when past: a countdown must not trust the device’s clock.',
      resolve: ({ expiresAt }, _, { clock }) =>
        Math.max(0, Math.ceil((expiresAt.getTime() - clock.ms()) / 1_000)),
    }),
    description: t.exposeString('description', { nullable: true }),
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: 'Null to a browser’s checkout or payment token.',
      resolve: ({ customer }, _, context) => (seesCustomer(callerOf(context)) ? customer : null),
    }),
    metadata: t.string({
      nullable: true,
      description:
        'The string given at creation, byte for byte. Null to a browser’s checkout or payment token.',
      resolve: ({ metadata }, _, context) => (seesCustomer(callerOf(context)) ? metadata : null),
    }),
    externalId: t.string({
      nullable: true,
      description:
        'The number of your order, of whose payments one is kept; null where none was given, and to a browser’s checkout or payment token.',
      resolve: ({ externalId }, _, context) => (seesCustomer(callerOf(context)) ? externalId : null),
    }),
    productId: t.exposeString('productId', { nullable: true }),
    successUrl: t.expose('successUrl', { type: 'Url', nullable: true }),
    cancelUrl: t.expose('cancelUrl', { type: 'Url', nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
    paidAt: t.expose('paidAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the payer paid, by the bank’s clock.',
    }),
    paidLate: t.exposeBoolean('paidLate', { description: 'Paid after expiresAt.' }),
    endToEndId: t.string({
      nullable: true,
      description:
        'The bank’s identifier of the PIX that paid it; null to a browser’s checkout or payment token.',
      resolve: ({ endToEndId }, _, context) => (seesCustomer(callerOf(context)) ? endToEndId : null),
    }),
    returnedCredits: t.field({
      type: [ReturnedCreditRef],
      description:
        'Money that came for it and was sent back at once: twice, another amount, or for an order that is paid. Of many the last 20, oldest first.',
      resolve: ({ returnedCredits }) => [...returnedCredits],
    }),
    refundedAt: t.expose('refundedAt', { type: 'DateTime', nullable: true }),
    refundedCents: t.expose('refundedCents', {
      type: 'Cents',
      nullable: true,
      description:
        'Given back to the payer so far. The status is REFUNDED once it is the whole amount. Null where the service does not tell.',
    }),
    refundableCents: t.field({
      type: 'Cents',
      nullable: true,
      description:
        'What a refund may still take: the amount without refunds under way or done; 0 of a payment that is not PAID. Null where the service does not tell.',
      resolve: refundableCents,
    }),
    failureReason: t.string({
      nullable: true,
      description: 'In the bank’s words; null unless FAILED, and to a browser’s checkout or payment token.',
      resolve: ({ failureReason }, _, context) => (seesCustomer(callerOf(context)) ? failureReason : null),
    }),
    final: t.boolean({
      description:
        'REFUNDED or FAILED: no later status can come. A PAID payment may be refunded, an EXPIRED one may be paid late.',
      resolve: ({ status }) => isFinal(status),
    }),
    version: t.exposeInt('version', {
      description: 'Grows with each change of this payment: of two answers the larger is the newer.',
    }),
  }),
});

const PaymentConnection = builder.connectionObject(
  {
    type: PaymentRef,
    name: 'PaymentConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'PaymentEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

const PaymentFilter = builder.inputType('PaymentFilter', {
  fields: (t) => ({
    createdAfter: t.field({ type: 'DateTime', description: 'Created at this instant or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Created before this instant.' }),
    method: t.field({ type: [PaymentMethodEnum] }),
    status: t.field({ type: [PaymentStatusEnum] }),
  }),
});

builder.queryFields((t) => ({
  payment: t.field({
    type: PaymentRef,
    nullable: true,
    description:
      'By its paymentId. Where the service behind this server does not offer payments: a top-level error with extensions.code NOT_OFFERED.',
    args: { paymentId: t.arg.string({ required: true }) },
    resolve: (_, { paymentId }, context) => {
      const caller = callerOf(context);
      if (!mayReadPayment(caller, paymentId)) return null;
      const { payments } = context.services;
      payments.assertId(paymentId);
      return payments.find(caller.tenant, paymentId);
    },
  }),
  payments: t.field({
    type: PaymentConnection,
    description:
      'Newest first. `first` and `after` read towards the older, `last` and `before` towards the newer.',
    args: {
      first: t.arg.int({ description: '1 to 100; 50 where neither it nor `last` is given.' }),
      after: t.arg.string(),
      last: t.arg.int({ description: '1 to 100; not together with `first`.' }),
      before: t.arg.string(),
      filter: t.arg({ type: PaymentFilter }),
    },
    resolve: async (_, { filter, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payments.read');
      const known = {
        status: filter?.status?.map((each) => knownValue<PaymentStatus>(each, 'filter.status')),
        method: filter?.method?.map((each) => knownValue<PaymentMethod>(each, 'filter.method')),
        createdAfter: filter?.createdAfter ?? undefined,
        createdBefore: filter?.createdBefore ?? undefined,
      };
      const cursors = context.listCursors('payments');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.payments.list(caller.tenant, { ...range, ...known });
      const nodes = items.map(({ place, payment }) => ({ place, node: payment }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.payments.count(caller.tenant, known),
      });
    },
  }),
}));

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const CreatePaymentInputRef = builder.inputType('CreatePaymentInput', {
  validate: { schema: createPaymentInput as never },
  fields: (t) => ({
    valueCents: t.field({ type: 'Cents', description: 'At least 1; not together with productId.' }),
    productId: t.string({
      description: 'A product, whose price and name are the payment’s. Not together with valueCents.',
    }),
    method: t.field({ type: PaymentMethodEnum, defaultValue: 'pix' }),
    description: t.string({ description: 'Shown on the checkout; at most 200 characters.' }),
    callbackUrl: t.field({
      type: 'Url',
      description: 'Public https URL that receives the webhook; at most 500 characters.',
    }),
    customer: t.field({ type: CustomerInput }),
    metadata: t.string({ description: 'Serialized JSON, at most 2048 characters; returned byte for byte.' }),
    externalId: t.string({ description: EXTERNAL_ID }),
    successUrl: t.field({
      type: 'Url',
      description: 'Where the payer goes after the payment. Reaching it proves nothing.',
    }),
    cancelUrl: t.field({ type: 'Url' }),
    idempotencyKey: t.string({
      description: '1 to 128 of A-Z a-z 0-9 _ - . : ; the same key and input give the same payment.',
    }),
  }),
});

const PaymentSuccess = replayableSuccessType<{ payment: Payment }>('PaymentSuccess', (t) => ({
  payment: t.expose('payment', { type: PaymentRef }),
}));

const StartPixCheckoutSuccess = successType<{ payment: Payment; paymentToken: string }>(
  'StartPixCheckoutSuccess',
  (t) => ({
    payment: t.expose('payment', { type: PaymentRef }),
    paymentToken: t.exposeString('paymentToken', { description: 'Reads and follows this payment alone.' }),
  }),
  'The payment, and the token that follows it; not the one that started it.',
);

builder.mutationFields((t) => ({
  createPayment: t.field({
    type: PaymentSuccess,
    description:
      'By PIX. Show the payer the code, or send it to checkoutUrl. Where the bank gives no code: UpstreamError; repeat it with the same idempotencyKey.',
    args: { input: t.arg({ type: CreatePaymentInputRef, required: true }) },
    errors: {
      union: { name: 'CreatePaymentResult' },
      types: [
        ValidationError,
        NotFoundError,
        RateLimitError,
        UnavailableError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.payments.create(tenant, input as CreatePaymentInput),
    ),
  }),
  startPixCheckout: t.field({
    type: StartPixCheckoutSuccess,
    description:
      'In the browser, with a checkout token whose methods include PIX: as startCheckout, but paid in the page. One attempt id serves both methods: of its payments the first that is paid is kept, and the other is returned.',
    args: { input: t.arg({ type: StartCheckoutInput, required: true }) },
    errors: {
      types: [
        ValidationError,
        NotFoundError,
        RateLimitError,
        UnavailableError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: authorized(assertPixToken, async ({ tenant }, { input }, context, credential) => {
      // Read from the database: a socket knows its caller since it was opened.
      const { pauseOf } = context.services.checkoutTokens;
      assertNotPaused(await pauseOf(orderTokenOf(credential)), context.clock.now());
      const payment = await context.services.payments.startCheckout(tenant, credential, input);
      return {
        payment,
        paymentToken: await context.services.access.createPaymentToken(tenant, {
          paymentId: payment.paymentId,
        }),
      };
    }),
  }),
}));

/** @throws PermissionError */
function assertPixToken({ credential }: Caller) {
  if (credential.kind !== 'checkout_token')
    throw new PermissionError('startPixCheckout needs a checkout token');
  if (!methodsOf(credential.grant).includes('pix'))
    throw new PermissionError('This checkout token takes no PIX');
  return credential;
}
