import { closestName } from '../http/names.ts';

/** The members of a request of GraphQL over HTTP, with `documentId` of its appendix on persisted documents. */
const NAMES = ['query', 'variables', 'operationName', 'extensions', 'documentId'];
export const REQUEST_PARAMS: ReadonlySet<string> = new Set(NAMES);

/** The known name that a misspelled one may stand for; null for a known name, and for one that is not close to any. */
export function misspelledParam(name: string): string | null {
  return REQUEST_PARAMS.has(name) ? null : closestName(name, NAMES);
}
