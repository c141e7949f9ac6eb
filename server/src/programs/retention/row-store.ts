import { sql as raw } from 'kysely';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Sql } from '../../state/db/database.ts';
import { waitForStream } from '../../state/events/log.ts';
import type { WebhookDeliveryStatus } from '../../webhooks/model.ts';

// Each statement removes a few rows, so that nobody waits long for it, and can be repeated after a crash.

/** The rows that are older than `before`, up to `limit`. */
interface Old {
  before: Date;
  limit: number;
}

// ── Events ──────────────────────────────────────────────────────────────────────────────────────

/** The version from which a tenant's log is whole, and the one up to which its events have been removed. */
export interface Places {
  keptFrom: number;
  removedTo: number;
}

export async function selectPlaces(sql: Sql, { accountId, environment }: Tenant): Promise<Places> {
  const row = await sql
    .selectFrom('stream')
    .select(['kept_from', 'removed_to'])
    .where('account_id', '=', accountId)
    .where('environment', '=', environment)
    .executeTakeFirst();
  return { keptFrom: row?.kept_from ?? 0, removedTo: row?.removed_to ?? 0 };
}

/**
 * Moves the beginning of a tenant's log over its next old events, up to the first younger one, to the last of them. Cursors before
 * that event are expired from the commit on. Returns the version of that event; null if the next event is younger.
 */
export async function moveBeginning(
  sql: Sql,
  { accountId, environment }: Tenant,
  { before, limit }: Old,
): Promise<number | null> {
  const { rows } = await raw<{ kept_from: number }>`
    update stream set kept_from = aged.version
    from (
      with page as materialized (
        select event.version, event.occurred_at from stream begun join event using (account_id, environment)
        where begun.account_id = ${accountId} and begun.environment = ${environment} and event.version > begun.kept_from
        order by event.version limit ${limit}
      )
      select max(version) as version from page
      where version < coalesce(
        (select min(version) from page where occurred_at >= ${before}), (select max(version) + 1 from page)
      )
    ) aged
    where stream.account_id = ${accountId} and stream.environment = ${environment} and stream.kept_from < aged.version
    returning stream.kept_from`.execute(sql);
  return rows[0]?.kept_from ?? null;
}

/**
 * Removes the events of a tenant from a version up to another. The tenant's lock keeps an erasure from changing them in another
 * order.
 */
export async function removeEvents(
  sql: Sql,
  tenant: Tenant,
  { from, upTo }: { from: number; upTo: number },
): Promise<number> {
  const { accountId, environment } = tenant;
  await waitForStream(sql, tenant);
  const { numAffectedRows } = await raw`
    delete from event
    where account_id = ${accountId} and environment = ${environment} and version >= ${from} and version < ${upTo}`.execute(
    sql,
  );
  return Number(numAffectedRows ?? 0);
}

export async function setRemovedTo(
  sql: Sql,
  { accountId, environment }: Tenant,
  version: number,
): Promise<void> {
  await sql
    .updateTable('stream')
    .set({ removed_to: version })
    .where('account_id', '=', accountId)
    .where('environment', '=', environment)
    .execute();
}

/** The instant of the event at which a tenant's log begins; null if nothing has gone. */
export async function selectBeginning(sql: Sql, { accountId, environment }: Tenant): Promise<Date | null> {
  const row = await sql
    .selectFrom('stream')
    .innerJoin('event', (join) =>
      join
        .onRef('event.account_id', '=', 'stream.account_id')
        .onRef('event.environment', '=', 'stream.environment')
        .onRef('event.version', '=', 'stream.kept_from'),
    )
    .select('event.occurred_at')
    .where('stream.account_id', '=', accountId)
    .where('stream.environment', '=', environment)
    .executeTakeFirst();
  return row?.occurred_at ?? null;
}

// ── Webhooks ────────────────────────────────────────────────────────────────────────────────────

/** The statuses of deliveries that have ended. A held one has not: it is sent once its endpoint works again. */
const FINAL = ['delivered', 'exhausted', 'canceled'] as const satisfies WebhookDeliveryStatus[];

/**
 * Removes the oldest deliveries of a tenant that have ended, with their attempts. The tenant's lock keeps their totals from
 * changing in two transactions in different orders.
 */
export async function removeDeliveries(sql: Sql, tenant: Tenant, { before, limit }: Old): Promise<number> {
  const { accountId, environment } = tenant;
  await waitForStream(sql, tenant);
  const oldest = FINAL.map(
    (status) => raw`(
      select webhook_id, created_at from webhook_delivery
      where account_id = ${accountId} and environment = ${environment} and status = ${raw.lit(status)}
      order by number limit ${limit}
    )`,
  );
  const { numAffectedRows } = await raw`
    with aged as materialized (
      select webhook_id from (${raw.join(oldest, raw` union all `)}) oldest where created_at < ${before} limit ${limit}
    ),
    attempts as (delete from webhook_attempt a using aged where a.webhook_id = aged.webhook_id)
    delete from webhook_delivery d using aged where d.webhook_id = aged.webhook_id`.execute(sql);
  return Number(numAffectedRows ?? 0);
}

/** Removes what old attempts have sent and got back, of all tenants: an attempt has no tenant of its own. */
export async function removeBodies(sql: Sql, { before, limit }: Old): Promise<number> {
  const { numAffectedRows } = await raw`
    update webhook_attempt a set exchange = null
    from (
      select webhook_id, number from webhook_attempt where exchange is not null and at < ${before}
      order by at limit ${limit} for update skip locked
    ) aged
    where a.webhook_id = aged.webhook_id and a.number = aged.number`.execute(sql);
  return Number(numAffectedRows ?? 0);
}

// ── Tokens ──────────────────────────────────────────────────────────────────────────────────────

/**
 * Removes tokens of a tenant that have ended, under its lock as events. The first token of an order stays, with which later ones
 * are compared.
 */
export async function removeTokens(sql: Sql, tenant: Tenant, { before, limit }: Old): Promise<number> {
  const { accountId, environment } = tenant;
  await waitForStream(sql, tenant);
  // The text of the conditions is that of the index.
  const { numAffectedRows } = await raw`
    with ended as materialized (
      select id from token
      where account_id = ${accountId} and environment = ${environment} and least(expires_at, revoked_at) < ${before}
        and (expires_at is not null or revoked_at is not null)
        and (kind <> 'checkout' or "grant" ->> 'externalId' is null or "grant" ->> 'orderTokenId' is not null)
      order by least(expires_at, revoked_at) limit ${limit}
    ),
    by_card as (delete from checkout_use u using ended where u.token_id = ended.id),
    by_pix as (delete from pix_checkout_use u using ended where u.token_id = ended.id)
    delete from token using ended where token.id = ended.id`.execute(sql);
  return Number(numAffectedRows ?? 0);
}

/** Removes sessions of the console of a tenant that have ended. */
export async function removeSessions(sql: Sql, tenant: Tenant, { before, limit }: Old): Promise<number> {
  const { accountId, environment } = tenant;
  const { numAffectedRows } = await raw`
    delete from console_session s
    using (
      select session_id from console_session
      where account_id = ${accountId} and environment = ${environment} and least(expires_at, ended_at) < ${before}
      order by least(expires_at, ended_at) limit ${limit}
    ) aged
    where s.session_id = aged.session_id`.execute(sql);
  return Number(numAffectedRows ?? 0);
}

// ── Tasks ───────────────────────────────────────────────────────────────────────────────────────

/** Gives each tenant the task that removes what is old, if it has none, at instants within the hour from `at`. */
export async function scheduleForAll(sql: Sql, { kind, at }: { kind: string; at: Date }): Promise<void> {
  await raw`
    insert into task (kind, account_id, environment, key, due_at)
    select ${kind}, account_id, environment, '',
      ${at}::timestamptz + make_interval(secs => abs(hashtext(account_id || environment) % 3600))
    from stream
    on conflict do nothing`.execute(sql);
}

/** Whether a database had events before anything could go, and keeps all until an operator says otherwise. */
export async function keepsAll(sql: Sql): Promise<boolean> {
  const row = await sql.selectFrom('database_mode').select('keeps_all').executeTakeFirst();
  return row?.keeps_all ?? false;
}
