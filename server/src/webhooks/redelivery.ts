import { type Committer, put } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import type { TaskHandler } from '../state/work/queue.ts';
import { decidePage, statusOf } from './bulk.ts';
import { redeliveryTable, selectNextMatching } from './bulk-store.ts';
import { deliveries, ENDPOINT, endpoints, redeliveries } from './collections.ts';
import { urlsOf } from './endpoints.ts';
import { statusEvents } from './events.ts';
import { attemptAt, RESEND } from './model.ts';

/**
 * Sends the deliveries of redeliveries again, a page at a time. A page and the place behind it are one commit: after a
 * crash no delivery is left out, and none is sent again twice.
 */
export function createWebhookRedelivery({
  database,
  committer,
}: {
  database: Database;
  committer: Committer;
}): { tasks: Record<typeof RESEND, TaskHandler> } {
  return {
    tasks: {
      [RESEND]: async (task) => {
        const [begun] = await redeliveryTable.load(database.sql, task, [task.key]);
        if (!begun || statusOf(begun) !== 'running') return;
        const page = await selectNextMatching(database.sql, task, begun);
        await committer.change({
          tenant: task,
          read: (reader) =>
            Promise.all([
              reader.load(redeliveries, task.key),
              reader.load(endpoints, ENDPOINT),
              ...page.map(({ webhookId }) => reader.load(deliveries, webhookId)),
            ]),
          decide(state) {
            const before = state.need(redeliveries, task.key);
            // It was canceled meanwhile.
            if (statusOf(before) !== 'running') return { outcome: undefined, writes: { done: [task] } };
            const found = page.map((each) => ({ ...each, delivery: state.get(deliveries, each.webhookId) }));
            const { redelivery, again, nextAt } = decidePage(before, found, {
              urls: urlsOf(task, state.get(endpoints, ENDPOINT)),
              now: state.now,
            });
            return {
              outcome: undefined,
              writes: {
                records: [put(redeliveries, redelivery), ...again.map((each) => put(deliveries, each))],
                events: again.flatMap((each) =>
                  statusEvents(each, state.need(deliveries, each.webhookId).status),
                ),
                tasks: [
                  ...again.map((each) => attemptAt(each, each.nextAttemptAt!)),
                  ...(nextAt ? [{ kind: RESEND, key: task.key, at: nextAt }] : []),
                ],
                done: [task],
              },
            };
          },
        });
      },
    },
  };
}
