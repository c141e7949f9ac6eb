// Prints the files that document the environment variables, as JSON: the content by the path.
import { readFileSync } from 'node:fs';
import { describeVariables } from '../src/programs/config/variables.ts';

const DOCUMENT = 'server/docs/configuration.md';
const BEGIN = '<!-- npm run regenerate writes from here -->';
const END = '<!-- to here -->';
/** The width of the help on a terminal, in columns. */
const WIDTH = 110;

const variables = describeVariables();
const groups = [...new Set(variables.map(({ group }) => group))].map((name) => ({
  name,
  variables: variables.filter(({ group }) => group === name),
}));

const files = { [DOCUMENT]: document(), 'server/scripts/variables.txt': help() };
process.stdout.write(JSON.stringify(files));

/** Returns the document with a table for each group between its two marks. */
function document(): string {
  const text = readFileSync(new URL(`../../${DOCUMENT}`, import.meta.url), 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin)
    throw new Error(`${DOCUMENT} has no place for the variables: ${BEGIN} … ${END}`);
  const tables = groups.map(
    (group) =>
      `## ${group.name}\n\n${table([
        ['variable', 'value', 'default', 'meaning'],
        ...group.variables.map(({ name, format, unset, meaning }) => [
          `\`${name}\``,
          format,
          unset || '–',
          meaning,
        ]),
      ])}`,
  );
  return `${text.slice(0, begin)}${BEGIN}\n\n${tables.join('\n\n')}\n\n${text.slice(end)}`;
}

/** Formats a Markdown table as the formatter does: all cells of a column have the same width. */
function table(rows: string[][]): string {
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

/** Formats the variables for the help on a terminal. */
function help(): string {
  const indent = Math.max(...variables.map(({ name }) => name.length)) + 4;
  return groups
    .map(({ name, variables }) => {
      const lines = variables.flatMap(({ name, meaning, unset }) => {
        const [first, ...rest] = wrap(unset === '' ? meaning : `${meaning} (${unset})`, WIDTH - indent);
        return [`  ${name.padEnd(indent - 2)}${first}`, ...rest.map((line) => ' '.repeat(indent) + line)];
      });
      return `${name}\n${lines.join('\n')}\n`;
    })
    .join('\n');
}

/** Breaks a text between words into lines of at most `width` characters. */
function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!;
    if (last !== '' && last.length + word.length >= width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}
