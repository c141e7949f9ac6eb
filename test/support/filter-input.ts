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

const REFERENCE = {
  reference: { field: { kind: 'reference', valid: 'SAQ-1042' } },
  amountCents: { field: { kind: 'amount', valid: 4_990 } },
} satisfies Filter;
const DETAILS = {
  ...REFERENCE,
  externalId: { field: { kind: 'printable', valid: 'pedido 1042', max: 100 } },
} satisfies Filter;
const PAID: Filter = {
  ...DETAILS,
  ...instants('createdAfter', 'createdBefore', 'paidAfter', 'paidBefore', 'refundedAfter', 'refundedBefore'),
};
const ORDER = { orderId: DETAILS.externalId } satisfies Filter;
const CUSTOMER = { customer: { field: { kind: 'customer', valid: { externalId: '42' } } } } satisfies Filter;

/**
 * The filters of the lists and of the streams of all changes, by the name of their type, with a description of each
 * member for bad input. The members of `ofList` belong to the list alone, and the stream refuses them.
 * `ofSubaccount`: the list is this field of a subaccount. `stream`: the stream of the list, if it has one.
 */
export const FILTERS: Readonly<
  Record<string, { list: string; ofSubaccount?: string; stream?: string; fields: Filter; ofList?: Filter }>
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
    fields: { ...PAID, ...ORDER, ...CUSTOMER },
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
  RefundFilter: {
    list: 'refunds',
    stream: 'allRefundUpdates',
    fields: instants(
      ...[
        'createdAfter',
        'createdBefore',
        'completedAfter',
        'completedBefore',
        'failedAfter',
        'failedBefore',
      ],
    ),
  },
  PaymentReturnFilter: {
    list: 'returns',
    fields: { ...ORDER, externalId: DETAILS.externalId },
  },
  DisputeFilter: {
    list: 'disputes',
    stream: 'allDisputeUpdates',
    fields: instants('createdAfter', 'createdBefore', 'closedAfter', 'closedBefore'),
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
    },
  },
};
