// npm run nightly -- PART: tests that take too long for each push, in parts that a workflow runs side by side.
import { isMain, root, runNode, since } from '../server/scripts/progress.mjs';

/**
 * @typedef {object} Part
 * @property {string} about
 * @property {string[]} run a script and its arguments
 * @property {Record<string, string>} [env]
 */

/** @type {Record<string, Part>} */
export const PARTS = {
  'tests-1': { about: 'a third of npm run test:all', run: ['test/run.mjs', '--all', '--shard=1/3'] },
  'tests-2': { about: 'another third', run: ['test/run.mjs', '--all', '--shard=2/3'] },
  'tests-3': { about: 'the last third', run: ['test/run.mjs', '--all', '--shard=3/3'] },
  pglite: {
    about: 'the tests of in-process servers on PGlite in place of PostgreSQL',
    run: ['test/run.mjs', '--project=server'],
    env: { PSA_TEST_ENGINE: 'pglite' },
  },
  'no-fast-path': {
    about: 'the tests of servers, without compiled answers',
    run: ['test/run.mjs', '--project=server,programs'],
    env: { PSA_FAST_PATH: 'off' },
  },
  ...onNode('node-22', '22'),
  ...onNode('node-24', '24'),
  ...onNode('node-26', '26'),
  attack: {
    about: 'attacks and faults in a larger size than npm run test:all, in a smaller one than npm run attack',
    run: ['test/attack.mjs'],
    env: { PSA_SCALE: 'large' },
  },
  sim: {
    about: 'simulated histories of seeds that no other run plays',
    run: ['test/sim/run.mjs', '--from', String(seedOfToday()), '--seeds', '500'],
  },
  planted: {
    about: 'all planted faults that a checker must find; test:all takes a third of them',
    run: ['test/run.mjs', '--all', 'sim/checker', 'sim/facade-checker', 'live/planted'],
    env: { PSA_SCALE: 'large' },
  },
  mutants: {
    about: 'changes of the code of one target, another each night',
    run: ['test/mutants/run.mjs', '--tonight'],
  },
  bench: {
    about: 'the ratios of npm run bench',
    run: ['test/bench/run.mjs'],
  },
  soak: {
    about: 'what a server holds in memory over minutes',
    run: ['test/bench/run.mjs', 'soak', '--minutes', '4'],
  },
  frameworks: {
    about:
      'a purchase on a page of each bundler and framework and in React Native, and all pages in each engine',
    run: ['test/run.mjs', '--all', 'frameworks/', 'engines/pages'],
    env: { PSA_SCALE: 'large' },
  },
  'http-clients': {
    about: 'the HTTP clients of other languages, with what Debian packages of them',
    run: ['test/live/run.mjs', 'http', '--save'],
  },
  lighthouse: {
    about: 'Lighthouse on a phone: at least 95 in each category',
    run: ['test/lighthouse.mjs'],
  },
  gates: {
    about: 'every gate, known holes of dependencies among them',
    run: ['server/scripts/check.mjs', 'gates'],
  },
};

/** @param {string} name @param {string} version @returns {Record<string, Part>} */
function onNode(name, version) {
  const about = `npm test on the newest Node ${version}, as npm's package "node" has it`;
  return { [name]: { about, run: ['test/on-node.mjs', version] } };
}

/** The seed of today, so that a failure can be repeated. It lies beyond the seeds of npm run sim. */
function seedOfToday() {
  return 1_000_000 + Math.floor(Date.now() / 86_400_000) * 1_000;
}

const USAGE = `Usage: npm run nightly -- PART…

${Object.entries(PARTS)
  .map(([name, { about }]) => `  ${name.padEnd(12)} ${about}`)
  .join('\n')}
`;

if (isMain(import.meta.url)) {
  const names = process.argv.slice(2);
  const unknown = names.find((name) => !(name in PARTS));
  if (names.length === 0 || unknown) {
    process.stderr.write(unknown ? `✗ There is no part called ${unknown}.\n\n${USAGE}` : USAGE);
    process.exitCode = names.includes('--help') ? 0 : 1;
  } else {
    const results = [];
    for (const name of names) {
      const { run, env = {} } = /** @type {Part} */ (PARTS[name]);
      const [script = '', ...args] = run;
      const started = performance.now();
      const { ok } = await runNode(`${root}${script}`, args, { env });
      results.push({ name, ok, took: since(started) });
    }
    for (const { name, ok, took } of results) console.log(`${ok ? '✓' : '✗'} ${name} in ${took}`);
    process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
  }
}
