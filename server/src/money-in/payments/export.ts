import {
  type Column,
  type Export,
  exportOf,
  instant,
  moved,
  type Pages,
  pagesOf,
  text,
} from '../../api/http/exports/export.ts';
import {
  anyOf,
  customerQuery,
  orderQuery,
  readFilterQuery,
  receivedQuery,
} from '../../api/http/list-query.ts';
import { may } from '../../kernel/caller.ts';
import type { ListedRange, ListRange } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { CardPayment, CardPaymentService } from '../card-payments/model.ts';
import type { Charge, ChargeService } from '../charges/model.ts';
import type { Customer } from '../checkout/model.ts';
import { PAYMENT_STATUSES } from '../receiving/model.ts';
import { PAYMENT_METHODS, type PaymentMethod } from './methods.ts';
import type { Payment, PaymentFilter, PaymentService } from './model.ts';

/** The kinds of payments, in the order in which a file has them. */
const KINDS = ['card_payment', 'payment', 'charge'] as const;

/** A card payment, a payment or a charge. */
interface Sale {
  kind: (typeof KINDS)[number];
  id: string;
  method: string;
  orderId: string | null | undefined;
  externalId: string | null;
  endToEndId: string | null;
  customer: Customer | null;
  feeCents: Cents | null;
  shared: CardPayment | Payment | Charge;
}

const COLUMNS: readonly Column<Sale>[] = [
  text('kind', ({ kind }) => kind),
  text('id', ({ id }) => id),
  text('method', ({ method }) => method),
  text('status', ({ shared }) => shared.status),
  instant('createdAt', ({ shared }) => shared.createdAt),
  instant('paidAt', ({ shared }) => shared.paidAt),
  instant('refundedAt', ({ shared }) => shared.refundedAt),
  moved('amount', ({ shared }) => shared.amountCents),
  moved('serviceFee', ({ feeCents }) => feeCents),
  moved('netAmount', ({ shared, feeCents }) => (feeCents === null ? null : shared.amountCents - feeCents)),
  moved('refunded', ({ shared }) => shared.refundedCents),
  text('description', ({ shared }) => shared.description),
  text('orderId', ({ orderId }) => orderId),
  text('externalId', ({ externalId }) => externalId),
  text('customerName', ({ customer }) => customer?.name),
  text('customerEmail', ({ customer }) => customer?.email),
  text('customerExternalId', ({ customer }) => customer?.externalId),
  text('endToEndId', ({ endToEndId }) => endToEndId),
  text('failureReason', ({ shared }) => shared.failureReason),
];

/** Payments of all methods as a file: card payments, then payments, then charges, as far as the caller may read them. */
export function createPaymentExport({
  cardPayments,
  payments,
  charges,
}: {
  cardPayments: Pick<CardPaymentService, 'list' | 'feeCentsOf'>;
  payments: Pick<PaymentService, 'list'>;
  charges: Pick<ChargeService, 'list'>;
}): Export {
  return exportOf({
    name: 'payments',
    rights: ['card_payments.read', 'payments.read'],
    query: {
      ...receivedQuery(PAYMENT_STATUSES, 'Selects the payment or charge with this id, code or endToEndId'),
      ...orderQuery,
      ...customerQuery,
      method: anyOf(['card', ...PAYMENT_METHODS], 'payments'),
    },
    columns: COLUMNS,
    open(caller, { method: methods, ...members }) {
      const { tenant } = caller;
      const filter = readFilterQuery<Omit<PaymentFilter, 'method'>>(members);
      const has = (method: 'card' | PaymentMethod) => !methods || methods.includes(method);
      const hasCards = has('card') && may(caller, 'card_payments.read');
      const mayReadPix = may(caller, 'payments.read');
      const method = methods && PAYMENT_METHODS.filter(has);
      // A charge has no order and no customer.
      const { customer, ...ofCharges } = filter;
      const hasCharges =
        has('pix') && mayReadPix && customer === undefined && filter.externalId === undefined;
      return {
        pages: (after) =>
          oneAfterAnother(after, [
            hasCards &&
              listOf(
                (range) => cardPayments.list(tenant, { ...filter, ...range }),
                ({ resource }) => cardSale(resource, cardPayments.feeCentsOf(resource)),
              ),
            mayReadPix &&
              method?.length !== 0 &&
              listOf(
                (range) => payments.list(tenant, { ...filter, method, ...range }),
                ({ resource }) => paymentSale(resource),
              ),
            hasCharges &&
              listOf(
                (range) => charges.list(tenant, { ...ofCharges, ...range }),
                ({ resource }) => chargeSale(resource),
              ),
          ]),
      };
    },
  });
}

/** Reads a list behind a position of its own; `placeOf`: the position in the file. */
type ListOfFile = (from: number | undefined, placeOf: (position: number) => number) => Pages<Sale>;

function listOf<Item extends { position: number }>(
  list: (range: ListRange) => Promise<ListedRange<Item>>,
  rowOf: (item: Item) => Sale,
): ListOfFile {
  return (from, placeOf) => pagesOf(list, rowOf, from, placeOf);
}

/** Reads lists one after the other; false stands for one that is left out. A position is that of its list, and which list that is. */
async function* oneAfterAnother(
  after: number | undefined,
  lists: readonly (ListOfFile | false)[],
): Pages<Sale> {
  const first = after === undefined ? 0 : after % lists.length;
  for (const [index, list] of lists.entries()) {
    if (!list || index < first) continue;
    const from = after === undefined || index > first ? undefined : Math.floor(after / lists.length);
    yield* list(from, (position) => position * lists.length + index);
  }
}

function cardSale(payment: CardPayment, feeCents: Cents | null): Sale {
  const { orderCode: id, customer, externalId: orderId } = payment;
  const own = { orderId, externalId: null, endToEndId: null, customer, feeCents };
  return { kind: 'card_payment', id, method: 'card', ...own, shared: payment };
}

function paymentSale(payment: Payment): Sale {
  const { paymentId: id, method, customer, feeCents, endToEndId, externalId: orderId } = payment;
  const own = { orderId, externalId: null, endToEndId, customer, feeCents };
  return { kind: 'payment', id, method, ...own, shared: payment };
}

function chargeSale(charge: Charge): Sale {
  const { chargeId: id, feeCents, endToEndId, externalId } = charge;
  const own = { orderId: null, externalId, endToEndId, customer: null, feeCents };
  return { kind: 'charge', id, method: 'pix', ...own, shared: charge };
}
