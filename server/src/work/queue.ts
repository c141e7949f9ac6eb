import type { Database } from '../db/database.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { claimTasks, completeTask, nextDue, postponeTask, type Task } from './store.ts';

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

const BATCH = 50;
const LEASE_MS = 30_000;
/** Another instance may schedule an earlier task than any that we know. */
const POLL_MS = 1_000;
const BACKOFF_MS = [1_000, 5_000, 30_000, 120_000, 600_000];

/** Work that waits for its instant, in a table, so that any instance can take over what another has left. */
export function createWorkQueue({
  database,
  clock,
  handlers,
  onError,
}: {
  database: Database;
  clock: Clock;
  handlers: Readonly<Record<string, TaskHandler>>;
  onError: (error: unknown, task: Task | null) => void;
}): WorkQueue {
  let running: Promise<void> | null = null;
  let again = false;
  let closed = false;
  let cancelWake: (() => void) | undefined;
  let wakeAt = Number.POSITIVE_INFINITY;

  function run(): Promise<void> {
    if (closed) return Promise.resolve();
    if (running !== null) {
      again = true;
      return running;
    }
    running = (async () => {
      do {
        again = false;
        try {
          while (!closed && (await runBatch()) > 0);
        } catch (error) {
          if (!closed) onError(error, null);
        }
      } while (again && !closed);
      running = null;
      await sleepUntilDue();
    })();
    return running;
  }

  async function runBatch(): Promise<number> {
    const now = clock.now();
    const tasks = await claimTasks(database.sql, { now, leasedUntil: plusMs(now, LEASE_MS), limit: BATCH });
    await Promise.all(tasks.map(runTask));
    return tasks.length;
  }

  async function runTask(task: Task): Promise<void> {
    try {
      const handler = handlers[task.kind];
      if (!handler) throw new Error(`no handler for tasks of kind ${task.kind}`);
      await handler(task);
      await completeTask(database.sql, task);
    } catch (error) {
      onError(error, task);
      const delayMs = BACKOFF_MS[Math.min(task.attempts, BACKOFF_MS.length) - 1]!;
      await postponeTask(database.sql, task, plusMs(clock.now(), delayMs));
    }
  }

  async function sleepUntilDue(): Promise<void> {
    if (closed) return;
    const due = await nextDue(database.sql).catch(() => null);
    const pollAt = clock.now().getTime() + POLL_MS;
    wake(due ? Math.min(due.getTime(), pollAt) : pollAt);
  }

  function wake(at: number): void {
    cancelWake?.();
    wakeAt = at;
    cancelWake = clock.schedule(new Date(at), () => {
      wakeAt = Number.POSITIVE_INFINITY;
      void run();
    });
  }

  return {
    nudge(at) {
      if (closed) return;
      if (at <= clock.now()) void run();
      else if (at.getTime() < wakeAt) wake(at.getTime());
    },
    start() {
      void run();
    },
    async settled() {
      await run();
      while (running !== null) await running;
    },
    async close() {
      closed = true;
      cancelWake?.();
      await running;
    },
  };
}
