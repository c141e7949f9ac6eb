// Writes the bundles of the server, of the psa command and of PGlite's worker into server/dist, with what loads them and
// the assets that they read.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { isMain, root } from './progress.mjs';
import { filesUnder } from './stamp.mjs';

const SOURCES = 'server/src';
const DIST = 'server/dist';

const ENTRIES = { server: 'bundle.ts', psa: 'cli/main.ts', 'pglite-worker': 'db/pglite-worker.ts' };

/** Read from their packages: PGlite's WebAssembly lies beside its code; the other two are pages of megabytes. */
const EXTERNAL = [
  '@electric-sql/pglite',
  '@graphql-yoga/render-graphiql',
  'swagger-ui-dist',
  // The driver's other half, which nobody installs.
  'pg-native',
];

/** The programs of server/dist. Its folder is one of CommonJS: V8 caches the code of scripts. */
const PROGRAMS = {
  'package.json': '{ "type": "commonjs" }\n',
  'main.js': `require('./server.js').serve();\n`,
};

/**
 * Maps all of a package's file to a single place of this name, which load.ts leaves out of stacks. With the lines of the
 * packages in the map, reading it takes half a second of the server's time.
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

/** @type {import('esbuild').BuildOptions} */
const COMMON = {
  bundle: true,
  write: false,
  absWorkingDir: root,
  outdir: DIST,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  // A script has no import(), and Node's own takes two more ways through its loader.
  supported: { 'dynamic-import': false },
  logLevel: 'warning',
};

/** Writes all of it, and returns the files that it has written. */
async function bundle() {
  const entries = Object.entries(ENTRIES).map(([name, source]) => [`${name}.bundle`, `${SOURCES}/${source}`]);
  const results = await Promise.all([
    build({
      ...COMMON,
      entryPoints: Object.fromEntries(entries),
      external: EXTERNAL,
      sourcemap: true,
      sourcesContent: false,
      legalComments: 'external',
      plugins: [sourcesAloneInMap],
      // A function that load.ts calls as Node calls a CommonJS module.
      banner: { js: '(function (exports, require, module, __filename, __dirname, __url) {' },
      footer: { js: '})' },
      define: {
        'import.meta.url': '__url',
        // For pg, which looks for Cloudflare by way of `Response` where there is no navigator: Node 20 would load its fetch.
        navigator: '{ "userAgent": "Node.js" }',
      },
    }),
    build({ ...COMMON, entryPoints: [`${SOURCES}/load.ts`] }),
  ]);
  const made = results
    .flatMap(({ outputFiles = [] }) => outputFiles)
    .map(
      ({ path, text }) =>
        /** @type {const} */ ([basename(path), path.endsWith('.js') ? toAscii(text) : text]),
    );

  mkdirSync(join(root, DIST), { recursive: true });
  const programs = { ...PROGRAMS, ...Object.fromEntries(made.flatMap(loaderOf)) };
  // The programs last: they name the bundle's content.
  for (const [name, contents] of [...made, ...Object.entries(programs)]) write(`${DIST}/${name}`, contents);
  const assets = filesUnder(SOURCES).filter((file) => !/\.m?ts$|\.mjs$/.test(file));
  for (const asset of assets) {
    const copy = inDist(asset);
    mkdirSync(dirname(join(root, copy)), { recursive: true });
    copyFileSync(join(root, asset), join(root, copy));
  }
  return [...made.map(([name]) => name), ...Object.keys(programs)]
    .map((name) => `${DIST}/${name}`)
    .concat(assets.map(inDist));
}

/**
 * `server.js`, which loads `server.bundle.js` and has its exports.
 *
 * @param {readonly [name: string, code: string]} made @returns {[name: string, code: string][]}
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
 * load.ts reads a bundle as Latin-1, which takes half of the time and of the memory. esbuild leaves other characters in
 * regular expressions and in comments alone.
 *
 * @param {string} code
 */
function toAscii(code) {
  return code.replace(
    /[^\0-\x7f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** @param {string} source */
function inDist(source) {
  return source.replace(SOURCES, DIST);
}

/** Whole or not at all: a server may start at this moment. @param {string} file @param {string} contents */
function write(file, contents) {
  const path = join(root, file);
  writeFileSync(`${path}.${process.pid}`, contents);
  renameSync(`${path}.${process.pid}`, path);
}

/** Code caches of bundles that are no more, and what a process that was killed had begun to write. */
function removeCaches() {
  for (const name of readdirSync(join(root, DIST)).filter((file) => /\.cache(\.\d+)*$/.test(file)))
    rmSync(join(root, DIST, name), { force: true });
}

if (isMain(import.meta.url)) {
  try {
    const files = await bundle();
    removeCaches();
    process.stdout.write(files.join('\n'));
  } catch (error) {
    // esbuild has said already what it does not understand.
    if (!(error instanceof Error && 'errors' in error)) throw error;
    process.exitCode = 1;
  }
}
