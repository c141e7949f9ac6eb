import { unsuitableNode } from '../bin/starting.mjs';
import { PNPM, pnpm } from './pnpm.mjs';
import { fail, isMain, root, since } from './progress.mjs';
import { clearStamp, fingerprint, readStamp, writeStamp } from './stamp.mjs';

/** The files that an install depends on. */
const SOURCES = [
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'package.json',
  'server/package.json',
  'widget/package.json',
  'test/package.json',
];

/**
 * Installs the dependencies if they have changed since the last install. Ends the process if that fails.
 *
 * @param {{ quiet?: boolean }} [options] with `quiet`, the output of pnpm is printed only if it fails
 */
export async function ensureInstalled({ quiet = false } = {}) {
  const unsuitable = unsuitableNode(process.versions.node);
  if (unsuitable) fail(unsuitable);

  const current = fingerprint(SOURCES, [process.platform, process.arch]);
  if (readStamp('installed') === current) return;
  clearStamp('installed');

  console.log(`Installing the dependencies with ${PNPM} …`);
  const started = performance.now();
  const { ok, output } = await pnpm(['install', '--frozen-lockfile', '--config.confirmModulesPurge=false'], {
    // Tests use the system's Chromium.
    env: { PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD: '1' },
    quiet,
  });
  if (!ok) {
    if (quiet) console.error(output.trimEnd());
    fail(
      'The dependencies could not be installed (see above). The npm registry must be reachable; then run this again.',
    );
  }
  writeStamp('installed', current);
  console.log(`✓ dependencies installed in ${since(started)}`);
}

if (isMain(import.meta.url)) {
  await ensureInstalled();
  console.log(`✓ ${root} is up to date`);
}
