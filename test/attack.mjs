import { ensureInstalled } from '../server/scripts/install.mjs';
import { isMain } from '../server/scripts/progress.mjs';
import { runTests } from './run.mjs';

/** What `npm test` does in a small dose, in a large one. Whoever sets one of these has it as set. */
const DOSES = { PSA_FAULTS_CALLS: '10000', PSA_FAULTS_KILLS: '50' };

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2);
  await ensureInstalled();
  for (const [name, dose] of Object.entries(DOSES)) process.env[name] ??= dose;
  const { ok } = await runTests(args.length > 0 ? args : ['faults/']);
  process.exitCode = ok ? 0 : 1;
}
