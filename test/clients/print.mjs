// Prints server/docs/clients.md: the table of clients, with the versions of the tests' packages and of the last saved run.
import { readFileSync } from 'node:fs';
import { cellsOf, TABLES } from './table.mjs';

/** @param {string} path */
const json = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
/** @type {Record<string, string>} */
const packages = json('../package.json').devDependencies;
/** @type {Record<string, { version: string, failed?: string }>} */
const found = json('./found.json');

/** @type {string[]} */
const tests = [];

/** The number of the link to a test. @param {import('./table.mjs').Evidence} evidence */
function numberOf({ file, title }) {
  const link = `../../test/${file} "${title.replaceAll('"', "'")}"`;
  if (!tests.includes(link)) tests.push(link);
  return tests.indexOf(link) + 1;
}

const tables = TABLES.map((table) => {
  const { title, about, features, clients } = table;
  const rows = clients.map((client) => [
    client.name.startsWith('@psa/') ? `\`${client.name}\`` : client.name,
    versionOf(client),
    ...cellsOf(table, client).map((evidence, index) => {
      if (!evidence) return '–';
      const hasFailed = found[client.name]?.failed?.split(', ').includes(Object.keys(features)[index] ?? '');
      return `[${hasFailed ? '✗' : '✓'}][${numberOf(evidence)}]`;
    }),
  ]);
  return `## ${title}\n\n${about}\n\n${draw([['client', 'version', ...Object.keys(features)], ...rows])}\n`;
});

process.stdout.write(`# Clients

Other people's software with which this server and its elements are tried, and at which version. Each mark leads to the file of its
test; the name of the test is the title of the link. Versions of packages are those of \`test/package.json\`,
and of the folders in \`test/bench/peers\`. Those of programs are
what the last \`npm run conformance -- http --save\` has found, which the nightly repeats.

${tables.join('\n')}
${tests.map((link, index) => `[${index + 1}]: ${link}\n`).join('')}`);

/** @param {import('./table.mjs').Client} client */
function versionOf({ name, npm, installed, found: isFound }) {
  if (npm && installed) return json(`../bench/peers/${installed}/package.json`).dependencies[npm] ?? '–';
  if (npm) return (packages[npm] ?? '–').replace(/^npm:.*@/, '');
  return isFound ? (found[name]?.version ?? '–') : '–';
}

/** Draws a table with columns of one width. @param {string[][]} rows */
function draw(rows) {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)));
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}
