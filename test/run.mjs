import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ensureBuilt } from '../server/scripts/build.mjs';
import { FAST_GATES, runGates } from '../server/scripts/gates.mjs';
import { ensureInstalled } from '../server/scripts/install.mjs';
import { fail, isMain, root, runNode, step } from '../server/scripts/progress.mjs';
import { ensureChromium } from './support/chromium.mjs';
import { lookThrough } from './support/secrets.mjs';

/** In the order they run. The browser's own configuration is there for the widget's components alone. */
const CONFIGS = ['vitest.config.ts', 'vitest.browser.config.ts'];

/**
 * Runs every test, or those that Vitest's arguments choose, and prints `N passed, N failed`.
 *
 * @param {string[]} args
 * @param {number} [failedBefore] of gates, which count in that line: it says `0 failed` only where all is well
 */
export async function runTests(args, failedBefore = 0) {
  const chromium = await ensureChromium();
  if ('problem' in chromium) fail(chromium.problem);
  await ensureBuilt();

  const total = { passed: 0, failed: failedBefore, skipped: 0 };
  const failures = [];
  const saidIn = mkdtempSync(join(tmpdir(), 'psa-said-'));
  for (const config of CONFIGS.filter((name) => existsSync(join(root, 'test', name)))) {
    const { passed, failed, skipped, why } = await vitest(config, args, {
      CHROME_BIN: chromium.path,
      PSA_TEST_SAID: saidIn,
    });
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
    failures.push(...why);
  }

  const secrets = await step('no secret in what the servers have said', () => lookForSecrets(saidIn, args));
  if (!secrets.ok) total.failed += 1;

  // Said once more at the end: thousands of lines lie between a test of the first run and the sum.
  for (const failure of failures) console.log(failure);
  if (total.passed + total.failed === 0) console.log('✗ No test was run.');
  if (process.env.CI && total.skipped > 0)
    console.log('✗ Tests were skipped, which counts as a failure where CI is set.');
  console.log(
    `${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ''}`,
  );
  const ok = total.failed === 0 && total.passed > 0 && !(process.env.CI && total.skipped > 0);
  return { ok };
}

/**
 * Looks through every log line, error, metric and trace of the run. Of all tests there must be some of each.
 *
 * @param {string} folder it is removed
 * @param {string[]} args those of the run
 */
async function lookForSecrets(folder, args) {
  const { counts, found } = lookThrough(folder);
  rmSync(folder, { recursive: true, force: true });
  const lines = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const each = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  console.log(`${lines} lines were looked through for secrets: ${each.join(', ')}`);
  const missing = args.length === 0 && Object.keys(counts).find((kind) => counts[kind] === 0);
  if (missing) return { ok: false, output: `There is no ${missing} to look through: nothing was collected.` };
  const shown = found.slice(0, SECRETS_SHOWN);
  if (found.length > shown.length) shown.push(`… and ${found.length - shown.length} more`);
  return { ok: found.length === 0, output: shown.join('\n') };
}

const SECRETS_SHOWN = 20;

/** @param {string} config @param {string[]} args @param {Record<string, string>} env */
async function vitest(config, args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'psa-vitest-'));
  try {
    const report = join(folder, 'report.json');
    const options = [
      '--config',
      config,
      '--passWithNoTests',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
    ];
    const { ok } = await runNode('node_modules/vitest/vitest.mjs', ['run', ...options, ...args], {
      cwd: join(root, 'test'),
      env,
    });
    const counted = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : {};
    const { numPassedTests: passed = 0, numPendingTests = 0, numTodoTests = 0 } = counted;
    // A file that does not load, or an error outside of a test, fails the run and no test.
    const failed = counted.numFailedTests || (ok ? 0 : 1);
    return { passed, failed, skipped: numPendingTests + numTodoTests, why: whatFailed(counted) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What of a message tells why: the rest is the stack of the runner. */
const LINES_OF_A_FAILURE = 12;

/**
 * The tests and files that failed in a report of Vitest, each as a few lines.
 *
 * @param {{ testResults?: { name: string, status: string, message?: string, assertionResults?: { status: string, fullName: string, failureMessages?: string[] }[] }[] }} report
 */
function whatFailed({ testResults = [] }) {
  return testResults.flatMap(({ name, status, message = '', assertionResults = [] }) => {
    const file = relative(join(root, 'test'), name);
    const tests = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => brief(`${file} > ${test.fullName}`, test.failureMessages?.join('\n') ?? ''));
    return status === 'failed' && tests.length === 0 ? [brief(file, message)] : tests;
  });
}

/** @param {string} what @param {string} why */
function brief(what, why) {
  const lines = stripVTControlCharacters(why).split('\n').slice(0, LINES_OF_A_FAILURE);
  return [`✗ ${what}`, ...lines.map((line) => `  ${line}`)].join('\n');
}

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2);
  await ensureInstalled();
  // Who asks for some of the tests wants to know about these.
  const results = args.length === 0 ? await runGates(FAST_GATES) : [];
  const { ok } = await runTests(args, results.filter((gate) => !gate.ok).length);
  process.exitCode = ok ? 0 : 1;
}
