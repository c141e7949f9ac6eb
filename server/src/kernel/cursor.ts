import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { createLRUCache } from './lru-cache.ts';
import { type Tenant, tenantKey } from './tenant.ts';

/** Cursors: opaque texts of a position in a list or a log, which both count in whole numbers. */
export interface Cursors {
  /** `mark`: of a place in a log, the 24 bits that identify the event there. The place then has 40 bits. */
  encode(place: number, mark?: number): string;
  /** Null for what this server never gave out to this tenant for this purpose. */
  decode(cursor: string): number | null;
  /** The same of a place in a log; the mark is 0 in a cursor of a release that wrote none. */
  decodeMarked(cursor: string): { place: number; mark: number } | null;
}

/** The cursors of one tenant and one purpose: the account's `updates`, or a list by its name. */
export type CursorsFor = (tenant: Tenant, purpose: string) => Cursors;

const BLOCK = 16;
const CHECK = 8;
const MARK = 3;
/** The cache's limit; each check is a few bytes in a buffer of its own. */
const CHECKS_BYTES = 500_000;
const CHECK_BYTES = 200;
const CURSOR_LENGTH = Math.ceil((BLOCK * 8) / 6);

export function newCursorKey(): Uint8Array {
  return randomBytes(BLOCK);
}

/**
 * A cursor is one block of AES: a check of the tenant and the purpose, then the place. A place counts what has
 * happened to a merchant, or to all of them, so nobody may read it; and a block in which any bit is changed,
 * or that was made for another tenant or purpose, opens to a check that is not this one's.
 */
export function createCursors(key: Uint8Array): CursorsFor {
  // A single block needs no chaining and no padding, and without padding nothing stays in these between two.
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);

  const checks = createLRUCache<Buffer>(CHECKS_BYTES, () => CHECK_BYTES);

  function checkOf(text: string): Buffer {
    const before = checks.get(text);
    if (before) return before;
    const check = createHash('sha256').update(text).digest().subarray(0, CHECK);
    checks.set(text, check);
    return check;
  }

  return (tenant, purpose) => {
    const check = checkOf(`${purpose}/${tenantKey(tenant)}`);

    function open(cursor: string): Buffer | null {
      if (cursor.length !== CURSOR_LENGTH) return null;
      const sealed = Buffer.from(cursor, 'base64url');
      // The last character has bits to spare, and base64 has other spellings: only ours is ours.
      if (sealed.length !== BLOCK || sealed.toString('base64url') !== cursor) return null;
      const block = decipher.update(sealed);
      return block.subarray(0, CHECK).equals(check) ? block.subarray(CHECK) : null;
    }

    return {
      encode(place, mark = 0) {
        const block = Buffer.alloc(BLOCK);
        check.copy(block);
        block.writeBigInt64BE(BigInt(place), CHECK);
        // The upper bytes: without a mark a cursor is the same as that of a release before marks.
        if (mark !== 0) block.writeUIntBE(mark, CHECK, MARK);
        return cipher.update(block).toString('base64url');
      },
      decode(cursor) {
        const bytes = open(cursor);
        return bytes && Number(bytes.readBigInt64BE());
      },
      decodeMarked(cursor) {
        const bytes = open(cursor);
        return (
          bytes && {
            place: bytes.readUIntBE(MARK, bytes.length - MARK),
            mark: bytes.readUIntBE(0, MARK),
          }
        );
      },
    };
  };
}
