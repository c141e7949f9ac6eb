/** What a 429 refuses: everything, for the window is used up; or an operation that has a limit of its own. */
export interface Refusal {
  readonly of: 'window' | 'operation';
  readonly ms: number;
}

type Headers = Readonly<Record<string, string>>;

/** Where it does not say how long; and at least so long, or a wrong 0 would have us ask without end. */
const UNTOLD_MS = 5_000;
const LEAST_MS = 1_000;

/**
 * The document (section 8) does not show what a 429 looks like, so the usual headers are read, as far as they are there.
 * Longer than a window the window's limit cannot last; and where some of it is left, it was not what refused.
 */
export function readRefusal(headers: Headers, { now, windowMs }: { now: Date; windowMs: number }): Refusal {
  const told = retryAfterMs(headers, now);
  const ms = Math.max(LEAST_MS, told ?? resetMs(headers, windowMs) ?? UNTOLD_MS);
  const remaining = numberOf(headers['ratelimit-remaining']);
  if (remaining !== null && remaining > 0)
    return { of: 'operation', ms: Math.max(LEAST_MS, told ?? windowMs) };
  return { of: ms > windowMs ? 'operation' : 'window', ms };
}

/** How long nothing is left to send, where an answer says so; null where it does not. */
export function readExhaustion(headers: Headers, windowMs: number): number | null {
  return numberOf(headers['ratelimit-remaining']) === 0 ? resetMs(headers, windowMs) : null;
}

/** Of a window: what is longer belongs to another limit, or is an instant rather than seconds. */
function resetMs(headers: Headers, windowMs: number): number | null {
  const seconds = numberOf(headers['ratelimit-reset']);
  return seconds !== null && seconds * 1_000 <= windowMs ? seconds * 1_000 : null;
}

/** Seconds, or a date: by the service's own clock, where it says what that shows. */
function retryAfterMs(headers: Headers, now: Date): number | null {
  const text = headers['retry-after'];
  const seconds = numberOf(text);
  if (seconds !== null) return seconds * 1_000;
  const until = Date.parse(text ?? '');
  if (Number.isNaN(until)) return null;
  const said = Date.parse(headers.date ?? '');
  return Math.max(0, until - (Number.isNaN(said) ? now.getTime() : said));
}

function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d{1,9}(\.\d+)?\s*$/.test(text) ? Number(text) : null;
}

/** In whole seconds, as a caller is told. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000));
}
