import { captureErrors } from './log-capture.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test knows what it asked for
type Line = any;

/** An export as its client has it. */
export interface File {
  status: number;
  headers: Headers;
  text: string;
  /** The lines of NDJSON. */
  json: Line[];
}

/** Gets `/exports/<file>` to its end. */
export async function getExport(
  url: string,
  file: string,
  credential: string | null,
  headers: Record<string, string> = {},
): Promise<File> {
  const answer = await fetch(`${url}/exports/${file}`, {
    headers: { ...(credential === null ? {} : { authorization: `Bearer ${credential}` }), ...headers },
  });
  const text = await answer.text();
  const type = answer.headers.get('content-type') ?? '';
  if (type.startsWith('application/json')) captureErrors(JSON.parse(text));
  const isLines = type.startsWith('application/x-ndjson');
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: isLines
      ? text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [],
  };
}

/** The rows of a file: those of NDJSON without its start and its end, or those of a CSV whose texts need no quotation marks. */
export function rowsOf({ text, json }: File): Record<string, string | number | null>[] {
  if (json.length > 0) return json.slice(1, -1);
  const [names = [], ...rows] = text
    .split('\r\n')
    .slice(0, -1)
    .map((line) => line.split(','));
  return rows.map((cells) => Object.fromEntries(cells.map((cell, index) => [names[index], cell])));
}
