/** Served in one turn of the event loop. A subscriber takes some 10 µs, so a slice takes two milliseconds. */
export const SLICE = 200;

/**
 * Serves all, a slice in each turn of the event loop, so that thousands hold up nobody else. Where they are few, it has ended
 * when it returns. What is added to a set meanwhile is served too.
 *
 * @param serve must not throw
 */
export function inSlices<Item>(items: Iterable<Item>, serve: (item: Item) => void): Promise<void> | void {
  const iterator = items[Symbol.iterator]();
  function isSliceLast(): boolean {
    for (let count = 0; count < SLICE; count += 1) {
      const { value, done } = iterator.next();
      if (done) return true;
      serve(value);
    }
    return false;
  }
  if (isSliceLast()) return;
  return new Promise((resolve) => {
    const next = () => {
      if (isSliceLast()) resolve();
      else setImmediate(next);
    };
    setImmediate(next);
  });
}
