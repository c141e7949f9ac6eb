import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureParts } from '../server/scripts/build.mjs';
import { gates as allGates, FAST_GATES, runGates } from '../server/scripts/gates.mjs';
import { ensureInstalled } from '../server/scripts/install.mjs';
import { childrenCpuMs, fail, isMain, root, runNode, since, step } from '../server/scripts/progress.mjs';
import { writeStamp } from '../server/scripts/stamp.mjs';
import { findChanges } from './support/changes.mjs';
import { drawsReferences, ensureChromium } from './support/chromium.mjs';
import { ensurePooler, ensurePromtool, ensureProxies, ensureSystemd } from './support/debian.mjs';
import { ensureEngines } from './support/engines.mjs';
import { scanOutput } from './support/secrets.mjs';
import { BROWSER_PROJECTS, findTestFiles, isInNpmTest, isInSample, PICTURES } from './support/test-files.mjs';

const USAGE = `Usage: npm test                        each behaviour once, a purchase of each kind, and the fast gates
       npm run test:browser            the elements, the demo and all pages, in Chromium
       npm run test:programs           the programs that an operator runs: commands, clusters, backups, faults
       npm test -- FILTER…             only files whose path has one of these in it, such as kernel/money
       npm run test:all [-- FILTER…]   everything: both databases, the facade, screenshots, recipes, larger sizes
       npm run test:unit               what needs nothing but Node
       npm run test:changed            what imports a file that has changed; --since=REF in place of the last commit
       npm run test:watch [-- FILTER…] again at each change

  --project=NAME,…  only files of these projects: unit, server, programs, journey, page, component
  Other options are Vitest's: -t NAME, --shard 1/3, --bail 1 …
`;

/** Options of Vitest that take a value as the next argument; another argument without a dash is a filter. */
const WITH_VALUE = ['-t', '--testNamePattern', '--shard', '--bail', '--retry', '--reporter', '--maxWorkers'];

/**
 * @typedef {import('./support/test-files.mjs').TestFile} TestFile
 * @typedef {import('./support/reporter.ts').Report & { postgresCpuMs: number }} Report
 *
 * @typedef {object} Selection
 * @property {TestFile[]} files
 * @property {'sample' | 'medium' | 'full'} [scale] unless PSA_SCALE is set
 * @property {boolean} [watch]
 * @property {string[]} [options] for Vitest
 * @property {string[]} [gates] that run beside the tests
 * @property {string} [leftOut] what a person should know that it does not run
 * @property {boolean} [isWhole] whether all of the project's tests are among them: then there must be logs of each kind
 */

/**
 * Prepares these tests, runs them and the gates side by side, and prints the seconds of each project and `N passed, N
 * failed`, in which a failed gate counts.
 * @param {Selection} selection
 * @returns {Promise<{ ok: boolean }>}
 */
export async function runTests({
  files: selected,
  scale = 'sample',
  watch = false,
  options = [],
  gates = [],
  isWhole,
  leftOut,
}) {
  const variables = await prepare(selected);
  const files = drawsReferences(variables)
    ? selected
    : selected.filter(({ path }) => !PICTURES.includes(path));
  const env = {
    PSA_TEST_FILES: files.map(({ path }) => path).join(),
    PSA_SCALE: process.env.PSA_SCALE ?? scale,
    ...variables,
  };
  if (watch) return runNode('node_modules/vitest/vitest.mjs', ['watch', ...options], { cwd: TESTS, env });

  const started = performance.now();
  const cpuBefore = childrenCpuMs();
  const folder = mkdtempSync(join(tmpdir(), 'psa-tests-'));
  try {
    const [results, report] = await Promise.all([
      runGates(gates),
      files.length > 0 ? vitest(options, { ...env, PSA_TEST_SAID: folder }) : NOTHING,
    ]);
    report.failed += results.filter((gate) => !gate.ok).length;
    const secrets = await step('no secret in what the servers have said', () =>
      lookForSecrets(folder, isWhole ?? false),
    );
    if (!secrets.ok) report.failed += 1;
    printSeconds(report, childrenCpuMs() - cpuBefore, since(started));
    if (leftOut) console.log(leftOut);
    if (files.length < selected.length)
      console.log(`Left out: ${PICTURES}, which compares pictures in Debian’s chromium-headless-shell alone`);
    return { ok: printSum(report) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const TESTS = join(root, 'test');

/** @type {Report} */
const NOTHING = {
  passed: 0,
  failed: 0,
  skipped: 0,
  failures: [],
  projects: {},
  files: [],
  runnerCpuMs: 0,
  postgresCpuMs: 0,
  clients: { tests: {}, versions: {} },
};

/** Programs of other projects, with the functions that find or install them. */
const PROGRAMS = {
  chromium: ensureChromium,
  engines: ensureEngines,
  proxies: ensureProxies,
  pooler: ensurePooler,
  promtool: ensurePromtool,
  systemd: ensureSystemd,
};
/** The parts that are built. */
const BUILT = /** @type {const} */ (['server', 'pgdata', 'widget', 'package']);

/**
 * Builds and installs what these files need, and nothing else. Returns variables for the tests.
 * @param {TestFile[]} files
 * @returns {Promise<Record<string, string>>} variables for the tests
 */
async function prepare(files) {
  const started = performance.now();
  const needs = (/** @type {import('./support/test-files.mjs').Part} */ part) =>
    files.some(({ parts }) => parts.has(part));
  /** @type {Record<string, string>} */
  const variables = {};
  for (const [part, ensure] of Object.entries(PROGRAMS)) {
    if (!needs(/** @type {keyof typeof PROGRAMS} */ (part))) continue;
    const found = await ensure();
    if ('problem' in found) fail(found.problem);
    Object.assign(variables, found.variables);
  }
  await ensureParts(BUILT.filter(needs));
  if (files.some(({ parts }) => parts.size > 0)) console.log(`✓ prepared in ${since(started)}\n`);
  return variables;
}

/** @param {string[]} options @param {Record<string, string>} env @returns {Promise<Report>} */
async function vitest(options, env) {
  const folder = mkdtempSync(join(tmpdir(), 'psa-report-'));
  const file = join(folder, 'report.json');
  try {
    const args = ['run', '--reporter=./support/reporter.ts', ...options];
    await runNode('node_modules/vitest/vitest.mjs', args, {
      cwd: TESTS,
      env: { ...env, PSA_TEST_REPORT: file },
    });
    const report = readFileSync(file, 'utf8');
    // The report shows slow files and the results of each client.
    writeStamp('last-tests.json', report);
    return { ...JSON.parse(report), postgresCpuMs: sumOfLines(`${file}.postgres`) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ...NOTHING, failed: 1, failures: [`✗ The test runner ended without a result: ${why}`] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The sum of a file of numbers, one on a line; 0 without the file. @param {string} file */
function sumOfLines(file) {
  if (!existsSync(file)) return 0;
  return readFileSync(file, 'utf8')
    .split('\n')
    .reduce((sum, line) => sum + Number(line), 0);
}

/**
 * Searches every log line, error, metric and trace of the run for secrets. A run of all tests must have some of each.
 * @param {string} folder
 * @param {boolean} isWhole
 */
async function lookForSecrets(folder, isWhole) {
  const { counts, found } = scanOutput(folder);
  const lines = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const each = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  if (lines > 0) console.log(`${lines} lines were looked through for secrets: ${each.join(', ')}`);
  const missing = isWhole && Object.keys(counts).find((kind) => counts[kind] === 0);
  if (missing) return { ok: false, output: `There is no ${missing} to look through: nothing was collected.` };
  const shown = found.slice(0, SECRETS_SHOWN);
  if (found.length > shown.length) shown.push(`… and ${found.length - shown.length} more`);
  return { ok: found.length === 0, output: shown.join('\n') };
}

const SECRETS_SHOWN = 20;

/**
 * A table by project, so that growth shows. CPU time is known where the system counts it for ended children (Linux).
 *
 * @param {Report} report
 * @param {number} cpuMs of everything that ran
 * @param {string} took
 */
function printSeconds({ projects, runnerCpuMs, postgresCpuMs }, cpuMs, took) {
  const seconds = (/** @type {number} */ ms) => (ms / 1000).toFixed(1);
  const row = (/** @type {(string | number)[]} */ [name, ...cells]) =>
    console.log(`${String(name).padEnd(30)}${cells.map((cell) => String(cell).padStart(9)).join('')}`);
  console.log('');
  row(['', 'files', 'tests', 'wall s', 'CPU s']);
  let ofProjects = 0;
  for (const [name, { files, tests, wallMs, cpuMs }] of Object.entries(projects)) {
    ofProjects += cpuMs;
    row([name, files, tests, seconds(wallMs), cpuMs > 0 ? seconds(cpuMs) : '']);
  }
  if (cpuMs > 0) {
    row(['Vitest', '', '', '', seconds(runnerCpuMs)]);
    row(['PostgreSQL', '', '', '', seconds(postgresCpuMs)]);
    const rest = cpuMs - ofProjects - runnerCpuMs - postgresCpuMs;
    row(['gates, browsers of Vitest', '', '', '', seconds(Math.max(0, rest))]);
  }
  row(['all', '', '', took.replace(' s', ''), cpuMs > 0 ? seconds(cpuMs) : '']);
  console.log('');
}

/** @param {Report} report @returns {boolean} whether all is well */
function printSum({ passed, failed, skipped, failures }) {
  // The failures are printed again: hundreds of lines lie between a test and the sum.
  for (const failure of failures) console.log(failure);
  if (passed + failed === 0) console.log('✗ No test was run.');
  const skipsFail = Boolean(process.env.CI) && skipped > 0;
  if (skipsFail) console.log('✗ Tests were skipped, which counts as a failure where CI is set.');
  console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
  return failed === 0 && passed > 0 && !skipsFail;
}

/** The files whose path has one of the filters in it. @param {TestFile[]} files @param {string[]} filters */
export function filterFiles(files, filters) {
  const chosen = files.filter(({ path }) => filters.some((filter) => `test/${path}`.includes(filter)));
  if (chosen.length === 0) fail(`No test file has ${filters.join(' or ')} in its path.`);
  return chosen;
}

/** @param {string[]} args @returns {{ filters: string[], options: string[] }} */
export function parseArguments(args) {
  const filters = [];
  const options = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) filters.push(arg);
    else if (WITH_VALUE.includes(arg)) options.push(arg, args[++at] ?? '');
    else options.push(arg);
  }
  return { filters, options };
}

/** @param {string[]} args @returns {Selection} */
function select(args) {
  const { filters, options } = parseArguments(args.filter((arg) => !OWN_OPTIONS.test(arg)));
  const has = (/** @type {string} */ name) => args.includes(name);
  const optionOf = (/** @type {string} */ name) =>
    args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);
  const projects = has('--browser') ? BROWSER_PROJECTS : optionOf('--project')?.split(',');
  const files = findTestFiles().filter(({ project }) => projects?.includes(project) ?? true);
  const chosen = filters.length > 0 ? filterFiles(files, filters) : files;
  if (has('--unit')) return { files: chosen.filter(({ project }) => project === 'unit'), options };
  if (has('--watch')) return { files: chosen, watch: true, options };
  if (has('--changed')) return { files: findChanges(chosen, optionOf('--since')), options };
  // A filter or an option selects some of the tests, whereas the gates check all of the code.
  const isWhole = filters.length === 0 && options.length === 0 && !projects;
  const gatesFor = (/** @type {string[]} */ names) => (isWhole ? names : []);
  if (has('--all'))
    return { files: chosen, scale: 'medium', options, gates: gatesFor(Object.keys(allGates)), isWhole };
  if (filters.length > 0) return { files: chosen, options };
  if (projects) return { files: chosen.filter(isInSample), options };
  return {
    files: chosen.filter(isInNpmTest),
    options,
    gates: gatesFor(FAST_GATES),
    isWhole,
    leftOut: leftOut(chosen),
  };
}

/** The number of files that `npm test` leaves out, by the command that runs them. @param {TestFile[]} files */
function leftOut(files) {
  const others = files.filter((file) => !isInNpmTest(file));
  const inBrowser = others.filter((file) => isInSample(file) && BROWSER_PROJECTS.includes(file.project));
  const ofPrograms = others.filter((file) => isInSample(file) && !BROWSER_PROJECTS.includes(file.project));
  const rest = others.length - inBrowser.length - ofPrograms.length;
  return (
    `Left out: ${inBrowser.length} files in a browser (npm run test:browser), ${ofPrograms.length} of whole programs ` +
    `or long (npm test -- --project=server,programs), ${rest} more that npm run test:all runs, with larger sizes`
  );
}

const OWN_OPTIONS = /^--(?:all|unit|browser|changed|watch|since=.*|project=.*)$/;

if (isMain(import.meta.url)) {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) process.stdout.write(USAGE);
  else {
    await ensureInstalled();
    const selection = select(args);
    if (args.includes('--changed') && selection.files.length === 0) console.log('There is nothing to run.');
    else process.exitCode = (await runTests(selection)).ok ? 0 : 1;
  }
}
