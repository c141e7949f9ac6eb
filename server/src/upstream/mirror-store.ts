import { sql as raw, type Selectable } from 'kysely';
import type { Sql } from '../db/database.ts';
import { countList, selectPage } from '../db/lists.ts';
import type { Tables } from '../db/tables.ts';
import type { Tenant } from '../kernel/tenant.ts';

export type MirroredResource = 'card_payment' | 'payout' | 'subaccount_payout' | 'wallet';

/** The newest state of a resource that the service has shown. */
export interface MirroredRow {
  resource: MirroredResource;
  /** The program's own id, whatever the service calls the resource. */
  id: string;
  /** A version that grows by one with each change. */
  version: number;
  status: string;
  /** Whether no later status can come. */
  final: boolean;
  parent: string | null;
  /** The state as JSON, which the slice's own reader parses. */
  snapshot: unknown;
  /** The time at which the service last showed it. */
  observedAt: Date;
}

/** A name of a resource; a resource has several. */
export interface Reference {
  resource: MirroredResource;
  reference: string;
  id: string;
}

export async function selectMirrored(
  sql: Sql,
  { accountId, environment }: Tenant,
  resource: MirroredResource,
  ids: readonly string[],
): Promise<MirroredRow[]> {
  const known = ids.filter(isStorable);
  if (known.length === 0) return [];
  const { rows } = await raw<ObservedRow>`
    select resource, id, version, status, final, parent, snapshot, observed_at from observed
    where account_id = ${accountId} and environment = ${environment} and resource = ${resource}
      and id = any(${known}::text[])
  `.execute(sql);
  return rows.map(toMirrored);
}

/** Lists those of a merchant's orders that have a paid card payment. */
export async function selectPaidByExternalIds(
  sql: Sql,
  { accountId, environment }: Tenant,
  externalIds: readonly string[],
): Promise<{ externalId: string }[]> {
  const { rows } = await raw<{ externalId: string }>`
    select asked.id as "externalId" from unnest(${externalIds}::text[]) asked (id)
    cross join lateral (
      select from observed
      where account_id = ${accountId} and environment = ${environment} and resource = 'card_payment'
        and status in ('paid', 'refunded') and snapshot ->> 'externalId' = asked.id
      limit 1
    ) paid
  `.execute(sql);
  return rows;
}

/** The row of a resource with the version of the tenant's log, in one statement and so of one moment. */
export async function selectMirroredWithHead(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  id: string,
): Promise<{ head: number; observed: MirroredRow } | null> {
  if (!isStorable(id)) return null;
  const row = await ofTenant(sql, tenant, resource)
    .innerJoin('stream', (join) =>
      join
        .onRef('stream.account_id', '=', 'observed.account_id')
        .onRef('stream.environment', '=', 'observed.environment'),
    )
    .selectAll('observed')
    .select('stream.version as head')
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? { head: row.head, observed: toMirrored(row) } : null;
}

export async function selectReferences(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  references: readonly string[],
): Promise<Reference[]> {
  const known = references.filter(isStorable);
  if (known.length === 0) return [];
  return sql
    .selectFrom('observed_reference')
    .select(['resource', 'reference', 'id'])
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('resource', '=', resource)
    .where('reference', 'in', known)
    .execute();
}

/** A part of the mirrored resources. */
export interface MirrorFilter {
  parent?: string | undefined;
  status?: readonly string[] | undefined;
}

/** A page of the mirror, newest first in the order in which they were first seen; `before` is a place. */
export async function listMirrored(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  {
    before,
    limit,
    offset = 0,
    parent,
    status,
  }: MirrorFilter & { before: number | null; limit: number; offset?: number },
): Promise<{ place: number; observed: MirroredRow }[]> {
  if (hasNothing(parent)) return [];
  const rows = await selectPage<Selectable<Tables['observed']>>(sql, tenant, {
    table: 'observed',
    where: [
      raw<boolean>`resource = ${resource}`,
      ...(parent === undefined ? [] : [raw<boolean>`parent = ${parent}`]),
      ...(before === null ? [] : [raw<boolean>`number < ${before}`]),
    ],
    oneOf: { status },
    order: ['number'],
    limit,
    offset,
  });
  return rows.map((row) => ({ place: row.number, observed: toMirrored(row) }));
}

/** The ones of these ids that were known when the newest known resource had this place. */
export async function selectKnownUpTo(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  { ids, place }: { ids: readonly string[]; place: number },
): Promise<Set<string>> {
  const known = ids.filter(isStorable);
  if (known.length === 0) return new Set();
  const rows = await ofTenant(sql, tenant, resource)
    .select('id')
    .where('id', 'in', known)
    .where('number', '<=', place)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

export async function countMirrored(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  { parent, status }: MirrorFilter,
): Promise<number> {
  if (hasNothing(parent)) return 0;
  return countList(sql, tenant, { list: 'observed', kind: [resource], parent: parent ?? null, status });
}

/** The resources that are not final yet, of these ids or of all. */
export async function selectOpen(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  ids: readonly string[] | 'all',
): Promise<MirroredRow[]> {
  let query = ofTenant(sql, tenant, resource).selectAll('observed').where('final', '=', false);
  if (ids !== 'all') {
    const known = ids.filter(isStorable);
    if (known.length === 0) return [];
    query = query.where('id', 'in', known);
  }
  return (await query.orderBy('number', 'desc').limit(1_000).execute()).map(toMirrored);
}

/** The requests in doubt that may have made a resource, newest first. */
export async function selectInDoubt(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
): Promise<MirroredRow[]> {
  const rows = await ofTenant(sql, tenant, resource)
    .selectAll('observed')
    .where('final', '=', false)
    .where(raw<string>`snapshot->>'inDoubt'`, '=', 'true')
    .orderBy('number', 'desc')
    .limit(1_000)
    .execute();
  return rows.map(toMirrored);
}

/** The resources first seen after a place whose whole input is known to be this. */
export async function selectMadeOf(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  { inputHash, behind }: { inputHash: string; behind: number },
): Promise<{ place: number; observed: MirroredRow }[]> {
  const rows = await ofTenant(sql, tenant, resource)
    .selectAll('observed')
    .where('number', '>', behind)
    .where(raw<string>`snapshot->>'inputHash'`, '=', inputHash)
    .orderBy('number')
    .execute();
  return rows.map((row) => ({ place: row.number, observed: toMirrored(row) }));
}

/**
 * Saves states, the largest cost of a query for resources that nobody has read before. The rows are one parameter,
 * however many they are: the text stays the same and is planned once, and nothing is built row by row.
 */
export async function saveMirrored(
  sql: Sql,
  { accountId, environment }: Tenant,
  records: readonly MirroredRow[],
): Promise<void> {
  await raw`
    /* save_observed */
    insert into observed
      (account_id, environment, resource, id, version, status, final, parent, snapshot, observed_at)
    select ${accountId}::text, ${environment}::text, r.resource, r.id, r.version, r.status, r.final, r.parent, r.snapshot,
      r."observedAt"
    from json_to_recordset(${JSON.stringify(records)}::json) r (
      resource text, id text, version integer, status text, final boolean, parent text, snapshot jsonb,
      "observedAt" timestamptz
    )
    on conflict (account_id, environment, resource, id) do update set
      version = excluded.version,
      status = excluded.status,
      final = excluded.final,
      parent = excluded.parent,
      snapshot = excluded.snapshot,
      observed_at = excluded.observed_at
  `.execute(sql);
}

/** Saves names. A name leads where it led first. */
export async function saveReferences(
  sql: Sql,
  { accountId, environment }: Tenant,
  references: readonly Reference[],
): Promise<void> {
  await raw`
    /* save_references */
    insert into observed_reference (account_id, environment, resource, reference, id)
    select ${accountId}::text, ${environment}::text, r.resource, r.reference, r.id
    from unnest(
      ${references.map(({ resource }) => resource)}::text[],
      ${references.map(({ reference }) => reference)}::text[],
      ${references.map(({ id }) => id)}::text[]
    ) r (resource, reference, id)
    on conflict do nothing
  `.execute(sql);
}

/** Notes that the service has shown the same state again. It changes nothing else, and needs no lock. */
export async function touchMirrored(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  { ids, at }: { ids: readonly string[]; at: Date },
): Promise<void> {
  if (ids.length === 0) return;
  await sql
    .updateTable('observed')
    .set({ observed_at: at })
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('resource', '=', resource)
    .where('id', 'in', [...ids])
    .where('observed_at', '<', at)
    .execute();
}

/** The age at which a poll is forgotten: longer than any pause between two. */
const POLLS_KEPT_MS = 24 * 60 * 60_000;

/**
 * Claims a poll under a name: true where the last one, on any instance, is `intervalMs` ago or longer. A claim counts
 * as a poll, and old polls are forgotten with it.
 */
export async function claimPoll(
  sql: Sql,
  tenant: Tenant,
  { name, now, intervalMs }: { name: string; now: Date; intervalMs: number },
): Promise<boolean> {
  const claimed = await sql
    .insertInto('upstream_poll')
    .values({ account_id: tenant.accountId, environment: tenant.environment, name, polled_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'environment', 'name'])
        .doUpdateSet({ polled_at: now })
        .where('upstream_poll.polled_at', '<=', new Date(now.getTime() - intervalMs)),
    )
    .returning('name')
    .executeTakeFirst();
  if (claimed)
    await sql
      .deleteFrom('upstream_poll')
      .where('account_id', '=', tenant.accountId)
      .where('environment', '=', tenant.environment)
      .where('polled_at', '<', new Date(now.getTime() - POLLS_KEPT_MS))
      .execute();
  return claimed !== undefined;
}

/** Whether no resource can have such a parent. The counts have an empty one for resources without a parent. */
function hasNothing(parent: string | undefined): boolean {
  return parent !== undefined && (parent === '' || !isStorable(parent));
}

/** Whether Postgres can store a text: it refuses U+0000, and no name has one. */
function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}

function ofTenant(sql: Sql, tenant: Tenant, resource: MirroredResource) {
  return sql
    .selectFrom('observed')
    .where('observed.account_id', '=', tenant.accountId)
    .where('observed.environment', '=', tenant.environment)
    .where('observed.resource', '=', resource);
}

type ObservedRow = Omit<Selectable<Tables['observed']>, 'number' | 'account_id' | 'environment'>;

function toMirrored(row: ObservedRow): MirroredRow {
  return {
    resource: row.resource,
    id: row.id,
    version: row.version,
    status: row.status,
    final: row.final,
    parent: row.parent,
    snapshot: row.snapshot,
    observedAt: row.observed_at,
  };
}
