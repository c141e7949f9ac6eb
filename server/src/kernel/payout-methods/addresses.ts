import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';

// Functions that the addresses of several chains share.

const base58check = createBase58check(sha256);

/** The length of the hash after the version byte of a base58check address. */
const HASH_BYTES = 20;

/** The hash in a base58check address with one of these version bytes; null for any other text. */
export function base58Hash(text: string, versions: readonly number[]): Uint8Array | null {
  // Valid addresses are shorter, and decoding base 58 takes quadratic time.
  if (text.length > 40) return null;
  const bytes = tryDecode(() => base58check.decode(text));
  return bytes?.length === 1 + HASH_BYTES && versions.includes(bytes[0]!) ? bytes.slice(1) : null;
}

/** Runs a decoder of a library; null if it throws because the text is malformed. */
export function tryDecode<Value>(decode: () => Value): Value | null {
  try {
    return decode();
  } catch {
    return null;
  }
}

/**
 * The number of equal digits at one end of a hash that no address with a key has: finding such a key takes
 * 2^92 attempts.
 */
const DIGITS_ALIKE = 24;
const UNSPENDABLE = new RegExp(
  `^([0-9a-f])\\1{${DIGITS_ALIKE - 1}}|([0-9a-f])\\2{${DIGITS_ALIKE - 1}}$|^([0-9a-f]{1,10})\\3+$`,
);

/**
 * Whether a person wrote this hash (in lower-case hex) instead of deriving it from a key: the zero address,
 * precompiled contracts, and burn addresses such as 0x…dead, 0xdead…0, deadbeef… repeated. Money that is sent
 * there is lost.
 */
export function isUnspendable(hash: string): boolean {
  return UNSPENDABLE.test(hash);
}

/** The reason for refusing an address without a key. */
export const NOBODY_HAS_ITS_KEY = 'is an address whose key nobody has: what is sent there is lost';

/** Shortens an address to its first six and last four characters. */
export function shortenAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}
