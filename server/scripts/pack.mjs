// `npm pack` and `npm publish` run it before and after they pack a package: `pack.mjs widget` builds the package of the widget,
// `pack.mjs server` the server, and copies what the package contains from outside of its folder; `pack.mjs server --clean` removes
// that again.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureParts, RUNNABLE } from './build.mjs';
import { ensureInstalled } from './install.mjs';
import { fail, isMain, root } from './progress.mjs';

/** The files and folders that are copied into the server's, at their paths in the repository. */
const COPIED = [
  'schema.graphql',
  'widget/demo/products.json',
  'widget/dist/console',
  'widget/dist/demo',
  'widget/dist/standalone',
  'widget/released',
];

/** The copies, which are removed from the server's folder after packing. */
const COPIES = ['schema.graphql', 'widget'].map((name) => join(root, 'server', name));

function clean() {
  for (const copy of COPIES) rmSync(copy, { recursive: true, force: true });
}

if (isMain(import.meta.url)) {
  const [name, option] = process.argv.slice(2);
  if ((name !== 'widget' && name !== 'server') || (option && option !== '--clean'))
    fail('Usage: pack.mjs widget | server [--clean]');
  // Another process may be packing the server.
  if (name === 'server') clean();
  if (!option) {
    // The output of `npm pack --json` is read by programs.
    console.log = console.error;
    await ensureInstalled({ quiet: true });
    await ensureParts(name === 'widget' ? ['widget', 'package'] : [...RUNNABLE], { quiet: true });
    if (name === 'server')
      for (const path of COPIED) cpSync(join(root, path), join(root, 'server', path), { recursive: true });
  }
}
