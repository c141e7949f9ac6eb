import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';
import { interfaces, writeBaseline } from './interfaces.mjs';
import { fail, root, runNode, step } from './progress.mjs';
import { regenerate } from './regenerate.mjs';
import { releaseWidget } from './released-widgets.mjs';

// Writes the files of a release: the versions and changelogs from the changesets, the interfaces that the next changes are
// compared with, the bundles of the widget at the addresses of this version, and the migrations that must not change from now on.
await ensureInstalled();
const changesets = readdirSync(join(root, '.changeset')).filter((file) => file.endsWith('.md'));
if (changesets.length === 0) fail('There is no changeset, and so nothing to release.');

const versionOf = (/** @type {string} */ folder) =>
  JSON.parse(readFileSync(join(root, `${folder}/package.json`), 'utf8')).version;
const before = { server: versionOf('server'), widget: versionOf('widget') };

/** @type {[string, () => Promise<{ ok: boolean, output: string }>][]} */
const steps = [
  // Checked first: a breaking change in the baseline would not be found by any gate.
  ['interfaces', interfaces],
  ['types of the changes', lowerMajors],
  [
    'versions and changelogs',
    () => runNode('node_modules/@changesets/cli/bin.js', ['version'], { quiet: true }),
  ],
  ['sections of the changelogs', unwrapChangelogs],
  ['versions in the documents', nameVersions],
  ['server/released', writeBaseline],
  ['widget/released', releaseWidget],
  [
    'test/state/db/released',
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

/** Lowers the type of breaking changes to minor: before 1.0.0 a break raises the minor number, and `changeset version` does not know that. */
async function lowerMajors() {
  for (const [name, folder] of /** @type {const} */ ([
    ['@psa/server', 'server'],
    ['@psa/checkout', 'widget'],
  ])) {
    if (!versionOf(folder).startsWith('0.')) continue;
    for (const file of changesets) {
      const path = join(root, '.changeset', file);
      const text = readFileSync(path, 'utf8');
      writeFileSync(path, text.replace(new RegExp(`^(['"]${name}['"]: )major$`, 'm'), '$1minor'));
    }
  }
  return { ok: true, output: '' };
}

/** Writes the sections of the newest release as they are in its changeset: `changeset version` makes them an item of a list. */
async function unwrapChangelogs() {
  for (const folder of ['server', 'widget']) {
    const path = join(root, `${folder}/CHANGELOG.md`);
    if (!existsSync(path)) continue;
    const [title = '', newest = '', ...older] = readFileSync(path, 'utf8').split(/^(?=## )/m);
    const [, version = '', text] =
      /^(## [^\n]*\n)\n### \w+ Changes\n\n- (?:[0-9a-f]+: )?(### .*)$/s.exec(newest) ?? [];
    if (text === undefined) continue;
    const unwrapped = text.replaceAll(/^ {2}/gm, '').trim();
    writeFileSync(path, [title, `${version}\n${unwrapped}\n\n`, ...older].join('').trimEnd().concat('\n'));
  }
  return { ok: true, output: '' };
}

/** Names the new versions where the documents show an address of the widget or a packed file. */
async function nameVersions() {
  for (const file of [
    'README.md',
    'server/docs/operate.md',
    'widget/README.md',
    'widget/docs/psa-checkout.md',
  ]) {
    const path = join(root, file);
    const text = readFileSync(path, 'utf8')
      .replaceAll(`/widget/${before.widget}/`, `/widget/${versionOf('widget')}/`)
      .replaceAll(`psa-checkout-${before.widget}.tgz`, `psa-checkout-${versionOf('widget')}.tgz`)
      .replaceAll(`psa-server-${before.server}.tgz`, `psa-server-${versionOf('server')}.tgz`);
    writeFileSync(path, text);
  }
  return { ok: true, output: '' };
}
