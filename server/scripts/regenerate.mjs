import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureParts } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { fail, isMain, root, runNode } from './progress.mjs';

/**
 * Files of the repository that are made from others, in the order in which they are made.
 *
 * @typedef {object} Generated
 * @property {string} file relative to the repository
 * @property {string} from what it is made from, in a few words
 * @property {() => Promise<{ ok: boolean, output: string }>} make with the content as the output
 *
 * @type {Generated[]}
 */
export const GENERATED = [
  { file: 'schema.graphql', from: 'the GraphQL schema in server/src', make: printSchema },
  { file: 'widget/src/graphql-env.d.ts', from: 'schema.graphql', make: printTypes },
  ...['README.md', 'docs/psa-checkout.md', 'docs/psa-payouts.md', 'docs/recipes.md'].map((document) => ({
    file: `widget/${document}`,
    from: 'the recipes in test/widget/recipes, and the built widget',
    make: async () => {
      await ensureParts(['widget'], { quiet: true });
      return runNode('widget/scripts/docs.mjs', [document], { quiet: true });
    },
  })),
];

/** Compares each generated file with what it is made from, and fails where they differ. */
export async function generatedFiles() {
  let output = '';
  for (const { file, from, make } of GENERATED) {
    const made = await make();
    if (!made.ok) return made;
    if (made.output !== readFileSync(join(root, file), 'utf8'))
      output += `${file} is not made from ${from}.\n`;
  }
  return { ok: output === '', output: `${output}To make it: npm run regenerate` };
}

async function regenerate() {
  for (const { file, make } of GENERATED) {
    const { ok, output } = await make();
    if (!ok) {
      console.error(output.trimEnd());
      fail(`${file} could not be made.`);
    }
    const path = join(root, file);
    const isNew = readFileSync(path, 'utf8') !== output;
    if (isNew) writeFileSync(path, output);
    console.log(`✓ ${file} ${isNew ? 'written' : 'unchanged'}`);
  }
}

function printSchema() {
  return runNode('node_modules/tsx/dist/cli.mjs', ['server/scripts/print-schema.ts'], { quiet: true });
}

/** The types of the schema, by which the compiler checks the widget's operations. */
async function printTypes() {
  const folder = mkdtempSync(join(tmpdir(), 'psa-types-'));
  try {
    const file = join(folder, 'graphql-env.d.ts');
    const args = ['generate', 'output', '--tsconfig', 'tsconfig.json', '--output', file];
    const made = await runNode('node_modules/gql.tada/bin/cli.js', args, {
      cwd: join(root, 'widget'),
      quiet: true,
    });
    return made.ok ? { ok: true, output: readFileSync(file, 'utf8') } : made;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (isMain(import.meta.url)) {
  await ensureInstalled();
  await regenerate();
}
