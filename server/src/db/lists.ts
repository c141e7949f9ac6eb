import { type RawBuilder, sql as raw } from 'kysely';
import type { Tenant } from '../kernel/tenant.ts';
import type { Sql } from './database.ts';

// Pages and totals of a tenant's lists at a cost that does not grow with the list.

// ── Pages ───────────────────────────────────────────────────────────────────────────────────────

/** Part of a list: `limit` rows in `order` behind the first `offset`. */
export interface ListPage {
  table: string;
  /** Undefined: all. */
  columns?: readonly string[] | undefined;
  /** Beside the tenant, what every row fulfils. */
  where?: readonly RawBuilder<boolean>[] | undefined;
  /** For each of these columns, the values that it may have; undefined: any. */
  oneOf?: Readonly<Record<string, readonly string[] | undefined>> | undefined;
  /** Sorts by these columns, the last of them the number, which tells rows apart. */
  order: readonly [...columns: string[], number: 'number'];
  direction?: 'asc' | 'desc' | undefined;
  limit: number;
  offset?: number | undefined;
}

/**
 * Reads a page. For `status in (…)` PostgreSQL would walk the whole list where these statuses are rare, or sort all that
 * have them where they are common. So each combination of values is a list of its own, which an index has in order: the
 * first numbers of each are read from the indexes alone, then the rows that the page shows.
 */
export async function selectPage<Row>(
  sql: Sql,
  { accountId, environment }: Tenant,
  { table, columns, where = [], oneOf = {}, order, direction = 'desc', limit, offset = 0 }: ListPage,
): Promise<Row[]> {
  const shown = columns ? raw.join(columns.map((column) => raw.ref(column))) : raw`*`;
  const inOrder = raw.join(order.map((column) => raw`${raw.ref(column)} ${raw.raw(direction)}`));
  const rowsWith = (...conditions: RawBuilder<unknown>[]) => {
    const all = [raw`account_id = ${accountId} and environment = ${environment}`, ...where, ...conditions];
    return raw`from ${raw.table(table)} where ${raw.join(all, raw` and `)}`;
  };
  const parts = combinations(oneOf);
  if (parts === null) {
    const { rows } = await raw<Row>`
      select ${shown} ${rowsWith()} order by ${inOrder} limit ${limit} offset ${offset}`.execute(sql);
    return rows;
  }
  if (parts.length === 0) return [];
  const keys = raw.join(order.map((column) => raw.ref(column)));
  // With the values as constants PostgreSQL knows how rare each is; it would take an average for those of a joined list.
  const firstOfEach = parts.map((part) => {
    const conditions = part.map(({ column, value }) => raw`${raw.ref(column)} = ${value}`);
    return raw`(select ${keys} ${rowsWith(...conditions)} order by ${inOrder} limit ${limit + offset})`;
  });
  // With a limit each row is looked up by its number. Else PostgreSQL may walk the list beside them, which is long where
  // all that the page shows is old.
  const { rows } = await raw<Row>`
    select listed.* from (
      select ${keys} from (${raw.join(firstOfEach, raw` union all `)}) part
      order by ${inOrder} limit ${limit} offset ${offset}
    ) page
    cross join lateral (select ${shown} ${rowsWith(raw`number = page.number`)} limit 1) listed
    order by ${raw.join(order.map((column) => raw`${raw.ref(`page.${column}`)} ${raw.raw(direction)}`))}`.execute(
    sql,
  );
  return rows;
}

/** Every combination of the values; null where no column is held to any. */
function combinations(oneOf: NonNullable<ListPage['oneOf']>): { column: string; value: string }[][] | null {
  const filters = Object.entries(oneOf).flatMap(([column, values]) =>
    values ? [[...new Set(values)].map((value) => ({ column, value }))] : [],
  );
  if (filters.length === 0) return null;
  return filters.reduce<{ column: string; value: string }[][]>(
    (found, values) => found.flatMap((part) => values.map((value) => [...part, value])),
    [[]],
  );
}

// ── Totals ──────────────────────────────────────────────────────────────────────────────────────

/** Tables whose rows `list_count` counts: see migrations/0015_list_counts.sql. */
export type CountedList =
  | 'card_payment'
  | 'payout'
  | 'subaccount'
  | 'statement_entry'
  | 'subaccount_payout'
  | 'product'
  | 'webhook_delivery'
  | 'observed';

export interface ListFilter {
  list: CountedList;
  /** The subaccount, say, that the rows belong to; null: any. */
  parent?: string | null | undefined;
  kind?: readonly string[] | undefined;
  status?: readonly string[] | undefined;
}

/** How many rows of a list fulfil the filter. */
export async function countList(sql: Sql, tenant: Tenant, filter: ListFilter): Promise<number> {
  if (filter.kind?.length === 0 || filter.status?.length === 0) return 0;
  const { count } = await counted(sql, tenant, filter)
    .where('seconds', '=', 0)
    .select(SUM.as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** The sum of counts, as a whole number. */
export const SUM = raw<number>`coalesce(sum(list_count.count), 0)::bigint`;

/** Where instants are asked for: from `from` on, before `before`. */
export interface Period {
  from?: Date | undefined;
  before?: Date | undefined;
}

/**
 * How many rows of a period fulfil the filter. `rowsOf` asks for the number of rows in a part of it that is shorter than
 * what is counted. All as one statement sees it.
 */
export async function countListOf(
  sql: Sql,
  tenant: Tenant,
  filter: ListFilter,
  period: Period,
  rowsOf: (part: Period) => RawBuilder<number>,
): Promise<number> {
  if (filter.kind?.length === 0 || filter.status?.length === 0) return 0;
  const terms = splitPeriod(period).map(({ seconds, ...part }) => {
    if (seconds === 0) return rowsOf(part);
    let query = counted(sql, tenant, filter).select(SUM.as('count')).where('seconds', '=', seconds);
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

/** The longest counted periods that make up a period, and what is left at its ends, of `seconds` 0. */
export function splitPeriod({ from, before }: Period): (Period & { seconds: number })[] {
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
  for (const longer of PERIODS_S) {
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

function counted(
  sql: Sql,
  { accountId, environment }: Tenant,
  { list, parent = '', kind, status }: ListFilter,
) {
  let query = sql
    .selectFrom('list_count')
    .where('account_id', '=', accountId)
    .where('environment', '=', environment)
    .where('list', '=', list);
  if (parent !== null) query = query.where('parent', '=', parent);
  if (kind) query = query.where('kind', 'in', kind);
  if (status) query = query.where('status', 'in', status);
  return query;
}
