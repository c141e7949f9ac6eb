import type { Sql } from '../db/database.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { type EventRow, eventFromRow, type NewEvent, type Resource, type StoredEvent } from './event.ts';

/** The events of one resource, or of one kind of resource; without it, every event of the tenant. */
export interface Topic {
  readonly resource: Resource;
  readonly resourceId?: string;
}

/** Takes the tenant's lock, held to the end of the transaction, and tells where its log stands. */
export async function lockStream(sql: Sql, tenant: Tenant): Promise<number> {
  const locked = await selectStream(sql, tenant).forUpdate().executeTakeFirst();
  if (locked) return locked.version;
  await sql
    .insertInto('stream')
    .values({ account_id: tenant.accountId, environment: tenant.environment })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await selectStream(sql, tenant).forUpdate().executeTakeFirstOrThrow()).version;
}

/** Appends right behind `head`, under the lock of `lockStream`; gives each its place. */
export async function append(
  sql: Sql,
  tenant: Tenant,
  { head, events, occurredAt }: { head: number; events: readonly NewEvent[]; occurredAt: Date },
): Promise<StoredEvent[]> {
  if (events.length === 0) return [];
  const stored = events.map((event, index) => ({ ...event, version: head + 1 + index, occurredAt }));
  const rows = stored.map((event) => ({
    account_id: tenant.accountId,
    environment: tenant.environment,
    version: event.version,
    kind: event.kind,
    resource: event.resource,
    resource_id: event.resourceId,
    previous_status: event.previousStatus,
    occurred_at: occurredAt,
    snapshot: JSON.stringify(event.snapshot),
  }));
  await sql
    .with('appended', (query) => query.insertInto('event').values(rows))
    .updateTable('stream')
    .set({ version: head + events.length })
    .where('account_id', '=', tenant.accountId)
    .where('environment', '=', tenant.environment)
    .execute();
  return stored;
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
  const rows = await sql
    .selectFrom('stream')
    .leftJoinLateral(
      ofTopic(sql, tenant, topic).where('version', '>', after).orderBy('version').limit(limit).as('event'),
      (join) => join.onTrue(),
    )
    .select(['stream.version as head', 'event.version', 'event.kind', 'event.resource', 'event.resource_id'])
    .select(['event.previous_status', 'event.occurred_at', 'event.snapshot'])
    .where('stream.account_id', '=', tenant.accountId)
    .where('stream.environment', '=', tenant.environment)
    .orderBy('event.version')
    .execute();
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
