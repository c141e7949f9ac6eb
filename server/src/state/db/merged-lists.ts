import { type RawBuilder, sql as raw } from 'kysely';
import type { ListRange } from '../../kernel/list-range.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from './database.ts';
import { type ListConditions, ownConditions, valuesOf } from './filtered-lists.ts';
import {
  assertCursorsPlaced,
  boundsOfPage,
  inPeriod,
  isOfPeriod,
  type ListPage,
  type Period,
  type PlaceOfOther,
  pageQuery,
  valueIn,
} from './lists.ts';

// Lists over several tables in one order. Each table gives the first keys behind the cursor, from an index; the keys are merged,
// and only the rows of the page are read.

/** The rows of one table in a merged list. The tables have the same columns for instants and amounts. */
export interface MergedPart {
  /** The place of the table among those of the list. It is a part of the cursors, and orders rows with the same instant. */
  rank: number;
  conditions: ListConditions;
}

/** A row of a merged list, with its place there. */
export interface MergedRow {
  position: number;
  rank: number;
  row: object;
}

/** A number above each rank. A position is `number * RANKS + rank`. */
const RANKS = 8;

/**
 * The rows that are read beyond a page in the order of their numbers. A row gets its number and its instant of creation under
 * the lock of the tenant, so both grow together. If the clocks of two instances differ, some rows are in another order.
 */
const MARGIN = 100;

interface Order {
  /** The column of the instant that orders the list: the last one that a period restricts, else that of the creation. */
  instant: string;
  created: string;
  /** The amounts, which order the list before the instant does. Undefined if a period is restricted, or without a range. */
  amounts: { column: string; range: Period<number> } | undefined;
}

/**
 * Lists the first or the last `limit` rows of the range, newest first by the last instant that a period restricts. Without
 * a period a range of amounts orders them, the largest first; without both, the creation. Two rows with the same instant are
 * in the order of their ranks and numbers. `tables`: the table of each rank.
 *
 * @throws ValidationError naming `after` or `before`, whose row has no such instant
 */
export async function selectMerged(
  sql: Sql,
  tenant: Tenant,
  tables: readonly string[],
  parts: readonly MergedPart[],
  range: ListRange & { offset?: number | undefined },
): Promise<MergedRow[]> {
  const [first] = parts;
  if (!first) return [];
  const order = orderOf(first.conditions);
  const { end, limit, offset = 0 } = range;
  const keys = parts.flatMap((part) => {
    const query = pageQuery(tenant, pageOf(tenant, tables, part, order, range));
    const amount = order.amounts ? raw.ref(order.amounts.column) : raw`0`;
    return query === null
      ? []
      : [
          raw`(select ${amount}::bigint as amount, ${raw.ref(order.instant)} as at, ${raw.lit(part.rank)} as rank, number
            from (${query}) part)`,
        ];
  });
  if (keys.length === 0) return [];
  const direction = raw.raw(end === 'first' ? 'desc' : 'asc');
  const { rows: found } = await raw<{ rank: number; number: number }>`
    select rank, number from (${raw.join(keys, raw` union all `)}) listed
    order by amount ${direction}, at ${direction}, rank ${direction}, number ${direction}
    limit ${limit} offset ${offset}`.execute(sql);
  if (found.length === 0 && order.instant !== order.created)
    await assertPlaced(sql, tenant, tables, order.instant, range);
  const numbered = new Map<number, Map<number, object>>();
  await Promise.all(
    parts.map(async ({ rank }) => {
      const numbers = found.filter((each) => each.rank === rank).map(({ number }) => number);
      if (numbers.length === 0) return;
      const { rows } = await raw<{ number: number }>`
        select * from ${raw.table(tables[rank]!)}
        where ${isOfTenant(tenant)} and number = any(${numbers}::bigint[])`.execute(sql);
      numbered.set(rank, new Map(rows.map((row) => [row.number, row])));
    }),
  );
  const listed = found.map(({ rank, number }) => ({
    ...{ rank, position: number * RANKS + rank },
    row: numbered.get(rank)!.get(number)!,
  }));
  return end === 'first' ? listed : listed.reverse();
}

const isOfTenant = ({ accountId, environment }: Tenant) =>
  raw`account_id = ${accountId} and environment = ${environment}`;

function orderOf({ periods, amounts }: ListConditions): Order {
  const created = periods[0]![0];
  const restricted = periods.findLast(([, each]) => isOfPeriod(each));
  // Rows that all have one amount are in the order of their creation.
  const isRange = amounts && amounts.range.before !== (amounts.range.from ?? 0) + 1;
  return {
    instant: restricted?.[0] ?? created,
    created,
    amounts: restricted || !isRange ? undefined : { column: amounts.column as string, range: amounts.range },
  };
}

/** The keys of one table. They are read in the order of the list if an index has it, else in that of their numbers. */
function pageOf(
  tenant: Tenant,
  tables: readonly string[],
  { rank, conditions }: MergedPart,
  { instant, created, amounts }: Order,
  { end, limit, offset = 0, after, before }: ListRange & { offset?: number | undefined },
): ListPage {
  const table = tables[rank]!;
  const { oneOf, periods, isOfFew } = conditions;
  const placeIn = (position: number | undefined): PlaceOfOther | undefined => {
    if (position === undefined) return undefined;
    const [placed, number] = [position % RANKS, Math.floor(position / RANKS)];
    const tie = placed === rank ? number : placed > rank ? Number.MAX_SAFE_INTEGER : 0;
    return { table: tables[placed]!, number, tie };
  };
  const places = { after: placeIn(after), before: placeIn(before) };
  const own = ownConditions(amounts ? { ...conditions, amounts: undefined } : conditions);
  const page = {
    ...{ table, isOfFew },
    direction: end === 'first' ? ('desc' as const) : ('asc' as const),
    limit: limit + offset,
  };
  const period = periods.find(([each]) => each === instant)![1];
  if (instant !== created || (own.length === 0 && !amounts)) {
    const isAsked = Object.values(oneOf).some(({ asked }) => asked);
    const isByLists = own.length === 0 && instant === created;
    const rest = periods.filter(([each]) => each !== instant).flatMap(([each, part]) => inPeriod(each, part));
    return {
      ...page,
      columns: [instant, 'number'],
      where: [
        ...(isByLists ? [] : valuesOf(oneOf)),
        ...own,
        ...rest,
        ...boundsOfPage(tenant, { table, instant, ...places, period }),
      ],
      oneOf:
        isByLists && isAsked
          ? Object.fromEntries(
              Object.entries(oneOf).map(([column, { asked, all }]) => [column, asked ?? all]),
            )
          : {},
      order: [instant, 'number'],
    };
  }
  return {
    ...page,
    columns: [...(amounts ? [amounts.column] : []), created, 'number'],
    where: [
      ...valuesOf(oneOf),
      ...own,
      ...inPeriod(created, period),
      ...(period.before
        ? [raw<boolean>`number <= ${nearest(tenant, '<', table, created, raw`${period.before}`)}`]
        : []),
      ...(period.from
        ? [raw<boolean>`number >= ${nearest(tenant, '>', table, created, raw`${period.from}`)}`]
        : []),
      ...beyond(tenant, '<', table, places.after, created, amounts),
      ...beyond(tenant, '>', table, places.before, created, amounts),
    ],
    order: amounts ? [amounts.column, 'number'] : ['number'],
    limit: page.limit + MARGIN,
  };
}

/** The conditions of rows on one side of a place: a rough one for an index in the order of the numbers, and the exact one. */
function beyond(
  tenant: Tenant,
  side: '<' | '>',
  table: string,
  place: PlaceOfOther | undefined,
  created: string,
  amounts: Order['amounts'],
): RawBuilder<boolean>[] {
  const isOlder = side === '<';
  const end = isOlder ? amounts?.range.before : amounts?.range.from;
  if (!place) return amounts ? inPeriod(amounts.column, isOlder ? { before: end } : { from: end }) : [];
  const placed = (column: string) =>
    raw`(select ${valueIn(column, 'placed')} from ${raw.table(place.table)} placed
      where ${isOfTenant(tenant)} and number = ${place.number})`;
  const [at, sign] = [placed(created), raw.raw(`${side}=`)];
  const number = nearest(tenant, side, table, created, at);
  const exact = raw`${raw.ref(created)}, number`;
  if (!amounts)
    return [
      raw<boolean>`number ${sign} ${number}`,
      raw<boolean>`(${exact}) ${raw.raw(side)} (${at}, ${place.tie}::bigint)`,
    ];
  const [column, amount] = [raw.ref(amounts.column), placed(amounts.column)];
  // A range includes `from`, and excludes `before`.
  const last = isOlder ? raw`${end}::bigint - 1` : raw`${end}::bigint`;
  const farthest = isOlder ? raw`${Number.MAX_SAFE_INTEGER}::bigint` : raw`0`;
  const isNearer = isOlder ? raw`${amount} <= ${last}` : raw`${amount} >= ${last}`;
  const from =
    end === undefined
      ? raw`${amount}, ${number}`
      : raw`case when ${isNearer} then ${amount} else ${last} end, case when ${isNearer} then ${number} else ${farthest} end`;
  return [
    raw<boolean>`(${column}, number) ${sign} (${from})`,
    raw<boolean>`(${column}, ${exact}) ${raw.raw(side)} (${amount}, ${at}, ${place.tie}::bigint)`,
  ];
}

/** The farthest number of the rows that were created next to an instant, on one side of it. No row on that side is beyond it. */
function nearest(
  tenant: Tenant,
  side: '<' | '>',
  table: string,
  created: string,
  at: RawBuilder<unknown>,
): RawBuilder<number> {
  const [farthest, order] = side === '<' ? ['max', 'desc'] : ['min', 'asc'];
  const direction = raw.raw(order);
  return raw<number>`(select ${raw.raw(farthest)}(number) from (
      select number from ${raw.table(table)}
      where ${isOfTenant(tenant)} and ${raw.ref(created)} ${raw.raw(`${side}=`)} ${at}
      order by ${raw.ref(created)} ${direction}, number ${direction} limit ${MARGIN}
    ) near)`;
}

/** @throws ValidationError naming the cursor whose row has no such instant */
async function assertPlaced(
  sql: Sql,
  tenant: Tenant,
  tables: readonly string[],
  instant: string,
  places: Pick<ListRange, 'after' | 'before'>,
): Promise<void> {
  for (const name of ['after', 'before'] as const) {
    const position = places[name];
    if (position === undefined) continue;
    await assertCursorsPlaced(sql, tenant, {
      table: tables[position % RANKS]!,
      instant: raw.ref(instant),
      [name]: Math.floor(position / RANKS),
    });
  }
}
