import { builder } from '../../../api/graphql/builder.ts';
import type { Context } from '../../../api/graphql/context.ts';
import { deprecatedSince } from '../../../api/graphql/deprecations.ts';
import { centsFields, periodFields } from '../../../api/graphql/filters.ts';
import {
  BOTH_WAYS,
  connectionArguments,
  connectionOf,
  pagesBeside,
  rangeOf,
  totalOf,
} from '../../../api/graphql/paging.ts';
import { assertMay, callerOf, may, type Right } from '../../../kernel/caller.ts';
import { readFilter } from '../../../kernel/list-filter.ts';
import { CardPaymentRef } from '../../card-payments/schema.ts';
import { ChargeRef } from '../../charges/schema.ts';
import { PaymentRef } from '../../payments/schema.ts';
import { ReturnCauseEnum } from '../../pix/fields-schema.ts';
import {
  orderIdOf,
  type PaymentReturn,
  RETURNED_TYPES,
  type ReturnedType,
  type ReturnFilter,
  type ReturnService,
  typesOfOrders,
} from '../../returns/model.ts';
import { SubscriptionRef } from '../../subscriptions/schema.ts';

declare module '../../../api/graphql/services.ts' {
  interface PaymentsService {
    returns: ReturnService;
  }
}

const ReturnedResource = builder.unionType('ReturnedResource', {
  description: 'A resource that money came for and is returned.',
  types: [CardPaymentRef, PaymentRef, ChargeRef, SubscriptionRef],
});

/** The loader of each type of resource. */
const LOADERS = {
  card_payment: 'cardPayment',
  payment: 'payment',
  charge: 'charge',
  subscription: 'subscription',
} as const;

const READ: Readonly<Record<ReturnedType, Right>> = {
  card_payment: 'card_payments.read',
  payment: 'payments.read',
  charge: 'payments.read',
  subscription: 'subscriptions.read',
};

const ReturnRef = builder.objectRef<PaymentReturn>('PaymentReturn').implement({
  description:
    'Money that came for a payment, did not pay it, and is returned to its payer. It never reaches the balance, and is no refund.',
  fields: (t) => ({
    returnId: t.exposeString('returnId', {
      description: 'The identifier of the return: ret_ and 24 hex digits.',
    }),
    of: t.field({
      type: ReturnedResource,
      nullable: true,
      description: 'The payment, charge or subscription that the money came for.',
      resolve: ({ resource }, _, context) => context.loaders[LOADERS[resource.type]].load(resource.id),
    }),
    orderId: t.string({
      nullable: true,
      description:
        'The number of your order; null if none was given, and for a charge or a subscription, which belong to no order.',
      resolve: orderIdOf,
    }),
    externalId: t.exposeString('externalId', {
      nullable: true,
      deprecationReason: deprecatedSince(
        '0.2.0',
        'Use orderId; the label of a charge is `of { ... on Charge { externalId } }`.',
      ),
      description: 'The number of your order, or the label of the charge.',
    }),
    amountCents: t.expose('amountCents', { type: 'Cents' }),
    cause: t.field({
      type: ReturnCauseEnum,
      description: 'The reason for which the money is returned.',
      resolve: ({ cause }) => cause,
    }),
    keptPayment: t.exposeString('keptPayment', {
      nullable: true,
      description: 'The orderCode or paymentId of the payment of the same order that was kept; null if none.',
    }),
    endToEndId: t.exposeString('endToEndId', {
      nullable: true,
      description: 'The bank’s identifier of the PIX that arrived; null for a card.',
    }),
    receivedAt: t.expose('receivedAt', {
      type: 'DateTime',
      description: 'The time at which the money arrived.',
    }),
    returnedAt: t.expose('returnedAt', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time at which the payer had the money; null while the bank or the acquirer is sending it back.',
    }),
  }),
});

const ReturnConnection = builder.connectionObject(
  {
    type: ReturnRef,
    name: 'PaymentReturnConnection',
    fields: (t) => ({ totalCount: t.int({ resolve: totalOf }) }),
  },
  { name: 'PaymentReturnEdge' },
);

const ReturnFilterInput = builder.inputType('PaymentReturnFilter', {
  description: 'Conditions of a list of returns. A list with dates is in the order of these dates.',
  fields: (t) =>
    ({
      cause: t.field({ type: [ReturnCauseEnum], description: 'Selects returns for any of these reasons.' }),
      orderId: t.string({ description: 'Selects returns of the order with this number.' }),
      externalId: t.string({
        description: 'Selects returns of the charges with this label, and of the order with this number.',
      }),
      reference: t.string({ description: 'Selects the return with this returnId or endToEndId.' }),
      ...centsFields(t, 'returns'),
      ...periodFields(t, 'received', 'returns of money that arrived'),
      ...periodFields(t, 'returned', 'returns whose payer had the money'),
    }) satisfies Record<'orderId' | Exclude<keyof ReturnFilter, 'types'>, unknown>,
});

builder.queryField('returns', (t) =>
  t.field({
    type: ReturnConnection,
    description: `Money that did not pay and is returned to its payer: it arrived after its order was paid, a second time, or with another amount. Newest first. In remote mode: NOT_OFFERED. ${BOTH_WAYS}`,
    args: { ...connectionArguments(t.arg), filter: t.arg({ type: ReturnFilterInput }) },
    resolve: async (_, args, context) => {
      const reader = assertReader(context);
      const { tenant } = reader;
      const isOfOrder = args.filter?.orderId != null;
      const filter = {
        ...readFilter<ReturnFilter>(args.filter),
        types: isOfOrder ? typesOfOrders(reader.types) : reader.types,
      };
      const cursors = context.listCursors('returns');
      const range = rangeOf(cursors, args);
      const { returns } = context.services;
      const { items, more } = await returns.list(tenant, { ...filter, ...range });
      return connectionOf(
        cursors,
        items.map(({ position, item }) => ({ position, node: item })),
        { ...pagesBeside(range, more), total: () => returns.count(tenant, filter) },
      );
    },
  }),
);

/**
 * Refuses a caller that may read no returns at all. Returns the types of the resources whose returns it may
 * read; undefined means all.
 * @throws PermissionError
 */
function assertReader(context: Context) {
  const caller = callerOf(context);
  const types = RETURNED_TYPES.filter((type) => may(caller, READ[type]));
  if (types.length === 0) assertMay(caller, READ.card_payment);
  return { tenant: caller.tenant, types: types.length === RETURNED_TYPES.length ? undefined : types };
}
