import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';

// Functions that the addresses of several chains share.

const base58check = createBase58check(sha256);

/** The length of the hash behind the version byte of a base58check address. */
const HASH_BYTES = 20;

/** Whether a text is a base58check address with one of these version bytes. */
export function isBase58Check(text: string, versions: readonly number[]): boolean {
  // No address is longer, and decoding base 58 takes quadratic time.
  if (text.length > 40) return false;
  const bytes = tryDecode(() => base58check.decode(text));
  return bytes?.length === 1 + HASH_BYTES && versions.includes(bytes[0]!);
}

/** Runs a decoder; null where the text is malformed, at which the libraries throw. */
export function tryDecode<Value>(decode: () => Value): Value | null {
  try {
    return decode();
  } catch {
    return null;
  }
}

/** Shortens an address to its first six and last four characters. */
export function shortenAddress(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}
