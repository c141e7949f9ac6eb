import { plusMs } from '../../kernel/clock.ts';
import { DOUBT_MS } from '../../kernel/doubts.ts';
import { IdempotencyError } from '../../kernel/errors.ts';
import type { Behind } from '../../kernel/records.ts';

/** A request to the service that must not be made twice, and its state. It is stored before it is sent. */
export interface Intent {
  id: string;
  operation: string;
  /** The caller's idempotency key, or a generated one. */
  key: string;
  inputHash: string;
  /**
   * refused: certainly not done; its key may be used again. absent: its outcome was unknown, and the service has denied it
   * for long enough; whether its key may be used again depends on its kind.
   */
  state: 'sending' | 'in_doubt' | 'done' | 'refused' | 'absent';
  /** The id of the resource that the request has made; null until it is done. */
  resourceId: string | null;
  /**
   * The traits that identify the resource if the service has no key for it. JSON; no secret, no whole PIX
   * key.
   */
  summary: unknown;
  /** The number of lookups that the service has answered since the outcome became unknown. */
  lookups: number;
  /** The time of the last lookup; null if there was none. */
  lookedUpAt: Date | null;
  /** The result of the last lookup, in words for the operator who settles the intent by hand. */
  finding: string | null;
  /**
   * The instant since which the request may have been made without a record, because the records were set
   * back to it; null if it was not.
   */
  behindSince: Date | null;
  createdAt: Date;
}

/**
 * The result of a lookup that did not find the resource, with a reason for the operator if a candidate was
 * found.
 */
export type NotFound = 'not_there' | 'unclear' | { unclear: string };

/** The end of a run: the resource that was made, by this run or by an earlier one. */
export type Done = { resourceId: string; replayed: boolean };
/**
 * The outcome of a run. `not_done`: certainly nothing was done under this key. `changed`: the intent was
 * refused, or opened again, meanwhile.
 */
export type Outcome = Done | 'not_done' | 'changed';

/**
 * The time by which a sender has recorded the end or died: it waits up to 10 s for its slot and 15 s for its
 * answer.
 */
const SENDING_MS = 60_000;
/**
 * The pauses between lookups of an unknown outcome: short at first, while a caller waits; later one hour,
 * without end.
 */
const LOOKUP_PAUSES_MS = [
  1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000, 120_000, 300_000, 900_000, 3_600_000,
];
/** The pause after a lookup for which the service could not be reached. */
export const UNANSWERED_LOOKUP_PAUSE_MS = 30_000;
/**
 * The age at which a request that the service does not know counts as never done: by then it would have
 * begun.
 */
export const ABSENT_AFTER_MS = DOUBT_MS;
/** The age at which an unknown outcome needs an operator. */
const OVERDUE_AFTER_MS = ABSENT_AFTER_MS;

const SEPARATOR = '\u001f';

/** The key of an intent in its collection, `operation␟key`, or of a claim, `kind␟id`. */
export function intentKey(operation: string, key: string): string {
  return operation + SEPARATOR + key;
}

export function splitIntentKey(intentKey: string): [operation: string, key: string] {
  return intentKey.split(SEPARATOR) as [string, string];
}

export function keyOf({ operation, key }: Pick<Intent, 'operation' | 'key'>): string {
  return intentKey(operation, key);
}

/** The part of an operation's name before the colon, under which its kind is registered. */
export function kindOf({ operation }: Pick<Intent, 'operation'>): string {
  return operation.split(':', 1)[0]!;
}

export function isOpen({ state }: Intent): boolean {
  return state === 'sending' || state === 'in_doubt';
}

/** The finding of an intent that an operator has settled as never done. */
export const SETTLED_BY_HAND = 'Settled by hand';

/**
 * Whether an operator has settled an intent as never done: its key is sent again, unless a lookup finds its
 * resource after all.
 */
export function isSettledByHand({ finding }: Pick<Intent, 'finding'>): boolean {
  return finding === SETTLED_BY_HAND;
}

/**
 * Whether two states belong to one attempt: a key that is used again keeps its intent, with another
 * `createdAt`.
 */
export function isSameAttempt(left: Intent, right: Intent): boolean {
  return left.createdAt.getTime() === right.createdAt.getTime();
}

/** The id of one attempt: a key that is used again keeps the id of its intent. */
export function attemptOf({ id, createdAt }: Intent): string {
  return `${id} ${createdAt.getTime()}`;
}

// ── Opening ─────────────────────────────────────────────────────────────────────────────────────

/** A request as its caller makes it; `id` is used if its key is new. */
export type NewRequest = Pick<Intent, 'id' | 'operation' | 'key' | 'inputHash' | 'summary'> & {
  /** The members that the hash does not cover; undefined if the request can have none. */
  kept?: Readonly<Record<string, string | null>> | undefined;
};

/**
 * The result of opening an intent. `fresh`: the caller sends it now. `save`: the state to store, which the
 * background task looks up at `lookUpAt`.
 */
export interface Opening {
  readonly intent: Intent;
  readonly fresh: boolean;
  readonly save?: { intent: Intent; lookUpAt: Date };
}

/**
 * Decides whether a key is sent, sent once more or replayed. `denied`: the attempt that a lookup has just
 * denied once more, or a lost one that is safe to repeat. An absent intent that is not `denied` counts as
 * `sending` from here on; its caller looks it up, and then opens it or ends it again.
 * @throws IdempotencyError
 */
export function openIntent(
  existing: Intent | null,
  { kept = {}, ...request }: NewRequest,
  {
    denied,
    safeToRepeat,
    recordsAbsence,
    behind,
    now,
    pace,
  }: {
    denied: Intent | null;
    safeToRepeat: boolean;
    recordsAbsence: boolean;
    /** The mark of the records, if the request moves money. */
    behind: Behind | null;
    now: Date;
    pace: number;
  },
): Opening {
  const lookUpAt = plusMs(now, SENDING_MS * pace);
  if (existing && existing.state !== 'refused') {
    // The resource of an absent intent may still be found, so its key stays with its input.
    if (existing.inputHash !== request.inputHash || !hasKept(existing, kept))
      throw new IdempotencyError('This idempotency key was used before with another input');
    const isRepeatable =
      (existing.state === 'absent' && !recordsAbsence) ||
      // The state became `sending` below, before the lookup that denied it.
      (existing.state === 'sending' && denied?.state === 'absent') ||
      (existing.state === 'in_doubt' && safeToRepeat);
    const isDenied = isRepeatable && denied !== null && isSameAttempt(existing, denied);
    if (!isDenied) {
      const replay = { intent: existing, fresh: false };
      if (existing.state !== 'absent' || recordsAbsence) return replay;
      // From here on the intent may be sent.
      return { ...replay, save: { intent: { ...existing, state: 'sending' }, lookUpAt } };
    }
  }
  const intent: Intent = {
    ...request,
    id: existing?.id ?? request.id,
    state: 'sending',
    resourceId: null,
    lookups: 0,
    lookedUpAt: null,
    finding: null,
    behindSince: behind && mayBeMissing(existing, behind) ? behind.since : null,
    createdAt: now,
  };
  return { intent, fresh: true, save: { intent, lookUpAt } };
}

/**
 * Whether a key may have been used in a request that the records lack. A newer intent was looked for before
 * it was sent.
 */
export function mayBeMissing(existing: Intent | null, { until }: Behind): boolean {
  return !existing || existing.createdAt < until || existing.behindSince !== null;
}

/** Whether an intent has these members. An intent of an earlier version has none in its summary. */
function hasKept({ summary }: Intent, kept: Readonly<Record<string, string | null>>): boolean {
  const known = summary as Readonly<Record<string, string | null | undefined>>;
  return Object.entries(kept).every(([name, value]) => (known[name] ?? null) === value);
}

// ── Unknown outcomes ────────────────────────────────────────────────────────────────────────────

export function markUnknown(
  current: Intent,
  now: Date,
  pace: number,
  result?: NotFound,
): { intent: Intent; lookUpAt: Date } {
  const finding = result === undefined ? current.finding : describe(result);
  return {
    intent: { ...current, state: 'in_doubt', finding },
    lookUpAt: plusMs(now, LOOKUP_PAUSES_MS[0]! * pace),
  };
}

/**
 * The outcome of the stored intent after a caller's lookup that did not find the resource: the sender may
 * have recorded the end meanwhile. Null if the outcome stays unknown.
 */
export function outcomeAfterLookup(
  stored: Intent | undefined,
  { safeToRepeat, recordsAbsence }: { safeToRepeat: boolean; recordsAbsence: boolean },
): Outcome | null {
  switch (stored?.state) {
    case 'done':
      return { resourceId: stored.resourceId!, replayed: true };
    case 'refused':
      return 'not_done';
    case 'absent':
      return recordsAbsence ? 'changed' : null;
    case 'in_doubt':
      return safeToRepeat ? 'not_done' : null;
    default:
      return null;
  }
}

/**
 * The outcome of an intent that was about to be marked unknown, if it has ended meanwhile; null if it has
 * not.
 */
export function outcomeInMeantime(
  intent: Intent,
  current: Intent | null,
  recordsAbsence: boolean,
): Outcome | null {
  if (!current) return null;
  if (current.state === 'refused' || !isSameAttempt(current, intent)) return 'changed';
  if (current.state === 'absent' && recordsAbsence) return 'changed';
  return current.state === 'done' ? { resourceId: current.resourceId!, replayed: true } : null;
}

/**
 * Whether a lookup at `at` shows that the request was never done: it is old enough, and the service denies
 * it.
 */
export function showsAbsence(intent: Intent, result: NotFound, at: Date, pace: number): boolean {
  return result === 'not_there' && at >= absentAtOf(intent, pace);
}

/**
 * The intent after an answered lookup in the background. `lookUpAt`: the next lookup; null if the intent has
 * ended. `givenUpAfterMs`: the age at which a lookup of its kind gives up the request; a lookup is made at
 * that age.
 */
export function afterLookup(
  current: Intent,
  result: NotFound,
  {
    at,
    now,
    pace,
    givenUpAfterMs,
  }: { at: Date; now: Date; pace: number; givenUpAfterMs?: number | undefined },
): { intent: Intent; lookUpAt: Date | null } {
  const known = { ...current, lookedUpAt: at, finding: describe(result) };
  if (showsAbsence(current, result, at, pace))
    return { intent: { ...known, state: 'absent' }, lookUpAt: null };
  const pauseMs = LOOKUP_PAUSES_MS[Math.min(current.lookups, LOOKUP_PAUSES_MS.length - 1)]!;
  const next = plusMs(now, pauseMs * pace);
  // The lookups that can end the intent, in their order.
  const decisive = [absentAtOf(current, pace)];
  if (givenUpAfterMs !== undefined) decisive.push(plusMs(current.createdAt, givenUpAfterMs));
  return {
    intent: { ...known, state: 'in_doubt', lookups: current.lookups + 1 },
    lookUpAt: decisive.find((instant) => now < instant && instant < next) ?? next,
  };
}

/** The intent after a lookup that failed, which does not count. */
export function afterFailedLookup(current: Intent, at: Date): Intent {
  return {
    ...current,
    state: 'in_doubt',
    lookedUpAt: at,
    finding: 'The payments service could not be asked',
  };
}

/** Whether the lookup at `at` is the first one of an intent whose outcome has been unknown for too long. */
export function becomesOverdue({ createdAt, lookedUpAt }: Intent, at: Date, pace: number): boolean {
  const overdueAt = plusMs(createdAt, OVERDUE_AFTER_MS * pace);
  return at >= overdueAt && (lookedUpAt === null || lookedUpAt < overdueAt);
}

function absentAtOf({ createdAt }: Intent, pace: number): Date {
  return plusMs(createdAt, ABSENT_AFTER_MS * pace);
}

function describe(result: NotFound): string {
  if (result === 'not_there') return 'The payments service does not show it';
  return result === 'unclear' ? 'The answer of the payments service does not say' : result.unclear;
}
