import { builder } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { finalFields } from '../../api/graphql/final-fields.ts';
import { byKey, findByKey, keyArgument, keyMember, onlyName } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { authorized, replayableSuccessType } from '../../api/graphql/mutations.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
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
import {
  IdempotencyError,
  NotFoundError,
  PermissionError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { methodsOf, startCheckoutInput } from '../checkout/model.ts';
import { amountInputs, orderFields, paymentInputs, StartCheckoutInput } from '../checkout/schema.ts';
import { isFinalSale, SALE_IS_FINAL, SaleRef, SalesMethodEnum } from '../receiving/sale-schema.ts';
import { returnedFields } from '../receiving/schema.ts';
import { filterArguments, filterOf } from './filter-schema.ts';
import {
  type CardPayment,
  type CardPaymentService,
  type CreateCardPaymentInput,
  createCardPaymentInput,
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

export const CardPaymentRef = builder.objectRef<CardPayment>('CardPayment');

addEntity(CardPaymentRef, 'orderCode');
builder.node(CardPaymentRef, {
  interfaces: [SaleRef],
  id: { resolve: (payment) => payment.orderCode },
  loadOne: (orderCode, context) =>
    mayReadCardPayment(callerOf(context), orderCode) ? context.loaders.cardPayment.load(orderCode) : null,
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'orderCode' in value,
  description: 'A payment by card on a hosted page.',
  fields: (t) => ({
    orderCode: t.exposeString('orderCode', {
      description: 'The identifier of the payment, PSC-…, which is also the secret part of checkoutUrl.',
    }),
    method: t.field({
      type: SalesMethodEnum,
      description: 'The method by which the payer pays: CARD.',
      resolve: () => 'card' as const,
    }),
    serviceFeeCents: t.field({
      type: 'Cents',
      nullable: true,
      description:
        'The service’s fee in cents: 0, unless the upstream service reports another. Null if it reports none, and to a browser’s checkout or payment token.',
      resolve: (payment, _, context) =>
        seesCustomer(callerOf(context)) ? feeCentsOf(payment, context) : null,
    }),
    netAmountCents: t.field({
      type: 'Cents',
      nullable: true,
      description:
        'The amount without the service’s fee, in cents, which reaches the balance at its release. Null if the upstream service does not report the fee, and to a browser’s checkout or payment token.',
      resolve(payment, _, context) {
        const feeCents = feeCentsOf(payment, context);
        return feeCents === null || !seesCustomer(callerOf(context)) ? null : payment.amountCents - feeCents;
      },
    }),
    checkoutUrl: t.field({
      type: 'Url',
      nullable: true,
      description: 'The URL of the hosted page where the payer enters the card.',
      resolve: (payment, _, context) => context.checkoutUrl(payment.orderCode, payment),
    }),
    ...orderFields(t),
    successUrl: t.expose('successUrl', { type: 'Url', nullable: true }),
    cancelUrl: t.expose('cancelUrl', { type: 'Url', nullable: true }),
    releasedAt: t.field({
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the money moved from pendingReleaseCents into the balance, which changes no version. Null before, to a browser’s checkout or payment token, and if the upstream service does not report it.',
      resolve: ({ releasedAt = null }, _, context) => (seesCustomer(callerOf(context)) ? releasedAt : null),
    }),
    ...returnedFields(t, (context) => seesCustomer(callerOf(context))),
    declineReason: t.string({
      nullable: true,
      description:
        'The acquirer’s reason for the last declined card of this payment, also if the payment stays open; null if no card was declined, and to a browser’s checkout or payment token. In remote mode it is not known.',
      resolve: ({ declineReason = null }, _, context) =>
        seesCustomer(callerOf(context)) ? declineReason : null,
    }),
    ...finalFields(t, SALE_IS_FINAL, isFinalSale),
    version: t.exposeInt('version', {
      description:
        'A number that grows with each change of the status: of two answers the larger is the newer. Partial refunds change the amounts without it; allRefundUpdates reports them.',
    }),
  }),
});

function feeCentsOf(payment: CardPayment, { services }: Pick<Context, 'services'>) {
  return services.cardPayments.feeCentsOf(payment);
}

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
      ...filterArguments(t.arg),
    },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'card_payments.read');
      const filter = filterOf(args);
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

const CreateCardPaymentInputRef = builder.inputType('CreateCardPaymentInput', {
  validate: { schema: createCardPaymentInput as never },
  fields: (t) => ({
    ...amountInputs(t, 'The amount in cents; at least 80. Required.'),
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

const CancelCardPaymentSuccess = replayableSuccessType<{ payment: CardPayment }>(
  'CancelCardPaymentSuccess',
  (t) => ({
    cardPayment: t.expose('payment', { type: CardPaymentRef }),
  }),
);

const StartCheckoutSuccess = replayableSuccessType<{ payment: CardPayment; paymentToken: string }>(
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
    args: { input: t.arg({ type: CreateCardPaymentInputRef, required: true }) },
    errors: { types: [ValidationError, RateLimitError, PreconditionError, IdempotencyError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.cardPayments.create(tenant, input as CreateCardPaymentInput),
    ),
  }),
  cancelCardPayment: t.field({
    type: CancelCardPaymentSuccess,
    description:
      'Cancels a PENDING payment, which is EXPIRED at once: its page takes no card, and its single-use token starts no other payment. If the acquirer approves a card that was being confirmed, the money is returned and the payment is FAILED. A repetition changes nothing.',
    args: { orderCode: t.arg.string({ required: true }) },
    errors: { types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError] },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { orderCode }, { services }) =>
      services.cardPayments.cancel(tenant, orderCode),
    ),
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
        PreconditionError,
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
        const { payment, replayed } = await context.services.cardPayments.startCheckout(
          tenant,
          credential,
          input,
          context.address,
        );
        return {
          payment,
          replayed,
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
