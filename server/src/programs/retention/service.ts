import { type Clock, DAY_MS, plusMs } from '../../kernel/clock.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Database } from '../../state/db/database.ts';
import type { TaskHandler } from '../../state/work/queue.ts';
import { scheduleTasks } from '../../state/work/store.ts';
import { DEFAULT_KEEP, KEEP_ALL, KEPT, type Keep, type Kept, type RetentionService } from './model.ts';
import {
  keepsAll,
  moveBeginning,
  removeBodies,
  removeDeliveries,
  removeEvents,
  removeSessions,
  removeTokens,
  scheduleForAll,
  selectBeginning,
  selectPlaces,
  setRemovedTo,
} from './row-store.ts';

/** The kind of the task that removes what is old, one a tenant. */
const RETAIN = 'retention';

/** The most rows of a statement. It is halved while a statement takes longer than `STATEMENT_MS`. */
const MOST_ROWS = 1_000;
const FEWEST_ROWS = 50;
const STATEMENT_MS = 50;
/** Deliveries go with their attempts and totals, under the lock of their tenant, for which its commands wait. */
const MOST_DELIVERIES = 200;
/** The pause behind a run, in durations of the run: it takes a twentieth of the time. */
const PAUSE = 19;
const SHORTEST_PAUSE_MS = 1_000;
/** The wait of a new task before its first run: a start has other things to do. */
const FIRST_RUN_MS = 3_600_000;

export interface RetentionTasks {
  service: RetentionService;
  /** Whether everything is kept because `PSA_KEEP` is not set, and there were events before that variable. */
  keepsOlder: boolean;
  tasks: Record<typeof RETAIN, TaskHandler>;
  /** Schedules the task of each tenant, now, and each day those of new tenants. Returns the function that stops it. */
  start(): Promise<() => Promise<void>>;
}

/** Opens what removes rows by their age. Without `keep` a database that had events before keeps all of them. */
export async function openRetention({
  database,
  clock,
  keep: given,
  onRemoved = () => undefined,
  onFault,
}: {
  database: Pick<Database, 'sql' | 'transaction'>;
  clock: Clock;
  keep: Keep | null;
  onRemoved?: (kept: Kept, rows: number) => void;
  onFault: (fault: unknown) => void;
}): Promise<RetentionTasks> {
  const { sql } = database;
  const keepsOlder = given === null && (await keepsAll(sql));
  const keep = given ?? (keepsOlder ? KEEP_ALL : DEFAULT_KEEP);
  const isEndless = KEPT.every((kept) => keep[kept] === null);
  let mostRows = MOST_ROWS;

  const removals: Record<Kept, (tenant: Tenant, before: Date) => Promise<{ rows: number; isDone: boolean }>> =
    {
      async events(tenant, before) {
        let { keptFrom, removedTo } = await selectPlaces(sql, tenant);
        // The events that a crash has left between the two places are removed first.
        if (removedTo === keptFrom)
          keptFrom = (await moveBeginning(sql, tenant, { before, limit: mostRows })) ?? keptFrom;
        if (removedTo === keptFrom) return { rows: 0, isDone: true };
        const upTo = Math.min(keptFrom, removedTo + mostRows);
        const rows = await database.transaction(async (tx) => {
          const removed = await removeEvents(tx, tenant, { from: removedTo, upTo });
          await setRemovedTo(tx, tenant, upTo);
          return removed;
        });
        return { rows, isDone: false };
      },
      async deliveries(tenant, before) {
        const limit = Math.min(mostRows, MOST_DELIVERIES);
        const rows = await database.transaction((tx) => removeDeliveries(tx, tenant, { before, limit }));
        return { rows, isDone: rows < limit };
      },
      async bodies(_, before) {
        const limit = mostRows;
        const rows = await removeBodies(sql, { before, limit });
        return { rows, isDone: rows < limit };
      },
      async tokens(tenant, before) {
        const limit = mostRows;
        const tokens = await database.transaction((tx) => removeTokens(tx, tenant, { before, limit }));
        const sessions = await removeSessions(sql, tenant, { before, limit });
        return { rows: tokens + sessions, isDone: tokens < limit && sessions < limit };
      },
    };

  /** Removes the next old rows of each kind. Returns whether there are no more. */
  async function removeNext(tenant: Tenant): Promise<boolean> {
    let areDone = true;
    let slowestMs = 0;
    for (const kept of KEPT) {
      const days = keep[kept];
      if (days === null) continue;
      const startedMs = clock.ms();
      const { rows, isDone } = await removals[kept](tenant, plusMs(clock.now(), -days * DAY_MS));
      slowestMs = Math.max(slowestMs, clock.ms() - startedMs);
      if (rows > 0) onRemoved(kept, rows);
      areDone &&= isDone;
    }
    mostRows =
      slowestMs > STATEMENT_MS
        ? Math.max(FEWEST_ROWS, Math.floor(mostRows / 2))
        : Math.min(MOST_ROWS, mostRows * 2);
    return areDone;
  }

  return {
    keepsOlder,
    service: {
      read: async (tenant) => ({ ...keep, eventsFrom: await selectBeginning(sql, tenant) }),
    },
    tasks: {
      async [RETAIN](task) {
        if (isEndless) return;
        const startedMs = clock.ms();
        const isDone = await removeNext(task);
        const pauseMs = Math.max(SHORTEST_PAUSE_MS, PAUSE * (clock.ms() - startedMs));
        const at = plusMs(clock.now(), isDone ? DAY_MS : pauseMs);
        await scheduleTasks(sql, task, [{ kind: RETAIN, key: task.key, at }]);
      },
    },
    async start() {
      if (isEndless) return async () => undefined;
      let scheduling: Promise<void>;
      let cancel: () => void;
      const schedule = () => {
        const now = clock.now();
        scheduling = scheduleForAll(sql, { kind: RETAIN, at: plusMs(now, FIRST_RUN_MS) }).catch(onFault);
        cancel = clock.schedule(plusMs(now, DAY_MS), schedule);
        return scheduling;
      };
      await schedule();
      return () => {
        cancel();
        return scheduling;
      };
    },
  };
}
