import { repeatedMember } from '../http/json-input.ts';
import { shownName } from '../http/names.ts';
import { misspelledParam, REQUEST_PARAMS } from './request-params.ts';

/**
 * Parses a message for the library, which does so itself with a text, and holds that text as long as the operation. A text that is no
 * object stays one, which the library refuses. `mistake`: why an object is refused, for a member that stands twice or that no message
 * has. Such a member may be one of the payload, as variables without which a mutation would not be limited.
 */
export function parseMessage(text: string): { message: unknown; mistake: string | null } {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { message: text, mistake: null };
  }
  if (typeof message !== 'object' || message === null || Array.isArray(message))
    return { message: text, mistake: null };
  const { id, type, payload, ...others } = message as Record<string, unknown>;
  const [repeated, unknown] = [repeatedMember(text), Object.keys(others)[0]];
  let mistake: string | null = null;
  if (repeated !== null) mistake = `${repeated} is given twice`;
  else if (unknown !== undefined) mistake = `${shownName(unknown)} is unknown in a message`;
  return { message: { id, type, payload }, mistake };
}

/** Members that clients add to a request, which limit nothing: Apollo Client up to 4.0.6 the first, urql up to 3 the others. */
const OF_CLIENTS: ReadonlySet<string> = new Set(['operationType', 'key', 'context']);

/** The refusal of a payload that has another member than a request over HTTP, or than clients add; null if it has none. */
export function unknownInPayload(payload: object): string | null {
  const unknown = Object.keys(payload).find((name) => !REQUEST_PARAMS.has(name) && !OF_CLIENTS.has(name));
  if (unknown === undefined) return null;
  const meant = misspelledParam(unknown);
  return `The payload has no member ${shownName(unknown)}${meant === null ? '' : `; ${meant} may be meant`}`;
}

/** Shortens a reason to 123 bytes, the protocol's limit: the library's reasons repeat what the client has sent. */
export function shortReason(reason: string): string {
  return Buffer.byteLength(reason) <= 123 ? reason : `${reason.slice(0, 40)}…`;
}
