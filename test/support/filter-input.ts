import type { Field } from './bad-input.ts';

type Filter = Record<string, { field: Field }>;

const instants = (...names: string[]): Filter =>
  Object.fromEntries(
    names.map((name) => {
      const valid = name.endsWith('After') ? '2026-01-01T00:00:00Z' : '2026-01-02T00:00:00Z';
      return [name, { field: { kind: 'instant', valid } }];
    }),
  );
const choices = (valid: string): { field: Field } => ({ field: { kind: 'choices', valid: [valid] } });

const amounts = (name: string): Filter => ({
  [`${name.charAt(0).toLowerCase()}${name.slice(1)}Cents`]: { field: { kind: 'amount', valid: 4_990 } },
  [`min${name}Cents`]: { field: { kind: 'amount', valid: 1 } },
  [`max${name}Cents`]: { field: { kind: 'amount', valid: 100_000 } },
});
const NAMED = { reference: { field: { kind: 'reference', valid: 'SAQ-1042' } } } satisfies Filter;
const REFERENCE = { ...NAMED, ...amounts('Amount') };
const NUMBER = {
  externalId: { field: { kind: 'printable', valid: 'pedido 1042', max: 100 } },
} satisfies Filter;
const DETAILS = { ...REFERENCE, ...NUMBER };
const PAID: Filter = {
  ...DETAILS,
  ...instants('createdAfter', 'createdBefore', 'paidAfter', 'paidBefore', 'refundedAfter', 'refundedBefore'),
};
const ORDER = { orderId: NUMBER.externalId } satisfies Filter;
const CUSTOMER = { customer: { field: { kind: 'customer', valid: { externalId: '42' } } } } satisfies Filter;

/**
 * The filters of the lists and of the streams of all changes, by the name of their type, with a description of each
 * member for bad input. The members of `ofList` belong to the list alone, and the stream refuses them.
 * `ofSubaccount`, `ofSubscription`: the list is this field of a subaccount or of a subscription. `stream`: the stream of the list, if it has one.
 */
export const FILTERS: Readonly<
  Record<
    string,
    {
      list: string;
      ofSubaccount?: string;
      ofSubscription?: string;
      stream?: string;
      fields: Filter;
      ofList?: Filter;
    }
  >
> = {
  PayoutFilter: {
    list: 'payouts',
    stream: 'allPayoutUpdates',
    fields: {
      ...DETAILS,
      ...instants('requestedAfter', 'requestedBefore', 'processedAfter', 'processedBefore'),
      status: choices('COMPLETED'),
      method: choices('PIX'),
    },
  },
  CardPaymentFilter: {
    list: 'cardPayments',
    stream: 'allCardPaymentUpdates',
    fields: { ...PAID, ...ORDER, ...CUSTOMER, status: choices('PAID') },
    ofList: instants('releasedAfter', 'releasedBefore'),
  },
  PaymentFilter: {
    list: 'payments',
    stream: 'allPaymentUpdates',
    fields: { ...PAID, ...ORDER, ...CUSTOMER, status: choices('PAID'), method: choices('PIX') },
  },
  ChargeFilter: {
    list: 'charges',
    stream: 'allChargeUpdates',
    fields: { ...PAID, status: choices('PAID'), split: { field: { kind: 'flag', valid: false } } },
  },
  SaleFilter: {
    list: 'sales',
    fields: { ...PAID, ...ORDER, ...CUSTOMER, status: choices('PAID'), method: choices('PIX') },
  },
  RefundFilter: {
    list: 'refunds',
    stream: 'allRefundUpdates',
    fields: {
      ...REFERENCE,
      ...instants('createdAfter', 'createdBefore', 'completedAfter', 'completedBefore'),
      ...instants('failedAfter', 'failedBefore'),
      status: choices('COMPLETED'),
    },
  },
  PaymentReturnFilter: {
    list: 'returns',
    fields: {
      ...DETAILS,
      ...ORDER,
      ...instants('receivedAfter', 'receivedBefore', 'returnedAfter', 'returnedBefore'),
      cause: choices('ALREADY_PAID'),
    },
  },
  DisputeFilter: {
    list: 'disputes',
    stream: 'allDisputeUpdates',
    fields: {
      ...REFERENCE,
      ...instants('createdAfter', 'createdBefore', 'closedAfter', 'closedBefore'),
      status: choices('OPEN'),
    },
  },
  StatementFilter: {
    list: 'statement',
    ofSubaccount: 'statement',
    stream: 'allSubaccountUpdates',
    fields: { ...REFERENCE, ...instants('createdAfter', 'createdBefore'), kind: choices('PAYOUT') },
  },
  SubaccountPayoutFilter: {
    list: 'subaccountPayouts',
    ofSubaccount: 'payouts',
    stream: 'allSubaccountPayoutUpdates',
    fields: {
      ...DETAILS,
      ...instants('createdAfter', 'createdBefore'),
      ...instants('completedAfter', 'completedBefore', 'reversedAfter', 'reversedBefore'),
      status: choices('COMPLETED'),
    },
  },
  PixSubscriptionFilter: {
    list: 'subscriptions',
    stream: 'allSubscriptionUpdates',
    fields: {
      ...REFERENCE,
      ...CUSTOMER,
      ...instants('createdAfter', 'createdBefore', 'canceledAfter', 'canceledBefore'),
      status: choices('ACTIVE'),
    },
  },
  SubscriptionCycleFilter: {
    list: 'cycles',
    ofSubscription: 'cycles',
    fields: {
      ...instants('dueAfter', 'dueBefore', 'paidAfter', 'paidBefore'),
      status: choices('PAID'),
    },
  },
  WebhookDeliveryFilter: {
    list: 'webhookDeliveries',
    stream: 'allWebhookDeliveryUpdates',
    fields: {
      ...NAMED,
      ...instants('createdAfter', 'createdBefore'),
      status: choices('DELIVERED'),
      responseStatus: {
        field: {
          kind: 'composed',
          valid: [503],
          wrong: { 'no status': [['x'], [null], [1.5], {}, true, [99], [600], [-1], [1], [6], [2 ** 31]] },
        },
      },
      endpointId: { field: { kind: 'reference', valid: 'whe_5b1c09d2e7a84f36b0c1d2e3' } },
      event: {
        field: {
          kind: 'composed',
          valid: ['payment.paid'],
          wrong: { 'no names': [7, [7], [null], {}, true] },
        },
      },
    },
  },
  SubaccountFilter: {
    list: 'subaccounts',
    fields: {
      externalId: { field: { kind: 'printable', valid: 'cliente 1042', max: 200 } },
      ...instants('createdAfter', 'createdBefore'),
    },
  },
  DeliveryFilter: {
    list: 'deliveries',
    fields: {
      ...instants('createdAfter', 'createdBefore'),
      productId: {
        field: {
          kind: 'composed',
          valid: '0123456789abcdef01234567',
          wrong: { 'no identifier': ['', 'x', '0123456789abcdef0123456', 7, []] },
        },
      },
      kind: choices('CODES'),
      stock: choices('READY'),
    },
  },
  ProductFilter: {
    list: 'products',
    fields: { ...amounts('Price'), ...instants('createdAfter', 'createdBefore') },
  },
  StoreProductFilter: {
    list: 'storeProducts',
    fields: { ...amounts('Price'), available: { field: { kind: 'flag', valid: true } } },
  },
  TokenFilter: {
    list: 'tokens',
    fields: {
      kind: choices('CHECKOUT'),
      reusable: { field: { kind: 'flag', valid: true } },
      ended: { field: { kind: 'flag', valid: true } },
    },
  },
};
