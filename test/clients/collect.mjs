// Writes what tests have found about each client into found.json, and the document that shows it:
// node test/clients/collect.mjs [REPORT…], the reports of whole runs or of shards; the last run of this clone by default.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { fail, isMain, runNode } from '../../server/scripts/progress.mjs';
import { readStamp } from '../../server/scripts/stamp.mjs';
import { cellsOf, TABLES } from './table.mjs';

/**
 * @typedef {object} Found
 * @property {string} [version] unless it is the version of a package
 * @property {Record<string, 'passed' | 'failed'>} results by feature, those of the last run that has tried it
 *
 * @typedef {import('../support/reporter.ts').ClientsReport} ClientsReport
 */

const FOUND = new URL('./found.json', import.meta.url);
const DOCUMENT = new URL('../../server/docs/clients.md', import.meta.url);

/** @returns {Record<string, Found>} */
export const readFound = () => JSON.parse(readFileSync(FOUND, 'utf8'));

/** Writes what was found, and the document. @param {Record<string, Found>} found */
export async function writeFound(found) {
  writeFileSync(FOUND, `${JSON.stringify(found, null, 2)}\n`);
  const { ok, output } = await runNode(fileURLToPath(new URL('./print.mjs', import.meta.url)), [], {
    quiet: true,
  });
  if (!ok) throw new Error(output);
  writeFileSync(DOCUMENT, output);
}

/**
 * Adds the results of tests to what was found before. A cell has failed if one of its tests has; a cell without a test in
 * this report stays as it was.
 *
 * @param {Record<string, Found>} before
 * @param {ClientsReport} report
 * @returns {Record<string, Found>}
 */
export function addResults(before, { tests, versions }) {
  const found = structuredClone(before);
  const of = (/** @type {string} */ client) => {
    found[client] ??= { results: {} };
    return found[client];
  };
  for (const [client, version] of Object.entries(versions)) of(client).version = version;
  for (const table of TABLES) {
    const clients = table.clients.map(({ name }) => name);
    for (const client of table.clients)
      for (const [index, cell] of cellsOf(table, client).entries()) {
        const feature = Object.keys(table.features)[index] ?? '';
        const results = cell ? resultsOf(cell, client.name, clients, tests[cell.file] ?? {}) : [];
        if (results.length > 0)
          of(client.name).results[feature] = results.includes(false) ? 'failed' : 'passed';
      }
  }
  return found;
}

/**
 * The results of a cell's tests: those with its title that name no other client of the table.
 *
 * @param {import('./table.mjs').Evidence} cell
 * @param {string} client
 * @param {string[]} clients
 * @param {Record<string, boolean>} tests
 */
function resultsOf({ title }, client, clients, tests) {
  const [before = '', ...after] = title.split('%s');
  const has = (/** @type {string} */ name) => {
    const at = name.indexOf(before);
    return at >= 0 && after.every((part) => name.indexOf(part, at + before.length) >= 0);
  };
  const isOfOther = (/** @type {string} */ name) => {
    const named = clients.filter((each) => name.includes(`${each} `));
    return named.length > 0 && !named.includes(client);
  };
  return Object.entries(tests)
    .filter(([name]) => has(name) && !isOfOther(name))
    .map(([, hasPassed]) => hasPassed);
}

if (isMain(import.meta.url)) {
  const files = process.argv.slice(2);
  const texts =
    files.length > 0 ? files.map((file) => readFileSync(file, 'utf8')) : [readStamp('last-tests.json')];
  if (texts.includes('')) fail('There is no last run. Run npm run test:all first.');
  let found = readFound();
  for (const text of texts) found = addResults(found, JSON.parse(text).clients);
  await writeFound(found);
}
