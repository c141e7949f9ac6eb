import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runNode } from '../../server/scripts/progress.mjs';

/**
 * The saved results of a client.
 *
 * @typedef {object} Found
 * @property {string} [version] unless it is the version of a package
 * @property {Record<string, 'passed' | 'failed'>} results the last result of each feature
 */

const FOUND = new URL('./found.json', import.meta.url);
const DOCUMENT = new URL('../../server/docs/clients.md', import.meta.url);

/** @returns {Record<string, Found>} */
export const readFound = () => JSON.parse(readFileSync(FOUND, 'utf8'));

/** Saves results, and the document that shows them. @param {Record<string, Found>} found */
export async function writeFound(found) {
  writeFileSync(FOUND, `${JSON.stringify(found, null, 2)}\n`);
  const { ok, output } = await runNode(fileURLToPath(new URL('./print.mjs', import.meta.url)), [], {
    quiet: true,
  });
  if (!ok) throw new Error(output);
  writeFileSync(DOCUMENT, output);
}
