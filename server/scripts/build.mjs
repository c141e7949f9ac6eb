import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { fail, isMain, root, runNode, since } from './progress.mjs';
import { clearStamp, filesUnder, fingerprint, readStamp, writeStamp } from './stamp.mjs';

/** @typedef {{ quiet?: boolean }} Options with `quiet`, what is up to date is not mentioned */

/**
 * Brings everything that is built up to date, side by side, each part only when what it is made of has changed. Ends the
 * process where one cannot be built.
 */
export async function ensureBuilt() {
  await ensureParts(/** @type {PartName[]} */ (Object.keys(PARTS)));
}

/** The same for these parts alone. @param {PartName[]} names @param {Options} [options] */
export async function ensureParts(names, options) {
  await ensure(
    names.map((name) => PARTS[name]()),
    options,
  );
}

/** The parts that a server runs with: `npm start` waits for no package. */
export const RUNNABLE = /** @type {const} */ (['server', 'widget', 'pgdata']);

const PARTS = {
  /** server/dist. */
  server: serverPart,
  /** The pages and the scripts that the server serves. */
  widget: widgetPart,
  /** What the widget is packed from for npm: modules, types, manifest. */
  package: packagePart,
  /** PGlite's prepared folder. */
  pgdata: pgdataPart,
};

/** @typedef {keyof typeof PARTS} PartName */

/**
 * @typedef {object} Part
 * @property {string} name
 * @property {string[]} madeOf files whose content decides whether it is built again
 * @property {string[]} results what must be there afterwards
 * @property {(previous: string[]) => Promise<{ ok: boolean, output: string, outputs?: string[] }>} build given the
 *   outputs of the last time
 */

/** @returns {Part} */
function serverPart() {
  return {
    name: 'server',
    madeOf: [
      ...filesUnder('server/src'),
      'server/scripts/bundle.mjs',
      'server/scripts/warm.mjs',
      'server/tsconfig.json',
      'tsconfig.json',
      'pnpm-lock.yaml',
    ],
    results: ['server/dist/main.js', 'server/dist/server.bundle.js'],
    async build(previous) {
      const bundled = await runNode('server/scripts/bundle.mjs', [], { quiet: true });
      if (!bundled.ok) return bundled;
      const outputs = bundled.output.split('\n');
      for (const stale of previous.filter((file) => !outputs.includes(file)))
        rmSync(join(root, stale), { force: true });
      const warm = 'server/scripts/warm.mjs';
      const warmed = existsSync(join(root, warm))
        ? await runNode(warm, [], { quiet: true, env: PRODUCTION })
        : bundled;
      return { ...warmed, outputs };
    },
  };
}

/** @returns {Part} */
function widgetPart() {
  return {
    name: 'widget',
    madeOf: widgetSources(),
    results: ['widget/dist/standalone', 'widget/dist/demo'],
    build: () => buildWidget('pages'),
  };
}

/** @returns {Part} */
function packagePart() {
  return {
    name: 'widget package',
    madeOf: widgetSources(),
    results: ['widget/dist/psa-checkout.js', 'widget/dist/types', 'widget/custom-elements.json'],
    build: () => buildWidget('package'),
  };
}

function widgetSources() {
  // No build reads a document, and some hold hashes of what was built.
  const sources = filesUnder('widget').filter((file) => !file.endsWith('.md'));
  return [...sources, 'tsconfig.json', 'schema.graphql', 'pnpm-lock.yaml'];
}

/** @param {'pages' | 'package'} part */
function buildWidget(part) {
  // A test runner sets NODE_ENV to `test`, and Vite then takes the build of Lit that is for developers.
  return runNode('widget/scripts/build.mjs', [part], { quiet: true, env: PRODUCTION });
}

const PRODUCTION = { NODE_ENV: 'production' };

/** @returns {Part} */
function pgdataPart() {
  const script = 'server/scripts/build-pgdata.mjs';
  return {
    name: 'database template',
    madeOf: [script, 'server/node_modules/@electric-sql/pglite/package.json'],
    results: ['server/dist/pgdata.tar.gz'],
    build: () => runNode(script, [], { quiet: true }),
  };
}

/**
 * Builds what is not up to date, all at the same time.
 *
 * @param {Part[]} parts @param {Options} [options]
 */
async function ensure(parts, { quiet = false } = {}) {
  const due = [];
  for (const part of parts) {
    const wanted = fingerprint(part.madeOf, [process.versions.node]);
    const [last, ...previous] = readStamp(stampOf(part)).split('\n');
    if (last !== wanted || !part.results.every(isThere)) due.push({ part, wanted, previous });
    else if (!quiet) console.log(`✓ ${part.name} unchanged: skipped`);
  }
  if (due.length === 0) return;
  if (!quiet) console.log(`Building: ${due.map(({ part }) => part.name).join(', ')} …`);
  const failed = await Promise.all(
    due.map(async ({ part, wanted, previous }) => {
      const started = performance.now();
      clearStamp(stampOf(part));
      const { ok, output, outputs = [] } = await part.build(previous);
      const missing = part.results.find((result) => !isThere(result));
      if (ok && !missing) {
        writeStamp(stampOf(part), [wanted, ...outputs].join('\n'));
        console.log(`✓ ${part.name} built in ${since(started)}`);
        return null;
      }
      if (!ok) console.error(output.trimEnd());
      return ok ? `${part.name} was built, but ${missing} is not there.` : `${part.name} could not be built.`;
    }),
  );
  const failures = failed.filter((failure) => failure !== null);
  if (failures.length > 0) fail(failures.join(' '));
}

/** @param {Part} part */
function stampOf({ name }) {
  return `built-${name.replaceAll(' ', '-')}`;
}

/** @param {string} file */
function isThere(file) {
  return existsSync(join(root, file));
}

if (isMain(import.meta.url)) {
  await ensureInstalled();
  await ensureBuilt();
}
