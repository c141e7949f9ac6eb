// Builds dist: `pages` are the files that the server serves (the script-tag bundles, the demo and the console), `package` those that are
// packed for npm. Without an argument it builds both. The parts share no file, so two processes may build one each. With
// `--watch` the pages are built again at each change.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'vite';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));

/** @type {Record<string, () => Promise<unknown>>} */
const PARTS = {
  async pages() {
    await Promise.all([
      // In this order, because the first empties the folder of all three.
      vite('standalone').then(() => Promise.all([vite('standalone-payouts'), vite('standalone-board')])),
      vite('demo'),
      vite('console'),
    ]);
  },
  async package() {
    // Files of earlier builds must not be packed.
    for (const name of existsSync('dist') ? readdirSync('dist') : [])
      if (!['standalone', 'demo', 'console'].includes(name)) rmSync(`dist/${name}`, { recursive: true });
    await Promise.all([
      vite('npm'),
      run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'),
      run(
        'node_modules/@custom-elements-manifest/analyzer/cem.js',
        'analyze',
        '--config',
        'custom-elements-manifest.config.mjs',
      ),
    ]);
  },
};

const WATCH = '--watch';
const isWatching = process.argv.includes(WATCH);

/** @param {string} mode */
function vite(mode) {
  return build(isWatching ? { mode, build: { watch: {} } } : { mode, logLevel: 'warn' });
}

/** @param {string} program @param {string[]} args */
function run(program, ...args) {
  return promisify(execFile)(process.execPath, [program, ...args]);
}

const chosen = process.argv.slice(2).filter((argument) => argument !== WATCH);
for (const part of chosen.length > 0 ? chosen : Object.keys(PARTS)) await PARTS[part]();
