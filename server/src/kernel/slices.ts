/** The time for which items are served in one turn of the event loop. */
export const SLICE_MS = 2;
/** The time that all other work gets after a slice, as a multiple of the slice. */
const OTHERS = 2;
/** The length of a turn of the event loop that had no other work. */
const IDLE_TURN_MS = 0.05;

/** The unfinished calls, each with a function that serves one slice and returns whether it was the last. */
const unfinished: { serveSlice: () => boolean; resolve: () => void }[] = [];

/**
 * Serves all items, a slice in each turn of the event loop, so that thousands delay nothing else. If one
 * slice is enough, all are served when it returns. Items that are added to a set meanwhile are served too. A
 * slice is measured in time, because an item may take 10 µs or 10 ms. One unfinished call has a slice at a
 * time, and the next slice waits until everything else has had its share of the thread, or has nothing to do:
 * a request takes many turns.
 *
 * @param serve must not throw
 */
export function inSlices<Item>(items: Iterable<Item>, serve: (item: Item) => void): Promise<void> | void {
  const iterator = items[Symbol.iterator]();
  function serveSlice(): boolean {
    const endsAt = performance.now() + SLICE_MS;
    do {
      const { value, done } = iterator.next();
      if (done) return true;
      serve(value);
    } while (performance.now() < endsAt);
    return false;
  }
  const startedAt = performance.now();
  if (serveSlice()) return;
  return new Promise((resolve) => {
    owe(startedAt);
    if (unfinished.push({ serveSlice, resolve }) === 1) setImmediate(turn);
  });
}

/** The end of the last turn or slice, and the time that is still due to other work. */
let leftAt = 0;
let owedMs = 0;

/** Counts a slice that ends now: other work is due a multiple of it. */
function owe(startedAt: number): void {
  leftAt = performance.now();
  owedMs += OTHERS * (leftAt - startedAt);
}

function turn(): void {
  const startedAt = performance.now();
  const othersMs = startedAt - leftAt;
  leftAt = startedAt;
  owedMs -= othersMs;
  if (owedMs > 0 && othersMs >= IDLE_TURN_MS) return void setImmediate(turn);
  owedMs = 0;
  const next = unfinished.shift()!;
  if (next.serveSlice()) next.resolve();
  else unfinished.push(next);
  if (unfinished.length === 0) return;
  owe(startedAt);
  setImmediate(turn);
}
