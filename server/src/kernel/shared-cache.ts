import type { LRUCache } from 'lru-cache';
import { createLRUCache, entryBytes } from './lru-cache.ts';

interface SharedCache<Value> {
  get(key: string): Value | undefined;
  /** Adds an entry of an owner. An entry that exists already stays as it is, with its owner. */
  add(owner: string, key: string, value: Value): void;
}

/**
 * A cache of at most `bytes` of memory that several owners share; all of them find every key. If it is full,
 * the owner with the most bytes drops its least recently used entry: no owner displaces entries of another
 * that has less.
 */
export function createSharedCache<Value extends object | number | boolean | string>(
  bytes: number,
  bytesOf: (value: Value, key: string) => number,
): SharedCache<Value> {
  const shares = new Map<string, LRUCache<string, Value>>();
  const owners = new Map<string, string>();
  let used = 0;

  function dropOne(): void {
    let [largestOwner, share] = shares.entries().next().value!;
    for (const [owner, each] of shares)
      if (each.calculatedSize > share.calculatedSize) [largestOwner, share] = [owner, each];
    const { value: oldest } = share.rkeys().next();
    used -= share.calculatedSize;
    share.delete(oldest!);
    owners.delete(oldest!);
    used += share.calculatedSize;
    if (share.size === 0) shares.delete(largestOwner);
  }

  return {
    get(key) {
      const owner = owners.get(key);
      return owner === undefined ? undefined : shares.get(owner)!.get(key);
    },
    add(owner, key, value) {
      if (owners.has(key) || entryBytes(key, bytesOf(value, key)) > bytes) return;
      let share = shares.get(owner);
      // The limit is larger than a share ever becomes, so the LRU cache itself drops nothing.
      share ??= createLRUCache<Value>(2 * bytes, bytesOf);
      const before = share.calculatedSize;
      share.set(key, value);
      shares.set(owner, share);
      owners.set(key, owner);
      used += share.calculatedSize - before;
      while (used > bytes) dropOne();
    },
  };
}
