/** Gives what `read` reads. Of one key all reads read the same. */
export type CoalescedReads<Value> = (key: string, read: () => Promise<Value>) => Promise<Value>;

/**
 * Coalesces reads: callers that ask for a key while a read of it is under way share the next one, which begins when that
 * one has ended. So every answer is newer than its request, and one read at most is under way. All callers get one and
 * the same object: it must not be changed.
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
