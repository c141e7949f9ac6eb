import { builder } from '../../api/graphql/builder.ts';
import type { Context } from '../../api/graphql/context.ts';
import { Currency } from '../../api/graphql/currency.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { finalFields } from '../../api/graphql/final-fields.ts';
import { byKey, findByKey, keyArgument, keyMember, onlyName } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { addReference } from '../../api/graphql/lookup-reference.ts';
import { authorized, replayableSuccessType } from '../../api/graphql/mutations.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../../api/graphql/paging.ts';
import { assertMay, assertUnrestrictedKey, callerOf, may, seesCustomer } from '../../kernel/caller.ts';
import {
  IdempotencyError,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { readFilter } from '../../kernel/list-filter.ts';
import { amountInputs, CustomerRef, languageField, payerInputs } from '../checkout/schema.ts';
import { PaymentRef } from '../payments/schema.ts';
import { PixCode, ReturnedCreditRef } from '../pix/fields-schema.ts';
import { txidOf } from '../pix/model.ts';
import { CancelReasonEnum, CycleStatusEnum, IntervalEnum, SubscriptionStatusEnum } from './enums-schema.ts';
import { CycleFilterInput, filterArguments, filterOf } from './filter-schema.ts';
import {
  type CreateSubscriptionInput,
  type CycleFilter,
  createSubscriptionInput,
  isAuthorisable,
  isFinal,
  type Subscription,
  type SubscriptionCycle,
  type SubscriptionService,
} from './model.ts';

const loads = addLoaders({
  subscription: ({ subscriptions }, tenant, ids) => subscriptions.findMany(tenant, ids),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    subscriptions: SubscriptionService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

export const CycleRef = builder.objectRef<SubscriptionCycle>('SubscriptionCycle').implement({
  description: 'One debit of a subscription, with its attempts.',
  fields: (t) => ({
    number: t.exposeInt('number', { description: 'The place of the cycle in the subscription: 1, 2, 3, …' }),
    status: t.field({ type: CycleStatusEnum, resolve: ({ status }) => status }),
    amountCents: t.expose('amountCents', { type: 'Cents' }),
    dueAt: t.expose('dueAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The due time, 00:00 of its day in São Paulo. A month that is too short moves no later one.',
    }),
    attempts: t.exposeInt('attempts', {
      description:
        'The number of attempts, at most 4: one when the cycle is due, and three more in the seven days after, before the next cycle is due.',
    }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the next attempt, 00:00 of its day in São Paulo.',
    }),
    failureReason: t.exposeString('failureReason', {
      nullable: true,
      description: 'The bank’s reason for the last attempt that has failed; null once the cycle is paid.',
    }),
    paidAt: t.expose('paidAt', { type: 'DateTime', nullable: true }),
    payment: t.field({
      type: PaymentRef,
      nullable: true,
      description:
        'The payment of the cycle, which also has its refunds and disputes. Null until it is paid, and to a token that does not read payments.',
      resolve: ({ paymentId }, _, context) =>
        paymentId !== null && may(callerOf(context), 'payments.read')
          ? context.loaders.payment.load(paymentId)
          : null,
    }),
  }),
});

const CycleConnection = builder.connectionObject(
  {
    type: CycleRef,
    name: 'SubscriptionCycleConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'SubscriptionCycleEdge' },
);

export const SubscriptionRef = builder.objectRef<Subscription>('PixSubscription');

addEntity(SubscriptionRef, 'subscriptionId');
builder.node(SubscriptionRef, {
  id: { resolve: ({ subscriptionId }) => subscriptionId },
  loadOne: (subscriptionId, context) => {
    assertMay(callerOf(context), 'subscriptions.read');
    return context.loaders.subscription.load(subscriptionId);
  },
  isTypeOf: (value) =>
    typeof value === 'object' && value !== null && 'subscriptionId' in value && 'interval' in value,
  description: 'A PIX that recurs (PIX Automático). Not a GraphQL subscription.',
  fields: (t) => ({
    subscriptionId: t.exposeString('subscriptionId', {
      description:
        'The identifier of the subscription: psa_sub_ and 32 hex digits. It is also the secret part of checkoutUrl.',
    }),
    status: t.field({ type: SubscriptionStatusEnum, resolve: ({ status }) => status }),
    amountCents: t.expose('amountCents', {
      type: 'Cents',
      description: 'The amount of each cycle in cents.',
    }),
    currency: t.field({ type: Currency, resolve: () => 'BRL' as const }),
    interval: t.field({
      type: IntervalEnum,
      description: 'The length of a cycle; it never changes.',
      resolve: ({ interval }) => interval,
    }),
    endsAfterCycles: t.exposeInt('endsAfterCycles', {
      nullable: true,
      description: 'The number of cycles; null if they are debited until the subscription is canceled.',
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
    pix: t.field({
      type: PixCode,
      nullable: true,
      description:
        'The code that authorizes the subscription and pays the first cycle, in one. Null once it is authorized or has ended.',
      resolve: (subscription) =>
        isAuthorisable(subscription)
          ? {
              copyPaste: subscription.brCode!,
              txid: subscription.txid === undefined ? txidOf(subscription.subscriptionId) : subscription.txid,
            }
          : null,
    }),
    checkoutUrl: t.field({
      type: 'Url',
      nullable: true,
      description: 'The URL of the hosted page where the payer authorizes the subscription.',
      resolve: (subscription, _, context) => context.checkoutUrl(subscription.subscriptionId, subscription),
    }),
    language: languageField(t),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The end of the time for the authorization, 24 hours after the creation.',
    }),
    nextDueAt: t.expose('nextDueAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The due day of the open cycle, also when it has come; once an attempt of this cycle has failed, the due day of the cycle after it. Null if there is no such cycle.',
    }),
    cycles: t.field({
      type: CycleConnection,
      description: 'The cycles, newest first. The first is paid with the authorization.',
      args: {
        ...connectionArguments(t.arg),
        filter: t.arg({ type: CycleFilterInput }),
      },
      resolve: async ({ subscriptionId }, args, context) => {
        const filter = readFilter<CycleFilter>(args.filter);
        const { tenant } = callerOf(context);
        const { subscriptions } = context.services;
        const cursors = context.listCursors(`cycles ${subscriptionId}`);
        const range = rangeOf(cursors, args);
        const { items, more } = await subscriptions.cycles(tenant, subscriptionId, {
          ...range,
          ...filter,
        });
        const nodes = items.map((cycle) => ({ position: cycle.number, node: cycle }));
        return connectionOf(cursors, nodes, {
          ...pagesBeside(range, more),
          total: () => subscriptions.countCycles(tenant, subscriptionId, filter),
        });
      },
    }),
    cancelReason: t.field({
      type: CancelReasonEnum,
      nullable: true,
      description: 'The reason for the cancellation; null unless CANCELED.',
      resolve: ({ cancelReason }) => cancelReason,
    }),
    canceledAt: t.expose('canceledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time from which no cycle is debited; null unless CANCELED.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
    returnedCredits: t.field({
      type: [ReturnedCreditRef],
      description:
        'Credits that were returned: of an authorization that came too late, of another amount, or of a cycle that was paid twice. At most the last 20, oldest first.',
      resolve: ({ returnedCredits }) => [...returnedCredits],
    }),
    ...finalFields(
      t,
      'Whether the status is final, as CANCELED, COMPLETED and EXPIRED are: no later status can follow.',
      ({ status }) => isFinal(status),
    ),
    version: t.exposeInt('version', {
      description:
        'A number that grows with each change of this subscription and of its cycles: of two answers the larger is the newer.',
    }),
  }),
});

const SubscriptionConnection = builder.connectionObject(
  {
    type: SubscriptionRef,
    name: 'PixSubscriptionConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'PixSubscriptionEdge' },
);

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

function findSubscription(subscriptionId: string, context: Context) {
  const caller = callerOf(context);
  assertMay(caller, 'subscriptions.read');
  const { subscriptions } = context.services;
  subscriptions.assertId(subscriptionId);
  return subscriptions.find(caller.tenant, subscriptionId);
}

addReference('psa_sub_', findSubscription);

builder.queryFields((t) => ({
  subscription: t.field({
    type: SubscriptionRef,
    nullable: true,
    description: `The subscription with this subscriptionId. If the upstream service does not offer subscriptions, the field fails with a top-level error, extensions.code NOT_OFFERED. ${byKey('subscription')}`,
    args: { subscriptionId: t.arg.string(), idempotencyKey: keyArgument(t.arg, 'subscription') },
    resolve: (_, args, context) => {
      assertMay(callerOf(context), 'subscriptions.read');
      const [name, value] = onlyName(args, ['subscriptionId', 'idempotencyKey']);
      const find = (subscriptionId: string) => findSubscription(subscriptionId, context);
      return name === 'idempotencyKey' ? findByKey(context, 'createSubscription', value, find) : find(value);
    },
  }),
  subscriptions: t.field({
    type: SubscriptionConnection,
    description: `A list of subscriptions, newest first. ${BOTH_WAYS}`,
    args: {
      ...connectionArguments(t.arg),
      ...filterArguments(t.arg),
    },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'subscriptions.read');
      const filter = filterOf(args);
      const cursors = context.listCursors('subscriptions');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.subscriptions.list(caller.tenant, {
        ...filter,
        ...range,
      });
      const nodes = items.map(({ position, resource }) => ({ position, node: resource }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.subscriptions.count(caller.tenant, filter),
      });
    },
  }),
}));

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const CreateSubscriptionInputRef = builder.inputType('CreateSubscriptionInput', {
  validate: { schema: createSubscriptionInput as never },
  fields: (t) => ({
    ...amountInputs(t, 'The amount of each cycle in cents; at least 1. Required.'),
    interval: t.field({
      type: IntervalEnum,
      required: true,
      description: 'The length of a cycle; cycles are counted from the first payment.',
    }),
    endsAfterCycles: t.int({
      description:
        'The number of cycles, 1 to 520. If omitted, cycles are debited until the subscription is canceled. Null is refused.',
    }),
    ...payerInputs(t, {
      successUrl: 'The URL to which the payer is sent after the authorization. Reaching it proves nothing.',
    }),
    idempotencyKey: keyMember(t, 'give the same subscription'),
  }),
});

const CreateSubscriptionSuccess = replayableSuccessType<{ subscription: Subscription }>(
  'CreateSubscriptionSuccess',
  (t) => ({ subscription: t.expose('subscription', { type: SubscriptionRef }) }),
);

const CancelSubscriptionSuccess = replayableSuccessType<{ subscription: Subscription }>(
  'CancelSubscriptionSuccess',
  (t) => ({ subscription: t.expose('subscription', { type: SubscriptionRef }) }),
);

builder.mutationFields((t) => ({
  createSubscription: t.field({
    type: CreateSubscriptionSuccess,
    description:
      'Creates a recurring PIX: the payer authorizes it once, in their bank, and each cycle is debited when it is due. If the bank issues no code, the result is an UpstreamError: repeat the mutation with the same idempotencyKey.',
    args: { input: t.arg({ type: CreateSubscriptionInputRef, required: true }) },
    errors: {
      types: [ValidationError, RateLimitError, PreconditionError, IdempotencyError, UpstreamError],
    },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { input }, { services }) =>
      services.subscriptions.create(tenant, input as CreateSubscriptionInput),
    ),
  }),
  cancelSubscription: t.field({
    type: CancelSubscriptionSuccess,
    description:
      'Cancels a recurring PIX. No cycle is debited from now on, except one that the payer’s bank can no longer recall: from 22:00 of the evening before its day. A subscription that has ended stays as it is, without an error.',
    args: { subscriptionId: t.arg.string({ required: true }) },
    errors: {
      types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError],
    },
    resolve: authorized(assertUnrestrictedKey, ({ tenant }, { subscriptionId }, { services }) => {
      services.subscriptions.assertId(subscriptionId);
      return services.subscriptions.cancel(tenant, subscriptionId);
    }),
  }),
}));
