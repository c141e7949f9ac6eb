import type { IncomingMessage } from 'node:http';

/** The header of a replayed response. */
export const REPLAYED_HEADER = ['idempotent-replayed', 'true'] as const;

/** The key of a request's header, with or without quotes; null if there is none. */
export function keyInHeader({ headers }: IncomingMessage): string | null {
  const value = headers['idempotency-key'];
  if (value === undefined) return null;
  const text = String(value).trim();
  return /^"[^"]*"$/.test(text) ? text.slice(1, -1) : text;
}
