import { plusMs } from '../kernel/clock.ts';
import type { WebhookDelivery } from './model.ts';

// The attempts of a delivery, one after the other.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** The waits between attempts. The first attempt is made at once, so there are seven in all. */
const BACKOFF_MS = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR];
/**
 * The jitter: each wait is longer by up to a fifth, so that deliveries that failed together are not retried
 * together.
 */
const JITTER = 0.2;
/** The time that an event waits for an earlier event of its resource that has not reached the same URL. */
const HOLD_BACK_MS = 30 * SECOND;

/**
 * Decides a delivery's state after an attempt. `random` is from 0 up to 1. `dueAt`: the instant for which the
 * attempt was due; it reveals a redelivery that was requested during the attempt.
 */
export function decideAttempt(
  delivery: WebhookDelivery,
  {
    delivered,
    now,
    random,
    dueAt = delivery.nextAttemptAt,
  }: { delivered: boolean; now: Date; random: number; dueAt?: Date | null },
): WebhookDelivery {
  const next = { ...delivery, attempts: delivery.attempts + 1 };
  // Another attempt has settled the delivery meanwhile: this one is recorded but changes nothing.
  if (delivery.status !== 'pending') return next;
  if (delivered) return { ...next, status: 'delivered', nextAttemptAt: null };
  const waitMs = BACKOFF_MS[delivery.failures];
  const failures = delivery.failures + 1;
  if (delivery.nextAttemptAt?.getTime() !== dueAt?.getTime()) return { ...next, failures };
  if (waitMs === undefined) return { ...next, failures, status: 'exhausted', nextAttemptAt: null };
  return { ...next, failures, nextAttemptAt: plusMs(now, Math.round(waitMs * (1 + JITTER * random))) };
}

/**
 * The instant until which a delivery waits for the `earlier` ones of its resource to its URL; null if it does
 * not wait. It waits for 30 seconds at most: a receiver that refuses one event must not delay all others.
 */
export function heldBackUntil(
  delivery: WebhookDelivery,
  earlier: readonly (WebhookDelivery | null)[],
  now: Date,
): Date | null {
  const until = plusMs(delivery.createdAt, HOLD_BACK_MS);
  return until > now && earlier.some((each) => each?.status === 'pending') ? until : null;
}

/** Whether a delivery may wait for an earlier one, and not for its own next attempt. */
export function isHeldBack({ status, attempts, createdAt }: WebhookDelivery, now: Date): boolean {
  return status === 'pending' && attempts === 0 && plusMs(createdAt, HOLD_BACK_MS) > now;
}

/** Decides a redelivery at an instant: a new series of attempts; a pending delivery is due then and stays in its series. */
export function decideRedeliver(delivery: WebhookDelivery, at: Date): WebhookDelivery {
  if (delivery.status === 'pending') return { ...delivery, nextAttemptAt: at };
  return { ...delivery, status: 'pending', failures: 0, nextAttemptAt: at };
}

/** Decides a delivery whose endpoint is disabled by its failures: it waits for the endpoint, and not for an instant. */
export function decideHold(delivery: WebhookDelivery): WebhookDelivery {
  if (delivery.status !== 'pending' && delivery.status !== 'exhausted') return delivery;
  return { ...delivery, status: 'held', nextAttemptAt: null };
}

/** Decides a delivery whose endpoint was deleted. One that has ended stays as it is. */
export function decideCancel(delivery: WebhookDelivery): WebhookDelivery {
  if (delivery.status !== 'pending' && delivery.status !== 'held') return delivery;
  return { ...delivery, status: 'canceled', nextAttemptAt: null };
}
