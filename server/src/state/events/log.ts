import { randomInt } from 'node:crypto';
import { type Nullable, sql as raw } from 'kysely';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import { isOfWanted, tenantArrays, tenantOf } from '../db/each-tenant.ts';
import type { TenantTable } from '../db/tenant-table.ts';
import {
  type EventRow,
  eventFromRow,
  type NewEvent,
  type Resource,
  type Snapshots,
  type StoredEvent,
} from './event.ts';

/** Selects the events of one resource, or of one kind of resource; without `resource` every event of the tenant. */
export interface Topic {
  readonly resource?: Resource;
  readonly resourceId?: string;
  /** The kinds of resources that matter, if every event is selected. */
  readonly resources?: readonly Resource[];
}

/**
 * Takes the locks of tenants, which are held to the end of the transaction, and returns the version of the newest event of
 * each, by its key: null for a tenant that another transaction has locked, which is not waited for. A tenant without a log
 * is missing: the caller then calls `openStreams` and retries.
 */
export async function lockStreams(
  sql: Sql,
  tenants: readonly Tenant[],
): Promise<ReadonlyMap<string, number | null>> {
  const { rows } = await raw<TenantTable & { version: number | null }>`
    /* lock_streams */
    select known.account_id, known.environment, locked.version
    from unnest(${tenantArrays(tenants.map((tenant) => ({ tenant })))}) wanted (account_id, environment)
    cross join lateral (
      select account_id, environment from stream where ${isOfWanted('stream')} limit 1
    ) known
    left join lateral (
      select version from stream where ${isOfWanted('stream')} for update skip locked
    ) locked on true
  `.execute(sql);
  return new Map(rows.map((row) => [tenantKey(tenantOf(row)), row.version]));
}

/** Waits for the lock of one tenant. The result is that of `lockStreams`. */
export async function waitForStream(sql: Sql, tenant: Tenant): Promise<ReadonlyMap<string, number | null>> {
  const { accountId, environment } = tenant;
  const { rows } = await raw<{ version: number }>`
    /* lock_stream */
    select version from stream where account_id = ${accountId} and environment = ${environment} for update
  `.execute(sql);
  return new Map(rows.map(({ version }) => [tenantKey(tenant), version]));
}

/**
 * Creates the logs of tenants, unless another instance has just created them. Transactions that create several do so in the
 * order of this list.
 */
export async function openStreams(sql: Sql, tenants: readonly Tenant[]): Promise<void> {
  await sql
    .insertInto('stream')
    .values(tenants.map(({ accountId, environment }) => ({ account_id: accountId, environment })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * A position in a tenant's log: a version, and the mark of its event, which identifies the log. Both are 0
 * before the first event. The log is whole from its `kept_from`, whose event stays for its mark.
 */
export interface Position {
  readonly version: number;
  readonly mark: number;
}

/**
 * Assigns the versions right after `head` to events, and one new mark to all of them: a transaction appends
 * all or none.
 */
export function assignVersions(
  events: readonly NewEvent[],
  { head, occurredAt }: { head: number; occurredAt: Date },
): StoredEvent[] {
  return numbered(events, { version: head, mark: randomInt(1, MARKS), occurredAt });
}

/** Assigns the versions right after an event of the same transaction, with the mark of that event. */
export function continueVersions(events: readonly NewEvent[], last: StoredEvent): StoredEvent[] {
  return numbered(events, last);
}

function numbered(
  events: readonly NewEvent[],
  { version, mark, occurredAt }: Pick<StoredEvent, 'version' | 'mark' | 'occurredAt'>,
): StoredEvent[] {
  return events.map((event, index) => ({ version: version + 1 + index, mark, occurredAt, ...event }));
}

const MARKS = 2 ** 24;

/** Events that were appended, and the mark of the event before them. */
export interface Appended {
  readonly events: readonly StoredEvent[];
  readonly previousMark: number;
}

/**
 * Appends the events of tenants from `assignVersions`, under the locks of `lockStreams`. Returns the mark of the event
 * before those of each tenant, by its key.
 */
export async function append(
  sql: Sql,
  appended: readonly { readonly tenant: Tenant; readonly events: readonly StoredEvent[] }[],
): Promise<ReadonlyMap<string, number>> {
  const rows = appended.flatMap(({ tenant, events }) =>
    events.map((event) => ({
      accountId: tenant.accountId,
      environment: tenant.environment,
      version: event.version,
      mark: event.mark,
      kind: event.kind,
      resource: event.resource,
      resourceId: event.resourceId,
      previousStatus: event.previousStatus,
      occurredAt: event.occurredAt,
      snapshot: event.snapshot,
    })),
  );
  if (rows.length === 0) return new Map();
  const logs = appended.filter(({ events }) => events.length > 0);
  // One parameter of JSON: in an array of texts each snapshot would be escaped once more.
  const { rows: marks } = await raw<TenantTable & { mark: number | null }>`
    /* append_events */
    with appended as (
      insert into event
        (account_id, environment, version, mark, kind, resource, resource_id, previous_status, occurred_at, snapshot)
      select e."accountId", e.environment, e.version, e.mark, e.kind, e.resource, e."resourceId", e."previousStatus",
        e."occurredAt", e.snapshot
      from json_to_recordset(${JSON.stringify(rows)}::json) e (
        "accountId" text, environment text, version bigint, mark integer, kind text, resource text, "resourceId" text,
        "previousStatus" text, "occurredAt" timestamptz, snapshot jsonb
      )
    )
    update stream set version = log.last
    from unnest(
      ${tenantArrays(logs)},
      ${logs.map(({ events }) => events[0]!.version)}::bigint[],
      ${logs.map(({ events }) => events.at(-1)!.version)}::bigint[]
    ) log (account_id, environment, first, last)
    where stream.account_id = log.account_id and stream.environment = log.environment
    returning stream.account_id, stream.environment, (
      select mark from event
      where account_id = log.account_id and environment = log.environment and version = log.first - 1
    ) as mark
  `.execute(sql);
  return new Map(marks.map((row) => [tenantKey(tenantOf(row)), row.mark ?? 0]));
}

/** The version of the newest event; 0 before the first one. */
export async function readHead(sql: Sql, tenant: Tenant): Promise<number> {
  return (await readPosition(sql, tenant)).version;
}

/** The position of the newest event. */
export async function readPosition(sql: Sql, { accountId, environment }: Tenant): Promise<Position> {
  const { rows } = await raw<{ version: number; mark: number | null }>`
    select stream.version, event.mark from stream left join event using (account_id, environment, version)
    where stream.account_id = ${accountId}::text and stream.environment = ${environment}::text
  `.execute(sql);
  const { version, mark } = rows[0] ?? EMPTY_LOG;
  return { version, mark: mark ?? 0 };
}

const EMPTY_LOG: Position = { version: 0, mark: 0 };

/** The mark of the event with this version; 0 if there is no such event. */
export async function readMark(sql: Sql, tenant: Tenant, version: number): Promise<number> {
  const row = await eventsOf(sql, tenant).select('mark').where('version', '=', version).executeTakeFirst();
  return row?.mark ?? 0;
}

/** The newest event of the topic up to a version; null if there is none. */
export async function readNewest(
  sql: Sql,
  tenant: Tenant,
  { snapshots, upTo, topic }: { snapshots: Snapshots; upTo: number; topic: Topic },
): Promise<StoredEvent | null> {
  let query = eventsOf(sql, tenant).selectAll().where('version', '<=', upTo);
  if (topic.resource !== undefined) query = query.where('resource', '=', topic.resource);
  if (topic.resourceId !== undefined) query = query.where('resource_id', '=', topic.resourceId);
  const row = await query.orderBy('version', 'desc').limit(1).executeTakeFirst();
  return row ? eventFromRow(row, snapshots) : null;
}

/** A page of the log after a version. */
export interface LogRead {
  readonly events: StoredEvent[];
  /** The version up to which the page is complete, and the mark of its event. */
  readonly through: number;
  readonly mark: number;
  /**
   * Whether the events after the version do not continue those that were read before: some of them have gone by
   * their age, or the log was set back, so that it has not reached the version, or holds an event with another
   * mark there.
   */
  readonly isInterrupted: boolean;
}

interface LogReadOptions {
  snapshots: Snapshots;
  after: number;
  /** The mark of the event at `after`; left out if nothing was read before. */
  mark?: number;
  topic?: Topic | undefined;
}

/** Up to `limit` events of the topic after a version, oldest first. */
export function readAfter(
  sql: Sql,
  tenant: Tenant,
  { limit, ...options }: LogReadOptions & { limit: number },
): Promise<LogRead> {
  return readLog(sql, tenant, { ...options, limit, isNewestFirst: false });
}

/** The newest event of the topic after a version, if there is one. */
export function readNewestAfter(sql: Sql, tenant: Tenant, options: LogReadOptions): Promise<LogRead> {
  return readLog(sql, tenant, { ...options, limit: 1, isNewestFirst: true });
}

/**
 * Reads the head, the beginning and the events in one statement: no event up to that head is missing, and none has gone
 * after that beginning.
 */
async function readLog(
  sql: Sql,
  tenant: Tenant,
  {
    snapshots,
    after,
    mark,
    topic,
    limit,
    isNewestFirst,
  }: LogReadOptions & { limit: number; isNewestFirst: boolean },
): Promise<LogRead> {
  const { accountId, environment } = tenant;
  // The query of the live ends always has the same text, so it is planned once. A topic has its own index.
  const isOfAll = topic?.resource === undefined;
  const name = isOfAll ? raw`/* read_after */` : raw``;
  const whereResource = isOfAll ? raw`` : raw`and resource = ${topic.resource}`;
  const whereId = topic?.resourceId === undefined ? raw`` : raw`and resource_id = ${topic.resourceId}`;
  const order = isNewestFirst ? raw`desc` : raw``;
  // Without a topic the last event is the head. With one the head is joined: a subquery would run for each
  // row.
  const headMark = isOfAll ? raw`null::integer` : raw`head.mark`;
  const joinHead = isOfAll
    ? raw``
    : raw`left join event head on head.account_id = ${accountId}::text and head.environment = ${environment}::text
        and head.version = stream.version`;
  const { rows } = await raw<
    {
      head: number;
      kept_from: number;
      head_mark: number | null;
      mark_before: number | null;
    } & Nullable<EventRow>
  >`${name}
    select
      stream.version as head,
      stream.kept_from,
      ${headMark} as head_mark,
      (
        select mark from event
        where account_id = ${accountId}::text and environment = ${environment}::text and version = ${after}::bigint
      ) as mark_before,
      e.version, e.mark, e.kind, e.resource, e.resource_id, e.previous_status, e.occurred_at, e.snapshot
    from stream ${joinHead} left join lateral (
      select * from event
      where account_id = ${accountId}::text and environment = ${environment}::text and version > ${after}::bigint
        ${whereResource} ${whereId}
      order by version ${order} limit ${limit}::bigint
    ) e on true
    where stream.account_id = ${accountId}::text and stream.environment = ${environment}::text
    order by e.version
  `.execute(sql);
  const {
    head = 0,
    kept_from: keptFrom = 0,
    head_mark: markOfHead = null,
    mark_before: markBefore = null,
  } = rows[0] ?? {};
  const events = rows.flatMap((row) =>
    row.version === null ? [] : [eventFromRow(row as EventRow, snapshots)],
  );
  const last = events.at(-1);
  const isOther = mark !== undefined && markBefore !== null && markBefore !== mark;
  const isInterrupted = after < keptFrom || head < after || isOther;
  const through = events.length === limit && last && !isNewestFirst ? last.version : Math.max(head, after);
  const markThrough =
    through === last?.version ? last.mark : through === after ? (markBefore ?? mark) : markOfHead;
  return { events, through, mark: markThrough ?? 0, isInterrupted };
}

/**
 * Completes a position with the mark of its event, if every event after it is still in the log. Null if some have gone,
 * if the log has not reached the position, or if it holds another event there. A mark of 0 is unknown, and not compared.
 */
export async function findRetained(
  sql: Sql,
  { accountId, environment }: Tenant,
  { version, mark }: Position,
): Promise<Position | null> {
  const { rows } = await raw<{ head: number; kept_from: number; mark: number | null }>`
    select
      stream.version as head,
      stream.kept_from,
      (
        select mark from event
        where account_id = ${accountId}::text and environment = ${environment}::text and version = ${version}::bigint
      ) as mark
    from stream
    where stream.account_id = ${accountId}::text and stream.environment = ${environment}::text
  `.execute(sql);
  const { head, kept_from: keptFrom, mark: found } = rows[0] ?? { head: 0, kept_from: 0, mark: null };
  if (version < keptFrom || version > head) return null;
  if (mark !== 0 && found !== null && mark !== found) return null;
  return { version, mark: found ?? mark };
}

function eventsOf(sql: Sql, { accountId, environment }: Tenant) {
  return sql.selectFrom('event').where('account_id', '=', accountId).where('environment', '=', environment);
}
