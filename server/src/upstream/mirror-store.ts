import { sql as raw, type Selectable } from 'kysely';
import { AHEAD_MS, isAhead, plusMs } from '../kernel/clock.ts';
import type { Behind } from '../kernel/records.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { isStorable } from '../kernel/text.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import type { Sql } from '../state/db/database.ts';
import { headOf } from '../state/db/head.ts';
import { ofTenant } from '../state/db/of-tenant.ts';
import type { Tables } from '../state/db/tables.ts';

/** The newest state of a resource, as far as the service has shown it. */
export interface MirroredRow {
  resource: MirroredResource;
  /** The program's own id, which does not depend on the service's name. */
  id: string;
  /** A version that grows by one with each change. */
  version: number;
  status: string;
  /** Whether the status is final. */
  final: boolean;
  /**
   * The id of the parent resource, or the method of a payment, by which lists are filtered; null if there is
   * none.
   */
  parent: string | null;
  /** The instant by which a list is filtered; omitted if no list has such a filter. */
  createdAt?: Date | null;
  /** The state as JSON, which the slice's own reader parses. */
  snapshot: unknown;
  /** The time at which the service last showed this state. */
  observedAt: Date;
}

/** A name of a resource; a resource has several. */
export interface Reference {
  resource: MirroredResource;
  reference: string;
  id: string;
  /** The resource that may have the name already: then the name moves from it to `id`. */
  formerId?: string | undefined;
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

/** The mirrored payments of a merchant's order: those that were paid, and the newest of each method. */
export interface MirroredOrder {
  externalId: string;
  payments: readonly { resource: 'card_payment' | 'payment'; id: string }[];
}

/** The most payments of an order that are read, for the paid ones and for each method. */
const MAX_OF_ORDER = 20;

/** Selects the payments of a merchant's orders, which may have none. */
export async function selectPaymentsOfOrders(
  sql: Sql,
  { accountId, environment }: Tenant,
  externalIds: readonly string[],
): Promise<MirroredOrder[]> {
  const ofOrder = raw`select resource, id from observed
    where account_id = ${accountId} and environment = ${environment} and snapshot ->> 'externalId' = asked.id`;
  const newest = (resource: string) =>
    raw`(${ofOrder} and resource = ${raw.lit(resource)} order by number desc limit ${raw.lit(MAX_OF_ORDER)})`;
  const { rows } = await raw<{ externalId: string } & MirroredOrder['payments'][number]>`
    select asked.id as "externalId", found.resource, found.id from unnest(${externalIds}::text[]) asked (id)
    cross join lateral (
      (${ofOrder} and resource in ('card_payment', 'payment')
        and (status in ('paid', 'refunded') or status = 'unknown' and snapshot ->> 'lastStatus' in ('paid', 'refunded'))
        limit ${raw.lit(MAX_OF_ORDER)})
      union ${newest('card_payment')} union ${newest('payment')}
    ) found
  `.execute(sql);
  return externalIds.map((externalId) => ({
    externalId,
    payments: rows.flatMap(({ externalId: of, resource, id }) =>
      of === externalId ? [{ resource, id }] : [],
    ),
  }));
}

/** Selects a resource with the version of the tenant's log: one statement, so both are of one snapshot. */
export async function selectMirroredWithHead(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  id: string,
): Promise<{ head: number; observed: MirroredRow } | null> {
  if (!isStorable(id)) return null;
  const row = await observedOf(sql, tenant, resource)
    .selectAll('observed')
    .select(headOf(tenant).as('head'))
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
  return ofTenant(sql, 'observed_reference', tenant)
    .select(['resource', 'reference', 'id'])
    .where('resource', '=', resource)
    .where('reference', 'in', known)
    .execute();
}

/** Selects the ids that were mirrored when `position` was the newest position. */
export async function selectKnownUpTo(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  { ids, position }: { ids: readonly string[]; position: number },
): Promise<Set<string>> {
  const known = ids.filter(isStorable);
  if (known.length === 0) return new Set();
  const rows = await observedOf(sql, tenant, resource)
    .select('id')
    .where('id', 'in', known)
    .where('number', '<=', position)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/**
 * Selects the open resources, of these ids or of all, and of these statuses if any are given; the newest
 * 1,000 at most.
 */
export async function selectOpen(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  ids: readonly string[] | 'all',
  statuses?: readonly string[],
): Promise<MirroredRow[]> {
  let query = observedOf(sql, tenant, resource).selectAll('observed').where('final', '=', false);
  if (statuses) query = query.where('status', 'in', statuses);
  if (ids !== 'all') {
    const known = ids.filter(isStorable);
    if (known.length === 0) return [];
    query = query.where('id', 'in', known);
  }
  return (await query.orderBy('number', 'desc').limit(1_000).execute()).map(toMirrored);
}

/** Selects the resources in doubt, which the service may not have made, newest first; 1,000 at most. */
export async function selectInDoubt(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
): Promise<{ position: number; observed: MirroredRow }[]> {
  const rows = await observedOf(sql, tenant, resource)
    .selectAll('observed')
    .where('final', '=', false)
    .where(raw<string>`snapshot->>'inDoubt'`, '=', 'true')
    .orderBy('number', 'desc')
    .limit(1_000)
    .execute();
  return rows.map((row) => ({ position: row.number, observed: toMirrored(row) }));
}

/**
 * Selects the resources whose whole input has this hash and that were first seen after a position, oldest first.
 */
export async function selectMadeOf(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  { inputHash, after }: { inputHash: string; after: number },
): Promise<{ position: number; observed: MirroredRow }[]> {
  const rows = await observedOf(sql, tenant, resource)
    .selectAll('observed')
    .where('number', '>', after)
    .where(raw<string>`snapshot->>'inputHash'`, '=', inputHash)
    .orderBy('number')
    .execute();
  return rows.map((row) => ({ position: row.number, observed: toMirrored(row) }));
}

/**
 * Selects the payouts of any of these amounts that were requested at `since` or later, those that were seen last first. A service may
 * date only the end of one, or nothing: then that instant counts, or the one at which it was shown last.
 */
export async function selectPayoutsOfAmounts(
  sql: Sql,
  tenant: Tenant,
  { amounts, since, limit }: { amounts: readonly number[]; since: Date; limit: number },
): Promise<MirroredRow[]> {
  const rows = await observedOf(sql, tenant, 'payout')
    .selectAll('observed')
    .where(raw<string>`snapshot ->> 'amountCents'`, 'is not', null)
    .where(raw<boolean>`(snapshot ->> 'amountCents')::bigint = any(${[...new Set(amounts)]}::bigint[])`)
    .where(
      raw<boolean>`coalesce(
        snapshot ->> 'requestedAt' >= ${since.toISOString()}, snapshot ->> 'processedAt' >= ${since.toISOString()}, observed_at >= ${since}
      )`,
    )
    .orderBy('number', 'desc')
    .limit(limit)
    .execute();
  return rows.map(toMirrored);
}

/**
 * Saves states, which costs the most in a query for resources that nobody has read before. The rows are one
 * parameter: the statement has one text for any number of them, and is planned once.
 */
export async function saveMirrored(
  sql: Sql,
  { accountId, environment }: Tenant,
  records: readonly MirroredRow[],
): Promise<void> {
  await raw`
    /* save_observed */
    insert into observed
      (account_id, environment, resource, id, version, status, final, parent, created_at, snapshot, observed_at)
    select ${accountId}::text, ${environment}::text, r.resource, r.id, r.version, r.status, r.final, r.parent,
      r."createdAt", r.snapshot, r."observedAt"
    from json_to_recordset(${JSON.stringify(records)}::json) r (
      resource text, id text, version integer, status text, final boolean, parent text,
      "createdAt" timestamptz, snapshot jsonb, "observedAt" timestamptz
    )
    on conflict (account_id, environment, resource, id) do update set
      version = excluded.version,
      status = excluded.status,
      final = excluded.final,
      parent = excluded.parent,
      created_at = excluded.created_at,
      snapshot = excluded.snapshot,
      observed_at = excluded.observed_at
  `.execute(sql);
}

/** Saves names. A known name stays with its resource, unless `formerId` is that resource: then it moves. */
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
  const taken = references.filter(({ formerId }) => formerId !== undefined);
  if (taken.length === 0) return;
  await raw`
    update observed_reference o set id = r.id
    from unnest(
      ${taken.map(({ resource }) => resource)}::text[],
      ${taken.map(({ reference }) => reference)}::text[],
      ${taken.map(({ formerId }) => formerId)}::text[],
      ${taken.map(({ id }) => id)}::text[]
    ) r (resource, reference, former_id, id)
    where o.account_id = ${accountId} and o.environment = ${environment}
      and o.resource = r.resource and o.reference = r.reference and o.id = r.former_id
  `.execute(sql);
}

/**
 * Updates the time at which the service last showed these unchanged resources, of any tenants, if it is
 * later, or if the known time dates from before the clock was set back. It waits for no row: two updates of
 * the same rows would wait for each other.
 */
export async function touchMirrored(
  sql: Sql,
  touched: readonly (Pick<MirroredRow, 'resource' | 'id' | 'observedAt'> & { tenant: Tenant })[],
  now: Date,
): Promise<void> {
  if (touched.length === 0) return;
  await raw`
    /* touch_observed */
    with older as (
      select account_id, environment, resource, id, shown.at from observed
      join (
        select account_id, environment, resource, id, max(at) as at from unnest(
          ${touched.map(({ tenant }) => tenant.accountId)}::text[],
          ${touched.map(({ tenant }) => tenant.environment)}::text[],
          ${touched.map(({ resource }) => resource)}::text[],
          ${touched.map(({ id }) => id)}::text[],
          ${touched.map(({ observedAt }) => observedAt)}::timestamptz[]
        ) each (account_id, environment, resource, id, at)
        group by account_id, environment, resource, id
      ) shown using (account_id, environment, resource, id)
      where observed_at < shown.at or observed_at > ${plusMs(now, AHEAD_MS)}
      for no key update of observed skip locked
    )
    update observed set observed_at = older.at from older
    where observed.account_id = older.account_id and observed.environment = older.environment
      and observed.resource = older.resource and observed.id = older.id
  `.execute(sql);
}

/**
 * Whether a state was last shown before the records were set back: it may lack later statements of the
 * service, and an end that a webhook has corrected would look final.
 */
export function isFromBefore(
  { observedAt }: Pick<MirroredRow, 'observedAt'>,
  behind: Behind | null,
): boolean {
  return behind !== null && observedAt < behind.until;
}

/**
 * Whether a request began before the records were set back: a resource that seems to be its own may be that
 * of a request which they lack.
 */
export function isRequestOfBefore({ createdAt }: { createdAt: Date }, behind: Behind | null): boolean {
  return behind !== null && createdAt < behind.until;
}

/** The most resources from before a restore that one poll considers. */
const MAX_OF_BEFORE = 100;

/**
 * Selects the followed resources that were last shown before the records were set back, of these ids or the
 * newest 100: an end among them may have been corrected since.
 */
export async function selectOfBefore(
  sql: Sql,
  tenant: Tenant,
  resource: MirroredResource,
  ids: readonly string[] | 'all',
  behind: Behind | null,
): Promise<MirroredRow[]> {
  if (!behind) return [];
  const newest = () => observedOf(sql, tenant, resource).selectAll('observed').orderBy('number', 'desc');
  const rows =
    ids === 'all'
      ? (await newest().limit(MAX_OF_BEFORE).execute()).map(toMirrored)
      : await selectMirrored(sql, tenant, resource, ids);
  return rows.filter((row) => isFromBefore(row, behind)).slice(0, MAX_OF_BEFORE);
}

/** Whether a state is newer than the answer to a request that began at `at`. */
export function isNewer({ observedAt }: Pick<MirroredRow, 'observedAt'>, at: Date, now: Date): boolean {
  return observedAt > at && !isAhead(observedAt, now);
}

/** The time at which the service last showed a state; null for a time from before the clock was set back. */
export function knownSince(known: Pick<MirroredRow, 'observedAt'> | null, now: Date): Date | null {
  return known && !isAhead(known.observedAt, now) ? known.observedAt : null;
}

function observedOf(sql: Sql, tenant: Tenant, resource: MirroredResource) {
  return ofTenant(sql, 'observed', tenant).where('observed.resource', '=', resource);
}

type ObservedRow = Omit<
  Selectable<Tables['observed']>,
  'number' | 'account_id' | 'environment' | 'created_at'
>;

export function toMirrored(row: ObservedRow): MirroredRow {
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
