import { ensureInstalled } from '../server/scripts/install.mjs';
import { isMain } from '../server/scripts/progress.mjs';
import { filterFiles, parseArguments, runTests } from './run.mjs';
import { findTestFiles } from './support/test-files.mjs';

/** The tests of promises that other commands run in a smaller size (test/support/scale.ts), here in full size. */
const ATTACKS = ['attacks/', 'faults/', 'laws/concurrency', 'live/dose', 'money-in/payments/races'];

if (isMain(import.meta.url)) {
  const { filters, options } = parseArguments(process.argv.slice(2));
  await ensureInstalled();
  const files = filterFiles(findTestFiles(), filters.length > 0 ? filters : ATTACKS);
  process.exitCode = (await runTests({ files, scale: 'full', options })).ok ? 0 : 1;
}
