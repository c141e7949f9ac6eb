import { type RawBuilder, sql as raw, type Selectable } from 'kysely';
import type { ListRange } from '../kernel/list-range.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import type { Sql } from '../state/db/database.ts';
import { assertCursorsPlaced, isOfPeriod } from '../state/db/lists.ts';
import type { Tables } from '../state/db/tables.ts';
import { instantOf, isOfRange, orderingOf, type RangeFilter } from './mirror-lists.ts';
import { type MirroredRow, toMirrored } from './mirror-store.ts';

/** The resources of one kind in a list over several. */
export interface MirroredPart {
  resource: MirroredResource;
  range: RangeFilter;
}

/**
 * Lists a part of the mirror over several resources: by when its rows were first seen, or by the last instant or the amount
 * that the parts restrict. All parts restrict the same. `resources`: all that the list can have, whose cursors it takes.
 *
 * @throws ValidationError naming `after` or `before`, whose row has no such instant
 */
export async function listMirroredTogether(
  sql: Sql,
  tenant: Tenant,
  resources: readonly MirroredResource[],
  parts: readonly MirroredPart[],
  { end, limit, offset = 0, after, before }: ListRange & { offset?: number | undefined },
): Promise<{ position: number; observed: MirroredRow }[]> {
  if (parts.length === 0) return [];
  const { accountId, environment } = tenant;
  const instant =
    parts.map(({ range }) => instantOf(range.details)).find((each) => each !== null) ??
    (parts.some(({ range }) => isOfPeriod(range.period)) ? 'createdAt' : null);
  const ofAny = raw<boolean>`resource = any(${[...resources]}::text[])`;
  const stated = raw`(snapshot ->> ${raw.lit(instant ?? '')})::timestamptz`;
  const instantOfRow = instant === 'createdAt' ? raw`coalesce(created_at, ${stated})` : stated;
  const direction = raw.raw(end === 'first' ? 'desc' : 'asc');

  const placed = (position: number, value: RawBuilder<unknown>) => raw`(
    select ${value} from observed
    where account_id = ${accountId} and environment = ${environment} and ${ofAny} and number = ${position})`;

  const keys = parts.map(({ resource, range }) => {
    const byState = orderingOf(range.details, range.period);
    const isByColumn = byState === null && isOfPeriod(range.period);
    const ordering = byState ?? (isByColumn ? raw.ref('created_at') : null);
    // The instants of a state are texts, which sort as the instants do.
    const valueOfPlace =
      instant === null || isByColumn
        ? (ordering ?? raw`0`)
        : raw`to_char(${instantOfRow} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
    const bound = (side: '<' | '>', position: number | undefined) => {
      if (position === undefined) return [];
      if (ordering === null) return [raw`number ${raw.raw(side)} ${position}`];
      const value = placed(position, isByColumn ? instantOfRow : valueOfPlace);
      return [raw`(${ordering}, number) ${raw.raw(side)} (${value}, ${position}::bigint)`];
    };
    const conditions = [isOfRange(tenant, resource, range), ...bound('<', after), ...bound('>', before)];
    return raw`(
      select *, ${instant === null ? raw`null::timestamptz` : instantOfRow} as at, ${instant === null && byState ? byState : raw`0`}::bigint as amount
      from observed where ${raw.join(conditions, raw` and `)}
      order by ${ordering === null ? raw`` : raw`${ordering} ${direction}, `}number ${direction} limit ${limit + offset})`;
  });
  const { rows } = await raw<Selectable<Tables['observed']>>`
    select * from (${raw.join(keys, raw` union all `)}) listed
    order by amount ${direction}, at ${direction}, number ${direction} limit ${limit} offset ${offset}`.execute(
    sql,
  );
  if (rows.length === 0 && instant !== null)
    await assertCursorsPlaced(sql, tenant, {
      ...{ table: 'observed', where: [ofAny], after, before },
      instant: instantOfRow,
    });
  const items = rows.map((row) => ({ position: row.number, observed: toMirrored(row) }));
  return end === 'first' ? items : items.reverse();
}
