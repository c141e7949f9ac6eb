import { builder, UNKNOWN } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { byKey, findByKey, keyArgument, keyMember, onlyName } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { addReference } from '../../api/graphql/lookup-reference.ts';
import { authorized, replayableSuccessType } from '../../api/graphql/mutations.ts';
import { connectionArguments, totalOf } from '../../api/graphql/paging.ts';
import {
  assertMay,
  assertUnrestrictedKey,
  type Caller,
  callerOf,
  mayReadPayment,
  orderTokenOf,
  seesCustomer,
} from '../../kernel/caller.ts';
import {
  IdempotencyError,
  NotFoundError,
  PermissionError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { ltcText } from '../../kernel/money.ts';
import { qrCode } from '../../kernel/qr-code.ts';
import { assertNotPaused } from '../card-payments/tokens/model.ts';
import { CustomerFilter, orderFilterFields, receivedFilterFields } from '../checkout/filter-schema.ts';
import { methodsOf } from '../checkout/model.ts';
import { amountInputs, orderFields, paymentInputs, StartCheckoutInput } from '../checkout/schema.ts';
import { type LtcRequest, ltcUri } from '../ltc/model.ts';
import { listDescription, listedPix, pixFields, QrCode } from '../pix/fields-schema.ts';
import { PaymentStatusEnum, type Sale, SaleRef, SalesMethodEnum } from '../receiving/sale-schema.ts';
import { returnedFields } from '../receiving/schema.ts';
import {
  type CreatePaymentInput,
  createPaymentInput,
  type Payment,
  type PaymentFilter,
  type PaymentService,
  refundableCentsOf,
  startPixCheckoutInput,
} from './model.ts';

const loads = addLoaders({
  payment: ({ payments }, tenant, paymentIds) => payments.findMany(tenant, paymentIds),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    payments: PaymentService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const PaymentMethodEnum = builder.enumType('PaymentMethod', {
  description: 'The method by which a payer pays.',
  values: {
    PIX: { value: 'pix', description: 'PIX, paid in the payer’s bank by the code or its QR code.' },
    LTC: { value: 'ltc', description: 'Litecoin; live keys only.' },
    UNKNOWN,
  } as const,
});

const LtcRequestRef = builder.objectRef<LtcRequest & { address: string }>('LtcRequest').implement({
  description: 'The address and the amount of a payment by LTC, and what has been received. Outputs add up.',
  fields: (t) => ({
    address: t.exposeString('address', {
      description: 'The Litecoin address, which belongs to this payment alone.',
    }),
    amountLtc: t.field({
      type: 'Decimal',
      description: 'The amount in LTC, as quoted at creation and held until expiresAt.',
      resolve: ({ litoshi }) => ltcText(litoshi),
    }),
    receivedLtc: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'The amount in LTC seen on the chain so far, confirmed or not; null if the upstream service does not report it.',
      resolve: ({ receivedLitoshi }) => (receivedLitoshi === null ? null : ltcText(receivedLitoshi)),
    }),
    confirmations: t.exposeInt('confirmations', {
      description:
        'The confirmations of the amount, at most those required: 0 until all of it has been seen.',
    }),
    requiredConfirmations: t.exposeInt('requiredConfirmations', {
      nullable: true,
      description:
        'The number of confirmations needed: 2, from R$ 1.000,00 on 6. Null if the upstream service does not report it.',
    }),
    uri: t.string({ description: 'The URI litecoin:… with the amount.', resolve: (ltc) => ltcUri(ltc)! }),
    qr: t.field({
      type: QrCode,
      description: 'The URI as a QR code.',
      resolve: (ltc) => qrCode(ltcUri(ltc)!)!,
    }),
  }),
});

/** The members that a payment has in the interface of sales, under other names in GraphQL, or not at all. */
type Unshown =
  | keyof Sale
  | ('brCode' | 'txid' | 'orderStatus' | 'lastStatus' | 'expiryDerived' | 'refundIds' | 'callbackUrl');

export const PaymentRef = builder.objectRef<Payment>('Payment');

addEntity(PaymentRef, 'paymentId');
builder.node(PaymentRef, {
  interfaces: [SaleRef],
  id: { resolve: ({ paymentId }) => paymentId },
  loadOne: (paymentId, context) =>
    mayReadPayment(callerOf(context), paymentId) ? context.loaders.payment.load(paymentId) : null,
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'paymentId' in value,
  description: 'A payment by PIX or LTC.',
  fields: (t) =>
    ({
      ...pixFields(t, {
        idOf: ({ paymentId }) => paymentId,
        name: 'payment',
        updates: 'paymentUpdates',
        isShownToPayers: true,
      }),
      ...orderFields(t),
      paymentId: t.exposeString('paymentId', {
        description:
          'The identifier of the payment: psa_ and 32 hex digits; in remote mode, psa_ and the identifier that the upstream service gives. It is also the secret part of checkoutUrl.',
      }),
      method: t.field({
        type: SalesMethodEnum,
        description: 'The method by which the payer pays, PIX or LTC; it never changes.',
        resolve: ({ method }) => method,
      }),
      ltc: t.field({
        type: LtcRequestRef,
        nullable: true,
        description:
          'The address and the amount to pay. Null unless LTC, and until the network has given the address, which paymentUpdates reports.',
        resolve: ({ ltc }) => (ltc?.address == null ? null : { ...ltc, address: ltc.address }),
      }),
      refundableCents: t.field({
        type: 'Cents',
        nullable: true,
        description:
          'The amount that a refund may still take, in cents: the whole amount less refunds that are completed or under way, and less disputes that were not won. 0 for LTC, and for a payment that is not PAID. Null if the upstream service does not report it.',
        resolve: refundableCentsOf,
      }),
      ...returnedFields(t, (context) => seesCustomer(callerOf(context))),
      productId: t.exposeString('productId', { nullable: true }),
      subscriptionId: t.string({
        nullable: true,
        description:
          'The identifier of the subscription whose cycle the payment pays; null for any other payment.',
        resolve: ({ subscriptionId }) => subscriptionId ?? null,
      }),
      successUrl: t.expose('successUrl', { type: 'Url', nullable: true }),
      cancelUrl: t.expose('cancelUrl', { type: 'Url', nullable: true }),
    }) satisfies { [Member in Exclude<keyof Payment, Unshown>]-?: unknown } & Record<string, unknown>,
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

export const PaymentFilterInput = builder.inputType('PaymentFilter', {
  fields: (t) =>
    ({
      ...receivedFilterFields(
        t,
        'Selects the payment with this paymentId, or paid by the PIX with this endToEndId.',
      ),
      ...orderFilterFields(t),
      customer: t.field({ type: CustomerFilter }),
      method: t.field({ type: [PaymentMethodEnum] }),
      status: t.field({ type: [PaymentStatusEnum] }),
    }) satisfies { [Member in keyof PaymentFilter]-?: unknown },
});

/** Reads the filter as the port has it. @throws ValidationError naming the argument */
export function paymentFilterOf(
  filter: typeof PaymentFilterInput.$inferInput | null | undefined,
): PaymentFilter {
  return readFilter<PaymentFilter>(filter);
}

function findPayment(paymentId: string, context: Context) {
  const caller = callerOf(context);
  if (!mayReadPayment(caller, paymentId)) return null;
  const { payments } = context.services;
  payments.assertId(paymentId);
  return payments.find(caller.tenant, paymentId);
}

addReference('psa_', findPayment);

builder.queryFields((t) => ({
  payment: t.field({
    type: PaymentRef,
    nullable: true,
    description: `The payment with this paymentId. If the upstream service does not offer payments, the field fails with a top-level error, extensions.code NOT_OFFERED. ${byKey('payment')}`,
    args: { paymentId: t.arg.string(), idempotencyKey: keyArgument(t.arg, 'payment') },
    resolve: (_, args, context) => {
      const [name, value] = onlyName(args, ['paymentId', 'idempotencyKey']);
      if (name === 'idempotencyKey') {
        assertMay(callerOf(context), 'payments.read');
        return findByKey(context, 'createPayment', value, async (id) => findPayment(id, context));
      }
      return findPayment(value, context);
    },
  }),
  payments: t.field({
    type: PaymentConnection,
    description: listDescription('payments'),
    args: {
      ...connectionArguments(t.arg),
      filter: t.arg({ type: PaymentFilterInput }),
    },
    resolve: (_, { filter, ...args }, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'payments.read');
      return listedPix(context, {
        tenant: caller.tenant,
        list: 'payments',
        reads: context.services.payments,
        args,
        filter: paymentFilterOf(filter),
      });
    },
  }),
}));

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const CreatePaymentInputRef = builder.inputType('CreatePaymentInput', {
  validate: { schema: createPaymentInput as never },
  fields: (t) => ({
    ...amountInputs(t, 'The amount in cents; at least 1. Required, or productId in its place.'),
    productId: t.string({
      description:
        'The identifier of a product, whose price and name the payment takes. Not allowed with amountCents.',
    }),
    method: t.field({
      type: PaymentMethodEnum,
      defaultValue: 'pix',
      description: 'The method by which the payer pays; PIX if omitted.',
    }),
    ...paymentInputs(t, {
      successUrl: 'The URL to which the payer is sent after the payment. Reaching it proves nothing.',
    }),
    idempotencyKey: keyMember(t, 'give the same payment'),
  }),
});

const CreatePaymentSuccess = replayableSuccessType<{ payment: Payment }>('CreatePaymentSuccess', (t) => ({
  payment: t.expose('payment', { type: PaymentRef }),
}));

const StartPixCheckoutSuccess = replayableSuccessType<{ payment: Payment; paymentToken: string }>(
  'StartPixCheckoutSuccess',
  (t) => ({
    payment: t.expose('payment', { type: PaymentRef }),
    paymentToken: t.exposeString('paymentToken', {
      description: 'A token that reads and follows this payment alone.',
    }),
  }),
  { description: 'The payment, and the token that follows it, which is not the one that started it.' },
);

const CancelPaymentSuccess = replayableSuccessType<{ payment: Payment }>('CancelPaymentSuccess', (t) => ({
  payment: t.expose('payment', { type: PaymentRef }),
}));

builder.mutationFields((t) => ({
  cancelPayment: t.field({
    type: CancelPaymentSuccess,
    description:
      'Cancels a PENDING payment, which is EXPIRED at once: its single-use token starts no other payment. PIX that comes later is returned automatically; LTC waits for the operator. A repetition changes nothing.',
    args: { paymentId: t.arg.string({ required: true }) },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { paymentId }, { services }) =>
      services.payments.cancel(tenant, paymentId),
    ),
  }),
  createPayment: t.field({
    type: CreatePaymentSuccess,
    description:
      'Creates a payment by PIX, or with a live key by LTC. Show the payer the code or the address, or send the payer to checkoutUrl. If the bank issues no code, or the network no address, the result is an UpstreamError: repeat the mutation with the same idempotencyKey.',
    args: { input: t.arg({ type: CreatePaymentInputRef, required: true }) },
    errors: {
      types: [
        ValidationError,
        NotFoundError,
        RateLimitError,
        PreconditionError,
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
      'Starts a PIX payment in the browser, with a checkout token whose methods include PIX. It works like startCheckout, but the payer pays in the page. One attempt id serves both methods: of its payments the first that is paid is kept, and the other is returned.',
    args: {
      input: t.arg({
        type: StartCheckoutInput,
        required: true,
        validate: { schema: startPixCheckoutInput as never },
      }),
    },
    errors: {
      types: [
        ValidationError,
        NotFoundError,
        RateLimitError,
        PreconditionError,
        IdempotencyError,
        UpstreamError,
      ],
    },
    resolve: authorized(
      assertPixToken,
      async ({ tenant, trustedDocumentsOnly }, { input }, context, credential) => {
        // The pause is read from the database, because a socket knows only the caller from its opening.
        const { pauseOf } = context.services.checkoutTokens;
        assertNotPaused(await pauseOf(orderTokenOf(credential)), context.clock.now());
        const { payment, replayed } = await context.services.payments.startCheckout(
          tenant,
          credential,
          input,
        );
        return {
          payment,
          replayed,
          paymentToken: await context.services.access.createPaymentToken(
            tenant,
            { paymentId: payment.paymentId, ...(context.payers && { startedBy: context.payers }) },
            trustedDocumentsOnly,
          ),
        };
      },
    ),
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
