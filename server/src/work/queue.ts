import type { Database } from '../db/database.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { OutageError } from '../kernel/errors.ts';
import { tenantKey } from '../kernel/tenant.ts';
import { startSpan } from '../kernel/traces.ts';
import {
  claimTasks,
  completeTask,
  nextDue,
  postponeTask,
  reclaimTasksNotUnderWay,
  reclaimTasksOfDead,
  renewLeases,
  type Task,
} from './store.ts';

/** Thrown by a handler that could not do it yet: it is done again later, and nothing has gone wrong. */
export class RetryLater extends Error {
  override readonly name = 'NotYet';
}

/** Does what is due. Runs again after a crash, so it looks at the state and does nothing twice. */
export type TaskHandler = (task: Task) => Promise<void>;

export interface WorkQueue {
  /** A task was scheduled for this instant, in this process. */
  nudge(at: Date): void;
  start(): void;
  /** Resolves when nothing that is due now is left to do: for tests, after the clock was moved. */
  settled(): Promise<void>;
  /** Takes nothing more and resolves when what is under way has ended. */
  close(): Promise<void>;
}

/** Tasks under way at once. One that takes long holds its own place and nobody else's. */
const PLACES = 50;

/**
 * Kinds of task that wait for servers of the tenants' own choosing. They have places of their own, so that none of
 * them keeps money waiting, and of these a tenant has only so many (or, taken in one go, less than twice that), so
 * that one whose server is dead does not keep the others waiting.
 */
export interface ConcurrencyPool {
  readonly kinds: readonly string[];
  readonly places: number;
  readonly placesOfTenant: number;
}

interface Lane {
  readonly of: { kinds: readonly string[]; only: boolean };
  readonly places: number;
  readonly placesOfTenant: number;
}
/** A lease ends this long after its last renewal, though the instance's connection stands. */
const LEASE_MS = 30_000;
const RENEW_MS = 2_000;
/** Where the instance's connection is gone, a lease ends this long after its last renewal. */
const GONE_MS = 5_000;
/** Another instance may schedule an earlier task than any that we know, or end. */
const POLL_MS = 1_000;
const BACKOFF_MS = [1_000, 5_000, 30_000, 120_000, 600_000];

/** Work that waits for its instant, in a table, so that any instance can take over what another has left. */
export function createWorkQueue({
  database,
  clock,
  handlers,
  apart,
  onError,
  onTask,
}: {
  database: Database;
  clock: Clock;
  handlers: Readonly<Record<string, TaskHandler>>;
  apart?: ConcurrencyPool;
  onError: (error: unknown, task: Task | null) => void;
  /** Called with the outcome of each task and its duration. */
  onTask?: (kind: string, outcome: 'done' | 'not_yet' | 'failed', ms: number) => void;
}): WorkQueue {
  const lanes: Lane[] = [
    { of: { kinds: apart?.kinds ?? [], only: false }, places: PLACES, placesOfTenant: PLACES },
    ...(apart ? [{ ...apart, of: { kinds: apart.kinds, only: true } }] : []),
  ];
  /** Tasks under way, by lease. */
  const underWay = new Map<string, { lane: Lane; tenant: string; ended: Promise<void> }>();
  let looking: Promise<void> | null = null;
  let again = false;
  /** Something is due: this process has scheduled it. */
  let nudged = false;
  let closed = false;
  let cancelWake: (() => void) | undefined;
  let wakeAt = Number.POSITIVE_INFINITY;
  let cancelRenewal: (() => void) | undefined;
  let renewing = false;
  let renewAgain = false;
  let inheritAt = new Date(0);
  /** Until then tasks may be leased to this instance that it does not know of, or has not been able to give free. */
  let strandedUntil = new Date(0);
  /** When all that was due of a lane had been taken, but for the tenants that were passed over. */
  const emptied = new Map<Lane, { at: Date; passedOver: readonly string[] }>();

  function look(): Promise<void> {
    if (closed) return Promise.resolve();
    if (looking !== null) {
      again = true;
      return looking;
    }
    looking = (async () => {
      do {
        again = false;
        const now = clock.now();
        let due: Date | null = null;
        try {
          if (now >= inheritAt) await inherit(now);
          const isKnown = nudged;
          nudged = false;
          // Most looks find nothing: to ask for the next instant costs a third of what it costs to take what is due.
          if (!isKnown) due = await nextDue(database.sql);
          if (isKnown || (due !== null && due <= now)) {
            for (const lane of lanes) await takeDue(lane, now);
            due = await nextDue(database.sql);
          }
        } catch (error) {
          strandedUntil = plusMs(clock.now(), LEASE_MS);
          if (!closed) onError(error, null);
        }
        // What was due and is not ours waits for a place, which wakes us, or is being taken by another instance.
        const pollAt = clock.ms() + POLL_MS;
        wake(due && due > now ? Math.min(due.getTime(), pollAt) : pollAt);
      } while (again && !closed);
      looking = null;
    })();
    return looking;
  }

  async function inherit(now: Date): Promise<void> {
    inheritAt = plusMs(now, POLL_MS);
    const endingBy = plusMs(now, LEASE_MS - GONE_MS);
    await reclaimTasksOfDead(database.sql, { holder: database.instance, now, endingBy });
    // A statement whose answer was lost may be carried out a little later than this, so it is done more than once.
    if (now < strandedUntil)
      await reclaimTasksNotUnderWay(database.sql, {
        holder: database.instance,
        now,
        underWay: [...underWay.keys()],
      });
  }

  async function takeDue(lane: Lane, now: Date): Promise<void> {
    while (!closed) {
      const byTenant = new Map<string, number>();
      let free = lane.places;
      for (const { lane: its, tenant } of underWay.values()) {
        if (its !== lane) continue;
        free -= 1;
        byTenant.set(tenant, (byTenant.get(tenant) ?? 0) + 1);
      }
      const limit = Math.min(free, lane.placesOfTenant);
      if (limit <= 0) return;
      const passingOver = [...byTenant].flatMap(([tenant, n]) => (n >= lane.placesOfTenant ? [tenant] : []));
      const since = dueSince(lane, now, passingOver);
      const leasedUntil = plusMs(now, LEASE_MS);
      const tasks = await claimTasks(database.sql, {
        now,
        since,
        leasedUntil,
        holder: database.instance,
        limit,
        of: lane.of,
        passingOver,
      });
      for (const task of tasks)
        underWay.set(task.lease, { lane, tenant: tenantKey(task), ended: doTask(task) });
      if (tasks.length > 0) cancelRenewal ??= renewSoon();
      if (tasks.length < limit) {
        if (since === null) emptied.set(lane, { at: now, passedOver: passingOver });
        return;
      }
    }
  }

  /**
   * Limits a claim to tasks that fell due since the lane was last drained. Older ones could not be taken then and cannot be
   * now, and there may be very many (a look at 100,000 webhooks of a dead server cost 50 ms), so all are read once a second
   * alone. Null: read all.
   */
  function dueSince(lane: Lane, now: Date, passingOver: readonly string[]): Date | null {
    const last = emptied.get(lane);
    // Put back, the clock must not keep us from what is due by it.
    if (!last || now < last.at || now >= plusMs(last.at, POLL_MS)) return null;
    if (!last.passedOver.every((tenant) => passingOver.includes(tenant))) return null;
    // What was due then may have been committed a little later.
    return plusMs(last.at, -POLL_MS);
  }

  /** Never rejects: what cannot even be postponed is given free as soon as the database can be reached. */
  async function doTask(task: Task): Promise<void> {
    const begunAt = clock.ms();
    const tell = (outcome: 'done' | 'not_yet' | 'failed') =>
      onTask?.(task.kind, outcome, clock.ms() - begunAt);
    try {
      const handler = handlers[task.kind];
      if (!handler) throw new Error(`no handler for tasks of kind ${task.kind}`);
      const name = `task ${task.kind}`;
      await startSpan({ name, kind: 'consumer', attributes: { 'psa.attempt': task.attempts } }, async () => {
        await handler(task);
        const isOver = await completeTask(database.sql, task);
        // It was due some time ago.
        if (!isOver) emptied.clear();
      });
      tell('done');
    } catch (error) {
      tell(error instanceof RetryLater ? 'not_yet' : 'failed');
      if (!(error instanceof RetryLater)) onError(error, task);
      // An outage says nothing of the task: it is done when the database is back.
      const attempts = error instanceof OutageError ? 1 : task.attempts;
      const delayMs = BACKOFF_MS[Math.min(attempts, BACKOFF_MS.length) - 1]!;
      await postponeTask(database.sql, task, plusMs(clock.now(), delayMs)).catch((lost: unknown) => {
        strandedUntil = plusMs(clock.now(), LEASE_MS);
        onError(lost, task);
      });
    }
    underWay.delete(task.lease);
    void look();
  }

  /** A task that takes longer than a lease keeps it for as long as this process lives. */
  function renewSoon(): () => void {
    return clock.schedule(plusMs(clock.now(), RENEW_MS), () => {
      cancelRenewal = underWay.size > 0 ? renewSoon() : undefined;
      if (renewing) renewAgain = true;
      else void renew();
    });
  }

  /** One at a time: a database that is slow is not asked more and more. */
  async function renew(): Promise<void> {
    renewing = true;
    do {
      renewAgain = false;
      const leases = [...underWay.keys()];
      const until = plusMs(clock.now(), LEASE_MS);
      if (leases.length > 0)
        await renewLeases(database.sql, leases, until).catch((error: unknown) => onError(error, null));
    } while (renewAgain);
    renewing = false;
  }

  /** At `at`, or earlier where something earlier is known already. */
  function wake(at: number): void {
    if (closed || at >= wakeAt) return;
    cancelWake?.();
    wakeAt = at;
    cancelWake = clock.schedule(new Date(at), () => {
      wakeAt = Number.POSITIVE_INFINITY;
      void look();
    });
  }

  return {
    nudge(at) {
      if (at <= plusMs(clock.now(), -POLL_MS)) emptied.clear();
      if (at <= clock.now()) {
        nudged = true;
        void look();
      } else wake(at.getTime());
    },
    start() {
      void look();
    },
    async settled() {
      do {
        emptied.clear();
        await look();
        await Promise.all([...underWay.values()].map(({ ended }) => ended));
      } while (underWay.size > 0 || looking !== null);
    },
    async close() {
      closed = true;
      cancelWake?.();
      await looking;
      await Promise.all([...underWay.values()].map(({ ended }) => ended));
      cancelRenewal?.();
    },
  };
}
