import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { createLRUCache } from './lru-cache.ts';
import { type Tenant, tenantKey } from './tenant.ts';

/** Encodes and decodes cursors: opaque texts of a position in a list or a log, which both count in whole numbers. */
export interface Cursors {
  /**
   * Encodes a position. `mark`: the 24 bits that identify the event at a position in a log; with a mark the position
   * has 40 bits.
   */
  encode(position: number, mark?: number): string;
  /** Decodes a position. Null unless this server gave the cursor to this tenant for this purpose. */
  decode(cursor: string): number | null;
  /** Decodes a position in a log with its mark, which is 0 in a cursor of a release that wrote none. */
  decodeMarked(cursor: string): { position: number; mark: number } | null;
}

/** The cursors of one tenant and one purpose: the account's `updates`, or a list by its name. */
export type CursorsFor = (tenant: Tenant, purpose: string) => Cursors;

const BLOCK_BYTES = 16;
const CHECK_BYTES = 8;
const MARK_BYTES = 3;
/** The limit of the cache of checks; each is a few bytes in a buffer of its own. */
const CACHE_BYTES = 500_000;
const CACHED_CHECK_BYTES = 200;
const CURSOR_LENGTH = Math.ceil((BLOCK_BYTES * 8) / 6);

export function newCursorKey(): Uint8Array {
  return randomBytes(BLOCK_BYTES);
}

/**
 * Creates cursors, each one block of AES: a check of the tenant and the purpose, then the position. Clients must
 * not read the position: it counts what has happened to a merchant, or to all of them. A block in which any bit
 * is changed, or that was made for another tenant or purpose, decrypts to another check.
 */
export function createCursors(key: Uint8Array): CursorsFor {
  // A single block needs no chaining and no padding; without padding the ciphers keep no state between two
  // blocks.
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  const decipher = createDecipheriv('aes-128-ecb', key, null).setAutoPadding(false);

  const checks = createLRUCache<Buffer>(CACHE_BYTES, () => CACHED_CHECK_BYTES);

  function checkOf(text: string): Buffer {
    const cached = checks.get(text);
    if (cached) return cached;
    const check = createHash('sha256').update(text).digest().subarray(0, CHECK_BYTES);
    checks.set(text, check);
    return check;
  }

  return (tenant, purpose) => {
    const check = checkOf(`${purpose}/${tenantKey(tenant)}`);

    function decrypt(cursor: string): Buffer | null {
      if (cursor.length !== CURSOR_LENGTH) return null;
      const sealed = Buffer.from(cursor, 'base64url');
      // The last character has unused bits, and base64 has other spellings: only this server's spelling is accepted.
      if (sealed.length !== BLOCK_BYTES || sealed.toString('base64url') !== cursor) return null;
      const block = decipher.update(sealed);
      return block.subarray(0, CHECK_BYTES).equals(check) ? block.subarray(CHECK_BYTES) : null;
    }

    return {
      encode(position, mark = 0) {
        const block = Buffer.alloc(BLOCK_BYTES);
        check.copy(block);
        block.writeBigInt64BE(BigInt(position), CHECK_BYTES);
        // The mark takes the upper bytes: without one, a cursor is the same as that of a release before marks.
        if (mark !== 0) block.writeUIntBE(mark, CHECK_BYTES, MARK_BYTES);
        return cipher.update(block).toString('base64url');
      },
      decode(cursor) {
        const bytes = decrypt(cursor);
        return bytes && Number(bytes.readBigInt64BE());
      },
      decodeMarked(cursor) {
        const bytes = decrypt(cursor);
        return (
          bytes && {
            position: bytes.readUIntBE(MARK_BYTES, bytes.length - MARK_BYTES),
            mark: bytes.readUIntBE(0, MARK_BYTES),
          }
        );
      },
    };
  };
}
