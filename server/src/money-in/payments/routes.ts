import { z } from 'zod';
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
  listQuery,
  orderQuery,
  readFilterQuery,
  readListQuery,
  receivedQuery,
} from '../../api/http/list-query.ts';
import { byKey, pageOf, pageOrKeyed, type RestOperation, restOperation } from '../../api/http/rest.ts';
import { may } from '../../kernel/caller.ts';
import { NotFoundError } from '../../kernel/errors.ts';
import type { ListedRange, ListRange } from '../../kernel/list-range.ts';
import type { Cents } from '../../kernel/money.ts';
import type { RequestKeys } from '../../kernel/request-keys.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { CardPayment, CardPaymentService } from '../card-payments/model.ts';
import type { Charge, ChargeService } from '../charges/model.ts';
import type { Customer } from '../checkout/model.ts';
import { type ContentOfPayments, PAYMENT_STATUSES, type RefundsOfPayments } from '../receiving/model.ts';
import { PAYMENT_METHODS, type PaymentMethod } from './methods.ts';
import {
  createPaymentInput,
  type Payment,
  type PaymentFilter,
  type PaymentService,
  paymentIdText,
  type StoredPayment,
} from './model.ts';
import { paymentToWire, paymentWire } from './wire.ts';

const TAG = 'Payments';

/** Payments in the REST interface (the document's 2.5 and 4.5). */
export function createPaymentRoutes({
  payments,
  refunds,
  deliveries,
  requestKeys,
  publicUrl,
}: {
  payments: PaymentService<StoredPayment>;
  refunds: RefundsOfPayments;
  deliveries: ContentOfPayments;
  requestKeys: RequestKeys;
  publicUrl: string;
}): RestOperation[] {
  async function toWire(tenant: Tenant, shown: readonly StoredPayment[]) {
    // Unpaid payments have neither refunds nor content.
    const paid = shown.filter(({ paidAt }) => paidAt !== null).map(({ paymentId }) => paymentId);
    const [refundsOf, deliveredTo] = await Promise.all([
      refunds.ofResources(tenant, 'payment', paid),
      deliveries.deliveredTo(tenant, 'payment', paid),
    ]);
    return shown.map((payment) => {
      const index = paid.indexOf(payment.paymentId);
      return paymentToWire(
        payment,
        { refunds: refundsOf[index] ?? [], delivered: deliveredTo[index] ?? null },
        publicUrl,
      );
    });
  }

  return [
    restOperation({
      method: 'POST',
      path: '/v1/payments',
      operationId: 'createPayment',
      summary: 'Create a PIX payment',
      description:
        'Show the payer `pixCopyPaste`, as text and as a QR code, or by LTC `ltcAddress` and `ltcAmount`, or send it to `checkoutUrl`. Where the bank gives no code, or the network no address, the answer is 502: repeat the request with its idempotencyKey.',
      tag: TAG,
      section: '4.5',
      body: createPaymentInput,
      example: {
        valueCents: 14990,
        description: 'Rede Varanda',
        customer: { name: 'Maria da Silva', email: 'maria@example.com' },
        metadata: '{"order":"1042"}',
      },
      answers: { 201: { description: 'The payment, pending', schema: paymentWire } },
      errors: {
        403: 'LTC with a test key: there are no LTC payments in sandbox',
        404: 'No such product of this account in this environment',
        409: 'PIX or LTC is not configured for the account, or the idempotency key was used with another input',
        502: 'The bank gave no code, or the network no address',
      },
      async handle({ caller, body }) {
        const { payment, replayed } = await payments.create(caller.tenant, body);
        const [shown] = await toWire(caller.tenant, [payment]);
        return { status: 201, body: shown!, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/payments/{id}',
      operationId: 'getPayment',
      summary: 'Look a PIX payment up',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: paymentIdText }),
      answers: { 200: { description: 'The payment as it stands', schema: paymentWire } },
      errors: { 404: 'No such payment of this account in this environment' },
      async handle({ caller, params }) {
        const payment = await payments.find(caller.tenant, params.id);
        if (!payment) throw new NotFoundError('Payment not found');
        const [shown] = await toWire(caller.tenant, [payment]);
        return { status: 200, body: shown! };
      },
    }),
    restOperation({
      method: 'DELETE',
      path: '/v1/payments/{id}',
      operationId: 'cancelPayment',
      summary: 'Cancel a pending payment',
      description:
        'It is expired at once. Money that comes later is returned to its payer; LTC waits for the operator. Repeated, it changes nothing. An extension of the document.',
      tag: TAG,
      section: '4.5',
      params: z.object({ id: paymentIdText }),
      answers: { 200: { description: 'The payment, expired', schema: paymentWire } },
      errors: {
        404: 'No such payment of this account in this environment',
        409: 'It is not pending: it has been paid, has expired or has failed',
      },
      async handle({ caller, params }) {
        const { payment, replayed } = await payments.cancel(caller.tenant, params.id);
        const [shown] = await toWire(caller.tenant, [payment]);
        return { status: 200, body: shown!, replayed };
      },
    }),
    restOperation({
      method: 'GET',
      path: '/v1/payments',
      operationId: 'listPayments',
      summary: 'List PIX payments, newest first',
      description: 'An extension of the document.',
      tag: TAG,
      section: '4.5',
      query: listQuery({
        ...receivedQuery(
          PAYMENT_STATUSES,
          'Selects the payment with this id, or paid by the PIX with this endToEndId',
        ),
        ...orderQuery,
        ...customerQuery,
        method: anyOf(PAYMENT_METHODS, 'payments'),
        ...byKey,
      }),
      answers: { 200: { description: 'A page', schema: pageOf('payments', paymentWire) } },
      async handle({ caller, query }) {
        const { tenant } = caller;
        const { items, total } = await pageOrKeyed(query, {
          list: (page) => payments.listPage(tenant, readListQuery<PaymentFilter>(page)),
          made: async (key) => {
            const id = await requestKeys.resourceOf(tenant, 'createPayment', key);
            return id === null ? null : payments.find(tenant, id);
          },
        });
        return { status: 200, body: { payments: await toWire(caller.tenant, items), total, ...query } };
      },
    }),
  ];
}

// ── The export ──────────────────────────────────────────────────────────────────────────────────

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
    query: z.object({
      ...receivedQuery(PAYMENT_STATUSES, 'Selects the payment or charge with this id, code or endToEndId'),
      ...orderQuery,
      ...customerQuery,
      method: anyOf(['card', ...PAYMENT_METHODS], 'payments'),
    }),
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
