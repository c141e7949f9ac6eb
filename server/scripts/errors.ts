import { statusOf } from '../src/api/http/rest.ts';
import { CODE_ROWS, RETRIES } from '../src/kernel/error-codes.ts';
import { table } from './markdown.ts';

/** The tables of all error codes, and of what a client does. */
export function errorTables(): string {
  const codes = CODE_ROWS.map(([code, { only, type, retry, meaning }]) => [
    `\`${code}\``,
    only === 'GraphQL' ? '–' : String(statusOf(code)),
    type === null ? '–' : `\`${type}\``,
    `\`${retry}\``,
    meaning,
  ]);
  const retries = Object.entries(RETRIES).map(([retry, meaning]) => [`\`${retry}\``, meaning]);
  return [
    table([['code', 'status', 'type in GraphQL', 'retryPolicy', 'meaning'], ...codes]),
    table([['retryPolicy', 'send the request again'], ...retries]),
  ].join('\n\n');
}
