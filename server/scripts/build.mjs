import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { packageScript } from './pnpm.mjs';
import { fail, isMain, root, runNode, since } from './progress.mjs';
import { clearStamp, filesUnder, fingerprint, readStamp, writeStamp } from './stamp.mjs';

/**
 * Brings server/dist, widget/dist and PGlite's prepared folder up to date, each only when what it is made of
 * has changed. Ends the process where one cannot be built.
 */
export async function ensureBuilt() {
  await ensureServer();
  await ensureWidget();
  await ensurePgdata();
}

/** The server alone. @param {{ quiet?: boolean }} [options] with `quiet`, what is up to date is not mentioned */
export async function ensureServer(options) {
  const sources = filesUnder('server/src');
  const part = {
    madeOf: [...sources, 'server/tsconfig.json', 'tsconfig.json', 'pnpm-lock.yaml'],
    results: ['server/dist/main.js'],
    /** @param {string[]} previous */
    async build(previous) {
      const outputs = sources.flatMap(compiledTo);
      for (const stale of previous.filter((file) => !outputs.includes(file)))
        rmSync(join(root, stale), { force: true });
      // Types are a gate of the tests; without them compiling takes a fraction of the time.
      const compiled = await runNode('node_modules/typescript/bin/tsc', ['-p', 'server', '--noCheck'], {
        quiet: true,
      });
      if (!compiled.ok) return compiled;
      for (const asset of sources.filter((file) => !file.endsWith('.ts'))) {
        const copy = join(root, asset.replace(/^server\/src/, 'server/dist'));
        mkdirSync(dirname(copy), { recursive: true });
        copyFileSync(join(root, asset), copy);
      }
      return { ...compiled, outputs };
    },
  };
  await ensure('server', part, options);
}

/** @param {string} source */
function compiledTo(source) {
  const target = source.replace(/^server\/src/, 'server/dist');
  if (source.endsWith('.d.ts')) return [];
  return source.endsWith('.ts') ? [target.replace(/ts$/, 'js'), target.replace(/ts$/, 'js.map')] : [target];
}

/** @param {{ quiet?: boolean }} [options] */
export async function ensureWidget(options) {
  const part = {
    // The build writes into the README itself.
    madeOf: [
      ...filesUnder('widget').filter((file) => file !== 'widget/README.md'),
      ...filesUnder('test/widget/recipes'),
      'tsconfig.json',
      'schema.graphql',
      'pnpm-lock.yaml',
    ],
    results: ['widget/dist'],
    build: () => packageScript('widget', 'build'),
  };
  await ensure('widget', part, options);
}

export async function ensurePgdata() {
  const script = 'server/scripts/build-pgdata.mjs';
  if (!existsSync(join(root, script))) return;
  await ensure('database template', {
    madeOf: [script, 'server/node_modules/@electric-sql/pglite/package.json'],
    results: ['server/dist/pgdata.tar.gz'],
    build: () => runNode(script, [], { quiet: true }),
  });
}

/**
 * @param {string} name
 * @param {object} part
 * @param {string[]} part.madeOf files whose content decides whether it is built again
 * @param {string[]} part.results what must be there afterwards
 * @param {(previous: string[]) => Promise<{ ok: boolean, output: string, outputs?: string[] }>} part.build given the
 *   outputs of the last time
 * @param {{ quiet?: boolean }} [options]
 */
async function ensure(name, { madeOf, results, build }, { quiet = false } = {}) {
  const started = performance.now();
  const stamp = `built-${name.replaceAll(' ', '-')}`;
  const wanted = fingerprint(madeOf, [process.versions.node]);
  const [last, ...previous] = readStamp(stamp).split('\n');
  if (last === wanted && results.every((result) => existsSync(join(root, result)))) {
    if (!quiet) console.log(`✓ ${name} unchanged: skipped`);
    return;
  }
  clearStamp(stamp);
  if (process.stdout.isTTY && !quiet) process.stdout.write(`… building ${name}\r`);
  const { ok, output, outputs = [] } = await build(previous);
  if (!ok) {
    console.error(output.trimEnd());
    fail(`${name} could not be built.`);
  }
  const missing = results.find((result) => !existsSync(join(root, result)));
  if (missing) fail(`${name} was built, but ${missing} is not there.`);
  writeStamp(stamp, [wanted, ...outputs].join('\n'));
  console.log(`✓ ${name} built in ${since(started)}`);
}

if (isMain(import.meta.url)) {
  await ensureInstalled();
  await ensureBuilt();
}
