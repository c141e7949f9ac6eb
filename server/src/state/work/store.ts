import { sql as raw } from 'kysely';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import { INSTANCE_LOCK, type Sql } from '../db/database.ts';
import { tenantArrays } from '../db/each-tenant.ts';
import { RetryLater } from './retry-later.ts';

export interface TaskName {
  readonly kind: string;
  readonly key: string;
}

export interface NewTask extends TaskName {
  readonly at: Date;
  /** The tasks of its tenant with which it shares slots, besides all of them. */
  readonly group?: string;
}

export interface Task extends Tenant, TaskName {
  /** The number of attempts, this one included. */
  readonly attempts: number;
  /** The number of those attempts that failed by an outage of another service. */
  readonly outages: number;
  readonly group: string;
  /** The revision at the time of the claim; each scheduling increments it. */
  readonly revision: number;
  readonly lease: string;
}

/** Tasks of one tenant. */
interface TasksOf<Named extends TaskName> {
  readonly tenant: Tenant;
  readonly tasks: readonly Named[];
}

/** Adds tasks of one tenant. */
export function scheduleTasks(sql: Sql, tenant: Tenant, tasks: readonly NewTask[]): Promise<void> {
  return scheduleTasksOf(sql, [{ tenant, tasks }]);
}

/**
 * Adds tasks of tenants; an existing task gets the new instant. If it is under way, it stays with its holder and is done
 * again after that: never twice at once.
 */
export async function scheduleTasksOf(sql: Sql, scheduled: readonly TasksOf<NewTask>[]): Promise<void> {
  const latest = new Map(
    scheduled.flatMap(({ tenant, tasks }) =>
      tasks.map((task) => [`${tenantKey(tenant)} ${task.kind} ${task.key}`, { tenant, task }] as const),
    ),
  );
  if (latest.size === 0) return;
  const rows = [...latest.values()];
  await raw`
    /* schedule_tasks */
    insert into task (account_id, environment, kind, key, due_at, slot_group)
    select * from unnest(
      ${tenantArrays(rows)},
      ${rows.map(({ task }) => task.kind)}::text[],
      ${rows.map(({ task }) => task.key)}::text[],
      ${rows.map(({ task }) => task.at)}::timestamptz[],
      ${rows.map(({ task }) => task.group ?? '')}::text[]
    )
    on conflict (kind, account_id, environment, key) do update
    set due_at = excluded.due_at, slot_group = excluded.slot_group, attempts = 0, outages = 0, revision = task.revision + 1
  `.execute(sql);
}

/** Deletes tasks of tenants, except those under way: their holders end them. */
export async function dropTasks(sql: Sql, dropped: readonly TasksOf<TaskName>[]): Promise<void> {
  const rows = dropped.flatMap(({ tenant, tasks }) => tasks.map((task) => ({ tenant, task })));
  if (rows.length === 0) return;
  await raw`
    delete from task
    using unnest(
      ${tenantArrays(rows)},
      ${rows.map(({ task }) => task.kind)}::text[],
      ${rows.map(({ task }) => task.key)}::text[]
    ) t (account_id, environment, kind, key)
    where task.kind = t.kind and task.account_id = t.account_id
      and task.environment = t.environment and task.key = t.key and task.lease is null
  `.execute(sql);
}

/** A claimed task that a commit has ended. */
export interface EndedTask {
  readonly task: Task;
  /** Whether it was scheduled again while it was under way: then it is released for its next run. */
  readonly isScheduledAgain: boolean;
}

/** Thrown for a change that ends a task whose lease has ended: another holder does the task. Nothing was written. */
export class LeaseLost extends RetryLater {
  constructor() {
    super('The lease of the task has ended');
  }
}

/**
 * Ends claimed tasks together with the changes that they were for. No other transaction waits for these rows while it
 * holds others. @throws LeaseLost if the lease of one has ended
 */
export async function endTasks(sql: Sql, tasks: readonly Task[]): Promise<EndedTask[]> {
  if (tasks.length === 0) return [];
  const { rows } = await raw<{ lease: string; again: boolean }>`
    /* end_tasks */
    with held as (
      select * from unnest(
        ${tenantArrays(tasks.map((tenant) => ({ tenant })))},
        ${tasks.map(({ kind }) => kind)}::text[],
        ${tasks.map(({ key }) => key)}::text[],
        ${tasks.map(({ lease }) => lease)}::uuid[],
        ${tasks.map(({ revision }) => revision)}::integer[]
      ) held (account_id, environment, kind, key, lease, revision)
    ),
    done as (
      delete from task using held
      where task.kind = held.kind and task.account_id = held.account_id and task.environment = held.environment and task.key = held.key
        and task.lease = held.lease and task.revision = held.revision
      returning task.lease
    ),
    released as (
      update task set lease = null, leased_until = null, holder = null from held
      where task.kind = held.kind and task.account_id = held.account_id and task.environment = held.environment and task.key = held.key
        and task.lease = held.lease and task.revision <> held.revision
      returning held.lease
    )
    select lease, false as again from done union all select lease, true from released
  `.execute(sql);
  const again = new Map(rows.map((row) => [row.lease, row.again]));
  return tasks.map((task) => {
    const isScheduledAgain = again.get(task.lease);
    if (isScheduledAgain === undefined) throw new LeaseLost();
    return { task, isScheduledAgain };
  });
}

/**
 * Claims up to `limit` due tasks until `leasedUntil`. With SKIP LOCKED instances can claim different tasks at
 * once, and the tasks of a dead instance become due again when their leases end. A claim does not wait for the disk: one
 * that a crash of the database loses leaves its task due, as the end of its instance would.
 */
export async function claimTasks(
  sql: Sql,
  {
    now,
    since = null,
    leasedUntil,
    holder = null,
    limit,
    kinds,
    skipped = [],
    underWay = [],
  }: {
    now: Date;
    /** Only tasks that fell due after this instant. */
    since?: Date | null;
    leasedUntil: Date;
    /** The instance that claims them. */
    holder?: number | null;
    limit: number;
    kinds?: readonly string[];
    /** The keys of tenants and of groups whose tasks are not claimed. */
    skipped?: readonly string[];
    /**
     * Leases whose tasks are not claimed although they may have ended: this instance is still doing these
     * tasks.
     */
    underWay?: readonly string[];
  },
): Promise<Task[]> {
  const { rows } = await raw<{
    kind: string;
    account_id: string;
    environment: Tenant['environment'];
    key: string;
    attempts: number;
    outages: number;
    revision: number;
    slot_group: string;
    lease: string;
  }>`
    update task
    set lease = gen_random_uuid(), leased_until = ${leasedUntil}, holder = ${holder}, attempts = task.attempts + 1
    from (select set_config('synchronous_commit', 'off', true)) unflushed, (
      select kind, account_id, environment, key from task
      where due_at <= ${now} ${since ? raw`and due_at > ${since}` : raw``}
        and (leased_until is null or leased_until <= ${now} and lease <> all(${[...underWay]}::uuid[]))
        ${kinds ? raw`and kind = any(${[...kinds]}::text[])` : raw``}
        and (account_id || '/' || environment = any(${[...skipped]}::text[])) = false
        ${skipped.length > 0 ? raw`and (account_id || '/' || environment || ' ' || slot_group = any(${[...skipped]}::text[])) = false` : raw``}
      order by due_at limit ${limit}
      for update skip locked
    ) due
    where task.kind = due.kind and task.account_id = due.account_id
      and task.environment = due.environment and task.key = due.key
    returning task.kind, task.account_id, task.environment, task.key, task.attempts, task.outages, task.revision,
      task.slot_group, task.lease
  `.execute(sql);
  return rows.map(({ account_id: accountId, slot_group: group, ...row }) => ({ ...row, accountId, group }));
}

/** The key of the tasks of a tenant that share slots. */
export function groupKey(task: Pick<Task, keyof Tenant | 'group'>): string {
  return `${tenantKey(task)} ${task.group}`;
}

/**
 * Releases the tasks of other instances that are gone and whose leases end before `endingBy`. Both conditions
 * are needed: an instance that lost only its listening connection still renews its leases over other
 * connections. A lease that ends after `neverAfter` dates from before the clock was set back. A task that was
 * under way was due, so it is due now at the latest.
 */
export async function reclaimTasksOfDead(
  sql: Sql,
  { holder, now, endingBy, neverAfter }: { holder: number; now: Date; endingBy: Date; neverAfter: Date },
): Promise<void> {
  await raw`
    update task set lease = null, leased_until = null, holder = null, due_at = least(due_at, ${now}::timestamptz)
    from (
      select lease from task
      where leased_until > ${now} and (leased_until <= ${endingBy} or leased_until > ${neverAfter}) and holder <> ${holder} and not exists (
        select from pg_locks
        where locktype = 'advisory' and classid = ${INSTANCE_LOCK} and objid = holder::oid
          and database = (select oid from pg_database where datname = current_database())
      )
      for update skip locked
    ) held
    where task.leased_until is not null and task.lease = held.lease
  `.execute(sql);
}

/**
 * Makes tasks due that were postponed by a clock that was set back since: no attempt waits until after
 * `neverAfter`. It scans all tasks of the future.
 */
export async function recallPostponedTasks(
  sql: Sql,
  { now, neverAfter }: { now: Date; neverAfter: Date },
): Promise<void> {
  await sql
    .updateTable('task')
    .set({ due_at: now })
    .where('lease', 'is', null)
    .where('due_at', '>', neverAfter)
    .where('attempts', '>', 0)
    .execute();
}

/**
 * Releases the tasks that this instance holds but is not doing: the response to its claim was lost, or to the
 * statement that should have completed or postponed them.
 */
export async function reclaimTasksNotUnderWay(
  sql: Sql,
  { holder, now, underWay }: { holder: number; now: Date; underWay: readonly string[] },
): Promise<void> {
  await raw`
    update task set lease = null, leased_until = null, holder = null
    from (
      select lease from task
      where leased_until > ${now} and holder = ${holder} and lease <> all(${[...underWay]}::uuid[])
      for update skip locked
    ) held
    where task.leased_until is not null and task.lease = held.lease
  `.execute(sql);
}

/**
 * Extends leases to `leasedUntil`. A task that another transaction is changing keeps its lease until the next
 * renewal: two transactions that wait for each other's tasks would be a deadlock.
 */
export async function renewLeases(sql: Sql, leases: readonly string[], leasedUntil: Date): Promise<void> {
  await raw`
    update task set leased_until = ${leasedUntil}
    from (
      select lease from task where leased_until is not null and lease = any(${[...leases]}::uuid[])
      for update skip locked
    ) held
    where task.leased_until is not null and task.lease = held.lease
  `.execute(sql);
}

/**
 * Deletes a finished task. False if it was scheduled again meanwhile: then it is released for its next run.
 */
export async function completeTask(sql: Sql, task: Task): Promise<boolean> {
  const { numDeletedRows } = await ofTask(sql.deleteFrom('task'), task)
    .where('revision', '=', task.revision)
    .executeTakeFirstOrThrow();
  if (numDeletedRows > 0n) return true;
  await ofTask(
    sql.updateTable('task').set({ lease: null, leased_until: null, holder: null }),
    task,
  ).execute();
  return false;
}

/** Whether a task under way is still current: false if it was scheduled again meanwhile. */
export async function isCurrentTask(sql: Sql, task: Task): Promise<boolean> {
  const row = await sql
    .selectFrom('task')
    .select('revision')
    .where('kind', '=', task.kind)
    .where('account_id', '=', task.accountId)
    .where('environment', '=', task.environment)
    .where('key', '=', task.key)
    .where('revision', '=', task.revision)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Schedules a failed task again for `at`. False if it was scheduled meanwhile, and keeps that instant, or if
 * another instance holds its lease by now.
 */
export async function postponeTask(sql: Sql, task: Task, at: Date): Promise<boolean> {
  const row = await ofTask(
    sql.updateTable('task').set({
      due_at: raw<Date>`case when revision = ${task.revision} then ${at}::timestamptz else due_at end`,
      outages: raw<number>`case when revision = ${task.revision} then ${task.outages}::integer else outages end`,
      lease: null,
      leased_until: null,
      holder: null,
    }),
    task,
  )
    .returning('revision')
    .executeTakeFirst();
  return row?.revision === task.revision;
}

/**
 * The instant at which the next task of these kinds can be claimed, or of all kinds; null if there is none.
 * With `after` only later instants count. Each half of the query has an index.
 */
export async function nextDue(sql: Sql, kinds?: readonly string[], after?: Date): Promise<Date | null> {
  const andOfThem = kinds ? raw`and kind = any(${[...kinds]}::text[])` : raw``;
  const isAfter = (at: string) => (after ? raw`and ${raw.raw(at)} > ${after}` : raw``);
  const { rows } = await raw<{ at: Date | null }>`
    select least(
      (select min(due_at) from task where leased_until is null ${isAfter('due_at')} ${andOfThem}),
      (select min(greatest(leased_until, due_at)) from task where leased_until is not null ${isAfter('greatest(leased_until, due_at)')} ${andOfThem})
    ) as at
  `.execute(sql);
  return rows[0]?.at ?? null;
}

/** Tasks of one kind, of all tenants. */
export interface Backlog {
  readonly kind: string;
  /** The number of due tasks that no instance is doing. */
  readonly due: number;
  readonly underWay: number;
  readonly later: number;
  /** The instant at which the oldest due task became due; null if none is due. */
  readonly oldestDueAt: Date | null;
  /** The instant at which the next future task becomes due; null if there is none. */
  readonly nextDueAt: Date | null;
}

/** Counts the tasks of each kind, for the metrics: it scans the whole table. */
export async function selectBacklog(sql: Sql, now: Date): Promise<Backlog[]> {
  const { rows } = await raw<{
    kind: string;
    due: number;
    under_way: number;
    later: number;
    oldest: Date | null;
    next: Date | null;
  }>`
    select
      kind,
      count(*) filter (where leased_until > ${now}) under_way,
      count(*) filter (where due_at <= ${now} and (leased_until is null or leased_until <= ${now})) due,
      count(*) filter (where due_at > ${now} and (leased_until is null or leased_until <= ${now})) later,
      min(due_at) filter (where due_at <= ${now} and (leased_until is null or leased_until <= ${now})) oldest,
      min(due_at) filter (where due_at > ${now} and (leased_until is null or leased_until <= ${now})) as next
    from task group by kind
  `.execute(sql);
  return rows.map(({ kind, due, under_way: underWay, later, oldest: oldestDueAt, next: nextDueAt }) => ({
    kind,
    due,
    underWay,
    later,
    oldestDueAt,
    nextDueAt,
  }));
}

// biome-ignore lint/suspicious/noExplicitAny: Kysely's delete and update builders share no type that has `where`
function ofTask<Builder extends { where: (...condition: any[]) => any }>(
  builder: Builder,
  task: Task,
): Builder {
  return builder
    .where('kind', '=', task.kind)
    .where('account_id', '=', task.accountId)
    .where('environment', '=', task.environment)
    .where('key', '=', task.key)
    .where('lease', '=', task.lease);
}
