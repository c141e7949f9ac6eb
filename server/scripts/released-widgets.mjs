import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hashFiles, hashVersion, readHashes } from '../../widget/scripts/released.mjs';
import { ensureParts } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { isMain, root, runNode, step } from './progress.mjs';

const RELEASED = 'widget/released';
const BUILT = 'widget/dist/standalone';
/** The documents that the server trusts: of the elements, and of a backend. */
const MANIFESTS = /** @type {const} */ ([
  ['documents.json', '--manifest'],
  ['backend-documents.json', '--backend-manifest'],
]);

/** Compares the files of the released versions with the hashes that were written with each. */
export async function releasedWidgets() {
  const [hashes, files] = [readHashes(), hashFiles()];
  const names = new Set(
    [hashes, files].flatMap((all) =>
      Object.entries(all).flatMap(([version, each]) => Object.keys(each).map((name) => `${version}/${name}`)),
    ),
  );
  const changed = [...names].filter((path) => {
    const [version = '', name = ''] = path.split('/');
    return hashes[version]?.[name] !== files[version]?.[name];
  });
  const lines = changed.map((path) => `${RELEASED}/${path} is not the file that was released.`);
  return {
    ok: changed.length === 0,
    output: `${lines.join('\n')}\nPages are held to these bytes by their hashes: restore them. A release adds a folder, with npm run release.`,
  };
}

/**
 * Adds the built widget of this version to the released ones. A version that is released already stays as it is.
 *
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export async function releaseWidget() {
  const { version } = JSON.parse(readFileSync(join(root, 'widget/package.json'), 'utf8'));
  const folder = join(root, RELEASED, version);
  if (existsSync(folder)) return { ok: true, output: '' };
  await ensureParts(['widget'], { quiet: true });
  const manifests = new Map();
  for (const [name, option] of MANIFESTS) {
    const printed = await runNode(
      'node_modules/tsx/dist/cli.mjs',
      ['server/scripts/print-widget-documents.ts', option],
      { quiet: true },
    );
    if (!printed.ok) return printed;
    manifests.set(name, printed.output);
  }
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(join(root, BUILT)))
    if (!name.endsWith('.map')) writeFileSync(join(folder, name), readFileSync(join(root, BUILT, name)));
  for (const [name, content] of manifests) writeFileSync(join(folder, name), content);
  const hashes = { ...readHashes(), [version]: hashVersion(version) };
  writeFileSync(join(root, RELEASED, 'hashes.json'), `${JSON.stringify(hashes, null, 2)}\n`);
  return { ok: true, output: '' };
}

if (isMain(import.meta.url)) {
  await ensureInstalled();
  const { ok } = await step(RELEASED, releaseWidget);
  process.exitCode = ok ? 0 : 1;
}
