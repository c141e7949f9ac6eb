import { type Nullable, sql as raw } from 'kysely';
import type { Sql } from '../db/database.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { type EventRow, eventFromRow, type NewEvent, type Resource, type StoredEvent } from './event.ts';

/** The events of one resource, or of one kind of resource; without it, every event of the tenant. */
export interface Topic {
  readonly resource: Resource;
  readonly resourceId?: string;
}

/**
 * Takes the tenant's lock, held to the end of the transaction, and tells where its log stands. Null, and no lock, for a
 * tenant that nothing has happened to: `openStream`, and again.
 */
export async function lockStream(sql: Sql, { accountId, environment }: Tenant): Promise<number | null> {
  const { rows } = await raw<{ version: number }>`
    /* lock_stream */
    select version from stream where account_id = ${accountId} and environment = ${environment} for update
  `.execute(sql);
  return rows[0]?.version ?? null;
}

/** Gives a tenant its log; another instance may just have done so. */
export async function openStream(sql: Sql, tenant: Tenant): Promise<void> {
  await sql
    .insertInto('stream')
    .values({ account_id: tenant.accountId, environment: tenant.environment })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Each in its place right behind `head`. */
export function numbered(
  events: readonly NewEvent[],
  { head, occurredAt }: { head: number; occurredAt: Date },
): StoredEvent[] {
  return events.map((event, index) => ({ version: head + 1 + index, occurredAt, ...event }));
}

/** Appends what `numbered` has given its place, under the lock of `lockStream`. */
export async function append(
  sql: Sql,
  { accountId, environment }: Tenant,
  events: readonly StoredEvent[],
): Promise<void> {
  const last = events.at(-1);
  if (!last) return;
  await raw`
    /* append_events */
    with appended as (
      insert into event
        (account_id, environment, version, kind, resource, resource_id, previous_status, occurred_at, snapshot)
      select ${accountId}::text, ${environment}::text, e.version, e.kind, e.resource, e.resource_id,
        e.previous_status, ${last.occurredAt}::timestamptz, e.snapshot::jsonb
      from unnest(
        ${events.map(({ version }) => version)}::bigint[],
        ${events.map(({ kind }) => kind)}::text[],
        ${events.map(({ resource }) => resource)}::text[],
        ${events.map(({ resourceId }) => resourceId)}::text[],
        ${events.map(({ previousStatus }) => previousStatus)}::text[],
        ${events.map(({ snapshot }) => JSON.stringify(snapshot))}::text[]
      ) e (version, kind, resource, resource_id, previous_status, snapshot)
    )
    update stream set version = ${last.version}::bigint
    where account_id = ${accountId}::text and environment = ${environment}::text
  `.execute(sql);
}

/** The version of the newest event, 0 where nothing has happened. */
export async function readHead(sql: Sql, tenant: Tenant): Promise<number> {
  return (await selectStream(sql, tenant).executeTakeFirst())?.version ?? 0;
}

/**
 * The newest event of the topic after a version and not after another, and the version up to which there is no newer
 * one. Null where there is none.
 */
export async function readNewest(
  sql: Sql,
  tenant: Tenant,
  { after, upTo, topic }: { after: number; upTo?: number; topic: Topic },
): Promise<{ event: StoredEvent | null; through: number }> {
  const through = upTo ?? (await readHead(sql, tenant));
  if (through <= after) return { event: null, through: after };
  const row = await ofTopic(sql, tenant, topic)
    .where('version', '>', after)
    .where('version', '<=', through)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst();
  return { event: row ? eventFromRow(row) : null, through };
}

/**
 * Up to `limit` events of the topic after a version, oldest first, and the version up to which that is all of
 * them. The head and the events are what one statement sees, so none below the head is still to come.
 */
export async function readAfter(
  sql: Sql,
  tenant: Tenant,
  { after, topic, limit }: { after: number; topic?: Topic | undefined; limit: number },
): Promise<{ events: StoredEvent[]; through: number }> {
  const { accountId, environment } = tenant;
  // What every live end reads, always by the same text, is planned once; a topic has an index of its own.
  const name = topic ? raw`` : raw`/* read_after */`;
  const ofResource = topic ? raw`and resource = ${topic.resource}` : raw``;
  const ofOne = topic?.resourceId === undefined ? raw`` : raw`and resource_id = ${topic.resourceId}`;
  const { rows } = await raw<{ head: number } & Nullable<EventRow>>`${name}
    select
      stream.version as head, e.version, e.kind, e.resource, e.resource_id, e.previous_status, e.occurred_at, e.snapshot
    from stream left join lateral (
      select * from event
      where account_id = ${accountId}::text and environment = ${environment}::text and version > ${after}::bigint
        ${ofResource} ${ofOne}
      order by version limit ${limit}::bigint
    ) e on true
    where stream.account_id = ${accountId}::text and stream.environment = ${environment}::text
    order by e.version
  `.execute(sql);
  const head = Math.max(rows[0]?.head ?? 0, after);
  const events = rows.flatMap((row) => (row.version === null ? [] : [eventFromRow(row as EventRow)]));
  const last = events.at(-1);
  return { events, through: events.length === limit && last ? last.version : head };
}

/** Whether everything after `version` is still there (versions have no gaps), and `version` was ever reached. */
export async function isKept(sql: Sql, tenant: Tenant, version: number): Promise<boolean> {
  const head = await readHead(sql, tenant);
  if (version >= head) return version === head;
  const next = await sql
    .selectFrom('event')
    .select('version')
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .where('version', '=', version + 1)
    .executeTakeFirst();
  return next !== undefined;
}

function ofTopic(sql: Sql, tenant: Tenant, topic: Topic | undefined) {
  let query = sql
    .selectFrom('event')
    .selectAll()
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment);
  if (topic) query = query.where('resource', '=', topic.resource);
  if (topic?.resourceId !== undefined) query = query.where('resource_id', '=', topic.resourceId);
  return query;
}

function selectStream(sql: Sql, tenant: Tenant) {
  return sql
    .selectFrom('stream')
    .select('version')
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment);
}
