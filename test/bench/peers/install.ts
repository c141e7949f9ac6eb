import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, since } from '../../../server/scripts/progress.mjs';
import { clearStamp, fingerprint, readStamp, writeStamp } from '../../../server/scripts/stamp.mjs';

const FOLDER = 'test/bench/peers/hive-gateway';
const STAMP = 'installed-hive-gateway';

/**
 * Installs what the facade is measured against, exactly as its lock file has it, unless it is there. Its version; null,
 * and a line that says so, where it cannot be had.
 */
export async function ensureHiveGateway(): Promise<string | null> {
  const { dependencies } = JSON.parse(readFileSync(join(root, FOLDER, 'package.json'), 'utf8'));
  const version: string = dependencies['@graphql-hive/gateway-runtime'];
  const wanted = fingerprint([`${FOLDER}/package-lock.json`], [process.versions.node]);
  if (readStamp(STAMP) === wanted && existsSync(join(root, FOLDER, 'node_modules'))) return version;
  clearStamp(STAMP);

  console.log('Installing Hive Gateway, which this benchmark alone needs (75 MB) …');
  const started = performance.now();
  const { ok } = await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: join(root, FOLDER),
  });
  if (!ok) {
    console.log('✗ Hive Gateway could not be installed (see above): what is measured against it is left out');
    return null;
  }
  writeStamp(STAMP, wanted);
  console.log(`✓ Hive Gateway ${version} installed in ${since(started)}`);
  return version;
}
