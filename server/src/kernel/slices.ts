/** The time for which items are served in one turn of the event loop. */
export const SLICE_MS = 2;

/** The calls whose items are not all served, each as a function that serves one slice and returns whether it was the last. */
const unfinished: { serveSlice: () => boolean; resolve: () => void }[] = [];

/**
 * Serves all items, a slice in each turn of the event loop, so that thousands delay nobody else. If one slice is enough,
 * all are served when it returns. Items that are added to a set meanwhile are served too. A slice is measured in time,
 * because an item may take 10 µs or 10 ms. Of all calls that are unfinished, one has a slice in a turn.
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
  if (serveSlice()) return;
  return new Promise((resolve) => {
    if (unfinished.push({ serveSlice, resolve }) === 1) setImmediate(serveNext);
  });
}

function serveNext(): void {
  const next = unfinished.shift()!;
  if (next.serveSlice()) next.resolve();
  else unfinished.push(next);
  if (unfinished.length > 0) setImmediate(serveNext);
}
