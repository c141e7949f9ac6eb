import { builder, UNKNOWN } from '../../api/graphql/builder.ts';
import { addEntity } from '../../api/graphql/federation.ts';
import { byKey, findByKey, keyArgument, keyMember, onlyName } from '../../api/graphql/keys.ts';
import { addLoaders, type LoadersOf } from '../../api/graphql/loaders.ts';
import { authorized, replayableSuccessType, successType } from '../../api/graphql/mutations.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../../api/graphql/paging.ts';
import { assertMay, assertUnrestrictedKey, type Caller, callerOf } from '../../kernel/caller.ts';
import {
  IdempotencyError,
  NotFoundError,
  PreconditionError,
  RateLimitError,
  UpstreamError,
  ValidationError,
} from '../../kernel/errors.ts';
import { CardPaymentRef } from '../../money-in/card-payments/schema.ts';
import { PaymentRef } from '../../money-in/payments/schema.ts';
import type { DeliveredContent } from '../../money-in/receiving/model.ts';
import { ProductRef } from '../products/schema.ts';
import { DeliveryKindEnum, DeliveryStockEnum } from './enums-schema.ts';
import { filterArguments, filterOf } from './filter-schema.ts';
import {
  type CreateDeliveryInput,
  createDeliveryInput,
  type Delivery,
  type DeliveryService,
  deliveryIdText,
  stockOf,
} from './model.ts';

const loads = addLoaders({
  delivery: ({ deliveries }, tenant, ids) => deliveries.findMany(tenant, ids),
  /** Finds the content of card payments by order code. */
  deliveredToCardPayment: ({ deliveries }, tenant, orderCodes) =>
    deliveries.deliveredTo(tenant, 'card_payment', orderCodes),
  /** Finds the content of payments by their id. */
  deliveredToPayment: ({ deliveries }, tenant, paymentIds) =>
    deliveries.deliveredTo(tenant, 'payment', paymentIds),
});

declare module '../../api/graphql/services.ts' {
  interface PaymentsService {
    deliveries: DeliveryService;
  }
}

declare module '../../api/graphql/loaders.ts' {
  interface Loaders extends LoadersOf<typeof loads> {}
}

// ── Types ───────────────────────────────────────────────────────────────────────────────────────

const DeliveredStatusEnum = builder.enumType('DeliveredStatus', {
  description: 'The state of the content that a payer receives.',
  values: {
    DELIVERED: { value: 'delivered', description: 'The payer’s page shows it.' },
    PENDING: {
      value: 'pending',
      description: 'The content is out of stock, and is delivered as soon as there is more.',
    },
    REVOKED: { value: 'revoked', description: 'The whole payment was refunded.' },
    UNKNOWN,
  } as const,
});

/** A dashboard token may be in the browser of a person who may not see codes. */
function seesContent({ credential }: Caller): boolean {
  return credential.kind !== 'dashboard_token';
}

const DeliveryRef = builder.objectRef<Delivery>('Delivery');

addEntity(DeliveryRef, 'deliveryId');
builder.node(DeliveryRef, {
  id: { resolve: ({ deliveryId }) => deliveryId },
  loadOne: (deliveryId, context) => {
    assertMay(callerOf(context), 'products.read');
    return context.loaders.delivery.load(deliveryId);
  },
  isTypeOf: (value) => typeof value === 'object' && value !== null && 'deliveryId' in value,
  description: 'Content that the payers of a product receive.',
  fields: (t) => ({
    deliveryId: t.exposeString('deliveryId', { description: 'The identifier: 24 hex digits.' }),
    kind: t.field({
      type: DeliveryKindEnum,
      description: 'The kind of content; it never changes.',
      resolve: ({ kind }) => kind,
    }),
    product: t.field({
      type: ProductRef,
      nullable: true,
      description:
        'The product with which it is sold; null once the product was deleted. Deliveries of a deleted product stay for payments that were started before.',
      resolve: ({ productId }, _, { loaders }) =>
        productId === null ? null : loaders.product.load(productId),
    }),
    productId: t.exposeString('productId', {
      nullable: true,
      description:
        'The identifier of the product, 24 hex digits, also after the product was deleted. Null if the upstream service does not report it.',
    }),
    content: t.string({
      nullable: true,
      description: 'The text or link; null for CODES, and to a dashboard token.',
      resolve: ({ content }, _, context) => (seesContent(callerOf(context)) ? content : null),
    }),
    deliveredCount: t.exposeInt('deliveredCount', {
      nullable: true,
      description:
        'The number of payments that received it. Null if the upstream service does not report it.',
    }),
    remainingCount: t.exposeInt('remainingCount', {
      nullable: true,
      description: 'The number of codes in stock; null for the other kinds.',
    }),
    stock: t.field({
      type: DeliveryStockEnum,
      description: 'Whether the content can be delivered at this moment.',
      resolve: stockOf,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', nullable: true }),
  }),
});

const DeliveryConnection = builder.connectionObject(
  {
    type: DeliveryRef,
    name: 'DeliveryConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'DeliveryEdge' },
);

const DeliveredContentRef = builder.objectRef<DeliveredContent>('DeliveredContent').implement({
  description: 'The content that the payer of one payment receives.',
  fields: (t) => ({
    kind: t.field({
      type: DeliveryKindEnum,
      description: 'The kind of content that the payer receives.',
      resolve: ({ kind }) => kind,
    }),
    status: t.field({ type: DeliveredStatusEnum, resolve: ({ status }) => status }),
    content: t.string({
      nullable: true,
      description: 'The content itself; null unless DELIVERED, and to a dashboard token.',
      resolve: ({ content }, _, context) => (seesContent(callerOf(context)) ? content : null),
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The time at which the payer first received the content; null unless DELIVERED.',
    }),
  }),
});

/** A checkout token may be public, and starts payments of any visitor, so it reads no content. */
function readsDelivered({ credential }: Caller): boolean {
  return credential.kind !== 'checkout_token';
}

const DELIVERED =
  'The content of the payment’s product, each with its status. Null if there is none, if the payment is not paid, if the upstream service does not report it, and to a checkout token. Content that was out of stock is delivered without a change of the version.';

builder.objectField(CardPaymentRef, 'delivered', (t) =>
  t.field({
    type: [DeliveredContentRef],
    nullable: true,
    description: DELIVERED,
    resolve: async ({ orderCode, paidAt }, _, context) =>
      paidAt && readsDelivered(callerOf(context))
        ? copyOf(await context.loaders.deliveredToCardPayment.load(orderCode))
        : null,
  }),
);

builder.objectField(PaymentRef, 'delivered', (t) =>
  t.field({
    type: [DeliveredContentRef],
    nullable: true,
    description: DELIVERED,
    resolve: async ({ paymentId, productId, paidAt }, _, context) =>
      paidAt && productId !== null && readsDelivered(callerOf(context))
        ? copyOf(await context.loaders.deliveredToPayment.load(paymentId))
        : null,
  }),
);

function copyOf(delivered: readonly DeliveredContent[] | null): DeliveredContent[] | null {
  return delivered && [...delivered];
}

// ── Queries ─────────────────────────────────────────────────────────────────────────────────────

builder.queryFields((t) => ({
  delivery: t.field({
    type: DeliveryRef,
    nullable: true,
    description: `The delivery with this deliveryId. ${byKey('delivery')}`,
    args: {
      deliveryId: t.arg.string({ validate: { schema: deliveryIdText as never } }),
      idempotencyKey: keyArgument(t.arg, 'delivery'),
    },
    resolve: (_, args, context) => {
      assertMay(callerOf(context), 'products.read');
      const [name, value] = onlyName(args, ['deliveryId', 'idempotencyKey']);
      const load = (deliveryId: string) => context.loaders.delivery.load(deliveryId);
      return name === 'deliveryId' ? load(value) : findByKey(context, 'createDelivery', value, load);
    },
  }),
  deliveries: t.field({
    type: DeliveryConnection,
    description: `A list of deliveries of content, newest first. ${BOTH_WAYS}`,
    args: {
      ...connectionArguments(t.arg),
      ...filterArguments(t.arg),
    },
    resolve: async (_, args, context) => {
      const caller = callerOf(context);
      assertMay(caller, 'products.read');
      const filter = filterOf(args);
      const cursors = context.listCursors('deliveries');
      const range = rangeOf(cursors, args);
      const { items, more } = await context.services.deliveries.list(caller.tenant, { ...range, ...filter });
      const nodes = items.map(({ position, delivery }) => ({ position, node: delivery }));
      return connectionOf(cursors, nodes, {
        ...pagesBeside(range, more),
        total: () => context.services.deliveries.count(caller.tenant, filter),
      });
    },
  }),
}));

// ── Mutations ───────────────────────────────────────────────────────────────────────────────────

const DeliveryContentInput = builder.inputType('DeliveryContentInput', {
  isOneOf: true,
  description: 'The content of a delivery, given by exactly one of the three members.',
  fields: (t) => ({
    codes: t.stringList({
      description:
        'The codes, 1 to 1000, each at most 500 characters and once. Further codes for the same product are added to its stock.',
    }),
    link: t.field({ type: 'Url', description: 'An https URL of at most 2000 characters.' }),
    text: t.string({ description: 'The text of a delivery, at most 4000 characters.' }),
  }),
});

const CreateDeliveryInputRef = builder.inputType('CreateDeliveryInput', {
  validate: { schema: createDeliveryInput as never },
  fields: (t) => ({
    content: t.field({
      type: DeliveryContentInput,
      required: true,
      description: 'A text, a link, or codes: one for each payer.',
    }),
    idempotencyKey: keyMember(t, 'give the same delivery'),
    productId: t.string({
      required: true,
      description: 'The identifier of the product with which the content is sold; 24 hex digits.',
    }),
  }),
});

const CreateDeliverySuccess = replayableSuccessType<{ delivery: Delivery }>('CreateDeliverySuccess', (t) => ({
  delivery: t.expose('delivery', { type: DeliveryRef }),
}));

const DeleteDeliverySuccess = successType<{ deliveryId: string }>('DeleteDeliverySuccess', (t) => ({
  deleted: t.boolean({ resolve: () => true }),
  deletedId: t.globalID({
    description: 'The `id` that the deleted delivery had.',
    resolve: ({ deliveryId }) => ({ type: 'Delivery', id: deliveryId }),
  }),
  deliveryId: t.exposeString('deliveryId', { description: 'The deliveryId that the deleted delivery had.' }),
}));

builder.mutationFields((t) => ({
  createDelivery: t.field({
    type: CreateDeliverySuccess,
    description:
      'Adds content that the payer of a product receives the moment that the product is paid. At most 10 deliveries for each product, and 10,000 codes in stock.',
    args: { input: t.arg({ type: CreateDeliveryInputRef, required: true }) },
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
      services.deliveries.create(tenant, input as CreateDeliveryInput),
    ),
  }),
  deleteDelivery: t.field({
    type: DeleteDeliverySuccess,
    description: 'Deletes a delivery. Content that was delivered stays delivered.',
    args: { deliveryId: t.arg.string({ required: true, validate: { schema: deliveryIdText as never } }) },
    errors: {
      types: [ValidationError, NotFoundError, RateLimitError, PreconditionError, UpstreamError],
    },
    resolve: authorized(assertUnrestrictedKey, async ({ tenant }, { deliveryId }, { services }) => {
      await services.deliveries.delete(tenant, deliveryId);
      return { deliveryId };
    }),
  }),
}));
