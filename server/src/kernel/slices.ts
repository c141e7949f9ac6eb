/** The number of items served in one turn of the event loop: at 10 µs for a subscriber, two milliseconds. */
export const SLICE = 200;

/**
 * Serves all items, a slice in each turn of the event loop, so that thousands delay nobody else. If one slice is enough,
 * all are served when it returns. Items that are added to a set meanwhile are served too.
 *
 * @param serve must not throw
 */
export function inSlices<Item>(items: Iterable<Item>, serve: (item: Item) => void): Promise<void> | void {
  const iterator = items[Symbol.iterator]();
  /** Serves one slice; true where it was the last. */
  function serveSlice(): boolean {
    for (let count = 0; count < SLICE; count += 1) {
      const { value, done } = iterator.next();
      if (done) return true;
      serve(value);
    }
    return false;
  }
  if (serveSlice()) return;
  return new Promise((resolve) => {
    const next = () => {
      if (serveSlice()) resolve();
      else setImmediate(next);
    };
    setImmediate(next);
  });
}
