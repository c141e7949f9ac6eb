import DataLoader from 'dataloader';
import type { Clock } from '../kernel/clock.ts';
import type { Environment } from '../kernel/tenant.ts';
import { withSpan } from '../kernel/traces.ts';
import { type Committer, put } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import type { TenantKey } from '../state/db/each-tenant.ts';
import type { TaskHandler } from '../state/work/queue.ts';
import type { Task } from '../state/work/store.ts';
import type { MadeAttempt } from './attempt-store.ts';
import { attempts, deliveries, neighbours } from './collections.ts';
import { statusEvents } from './events.ts';
import { attemptAt, DELIVER, signingSecrets, type WebhookDelivery } from './model.ts';
import type { Send } from './sender.ts';
import { decideAttempt, heldBackUntil, isHeldBack } from './series.ts';
import { signedAgain, signedHeaders } from './signing.ts';
import { type ForAttempt, selectForAttempts } from './store.ts';

/** The largest value of an integer column. */
const MAX_DURATION_MS = 2 ** 31 - 1;

/**
 * Makes the due attempts. The receiver is called outside of any transaction. Its answer is recorded in one,
 * with the instant of the next attempt: after a crash in between, the attempt is repeated with the same id.
 */
export function createWebhookDelivery({
  database,
  committer,
  clock,
  realClock = clock,
  send,
  random = Math.random,
  relaySecrets,
  onAttempt,
}: {
  database: Database;
  committer: Committer;
  clock: Clock;
  /** The real clock, for signatures and durations: the simulator does not move it. */
  realClock?: Pick<Clock, 'now' | 'ms'>;
  send: Send;
  /** A random number from 0 up to 1, which spreads retries in time. */
  random?: () => number;
  /** The secrets of the service whose webhooks are relayed; null if this server relays none. */
  relaySecrets: Readonly<Record<Environment, readonly string[]>> | null;
  onAttempt?: (delivered: boolean, ms: number) => void;
}): { tasks: Record<typeof DELIVER, TaskHandler> } {
  /** Deliveries that are claimed together are read together. */
  const forAttempt = new DataLoader<TenantKey, ForAttempt | null>(
    (webhooks) => selectForAttempts(database.sql, webhooks),
    { cache: false },
  );

  /**
   * Postpones a delivery that must wait for an earlier one of the same resource; false if it need not wait.
   * The decision runs under the tenant's lock: the success of the earlier one is recorded before it, and seen
   * here, or after it, and then wakes this one.
   */
  function holdBack(task: Task): Promise<boolean> {
    const webhookId = task.key;
    return committer.change({
      tenant: task,
      async read(reader) {
        const others = await reader.load(neighbours, webhookId);
        await Promise.all([webhookId, ...(others?.earlier ?? [])].map((id) => reader.load(deliveries, id)));
      },
      decide(state) {
        const delivery = state.need(deliveries, webhookId);
        const earlier = state.need(neighbours, webhookId).earlier.map((id) => state.get(deliveries, id));
        const until = heldBackUntil(delivery, earlier, state.now);
        if (until === null || delivery.status !== 'pending') return { outcome: false };
        return {
          outcome: true,
          writes: {
            records: [put(deliveries, { ...delivery, nextAttemptAt: until })],
            tasks: [attemptAt(delivery, until)],
            done: [task],
          },
        };
      },
    });
  }

  /** Records an attempt, ends its task, schedules the next, and wakes the delivery that has waited for this one. */
  function recordAttempt(
    task: Task,
    { webhookId, nextAttemptAt: dueAt }: WebhookDelivery,
    attempt: Omit<MadeAttempt, 'webhookId' | 'number'>,
  ): Promise<void> {
    const randomNumber = random();
    return committer.change({
      tenant: task,
      async read(reader) {
        const others = await reader.load(neighbours, webhookId);
        await Promise.all([
          reader.load(deliveries, webhookId),
          others?.next ? reader.load(deliveries, others.next) : null,
        ]);
      },
      decide(state) {
        const before = state.need(deliveries, webhookId);
        const delivery = {
          ...decideAttempt(before, {
            delivered: attempt.error === null,
            now: state.now,
            random: randomNumber,
            dueAt,
          }),
          responseStatus: attempt.responseStatus ?? 0,
        };
        const { next } = state.need(neighbours, webhookId);
        const following = delivery.status !== 'pending' && next ? state.get(deliveries, next) : null;
        const woken = following && isHeldBack(following) ? [{ ...following, nextAttemptAt: state.now }] : [];
        const due = delivery.status === 'pending' ? [delivery, ...woken] : woken;
        return {
          outcome: undefined,
          writes: {
            records: [
              ...[delivery, ...woken].map((each) => put(deliveries, each)),
              put(attempts, { ...attempt, webhookId, number: delivery.attempts }),
            ],
            events: statusEvents(delivery, before.status),
            tasks: due.map((each) => attemptAt(each, each.nextAttemptAt!)),
            done: [task],
          },
        };
      },
    });
  }

  return {
    tasks: {
      [DELIVER]: async (task) => {
        const found = await forAttempt.load({ tenant: task, key: task.key });
        if (found?.delivery.status !== 'pending') return;
        if (found.isBehindAnother && (await holdBack(task))) return;
        const { delivery, body } = found;
        const at = clock.now();
        const startedMs = realClock.ms();
        const signedAt = realClock.now();
        const headers = found.headers
          ? signedAgain(found.headers, {
              body,
              secrets: relaySecrets?.[task.environment] ?? [],
              cameAt: delivery.createdAt,
              at: signedAt,
            })
          : signedHeaders({
              webhookId: delivery.webhookId,
              resourceVersion: found.resourceVersion,
              occurredAt: found.occurredAt,
              body,
              // The outbox saves the secret together with the tenant's first delivery.
              secrets: signingSecrets(found.secrets!, at),
              at: signedAt,
            });
        // The span has no URL: it is the merchant's, and may hold a secret.
        const { responseStatus, error, exchange } = await withSpan(
          'webhook attempt',
          { 'psa.attempt': delivery.attempts + 1 },
          async (step) => {
            const sent = await send({ url: delivery.url, headers, body });
            step.set({
              'http.response.status_code': sent.responseStatus ?? 0,
              'psa.delivered': sent.error === null,
            });
            return sent;
          },
          'client',
        );
        // If the clock was set meanwhile, the duration may be below zero, or above 24 days: the database
        // would refuse it, and the attempt would be repeated.
        const durationMs = Math.min(Math.max(0, realClock.ms() - startedMs), MAX_DURATION_MS);
        onAttempt?.(error === null, durationMs);
        await recordAttempt(task, delivery, { at, responseStatus, error, durationMs, exchange });
      },
    },
  };
}
