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

/** The parts of time into which totals are divided: the start of each, and the end of the last. */
export type Slots = readonly Date[];

/** The total of the rows that the conditions select, and of each group. `method` is the kind of the list. */
export async function selectTotals(
  sql: Sql,
  tenant: Tenant,
  list: CountedList,
  conditions: ListConditions,
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  const lengths = groupBy.includes('hour') ? [3_600] : [3_600, 86_400];
  return groupedTotals(sql, queriesOfTotals(tenant, list, conditions, { lengths }), groupBy);
}

/**
 * The queries for the number and the amount of the rows that the conditions select, as `groupedTotals` reads them.
 * `lengths`: those of the stored periods, in seconds. With slots, what they find is in the slots of the one period that is
 * restricted.
 */
export function queriesOfTotals(
  tenant: Tenant,
  list: CountedList,
  conditions: ListConditions,
  { lengths = [3_600, 86_400], slots = null }: { lengths?: readonly number[]; slots?: Slots | null },
): RawBuilder<unknown>[] {
  const { oneOf, periods } = conditions;
  if (Object.values(oneOf).some(({ asked }) => asked?.length === 0)) return [];
  const restricted = periods.filter(([, each]) => isOfPeriod(each));
  const [instant, period] = restricted.at(-1) ?? periods[0]!;
  const isKept =
    ownConditions(conditions).length === 0 &&
    restricted.length <= 1 &&
    KEPT[list]?.includes(instant) === true;
  if (!isKept) return [rowsQuery(tenant, list, conditions, { instant, period }, slots)];
  if (slots) return queriesOfSlots(tenant, list, conditions, instant, slots);
  return splitPeriod(period, lengths).map(({ seconds, ...part }) =>
    seconds === 0
      ? rowsQuery(tenant, list, conditions, { instant, period: part })
      : keptQuery(tenant, list, conditions, { instant, period: part, seconds }),
  );
}

/** The stored totals in all slots, and the rows of what begins or ends inside an hour, each as one query. */
function queriesOfSlots(
  tenant: Tenant,
  list: CountedList,
  conditions: ListConditions,
  instant: string,
  slots: Slots,
): RawBuilder<unknown>[] {
  const parts = joined(
    slots
      .slice(1)
      .flatMap((before, index) => splitPeriod({ from: slots[index], before }, [3_600, 86_400]))
      .sort((left, right) => left.from!.getTime() - right.from!.getTime()),
  );
  const [kept, rest] = [
    parts.filter(({ seconds }) => seconds > 0),
    parts.filter(({ seconds }) => seconds === 0),
  ];
  const ofParts = (some: typeof parts, query: RawBuilder<unknown>) => raw`
    unnest(${some.map(({ seconds }) => seconds)}::int[], ${some.map(({ from }) => from)}::timestamptz[],
      ${some.map(({ before }) => before)}::timestamptz[]) part (length, first, until)
    cross join lateral (${query} offset 0) found`;
  const [first, until] = [raw.ref('part.first'), raw.ref('part.until')];
  const queries: RawBuilder<unknown>[] = [];
  if (kept.length > 0)
    queries.push(raw`
      select ${slotOf(slots, raw.ref('hour'))} as hour, kind, status, count, cents, cut
      from ${ofParts(kept, keptQuery(tenant, list, conditions, { instant, seconds: raw.ref('part.length'), period: { from: first, before: until } }))}`);
  if (rest.length > 0) {
    const rows = selectedRows(tenant, list, conditions, { instant, period: { from: first, before: until } });
    queries.push(addedRows(raw`select at, kind, status, cents from ${ofParts(rest, rows)}`, slots));
  }
  return queries;
}

/** Joins parts that follow one another and have the same length. */
function joined(parts: readonly (Period & { seconds: number })[]): (Period & { seconds: number })[] {
  const found: (Period & { seconds: number })[] = [];
  for (const part of parts) {
    const last = found.at(-1);
    if (last?.seconds === part.seconds && last.before!.getTime() === part.from!.getTime())
      last.before = part.before;
    else found.push({ ...part });
  }
  return found;
}

/** The start of the slot of an instant. */
function slotOf(slots: Slots, at: RawBuilder<unknown>): RawBuilder<unknown> {
  const starts = raw`${slots.slice(0, -1)}::timestamptz[]`;
  return raw`(${starts})[width_bucket(${at}, ${starts})]`;
}

/** Divides rows of `hour`, `kind`, `status`, `count`, `cents` and `cut` into groups. */
export async function groupedTotals(
  sql: Sql,
  queries: readonly RawBuilder<unknown>[],
  groupBy: readonly TotalsGrouping[],
): Promise<Totals> {
  if (queries.length === 0) return totalsOf([], true);
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

/** A part of the period of an instant: its ends, or columns that have them. */
interface Part {
  instant: string;
  period: Period<Date | RawBuilder<unknown>>;
}

function keptQuery(
  { accountId, environment }: Tenant,
  list: CountedList,
  { oneOf }: ListConditions,
  { instant, period, seconds }: Part & { seconds: number | RawBuilder<unknown> },
): RawBuilder<unknown> {
  const { status, ...kinds } = oneOf;
  const [kind] = Object.values(kinds);
  // The bounds are constants: PostgreSQL then knows how few days there are beside the hours; otherwise it
  // reads all of both.
  const conditions = [
    raw`account_id = ${accountId} and environment = ${environment} and list = ${raw.lit(list)}
      and instant = ${raw.lit(instant)} and seconds = ${typeof seconds === 'number' ? raw.lit(seconds) : seconds}`,
    ...inPeriod('since', period),
    ...valuesOf({ ...(kind && { kind }), ...(status && { status }) }),
  ];
  return raw`select since as hour, kind, status, count, cents, false as cut from list_amount
    where ${raw.join(conditions, raw` and `)}`;
}

/** The rows of a part, up to the number that is added up one by one. */
function rowsQuery(
  tenant: Tenant,
  list: CountedList,
  conditions: ListConditions,
  part: Part,
  slots: Slots | null = null,
): RawBuilder<unknown> {
  return addedRows(selectedRows(tenant, list, conditions, part), slots);
}

function selectedRows(
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
  return raw`
    select ${raw.ref(instant)} as at, ${kind ? raw.ref(kind) : raw`''`} as kind, status, amount_cents as cents
    from ${raw.table(list)} where ${raw.join(conditions, raw` and `)}`;
}

/** Adds up the rows of a query for `at`, `kind`, `status` and `cents` by hours, or by slots, up to a limit. */
export function addedRows(rows: RawBuilder<unknown>, slots: Slots | null = null): RawBuilder<unknown> {
  const slot = slots ? slotOf(slots, raw.ref('at')) : raw`date_trunc('hour', at, 'UTC')`;
  const counted = raw`filter (where nth <= ${raw.lit(MAX_ADDED_ROWS)})`;
  return raw`
    select ${slot} as hour, kind, status, count(*) ${counted} as count, sum(cents) ${counted} as cents,
      bool_or(nth > ${raw.lit(MAX_ADDED_ROWS)}) as cut
    from (
      select *, row_number() over () as nth from (${rows} limit ${raw.lit(MAX_ADDED_ROWS + 1)}) found
    ) numbered
    group by 1, 2, 3`;
}
