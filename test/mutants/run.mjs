// npm run mutants: changes the server's code in thousands of places, one at a time, and fails if the tests do not
// notice.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../../server/scripts/install.mjs';
import { fail, root, since } from '../../server/scripts/progress.mjs';
import { TARGETS } from './targets.mjs';

const USAGE = `Usage: npm run mutants [-- FILTER…]

Changes the code of the ledger, of signing, of tokens and of the state machines in a copy, one place at a time, and runs
the tests that are about it. Fails where they notice less than 90 % of a group's changes. Those that they do not notice are
listed. What is changed and what must notice stands in test/mutants/targets.mjs; what is left alone, in
test/mutants/wording.mjs.

  FILTER       only files whose path has this in it, such as payouts/ or model.ts
  --tonight    one target, by the day of the year

Stryker is installed the first time (some 65 MB from the npm registry).
`;

const LEAST = 90;
const STRYKER = '../bench/peers/stryker/node_modules/@stryker-mutator/';
/** The number of mutants at one time; each has the tests' workers beside it. */
const AT_ONCE = 2;

const filters = process.argv.slice(2).filter((arg) => arg !== '--tonight');
/** The target of this night: all targets take as many nights as there are. */
const tonight = process.argv.includes('--tonight')
  ? TARGETS[Math.floor(Date.now() / 86_400_000) % TARGETS.length]
  : null;
if (filters.includes('--help') || filters.includes('-h')) process.stdout.write(USAGE);
else await mutate();

async function mutate() {
  const targets = (tonight ? [tonight] : TARGETS)
    .map((target) => ({ ...target, mutate: target.mutate.filter(isWanted) }))
    .filter((target) => target.mutate.length > 0);
  if (targets.length === 0) fail(`Nothing that is mutated is called ${filters.join(' or ')}.`);
  await ensureInstalled();
  const { tsImport } = await import('tsx/esm/api');
  const { ensurePeer } = await tsImport('../bench/peers/install.ts', import.meta.url);
  if (!(await ensurePeer('stryker'))) fail('Stryker could not be installed.');
  const { Stryker } = await import(new URL(`${STRYKER}core/dist/src/index.js`, import.meta.url).href);

  process.chdir(root);
  const folder = mkdtempSync(join(tmpdir(), 'psa-mutants-'));
  // The folder is removed after an interrupted run, too.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const started = performance.now();
  const results = [];
  for (const [index, target] of targets.entries()) {
    const begun = performance.now();
    console.log(`${index + 1} of ${targets.length}: ${target.mutate.join(', ')}`);
    const mutants = await new Stryker(optionsOf(target, folder)).runMutationTest();
    results.push(...mutants.map((/** @type {object} */ mutant) => ({ ...mutant, group: target.group })));
    listUnnoticed(mutants);
    console.log(`✓ ${mutants.length} in ${since(begun)}`);
  }
  const ok = tell(results);
  console.log(`${ok ? '✓' : '✗'} in ${since(started)}`);
  process.exitCode = ok ? 0 : 1;
}

/** @param {string} path */
function isWanted(path) {
  return filters.length === 0 || filters.some((filter) => `server/src/${path}`.includes(filter));
}

/** @param {import('./targets.mjs').Target} target @param {string} tempDirName */
function optionsOf({ mutate, tests, database }, tempDirName) {
  // Read by vitest.config.ts and by the tests, in processes that Stryker starts.
  process.env.PSA_MUTANTS_TESTS = tests.join();
  process.env.PSA_MUTANTS_DATABASE = database ? 'yes' : '';
  process.env.PSA_SCALE_AMOUNTS = '50000';
  return {
    mutate: mutate.map((path) => `server/src/${path}`),
    plugins: [
      // The runner is named by its path, because a package of the peer resolves only its own dependencies.
      fileURLToPath(new URL(`${STRYKER}vitest-runner/dist/src/index.js`, import.meta.url)),
      fileURLToPath(new URL('./wording.mjs', import.meta.url)),
    ],
    ignorers: ['wording'],
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    concurrency: AT_ONCE,
    // The rest of the repository is ignored.
    ignorePatterns: readdirSync(root)
      .filter((name) => !['package.json', 'server', 'test'].includes(name))
      .concat('test/bench/peers', 'test/bench/charts', 'test/widget'),
    disableTypeChecks: false,
    tempDirName,
    cleanTempDir: 'always',
    allowConsoleColors: process.stdout.isTTY === true,
    reporters: [process.stdout.isTTY ? 'progress' : 'progress-append-only'],
    logLevel: 'error',
  };
}

/** The mutants that no test noticed. @param {any[]} mutants */
function listUnnoticed(mutants) {
  for (const { status, fileName, location, mutatorName, replacement } of mutants)
    if (['Survived', 'NoCoverage', 'RuntimeError'].includes(status))
      console.log(
        `  ${nameOf(fileName)}:${location.start.line}:${location.start.column} ${status} ${mutatorName} → ${oneLine(replacement)}`,
      );
}

/** Prints the table. Returns whether each group's score suffices. @param {any[]} results */
function tell(results) {
  console.log(
    `\n${['', 'killed', 'survived', 'no coverage', 'timed out', 'left alone', 'score'].map(column).join('')}`,
  );
  let ok = true;
  for (const group of new Set(results.map((mutant) => mutant.group))) {
    const ofGroup = results.filter((mutant) => mutant.group === group);
    for (const file of new Set(ofGroup.map(({ fileName }) => fileName)))
      console.log(
        row(
          nameOf(file),
          ofGroup.filter(({ fileName }) => fileName === file),
        ),
      );
    const suffices = scoreOf(ofGroup) >= LEAST;
    console.log(`${row(group, ofGroup)}  ${suffices ? '✓' : '✗'}\n`);
    ok &&= suffices;
  }
  return ok;
}

/** @param {string} name @param {any[]} mutants */
function row(name, mutants) {
  const counts = [['Killed'], ['Survived', 'RuntimeError'], ['NoCoverage'], ['Timeout'], ['Ignored']].map(
    (statuses) => mutants.filter(({ status }) => statuses.includes(status)).length,
  );
  return [name, ...counts, `${scoreOf(mutants).toFixed(1)} %`].map(column).join('');
}

/** The score: the noticed mutants in percent of those that were tried. @param {any[]} mutants */
function scoreOf(mutants) {
  const tried = mutants.filter(({ status }) => status !== 'Ignored');
  const noticed = tried.filter(({ status }) => status === 'Killed' || status === 'Timeout');
  return tried.length === 0 ? 100 : (100 * noticed.length) / tried.length;
}

/** @param {string | number} cell @param {number} index */
function column(cell, index) {
  return index === 0 ? String(cell).padEnd(32) : String(cell).padStart(12);
}

/** @param {string} fileName absolute */
function nameOf(fileName) {
  return relative(join(root, 'server/src'), fileName);
}

/** @param {string} text */
function oneLine(text) {
  return text.replace(/\s+/g, ' ').slice(0, 80);
}
