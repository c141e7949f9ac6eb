// The sales of a fake account, which fake-payouts.ts serves.
import type { Sale, SaleDetails, SalePageVariables, SaleStatus } from '../../widget/src/sales/operations.ts';

/** The time of the newest sale; each older one is a minute earlier. */
const NEWEST = Date.parse('2026-03-02T10:35:00.000Z');
const MINUTE_MS = 60_000;
const STATUSES: SaleStatus[] = ['PAID', 'PAID', 'EXPIRED', 'REFUNDED', 'PENDING', 'FAILED', 'PAID'];
const KINDS = [
  ['CardPayment', 'CARD', 'PSC-'],
  ['Payment', 'PIX', 'psa_'],
  ['Charge', 'PIX', 'psc_'],
  ['Payment', 'LTC', 'psa_'],
] as const;

/** A sale by its number; 1 is the oldest of `count`. */
export function saleOf(number: number, count: number): SaleDetails {
  const [typename, method, prefix] = KINDS[number % KINDS.length]!;
  const status = STATUSES[number % STATUSES.length]!;
  const created = NEWEST + (number - count) * MINUTE_MS;
  const later = (minutes: number) => new Date(created + minutes * MINUTE_MS).toISOString();
  const amountCents = 5_000 + ((number * 7_919) % 90_000);
  const isPaid = status === 'PAID' || status === 'REFUNDED';
  const serviceFeeCents = typename === 'CardPayment' ? 0 : 80;
  return {
    __typename: typename,
    id: `sale-${number}`,
    reference: `${prefix}${number.toString(16).padStart(32, '0')}`,
    status,
    isFinal: status === 'REFUNDED' || status === 'FAILED',
    method,
    amountCents,
    refundedCents: status === 'REFUNDED' ? amountCents : 0,
    description: number % 3 ? `Caneca ${number}` : null,
    customer:
      typename === 'Charge'
        ? null
        : {
            name: number % 2 ? null : `Ana ${number}`,
            email: `ana${number}@psa.example`,
            externalId: null,
            taxId: '***.456.789-**',
          },
    canceledAt: null,
    createdAt: later(0),
    version: 1,
    orderId: typename === 'Charge' ? null : `PEDIDO-${number}`,
    serviceFeeCents,
    netAmountCents: amountCents - serviceFeeCents,
    refundableCents: status === 'PAID' && method !== 'LTC' ? amountCents : 0,
    otherPaidCents: null,
    expiresAt: later(30),
    paidAt: isPaid ? later(2) : null,
    paidLate: false,
    refundedAt: status === 'REFUNDED' ? later(9) : null,
    failureReason: status === 'FAILED' ? 'O banco recusou' : null,
    unresolved: false,
    refunds: status === 'REFUNDED' ? [refundOf(amountCents, later(8), later(9))] : [],
    disputes: null,
  };
}

/** A completed refund. */
export function refundOf(
  amountCents: number,
  createdAt: string,
  completedAt: string,
): NonNullable<SaleDetails['refunds']>[number] {
  const ends = { reason: null, failureReason: null, failedAt: null };
  return { refundId: 'ref_1', amountCents, status: 'COMPLETED', createdAt, completedAt, ...ends };
}

/** A change of a sale by a test. With `refund` it is sent as that of a refund, which leaves the version. */
export interface SaleChange {
  number: number;
  values: Partial<SaleDetails>;
  refund?: boolean;
}

/** Changes a sale, and returns the update. */
export function changeSale(sales: SaleDetails[], { number, values, refund }: SaleChange): object {
  const previous = sales[number - 1]!;
  const sale = { ...previous, version: previous.version + (refund ? 0 : 1), ...values };
  sales[number - 1] = sale;
  return refund ? { refund: { of: sale } } : { saleBefore: previous.status, sale };
}

/** Adds a sale, and returns its update. */
export function addSale(sales: SaleDetails[], values: Partial<SaleDetails>): object {
  const number = sales.length + 1;
  const sale = { ...saleOf(number, number), createdAt: new Date(NEWEST + number).toISOString(), ...values };
  sales.push(sale);
  return { saleBefore: null, sale };
}

/** The kinds of the updates of a sale, as `accountUpdates` names them. */
export function kindOfSale(update: { sale?: Sale }): string {
  if (!update.sale) return 'REFUND';
  const kinds = { CardPayment: 'CARD_PAYMENT', Payment: 'PAYMENT', Charge: 'CHARGE' };
  return kinds[update.sale.__typename];
}

function isSelected(sale: SaleDetails, filter: SalePageVariables['filter']): boolean {
  const { status, method, amountCents, createdAfter, createdBefore, customer, orderId, reference } =
    filter ?? {};
  return (
    (!status || status.includes(sale.status)) &&
    (!method || method.includes(sale.method)) &&
    (!amountCents || sale.amountCents === amountCents) &&
    (!createdAfter || sale.createdAt! >= createdAfter) &&
    (!createdBefore || sale.createdAt! < createdBefore) &&
    (!customer || sale.customer?.email?.toLowerCase() === customer.email.toLowerCase()) &&
    (!orderId || sale.orderId === orderId) &&
    (!reference || sale.reference === reference)
  );
}

/** The server's answer to a query for sales, their totals, or one of them. */
export function answerSales(
  sales: readonly SaleDetails[],
  { first, after, last, before, filter, id, ids }: SalePageVariables & { id?: string; ids?: string[] },
  isExact: boolean,
): object {
  const matching = sales.filter((sale) => isSelected(sale, filter)).toReversed();
  const placeOf = (cursor: string) => matching.findIndex((sale) => sale.id === cursor);
  const end = before ? placeOf(before) : matching.length;
  const from = last ? Math.max(0, end - last) : after ? placeOf(after) + 1 : 0;
  const nodes = matching.slice(from, last ? end : from + (first ?? 50));
  const statuses = [...new Set(matching.map(({ status }) => status))];
  return {
    updateKinds: ['CARD_PAYMENT', 'CHARGE', 'DISPUTE', 'PAYMENT', 'PAYOUT', 'REFUND', 'WALLET'],
    sales: {
      totalCount: matching.length,
      nodes,
      pageInfo: {
        hasNextPage: from + nodes.length < matching.length,
        hasPreviousPage: from > 0,
        startCursor: nodes[0]?.id ?? null,
        endCursor: nodes.at(-1)?.id ?? null,
      },
    },
    salesTotals: {
      isExact,
      groups: statuses.map((status) => {
        const own = matching.filter((sale) => sale.status === status);
        const amountCents = own.reduce((sum, sale) => sum + sale.amountCents, 0);
        return { status, count: own.length, amountCents };
      }),
    },
    ...(id && { node: sales.find((sale) => sale.id === id) ?? null }),
    ...(ids?.[0]?.startsWith('sale') && {
      nodes: ids.map((each) => sales.find((sale) => sale.id === each) ?? null),
    }),
  };
}
