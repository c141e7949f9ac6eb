/** Gives what `read` reads. Of one key all reads read the same. */
export type CoalescedReads<Value> = (key: string, read: () => Promise<Value>) => Promise<Value>;

/**
 * Whoever asks for a key while a read of it is under way shares the next one, which begins when that one has ended:
 * after all who get its answer have asked, so nobody is told what was true before. So however many ask at once, one
 * read is under way. What they get is one and the same object: it must not be changed.
 */
export function createCoalescedReads<Value>(): CoalescedReads<Value> {
  interface Reading {
    ended: Promise<unknown>;
    next: Promise<Value> | null;
  }
  const underWay = new Map<string, Reading>();

  function begin(key: string, read: () => Promise<Value>): Promise<Value> {
    const result = read();
    const reading: Reading = { ended: result.catch(() => undefined), next: null };
    underWay.set(key, reading);
    void reading.ended.then(() => {
      if (reading.next === null) underWay.delete(key);
    });
    return result;
  }

  return function share(key, read) {
    const reading = underWay.get(key);
    if (!reading) return begin(key, read);
    reading.next ??= reading.ended.then(() => begin(key, read));
    return reading.next;
  };
}
