import { readFileSync } from 'node:fs';

const BEGIN = '<!-- npm run regenerate writes from here -->';
const END = '<!-- to here -->';

/** Returns a document of the repository with texts between its pairs of marks, in their order. */
export function fillDocument(path: string, ...texts: string[]): string {
  const [head = '', ...parts] = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').split(BEGIN);
  if (parts.length !== texts.length || !parts.every((part) => part.includes(END)))
    throw new Error(`${path} has ${parts.length} places for ${texts.length} texts: ${BEGIN} … ${END}`);
  const filled = parts.map((part, at) => `${BEGIN}\n\n${texts[at]}\n\n${part.slice(part.indexOf(END))}`);
  return head + filled.join('');
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
