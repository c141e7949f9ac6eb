import { z } from 'zod';
import { assertTimeZone, type CalendarInterval, calendarBounds } from '../../kernel/calendar.ts';
import type { Caller, Right } from '../../kernel/caller.ts';
import { assertMay, may } from '../../kernel/caller.ts';
import { ValidationError } from '../../kernel/errors.ts';
import { type DetailFilter, detailMembers } from '../../kernel/list-filter.ts';
import type { ListedRange, ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Totals, TotalsGrouping } from '../../kernel/totals.ts';
import { matchesFilter as matchesCardPayment } from '../card-payments/filter.ts';
import type { CardPayment, CardPaymentFilter } from '../card-payments/model.ts';
import { type Charge, type ChargeListFilter, matchesFilter as matchesCharge } from '../charges/model.ts';
import { PAYMENT_METHODS } from '../payments/methods.ts';
import { matchesFilter as matchesPayment, type Payment, type PaymentFilter } from '../payments/model.ts';
import type { PaymentStatus } from '../receiving/model.ts';

/** The kinds of sales. Cursors contain the place of a kind in this list. */
export const SALE_KINDS = ['card_payment', 'charge', 'payment'] as const;
export type SaleKind = (typeof SALE_KINDS)[number];

export const SALES_METHODS = ['card', ...PAYMENT_METHODS] as const;
export type SalesMethod = (typeof SALES_METHODS)[number];

/** Everything that a payer pays for. */
export type Sale = CardPayment | Charge | Payment;

export function kindOfSale(sale: Sale): SaleKind {
  if ('orderCode' in sale) return 'card_payment';
  return 'chargeId' in sale ? 'charge' : 'payment';
}

const READ: Readonly<Record<SaleKind, Right>> = {
  card_payment: 'card_payments.read',
  charge: 'payments.read',
  payment: 'payments.read',
};

/** Returns the kinds that a caller may read. @throws PermissionError if it may read none */
export function readableKinds(caller: Caller): SaleKind[] {
  const kinds = SALE_KINDS.filter((kind) => may(caller, READ[kind]));
  if (kinds.length === 0) assertMay(caller, READ.card_payment);
  return kinds;
}

// ── The filter ──────────────────────────────────────────────────────────────────────────────────

export interface SaleFilter extends DetailFilter {
  status?: readonly PaymentStatus[] | undefined;
  method?: readonly SalesMethod[] | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** The number of an order, which charges do not have. */
  orderId?: string | undefined;
  /** The label of a charge, which payments do not have. */
  externalId?: string | undefined;
}

/** The members of a filter whose forms are checked. */
export const SALE_MEMBERS = z.looseObject(detailMembers);

interface KindFilters {
  card_payment: CardPaymentFilter;
  charge: ChargeListFilter;
  payment: PaymentFilter;
}

/** A kind, with the filter of its own list. */
export type KindFilter = {
  [Kind in SaleKind]: { kind: Kind; filter: KindFilters[Kind] };
}[SaleKind];

/** Divides a filter into those of the kinds. A kind is left out if nothing of it can be selected. */
export function filtersOf(
  kinds: readonly SaleKind[],
  { method, orderId, externalId, ...shared }: SaleFilter,
): KindFilter[] {
  const ofOrder = { ...shared, ...(orderId !== undefined && { externalId: orderId }) };
  const { customer, ...ofCharge } = { ...shared, ...(externalId !== undefined && { externalId }) };
  const methods = PAYMENT_METHODS.filter((each) => method?.includes(each) ?? true);
  const isOf = (each: SalesMethod) => method?.includes(each) ?? true;
  const all: (KindFilter & { isPossible: boolean })[] = [
    { kind: 'card_payment', filter: ofOrder, isPossible: isOf('card') && externalId === undefined },
    { kind: 'charge', filter: ofCharge, isPossible: isOf('pix') && orderId === undefined && !customer },
    {
      kind: 'payment',
      filter: method ? { ...ofOrder, method: methods } : ofOrder,
      isPossible: methods.length > 0 && externalId === undefined,
    },
  ];
  return all.filter(({ kind, isPossible }) => isPossible && kinds.includes(kind));
}

/** Whether the filter of its kind selects a sale. */
export function isSelected(sale: Sale, filters: readonly KindFilter[]): boolean {
  return filters.some(({ kind, filter }) => {
    if (kind === 'card_payment') return 'orderCode' in sale && matchesCardPayment(sale, filter);
    if (kind === 'charge') return 'chargeId' in sale && matchesCharge(sale, filter);
    return 'paymentId' in sale && matchesPayment(sale, filter);
  });
}

// ── Totals ──────────────────────────────────────────────────────────────────────────────────────

/** The method of every sale of a kind; null if they have several. */
export const METHOD_OF: Readonly<Record<SaleKind, SalesMethod | null>> = {
  card_payment: 'card',
  charge: 'pix',
  payment: null,
};

/** The division of totals. `slots`: the start of each part of time, and the end of the last; null if time does not divide them. */
export interface Division {
  groupBy: readonly Exclude<TotalsGrouping, 'hour'>[];
  slots: readonly Date[] | null;
}

/** The hours of 31 days, or the days of two years. */
const MAX_SLOTS = 750;

/**
 * Divides the period of a filter by the calendar of a time zone. The period is that of the last date that is restricted.
 * @throws ValidationError naming the argument
 */
export function slotsOf(
  filter: SaleFilter,
  interval: CalendarInterval | null | undefined,
  timeZone: string,
): Date[] | null {
  assertTimeZone(timeZone);
  if (!interval) return null;
  const periods = [
    [filter.createdAfter, filter.createdBefore],
    [filter.paidAfter, filter.paidBefore],
    [filter.refundedAfter, filter.refundedBefore],
  ] as const;
  const [from, before] = periods.findLast(([start, end]) => start ?? end) ?? [];
  const refuse = (message: string) => new ValidationError([{ path: 'interval', message }]);
  if (!from || !before) throw refuse('needs a filter by dates, from one to another');
  const slots = calendarBounds({ from, before }, interval, timeZone, MAX_SLOTS);
  if (!slots) throw refuse(`must divide the period of the filter into at most ${MAX_SLOTS} parts`);
  return slots;
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** The sales of all methods in one list. `kinds`: those that the caller may read. */
export interface SaleService {
  list(
    tenant: Tenant,
    kinds: readonly SaleKind[],
    range: ListRange & SaleFilter,
  ): Promise<ListedRange<{ position: number; sale: Sale }>>;
  /** Reads a page by offset, newest first, and the total count (the document's 2.1.6). */
  listPage(
    tenant: Tenant,
    kinds: readonly SaleKind[],
    page: SaleFilter & { limit: number; offset: number },
  ): Promise<{ items: Sale[]; total: number }>;
  count(tenant: Tenant, kinds: readonly SaleKind[], filter: SaleFilter): Promise<number>;
  /**
   * Adds up the sales that a filter selects, in all and by groups. In front of another service it adds up what this
   * server has seen, and is never exact.
   */
  totals(tenant: Tenant, kinds: readonly SaleKind[], filter: SaleFilter, division: Division): Promise<Totals>;
}
