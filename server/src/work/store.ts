import { sql as raw } from 'kysely';
import type { Sql } from '../db/database.ts';
import type { Tenant } from '../kernel/tenant.ts';

export interface NewTask {
  readonly kind: string;
  readonly key: string;
  readonly at: Date;
}

export interface Task extends Tenant {
  readonly kind: string;
  readonly key: string;
  /** Counts this one. */
  readonly attempts: number;
  readonly leasedUntil: Date;
}

/** Adds tasks; one that is there already gets the new instant. */
export async function scheduleTasks(sql: Sql, tenant: Tenant, tasks: readonly NewTask[]): Promise<void> {
  const latest = new Map(tasks.map((task) => [`${task.kind} ${task.key}`, task]));
  if (latest.size === 0) return;
  await sql
    .insertInto('task')
    .values(
      [...latest.values()].map(({ kind, key, at }) => ({
        kind,
        account_id: tenant.accountId,
        environment: tenant.environment,
        key,
        due_at: at,
        leased_until: null,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['kind', 'account_id', 'environment', 'key']).doUpdateSet({
        due_at: (row) => row.ref('excluded.due_at'),
        attempts: 0,
        leased_until: null,
      }),
    )
    .execute();
}

/**
 * Takes up to `limit` due tasks for `leaseMs`; SKIP LOCKED lets instances take different ones at once, and what a
 * dead one held falls due again when its lease ends.
 */
export async function claimTasks(
  sql: Sql,
  { now, leasedUntil, limit }: { now: Date; leasedUntil: Date; limit: number },
): Promise<Task[]> {
  const { rows } = await raw<{
    kind: string;
    account_id: string;
    environment: string;
    key: string;
    attempts: number;
  }>`
    update task set leased_until = ${leasedUntil}, attempts = task.attempts + 1
    from (
      select kind, account_id, environment, key from task
      where due_at <= ${now} and (leased_until is null or leased_until <= ${now})
      order by due_at limit ${limit}
      for update skip locked
    ) due
    where task.kind = due.kind and task.account_id = due.account_id
      and task.environment = due.environment and task.key = due.key
    returning task.kind, task.account_id, task.environment, task.key, task.attempts
  `.execute(sql);
  return rows.map((row) => ({
    kind: row.kind,
    accountId: row.account_id,
    environment: row.environment as Tenant['environment'],
    key: row.key,
    attempts: row.attempts,
    leasedUntil,
  }));
}

/** Done, unless it was scheduled anew while it ran: then its lease is no longer ours. */
export async function completeTask(sql: Sql, task: Task): Promise<void> {
  await ofTask(sql.deleteFrom('task'), task).execute();
}

/** Failed: due again at `at`, unless it was scheduled anew meanwhile. */
export async function postponeTask(sql: Sql, task: Task, at: Date): Promise<void> {
  await ofTask(sql.updateTable('task').set({ due_at: at, leased_until: null }), task).execute();
}

/** When the next task can be claimed; null where there is none. */
export async function nextDue(sql: Sql): Promise<Date | null> {
  const { rows } = await raw<{ at: Date | null }>`
    select min(greatest(due_at, coalesce(leased_until, due_at))) as at from task
  `.execute(sql);
  return rows[0]?.at ?? null;
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
    .where('leased_until', '=', task.leasedUntil);
}
