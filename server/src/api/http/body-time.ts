import type { IncomingMessage } from 'node:http';

/** The bytes of a file that the slowest client sends in a millisecond. */
const SLOWEST = 32;

const given = new WeakMap<IncomingMessage, number>();

/** Gives a request the time for a file of at most `mostBytes`, after that which every request has. */
export function giveFileTime(request: IncomingMessage, mostBytes: number): void {
  const bytes = Number(request.headers['content-length'] ?? mostBytes);
  given.set(request, Math.min(bytes, mostBytes) / SLOWEST);
}

/** Takes the further time that a request was given, in milliseconds; 0 for none. */
export function takeFileTime(request: IncomingMessage): number {
  const ms = given.get(request) ?? 0;
  given.delete(request);
  return ms;
}
