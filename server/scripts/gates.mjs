import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { dependencies } from './dependencies.mjs';
import { packageScript } from './pnpm.mjs';
import { root, runNode, step } from './progress.mjs';
import { generatedFiles } from './regenerate.mjs';

/**
 * What a change has to pass besides the tests, each a function of no arguments.
 * @type {Record<string, () => Promise<{ ok: boolean, output: string }>>}
 */
export const gates = {
  'format and lint': () =>
    runNode('node_modules/@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.'], { quiet: true }),
  types: () => types(['test', 'test/widget', 'widget']),
  // What the program of the tests checks too; there it may use the DOM.
  'types without the DOM': () => types(['.']),
  'generated files': generatedFiles,
  'dead code': () => runNode('node_modules/knip/bin/knip.js', ['--no-progress'], { quiet: true }),
  dependencies,
  sizes: () => packageScript('widget', 'size'),
};

/** The gates that `npm test` runs too; `npm run test:all` runs all of them. */
export const FAST_GATES = ['format and lint', 'types', 'generated files'];

/** Runs these gates one after the other, all of them whatever happens. @param {string[]} names */
export async function runGates(names) {
  const results = [];
  for (const name of names) {
    const gate = gates[name];
    if (!gate) throw new Error(`There is no gate called ${name}: ${Object.keys(gates).join(', ')}.`);
    results.push(await step(name, gate));
  }
  return results;
}

/** @param {string[]} folders each with a tsconfig.json, where it is there */
async function types(folders) {
  const projects = folders.filter((folder) => existsSync(join(root, folder, 'tsconfig.json')));
  let output = '';
  for (const project of projects) {
    const memory = `node_modules/.psa/types-${project === '.' ? 'server' : project.replace('/', '-')}.tsbuildinfo`;
    // Checkers side by side do much of their work twice, and the tests beside them have the other cores.
    const args = [
      '-p',
      project,
      '--noEmit',
      '--singleThreaded',
      '--incremental',
      '--tsBuildInfoFile',
      memory,
    ];
    // It collects garbage less often: a quarter of its CPU time for a hundred megabytes.
    const env = { GOGC: '400' };
    output += (await runNode('node_modules/typescript/bin/tsc', args, { quiet: true, env })).output;
  }
  return { ok: output === '', output };
}
