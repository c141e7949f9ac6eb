import type { IncomingMessage } from 'node:http';
import { shownName } from './names.ts';

/** The header of a replayed response. */
export const REPLAYED_HEADER = ['idempotent-replayed', 'true'] as const;

const NAME = 'idempotency-key';

/**
 * Finds a header that other services take for this one, such as `X-Idempotency-Key`, and the reason for refusing it; null if there is
 * none. A retry that relies on it would move money again. A client of several services may send one key in both headers.
 */
export function mistakenKeyHeader({ headers }: IncomingMessage): { name: string; message: string } | null {
  for (const name in headers)
    if (name !== NAME && name.includes('idempot') && headers[name] !== headers[NAME])
      return { name: shownName(name), message: 'is unknown; Idempotency-Key may be meant' };
  return null;
}

/**
 * The reason why a request's header is not one key; null if it is, or if there is none. A client or a proxy that appends the header to
 * a retry would else send another key, with which money moves again: Node and proxies join the lines of a header by commas.
 */
export function mistakeOfKeyHeader({ headers, rawHeaders }: IncomingMessage): string | null {
  const value = headers[NAME];
  if (value === undefined) return null;
  if (rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === NAME).length > 1)
    return 'is given more than once';
  const text = String(value).trim();
  if (text.startsWith('"')) return QUOTED.test(text) ? null : 'must be one key, or one key in quotes';
  return text.includes(',') ? 'must be one key; put a key with a comma in quotes' : null;
}

const QUOTED = /^"[^"]*"$/;

/** The key of a request's header, with or without quotes; null if there is none. */
export function keyInHeader({ headers }: IncomingMessage): string | null {
  const value = headers[NAME];
  if (value === undefined) return null;
  const text = String(value).trim();
  return QUOTED.test(text) ? text.slice(1, -1) : text;
}
