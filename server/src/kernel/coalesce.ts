/**
 * Runs `read`, or shares another caller's read of the same key. Every `read` of a key must read the same
 * value.
 */
export type CoalescedReads<Value> = (key: string, read: () => Promise<Value>) => Promise<Value>;

/**
 * Coalesces reads: callers that ask for a key while a read of it is in flight share the next read, which
 * begins when that one has ended. So every result is newer than its request, and at most one read of a key is
 * in flight. All callers get the same object, which must not be changed.
 */
export function createCoalescedReads<Value>(): CoalescedReads<Value> {
  interface Reading {
    ended: Promise<unknown>;
    next: Promise<Value> | null;
  }
  const inFlight = new Map<string, Reading>();

  function begin(key: string, read: () => Promise<Value>): Promise<Value> {
    const result = read();
    const reading: Reading = { ended: result.catch(() => undefined), next: null };
    inFlight.set(key, reading);
    void reading.ended.then(() => {
      if (reading.next === null) inFlight.delete(key);
    });
    return result;
  }

  return function share(key, read) {
    const reading = inFlight.get(key);
    if (!reading) return begin(key, read);
    reading.next ??= reading.ended.then(() => begin(key, read));
    return reading.next;
  };
}
