import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureParts } from './build.mjs';
import { dependencies } from './dependencies.mjs';
import { interfaces } from './interfaces.mjs';
import { language } from './language.mjs';
import { root, runNode, step } from './progress.mjs';
import { generatedFiles } from './regenerate.mjs';
import { releasedWidgets } from './released-widgets.mjs';

/**
 * The checks that a change has to pass besides the tests.
 * @type {Record<string, () => Promise<{ ok: boolean, output: string }>>}
 */
export const gates = {
  'format and lint': () =>
    runNode('node_modules/@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.'], { quiet: true }),
  types: () => types(['test', 'test/widget', 'widget']),
  // The program of the tests includes the server's files too, but with the DOM's types.
  'types without the DOM': () => types(['.']),
  'generated files': generatedFiles,
  interfaces,
  'released widgets': releasedWidgets,
  language,
  'dead code': () => runNode('node_modules/knip/bin/knip.js', ['--no-progress'], { quiet: true }),
  dependencies,
  async sizes() {
    await ensureParts(['widget', 'package'], { quiet: true });
    return runNode('widget/scripts/size.mjs', [], { quiet: true });
  },
};

/** The gates that `npm test` runs too; `npm run test:all` runs all of them. */
export const FAST_GATES = ['format and lint', 'types', 'generated files', 'released widgets', 'language'];

/** Runs these gates one after the other, also after one has failed. @param {string[]} names */
export async function runGates(names) {
  const results = [];
  for (const name of names) {
    const gate = gates[name];
    if (!gate) throw new Error(`There is no gate called ${name}: ${Object.keys(gates).join(', ')}.`);
    results.push(await step(name, gate));
  }
  return results;
}

/** Checks the program of each of these folders that has a tsconfig.json. @param {string[]} folders */
async function types(folders) {
  const projects = folders.filter((folder) => existsSync(join(root, folder, 'tsconfig.json')));
  let output = '';
  let ok = true;
  for (const project of projects) {
    const buildInfo = `node_modules/.psa/types-${project === '.' ? 'server' : project.replace('/', '-')}.tsbuildinfo`;
    // Parallel checkers do much of their work twice, and the tests run on the other cores.
    const args = ['-p', project, '--noEmit', '--singleThreaded'];
    // A record for the next run costs a sixth of this one; CI has no next one.
    if (!process.env.CI) args.push('--incremental', '--tsBuildInfoFile', buildInfo);
    // Less garbage collection saves a quarter of the CPU time, for a hundred megabytes.
    const env = { GOGC: '400' };
    const result = await runNode('node_modules/typescript/bin/tsc', args, { quiet: true, env });
    ok &&= result.ok;
    output += result.output;
    // A compiler that was killed, as for want of memory, says nothing.
    if (!result.ok && result.output === '') output += `The compiler of ${project} ended without a result.\n`;
  }
  return { ok, output };
}
