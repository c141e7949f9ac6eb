import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runTypeScript } from './progress.mjs';
import { findBreakingRestChanges } from './rest-changes.mjs';

/** The interfaces of the last release: `npm run release` writes them. */
const BASELINE = 'server/released';
const CHANGESETS = '.changeset';
const PACKAGE = '@psa/server';

/** @typedef {import('./rest-changes.mjs').Change} Change */

/**
 * Compares both interfaces with those of the last release. A change that breaks a client passes if a changeset of type
 * major names it in backticks.
 *
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export async function interfaces() {
  const description = await runTypeScript('server/scripts/print-openapi.ts');
  if (!description.ok) return description;
  const [schema, openapi] = ['schema.graphql', 'openapi.json'].map((file) => read(`${BASELINE}/${file}`));
  const changes = [
    ...(await findBreakingSchemaChanges(/** @type {string} */ (schema), read('schema.graphql'))),
    ...findBreakingRestChanges(JSON.parse(/** @type {string} */ (openapi)), JSON.parse(description.output)),
  ];
  const majorTexts = await majorChangesets();
  const unnamed = changes.filter(({ name }) => !majorTexts.some((text) => text.includes(`\`${name}\``)));
  const lines = unnamed.map(({ name, message }) => `\`${name}\`: ${message}`);
  return {
    ok: unnamed.length === 0,
    output: `${lines.join('\n')}\nThese break a client of the last release (${BASELINE}). Keep the old form beside the new one, or name each as it stands here in .changeset/server.md, with the type major`,
  };
}

/** Writes the current interfaces as those of the release. @returns {Promise<{ ok: boolean, output: string }>} */
export async function writeBaseline() {
  const description = await runTypeScript('server/scripts/print-openapi.ts');
  if (!description.ok) return description;
  mkdirSync(join(root, BASELINE), { recursive: true });
  writeFileSync(join(root, BASELINE, 'schema.graphql'), read('schema.graphql'));
  writeFileSync(join(root, BASELINE, 'openapi.json'), description.output);
  return { ok: true, output: '' };
}

/** Lists what breaks a client's operations. @param {string} before @param {string} after @returns {Promise<Change[]>} */
export async function findBreakingSchemaChanges(before, after) {
  const [{ CriticalityLevel, diff }, { buildSchema }] = await Promise.all([
    import('@graphql-inspector/core'),
    import('graphql'),
  ]);
  const changes = await diff(buildSchema(before), buildSchema(after));
  return changes
    .filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking)
    .map(({ path, type, message }) => ({ name: path ?? type, message }));
}

/** Reads the changesets that make the server's next version a major one. @returns {Promise<string[]>} */
async function majorChangesets() {
  if (!existsSync(join(root, CHANGESETS))) return [];
  const { default: parse } = await import('@changesets/parse');
  return readdirSync(join(root, CHANGESETS))
    .filter((file) => file.endsWith('.md'))
    .map((file) => parse(read(`${CHANGESETS}/${file}`)))
    .filter(({ releases }) => releases.some(({ name, type }) => name === PACKAGE && type === 'major'))
    .map(({ summary }) => summary);
}

/** @param {string} file relative to the repository */
function read(file) {
  return readFileSync(join(root, file), 'utf8');
}
