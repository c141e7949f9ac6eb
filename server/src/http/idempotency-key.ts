import type { IncomingMessage } from 'node:http';

/** Of an answer for which nothing was done anew. */
export const REPLAYED_HEADER = ['idempotent-replayed', 'true'] as const;

/** The key that a request brings in its header, as it is or in quotes; null where there is none. */
export function keyInHeader({ headers }: IncomingMessage): string | null {
  const value = headers['idempotency-key'];
  if (value === undefined) return null;
  const text = String(value).trim();
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
}
