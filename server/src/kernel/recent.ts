/** What was asked for lately, by a text. */
export interface Recent<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
  clear(): void;
}

/** Keeps the last `limit` that were asked for or set, and up to as many from before: there is nothing to do at a hit. */
export function createRecent<Value>(limit: number): Recent<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();

  function set(key: string, value: Value): void {
    if (young.size >= limit) {
      old = young;
      young = new Map();
    }
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
    },
  };
}
