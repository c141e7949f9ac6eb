import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { interfaces, writeBaseline } from './interfaces.mjs';
import { fail, root, runNode, step } from './progress.mjs';
import { regenerate } from './regenerate.mjs';
import { releaseWidget } from './released-widgets.mjs';

// Writes the files of a release: the versions and changelogs from the changesets, the interfaces that the next changes are
// compared with, the bundles of the widget at the addresses of this version, and the migrations that must not change from now on.
await ensureInstalled();
if (!readdirSync(join(root, '.changeset')).some((file) => file.endsWith('.md')))
  fail('There is no changeset, and so nothing to release.');

/** @type {[string, () => Promise<{ ok: boolean, output: string }>][]} */
const steps = [
  // Checked first: a breaking change in the baseline would not be found by any gate.
  ['interfaces', interfaces],
  [
    'versions and changelogs',
    () => runNode('node_modules/@changesets/cli/bin.js', ['version'], { quiet: true }),
  ],
  ['server/released', writeBaseline],
  ['widget/released', releaseWidget],
  [
    'test/state/db/released.json',
    () =>
      runNode('../node_modules/tsx/dist/cli.mjs', ['state/db/freeze.ts'], {
        cwd: join(root, 'test'),
        quiet: true,
      }),
  ],
];
for (const [name, work] of steps) {
  const { ok } = await step(name, work);
  if (!ok) process.exit(1);
}
// The documents name the newest version and its hashes.
await regenerate();
