import { type RawBuilder, sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import { MAX_ADDED_ROWS, type Totals, type TotalsGrouping, totalsOf } from '../../kernel/totals.ts';
import type { Sql } from './database.ts';
import { type ListConditions, ownConditions, valuesOf } from './filtered-lists.ts';
import { type CountedList, inPeriod, isOfPeriod, type Period, splitPeriod } from './lists.ts';

// The amounts of lists. Sums by hours and days are stored (see migrations/0042_lists.sql); any other
// condition adds up row by row.

/** The instants by whose periods amounts are stored. */
const KEPT: Partial<Record<CountedList, readonly string[]>> = {
  card_payment: ['created_at', 'paid_at'],
  payment: ['created_at', 'paid_at'],
  charge: ['created_at', 'paid_at'],
  refund: ['created_at', 'completed_at'],
  payout: ['requested_at', 'processed_at'],
  subaccount_payout: ['created_at', 'completed_at'],
};

interface Group {
  hour: Date | null;
  kind: string | null;
  status: string | null;
  count: number;
  cents: number;
  isCut: boolean;
}

/** The total of the rows that the conditions select, and of each group. `method` is the kind of the list. */
export async function selectTotals(
  sql: Sql,
  tenant: Tenant,
  list: CountedList,
  conditions: ListConditions,
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  const { oneOf, periods } = conditions;
  if (Object.values(oneOf).some(({ asked }) => asked?.length === 0)) return totalsOf([], true);
  const restricted = periods.filter(([, each]) => isOfPeriod(each));
  const [instant, period] = restricted.at(-1) ?? periods[0]!;
  const isKept =
    ownConditions(conditions).length === 0 &&
    restricted.length <= 1 &&
    KEPT[list]?.includes(instant) === true;
  const lengths = groupBy.includes('hour') ? [3_600] : [3_600, 86_400];
  const parts: (Period & { seconds: number })[] = isKept
    ? splitPeriod(period, lengths)
    : [{ ...period, seconds: 0 }];
  if (parts.length === 0) return totalsOf([], true);
  const queries = parts.map(({ seconds, ...part }) =>
    seconds === 0
      ? rowsQuery(tenant, list, conditions, { instant, period: part })
      : keptQuery(tenant, list, conditions, { instant, period: part, seconds }),
  );
  return groupedTotals(sql, queries, groupBy);
}

/** Divides rows of `hour`, `kind`, `status`, `count`, `cents` and `cut` into groups. */
export async function groupedTotals(
  sql: Sql,
  queries: readonly RawBuilder<unknown>[],
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  const has = (grouping: TotalsGrouping, column: string) =>
    raw`${groupBy.includes(grouping) ? raw.ref(column) : raw`null`} as ${raw.ref(column)}`;
  const { rows } = await raw<Group>`
    select hour, kind, status, sum(count)::bigint as count, coalesce(sum(cents), 0)::bigint as cents,
      bool_or(cut) as "isCut"
    from (
      select ${has('hour', 'hour')}, ${has('method', 'kind')}, ${has('status', 'status')}, count, cents, cut
      from (${raw.join(queries, raw` union all `)}) part
    ) grouped
    group by hour, kind, status order by hour, status, kind`.execute(sql);
  // Rows that were counted in an hour and have left it since have left amounts of 0.
  const groups = rows
    .filter(({ count }) => count > 0)
    .map(({ hour, kind, status, count, cents }) => ({
      ...{ hour, status, count, amountCents: cents },
      method: kind === '' ? null : kind,
    }));
  const totals = totalsOf(groups, !rows.some(({ isCut }) => isCut));
  return groupBy.length === 0 ? { ...totals, groups: [] } : totals;
}

interface Part {
  instant: string;
  period: Period;
}

function keptQuery(
  { accountId, environment }: Tenant,
  list: CountedList,
  { oneOf }: ListConditions,
  { instant, period, seconds }: Part & { seconds: number },
): RawBuilder<unknown> {
  const { status, ...kinds } = oneOf;
  const [kind] = Object.values(kinds);
  // The bounds are constants: PostgreSQL then knows how few days there are beside the hours; otherwise it
  // reads all of both.
  const conditions = [
    raw`account_id = ${accountId} and environment = ${environment} and list = ${raw.lit(list)}
      and instant = ${raw.lit(instant)} and seconds = ${raw.lit(seconds)}`,
    ...inPeriod('since', period),
    ...valuesOf({ ...(kind && { kind }), ...(status && { status }) }),
  ];
  return raw`select since as hour, kind, status, count, cents, false as cut from list_amount
    where ${raw.join(conditions, raw` and `)}`;
}

/** The rows of a part, up to the number that is added up one by one. */
function rowsQuery(
  { accountId, environment }: Tenant,
  list: CountedList,
  listConditions: ListConditions,
  { instant, period }: Part,
): RawBuilder<unknown> {
  const { oneOf, periods } = listConditions;
  const [kind] = Object.keys(oneOf).filter((column) => column !== 'status');
  const conditions = [
    raw`account_id = ${accountId} and environment = ${environment}`,
    ...periods.flatMap(([each, other]) => inPeriod(each, each === instant ? period : other)),
    ...valuesOf(oneOf),
    ...ownConditions(listConditions),
  ];
  return addedRows(raw`
    select ${raw.ref(instant)} as at, ${kind ? raw.ref(kind) : raw`''`} as kind, status, amount_cents as cents
    from ${raw.table(list)} where ${raw.join(conditions, raw` and `)}`);
}

/** Adds up the rows of a query for `at`, `kind`, `status` and `cents`, up to a limit. */
export function addedRows(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  const counted = raw`filter (where nth <= ${raw.lit(MAX_ADDED_ROWS)})`;
  return raw`
    select date_trunc('hour', at, 'UTC') as hour, kind, status, count(*) ${counted} as count, sum(cents) ${counted} as cents,
      bool_or(nth > ${raw.lit(MAX_ADDED_ROWS)}) as cut
    from (
      select *, row_number() over () as nth from (${rows} limit ${raw.lit(MAX_ADDED_ROWS + 1)}) found
    ) numbered
    group by 1, 2, 3`;
}
