import { boardUpdates, saleUpdates } from '../board/updates.ts';
import type { ListKind } from '../list/list-kind.ts';
import type { Page } from '../list/row-list.ts';
import { createSearchField } from '../list/search-field.ts';
import type { Totals } from '../list/totals.ts';
import type { Texts } from './locales/texts.ts';
import {
  SALE_DETAILS,
  SALES,
  SALES_POLL,
  SALES_START,
  SALES_TOTALS,
  type Sale,
  type SaleStatus,
  type SaleUpdate,
} from './operations.ts';
import { saleCells } from './sale-cells.ts';

/** The statuses of the filter, without UNKNOWN, which means a status of a newer server. */
const STATUSES: readonly SaleStatus[] = ['PENDING', 'PAID', 'EXPIRED', 'REFUNDED', 'FAILED'];

const METHODS = ['CARD', 'PIX', 'LTC'] as const;

/** The codes of sales, and the identifier that a bank gives a PIX. Any other text is the number of an order. */
const REFERENCE = /^((PSC-|psa_|psc_|psplit_)[!-~]{1,120}|E\d{8}\w{23})$/i;

/** The list of card payments, payments and charges. */
export const sales: ListKind<Sale, Texts> = {
  name: 'sale',
  title: 'sales',
  documents: { start: SALES_START, page: SALES, poll: SALES_POLL, details: SALE_DETAILS },
  listOf: (answer) => (answer as { sales: Page<Sale> }).sales,
  totals: {
    document: SALES_TOTALS,
    of: (answer) => (answer as { salesTotals: Totals }).salesTotals,
  },
  topic: {
    kinds: ['CARD_PAYMENT', 'PAYMENT', 'CHARGE', 'REFUND'],
    alone: saleUpdates,
    among: boardUpdates,
  },
  rowOf(update) {
    const { sale, saleBefore, refund } = update as SaleUpdate;
    // That of a refund has its sale as it is now, whose own update says what it was before.
    return sale ? { row: sale, previous: saleBefore } : { row: refund?.of ?? null, isOfRow: true };
  },
  time: 'created',
  timeOf: ({ createdAt }) => createdAt,
  keys: {
    amount: ({ amountCents }) => amountCents,
    // An unknown status comes last.
    status: ({ status }) => STATUSES.indexOf(status) >>> 0,
  },
  sorts: ['-created', 'created', '-amount', 'amount', 'status', '-status'],
  group: 'status',
  groupOf: ({ status }) => status,
  // A partial refund changes no version, and the amount that was given back only grows.
  isNewer: (row, known) =>
    row.version > known.version ||
    (row.version === known.version && (row.refundedCents ?? 0) > (known.refundedCents ?? 0)),
  property: 'statuses',
  values: STATUSES,
  rare: [],
  conditions: ['methods', 'createdAfter', 'createdBefore', 'amountCents', 'search'],
  checks: {
    property: 'methods',
    legend: 'method',
    options: (texts) => METHODS.map((method) => [method, texts.text(method)]),
  },
  search: createSearchField('search', 'searchLabel'),
  memberOf(condition, text) {
    if (condition !== 'search') return;
    if (text.includes('@')) return { customer: { email: text } };
    // No number of an order is longer.
    if (!REFERENCE.test(text)) return { orderId: text.slice(0, 100) };
    return { reference: /^psc-/i.test(text) ? text.toUpperCase() : text };
  },
  file: 'payments',
  columns: ['status', 'amount', 'payer', 'code', 'created'],
  cells: saleCells,
  spoken: ({ amountCents, status }, texts) => ({
    amount: texts.formats.money(amountCents),
    status: texts.text(status).toLowerCase(),
  }),
  loadControls: () => import('./filters.ts'),
  loadDetails: () => import('./details.ts'),
};
