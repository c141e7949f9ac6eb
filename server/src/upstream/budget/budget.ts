import { randomUUID } from 'node:crypto';
import { type Clock, plusMs } from '../../kernel/clock.ts';
import type { BudgetSubject } from '../../kernel/requester.ts';
import { beforeWork, type Database } from '../../state/db/database.ts';
import { serviceLimit } from '../rate-limits.ts';
import {
  type BudgetState,
  type RequestOptions,
  UPSTREAM_PRIORITIES,
  UpstreamFault,
  type UpstreamPriority,
} from '../upstream.ts';
import { byPriority, type Decision, decide, type WindowState } from './scheduler.ts';
import { blockAccount, capSlots, dropSlot, endSlot, insertSlots, lockAccount, selectHeld } from './store.ts';

/** A permission to send one request. */
export interface Slot {
  /** The time after which the request may no longer be sent. */
  readonly sendBy: Date;
  /** Ends the request: answered, broken off, or never sent. Only the first call has an effect. */
  end(outcome: 'answered' | 'broken_off' | 'not_sent'): void;
}

/**
 * A budget: at most `limit` requests of one account reach the service in any window, over all instances that
 * share the database.
 *
 * The service counts a request when it arrives, which this side does not see. It arrives between the grant of
 * its slot and its end, and the slot is held from the grant until a whole window after the end. So the slots
 * of all requests that arrive within one window are held at one time, the window's end, and no more than
 * `limit` are.
 *
 * - *End*: a request has ended when its answer has arrived. If no answer arrived, its connection was
 * destroyed; bytes that were written by then may still be on their way, so it counts as ended `GRACE_MS`
 * later.
 * - *Crash*: an instance that dies with a request under way ends nothing. But it sends nothing later than
 * `longestMs` after the grant (`sendBy`, which the sender checks as it writes), and bytes that it wrote
 * arrive within the grace. So a slot that is granted until `granted + longestMs + GRACE_MS + windowMs` is
 * held long enough, and the end of a request only ever shortens that. An end that fails to be written costs
 * capacity, but never breaks the limit.
 * - *Clocks* of instances may differ by `skewMs`, so every slot is held longer by that. Grants and ends use
 * the latest instant that any instance has seen: a slow clock frees nothing early.
 * - *Exactness*: a grant locks the account's row, then counts in a statement of its own, which sees
 * everything that was committed before it had the lock.
 */
export interface Budget {
  readonly windowMs: number;
  /**
   * Takes a slot, at once or from a queue: by class, then by time of arrival.
   * @throws RateLimitError as soon as it is clear that no slot becomes free within `waitMs`
   */
  take(
    requestOptions: Required<Pick<RequestOptions, 'priority' | 'waitMs'>> & Pick<RequestOptions, 'subject'>,
  ): Promise<Slot>;
  /** Stops all requests on every instance, for a window at most. */
  block(ms: number): Promise<void>;
  state(): BudgetState;
  /** Resolves when no decision is under way and all ends of slots are written. */
  idle(): Promise<void>;
  /** Refuses the waiting requests, then resolves as `idle` does. */
  close(): Promise<void>;
}

/** The requests in a window (the document's section 8). */
const LIMIT = 120;
const WINDOW_MS = 60_000;
const LONGEST_MS = 20_000;
const GRACE_MS = 2_000;
const SKEW_MS = 250;
/**
 * The age up to which the last view suffices to refuse a request or let it wait. A grant always reads the
 * database.
 */
const VIEW_TTL_MS = 1_000;

interface Waiter {
  readonly class: UpstreamPriority;
  readonly subject: BudgetSubject | null;
  /** The end of the wait by this instance's clock, in milliseconds since the epoch. */
  readonly waitUntilMs: number;
  resolve(slot: Slot): void;
  reject(error: unknown): void;
}

/** The state that was last read, and the time of that read by this instance's clock. */
interface LastView {
  readonly state: WindowState;
  readonly readAt: Date;
}

/** Creates a budget. `limit: 0` switches it off: requests are not counted, and a block holds for this instance alone. */
export function createBudget({
  database,
  clock,
  accountKey,
  limit = LIMIT,
  windowMs = WINDOW_MS,
  longestMs = LONGEST_MS,
  skewMs = SKEW_MS,
  onFault,
}: {
  database: Pick<Database, 'sql' | 'transaction'>;
  clock: Clock;
  /** The key of the account whose budget this is: all instances with the same key share it. */
  accountKey: string;
  limit?: number;
  windowMs?: number;
  longestMs?: number;
  /** The largest difference between the clocks of two instances. */
  skewMs?: number;
  /**
   * Reports a fault that prevented the end of a slot from being written: the slot is held for its whole
   * lease.
   */
  onFault: (error: unknown) => void;
}): Budget {
  const isLimited = limit > 0;
  const holdMs = windowMs + skewMs;
  const leaseMs = longestMs + GRACE_MS + holdMs;
  const rules = { limit: isLimited ? limit : Number.POSITIVE_INFINITY, holdMs };
  const limitName = isLimited
    ? `${limit} requests ${windowMs === 60_000 ? 'a minute' : `in ${windowMs / 1_000} seconds`} to the payments service`
    : 'requests to the payments service';

  let queue: Waiter[] = [];
  let lastView: LastView | null = null;
  let isViewFresh = false;
  /** The end of a block while the budget is switched off. */
  let localBlockUntil: Date | null = null;
  let running: Promise<void> | null = null;
  let isRoundDue = false;
  let closed = false;
  let cancelWake: (() => void) | undefined;
  const writing = new Set<Promise<void>>();

  function closedFault(): UpstreamFault {
    return new UpstreamFault('unreachable', 'no', 'closed');
  }

  /**
   * The window as it was last read, without the slots that have become free since; null before the first
   * read.
   */
  function knownState(now: Date): WindowState | null {
    if (!isLimited) return { at: now, blockedUntil: localBlockUntil, held: [] };
    if (!lastView) return null;
    const at = plusMs(lastView.state.at, now.getTime() - lastView.readAt.getTime());
    const held = lastView.state.held.filter(({ heldUntil }) => heldUntil > at);
    return { at, blockedUntil: lastView.state.blockedUntil, held };
  }

  function decideAll(state: WindowState, waiters: readonly Waiter[], now: Date): Decision[] {
    const requests = waiters.map((waiter) => ({
      ...waiter,
      // A request whose wait ended during the previous round still gets a slot that is free.
      waitMs: Math.max(0, waiter.waitUntilMs - now.getTime()),
    }));
    return decide(state, requests, rules);
  }

  /**
   * Locks the account, decides, and writes the granted slots. Returns the slot ids by waiter, null for a
   * waiter without a grant.
   */
  async function grant(waiters: readonly Waiter[], now: Date) {
    return database.transaction(async (sql) => {
      const { at, blockedUntil } = await lockAccount(sql, { key: accountKey, now, leewayMs: windowMs });
      const held = await selectHeld(sql, accountKey, at);
      const latestEnd = plusMs(at, leaseMs);
      if (held.some(({ heldUntil }) => heldUntil > latestEnd)) await capSlots(sql, accountKey, latestEnd);
      // A block that would last longer than a window dates from before the clock was set back.
      const blocked = blockedUntil && blockedUntil <= plusMs(at, windowMs) ? blockedUntil : null;
      const state = { at, blockedUntil: blocked, held };
      const decisions = decideAll(state, waiters, now);
      const ids = decisions.map(({ kind }) => (kind === 'granted' ? randomUUID() : null));
      const newSlots = waiters.flatMap(({ class: priority, subject }, index) => {
        const id = ids[index];
        return id ? [{ id, class: priority, subject, heldUntil: latestEnd }] : [];
      });
      if (newSlots.length > 0) await insertSlots(sql, accountKey, newSlots);
      return { state: { ...state, held: [...held, ...newSlots] }, decisions, ids };
    });
  }

  /** Answers each decided request, and schedules a round for the time when the next slot may become free. */
  function resolveWaiters(
    waiters: readonly Waiter[],
    decisions: readonly Decision[],
    slotOf: (index: number) => Slot,
  ) {
    let wakeMs = Number.POSITIVE_INFINITY;
    const decided = new Set<Waiter>();
    decisions.forEach((decision, index) => {
      const waiter = waiters[index]!;
      if (decision.kind === 'waits') {
        wakeMs = Math.min(wakeMs, decision.ms);
        return;
      }
      decided.add(waiter);
      if (decision.kind === 'granted') {
        const slot = slotOf(index);
        if (closed) slot.end('not_sent');
        else waiter.resolve(slot);
      } else waiter.reject(serviceLimit(limitName, Math.max(1, Math.ceil(decision.retryAfterMs / 1_000))));
    });
    queue = queue.filter((waiter) => !decided.has(waiter));
    if (Number.isFinite(wakeMs)) cancelWake = clock.schedule(plusMs(clock.now(), wakeMs), wake);
  }

  async function runRound(): Promise<void> {
    cancelWake?.();
    const waiters = byPriority(queue);
    if (waiters.length === 0) return;
    const now = clock.now();
    const state = knownState(now);
    if (state && (!isLimited || isRecent(now))) {
      const decisions = decideAll(state, waiters, now);
      if (!isLimited || decisions.every(({ kind }) => kind !== 'granted'))
        return resolveWaiters(waiters, decisions, () => UNCOUNTED);
    }
    try {
      isViewFresh = true;
      const granted = await grant(waiters, now);
      lastView = { state: granted.state, readAt: now };
      resolveWaiters(waiters, granted.decisions, (index) => createSlot(granted.ids[index]!, now));
    } catch (error) {
      queue = queue.filter((waiter) => !waiters.includes(waiter));
      for (const waiter of waiters) waiter.reject(beforeWork(error));
    }
  }

  /** Whether the last view is recent enough to decide. A view from before the clock was set back is not. */
  function isRecent(now: Date): boolean {
    if (!isViewFresh || !lastView) return false;
    const ageMs = now.getTime() - lastView.readAt.getTime();
    return ageMs >= 0 && ageMs < VIEW_TTL_MS;
  }

  async function runRounds(): Promise<void> {
    do {
      isRoundDue = false;
      await runRound();
    } while (isRoundDue);
    running = null;
  }

  /** Runs one round at a time; requests that arrive during a round wait for the next. */
  function wake(): void {
    isRoundDue = true;
    running ??= runRounds();
  }

  /** Marks the last view as outdated after the end of a slot, which may let a waiting request through. */
  function invalidateView(): void {
    isViewFresh = false;
    if (queue.length > 0) wake();
  }

  function trackWrite(change: Promise<unknown>): Promise<void> {
    const written = change.then(invalidateView, onFault).finally(() => writing.delete(written));
    writing.add(written);
    return written;
  }

  function createSlot(id: string, now: Date): Slot {
    let ended = false;
    return {
      sendBy: plusMs(now, longestMs),
      end(outcome) {
        if (ended) return;
        ended = true;
        if (outcome === 'not_sent') void trackWrite(dropSlot(database.sql, id));
        else {
          const heldMs = holdMs + (outcome === 'answered' ? 0 : GRACE_MS);
          void trackWrite(endSlot(database.sql, { id, now: clock.now(), heldMs }));
        }
      },
    };
  }

  async function idle(): Promise<void> {
    while (running || writing.size > 0) await Promise.all([running, ...writing]);
  }

  return {
    windowMs,
    idle,
    take({ priority, subject = null, waitMs }) {
      if (closed) return Promise.reject(closedFault());
      const now = clock.ms();
      if (!isLimited && !(localBlockUntil && localBlockUntil.getTime() > now))
        return Promise.resolve(UNCOUNTED);
      return new Promise((resolve, reject) => {
        queue.push({ class: priority, subject, waitUntilMs: now + waitMs, resolve, reject });
        wake();
      });
    },
    async block(ms) {
      const now = clock.now();
      const blockMs = Math.min(ms, windowMs);
      if (!isLimited) {
        localBlockUntil = plusMs(now, blockMs);
        return;
      }
      const blockedUntil = await blockAccount(database.sql, {
        ...{ key: accountKey, now, ms: blockMs, leewayMs: windowMs },
      });
      const state = lastView?.state ?? { at: now, held: [] };
      lastView = { state: { ...state, blockedUntil }, readAt: lastView?.readAt ?? now };
    },
    state() {
      const now = clock.now();
      const state = knownState(now);
      const used = Object.fromEntries(UPSTREAM_PRIORITIES.map((each) => [each, 0])) as BudgetUsed;
      for (const { class: priority } of state?.held ?? []) used[priority] += 1;
      const blockedUntil = state?.blockedUntil ?? null;
      return {
        limit: isLimited ? limit : null,
        windowMs,
        used,
        asOf: lastView?.readAt ?? null,
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

/** The slot of a budget that is switched off: it does not expire, and its end has no effect. */
const UNCOUNTED: Slot = { sendBy: new Date(8.64e15), end: () => undefined };
