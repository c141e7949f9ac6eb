/** The time that the updates of one page may take on the thread, which everything else waits for. */
const SLICE_MS = 4;
/** The pause after a page, as a multiple of the time that it took: the rest of the thread's time is everybody else's. */
const PAUSE = 2;
const LARGEST_PAGE = 100;
const SMALLEST_PAGE = 10;

/**
 * Turns for subscriptions that read on in the log, thousands of updates behind its end: one page at a time in this process, of as
 * many updates as fit into a slice, and then a pause. A live follower and a write wait for a slice at most, however many
 * followers replay.
 */
export interface Replays {
  /** Resolves with the turn of a page. */
  take(): Promise<Turn>;
}

interface Turn {
  /** The most events that the page may have. */
  readonly limit: number;
  /** Hands the events of the page over, and ends the turn. */
  end(events: number, handOver: () => void): void;
}

export function createReplays({
  now = () => performance.now(),
  wait = (ms, then) => void setTimeout(then, ms),
}: {
  /** Replaces the machine's time in a test. */
  now?: () => number;
  wait?: (ms: number, then: () => void) => void;
} = {}): Replays {
  /** The replays that wait, in the order of their coming. */
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
