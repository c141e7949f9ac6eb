import { LRUCache } from 'lru-cache';

/**
 * The bytes of an entry besides its value and the text of its key: its places in the cache's maps and lists.
 */
const ENTRY_BYTES = 200;

/** The memory of an entry whose value has `valueBytes`. */
export const entryBytes = (key: string, valueBytes: number) => ENTRY_BYTES + 2 * key.length + valueBytes;

/**
 * A cache of at most `bytes` of memory, by text keys, that drops the least recently used entry first. `bytesOf` sizes a
 * value; an entry larger than the whole cache is not stored. `entries` bounds the number of entries as well.
 */
export function createLRUCache<Value extends object | number | boolean | string>(
  bytes: number,
  bytesOf: (value: Value, key: string) => number = () => 0,
  entries?: number,
): LRUCache<string, Value> {
  return new LRUCache({
    maxSize: bytes,
    ...(entries === undefined ? {} : { max: entries }),
    sizeCalculation: (value, key) => entryBytes(key, bytesOf(value, key)),
  });
}
