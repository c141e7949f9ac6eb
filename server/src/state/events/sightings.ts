import { type RawBuilder, sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import type { Resource } from './event.ts';

/** A change of the one resource of a kind that a tenant has, with the snapshot of the change before it. */
export interface Sighting {
  version: number;
  occurred_at: Date;
  snapshot: unknown;
  before: unknown;
}

/** The conditions on changes, by the aliases `change` and `previous`. */
export interface SightingsRequest {
  where?: readonly RawBuilder<boolean>[];
  direction?: 'asc' | 'desc';
  limit?: number;
}

/** The changes of a resource after its first sighting. */
function sightingsOf({ accountId, environment }: Tenant, resource: Resource) {
  const of = (alias: string) => {
    const columns = ['account_id', 'environment', 'resource', 'resource_id'].map((name) =>
      raw.ref(`${alias}.${name}`),
    );
    return raw`(${raw.join(columns)}) = (${accountId}::text, ${environment}::environment, ${resource}::text, ${resource}::text)`;
  };
  return raw`from event change cross join lateral (
      select snapshot from event previous where ${of('previous')} and previous.version < change.version
      order by previous.version desc limit 1
    ) previous
    where ${of('change')}`;
}

/** Reads the changes of a resource after its first sighting. */
export async function readSightings(
  sql: Sql,
  tenant: Tenant,
  resource: Resource,
  { where = [], direction = 'desc', limit }: SightingsRequest,
): Promise<Sighting[]> {
  const all = [sightingsOf(tenant, resource), ...where];
  const { rows } = await raw<Sighting>`
    select change.version, change.occurred_at, change.snapshot, previous.snapshot as before
    ${raw.join(all, raw` and `)}
    order by change.version ${raw.raw(direction)} ${limit === undefined ? raw`` : raw`limit ${limit}`}
  `.execute(sql);
  return rows;
}

export async function countSightings(
  sql: Sql,
  tenant: Tenant,
  resource: Resource,
  where: readonly RawBuilder<boolean>[],
): Promise<number> {
  const { rows } = await raw<{ count: number }>`
    select count(*) as count ${raw.join([sightingsOf(tenant, resource), ...where], raw` and `)}
  `.execute(sql);
  return rows[0]!.count;
}

/** The first sighting, and the last one at an instant or before it; null if there is none. */
export async function readEnds(
  sql: Sql,
  { accountId, environment }: Tenant,
  resource: Resource,
  until: Date,
): Promise<{ first: unknown; last: unknown; version: number } | null> {
  const end = (direction: 'asc' | 'desc') => raw`
    select version, snapshot from event
    where account_id = ${accountId}::text and environment = ${environment}::environment
      and resource = ${resource}::text and resource_id = ${resource}::text and occurred_at <= ${until}
    order by version ${raw.raw(direction)} limit 1`;
  const { rows } = await raw<{ first: unknown; last: unknown; version: number }>`
    select first.snapshot as first, last.snapshot as last, last.version from (${end('asc')}) first, (${end('desc')}) last
  `.execute(sql);
  return rows[0] ?? null;
}
