export const DAY_MS = 86_400_000;

/** The only source of time. Tests move it; nothing else in the program reads the machine's clock. */
export interface Clock {
  now(): Date;
  /** Returns the time in milliseconds since 1970, for code that reads it several times in each request. */
  ms(): number;
  /** Runs `task` once when the clock reaches `at` (at once if it already has). Returns a function that cancels it. */
  schedule(at: Date, task: () => void): () => void;
}

/** `setTimeout` fires at once for 2³¹ ms and more, so a far instant is reached in several steps. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => new Date(),
    ms: () => Date.now(),
    schedule(at, task) {
      let timer: NodeJS.Timeout;
      const wait = () => {
        const remainingMs = at.getTime() - Date.now();
        if (remainingMs <= 0) timer = setTimeout(task, 0);
        else if (remainingMs > LONGEST_TIMEOUT_MS) timer = setTimeout(wait, LONGEST_TIMEOUT_MS);
        else timer = setTimeout(task, remainingMs);
        timer.unref();
      };
      wait();
      return () => clearTimeout(timer);
    },
  };
}

/**
 * A clock that runs at an offset from a base clock. If it is set back by more than a minute, the tasks of its
 * next minute still run when they would have run: a poll that repeats each second does not pause for the
 * hours by which the clock was ahead.
 */
export interface OffsetClock extends Clock {
  /** Returns the time by which the clock is ahead of its base clock; below 0 if it is behind. */
  offsetMs(): number;
  /** Sets the offset. Tasks that are due by then run at once, earliest first. */
  setOffset(offsetMs: number): void;
}

export function createOffsetClock(base: Clock): OffsetClock {
  let offset = 0;
  const scheduled = new Set<{ at: Date; isSoon: boolean; run: () => void; cancel: () => void }>();
  // A table that the set has outgrown lives until a full collection, with all that its entries reach: some requests
  // would, each with its buffers.
  const leave = (entry: { run: () => void; cancel: () => void }) => {
    entry.run = NOTHING;
    entry.cancel = NOTHING;
  };
  const scheduleAtBase = (at: Date, run: () => void) => base.schedule(plusMs(at, -offset), run);

  return {
    now: () => plusMs(base.now(), offset),
    ms: () => base.ms() + offset,
    schedule(at, task) {
      const run = () => {
        scheduled.delete(entry);
        leave(entry);
        task();
      };
      const isSoon = at.getTime() <= base.ms() + offset + AHEAD_MS;
      const entry = { at, isSoon, run, cancel: scheduleAtBase(at, run) };
      scheduled.add(entry);
      return () => {
        scheduled.delete(entry);
        entry.cancel();
        leave(entry);
      };
    },
    offsetMs: () => offset,
    setOffset(offsetMs) {
      if (!Number.isSafeInteger(offsetMs))
        throw new RangeError('an offset is a whole number of milliseconds');
      if (offsetMs === offset) return;
      const isSetBack = offsetMs < offset - AHEAD_MS;
      offset = offsetMs;
      for (const entry of [...scheduled].sort((left, right) => left.at.getTime() - right.at.getTime())) {
        if (isSetBack && entry.isSoon) continue;
        entry.cancel();
        entry.cancel = scheduleAtBase(entry.at, entry.run);
      }
    },
  };
}

const NOTHING = () => undefined;

/** A clock that can be advanced, for the simulator. */
export interface ShiftableClock extends Clock {
  /** Returns the time by which the clock is ahead of its base clock. */
  offsetMs(): number;
  /** Sets the offset, never back. Tasks that are due by then run at once, earliest first. */
  shiftTo(offsetMs: number): void;
}

/** Creates a clock that runs with `base`, ahead of it by the offset that was set last. */
export function createShiftableClock(base: Clock): ShiftableClock {
  const { setOffset, ...clock } = createOffsetClock(base);
  return {
    ...clock,
    shiftTo(offsetMs) {
      // NaN is not below the offset either, and setOffset rejects it.
      if (!(offsetMs <= clock.offsetMs())) setOffset(offsetMs);
    },
  };
}

/** Whole seconds until an instant, at least one, for Retry-After. */
export function secondsUntil(instant: Date, clock: Pick<Clock, 'ms'>): number {
  return Math.max(1, Math.ceil((instant.getTime() - clock.ms()) / 1_000));
}

/** The largest whole number of GraphQL's `Int`. */
const LARGEST_INT = 2 ** 31 - 1;

/** Whole seconds until an instant, 0 when it is past, 68 years at most: for countdowns. */
export function secondsLeft(instant: Date, clock: Pick<Clock, 'ms'>): number {
  return Math.min(LARGEST_INT, Math.max(0, Math.ceil((instant.getTime() - clock.ms()) / 1_000)));
}

/** The most milliseconds by which the clocks of two instances differ. */
export const AHEAD_MS = 60_000;

/** Whether a recorded instant lies so far ahead that the clock must have been set back since. */
export function isAhead(instant: Date, now: Date): boolean {
  return instant.getTime() > now.getTime() + AHEAD_MS;
}

/** `instant` moved by a number of milliseconds. */
export function plusMs(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms);
}
