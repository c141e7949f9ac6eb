/** What was asked for lately, by a text. */
export interface Recent<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  clear(): void;
}

/**
 * Keeps the last that were asked for or set, of together `limit`, and up to as much from before: there is nothing to do at a
 * hit. Each counts for one, or for what `weightOf` says.
 */
export function createRecent<Value>(
  limit: number,
  weightOf: (value: Value, key: string) => number = () => 1,
): Recent<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  let weight = 0;

  function set(key: string, value: Value): void {
    if (weight >= limit) {
      old = young;
      young = new Map();
      weight = 0;
    }
    if (!young.has(key)) weight += weightOf(value, key);
    young.set(key, value);
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
      weight = 0;
    },
  };
}
