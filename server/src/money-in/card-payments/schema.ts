import { builder, UNKNOWN } from '../../api/graphql/builder.ts';
import { Currency } from '../../api/graphql/currency.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { finalFields } from '../../api/graphql/final-fields.ts';
import { byKey, findByKey, keyArgument, keyMember, onlyName } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { authorized, replayableSuccessType, successType } from '../../api/graphql/mutations.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  knownValue,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../../api/graphql/paging.ts';
import {
  assertMay,
  assertUnrestrictedKey,
  type Caller,
  callerOf,
  mayReadCardPayment,
  orderTokenOf,
  seesCustomer,
} from '../../kernel/caller.ts';
import { secondsLeft } from '../../kernel/clock.ts';
import {
  IdempotencyError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  UnavailableError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { methodsOf, startCheckoutInput } from '../checkout/model.ts';
import {
  CustomerRef,
  languageField,
  orderFields,
  paymentInputs,
  StartCheckoutInput,
} from '../checkout/schema.ts';
import { refundableCents } from '../receiving/model.ts';
import { returnedFields, unresolvedField } from '../receiving/schema.ts';
import { CardPaymentFilterInput, filterOf } from './filter-schema.ts';
import {
  type CardPayment,
  type CardPaymentService,
  type CardPaymentStatus,
  createCardPaymentInput,
  isFinal,
} from './model.ts';
import { assertNotPaused } from './tokens/model.ts';

const loads = addLoaders({
  cardPayment: ({ cardPayments }, tenant, orderCodes) => cardPayments.findMany(tenant, orderCodes),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    cardPayments: CardPaymentService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

export const CardPaymentStatusEnum = builder.enumType('CardPaymentStatus', {
  description: 'The states of a card payment.',
  values: {
    PENDING: { value: 'pending', description: 'The payer has not paid yet.' },
    PAID: {
      value: 'paid',
      description:
        'The acquirer holds the money. Until its release it is in the wallet’s pendingReleaseCents.',
    },
    EXPIRED: {
      value: 'expired',
      description:
        'The payment was not paid in time, or was canceled. A charge that was under way may still make it PAID, or FAILED if it was canceled.',
    },
    REFUNDED: {
      value: 'refunded',
      description: 'The payer has the whole amount back.',
    },
    FAILED: {
      value: 'failed',
      description:
        'The payment was declined for good, and nothing was charged. Or its money is returned to the payer, because another payment of the same order was paid before, or because the merchant had canceled this one: see `returned`.',
    },
    UNKNOWN,
  } as const,
});

export const CardPaymentRef = builder.objectRef<CardPayment>('CardPayment');

addEntity(CardPaymentRef, 'orderCode');
builder.node(CardPaymentRef, {
  id: { resolve: (payment) => payment.orderCode },
  loadOne: (orderCode, context) =>
    mayReadCardPayment(callerOf(context), orderCode) ? context.loaders.cardPayment.load(orderCode) : null,
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'orderCode' in value,
  description: 'A payment by card on a hosted page.',
  fields: (t) => ({
    orderCode: t.exposeString('orderCode', {
      description: 'The identifier of the payment, PSC-…, which is also the secret part of checkoutUrl.',
    }),
    status: t.field({ type: CardPaymentStatusEnum, resolve: ({ status }) => status }),
    amountCents: t.expose('amountCents', { type: 'Cents' }),
    currency: t.field({ type: Currency, resolve: () => 'BRL' as const }),
    checkoutUrl: t.field({
      type: 'Url',
      nullable: true,
      description: 'The URL of the hosted page where the payer enters the card.',
      resolve: (payment, _, context) => context.checkoutUrl(payment.orderCode, payment),
    }),
    language: languageField(t),
    ...orderFields(t),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'The end of the time to pay, 30 minutes after creation.',
    }),
    expiresInSeconds: t.int({
      description:
        'The seconds until expiresAt by the server’s clock, 0 when past: a countdown must not trust the device’s clock.',
      resolve: ({ expiresAt }, _, { clock }) => secondsLeft(expiresAt, clock),
    }),
    description: t.exposeString('description', { nullable: true }),
    customer: t.field({
      type: CustomerRef,
      nullable: true,
      description: 'The customer as given at creation. Null to a browser’s checkout or payment token.',
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
        'The number of your order, of whose payments one is kept; null if none was given, and to a browser’s checkout or payment token.',
      resolve: ({ externalId = null }, _, context) => (seesCustomer(callerOf(context)) ? externalId : null),
    }),
    successUrl: t.expose('successUrl', { type: 'Url', nullable: true }),
    cancelUrl: t.expose('cancelUrl', { type: 'Url', nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
    paidAt: t.expose('paidAt', { type: 'DateTime', nullable: true }),
    releasedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the money moved from pendingReleaseCents into the balance, which changes no version. Null before, to a browser’s checkout or payment token, and if the upstream service does not report it.',
      resolve: ({ releasedAt = null }, _, context) => (seesCustomer(callerOf(context)) ? releasedAt : null),
    }),
    paidLate: t.exposeBoolean('paidLate', {
      description: 'Whether the acquirer confirmed the payment after expiresAt.',
    }),
    otherPaidCents: t.field({
      type: 'Cents',
      nullable: true,
      description:
        'The amount that the upstream service has reported as paid, if it is not amountCents. Such a report alone does not make the payment PAID: compare both with your order. Null otherwise, and to a browser’s checkout or payment token.',
      resolve: ({ otherPaidCents = null }, _, context) =>
        seesCustomer(callerOf(context)) ? otherPaidCents : null,
    }),
    refundedAt: t.expose('refundedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the payer had the whole amount back. Null before.',
    }),
    canceledAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the merchant canceled the payment, which has been EXPIRED since then. Null if it was not canceled.',
      resolve: ({ canceledAt = null }) => canceledAt,
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
        'The amount that a refund may still take, in cents: the whole amount less refunds that are completed or under way, and less disputes that were not won. 0 for a payment that is not PAID. Null if the upstream service does not report it.',
      resolve: refundableCents,
    }),
    failureReason: t.string({
      nullable: true,
      description:
        'The acquirer’s reason for the failure; `paid_elsewhere` or `canceled` for a payment that is `returned`. Null unless FAILED, and to a browser’s checkout or payment token: a payer reads a neutral sentence.',
      resolve: ({ failureReason }, _, context) => (seesCustomer(callerOf(context)) ? failureReason : null),
    }),
    ...returnedFields(t, (context) => seesCustomer(callerOf(context))),
    ...unresolvedField(t),
    declineReason: t.string({
      nullable: true,
      description:
        'The acquirer’s reason for the last declined card of this payment, also if the payment stays open; null if no card was declined, and to a browser’s checkout or payment token. In remote mode it is not known.',
      resolve: ({ declineReason = null }, _, context) =>
        seesCustomer(callerOf(context)) ? declineReason : null,
    }),
    ...finalFields(
      t,
      'Whether the status is final, as REFUNDED and FAILED are: no later status follows. A PAID payment may be refunded; an EXPIRED one may be paid late, or have its money returned. False while only a webhook reports the end; a newer answer of the upstream service corrects any status.',
      ({ status, claimedAt }) => isFinal(status) && claimedAt === undefined,
    ),
    version: t.exposeInt('version', {
      description:
        'A number that grows with each change of the status: of two answers the larger is the newer. Partial refunds change the amounts without it; allRefundUpdates reports them.',
    }),
  }),
});

const CardPaymentConnection = builder.connectionObject(
  {
    type: CardPaymentRef,
    name: 'CardPaymentConnection',
    fields: (t) => ({
      totalCount: t.int({ resolve: totalOf }),
    }),
  },
  { name: 'CardPaymentEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

builder.queryFields((t) => ({
  cardPayment: t.field({
    type: CardPaymentRef,
    nullable: true,
    args: { orderCode: t.arg.string(), idempotencyKey: keyArgument(t.arg, 'card payment') },
    description: `The card payment with this orderCode. ${byKey('card payment')}`,
    resolve: (_, args, context) => {
      const caller = callerOf(context);
      const [name, value] = onlyName(args, ['orderCode', 'idempotencyKey']);
      const load = (orderCode: string) => context.loaders.cardPayment.load(orderCode);
      if (name === 'orderCode') return mayReadCardPayment(caller, value) ? load(value) : null;
      assertMay(caller, 'card_payments.read');
      return findByKey(context, 'createCardPayment', value, load);
    },
  }),
  cardPayments: t.field({
    type: CardPaymentConnection,
    description: `A list of card payments, newest first. ${BOTH_WAYS}`,
    args: {
      ...connectionArguments(t.arg),
      status: t.arg({ type: [CardPaymentStatusEnum] }),
      filter: t.arg({ type: CardPaymentFilterInput }),
    },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'card_payments.read');
      const status = args.status?.map((each) => knownValue<CardPaymentStatus>(each, 'status'));
      const filter = { ...filterOf(args.filter), status };
      const cursors = context.listCursors('cardPayments');
      const range = rangeOf(cursors, args);
      const { cardPayments } = context.services;
      const { items, more } = await cardPayments.list(caller.tenant, { ...filter, ...range });
      const nodes = items.map(({ position, resource }) => ({ position, node: resource }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => cardPayments.count(caller.tenant, filter),
      });
    },
  }),
}));

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const CreateCardPaymentInput = builder.inputType('CreateCardPaymentInput', {
  validate: { schema: createCardPaymentInput },
  fields: (t) => ({
    valueCents: t.field({ type: 'Cents', required: true, description: 'The amount in cents; at least 80.' }),
    ...paymentInputs(t, {
      successUrl: 'The URL to which the payer is sent after an approved payment. Reaching it proves nothing.',
    }),
    idempotencyKey: keyMember(t, 'give the same payment'),
  }),
});

const CreateCardPaymentSuccess = replayableSuccessType<{ payment: CardPayment }>(
  'CreateCardPaymentSuccess',
  (t) => ({ cardPayment: t.expose('payment', { type: CardPaymentRef }) }),
  { formerly: 'CardPaymentSuccess' },
);

const CancelCardPaymentSuccess = successType<{ payment: CardPayment }>('CancelCardPaymentSuccess', (t) => ({
  cardPayment: t.expose('payment', { type: CardPaymentRef }),
}));

const StartCheckoutSuccess = successType<{ payment: CardPayment; paymentToken: string }>(
  'StartCheckoutSuccess',
  (t) => ({
    cardPayment: t.expose('payment', { type: CardPaymentRef }),
    paymentToken: t.exposeString('paymentToken', {
      description: 'A token that reads and follows this payment alone.',
    }),
  }),
  { description: 'The payment, and the token that follows it, which is not the one that started it.' },
);

builder.mutationFields((t) => ({
  createCardPayment: t.field({
    type: CreateCardPaymentSuccess,
    description:
      'Creates a card payment, from your server: send the payer to its checkoutUrl. Live keys only.',
    args: { input: t.arg({ type: CreateCardPaymentInput, required: true }) },
    errors: { types: [ValidationError, RateLimitError, UnavailableError, IdempotencyError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.cardPayments.create(tenant, input),
    ),
  }),
  cancelCardPayment: t.field({
    type: CancelCardPaymentSuccess,
    description:
      'Cancels a PENDING payment, which is EXPIRED at once: its page takes no card, and its single-use token starts no other payment. If the acquirer approves a card that was being confirmed, the money is returned and the payment is FAILED. A repetition changes nothing.',
    args: { orderCode: t.arg.string({ required: true }) },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, UnavailableError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { orderCode }, { services }) => ({
      payment: await services.cardPayments.cancel(tenant, orderCode),
    })),
  }),
  startCheckout: t.field({
    type: StartCheckoutSuccess,
    description:
      'Starts a card payment in the browser, as <psa-checkout> does, with a checkout token in place of an API key.',
    args: {
      input: t.arg({
        type: StartCheckoutInput,
        required: true,
        validate: { schema: startCheckoutInput as never },
      }),
    },
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
    resolve: authorized(
      assertCheckoutToken,
      async ({ tenant, trustedDocumentsOnly }, { input }, context, credential) => {
        // The pause is read from the database, because a socket knows only the caller from its opening.
        const { pauseOf } = context.services.checkoutTokens;
        assertNotPaused(await pauseOf(orderTokenOf(credential)), context.clock.now());
        const payment = await context.services.cardPayments.startCheckout(
          tenant,
          credential,
          input,
          context.address,
        );
        return {
          payment,
          paymentToken: await context.services.access.createPaymentToken(
            tenant,
            { orderCode: payment.orderCode, ...(context.payers && { startedBy: context.payers }) },
            trustedDocumentsOnly,
          ),
        };
      },
    ),
  }),
}));

/** @throws PermissionError */
function assertCheckoutToken({ credential }: Caller) {
  if (credential.kind !== 'checkout_token') throw new PermissionError('startCheckout needs a checkout token');
  if (!methodsOf(credential.grant).includes('card'))
    throw new PermissionError('This checkout token takes no cards: its methods are PIX alone');
  return credential;
}
