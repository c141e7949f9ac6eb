import DataLoader from 'dataloader';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { OperatorNotice } from '../kernel/errors.ts';
import { type Environment, tenantKey } from '../kernel/tenant.ts';
import { withSpan } from '../kernel/traces.ts';
import { type Committer, put } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import type { TenantKey } from '../state/db/each-tenant.ts';
import type { TaskHandler } from '../state/work/queue.ts';
import { RetryLater } from '../state/work/retry-later.ts';
import type { Task } from '../state/work/store.ts';
import type { MadeAttempt } from './attempt-store.ts';
import { attempts, deliveries, ENDPOINT, endpoints, neighbours } from './collections.ts';
import { type DisabledEndpoint, decideHealth, isHeld, PROBE_INTERVAL_MS } from './endpoint-health.ts';
import { isFurther, signingSecrets } from './endpoints.ts';
import { disabledEvents, statusEvents } from './events.ts';
import {
  attemptAt,
  classOf,
  DELIVER,
  DELIVER_FURTHER,
  probeAt,
  settleAt,
  type WebhookDelivery,
} from './model.ts';
import type { Send } from './sender.ts';
import { decideAttempt, decideHold, heldBackUntil, isHeldBack } from './series.ts';
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
  onFault,
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
  /** Called when an endpoint is disabled. */
  onFault?: (notice: OperatorNotice) => void;
}): { tasks: Record<typeof DELIVER | typeof DELIVER_FURTHER, TaskHandler> } {
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
    { webhookId, endpointId, url, nextAttemptAt: dueAt }: WebhookDelivery,
    attempt: Omit<MadeAttempt, 'webhookId' | 'number'>,
    { isFailing }: Pick<ForAttempt, 'isFailing'>,
  ): Promise<DisabledEndpoint | null> {
    const randomNumber = random();
    const delivered = attempt.error === null;
    // Most attempts succeed at an endpoint that does not fail, and change nothing of it.
    const isOfHealth = endpointId !== null && (!delivered || isFailing);
    return committer.change({
      tenant: task,
      async read(reader) {
        const others = await reader.load(neighbours, webhookId);
        await Promise.all([
          reader.load(deliveries, webhookId),
          others?.next ? reader.load(deliveries, others.next) : null,
          isOfHealth ? reader.load(endpoints, ENDPOINT) : null,
        ]);
      },
      decide(state) {
        const before = state.need(deliveries, webhookId);
        const stored = isOfHealth ? state.get(endpoints, ENDPOINT) : null;
        const health =
          stored && decideHealth(task, stored, { endpointId, url }, { delivered, now: state.now });
        const decided = decideAttempt(before, { delivered, now: state.now, random: randomNumber, dueAt });
        const delivery = {
          ...(isHeld(health?.endpoint ?? stored, endpointId) ? decideHold(decided) : decided),
          responseStatus: attempt.responseStatus ?? 0,
          responseClass: classOf(attempt.responseStatus ?? 0),
        };
        const { next } = state.need(neighbours, webhookId);
        const following = delivery.status !== 'pending' && next ? state.get(deliveries, next) : null;
        const woken =
          following && isHeldBack(following, state.now) ? [{ ...following, nextAttemptAt: state.now }] : [];
        const due = delivery.status === 'pending' ? [delivery, ...woken] : woken;
        return {
          outcome: health?.disabled ?? null,
          writes: {
            records: [
              ...[delivery, ...woken].map((each) => put(deliveries, each)),
              put(attempts, { ...attempt, webhookId, number: delivery.attempts }),
              ...(health ? [put(endpoints, health.endpoint)] : []),
            ],
            events: [
              ...statusEvents(delivery, before.status),
              ...(health?.disabled ? disabledEvents(health.disabled) : []),
            ],
            tasks: [
              ...due.map((each) => attemptAt(each, each.nextAttemptAt!)),
              ...(health?.disabled ? [probeAt(endpointId!, plusMs(state.now, PROBE_INTERVAL_MS))] : []),
              ...(health?.isEnabledAgain ? [settleAt(endpointId!, state.now)] : []),
            ],
            done: [task],
          },
        };
      },
    });
  }

  async function makeAttempt(task: Task): Promise<void> {
    const found = await forAttempt.load({ tenant: task, key: task.key });
    if (found?.delivery.status !== 'pending') return;
    const { secrets } = found;
    const isRelayed = found.headers !== null && !isFurther(found.delivery.endpointId);
    // Another task cancels it, and ends this one.
    if (!secrets && !isRelayed) throw new RetryLater('The endpoint of this webhook was deleted');
    if (found.isBehindAnother && (await holdBack(task))) return;
    const { delivery, body } = found;
    const at = clock.now();
    const startedMs = realClock.ms();
    const signedAt = realClock.now();
    const headers = isRelayed
      ? signedAgain(found.headers!, {
          body,
          secrets: relaySecrets?.[task.environment] ?? [],
          cameAt: delivery.createdAt,
          at: signedAt,
        })
      : {
          ...found.headers,
          ...signedHeaders({
            webhookId: delivery.webhookId,
            resourceVersion: found.resourceVersion,
            occurredAt: found.occurredAt,
            body,
            secrets: signingSecrets(secrets!, at),
            at: signedAt,
          }),
        };
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
    const disabled = await recordAttempt(
      task,
      delivery,
      { at, responseStatus, error, durationMs, exchange },
      found,
    );
    if (disabled)
      onFault?.(
        new OperatorNotice(
          `The webhook endpoint ${disabled.endpointId} of ${tenantKey(task)} is disabled: ${disabled.failedAttempts} attempts have failed since ${disabled.failingSince.toISOString()}`,
        ),
      );
  }

  return { tasks: { [DELIVER]: makeAttempt, [DELIVER_FURTHER]: makeAttempt } };
}
