import type { LiveRequest } from './protocol.ts';

/** The parts of a document in which brackets and keywords are text: comments, block strings and strings. */
const LITERALS = /#[^\n\r]*|"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"/g;
/** Brackets without brackets in them. */
const ARGUMENTS = /\([^(){}]*\)/g;
const SELECTION = /\{[^(){}]*\}/g;
/** A definition without its brackets: its keyword, which an anonymous query may leave out, and its name. */
const DEFINITION = /[^\w;]*(\w*)[\s,]*(\w*)[^;]*;/g;

/**
 * Whether a request is a subscription. The keyword counts, and no field or fragment of that name. Of a document without text,
 * as a persisted one is, the client may say the kind; without that it is taken for a subscription.
 */
export function isSubscription({ query, operationName, operationKind }: Partial<LiveRequest>): boolean {
  if (!query) return (operationKind ?? 'subscription') === 'subscription';
  const operations = definitionsOf(query).filter(({ keyword }) => keyword !== 'fragment');
  const run = operationName ? operations.find(({ name }) => name === operationName) : operations[0];
  return run?.keyword === 'subscription';
}

function definitionsOf(query: string): { keyword: string | undefined; name: string | undefined }[] {
  let text = query.replace(LITERALS, ' ');
  let before: string;
  do {
    before = text;
    // No document has a semicolon outside its strings and comments.
    text = text.replace(ARGUMENTS, ' ').replace(SELECTION, ';');
  } while (text !== before);
  return [...text.matchAll(DEFINITION)].map(([, keyword, name]) => ({ keyword, name }));
}
