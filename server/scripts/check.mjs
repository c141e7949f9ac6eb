import { runTests } from '../../test/run.mjs';
import { findTestFiles, isInSample } from '../../test/support/test-files.mjs';
import { gates, runGates } from './gates.mjs';
import { ensureInstalled } from './install.mjs';
import { fail, since } from './progress.mjs';

// Runs everything that a change has to pass, or the named steps, as in `check.mjs types 'dead code'`. `gates` stands
// for all but the tests.
const chosen = process.argv.slice(2).flatMap((name) => (name === 'gates' ? Object.keys(gates) : [name]));
const unknown = chosen.find((name) => name !== 'tests' && !(name in gates));
if (unknown)
  fail(`There is no step called ${unknown}. There are: ${[...Object.keys(gates), 'tests'].join(', ')}.`);
const isChosen = (/** @type {string} */ name) => chosen.length === 0 || chosen.includes(name);

await ensureInstalled();
const results = await runGates(Object.keys(gates).filter(isChosen));
if (isChosen('tests')) {
  const started = performance.now();
  const { ok } = await runTests({ files: findTestFiles().filter(isInSample), isWhole: true });
  results.push({ name: 'tests', ok, took: since(started) });
}

if (chosen.length !== 1) {
  console.log('');
  for (const { name, ok, took } of results)
    console.log(`${ok ? '✓' : '✗'} ${name.padEnd(21)} ${took.padStart(8)}`);
}
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
