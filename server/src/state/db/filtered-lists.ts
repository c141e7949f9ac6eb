import { type RawBuilder, sql as raw } from 'kysely';
import { type Asked, askedOf, type Condition, type DetailFilter } from '../../kernel/list-filter.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from './database.ts';
import {
  assertCursorsPlaced,
  boundsOfPage,
  type CountedList,
  countList,
  countListInPeriod,
  inPeriod,
  isOfPeriod,
  type Period,
  selectPage,
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
  /** The periods. The lists of each combination are ordered by the instant of the first. */
  periods: readonly (readonly [instant: string, period: Period])[];
  /** Conditions on other columns. */
  where: readonly RawBuilder<boolean>[];
}

/** The columns by which a table's lists are filtered. */
export interface FilteredTable<Member extends string = string> {
  /** The column of each member that a condition compares. */
  columns: Readonly<Record<Member, string>>;
  /** All possible values of the filter members that divide the lists, in the order of the indexes. */
  lists: Readonly<Record<string, readonly string[]>>;
}

/**
 * Creates the conditions of a slice's filter as SQL, for each filter. The function throws a ValidationError where Postgres cannot
 * compare a text.
 */
export function listConditions<Member extends string>(
  conditions: Readonly<Record<string, Condition<Member>>>,
  { columns, lists }: FilteredTable<NoInfer<Member>>,
): (filter: object) => ListConditions {
  const all = Object.entries<Condition<Member>>(conditions);
  const columnOf = ({ members }: Pick<Condition<Member>, 'members'>) => columns[members[0]!];
  const divisions = Object.entries(lists).map(([name, values]) => ({
    ...{ name, values, column: columnOf(conditions[name]!) },
  }));
  const details = Object.fromEntries(
    all.filter(([name, { is }]) => is !== 'from' && is !== 'before' && !(name in lists)),
  );
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
    return is === 'among'
      ? valuesOf({ [column]: { asked: value as string[], all: [] } })[0]!
      : raw<boolean>`${raw.ref(column)} = ${value}`;
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
    return { oneOf, periods, where: askedOf(details, filter).map(isAsked) };
  };
}

/** The condition that one of the columns has this name. */
function isNamed(columns: readonly string[], name: string): RawBuilder<boolean> {
  const each = columns.map((column) => raw<boolean>`${raw.ref(column)} = ${name}`);
  return each.length === 1 ? each[0]! : raw<boolean>`(${raw.join(each, raw` or `)})`;
}

/** The condition that the customer of a resource has this name at the merchant, or this e-mail address. */
function isOfCustomer(customer: NonNullable<DetailFilter['customer']>): RawBuilder<boolean> {
  return 'email' in customer
    ? raw<boolean>`customer ->> 'email' = ${customer.email}`
    : raw<boolean>`customer ->> 'externalId' = ${customer.externalId}`;
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
  table: string,
  { oneOf, periods, where }: ListConditions,
  { end, limit, offset = 0, after, before }: ListRange & { offset?: number | undefined },
  own: readonly RawBuilder<boolean>[] = [],
): Promise<Row[]> {
  const [first, ...others] = periods;
  const [instant, period] = others.findLast(([, each]) => isOfPeriod(each)) ?? first!;
  const isByLists = where.length === 0 && instant === first![0];
  const rest = periods.filter(([each]) => each !== instant).flatMap(([each, part]) => inPeriod(each, part));
  const isAsked = Object.values(oneOf).some(({ asked }) => asked);
  const rows = await selectPage<Row>(sql, tenant, {
    table,
    where: [
      ...own,
      ...(isByLists ? [] : valuesOf(oneOf)),
      ...where,
      ...rest,
      ...boundsOfPage(tenant, { table, where: own, instant, after, before, period }),
    ],
    oneOf:
      isByLists && isAsked
        ? Object.fromEntries(Object.entries(oneOf).map(([column, { asked, all }]) => [column, asked ?? all]))
        : {},
    order: isOfPeriod(period) ? [instant, 'number'] : ['number'],
    direction: end === 'first' ? 'desc' : 'asc',
    limit,
    offset,
  });
  // The first instant is that of the creation, which each row has.
  if (rows.length === 0 && instant !== first![0])
    await assertCursorsPlaced(sql, tenant, { table, where: own, instant: raw.ref(instant), after, before });
  return end === 'first' ? rows : rows.reverse();
}

/** The lists whose counters are not divided by instants. */
const WITHOUT_INSTANTS: readonly CountedList[] = [
  'card_payment',
  'dispute',
  'refund',
  'statement_entry',
  'subaccount_payout',
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
  const { oneOf, periods, where } = conditions;
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
  return Object.entries(oneOf).flatMap(([column, { asked }]) =>
    asked ? [raw<boolean>`${raw.ref(column)} = any(${[...asked]}::text[])`] : [],
  );
}
