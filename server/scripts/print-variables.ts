// Prints the files that document the environment variables, as JSON: the content by the path.
import { describeVariables } from '../src/programs/config/variables.ts';
import { fillDocument, table } from './markdown.ts';

const DOCUMENT = 'server/docs/configuration.md';
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
  return fillDocument(DOCUMENT, tables.join('\n\n'));
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
