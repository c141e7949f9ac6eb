import { plusMs } from '../kernel/clock.ts';
import { type Committer, put, type Reader, type State } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import type { TaskHandler } from '../state/work/queue.ts';
import type { Task } from '../state/work/store.ts';
import { BULK_PAGE, decidePaced, nextPageAt } from './bulk.ts';
import { deliveries, ENDPOINT, endpoints } from './collections.ts';
import { isHeld, PROBE_INTERVAL_MS } from './endpoint-health.ts';
import { urlsOf } from './endpoints.ts';
import { statusEvents } from './events.ts';
import { attemptAt, attemptOf, PROBE, probeAt, SETTLE, settleAt, type WebhookDelivery } from './model.ts';
import { decideCancel } from './series.ts';
import { selectUnsent } from './store.ts';

/** The tasks of deliveries that an endpoint has not got: after it was deleted, while it is disabled, and afterwards. */
export function createHeldDelivery({ database, committer }: { database: Database; committer: Committer }): {
  tasks: Record<typeof SETTLE | typeof PROBE, TaskHandler>;
} {
  const read = (webhookIds: readonly string[]) => (reader: Reader) =>
    Promise.all([
      reader.load(endpoints, ENDPOINT),
      ...webhookIds.map((webhookId) => reader.load(deliveries, webhookId)),
    ]);

  /** The writes of deliveries that have changed, with what follows for each. */
  function writesOf(state: State, changed: readonly WebhookDelivery[]) {
    return {
      records: changed.map((each) => put(deliveries, each)),
      events: changed.flatMap((each) => statusEvents(each, state.need(deliveries, each.webhookId).status)),
    };
  }

  /** Sends deliveries that are still held to a URL. */
  function sentAgain(state: State, url: string, webhookIds: readonly string[]): WebhookDelivery[] {
    const held = webhookIds
      .map((webhookId) => state.need(deliveries, webhookId))
      .filter(({ status }) => status === 'held');
    return decidePaced(held, state.now).map((each) => ({ ...each, url }));
  }

  /** Cancels deliveries of an endpoint that was deleted, or sends those that were held, a page at a time. */
  async function settle(task: Task): Promise<void> {
    const endpointId = task.key;
    const unsent = await selectUnsent(database.sql, task, {
      ...{ endpointId, statuses: ['pending', 'held'], limit: BULK_PAGE },
    });
    const held = await selectUnsent(database.sql, task, {
      ...{ endpointId, statuses: ['held'], limit: BULK_PAGE },
    });
    await committer.change({
      tenant: task,
      read: read([...unsent, ...held]),
      decide(state) {
        const stored = state.get(endpoints, ENDPOINT);
        const done = (writes: object) => ({ outcome: undefined, writes: { ...writes, done: [task] } });
        const url = urlsOf(task, stored).get(endpointId);
        if (url === undefined) {
          const canceled = unsent.map((webhookId) => decideCancel(state.need(deliveries, webhookId)));
          const tasks = unsent.length === BULK_PAGE ? [settleAt(endpointId, state.now)] : [];
          return {
            outcome: undefined,
            writes: { ...writesOf(state, canceled), tasks, done: [task, ...canceled.map(attemptOf)] },
          };
        }
        // An endpoint that is switched off gets its held deliveries once it is switched on.
        if (url === null || isHeld(stored, endpointId)) return done({});
        const sent = sentAgain(state, url, held);
        const again = held.length === BULK_PAGE ? [settleAt(endpointId, nextPageAt(state.now))] : [];
        return done({
          ...writesOf(state, sent),
          tasks: [...sent.map((each) => attemptAt(each, each.nextAttemptAt!)), ...again],
        });
      },
    });
  }

  /** Tries a disabled endpoint that is not switched off, once a day: with the oldest of its deliveries that were tried least. */
  async function probe(task: Task): Promise<void> {
    const endpointId = task.key;
    const oldest = await selectUnsent(database.sql, task, {
      ...{ endpointId, statuses: ['held'], limit: 1, leastTried: true },
    });
    await committer.change({
      tenant: task,
      read: read(oldest),
      decide(state) {
        const stored = state.get(endpoints, ENDPOINT);
        const isDisabled = isHeld(stored, endpointId);
        const url = urlsOf(task, stored).get(endpointId);
        const tried = isDisabled && url ? sentAgain(state, url, oldest) : [];
        return {
          outcome: undefined,
          writes: {
            ...writesOf(state, tried),
            tasks: [
              ...tried.map((each) => attemptAt(each, each.nextAttemptAt!)),
              ...(isDisabled ? [probeAt(endpointId, plusMs(state.now, PROBE_INTERVAL_MS))] : []),
            ],
            done: [task],
          },
        };
      },
    });
  }

  return { tasks: { [SETTLE]: settle, [PROBE]: probe } };
}
