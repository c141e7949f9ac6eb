import { randomUUID } from 'node:crypto';
import { beforeWork, type Database } from '../../db/database.ts';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import { RateLimitError } from '../../kernel/errors.ts';
import {
  type BudgetState,
  type RequestOptions,
  UPSTREAM_PRIORITIES,
  UpstreamFault,
  type UpstreamPriority,
} from '../upstream.ts';
import { byPriority, type Decision, decide, type WindowState } from './scheduler.ts';
import { blockAccount, dropSlot, endSlot, insertSlots, lockAccount, selectHeld, shorten } from './store.ts';

/** A permission to send one request. */
export interface Slot {
  /** The time after which the request is not sent any more. */
  readonly sendBy: Date;
  /**
   * Ends the request: it was answered, it was broken off, or nothing of it was ever sent. The first call counts.
   */
  end(how: 'answered' | 'broken_off' | 'not_sent'): void;
}

/**
 * A budget: at most `limit` requests of one account reach the service in any window, over all instances that share the
 * database.
 *
 * The service counts a request when it arrives, which this side does not see. It arrives between the grant of its slot
 * and its end, and the slot is held from the grant until a whole window after the end. So the slots of all requests that
 * arrive within one window are held at one time, the window's end, and no more than `limit` are.
 *
 * - *End*: a request has ended when its answer has come. Where none came, its connection was destroyed; what was written
 *   by then may still be on its way, so it counts as ended `GRACE_MS` later.
 * - *Crash*: an instance that dies with a request under way ends nothing. But nothing is sent later than `longestMs`
 *   after the grant (`sendBy`, which the sender checks as it writes), and what is written arrives within the grace. So a
 *   slot that is granted until `granted + longestMs + GRACE_MS + windowMs` is held long enough already, and the end of a
 *   request only ever shortens that. An end that fails to be written costs capacity, never the limit.
 * - *Clocks* of instances may differ by `skewMs`, by which all is held longer. Grants and ends use the latest instant
 *   that any instance has seen: a slow clock frees nothing early.
 * - *Exactness*: a grant locks the account's row, then counts in a statement of its own, which sees all that was
 *   committed before it had the lock.
 */
export interface Budget {
  readonly windowMs: number;
  /**
   * Takes a slot, at once or in turn: by class, then by time.
   * @throws RateLimitError as soon as it is clear that there is none within `waitMs`
   */
  take(
    requestOptions: Required<Pick<RequestOptions, 'priority' | 'waitMs'>> & Pick<RequestOptions, 'subject'>,
  ): Promise<Slot>;
  /** Stops all requests for a time, on every instance: a window at the most. */
  block(ms: number): Promise<void>;
  state(): BudgetState;
  /** Resolves when all that can be decided now is decided, and the ends of slots are written. */
  idle(): Promise<void>;
  /** Refuses the waiting requests, and then resolves as `idle`. */
  close(): Promise<void>;
}

/** The requests in a window (the document's section 8). */
const LIMIT = 120;
const WINDOW_MS = 60_000;
/**
 * The requests of one token's payers in a window: a paying person needs three or four, and one who tries a lot waits.
 */
const SUBJECT_LIMIT = 10;
const LONGEST_MS = 20_000;
const GRACE_MS = 2_000;
const SKEW_MS = 250;
/** The time for which this instance trusts its last view to refuse or to wait; to grant it always looks. */
const KNOWN_MS = 1_000;

interface Waiter {
  readonly class: UpstreamPriority;
  readonly subject: string | null;
  /** The end of the lease by this instance's clock, in milliseconds. */
  readonly until: number;
  resolve(slot: Slot): void;
  reject(error: unknown): void;
}

/** The state that was last read, and this instance's clock then. */
interface LastView {
  readonly state: WindowState;
  readonly now: Date;
}

/** Creates a budget. `limit: 0` switches it off: nothing is counted, and a block holds for this instance alone. */
export function createBudget({
  database,
  clock,
  accountKey,
  limit = LIMIT,
  windowMs = WINDOW_MS,
  subjectLimit = SUBJECT_LIMIT,
  longestMs = LONGEST_MS,
  skewMs = SKEW_MS,
  onFault,
}: {
  database: Pick<Database, 'sql' | 'transaction'>;
  clock: Clock;
  /** The account whose budget it is: all instances with the same key share it. */
  accountKey: string;
  limit?: number;
  windowMs?: number;
  /** The requests in a window of one `subject` of the class `payer`. */
  subjectLimit?: number;
  longestMs?: number;
  /** The largest difference between the clocks of two instances. */
  skewMs?: number;
  /** Reports a fault that keeps a slot's end from being written; the slot is held for its whole lease then. */
  onFault: (error: unknown) => void;
}): Budget {
  const counts = limit > 0;
  const holdMs = windowMs + skewMs;
  const leaseMs = longestMs + GRACE_MS + holdMs;
  const rules = counts
    ? { limit, holdMs, subjectLimit }
    : { limit: Number.POSITIVE_INFINITY, holdMs, subjectLimit: Number.POSITIVE_INFINITY };
  const words = counts
    ? `${limit} requests ${windowMs === 60_000 ? 'a minute' : `in ${windowMs / 1_000} seconds`} to the payments service`
    : 'requests to the payments service';

  let queue: Waiter[] = [];
  let lastView: LastView | null = null;
  let fresh = false;
  /** The end of a block where nothing is counted. */
  let blockedHere: Date | null = null;
  let turning: Promise<void> | null = null;
  let again = false;
  let closed = false;
  let cancelWake: (() => void) | undefined;
  const writing = new Set<Promise<void>>();

  function closedFault(): UpstreamFault {
    return new UpstreamFault('unreachable', 'no', 'closed');
  }

  /** The window as it was last seen, as far as that still holds. */
  function known(now: Date): WindowState | null {
    if (!counts) return { at: now, blockedUntil: blockedHere, held: [] };
    if (!lastView) return null;
    const at = plusMs(lastView.state.at, now.getTime() - lastView.now.getTime());
    const held = lastView.state.held.filter(({ heldUntil }) => heldUntil > at);
    return { at, blockedUntil: lastView.state.blockedUntil, held };
  }

  function decideAll(state: WindowState, waiters: readonly Waiter[], now: Date): Decision[] {
    const requests = waiters.map((waiter) => ({ ...waiter, waitMs: waiter.until - now.getTime() }));
    return decide(state, requests, rules);
  }

  /** Decides with the account locked, writes the granted slots, and returns them. */
  async function grant(waiters: readonly Waiter[], now: Date) {
    return database.transaction(async (sql) => {
      const { at, blockedUntil } = await lockAccount(sql, { key: accountKey, now, leewayMs: windowMs });
      const held = await selectHeld(sql, accountKey, at);
      const longest = plusMs(at, leaseMs);
      if (held.some(({ heldUntil }) => heldUntil > longest)) await shorten(sql, accountKey, longest);
      // A block that ends later than a window from now is from before the clock was set back.
      const blocked = blockedUntil && blockedUntil <= plusMs(at, windowMs) ? blockedUntil : null;
      const state = { at, blockedUntil: blocked, held };
      const decisions = decideAll(state, waiters, now);
      const ids = decisions.map(({ kind }) => (kind === 'granted' ? randomUUID() : null));
      const given = waiters.flatMap(({ class: upstreamClass, subject }, index) => {
        const id = ids[index];
        return id ? [{ id, class: upstreamClass, subject, heldUntil: longest }] : [];
      });
      if (given.length > 0) await insertSlots(sql, accountKey, given);
      return { state: { ...state, held: [...held, ...given] }, decisions, ids };
    });
  }

  /** Answers each waiting request as was decided, and plans the time at which the next may have its slot. */
  function settle(
    waiters: readonly Waiter[],
    decisions: readonly Decision[],
    slotOf: (index: number) => Slot,
  ) {
    let wakeMs = Number.POSITIVE_INFINITY;
    const done = new Set<Waiter>();
    decisions.forEach((decision, index) => {
      const waiter = waiters[index]!;
      if (decision.kind === 'waits') {
        wakeMs = Math.min(wakeMs, decision.ms);
        return;
      }
      done.add(waiter);
      if (decision.kind === 'granted') {
        const slot = slotOf(index);
        if (closed) slot.end('not_sent');
        else waiter.resolve(slot);
      } else waiter.reject(new RateLimitError(words, Math.max(1, Math.ceil(decision.retryAfterMs / 1_000))));
    });
    queue = queue.filter((waiter) => !done.has(waiter));
    if (Number.isFinite(wakeMs)) cancelWake = clock.schedule(plusMs(clock.now(), wakeMs), wake);
  }

  async function turn(): Promise<void> {
    cancelWake?.();
    const waiters = byPriority(queue);
    if (waiters.length === 0) return;
    const now = clock.now();
    const state = known(now);
    if (state && (!counts || isRecent(now))) {
      const decisions = decideAll(state, waiters, now);
      if (!counts || decisions.every(({ kind }) => kind !== 'granted'))
        return settle(waiters, decisions, () => UNCOUNTED);
    }
    try {
      fresh = true;
      const granted = await grant(waiters, now);
      lastView = { state: granted.state, now };
      settle(waiters, granted.decisions, (index) => createSlot(granted.ids[index]!, now));
    } catch (error) {
      queue = queue.filter((waiter) => !waiters.includes(waiter));
      for (const waiter of waiters) waiter.reject(beforeWork(error));
    }
  }

  function isRecent(now: Date): boolean {
    return fresh && lastView !== null && now.getTime() - lastView.now.getTime() < KNOWN_MS;
  }

  async function turns(): Promise<void> {
    do {
      again = false;
      await turn();
    } while (again);
    turning = null;
  }

  /** Runs one round at a time; requests that arrive during a round wait for the next. */
  function wake(): void {
    again = true;
    turning ??= turns();
  }

  /** Something has changed that others' slots may depend on: the last view no longer refuses. */
  function changed(): void {
    fresh = false;
    if (queue.length > 0) wake();
  }

  function write(change: Promise<unknown>): Promise<void> {
    const written = change.then(changed, onFault).finally(() => writing.delete(written));
    writing.add(written);
    return written;
  }

  function createSlot(id: string, now: Date): Slot {
    let ended = false;
    return {
      sendBy: plusMs(now, longestMs),
      end(how) {
        if (ended) return;
        ended = true;
        if (how === 'not_sent') void write(dropSlot(database.sql, id));
        else {
          const heldMs = holdMs + (how === 'answered' ? 0 : GRACE_MS);
          void write(endSlot(database.sql, { id, now: clock.now(), heldMs }));
        }
      },
    };
  }

  async function idle(): Promise<void> {
    while (turning || writing.size > 0) await Promise.all([turning, ...writing]);
  }

  return {
    windowMs,
    idle,
    take({ priority: upstreamClass, subject = null, waitMs }) {
      if (closed) return Promise.reject(closedFault());
      const now = clock.ms();
      if (!counts && !(blockedHere && blockedHere.getTime() > now)) return Promise.resolve(UNCOUNTED);
      return new Promise((resolve, reject) => {
        queue.push({ class: upstreamClass, subject, until: now + waitMs, resolve, reject });
        wake();
      });
    },
    async block(ms) {
      const now = clock.now();
      const blockMs = Math.min(ms, windowMs);
      if (!counts) {
        blockedHere = plusMs(now, blockMs);
        return;
      }
      const blockedUntil = await blockAccount(database.sql, { key: accountKey, now, ms: blockMs });
      const state = lastView?.state ?? { at: now, held: [] };
      lastView = { state: { ...state, blockedUntil }, now: lastView?.now ?? now };
    },
    state() {
      const now = clock.now();
      const state = known(now);
      const used = Object.fromEntries(UPSTREAM_PRIORITIES.map((each) => [each, 0])) as BudgetUsed;
      for (const { class: upstreamClass } of state?.held ?? []) used[upstreamClass] += 1;
      const blockedUntil = state?.blockedUntil ?? null;
      return {
        limit: counts ? limit : null,
        windowMs,
        used,
        asOf: lastView?.now ?? null,
        blockedUntil: blockedUntil && state && blockedUntil > state.at ? blockedUntil : null,
      };
    },
    async close() {
      closed = true;
      cancelWake?.();
      for (const waiter of queue.splice(0)) waiter.reject(closedFault());
      await idle();
    },
  };
}

type BudgetUsed = Record<UpstreamPriority, number>;

/** The slot where nothing is counted: there is nothing to end. */
const UNCOUNTED: Slot = { sendBy: new Date(8.64e15), end: () => undefined };
