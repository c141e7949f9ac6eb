import type { LiveRequest } from './protocol.ts';

/** The parts of a document in which brackets and keywords are text: comments, block strings and strings. */
const LITERALS = /#[^\n\r]*|"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*(?:"|\\?)/g;
/** The innermost parentheses and braces. */
const ARGUMENTS = /\([^(){}]*\)/g;
const SELECTION = /\{[^(){}]*\}/g;
/**
 * An operation or fragment after its brackets were removed: the keyword, which an anonymous query lacks, and
 * the name.
 */
const DEFINITION = /^\W*(\w*)[\s,]*(\w*)/;

/**
 * Whether a request is a subscription, by the keyword of its operation, not by a field or fragment of that name. For a
 * persisted document without text `operationKind` decides; without it, the request counts as a subscription.
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
  const parts = text.split(';').slice(0, -1);
  return parts.map((part) => DEFINITION.exec(part)!).map(([, keyword, name]) => ({ keyword, name }));
}
