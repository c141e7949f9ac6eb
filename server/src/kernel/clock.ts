/** The only source of time. Tests move it; nothing else in the program asks the machine for the hour. */
export interface Clock {
  now(): Date;
  /** Runs `task` once when the clock reaches `at` (at once if it already has). Returns what cancels it. */
  schedule(at: Date, task: () => void): () => void;
}

/** `setTimeout` fires at once for 2³¹ ms and more, so a far instant is reached in several steps. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export function createSystemClock(): Clock {
  return {
    now: () => new Date(),
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

/** `instant` moved by a number of milliseconds. */
export function plusMs(instant: Date, ms: number): Date {
  return new Date(instant.getTime() + ms);
}
