// Prints server/docs/clients.md: the table of clients, with the versions of the tests' packages, and the saved results and versions.
import { readFileSync } from 'node:fs';
import { readFound } from './found.mjs';
import { cellsOf, TABLES } from './table.mjs';

/** @param {string} path */
const json = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
/** @type {Record<string, string>} */
const packages = json('../package.json').devDependencies;
const found = readFound();

/** @type {string[]} */
const tests = [];

/** The number of the link to a test. @param {import('./table.mjs').Evidence} evidence */
function numberOf({ file, title }) {
  const link = `../../test/${file} "${title.replaceAll('"', "'")}"`;
  if (!tests.includes(link)) tests.push(link);
  return tests.indexOf(link) + 1;
}

const MARKS = { passed: '✓', failed: '✗' };

const tables = TABLES.map((table) => {
  const { title, about, features, clients } = table;
  const rows = clients.map((client) => [
    client.name.startsWith('@psa/') ? `\`${client.name}\`` : client.name,
    versionOf(client),
    ...cellsOf(table, client).map((evidence, index) => {
      if (!evidence) return '–';
      const result = found[client.name]?.results[Object.keys(features)[index] ?? ''];
      const mark = result ? MARKS[result] : '?';
      return `[${mark}][${numberOf(evidence)}]`;
    }),
  ]);
  return `## ${title}\n\n${about}\n\n${draw([['client', 'version', ...Object.keys(features)], ...rows])}\n`;
});

process.stdout.write(`# Clients

Other people's software with which this server and its elements are tried, and at which version. Each mark is the last saved result
of its test: ✓ passed, ✗ failed, ? no saved result. It links to the test file; the title of the link is the test's name. The nightly
runs all these tests, and opens a pull request if a mark or a version has changed. Package versions are those of
\`test/package.json\`, and of the folders in \`test/bench/peers\`. Browsers and programs report their own.

${tables.join('\n')}
${tests.map((link, index) => `[${index + 1}]: ${link}\n`).join('')}`);

/** @param {import('./table.mjs').Client} client */
function versionOf({ name, npm, installed, hasSavedVersion }) {
  if (npm && installed) return json(`../bench/peers/${installed}/package.json`).dependencies[npm] ?? '–';
  if (npm) return (packages[npm] ?? '–').replace(/^npm:.*@/, '');
  return hasSavedVersion ? (found[name]?.version ?? '–') : '–';
}

/** Draws a table with columns of one width. @param {string[][]} rows */
function draw(rows) {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)));
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}
