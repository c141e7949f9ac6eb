import { sql as raw, type Selectable } from 'kysely';
import type { Sql } from '../db/database.ts';
import { boundsOfPage, countList, inPeriod, isOfPeriod, type Period, selectPage } from '../db/lists.ts';
import type { Tables } from '../db/tables.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { type MirroredResource, type MirroredRow, toMirrored } from './mirror-store.ts';

/** A filter of mirrored resources that have an instant: by any of these parents and statuses, and by a period. */
export interface RangeFilter {
  parent?: readonly string[] | undefined;
  status?: readonly string[] | undefined;
  period: Period;
}

/** A part of the mirror, the last first seen first: the first or the last `limit` behind `after` and before `before`. */
export interface MirrorRange extends RangeFilter {
  end: 'first' | 'last';
  limit: number;
  offset?: number;
  after?: number | undefined;
  before?: number | undefined;
}

/** Lists a part of the mirror, in the order of the instants where a period restricts it. */
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
    allOf,
  }: MirrorRange & {
    /** All parents and statuses that there can be, for the indexes have a list for each pair. Null: resources without a parent. */
    allOf: { parent: readonly string[]; status: readonly string[] } | null;
  },
): Promise<{ place: number; observed: MirroredRow }[]> {
  const oneOf = () => {
    if (!allOf) return { status };
    return parent || status ? { parent: parent ?? allOf.parent, status: status ?? allOf.status } : {};
  };
  const where = [raw<boolean>`resource = ${resource}`];
  const bounds = { table: 'observed', where, instant: 'created_at', after, before, period };
  const rows = await selectPage<Selectable<Tables['observed']>>(sql, tenant, {
    table: 'observed',
    where: [
      ...where,
      ...(isOfPeriod(period) ? [raw<boolean>`created_at is not null`] : []),
      ...boundsOfPage(tenant, bounds),
    ],
    oneOf: oneOf(),
    order: isOfPeriod(period) ? ['created_at', 'number'] : ['number'],
    direction: end === 'first' ? 'desc' : 'asc',
    limit,
    offset,
  });
  const items = rows.map((row) => ({ place: row.number, observed: toMirrored(row) }));
  return end === 'first' ? items : items.reverse();
}

/** Counts a part of the mirror. The rows of a period are counted one by one: the totals of the mirror have no instants. */
export async function countMirroredRange(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  { parent, status, period }: RangeFilter,
): Promise<number> {
  if (!isOfPeriod(period))
    return countList(sql, tenant, { list: 'observed', kind: [resource], parent: parent ?? null, status });
  const conditions = [
    raw`account_id = ${tenant.accountId} and environment = ${tenant.environment} and resource = ${resource}`,
    raw`created_at is not null`,
    ...inPeriod('created_at', period),
    ...(parent ? [raw`parent = any(${[...parent]}::text[])`] : []),
    ...(status ? [raw`status = any(${[...status]}::text[])`] : []),
  ];
  const { rows } = await raw<{ count: number }>`
    select count(*) from observed where ${raw.join(conditions, raw` and `)}
  `.execute(sql);
  return Number(rows[0]!.count);
}
