/** The only source of time. Tests move it; nothing else in the program asks the machine for the hour. */
export interface Clock {
  now(): Date;
  /** The same in milliseconds since 1970: what is looked at several times in each request. */
  ms(): number;
  /** Runs `task` once when the clock reaches `at` (at once if it already has). Returns what cancels it. */
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

/** A clock at a distance from the one that it goes by. */
export interface OffsetClock extends Clock {
  /** How far it is ahead of that one; below 0 where it is behind. */
  offsetMs(): number;
  /** Puts it ahead by so much in all, or behind; what is due by then runs at once, earliest first. */
  setOffset(offsetMs: number): void;
}

export function createOffsetClock(base: Clock): OffsetClock {
  let offset = 0;
  const waiting = new Set<{ at: Date; run: () => void; cancel: () => void }>();
  const wait = (at: Date, run: () => void) => base.schedule(plusMs(at, -offset), run);

  return {
    now: () => plusMs(base.now(), offset),
    ms: () => base.ms() + offset,
    schedule(at, task) {
      const run = () => {
        waiting.delete(entry);
        task();
      };
      const entry = { at, run, cancel: wait(at, run) };
      waiting.add(entry);
      return () => {
        waiting.delete(entry);
        entry.cancel();
      };
    },
    offsetMs: () => offset,
    setOffset(offsetMs) {
      if (!Number.isSafeInteger(offsetMs))
        throw new RangeError('an offset is a whole number of milliseconds');
      if (offsetMs === offset) return;
      offset = offsetMs;
      for (const entry of [...waiting].sort((left, right) => left.at.getTime() - right.at.getTime())) {
        entry.cancel();
        entry.cancel = wait(entry.at, entry.run);
      }
    },
  };
}

/** A clock that can be put forward, for the simulator. */
export interface ShiftableClock extends Clock {
  /** How far it is ahead of the clock that it goes by. */
  offsetMs(): number;
  /** Puts it ahead by so much in all; what has become due then runs at once, earliest first. Never back. */
  shiftTo(offsetMs: number): void;
}

/** Goes as `base` does, ahead of it by what it was put forward. */
export function createShiftableClock(base: Clock): ShiftableClock {
  const { setOffset, ...clock } = createOffsetClock(base);
  return {
    ...clock,
    shiftTo(offsetMs) {
      // One that is no number is not below it, and is refused.
      if (!(offsetMs <= clock.offsetMs())) setOffset(offsetMs);
    },
  };
}

/** Whole seconds until an instant, at least one: for Retry-After. */
export function secondsUntil(instant: Date, clock: Pick<Clock, 'ms'>): number {
  return Math.max(1, Math.ceil((instant.getTime() - clock.ms()) / 1_000));
}

/** `instant` moved by a number of milliseconds. */
export function plusMs(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms);
}
