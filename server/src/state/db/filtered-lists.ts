import { type RawBuilder, sql as raw } from 'kysely';
import {
  type AmountFilter,
  type Asked,
  askedOf,
  type Condition,
  type DetailFilter,
} from '../../kernel/list-filter.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import { lowerCase } from '../../kernel/text.ts';
import type { Sql } from './database.ts';
import {
  assertCursorsPlaced,
  boundsOfPage,
  type Column,
  type CountedList,
  countList,
  countListInPeriod,
  inPeriod,
  isOfPeriod,
  type Period,
  selectPage,
  valueIn,
} from './lists.ts';

// Lists that are filtered by more than a kind and a status. Each condition has an index that ends with the
// number, or with an instant and the number, so that a page is read in the order of its list.

/** The conditions of a list, besides its tenant. */
export interface ListConditions {
  /**
   * The requested values of each of these columns, and all possible values. An index has one list for each
   * combination.
   */
  oneOf: Readonly<Record<string, { asked: readonly string[] | undefined; all: readonly string[] }>>;
  /** The periods. The instant of the first one orders the lists of each combination in an index. */
  periods: readonly (readonly [instant: string, period: Period])[];
  /** The range of amounts. If no period is restricted, the list is ordered by it. */
  amounts?: { column: Column; range: Period<number> } | undefined;
  /** The requested values of columns that are not in `oneOf`. */
  apart?: Readonly<Record<string, readonly (string | number)[]>> | undefined;
  /** Conditions on other columns. */
  where: readonly RawBuilder<boolean>[];
  /** Whether a condition names one row, or few. */
  isOfFew?: boolean | undefined;
}

/** The conditions of a list that compare one row, without those of `oneOf` and of periods. */
export function ownConditions({ amounts, apart = {}, where }: ListConditions): RawBuilder<boolean>[] {
  return [
    ...where,
    ...(amounts ? inPeriod(amounts.column, amounts.range) : []),
    ...Object.entries(apart).map(([column, values]) => isAmong(column, values)),
  ];
}

/** The columns by which a table's lists are filtered. */
export interface FilteredTable<Member extends string = string> {
  /** The column of each member that a condition compares. */
  columns: Readonly<Record<Member, string>>;
  /** All possible values of the filter members that divide the lists, in the order of the indexes. */
  lists: Readonly<Record<string, readonly string[]>>;
  /** The filter members that name one row, besides those that compare a reference. */
  unique?: readonly string[];
}

/**
 * Creates the conditions of a slice's filter as SQL, for each filter. The function throws a ValidationError for a text that
 * Postgres cannot compare.
 */
export function listConditions<Member extends string>(
  conditions: Readonly<Record<string, Condition<Member>>>,
  { columns, lists, unique = [] }: FilteredTable<NoInfer<Member>>,
): (filter: object) => ListConditions {
  const all = Object.entries<Condition<Member>>(conditions);
  const columnOf = ({ members }: Pick<Condition<Member>, 'members'>) => columns[members[0]!];
  const divisions = Object.entries(lists).map(([name, values]) => ({
    ...{ name, values, column: columnOf(conditions[name]!) },
  }));
  const isOfDetails = ([name, { is }]: [string, Condition<Member>]) =>
    !['from', 'before', 'among'].includes(is) && !(name in AMOUNTS) && !(name in lists);
  const details = Object.fromEntries(all.filter(isOfDetails));
  const others = all.filter(([name, { is }]) => is === 'among' && !(name in lists));
  const names = [...unique, ...all.flatMap(([name, { is }]) => (is === 'named' ? [name] : []))];
  const boundsOf = (is: 'from' | 'before') =>
    new Map(all.filter(([, each]) => each.is === is).map(([name, each]) => [columnOf(each), name]));
  const [from, before] = [boundsOf('from'), boundsOf('before')];
  const instants = [...from].map(([column, first]) => ({ column, first, end: before.get(column)! }));

  function isAsked({ is, members, value }: Asked<Member>): RawBuilder<boolean> {
    const column = columnOf({ members });
    if (is === 'named')
      return isNamed(
        members.map((member) => columns[member]),
        value as string,
      );
    if (is === 'customer') return isOfCustomer(value as NonNullable<DetailFilter['customer']>);
    return raw<boolean>`${raw.ref(column)} ${raw.raw(SIGNS[is as keyof typeof SIGNS])} ${value}`;
  }

  return (filter) => {
    const given = filter as Readonly<Record<string, unknown>>;
    const oneOf: Record<string, ListConditions['oneOf'][string]> = {};
    for (const { name, column, values } of divisions)
      oneOf[column] = { asked: given[name] as readonly string[] | undefined, all: values };
    const periods = instants.map(({ column, first, end }): ListConditions['periods'][number] => [
      column,
      { from: given[first] as Date | undefined, before: given[end] as Date | undefined },
    ]);
    const range = rangeOfAmounts(given);
    return {
      oneOf,
      periods,
      amounts: range && { column: columnOf(conditions.amountCents!), range },
      apart: Object.fromEntries(
        askedOf(Object.fromEntries(others), filter).map(({ members, value }) => [
          columnOf({ members }),
          value as (string | number)[],
        ]),
      ),
      where: askedOf(details, filter).map(isAsked),
      isOfFew: names.some((name) => given[name] !== undefined),
    };
  };
}

const SIGNS = { equal: '=', atLeast: '>=', atMost: '<=' } as const;

/** The members of a filter by an amount. */
const AMOUNTS = { amountCents: true, minAmountCents: true, maxAmountCents: true };

/** The range of amounts of a filter; an exact amount is the shortest range. Undefined if the filter has none. */
export function rangeOfAmounts(filter: AmountFilter): Period<number> | undefined {
  const { amountCents, minAmountCents, maxAmountCents } = filter;
  if (amountCents === undefined && minAmountCents === undefined && maxAmountCents === undefined)
    return undefined;
  const most = Math.min(amountCents ?? Number.POSITIVE_INFINITY, maxAmountCents ?? Number.POSITIVE_INFINITY);
  const least = Math.max(amountCents ?? 0, minAmountCents ?? 0);
  return { ...(least > 0 && { from: least }), ...(Number.isFinite(most) && { before: most + 1 }) };
}

/** The condition that one of the columns has this name. */
function isNamed(columns: readonly string[], name: string): RawBuilder<boolean> {
  const each = columns.map((column) => raw<boolean>`${raw.ref(column)} = ${name}`);
  return each.length === 1 ? each[0]! : raw<boolean>`(${raw.join(each, raw` or `)})`;
}

/** The condition that the customer of a resource has this name at the merchant, or this e-mail address. */
function isOfCustomer(customer: NonNullable<DetailFilter['customer']>): RawBuilder<boolean> {
  return 'email' in customer
    ? isEmail(raw`customer`, customer.email)
    : raw<boolean>`customer ->> 'externalId' = ${customer.externalId}`;
}

/** The condition that the e-mail address of a customer is this one, in whatever case. Its text is that of the indexes. */
export function isEmail(customer: RawBuilder<unknown>, email: string): RawBuilder<boolean> {
  return raw<boolean>`lower((${customer} ->> 'email') collate "C") = ${lowerCase(email)}`;
}

/**
 * Lists the first or the last `limit` rows of the range, newest first: by the number, or by the last instant
 * that a period restricts. `own`: the conditions that distinguish the list from others in its table.
 *
 * @throws ValidationError naming `after` or `before`, whose row has no such instant
 */
export async function selectFiltered<Row>(
  sql: Sql,
  tenant: Tenant,
  list: string | { table: string; columns: readonly string[] },
  conditions: ListConditions,
  { end, limit, offset = 0, after, before }: ListRange & { offset?: number | undefined },
  own: readonly RawBuilder<boolean>[] = [],
): Promise<Row[]> {
  const { table, columns } = typeof list === 'string' ? { table: list, columns: undefined } : list;
  const { oneOf, periods, amounts, apart = {} } = conditions;
  const [first] = periods;
  const last = periods.findLast(([, each]) => isOfPeriod(each)) ?? first!;
  const isByAmount = amounts !== undefined && !isOfPeriod(last[1]);
  const [instant, period]: readonly [Column, Period<Date | number>] = isByAmount
    ? [amounts.column, amounts.range]
    : last;
  const isAsked = Object.values(oneOf).some(({ asked }) => asked);
  // Without any other condition, each value of one column is a list that an index has in order.
  const isApart =
    !isAsked &&
    !amounts &&
    conditions.where.length === 0 &&
    !isOfPeriod(period) &&
    Object.keys(apart).length === 1 &&
    Object.values(apart).every((values) => values.length <= MAX_LISTS);
  const where = isApart ? [] : ownConditions({ ...conditions, amounts: isByAmount ? undefined : amounts });
  const isByLists = where.length === 0 && instant === first![0];
  const rest = periods.filter(([each]) => each !== instant).flatMap(([each, part]) => inPeriod(each, part));
  const rows = await selectPage<Row>(sql, tenant, {
    table,
    columns,
    where: [
      ...own,
      ...(isByLists ? [] : valuesOf(oneOf)),
      ...where,
      ...rest,
      ...boundsOfPage(tenant, { table, where: own, instant, after, before, period }),
    ],
    oneOf: isApart
      ? apart
      : isByLists && isAsked
        ? Object.fromEntries(Object.entries(oneOf).map(([column, { asked, all }]) => [column, asked ?? all]))
        : {},
    order: isOfPeriod(period) ? [typeof instant === 'string' ? instant : instant(), 'number'] : ['number'],
    direction: end === 'first' ? 'desc' : 'asc',
    limit,
    offset,
    isOfFew: conditions.isOfFew,
  });
  // The first instant is that of the creation, which each row has.
  if (rows.length === 0 && !isByAmount && instant !== first![0])
    await assertCursorsPlaced(sql, tenant, { table, where: own, instant: valueIn(instant), after, before });
  return end === 'first' ? rows : rows.reverse();
}

/** The largest number of values that are read as lists of their own: each is a part of the statement. */
const MAX_LISTS = 40;

/** The lists whose counters are not divided by instants. */
const WITHOUT_INSTANTS: readonly CountedList[] = [
  'card_payment',
  'dispute',
  'refund',
  'payment_return',
  'pix_subscription',
  'product',
  'statement_entry',
  'subaccount',
  'subaccount_payout',
  'webhook_delivery',
];

/** Counts a list: by its counters if they cover the conditions, else row by row. */
export async function countFiltered(
  sql: Sql,
  tenant: Tenant,
  list: CountedList,
  conditions: ListConditions,
  { kind, status }: { kind?: readonly string[] | undefined; status?: readonly string[] | undefined },
  own: readonly RawBuilder<boolean>[] = [],
): Promise<number> {
  const { oneOf, periods } = conditions;
  const where = ownConditions(conditions);
  const [[instant, period], ...others] = periods as readonly [[string, Period], ...[string, Period][]];
  const count = (part: readonly RawBuilder<boolean>[]) => {
    const all = [...own, ...part, ...valuesOf(oneOf), ...where];
    return raw<number>`(select count(*) from ${raw.table(list)} where account_id = ${tenant.accountId}
      and environment = ${tenant.environment}${raw.join(
        all.map((each) => raw` and ${each}`),
        raw``,
      )})`;
  };
  const filter = { list, kind, status };
  const isUncounted = WITHOUT_INSTANTS.includes(list) && isOfPeriod(period);
  if (isUncounted || where.length > 0 || others.some(([, each]) => isOfPeriod(each))) {
    const counted = count(periods.flatMap(([each, part]) => inPeriod(each, part)));
    const { rows } = await raw<{ count: number }>`select ${counted} as count`.execute(sql);
    return Number(rows[0]!.count);
  }
  if (!isOfPeriod(period)) return countList(sql, tenant, filter);
  return countListInPeriod(sql, tenant, filter, period, (part) => count(inPeriod(instant, part)));
}

export function valuesOf(oneOf: ListConditions['oneOf']): RawBuilder<boolean>[] {
  return Object.entries(oneOf).flatMap(([column, { asked }]) => (asked ? [isAmong(column, asked)] : []));
}

function isAmong(column: string, values: readonly (string | number)[]): RawBuilder<boolean> {
  if (values.length === 0) return raw<boolean>`false`;
  const type = raw.raw(typeof values[0] === 'number' ? 'integer' : 'text');
  return raw<boolean>`${raw.ref(column)} = any(${[...values]}::${type}[])`;
}
