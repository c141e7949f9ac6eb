import { type Clock, plusMs } from './clock.ts';

/** Work that is done in batches: what comes while a batch is under way is part of the next one. */
export interface Batches {
  /**
   * Begins a batch of what waits if none is under way. A further one begins beside those under way if the newest of them is
   * late, now or later, so that a connection that has become silent holds back nothing else.
   */
  begin(): void;
  readonly isIdle: boolean;
  /** Resolves when no batch is under way. */
  idle(): Promise<void>;
}

/** The time after which a batch is late. */
const LATE_MS = 250;

export function createBatches<Item>({
  clock,
  take,
  run,
  most = Number.POSITIVE_INFINITY,
  isWhole = () => false,
}: {
  clock: Clock;
  /** Removes the next batch from what waits; it is empty if nothing waits that may be done now. */
  take: () => readonly Item[];
  /** Does a batch. Must not reject. */
  run: (batch: readonly Item[]) => Promise<unknown>;
  /** The most batches at once. */
  most?: number;
  /** Whether so much waits that a further batch begins at once. */
  isWhole?: () => boolean;
}): Batches {
  const underWay = new Set<Promise<void>>();
  /** The number of those under way that take further batches. */
  let count = 0;
  let begunAt = 0;
  let cancelLate: (() => void) | null = null;

  const isLate = () => clock.ms() - begunAt >= LATE_MS;

  function begin(): void {
    if (count >= most) return;
    if (count > 0 && !isLate() && !isWhole()) {
      cancelLate ??= clock.schedule(plusMs(new Date(begunAt), LATE_MS), () => {
        cancelLate = null;
        begin();
      });
      return;
    }
    count += 1;
    const ended = runAll().then(() => {
      underWay.delete(ended);
    });
    underWay.add(ended);
  }

  async function runAll(): Promise<void> {
    for (let batch = take(); batch.length > 0; batch = take()) {
      begunAt = clock.ms();
      await run(batch);
    }
    // In the turn in which nothing was left: what comes later begins a batch again.
    count -= 1;
    if (count > 0) return;
    cancelLate?.();
    cancelLate = null;
  }

  return {
    begin,
    get isIdle() {
      return underWay.size === 0;
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
