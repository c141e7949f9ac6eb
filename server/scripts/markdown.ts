import { readFileSync } from 'node:fs';

const BEGIN = '<!-- npm run regenerate writes from here -->';
const END = '<!-- to here -->';

/** Returns a document of the repository with a text between its two marks. */
export function fillDocument(path: string, text: string): string {
  const document = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  const [begin, end] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${path} has no place for the text: ${BEGIN} … ${END}`);
  return `${document.slice(0, begin)}${BEGIN}\n\n${text}\n\n${document.slice(end)}`;
}

/** Formats a Markdown table as the formatter does: all cells of a column have the same width. */
export function table(rows: string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const line = (cells: string[], fill: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!, fill)).join(' | ')} |`;
  const [head, ...body] = rows.map((row) => line(row, ' '));
  return [
    head,
    line(
      widths.map(() => ''),
      '-',
    ),
    ...body,
  ].join('\n');
}
