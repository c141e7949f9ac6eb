import { AHEAD_MS, type Clock, isAhead, plusMs } from '../../kernel/clock.ts';
import { OutageError } from '../../kernel/errors.ts';
import { tenantKey } from '../../kernel/tenant.ts';
import { startSpan } from '../../kernel/traces.ts';
import type { Database } from '../db/database.ts';
import { RetryLater } from './retry-later.ts';
import {
  claimTasks,
  completeTask,
  type EndedTask,
  groupKey,
  nextDue,
  postponeTask,
  recallPostponedTasks,
  reclaimTasksNotUnderWay,
  reclaimTasksOfDead,
  renewLeases,
  type Task,
} from './store.ts';

/** Does a due task. It is called again after a crash, so it reads the state and does nothing twice. */
export type TaskHandler = (task: Task) => Promise<void>;

export interface WorkQueue {
  /** Wakes the queue at the instant of a task of this kind that this process has scheduled. */
  wake(task: { readonly kind: string; readonly at: Date }): void;
  /** Reports that a commit has ended a task that is under way: it need not be completed. */
  ended(task: EndedTask): void;
  start(): void;
  /** Resolves when no due task with a handler is left. Tests call it after they move the clock. */
  settled(): Promise<void>;
  /** Claims no more tasks. Resolves when the tasks under way have ended. */
  close(): Promise<void>;
}

/** The number of tasks under way at once. A task that takes long holds its own slot and no other. */
const SLOTS = 50;

/**
 * Kinds of task that share slots. A tenant gets no more tasks once it holds `slotsPerTenant` slots (one claim
 * may give it almost twice as many), so a tenant whose tasks take long does not delay the others. While more than half of
 * the slots are free it may hold `slotsWhileFree`, and a group of its tasks `slotsPerTenant`: a group whose tasks take long
 * does not delay the others of its tenant.
 */
export interface Lane {
  readonly kinds: readonly string[];
  readonly slots: number;
  readonly slotsPerTenant: number;
  readonly slotsWhileFree: number;
}

/** A lease ends this long after its last renewal, even if the connection of its instance is open. */
const LEASE_MS = 30_000;
const RENEW_MS = 2_000;
/** A lease of an instance whose connection is gone ends this long after its last renewal. */
const GONE_MS = 5_000;
/**
 * The interval of polls: another instance may end, or may schedule a task that is due before any task known
 * here.
 */
const POLL_MS = 1_000;
const BACKOFF_MS = [1_000, 5_000, 30_000, 120_000, 600_000];

/**
 * Creates a queue of tasks that wait for their instant in a table, so that any instance can take over the
 * tasks of another. The transaction that makes a task due also schedules it; a library's queue would not
 * share that transaction.
 */
export function createWorkQueue({
  database,
  clock,
  handlers,
  pool,
  onError,
  onTask,
}: {
  database: Database;
  clock: Clock;
  handlers: Readonly<Record<string, TaskHandler>>;
  /**
   * Kinds that wait for servers of the tenants' own choosing. With slots of their own they do not delay tasks
   * that move money.
   */
  pool?: Lane;
  onError: (error: unknown, task: Task | null) => void;
  /** Called with the outcome and the duration of each task. */
  onTask?: (kind: string, outcome: 'done' | 'not_yet' | 'failed', ms: number) => void;
}): WorkQueue {
  // A kind without a handler is in no lane: an instance of a newer version does its tasks.
  const kinds = Object.keys(handlers);
  const isPooled = (kind: string) => pool?.kinds.includes(kind) ?? false;
  const lanes: Lane[] = [
    {
      kinds: kinds.filter((kind) => !isPooled(kind)),
      ...{ slots: SLOTS, slotsPerTenant: SLOTS, slotsWhileFree: SLOTS },
    },
    ...(pool ? [{ ...pool, kinds: kinds.filter(isPooled) }] : []),
  ];
  /** Tasks under way, by lease. */
  const underWay = new Map<string, { lane: Lane; tenant: string; group: string; ended: Promise<void> }>();
  /** Whether the tasks under way that a commit has ended were scheduled again, by lease. */
  const endedByCommit = new Map<string, boolean>();
  let claiming: Promise<void> | null = null;
  /** Lanes in which a task of this process is due by now, or a slot has become free for a waiting task. */
  const due = new Set<Lane>();
  /** Lanes in which a due task may wait for a slot. */
  const full = new Set<Lane>();
  /** Whether the table is to be searched for tasks of other instances. */
  let isSearchDue = false;
  let closed = false;
  let cancelWake: (() => void) | undefined;
  let wakeAt = Number.POSITIVE_INFINITY;
  let cancelRenewal: (() => void) | undefined;
  let isRenewing = false;
  let isRenewalDue = false;
  let reclaimAt = new Date(0);
  /** Whether a clock that was ahead may have postponed tasks, before this start or until it was set back. */
  let isRecallDue = true;
  let lastReclaimAt = new Date(0);
  /** The instant until which this instance may hold leases that it does not know or could not release. */
  let strandedUntil = new Date(0);
  /**
   * The time at which all due tasks of each lane were last claimed, and the tenants and groups that were skipped then
   * because their slots were full.
   */
  const drained = new Map<Lane, { at: Date; skipped: readonly string[] }>();

  /** Finds the next instant, and claims the tasks that are due by now. */
  function search(): Promise<void> {
    isSearchDue = true;
    return claimDue();
  }

  function claimDue(): Promise<void> {
    if (closed) return claiming ?? Promise.resolve();
    claiming ??= (async () => {
      do {
        const now = clock.now();
        const known = lanes.filter((lane) => due.delete(lane));
        const isSearch = isSearchDue;
        isSearchDue = false;
        let next: Date | null = null;
        // After the clock was set back, it must not postpone the reclaim.
        if (now >= reclaimAt || reclaimAt > plusMs(now, POLL_MS)) await reclaimDead(now).catch(reportOutage);
        try {
          for (const lane of known) await claimLane(lane, now);
          // Usually nothing is due, and a query for the next instant costs a third of a claim.
          if (isSearch) next = await nextDue(database.sql, kinds);
          if (next !== null && next <= now) {
            for (const lane of lanes) await claimLane(lane, now);
            next = await nextDue(database.sql, kinds, now);
          }
        } catch (error) {
          reportOutage(error);
        }
        // A due task that is not claimed waits for a slot, is being claimed by another instance, or was just
        // committed by this process. A free slot and a commit both wake the queue.
        const pollAt = clock.ms() + POLL_MS;
        scheduleWake(next && next > now ? Math.min(next.getTime(), pollAt) : pollAt);
      } while ((isSearchDue || due.size > 0) && !closed);
      claiming = null;
    })();
    return claiming;
  }

  function reportOutage(error: unknown): void {
    strandedUntil = plusMs(clock.now(), LEASE_MS);
    if (!closed) onError(error, null);
  }

  async function reclaimDead(now: Date): Promise<void> {
    reclaimAt = plusMs(now, POLL_MS);
    isRecallDue ||= isAhead(lastReclaimAt, now);
    lastReclaimAt = now;
    const endingBy = plusMs(now, LEASE_MS - GONE_MS);
    const neverAfter = plusMs(now, LEASE_MS + AHEAD_MS);
    await reclaimTasksOfDead(database.sql, { holder: database.instance, now, endingBy, neverAfter });
    if (isRecallDue) {
      const lastAttemptBy = plusMs(now, BACKOFF_MS.at(-1)! + AHEAD_MS);
      isRecallDue = false;
      await recallPostponedTasks(database.sql, { now, neverAfter: lastAttemptBy });
    }
    // A statement whose response was lost may be executed a little later than this, so the reclaim is
    // repeated.
    if (now < strandedUntil)
      await reclaimTasksNotUnderWay(database.sql, {
        holder: database.instance,
        now,
        underWay: [...underWay.keys()],
      });
  }

  async function claimLane(lane: Lane, now: Date): Promise<void> {
    while (!closed) {
      const own = [...underWay.values()].filter((task) => task.lane === lane);
      const free = lane.slots - own.length;
      const limit = Math.min(free, lane.slotsPerTenant);
      const mostOfTenant = free > lane.slots / 2 ? lane.slotsWhileFree : lane.slotsPerTenant;
      const skipped = [
        ...withAtLeast(own, 'tenant', mostOfTenant),
        ...withAtLeast(own, 'group', lane.slotsPerTenant),
      ];
      if (limit <= 0 || skipped.length > 0) full.add(lane);
      else full.delete(lane);
      if (limit <= 0) return;
      const since = dueSince(lane, now, skipped);
      const leasedUntil = plusMs(now, LEASE_MS);
      const tasks = await claimTasks(database.sql, {
        now,
        since,
        leasedUntil,
        holder: database.instance,
        limit,
        kinds: lane.kinds,
        skipped,
        // After a suspension, or a change of the clock, leases have ended before their renewal.
        underWay: [...underWay.keys()],
      });
      for (const task of tasks)
        underWay.set(task.lease, {
          ...{ lane, tenant: tenantKey(task), group: groupKey(task) },
          ended: doTask(task, lane),
        });
      if (tasks.length > 0) cancelRenewal ??= renewSoon();
      if (tasks.length < limit) {
        if (since === null) drained.set(lane, { at: now, skipped });
        return;
      }
    }
  }

  /**
   * Limits a claim to tasks that fell due since the lane was last drained. Older tasks belong to tenants and groups
   * whose slots are still full, and there may be very many (a scan of 100,000 webhooks of a dead server took
   * 50 ms), so all are scanned only once a second. Null means a scan of all.
   */
  function dueSince(lane: Lane, now: Date, skipped: readonly string[]): Date | null {
    const last = drained.get(lane);
    // After the clock was set back, tasks that are due by it must be found.
    if (!last || now < last.at || now >= plusMs(last.at, POLL_MS)) return null;
    if (!last.skipped.every((each) => skipped.includes(each))) return null;
    // A task that was due then may have been committed a little later.
    return plusMs(last.at, -POLL_MS);
  }

  /**
   * Does a task of a lane and records its end. Never rejects: a task that cannot even be postponed is
   * released as soon as the database can be reached.
   */
  async function doTask(task: Task, lane: Lane): Promise<void> {
    const startedAt = clock.ms();
    const report = (outcome: 'done' | 'not_yet' | 'failed') =>
      onTask?.(task.kind, outcome, clock.ms() - startedAt);
    try {
      const handler = handlers[task.kind]!;
      const name = `task ${task.kind}`;
      await startSpan({ name, kind: 'consumer', attributes: { 'psa.attempt': task.attempts } }, async () => {
        await handler(task);
        const isScheduledAgain = endedByCommit.get(task.lease) ?? !(await completeTask(database.sql, task));
        if (isScheduledAgain) findScheduledAgain();
      });
      report('done');
    } catch (error) {
      // An outage is not a failure of the task: it is retried when the database is back.
      const isOutage = error instanceof OutageError;
      report(isOutage || error instanceof RetryLater ? 'not_yet' : 'failed');
      if (!(error instanceof RetryLater)) onError(error, task);
      const attempts = isOutage ? 1 : task.attempts;
      const backoffMs = BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length) - 1]!;
      const delayMs = error instanceof RetryLater ? Math.min(backoffMs, error.withinMs) : backoffMs;
      const at = plusMs(clock.now(), delayMs);
      try {
        const outages = task.outages + (error instanceof RetryLater && error.isOutage ? 1 : 0);
        if (await postponeTask(database.sql, { ...task, outages }, at)) scheduleWake(at.getTime());
        else findScheduledAgain();
      } catch (failure) {
        strandedUntil = plusMs(clock.now(), LEASE_MS);
        onError(failure, task);
      }
    }
    underWay.delete(task.lease);
    endedByCommit.delete(task.lease);
    if (full.has(lane)) due.add(lane);
    if (isSearchDue || due.size > 0) void claimDue();
  }

  /** Searches for a task that was scheduled again while it ran, maybe for an instant before the last drain. */
  function findScheduledAgain(): void {
    drained.clear();
    isSearchDue = true;
  }

  /** Renews the leases of tasks that take longer than a lease, for as long as this process lives. */
  function renewSoon(): () => void {
    return clock.schedule(plusMs(clock.now(), RENEW_MS), () => {
      cancelRenewal = underWay.size > 0 ? renewSoon() : undefined;
      if (isRenewing) isRenewalDue = true;
      else void renew();
    });
  }

  /** Renews the leases, one statement at a time, so that renewals do not pile up in a slow database. */
  async function renew(): Promise<void> {
    isRenewing = true;
    do {
      isRenewalDue = false;
      const leases = [...underWay.keys()];
      const until = plusMs(clock.now(), LEASE_MS);
      if (leases.length > 0)
        await renewLeases(database.sql, leases, until).catch((error: unknown) => onError(error, null));
    } while (isRenewalDue);
    isRenewing = false;
  }

  /** Wakes the queue at `at`; a wake that is scheduled for an earlier instant stays. */
  function scheduleWake(at: number): void {
    if (closed || at >= wakeAt) return;
    cancelWake?.();
    wakeAt = at;
    cancelWake = clock.schedule(new Date(at), () => {
      wakeAt = Number.POSITIVE_INFINITY;
      void search();
    });
  }

  return {
    wake({ kind, at }) {
      const lane = lanes.find(({ kinds: own }) => own.includes(kind));
      if (!lane) return;
      if (at <= plusMs(clock.now(), -POLL_MS)) drained.clear();
      if (at <= clock.now()) {
        due.add(lane);
        void claimDue();
      } else scheduleWake(at.getTime());
    },
    ended({ task: { lease }, isScheduledAgain }) {
      if (underWay.has(lease)) endedByCommit.set(lease, isScheduledAgain);
    },
    start() {
      void search();
    },
    async settled() {
      let tasks: Promise<void>[];
      do {
        drained.clear();
        await search();
        tasks = [...underWay.values()].map(({ ended }) => ended);
        await Promise.all(tasks);
      } while (tasks.length > 0 || claiming !== null);
    },
    async close() {
      closed = true;
      cancelWake?.();
      await claiming;
      await Promise.all([...underWay.values()].map(({ ended }) => ended));
      cancelRenewal?.();
    },
  };
}

/** The tenants or groups that hold at least `most` slots. */
function withAtLeast<Part extends 'tenant' | 'group'>(
  underWay: readonly Readonly<Record<Part, string>>[],
  part: Part,
  most: number,
): string[] {
  const held = new Map<string, number>();
  for (const { [part]: key } of underWay) held.set(key, (held.get(key) ?? 0) + 1);
  return [...held].flatMap(([key, count]) => (count >= most ? [key] : []));
}
