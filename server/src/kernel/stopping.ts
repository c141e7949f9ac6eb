/** The same items; `stop` runs at their end, whatever ends them. */
export function stoppingWith<Item>(
  items: AsyncIterableIterator<Item>,
  stop: () => void,
): AsyncIterableIterator<Item> {
  const stopping: AsyncIterableIterator<Item> = {
    async next() {
      try {
        const result = await items.next();
        if (result.done) stop();
        return result;
      } catch (error) {
        stop();
        throw error;
      }
    },
    async return() {
      stop();
      return (await items.return?.()) ?? { value: undefined, done: true };
    },
    [Symbol.asyncIterator](): AsyncIterableIterator<Item> {
      return stopping;
    },
  };
  return stopping;
}
