/** The time that the updates of one page may take on the thread, for which everything else waits. */
const SLICE_MS = 4;
/**
 * The pause after a page, as a multiple of the time that it took: the rest of the thread's time is for
 * everything else.
 */
const PAUSE = 2;
const LARGEST_PAGE = 100;
const SMALLEST_PAGE = 10;

/**
 * Turns for subscriptions that are thousands of updates behind the end of the log: one page at a time in this
 * process, with as many updates as fit into a slice, and then a pause. A live follower or a write waits for a
 * slice at most, however many subscriptions replay.
 */
export interface Replays {
  /** Resolves when a page has its turn. */
  take(): Promise<Turn>;
}

interface Turn {
  /** The most events that the page may have. */
  readonly limit: number;
  /** Hands over the events of the page, and ends the turn. */
  end(events: number, handOver: () => void): void;
}

export function createReplays({
  now = () => performance.now(),
  wait = (ms, then) => void setTimeout(then, ms),
}: {
  /** The source of time in a test instead of the machine's. */
  now?: () => number;
  wait?: (ms: number, then: () => void) => void;
} = {}): Replays {
  /** The replays that wait, in the order of their arrival. */
  const waiting: ((turn: Turn) => void)[] = [];
  let isTaken = false;
  let limit = LARGEST_PAGE;

  function next(): void {
    const first = waiting.shift();
    isTaken = first !== undefined;
    first?.({ limit, end });
  }

  function end(events: number, handOver: () => void): void {
    const startedAt = now();
    try {
      handOver();
    } finally {
      const tookMs = now() - startedAt;
      if (events > 0) limit = pageOf(tookMs / events);
      wait(tookMs * PAUSE, next);
    }
  }

  return {
    take: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (!isTaken) next();
      }),
  };
}

function pageOf(msPerEvent: number): number {
  return Math.max(SMALLEST_PAGE, Math.min(LARGEST_PAGE, Math.floor(SLICE_MS / msPerEvent)));
}
