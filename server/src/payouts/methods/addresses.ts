import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';

// The parts that the addresses of several chains have in common.

const base58check = createBase58check(sha256);

/** The length of the hash behind the version byte of a base58check address. */
const HASH_BYTES = 20;

export function isBase58Check(text: string, versions: readonly number[]): boolean {
  // Longer than any address: base 58 takes quadratic time.
  if (text.length > 40) return false;
  const bytes = decoded(() => base58check.decode(text));
  return bytes?.length === 1 + HASH_BYTES && versions.includes(bytes[0]!);
}

/** The value of a decoder; null where the text is malformed, at which the libraries throw. */
export function decoded<Value>(decode: () => Value): Value | null {
  try {
    return decode();
  } catch {
    return null;
  }
}

/** An address by its beginning and its end. */
export function shortened(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}
