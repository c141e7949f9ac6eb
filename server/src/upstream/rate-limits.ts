/** The scope of a 429: everything, for the window is used up; or an operation that has a limit of its own. */
export interface Refusal {
  readonly of: 'window' | 'operation';
  readonly ms: number;
}

type Headers = Readonly<Record<string, string>>;

/**
 * The pause where the answer does not name one; and at least so much, or a wrong 0 would repeat requests without end.
 */
const UNNAMED_MS = 5_000;
const LEAST_MS = 1_000;

/**
 * Reads a 429. The document (section 8) does not show its form, so the usual headers are read as far as they are there.
 * The window's limit cannot last longer than a window; and where some of it is left, it was not what refused.
 */
export function readRefusal(headers: Headers, { now, windowMs }: { now: Date; windowMs: number }): Refusal {
  const namedMs = retryAfterMs(headers, now);
  const ms = Math.max(LEAST_MS, namedMs ?? resetMs(headers, windowMs) ?? UNNAMED_MS);
  const remaining = numberOf(headers['ratelimit-remaining']);
  if (remaining !== null && remaining > 0)
    return { of: 'operation', ms: Math.max(LEAST_MS, namedMs ?? windowMs) };
  return { of: ms > windowMs ? 'operation' : 'window', ms };
}

/** The time for which nothing is left to send, where an answer says so; null where it does not. */
export function readExhaustion(headers: Headers, windowMs: number): number | null {
  return numberOf(headers['ratelimit-remaining']) === 0 ? resetMs(headers, windowMs) : null;
}

/** The time until the window is reset. A longer one belongs to another limit, or is an instant rather than seconds. */
function resetMs(headers: Headers, windowMs: number): number | null {
  const seconds = numberOf(headers['ratelimit-reset']);
  return seconds !== null && seconds * 1_000 <= windowMs ? seconds * 1_000 : null;
}

/** The time of `Retry-After`: seconds, or a date by the service's own clock, where the answer shows that. */
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

/** Whole seconds, as an error gives them to a caller. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
