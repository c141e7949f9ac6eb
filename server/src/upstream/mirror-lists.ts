import { type RawBuilder, sql as raw, type Selectable } from 'kysely';
import type { Asked, DetailFilter } from '../kernel/list-filter.ts';
import type { ListRange } from '../kernel/list-range.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { MAX_ADDED_ROWS, type Totals, type TotalsGrouping } from '../kernel/totals.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import type { Sql } from '../state/db/database.ts';
import { isEmail } from '../state/db/filtered-lists.ts';
import {
  assertCursorsPlaced,
  boundsOfPage,
  countList,
  inPeriod,
  isOfPeriod,
  type Period,
  selectPage,
} from '../state/db/lists.ts';
import type { Tables } from '../state/db/tables.ts';
import { addedRows, groupedTotals, type Slots } from '../state/db/totals.ts';
import { type MirroredRow, toMirrored } from './mirror-store.ts';

/** Conditions on the snapshot of a mirrored resource. */
export interface StateFilter {
  /** The conditions of the slice's filter, without the parent, the status and the period. */
  asked?: readonly Asked[];
  /** The reference as a name in the mirror; omitted if the reference is the id itself. */
  referenceName?: string | undefined;
  /** Selects resources that the service has named, without those recorded only under the id of a request. */
  isNamed?: true | undefined;
  /** Selects resources that are not final. */
  isOpen?: true | undefined;
}

/** A filter of mirrored resources that have an instant: by parents, statuses and a period. */
export interface RangeFilter {
  parent?: readonly string[] | undefined;
  status?: readonly string[] | undefined;
  period: Period;
  /** Conditions on the state itself. */
  details?: StateFilter | undefined;
}

/**
 * A part of the mirror, newest first by when its rows were first seen: the first or the last `limit` rows
 * behind `after` and before `before`.
 */
export interface MirrorRange extends RangeFilter, ListRange {
  offset?: number;
}

/**
 * Lists a part of the mirror; if a period restricts it, in the order of its instants.
 *
 * @throws ValidationError naming `after` or `before`, whose row has no such instant
 */
export async function listMirroredRange(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  {
    end,
    limit,
    offset = 0,
    after,
    before,
    parent,
    status,
    period,
    details,
    allOf,
    isByNumber = false,
  }: MirrorRange & {
    /**
     * All possible parents and statuses: the indexes have a list for each pair. Null if the parents cannot be
     * listed, or if there are none.
     */
    allOf: { parent: readonly string[]; status: readonly string[] } | null;
    /** Whether the list is in the order of its rows, whatever its filter restricts: it is then read to its end once. */
    isByNumber?: boolean;
  },
): Promise<{ position: number; observed: MirroredRow }[]> {
  const conditions = conditionsOf(tenant, resource, details);
  const ordering = isByNumber ? null : orderingOf(details, period);
  const oneOf = () => {
    if (conditions.length > 0) return {};
    if (!allOf) return { status };
    return parent || status ? { parent: parent ?? allOf.parent, status: status ?? allOf.status } : {};
  };
  const ofColumns =
    conditions.length > 0 ? valuesOf({ parent, status }) : allOf ? [] : isAnyOf('parent', parent);
  const where = [raw<boolean>`resource = ${resource}`];
  const bounds = { table: 'observed', where, instant: 'created_at', after, before, period };
  const rows = await selectPage<Selectable<Tables['observed']>>(sql, tenant, {
    table: 'observed',
    where: [
      ...where,
      ...(isOfPeriod(period) ? [raw<boolean>`created_at is not null`] : []),
      ...(ordering
        ? [...inPeriod('created_at', period), ...boundsByState(tenant, resource, ordering, { after, before })]
        : boundsOfPage(tenant, bounds)),
      ...ofColumns,
      ...conditions,
    ],
    oneOf: oneOf(),
    order: ordering ? [ordering, 'number'] : isOfPeriod(period) ? ['created_at', 'number'] : ['number'],
    direction: end === 'first' ? 'desc' : 'asc',
    limit,
    offset,
    isOfFew: details?.asked?.some(({ is }) => is === 'named') === true,
  });
  if (rows.length === 0 && (ordering || isOfPeriod(period)))
    await assertCursorsPlaced(sql, tenant, {
      table: 'observed',
      where,
      instant: ordering ?? raw.ref('created_at'),
      after,
      before,
    });
  const items = rows.map((row) => ({ position: row.number, observed: toMirrored(row) }));
  return end === 'first' ? items : items.reverse();
}

/** Finds the resource that was first seen last; null if none has been seen. */
export async function newestMirrored(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
): Promise<{ position: number; observed: MirroredRow } | null> {
  const newest = { end: 'first', limit: 1, period: {}, allOf: null } as const;
  return (await listMirroredRange(sql, tenant, resource, newest))[0] ?? null;
}

/**
 * Counts a part of the mirror. The rows of a period are counted one by one, because the totals of the mirror
 * have no instants.
 */
export async function countMirroredRange(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  { parent, status, period, details }: RangeFilter,
): Promise<number> {
  const filter = { parent, status, period, details };
  if (!isOfPeriod(period) && conditionsOf(tenant, resource, details).length === 0)
    return countList(sql, tenant, { list: 'observed', kind: [resource], parent: parent ?? null, status });
  const { rows } = await raw<{ count: number }>`
    select count(*) from observed where ${isOfRange(tenant, resource, filter)}
  `.execute(sql);
  return Number(rows[0]!.count);
}

export function isOfRange(
  tenant: Tenant,
  resource: MirroredResource,
  { parent, status, period, details }: RangeFilter,
): RawBuilder<unknown> {
  const conditions = [
    raw`account_id = ${tenant.accountId} and environment = ${tenant.environment} and resource = ${resource}`,
    ...(isOfPeriod(period) ? [raw`created_at is not null`, ...inPeriod('created_at', period)] : []),
    ...valuesOf({ parent, status }),
    ...conditionsOf(tenant, resource, details),
  ];
  return raw.join(conditions, raw` and `);
}

/**
 * Adds up a part of the mirror, up to a number of rows. Resources that the service has not shown here are
 * missing, so no sum is exact.
 */
export async function totalsOfMirrored(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  filter: RangeFilter,
  groupBy: readonly TotalsGrouping[],
  slots: Slots | null = null,
): Promise<Totals> {
  const instant = instantOf(filter.details);
  const at = instant ? raw`(${stateOf(instant)})::timestamptz` : raw.ref('created_at');
  const selected = isOfRange(tenant, resource, filter);
  const rows = raw`
    select ${at} as at, coalesce(snapshot ->> 'method', '') as kind, status, (snapshot ->> 'amountCents')::bigint as cents
    from observed where ${selected} order by number desc`;
  const totals = await groupedTotals(sql, [addedRows(rows, slots)], groupBy);
  const { rows: shown } = await raw<{ asOf: Date | null }>`
    select max(observed_at) as "asOf" from (
      select observed_at from observed where ${selected} order by number desc limit ${raw.lit(MAX_ADDED_ROWS)}
    ) newest`.execute(sql);
  return { ...totals, isExact: false, asOf: shown[0]!.asOf };
}

function valuesOf({ parent, status }: Pick<RangeFilter, 'parent' | 'status'>): RawBuilder<boolean>[] {
  return [...isAnyOf('parent', parent), ...isAnyOf('status', status)];
}

/** The condition on a column. With a single value an index is read in the order of its next column. */
function isAnyOf(column: string, values: readonly string[] | undefined): RawBuilder<boolean>[] {
  if (!values) return [];
  return values.length === 1
    ? [raw<boolean>`${raw.ref(column)} = ${values[0]}`]
    : [raw<boolean>`${raw.ref(column)} = any(${[...values]}::text[])`];
}

/**
 * The last instant of a state that a period restricts, which then orders the list; null if no period does.
 */
export function instantOf({ asked = [] }: StateFilter = {}): string | null {
  return asked.findLast(({ is }) => is === 'from' || is === 'before')?.members[0] ?? null;
}

/**
 * The value of a state by which a list is ordered, if that is not the number: the last instant that a period
 * restricts, else the amount that a range does.
 */
export function orderingOf(details: StateFilter | undefined, period: Period): RawBuilder<unknown> | null {
  const instant = instantOf(details);
  if (instant || isOfPeriod(period)) return instant === null ? null : stateOf(instant);
  const range = details?.asked?.find(({ is }) => is === 'atLeast' || is === 'atMost');
  return range ? numberOf(range.members[0]!) : null;
}

const numberOf = (member: string) => raw<number>`(snapshot ->> ${raw.lit(member)})::bigint`;

function stateOf(member: string): RawBuilder<unknown> {
  return raw`snapshot ->> ${raw.lit(member)}`;
}

/** The conditions of a page behind `after` and before `before`, in the order of a value of the state. */
function boundsByState(
  { accountId, environment }: Tenant,
  resource: MirroredResource,
  ordering: RawBuilder<unknown>,
  { after, before }: Pick<MirrorRange, 'after' | 'before'>,
): RawBuilder<boolean>[] {
  const bound = (side: '<' | '>', position: number | undefined) =>
    position === undefined
      ? []
      : [
          raw<boolean>`(${ordering}, number) ${raw.raw(side)} ((
            select ${ordering} from observed where account_id = ${accountId} and environment = ${environment}
              and resource = ${resource} and number = ${position}), ${position}::bigint)`,
        ];
  return [...bound('<', after), ...bound('>', before)];
}

/**
 * The conditions on a state. Its instants are texts, which sort as the instants do. requestedAt, processedAt,
 * method and final have no index: they are read only together with externalId.
 */
function conditionsOf(
  tenant: Tenant,
  resource: MirroredResource,
  { asked = [], referenceName, isNamed, isOpen }: StateFilter = {},
): RawBuilder<boolean>[] {
  const conditions = asked.map(({ is, members, value }) => ({
    is,
    condition: conditionOf({ is, members, value }),
  }));
  const isOfPeriods = ({ is }: Pick<Asked, 'is'>) => is === 'from' || is === 'before';
  return [
    ...conditions.filter((each) => !isOfPeriods(each)).map(({ condition }) => condition),
    ...(isNamed ? [raw<boolean>`not starts_with(id, 'int_')`] : []),
    ...(isOpen ? [raw<boolean>`not final`] : []),
    ...conditions.filter(isOfPeriods).map(({ condition }) => condition),
  ];

  function conditionOf({ is, members: [member = ''], value }: Asked): RawBuilder<boolean> {
    const has = (name: string, text: string) => raw<boolean>`snapshot ->> ${raw.lit(name)} = ${text}`;
    switch (is) {
      case 'equal':
        return typeof value === 'number'
          ? raw<boolean>`${numberOf(member)} = ${value}`
          : has(member, String(value));
      case 'atLeast':
        return raw<boolean>`${numberOf(member)} >= ${value}`;
      case 'atMost':
        return raw<boolean>`${numberOf(member)} <= ${value}`;
      case 'among':
        return raw<boolean>`snapshot ->> ${raw.lit(member)} = any(${[...(value as string[])]}::text[])`;
      case 'from':
        return raw<boolean>`snapshot ->> ${raw.lit(member)} >= ${(value as Date).toISOString()}`;
      case 'before':
        return raw<boolean>`snapshot ->> ${raw.lit(member)} < ${(value as Date).toISOString()}`;
      case 'customer': {
        const customer = value as NonNullable<DetailFilter['customer']>;
        return 'email' in customer
          ? isEmail(raw`snapshot -> 'customer'`, customer.email)
          : raw<boolean>`snapshot -> 'customer' ->> 'externalId' = ${customer.externalId}`;
      }
      case 'named': {
        const name = value as string;
        const id =
          referenceName === undefined ? raw`${name}` : idOfReference(tenant, resource, referenceName);
        return raw<boolean>`(id = ${id} or ${has('endToEndId', name)})`;
      }
    }
  }
}

/** The id of the resource with a name in the mirror. */
function idOfReference(
  { accountId, environment }: Tenant,
  resource: MirroredResource,
  name: string,
): RawBuilder<string> {
  return raw<string>`(
    select named.id from observed_reference named where named.account_id = ${accountId}
      and named.environment = ${environment} and named.resource = ${resource} and named.reference = ${name})`;
}
