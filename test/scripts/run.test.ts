import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptsHouse } from '../support/scripts-house.ts';

/** Stands for Vitest: says how it was called, and reports what the configuration file holds. */
const VITEST = `
  import { readFileSync, writeFileSync } from 'node:fs';
  const args = process.argv.slice(2);
  const report = args.find((arg) => arg.startsWith('--outputFile.json=')).slice('--outputFile.json='.length);
  const config = args[args.indexOf('--config') + 1];
  console.log('vitest', config, args.at(-1), process.env.CHROME_BIN);
  const counts = JSON.parse(readFileSync(config, 'utf8'));
  const said = counts.said ?? ['log\\ta.test.ts\\tone', 'error\\ta.test.ts\\ttwo', 'metrics\\ta.test.ts\\tthree', 'trace\\ta.test.ts\\tfour'];
  writeFileSync(process.env.PSA_TEST_SAID + '/' + process.pid + '.txt', said.join('\\n'));
  if (counts.crash) process.exit(1);
  writeFileSync(report, JSON.stringify(counts));
  process.exitCode = counts.numFailedTests ? 1 : 0;
`;

/** Stands for the bundler, which takes a second each time. */
const BUNDLE = `
  import { mkdirSync, writeFileSync } from 'node:fs';
  mkdirSync('server/dist', { recursive: true });
  for (const file of ['main.js', 'server.bundle.js']) writeFileSync('server/dist/' + file, '');
`;

let house: ScriptsHouse;

beforeEach(() => {
  house = new ScriptsHouse();
  house.write('node_modules/typescript/bin/tsc', '');
  house.write('server/scripts/bundle.mjs', BUNDLE);
  house.write('server/src/main.ts', '');
  house.write('tsconfig.json', '{}');
  house.write('server/scripts/print-schema.ts', '');
  house.write('widget/src/widget.ts', '');
  house.write('schema.graphql', 'type Query');
  house.write('test/node_modules/vitest/vitest.mjs', VITEST);
  house.write('node_modules/@biomejs/biome/bin/biome', '');
  house.write('node_modules/tsx/dist/cli.mjs', "process.stdout.write('type Query')");
  house.program('chromium', '');
});

afterEach(() => house[Symbol.dispose]());

function reports(config: string, counts: Record<string, unknown>): void {
  house.write(`test/${config}`, JSON.stringify(counts));
}

async function run(args: string[] = [], env: Record<string, string> = {}) {
  const { code, output } = await house.script('test/run.mjs', args, env);
  return { code, output, last: output.trimEnd().split('\n').at(-1) };
}

it('ends with the sum of all runs', async () => {
  reports('vitest.config.ts', { numPassedTests: 40 });
  reports('vitest.browser.config.ts', { numPassedTests: 2 });

  const { code, output, last } = await run();

  expect(last).toBe('42 passed, 0 failed');
  expect(output).toMatch(/✓ format and lint in .*\n✓ types in .*\n✓ schema in /);
  expect(code).toBe(0);
});

it('fails when a test does', async () => {
  reports('vitest.config.ts', { numPassedTests: 40, numFailedTests: 3 });
  reports('vitest.browser.config.ts', { numPassedTests: 2 });

  expect(await run()).toMatchObject({ code: 1, last: '42 passed, 3 failed' });
});

it('says at the end what failed, and why', async () => {
  reports('vitest.config.ts', {
    numPassedTests: 40,
    numFailedTests: 1,
    testResults: [
      {
        name: 'ledger/balance.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'passed', fullName: 'holds' },
          {
            status: 'failed',
            fullName: 'sums to zero',
            failureMessages: ['\u001b[31mexpected 1 to be 0\u001b[39m'],
          },
        ],
      },
      {
        name: 'ledger/posting.test.ts',
        status: 'failed',
        message: 'Cannot find module',
        assertionResults: [],
      },
    ],
  });
  reports('vitest.browser.config.ts', { numPassedTests: 2 });

  const { output } = await run();

  expect(output.slice(output.indexOf('vitest vitest.browser.config.ts'))).toMatch(
    /✗ .*ledger\/balance\.test\.ts > sums to zero\n {2}expected 1 to be 0\n✗ .*ledger\/posting\.test\.ts\n {2}Cannot find module\n42 passed, 1 failed\n$/,
  );
});

it('fails when a run breaks off before it can count', async () => {
  reports('vitest.config.ts', { numPassedTests: 40 });
  reports('vitest.browser.config.ts', { crash: true });

  expect(await run()).toMatchObject({ code: 1, last: '40 passed, 1 failed' });
});

it('fails when a gate does, and runs the tests all the same', async () => {
  reports('vitest.config.ts', { numPassedTests: 40 });
  house.write('schema.graphql', 'type Mutation');

  const { code, output, last } = await run();

  expect(output).toContain('schema.graphql is not what the code prints');
  expect(output).toContain('✗ schema in');
  expect({ code, last }).toEqual({ code: 1, last: '40 passed, 1 failed' });
});

it('fails when nothing was run', async () => {
  reports('vitest.config.ts', { numPassedTests: 0 });

  expect(await run(['no such test'])).toMatchObject({
    code: 1,
    output: expect.stringContaining('0 passed, 0 failed'),
  });
});

it('counts skipped tests, which fail where CI is set', async () => {
  reports('vitest.config.ts', { numPassedTests: 40, numPendingTests: 1, numTodoTests: 1 });

  expect(await run()).toMatchObject({ code: 0, last: '40 passed, 0 failed, 2 skipped' });
  expect(await run([], { CI: 'true' })).toMatchObject({ code: 1, last: '40 passed, 0 failed, 2 skipped' });
});

it('passes arguments on to Vitest, and leaves the gates out', async () => {
  reports('vitest.config.ts', { numPassedTests: 1 });

  const { output } = await run(['ledger']);

  expect(output).toMatch(/vitest vitest\.config\.ts ledger .*\/chromium\n/);
  expect(output).not.toContain('types');
});

describe('Chromium', () => {
  beforeEach(() => {
    house[Symbol.dispose]();
    house = new ScriptsHouse();
    house.systemProgram('/usr/bin/env');
    house.write('test/vitest.config.ts', '{}');
    // A user who may become root without a password.
    house.program(
      'sudo',
      `const [, command, ...args] = process.argv.slice(2);
       if (command !== 'true') process.exitCode = require('node:child_process').spawnSync(command, args, { stdio: 'inherit' }).status;`,
    );
  });

  it('is named in one line when it is missing and cannot be installed', async () => {
    house.program('apt-get', 'process.exitCode = 100');

    const { code, last } = await run(['ledger']);

    expect(last).toBe(
      '✗ The browser tests need Chromium: install Debian’s package "chromium", or set CHROME_BIN.',
    );
    expect(code).toBe(1);
  });

  it('is installed where that needs no question', async () => {
    house.program(
      'apt-get',
      `const args = process.argv.slice(2).join(' ');
       console.log('apt-get', args, process.env.DEBIAN_FRONTEND);
       if (/^install .*chromium$/.test(args)) require('node:fs').copyFileSync(bin + '/apt-get', bin + '/chromium');`,
    );

    const { output } = await run(['ledger']);

    expect(output).toMatch(
      /apt-get update noninteractive\napt-get install --yes --no-install-recommends chromium noninteractive\n/,
    );
    expect(output).not.toContain('need Chromium');
  });

  it('is not replaced by another where CHROME_BIN is wrong', async () => {
    const { code, last } = await run(['ledger'], { CHROME_BIN: '/nowhere/chrome' });

    expect({ code, last }).toEqual({
      code: 1,
      last: '✗ CHROME_BIN is /nowhere/chrome, which is not a program.',
    });
  });
});

it('says how much the servers have said, and fails where a secret is in it, which it does not repeat', async () => {
  reports('vitest.config.ts', {
    numPassedTests: 40,
    said: ['log\tops/a.test.ts\tto ana@example.com', 'error\tx\ty'],
  });
  reports('vitest.browser.config.ts', { numPassedTests: 2 });

  const { code, output } = await run(['ops']);

  expect(output).toMatch(/^6 lines were looked through for secrets: 2 log, 2 error, 1 metrics, 1 trace$/m);
  expect(output).toContain('ops/a.test.ts: an e-mail in log: to ana@…');
  expect(output).not.toContain('ana@example.com');
  expect(output).toContain('\n42 passed, 1 failed\n');
  expect(code).toBe(1);
});

it('fails where all tests have run and nothing was collected', async () => {
  reports('vitest.config.ts', { numPassedTests: 40, said: [] });
  reports('vitest.browser.config.ts', { numPassedTests: 2, said: ['log\tx\ty'] });

  expect(await run(['ops'])).toMatchObject({ code: 0 });
  expect(await run()).toMatchObject({
    code: 1,
    output: expect.stringContaining('There is no error to look through'),
  });
});
