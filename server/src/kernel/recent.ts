/** What was asked for lately, by a text. */
export interface Recent<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  clear(): void;
}

/** What each takes beside its value and the characters of its key: a place in a map, and the head of a text. */
const ENTRY_BYTES = 200;

/**
 * Keeps the last that were asked for or set, of together `bytes` of memory, and up to as much from before: there is nothing
 * to do at a hit. `bytesOf` says what a value takes. What is larger than all of it is not kept.
 */
export function createRecent<Value>(
  bytes: number,
  bytesOf: (value: Value, key: string) => number = () => 0,
): Recent<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let used = 0;

  const sizeOf = (key: string, value: Value) => ENTRY_BYTES + 2 * key.length + bytesOf(value, key);

  function set(key: string, value: Value): void {
    const size = sizeOf(key, value);
    const before = young.get(key);
    if (before !== undefined) {
      used -= sizeOf(key, before);
      young.delete(key);
    }
    old.delete(key);
    if (size > bytes) return;
    if (used + size > bytes) {
      old = young;
      young = new Map();
      used = 0;
    }
    young.set(key, value);
    used += size;
  }

  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const before = old.get(key);
      if (before !== undefined) set(key, before);
      return before;
    },
    set,
    clear() {
      young = new Map();
      old = new Map();
      used = 0;
    },
  };
}
