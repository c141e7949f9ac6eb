import { RateLimitError } from '../kernel/errors.ts';

/** The error of a request that the service's budget, or the service itself, has refused. */
export function serviceLimit(limit: string, retryAfterSeconds: number): RateLimitError {
  return new RateLimitError(limit, retryAfterSeconds, { isOfService: true });
}

/**
 * A 429. `window`: the window is used up, so all requests wait. `operation`: this operation has a limit of
 * its own.
 */
export interface Refusal {
  readonly scope: 'window' | 'operation';
  /** The pause until the limit has room again. */
  readonly ms: number;
}

type Headers = Readonly<Record<string, string>>;

/** The pause if the answer names none. */
const DEFAULT_PAUSE_MS = 5_000;
/** The shortest pause: a wrong 0 would repeat requests without end. */
const MIN_PAUSE_MS = 1_000;
/** The longest pause: without it a wrong year would stop every lookup of an outcome. */
const MAX_PAUSE_MS = 60 * 60_000;

/**
 * Reads a 429. The document (section 8) does not show its form, so this reads any of the usual headers. The
 * window's limit cannot last longer than a window; if some of it remains, another limit has refused.
 */
export function readRefusal(headers: Headers, { now, windowMs }: { now: Date; windowMs: number }): Refusal {
  const namedMs = retryAfterMs(headers, now);
  const ms = bounded(namedMs ?? resetMs(headers, windowMs) ?? DEFAULT_PAUSE_MS);
  const remaining = numberOf(headers['ratelimit-remaining']);
  if (remaining !== null && remaining > 0) return { scope: 'operation', ms: bounded(namedMs ?? windowMs) };
  return { scope: ms > windowMs ? 'operation' : 'window', ms };
}

function bounded(ms: number): number {
  return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ms));
}

/** The time until the window has room, if an answer says that it is used up; null otherwise. */
export function readExhaustion(headers: Headers, windowMs: number): number | null {
  return numberOf(headers['ratelimit-remaining']) === 0 ? resetMs(headers, windowMs) : null;
}

/**
 * The time until the window is reset. A longer time belongs to another limit, or is an instant instead of
 * seconds.
 */
function resetMs(headers: Headers, windowMs: number): number | null {
  const seconds = numberOf(headers['ratelimit-reset']);
  return seconds !== null && seconds * 1_000 <= windowMs ? seconds * 1_000 : null;
}

/** The pause in `Retry-After`, in seconds or as a date by the service's clock; null without that header. */
function retryAfterMs(headers: Headers, now: Date): number | null {
  const text = headers['retry-after'];
  const seconds = numberOf(text);
  if (seconds !== null) return seconds * 1_000;
  const until = Date.parse(text ?? '');
  if (Number.isNaN(until)) return null;
  const serverTime = Date.parse(headers.date ?? '');
  return Math.max(0, until - (Number.isNaN(serverTime) ? now.getTime() : serverTime));
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d{1,9}(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

/** The whole seconds of an error's `retryAfter`: rounded up, at least one. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
