import { ensureInstalled } from '../server/scripts/install.mjs';
import { isMain } from '../server/scripts/progress.mjs';
import { runTests } from './run.mjs';

/** What `npm test` does in a small dose (test/support/doses.ts), in the full one. */
const ATTACKS = ['attacks/', 'faults/', 'laws/concurrency'];

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2);
  await ensureInstalled();
  process.env.PSA_DOSE ??= 'full';
  const { ok } = await runTests(args.length > 0 ? args : ATTACKS);
  process.exitCode = ok ? 0 : 1;
}
