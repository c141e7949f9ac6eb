// Saves the results of the tests about each client, and the document that shows them:
// node test/clients/collect.mjs [REPORT…], the reports of whole runs or of shards; the last run of this clone by default.
import { readFileSync } from 'node:fs';
import { fail, isMain } from '../../server/scripts/progress.mjs';
import { readStamp } from '../../server/scripts/stamp.mjs';
import { readFound, writeFound } from './found.mjs';
import { cellsOf, TABLES } from './table.mjs';

/**
 * @typedef {import('./found.mjs').Found} Found
 * @typedef {import('../support/reporter.ts').ClientsReport} ClientsReport
 */

/**
 * Adds the results of tests to the earlier ones. A cell has failed if one of its tests has; a cell without a test in
 * this report stays unchanged.
 * @param {Record<string, Found>} before
 * @param {ClientsReport} report
 * @returns {Record<string, Found>}
 */
export function addResults(before, { tests, versions }) {
  const found = structuredClone(before);
  const entryOf = (/** @type {string} */ client) => {
    found[client] ??= { results: {} };
    return found[client];
  };
  for (const [client, version] of Object.entries(versions)) entryOf(client).version = version;
  for (const table of TABLES) {
    const clients = table.clients.map(({ name }) => name);
    for (const client of table.clients)
      for (const [index, cell] of cellsOf(table, client).entries()) {
        const feature = Object.keys(table.features)[index] ?? '';
        const results = cell ? resultsOf(cell, client.name, clients, tests[cell.file] ?? {}) : [];
        if (results.length > 0)
          entryOf(client.name).results[feature] = results.includes(false) ? 'failed' : 'passed';
      }
  }
  return found;
}

/**
 * Selects the results of a cell: tests whose name matches its title, and names no other client of the table. Of
 * several matching clients the longest name counts: one may begin with another.
 * @param {import('./table.mjs').Evidence} cell
 * @param {string} client
 * @param {string[]} clients
 * @param {Record<string, boolean>} tests
 */
function resultsOf({ title }, client, clients, tests) {
  const [before = '', ...after] = title.split('%s');
  const matchesTitle = (/** @type {string} */ name) => {
    const at = name.indexOf(before);
    return at >= 0 && after.every((part) => name.indexOf(part, at + before.length) >= 0);
  };
  const isOfOther = (/** @type {string} */ name) => {
    const [named] = clients
      .filter((each) => name.includes(`${each} `) || name.includes(`(${each}) `))
      .sort((left, right) => right.length - left.length);
    return named !== undefined && named !== client;
  };
  return Object.entries(tests)
    .filter(([name]) => matchesTitle(name) && !isOfOther(name))
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
