import type { Clock } from '../../kernel/clock.ts';
import { PaymentError } from '../../kernel/errors.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Sql } from '../db/database.ts';
import type { NewEvent, StoredEvent } from '../events/event.ts';
import {
  append,
  assignVersions,
  continueVersions,
  lockStreams,
  openStreams,
  waitForStream,
} from '../events/log.ts';
import { applyToBalances, type Balances, type LedgerTransaction, movesFigure } from '../ledger/postings.ts';
import { post, readBalances } from '../ledger/store.ts';
import {
  dropTasks,
  endTasks,
  type NewTask,
  scheduleTasksOf,
  type Task,
  type TaskName,
} from '../work/store.ts';
import type { CommittedOfTenant, Outbox } from './commit.ts';
import type { Waiting } from './lanes.ts';
import { createRecords, type Records } from './records.ts';

/** The part of one tenant in a group: its state, and the writes of its commands so far. */
interface Part {
  readonly tenant: Tenant;
  /** The version of the tenant's newest event before the group. */
  readonly head: number;
  balances: Balances;
  readonly records: ReturnType<Records['of']>;
  readonly transactions: LedgerTransaction[];
  readonly events: NewEvent[];
  readonly tasks: NewTask[];
  readonly done: TaskName[];
  /** Claimed tasks that end with the group. */
  readonly held: Task[];
}

/**
 * One transaction over the commands of many tenants: one statement for the locks, one load and one save for each
 * collection, one statement each for postings, events and tasks. Independent statements are sent together, so it usually
 * takes two round trips to the database and one for the commit.
 *
 * A tenant that another instance has locked is left out, with its commands, and returned in `locked`; `waits` is for a
 * group of one tenant, which waits for its lock. A transaction with the locks of several tenants waits for none, so no two
 * can wait for each other.
 */
export async function decideAll(
  sql: Sql,
  group: readonly Waiting[],
  { clock, outbox, waits }: { clock: Clock; outbox: Outbox; waits: boolean },
) {
  const { parts, locked, records } = await lockAndRead(sql, group, waits);
  // The time is read under the locks, so that a later event in a log never has an earlier time.
  const now = clock.now();
  const answers: (() => void)[] = [];
  for (const { command, resolve, reject } of group) {
    const part = parts.get(tenantKey(command.tenant));
    if (!part) continue;
    try {
      const { get, need } = part.records;
      const { outcome, writes = {} } = command.decide({ get, need, balances: part.balances, now });
      // The balances are checked before any write is added: a throw here refuses this command alone.
      let after = part.balances;
      for (const transaction of writes.transactions ?? []) after = applyToBalances(after, transaction);
      part.balances = after;
      for (const change of writes.records ?? []) part.records.put(change);
      part.transactions.push(...(writes.transactions ?? []));
      part.events.push(...(writes.events ?? []));
      part.tasks.push(...(writes.tasks ?? []));
      for (const each of writes.done ?? [])
        if (isClaimed(each)) part.held.push(each);
        else part.done.push(each);
      answers.push(() => resolve(outcome));
    } catch (error) {
      if (!(error instanceof PaymentError) && group.length > 1) throw error;
      answers.push(() => reject(error));
    }
  }

  const all = [...parts.values()];
  for (const { transactions, events, balances } of all) {
    // One event for the group: subscribers of the wallet need only its newest state.
    if (transactions.length > 0)
      events.push({
        kind: 'wallet.changed',
        resource: 'wallet',
        resourceId: 'wallet',
        previousStatus: null,
        snapshot: { ...balances, entries: transactions.filter(movesFigure).map(({ id }) => id) },
      });
  }
  // Saved records are checked against the balances that the postings have moved. The statements are
  // pipelined on one connection, which executes them in the order of this list.
  const [, , , ended, stored] = await Promise.all([
    post(sql, all, now),
    records.save(),
    dropTasks(
      sql,
      all.map(({ tenant, done }) => ({ tenant, tasks: done })),
    ),
    endTasks(
      sql,
      all.flatMap(({ held }) => held),
    ),
    announceAndAppend(),
  ]);
  const transactions = all.flatMap((part) => part.transactions);
  const posted = {
    transactions: transactions.length,
    postings: transactions.reduce((sum, { lines }) => sum + lines.length, 0),
  };
  const committed = stored
    .map((own) => ({ ...own, ended: ended.filter(({ task }) => tenantKey(task) === tenantKey(own.tenant)) }))
    .filter((own) => own.events.length + own.tasks.length + own.ended.length > 0);
  return { answers, posted, committed, locked };

  /** Appends the events, then those of the outbox, in one statement. */
  async function announceAndAppend(): Promise<Omit<CommittedOfTenant, 'ended'>[]> {
    const stored = all.map(({ tenant, head, events, tasks }) => ({
      tenant,
      events: assignVersions(events, { head, occurredAt: now }),
      tasks,
    }));
    const added = await outbox(
      sql,
      stored.filter(({ events }) => events.length > 0),
      now,
    );
    for (const more of added) {
      const own = stored.find(({ tenant }) => tenantKey(tenant) === tenantKey(more.tenant))!;
      own.events.push(...continueVersions(more.events, own.events.at(-1) as StoredEvent));
      own.tasks.push(...more.tasks);
    }
    const [marks] = await Promise.all([append(sql, stored), scheduleTasksOf(sql, stored)]);
    return stored.map((own) => ({ ...own, previousMark: marks.get(tenantKey(own.tenant)) ?? 0 }));
  }
}

/** Takes the locks, then reads all that the decisions need. */
async function lockAndRead(sql: Sql, group: readonly Waiting[], waits: boolean) {
  const tenants = [
    ...new Map(group.map(({ command: { tenant } }) => [tenantKey(tenant), tenant])).values(),
  ].sort(byKey);
  for (;;) {
    const records = createRecords(sql);
    // The reads are sent together and executed in this order, so each sees what was committed before the locks
    // were taken.
    const [heads, balances] = await Promise.all([
      waits ? waitForStream(sql, tenants[0]!) : lockStreams(sql, tenants),
      readBalances(sql, tenants),
      records.read(group.map(({ command }) => command)),
    ]).finally(records.end);
    const missing = tenants.filter((tenant) => heads.get(tenantKey(tenant)) === undefined);
    if (missing.length > 0) {
      await openStreams(sql, missing);
      continue;
    }
    const parts = new Map<string, Part>();
    const locked = new Set<string>();
    for (const tenant of tenants) {
      const key = tenantKey(tenant);
      const head = heads.get(key)!;
      if (head === null) locked.add(key);
      else
        parts.set(key, {
          ...{ tenant, head, balances: balances.get(key)!, records: records.of(tenant) },
          ...{ transactions: [], events: [], tasks: [], done: [], held: [] },
        });
    }
    return { parts, locked, records };
  }
}

/** Whether a task was claimed: it has a lease. */
function isClaimed(task: TaskName | Task): task is Task {
  return 'lease' in task && task.lease !== '';
}

/** The order in which instances open the logs of new tenants, so that no two wait for each other. */
function byKey(one: Tenant, other: Tenant): number {
  return tenantKey(one) < tenantKey(other) ? -1 : 1;
}
