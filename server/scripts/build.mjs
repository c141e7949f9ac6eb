import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { fail, isMain, root, runNode, since } from './progress.mjs';
import { clearStamp, filesUnder, fingerprint, readStamp, writeStamp } from './stamp.mjs';

/**
 * @typedef {object} Part
 * @property {string} name
 * @property {() => string[]} sources files whose content decides whether the part is built again
 * @property {string[]} results files and folders that the build must create
 * @property {() => Promise<{ ok: boolean, output: string }>} build
 */

const PARTS = {
  server: {
    name: 'server',
    sources: () => [
      ...filesUnder('server/src'),
      ...['server/scripts/bundle.mjs', 'server/scripts/warm.mjs', 'tsconfig.json', 'pnpm-lock.yaml'],
    ],
    results: ['server/dist/main.js', 'server/dist/server.bundle.js'],
    async build() {
      const bundled = await node('server/scripts/bundle.mjs');
      return bundled.ok ? node('server/scripts/warm.mjs') : bundled;
    },
  },
  /** The pages and the scripts that the server serves. */
  widget: {
    name: 'widget',
    sources: widgetSources,
    results: ['widget/dist/standalone', 'widget/dist/demo', 'widget/dist/console'],
    build: () => node('widget/scripts/build.mjs', 'pages'),
  },
  /** The modules, types and manifest that are packed for npm. */
  package: {
    name: 'widget package',
    sources: widgetSources,
    results: ['widget/dist/psa-checkout.js', 'widget/dist/types', 'widget/custom-elements.json'],
    build: () => node('widget/scripts/build.mjs', 'package'),
  },
  /** The empty database that PGlite starts from. */
  pgdata: {
    name: 'database template',
    sources: () => [
      'server/scripts/build-pgdata.mjs',
      'server/node_modules/@electric-sql/pglite/package.json',
    ],
    results: ['server/dist/pgdata.tar.gz'],
    build: () => node('server/scripts/build-pgdata.mjs'),
  },
};

/** @typedef {keyof typeof PARTS} PartName */

/** The parts that a server runs with: `npm start` does not wait for the package. */
export const RUNNABLE = /** @type {const} */ (['server', 'widget', 'pgdata']);

function widgetSources() {
  // The documents and the earlier builds are left out: no build reads them.
  const sources = filesUnder('widget').filter(
    (file) => !file.endsWith('.md') && !file.startsWith('widget/released/'),
  );
  return [...sources, 'tsconfig.json', 'schema.graphql', 'pnpm-lock.yaml'];
}

/** @param {string} file @param {string[]} args */
function node(file, ...args) {
  // Under a test runner NODE_ENV is `test`, and Vite then takes the development build of Lit.
  return runNode(file, args, { quiet: true, env: { NODE_ENV: 'production' } });
}

/** Builds every part that is not up to date. Ends the process if one cannot be built. */
export async function ensureBuilt() {
  await ensureParts(/** @type {PartName[]} */ (Object.keys(PARTS)));
}

/**
 * Builds those of these parts whose sources have changed, in parallel. Ends the process if one cannot be built.
 *
 * @param {PartName[]} names
 * @param {{ quiet?: boolean }} [options] with `quiet`, parts that are up to date are not mentioned
 */
export async function ensureParts(names, { quiet = false } = {}) {
  const due = [];
  for (const part of names.map((name) => PARTS[name])) {
    const current = fingerprint(part.sources(), [process.versions.node]);
    if (readStamp(stampOf(part)) !== current || findMissing(part)) due.push({ part, current });
    else if (!quiet) console.log(`✓ ${part.name} unchanged: skipped`);
  }
  if (due.length === 0) return;
  if (!quiet) console.log(`Building: ${due.map(({ part }) => part.name).join(', ')} …`);
  const failures = await Promise.all(due.map(({ part, current }) => build(part, current)));
  if (failures.some((failure) => failure !== '')) fail(failures.filter(Boolean).join(' '));
}

/** Builds a part. Resolves with the reason of a failure, or an empty string. @param {Part} part @param {string} current */
async function build(part, current) {
  const started = performance.now();
  clearStamp(stampOf(part));
  const { ok, output } = await part.build();
  if (!ok) {
    console.error(output.trimEnd());
    return `${part.name} could not be built.`;
  }
  const missing = findMissing(part);
  if (missing) return `${part.name} was built, but ${missing} is not there.`;
  writeStamp(stampOf(part), current);
  console.log(`✓ ${part.name} built in ${since(started)}`);
  return '';
}

/** @param {Part} part */
function findMissing({ results }) {
  return results.find((result) => !existsSync(join(root, result)));
}

/** @param {Part} part */
function stampOf({ name }) {
  return `built-${name.replaceAll(' ', '-')}`;
}

if (isMain(import.meta.url)) {
  await ensureInstalled();
  await ensureBuilt();
}
