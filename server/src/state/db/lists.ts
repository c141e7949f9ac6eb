import { type RawBuilder, sql as raw } from 'kysely';
import { ValidationError } from '../../kernel/errors.ts';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from './database.ts';

// Pages and totals of a tenant's lists at a cost that does not grow with the list.

// ── Pages ───────────────────────────────────────────────────────────────────────────────────────

/** A column, or the value that is computed of some, of a table by its alias. */
export type Column = string | ((alias?: string) => RawBuilder<unknown>);

export function valueIn(column: Column, alias?: string): RawBuilder<unknown> {
  if (typeof column === 'function') return column(alias);
  return raw.ref(alias === undefined ? column : `${alias}.${column}`);
}

/** A part of a list: `limit` rows in `order`, after the first `offset`. */
export interface ListPage {
  table: string;
  /** The columns to read; undefined means all. */
  columns?: readonly string[] | undefined;
  /** Conditions that every row fulfills, besides its tenant. */
  where?: readonly RawBuilder<boolean>[] | undefined;
  /** The values that each of these columns may have; undefined means any. */
  oneOf?: Readonly<Record<string, readonly (string | number)[] | undefined>> | undefined;
  /**
   * Alternative conditions, each with a partial index. Undefined means all rows. Not allowed with `oneOf`.
   */
  anyOf?: readonly RawBuilder<boolean>[] | undefined;
  /** The columns to sort by, or an expression without `oneOf`. The last is the number, which no two rows share. */
  order: readonly [...columns: (string | RawBuilder<unknown>)[], number: 'number'];
  direction?: 'asc' | 'desc' | undefined;
  limit: number;
  offset?: number | undefined;
  /** Whether few rows fulfill the conditions. Then these rows are collected and sorted. */
  isOfFew?: boolean | undefined;
}

/**
 * Reads a page. For `status in (…)` PostgreSQL would walk the whole list if these statuses are rare, or sort
 * all their rows if they are common. So each combination of values is read as a list of its own, which an
 * index has in order: the first numbers of each from the indexes alone, then the rows of the page.
 */
export async function selectPage<Row>(sql: Sql, tenant: Tenant, page: ListPage): Promise<Row[]> {
  const query = pageQuery(tenant, page);
  return query === null ? [] : (await raw<Row>`${query}`.execute(sql)).rows;
}

/** The statement of a page; null if no row can fulfill the conditions. */
export function pageQuery(
  { accountId, environment }: Tenant,
  {
    table,
    columns,
    where = [],
    oneOf = {},
    anyOf,
    order,
    direction = 'desc',
    limit,
    offset = 0,
    isOfFew,
  }: ListPage,
): RawBuilder<unknown> | null {
  const selected = columns ? raw.join(columns.map((column) => raw.ref(column))) : raw`*`;
  const columnsOfOrder = order.filter((column) => typeof column === 'string');
  const ordering = raw.join(
    order.map((by) => raw`${typeof by === 'string' ? raw.ref(by) : by} ${raw.raw(direction)}`),
  );
  const rowsWith = (...conditions: RawBuilder<unknown>[]) => {
    const all = [raw`account_id = ${accountId} and environment = ${environment}`, ...where, ...conditions];
    return raw`from ${raw.table(table)} where ${raw.join(all, raw` and `)}`;
  };
  const parts = anyOf?.map((condition) => [condition]) ?? combinations(oneOf);
  if (parts === null)
    return raw`
      select ${selected} ${rowsWith()} order by ${ordering}
      limit ${isOfFew ? raw`${limit}` : sizeOfPage(limit)} offset ${offset}`;
  if (parts.length === 0) return null;
  const keys = raw.join(columnsOfOrder.map((column) => raw.ref(column)));
  // The values are constants: PostgreSQL then knows how rare each is. For values of a joined list it would
  // assume an average.
  const firstOfEach = parts.map(
    (conditions) =>
      raw`(select ${keys} ${rowsWith(...conditions)} order by ${ordering} limit ${sizeOfPage(limit + offset)})`,
  );
  // With a limit each row is looked up by its number. Without it PostgreSQL may walk the list in the order of
  // the page, which takes long if the page shows old rows.
  return raw`
    select listed.* from (
      select ${keys} from (${raw.join(firstOfEach, raw` union all `)}) part
      order by ${ordering} limit ${limit} offset ${offset}
    ) page
    cross join lateral (select ${selected} ${rowsWith(raw`number = page.number`)} limit 1) listed
    order by ${raw.join(columnsOfOrder.map((column) => raw`${raw.ref(`page.${column}`)} ${raw.raw(direction)}`))}`;
}

/**
 * The size of a page, as the limit of a statement. PostgreSQL plans without knowing it. If it underestimates
 * how many rows match, as for expressions, it expects fewer rows than a page has: then collecting and sorting
 * all rows seems as cheap to it as an index in the order of the page.
 */
export function sizeOfPage(limit: number | RawBuilder<number>): RawBuilder<number> {
  return raw<number>`(select ${limit}::bigint)`;
}

/** Reads a range of a list in the order of the numbers, newest first. */
export async function selectRange<Row>(
  sql: Sql,
  tenant: Tenant,
  { where = [], ...list }: Pick<ListPage, 'table' | 'columns' | 'where' | 'oneOf'>,
  { end, limit, offset, after, before }: ListRange & { offset?: number | undefined },
): Promise<Row[]> {
  const rows = await selectPage<Row>(sql, tenant, {
    ...list,
    where: [...where, ...between({ after, before })],
    order: ['number'],
    direction: end === 'first' ? 'desc' : 'asc',
    limit,
    offset,
  });
  return end === 'first' ? rows : rows.reverse();
}

/** Every combination of the values; null if no column is restricted. */
function combinations(oneOf: NonNullable<ListPage['oneOf']>): RawBuilder<boolean>[][] | null {
  const filters = Object.entries(oneOf).flatMap(([column, values]) =>
    values ? [[...new Set(values)].map((value) => raw<boolean>`${raw.ref(column)} = ${value}`)] : [],
  );
  if (filters.length === 0) return null;
  return filters.reduce<RawBuilder<boolean>[][]>(
    (found, values) => found.flatMap((part) => values.map((value) => [...part, value])),
    [[]],
  );
}

/** The place of a row of another table, in a list over several tables that an instant orders. */
export interface PlaceOfOther {
  table: string;
  number: number;
  /** The number that is compared if both rows have the same instant. */
  tie: number;
}

/**
 * The conditions of a page behind `after` and before `before`, both places of the list, and inside a period.
 * Each side has one condition: with two, PostgreSQL may begin to read at the farther one. Row numbers begin
 * with 1.
 */
export function boundsOfPage(
  { accountId, environment }: Tenant,
  {
    table,
    where = [],
    instant,
    after,
    before,
    period,
  }: {
    table: string;
    /** Conditions that the rows of the list fulfill, besides their tenant. An index finds a place by them. */
    where?: readonly RawBuilder<boolean>[];
    /** The column of the period. */
    instant: Column;
    after?: number | PlaceOfOther | undefined;
    before?: number | PlaceOfOther | undefined;
    period: Period<Date | number>;
  },
): RawBuilder<boolean>[] {
  const column = valueIn(instant);
  const bound = (
    side: '<' | '>',
    place: number | PlaceOfOther | undefined,
    end: Date | number | undefined,
  ) => {
    if (place === undefined) return inPeriod(instant, side === '<' ? { before: end } : { from: end });
    const beyond = raw.raw(side);
    if (typeof place === 'number' && !isOfPeriod(period)) return [raw<boolean>`number ${beyond} ${place}`];
    const {
      number,
      tie,
      table: placed,
    } = typeof place === 'number' ? { number: place, tie: place, table } : place;
    const at = raw`(select ${valueIn(instant, 'placed')} from ${raw.table(placed)} placed
      where ${raw.join(
        [raw`account_id = ${accountId} and environment = ${environment} and number = ${number}`, ...where],
        raw` and `,
      )})`;
    if (!end) return [raw<boolean>`(${column}, number) ${beyond} (${at}, ${tie}::bigint)`];
    // A period includes its beginning and excludes its end.
    const isNearer = side === '<' ? raw`${at} < ${end}` : raw`${at} >= ${end}`;
    // A row without the instant fulfills neither `when`: the bound is null, and no row is found after it.
    const first = raw`case when ${isNearer} then ${at} when ${at} is not null then ${end}::${raw.raw(typeof end === 'number' ? 'bigint' : 'timestamptz')} end`;
    return [
      raw<boolean>`(${column}, number) ${beyond} (${first}, case when ${isNearer} then ${tie}::bigint else 0 end)`,
    ];
  };
  return [...bound('<', after, period.before), ...bound('>', before, period.from)];
}

/**
 * Checks the cursors of an empty page in a list that an instant orders. No row follows a row without that instant, so
 * the list would seem to end there. Such a cursor comes from a list with another filter, or its row has lost the
 * instant. @throws ValidationError naming the argument
 */
export async function assertCursorsPlaced(
  sql: Sql,
  { accountId, environment }: Tenant,
  {
    table,
    where = [],
    instant,
    ...cursors
  }: {
    table: string;
    where?: readonly RawBuilder<boolean>[];
    instant: RawBuilder<unknown>;
    after?: number | undefined;
    before?: number | undefined;
  },
): Promise<void> {
  for (const path of ['after', 'before'] as const) {
    const number = cursors[path];
    if (number === undefined) continue;
    const conditions = [
      raw`account_id = ${accountId} and environment = ${environment} and number = ${number}`,
      ...where,
      raw`${instant} is null`,
    ];
    const { rows } =
      await raw`select 1 from ${raw.table(table)} where ${raw.join(conditions, raw` and `)}`.execute(sql);
    if (rows.length > 0)
      throw new ValidationError([
        { path, message: 'has no place in this list: its item lacks the date that orders the list' },
      ]);
  }
}

/** The conditions of rows behind `after` and before `before`, if a list is in the order of their numbers. */
function between({ after, before }: Pick<ListRange, 'after' | 'before'>): RawBuilder<boolean>[] {
  return [
    ...(after === undefined ? [] : [raw<boolean>`number < ${after}`]),
    ...(before === undefined ? [] : [raw<boolean>`number > ${before}`]),
  ];
}

/** The conditions of rows inside a period. */
export function inPeriod(
  instant: Column,
  { from, before }: Period<Date | number | RawBuilder<unknown>>,
): RawBuilder<boolean>[] {
  const column = valueIn(instant);
  // An index that ends with the number has the rows of one amount in the order of the list.
  if (typeof from === 'number' && before === from + 1) return [raw<boolean>`${column} = ${from}`];
  return [
    ...(from ? [raw<boolean>`${column} >= ${from}`] : []),
    ...(before ? [raw<boolean>`${column} < ${before}`] : []),
  ];
}

/** Whether a period has a bound: then a list is read in the order of its instants. */
export function isOfPeriod({ from, before }: Period<Date | number>): boolean {
  return from !== undefined || before !== undefined;
}

// ── Totals ──────────────────────────────────────────────────────────────────────────────────────

/** Tables whose rows `list_count` counts: see migrations/0042_lists.sql. A slice adds its own by declaration merging. */
export interface CountedLists {
  card_payment: true;
  payout: true;
  subaccount: true;
  statement_entry: true;
  subaccount_payout: true;
  product: true;
  webhook_delivery: true;
  observed: true;
  refund: true;
  payment: true;
  charge: true;
  dispute: true;
  pix_subscription: true;
  payment_return: true;
}
export type CountedList = keyof CountedLists;

export interface ListFilter {
  list: CountedList;
  /** The parent of the rows, such as their subaccount, or any of several; null means any parent. */
  parent?: string | readonly string[] | null | undefined;
  kind?: readonly string[] | undefined;
  status?: readonly string[] | undefined;
}

/** Counts the rows of a list that match the filter. */
export async function countList(sql: Sql, tenant: Tenant, filter: ListFilter): Promise<number> {
  if (
    [filter.parent, filter.kind, filter.status].some((values) => Array.isArray(values) && values.length === 0)
  )
    return 0;
  const { count } = await countQuery(sql, tenant, filter)
    .where('seconds', '=', 0)
    .select(SUM.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** The sum of counts, as a whole number. */
export const SUM = raw<number>`coalesce(sum(list_count.count), 0)::bigint`;

/** A period of time, or a range of numbers, that includes `from` and excludes `before`. */
export interface Period<Value = Date> {
  from?: Value | undefined;
  before?: Value | undefined;
}

/**
 * Counts the rows of a period that match the filter, in one statement. `countRows` counts the rows in the
 * parts of the period that are shorter than the periods of `list_count`.
 */
export async function countListInPeriod(
  sql: Sql,
  tenant: Tenant,
  filter: ListFilter,
  period: Period,
  countRows: (part: Period) => RawBuilder<number>,
): Promise<number> {
  if (filter.kind?.length === 0 || filter.status?.length === 0) return 0;
  const terms = splitPeriod(period).map(({ seconds, ...part }) => {
    if (seconds === 0) return countRows(part);
    let query = countQuery(sql, tenant, filter).select(SUM.as('count')).where('seconds', '=', seconds);
    if (part.from) query = query.where('since', '>=', part.from);
    if (part.before) query = query.where('since', '<', part.before);
    return raw<number>`${query}`;
  });
  if (terms.length === 0) return 0;
  const { rows } = await raw<{ count: number }>`select ${raw.join(terms, raw` + `)} as count`.execute(sql);
  return rows[0]!.count;
}

/** The lengths of the periods that are counted, in seconds: an hour, a day, 32 days. */
const PERIODS_S = [3_600, 86_400, 2_764_800];

/**
 * Splits a period into the longest periods of these lengths, and the remainders at its ends, which have 0
 * `seconds`.
 */
export function splitPeriod(
  { from, before }: Period,
  lengths: readonly number[] = PERIODS_S,
): (Period & { seconds: number })[] {
  const parts: (Period & { seconds: number })[] = [];
  let [start, end] = [
    from?.getTime() ?? Number.NEGATIVE_INFINITY,
    before?.getTime() ?? Number.POSITIVE_INFINITY,
  ];
  let seconds = 0;
  const add = (partStart: number, partEnd: number) => {
    if (partStart >= partEnd) return;
    parts.push({
      seconds,
      ...(Number.isFinite(partStart) && { from: new Date(partStart) }),
      ...(Number.isFinite(partEnd) && { before: new Date(partEnd) }),
    });
  };
  for (const longer of lengths) {
    const ms = longer * 1_000;
    const [first, last] = [Math.ceil(start / ms) * ms, Math.floor(end / ms) * ms];
    if (first >= last) break;
    add(start, first);
    add(last, end);
    [start, end, seconds] = [first, last, longer];
  }
  add(start, end);
  return parts;
}

function countQuery(
  sql: Sql,
  { accountId, environment }: Tenant,
  { list, parent = '', kind, status }: ListFilter,
) {
  let query = sql
    .selectFrom('list_count')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment)
    .where('list', '=', list);
  if (parent !== null) query = query.where('parent', 'in', typeof parent === 'string' ? [parent] : parent);
  if (kind) query = query.where('kind', 'in', kind);
  if (status) query = query.where('status', 'in', status);
  return query;
}
