import { createHash, hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Crockford's base 32: no I, L, O, U, so a code can be read out on the telephone. */
const READABLE = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Generates a random code of `length` characters, 5 bits each. */
export function readableCode(length: number): string {
  let code = '';
  for (const byte of randomBytes(length)) code += READABLE[byte & 31];
  return code;
}

/** Generates 24 lower-case hex digits, the form of the document's withdrawal and product identifiers. */
export function objectId(): string {
  return randomBytes(12).toString('hex');
}

/**
 * Derives an id of `digits` hex digits from texts. The same texts give the same id, even if the database has
 * lost it, as after a restored backup: a rail that knows a transfer by such an id never pays it twice.
 */
export function deterministicId(digits: number, ...from: readonly string[]): string {
  return hash('sha256', JSON.stringify(from)).slice(0, digits);
}

/** Generates a secret of 256 random bits. If the secret leaks, its prefix says what has leaked. */
export function secret(prefix: string): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** Hashes a secret for the database. It has 256 bits of its own, so one round of SHA-256 is enough. */
export function hashSecret(value: string): string {
  return hash('sha256', value);
}

/** Compares secrets in constant time, also those of unequal lengths, for which `timingSafeEqual` throws. */
export function equalSecrets(left: string, right: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(left), digest(right));
}
