// Writes the bundles of the server, of the psa command and of PGlite's worker into server/dist, with their loaders and
// the assets that they read.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { licencesOf } from './licences.mjs';
import { isMain, root } from './progress.mjs';
import { filesUnder } from './stamp.mjs';

const SOURCES = 'server/src';
const DIST = 'server/dist';

const ENTRIES = {
  server: 'programs/bundle.ts',
  psa: 'programs/cli/main.ts',
  'pglite-worker': 'state/db/pglite-worker.ts',
};

/** Packages that are not bundled. */
const EXTERNAL = [
  // Its WebAssembly lies beside its code.
  '@electric-sql/pglite',
  // Optional for the driver, and not installed.
  'pg-native',
];

/** A package with megabytes of a page, which is loaded with that page: a bundle of its own, beside the server's. */
const GRAPHIQL = '@graphql-yoga/render-graphiql';

/** The files of packages that are served as they are, at the same paths in `vendor`, with the licences that they need. */
const VENDORED = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'].map(
  (name) => `swagger-ui-dist/${name}`,
);

/** The programs of server/dist. They are CommonJS: V8 caches the code of scripts. */
const PROGRAMS = {
  'package.json': '{ "type": "commonjs" }\n',
  'main.js': `require('./server.js').serve();\n`,
};

/**
 * A source map that maps a whole file to one place of this name, which load.ts leaves out of stacks. With the lines of
 * the packages in the map, reading it takes the server half a second.
 */
const UNMAPPED = `\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(
  JSON.stringify({ version: 3, sources: ['unmapped'], mappings: 'AAAA' }),
).toString('base64')}`;

/** @type {import('esbuild').Plugin} */
const sourcesAloneInMap = {
  name: 'sources-alone-in-map',
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/.*\.[cm]?js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8') + UNMAPPED,
      loader: 'default',
    }));
  },
};

/** @type {import('esbuild').Plugin} */
const graphiqlApart = {
  name: 'graphiql-apart',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^${GRAPHIQL}$`) }, () => ({ path: './graphiql.js', external: true }));
  },
};

/** @type {import('esbuild').BuildOptions} */
const COMMON = {
  bundle: true,
  write: false,
  absWorkingDir: root,
  outdir: DIST,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  // Replaces import() by require(): a script has no import(), and Node's own runs its loader two more times.
  supported: { 'dynamic-import': false },
  logLevel: 'warning',
};

async function bundle() {
  const entries = Object.entries(ENTRIES).map(([name, source]) => [`${name}.bundle`, `${SOURCES}/${source}`]);
  const [bundles, loader, graphiql] = await Promise.all([
    build({
      ...COMMON,
      metafile: true,
      entryPoints: Object.fromEntries(entries),
      external: EXTERNAL,
      sourcemap: true,
      sourcesContent: false,
      legalComments: 'external',
      plugins: [sourcesAloneInMap, graphiqlApart],
      // Wraps the bundle in a function, which load.ts calls as Node calls a CommonJS module.
      banner: { js: '(function (exports, require, module, __filename, __dirname, __url) {' },
      footer: { js: '})' },
      define: {
        'import.meta.url': '__url',
        // Without a navigator, pg detects Cloudflare through `Response`, for which Node would load its fetch.
        navigator: '{ "userAgent": "Node.js" }',
        // Yoga only compares it with its own Request. Reading it would load Node's fetch, 40 ms of a start.
        'globalThis.Request': 'undefined',
      },
    }),
    build({ ...COMMON, entryPoints: [`${SOURCES}/programs/load.ts`] }),
    build({
      ...COMMON,
      entryPoints: { graphiql: join(root, 'server/node_modules', GRAPHIQL) },
      metafile: true,
    }),
  ]);
  const outputs = [bundles, loader, graphiql]
    .flatMap(({ outputFiles = [] }) => outputFiles)
    .map(
      ({ path, text }) =>
        /** @type {const} */ ([basename(path), path.endsWith('.js') ? toAscii(text) : text]),
    );
  const assets = filesUnder(SOURCES)
    .filter((file) => !/\.m?ts$|\.mjs$/.test(file))
    .map((file) => /** @type {const} */ ([file.slice(SOURCES.length + 1), readFileSync(join(root, file))]));
  const vendored = VENDORED.map(
    (file) =>
      /** @type {const} */ ([`vendor/${file}`, readFileSync(join(root, 'server/node_modules', file))]),
  );
  const licences = /** @type {const} */ (['LICENSES.txt', licencesOf([bundles, graphiql])]);
  // The loaders come last: they name the content of the bundles.
  const files = [
    ...outputs,
    ...assets,
    ...vendored,
    licences,
    ...Object.entries(PROGRAMS),
    ...outputs.flatMap(loaderOf),
  ];
  for (const [name, contents] of files) write(`${DIST}/${name}`, contents);
  removeOthers(files.map(([name]) => `${DIST}/${name}`));
}

/**
 * The loader of a bundle: `server.js` loads `server.bundle.js` and has its exports.
 *
 * @param {readonly [name: string, code: string]} output @returns {[name: string, code: string][]}
 */
function loaderOf([bundle, code]) {
  const [, name] = /^(.*)\.bundle\.js$/.exec(bundle) ?? [];
  if (!name) return [];
  const id = createHash('sha256').update(code).digest('hex').slice(0, 16);
  return [
    [`${name}.js`, `module.exports = require('./load.js').load(require.resolve('./${bundle}'), '${id}');\n`],
  ];
}

/**
 * Escapes non-ASCII characters: load.ts reads a bundle as Latin-1, in half the time and memory. esbuild leaves them only in
 * regular expressions and in comments.
 *
 * @param {string} code
 */
function toAscii(code) {
  return code.replace(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Writes a file atomically: a server may start at this moment. @param {string} file @param {string | Buffer} contents */
function write(file, contents) {
  const path = join(root, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
}

/**
 * Removes files of earlier builds: a migration that is gone would be applied. The database template is a build of its own,
 * and a file that ends with the number of a process may be half-written by that process.
 *
 * @param {string[]} files
 */
function removeOthers(files) {
  const kept = new Set([...files, `${DIST}/pgdata.tar.gz`]);
  for (const file of filesUnder(DIST))
    if (!kept.has(file) && !/\.\d+$/.test(file)) rmSync(join(root, file), { force: true });
}

if (isMain(import.meta.url)) {
  try {
    await bundle();
  } catch (error) {
    // esbuild has already printed the errors of the sources.
    if (!(error instanceof Error && 'errors' in error)) throw error;
    process.exitCode = 1;
  }
}
