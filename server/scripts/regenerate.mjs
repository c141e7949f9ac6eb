import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { fail, isMain, root, runNode, runTypeScript } from './progress.mjs';

/**
 * The files of the repository that are generated from others, in the order of their generation.
 *
 * @typedef {object} Generated
 * @property {string} file relative to the repository
 * @property {string} from the sources of the file, in a few words
 * @property {() => Promise<{ ok: boolean, output: string }>} make resolves with the content of the file as the output
 *
 * @type {Generated[]}
 */
export const GENERATED = [
  {
    file: '.github/CONTRIBUTING.md',
    from: 'the imports of server/src, which it draws',
    make: () => runNode('server/scripts/print-house.mjs', [], { quiet: true }),
  },
  {
    file: 'schema.graphql',
    from: 'the GraphQL schema in server/src',
    make: () => runTypeScript('server/scripts/print-schema.ts'),
  },
  { file: 'widget/src/graphql-env.d.ts', from: 'schema.graphql', make: printTypes },
  {
    file: 'widget/possible-types.json',
    from: 'schema.graphql',
    make: () => runNode('widget/scripts/possible-types.mjs', [], { quiet: true }),
  },
  ...['widget/src/payouts/methods.ts', 'widget/demo/shared/payout-methods.ts'].map((file) => ({
    file,
    from: 'the payout methods in server/src',
    make: () => printOneOf('server/scripts/print-methods.ts', file),
  })),
  ...['widget/src/server/webhook-events.generated.ts', 'server/docs/service.md'].map((file) => ({
    file,
    from: 'the descriptions of webhooks in server/src',
    make: () => printOneOf('server/scripts/print-webhook-events.ts', file),
  })),
  {
    file: 'server/src/api/operations/widget-documents.ts',
    from: 'the operations in widget/src and widget/released',
    make: () => runTypeScript('server/scripts/print-widget-documents.ts'),
  },
  ...['server/docs/configuration.md', 'server/scripts/variables.txt'].map((file) => ({
    file,
    from: 'the environment variables in server/src/programs/config/variables.ts',
    make: () => printOneOf('server/scripts/print-variables.ts', file),
  })),
  {
    file: 'server/docs/names.md',
    from: 'the types, routes and events in server/src',
    make: () => printOneOf('server/scripts/print-names.ts', 'server/docs/names.md'),
  },
  {
    file: 'server/docs/clients.md',
    from: 'the table in test/clients',
    make: () => runNode('test/clients/print.mjs', [], { quiet: true }),
  },
  ...['README.md', 'docs/psa-checkout.md', 'docs/psa-payouts.md', 'docs/recipes.md'].map((document) => ({
    file: `widget/${document}`,
    from: 'the recipes in test/widget/recipes, and widget/released',
    make: () => runNode('widget/scripts/docs.mjs', [document], { quiet: true }),
  })),
];

/** Generates each file again, and fails if the content differs. */
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

export async function regenerate() {
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

/** @type {Map<string, ReturnType<typeof runNode>>} */
const printed = new Map();

/** Prints one of the files that a script prints as JSON; one process prints all of them. @param {string} script @param {string} file */
async function printOneOf(script, file) {
  const printing = printed.get(script) ?? runTypeScript(script);
  printed.set(script, printing);
  const made = await printing;
  return made.ok ? { ok: true, output: JSON.parse(made.output)[file] } : made;
}

/** Prints the types of the schema, against which the compiler checks the widget's operations. */
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
