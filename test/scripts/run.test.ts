import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Report } from '../support/reporter.ts';
import { ScriptsFixture } from '../support/scripts-fixture.ts';
import { findTestFiles, LONG, ONE_OF_EACH, ONLY_IN_ALL } from '../support/test-files.mjs';

/** A replacement for Vitest: it prints its arguments and variables, and reports the content of `test/report.json`. */
const VITEST = `
  import { readFileSync, writeFileSync } from 'node:fs';
  const { PSA_TEST_FILES, PSA_SCALE, CHROME_BIN, FONTCONFIG_FILE, PSA_TEST_SAID, PSA_TEST_REPORT } = process.env;
  console.log('vitest', process.argv.slice(2).join(' '), '|', PSA_TEST_FILES, '|', PSA_SCALE, '|', CHROME_BIN ?? 'no browser', '|', FONTCONFIG_FILE ?? '');
  const { said, crash, ...report } = JSON.parse(readFileSync('report.json', 'utf8'));
  if (PSA_TEST_SAID) writeFileSync(PSA_TEST_SAID + '/' + process.pid + '.txt', said.join('\\n'));
  if (crash) process.exit(1);
  writeFileSync(PSA_TEST_REPORT, JSON.stringify(report));
`;

const SAID = [
  'log\ta.test.ts\tone',
  'error\ta.test.ts\ttwo',
  'metrics\ta.test.ts\tthree',
  'trace\ta.test.ts\tfour',
];

/** The text is assembled, so that this file does not count as one with that import. */
const importOf = (path: string) => `import '${path}';`;

/** A replacement for the bundler, which takes a second. */
const BUNDLE = `
  import { mkdirSync, writeFileSync } from 'node:fs';
  mkdirSync('server/dist', { recursive: true });
  for (const file of ['main.js', 'server.bundle.js']) writeFileSync('server/dist/' + file, '');
`;

/** A replacement for the program that runs the printing scripts of generated files. */
const TSX = `
  const variables = { 'server/docs/configuration.md': 'variables', 'server/scripts/variables.txt': 'variables' };
  const methods = { 'widget/src/payouts/methods.ts': 'methods', 'widget/demo/shared/payout-methods.ts': 'methods' };
  const events = { 'widget/src/server/webhook-events.generated.ts': 'events', 'server/docs/service.md': 'events' };
  const printed = {
    schema: 'type Query',
    methods: JSON.stringify(methods),
    'webhook-events': JSON.stringify(events),
    'widget-documents': 'documents',
    names: JSON.stringify({ 'server/docs/names.md': 'names' }),
    variables: JSON.stringify(variables),
  };
  process.stdout.write(printed[process.argv[2].match(/print-(.+).ts$/)[1]]);
`;

let fixture: ScriptsFixture;

function prepareFixture(): void {
  fixture = new ScriptsFixture();
  fixture.write('test/node_modules/vitest/vitest.mjs', VITEST);
  fixture.write('node_modules/@biomejs/biome/bin/biome', '');
  fixture.write('node_modules/typescript/bin/tsc', '');
  fixture.write('node_modules/tsx/dist/cli.mjs', TSX);
  fixture.write('server/scripts/print-house.mjs', "process.stdout.write('wings')");
  fixture.write('.github/CONTRIBUTING.md', 'wings');
  fixture.write('server/docs/configuration.md', 'variables');
  fixture.write('server/scripts/variables.txt', 'variables');
  fixture.write(
    'widget/node_modules/gql.tada/bin/cli.js',
    "require('node:fs').writeFileSync(process.argv.at(-1), 'types')",
  );
  fixture.write('test/clients/print.mjs', "process.stdout.write('clients')");
  fixture.write('server/docs/clients.md', 'clients');
  fixture.write('widget/scripts/possible-types.mjs', "process.stdout.write('possible types')");
  fixture.write('widget/possible-types.json', 'possible types');
  fixture.write('widget/scripts/docs.mjs', "process.stdout.write('document')");
  for (const document of ['README.md', 'docs/psa-checkout.md', 'docs/psa-payouts.md', 'docs/recipes.md'])
    fixture.write(`widget/${document}`, 'document');
  fixture.write('widget/src/graphql-env.d.ts', 'types');
  fixture.write('widget/src/payouts/methods.ts', 'methods');
  fixture.write('widget/demo/shared/payout-methods.ts', 'methods');
  fixture.write('widget/src/server/webhook-events.generated.ts', 'events');
  fixture.write('server/docs/service.md', 'events');
  fixture.write('server/docs/names.md', 'names');
  fixture.write('server/src/api/operations/widget-documents.ts', 'documents');
  fixture.write('schema.graphql', 'type Query');
  fixture.write('server/scripts/bundle.mjs', BUNDLE);
  fixture.write('server/src/programs/main.ts', '');
  fixture.write('tsconfig.json', '{}');
  for (const name of ['schema', 'methods']) fixture.write(`server/scripts/print-${name}.ts`, '');
  for (const name of ['chromium', 'chromium-headless-shell']) fixture.program(name, '');

  fixture.write('test/kernel/money.test.ts', importOf('../../server/src/kernel/money.ts'));
  fixture.write('server/src/kernel/money.ts', importOf('./cents.ts'));
  fixture.write('server/src/kernel/cents.ts', '');
  fixture.write('test/widget/for-everyone.page-test.ts', importOf('../support/launch-options.ts'));
  fixture.write('test/support/launch-options.ts', '');
  fixture.write('test/widget/looks.page-test.ts', importOf('../support/launch-options.ts'));
  reports({});
}

beforeEach(prepareFixture);
afterEach(() => fixture[Symbol.dispose]());

function reports(report: Partial<Report> & { said?: string[]; crash?: boolean }): void {
  const nothing = { failed: 0, skipped: 0, failures: [], projects: {}, files: [] };
  fixture.write('test/report.json', JSON.stringify({ ...nothing, passed: 42, said: SAID, ...report }));
}

/** Runs npm test. `last` is the last line of stdout, with the sum; `refusal` is all of stderr. */
async function run(args: string[] = [], env: Record<string, string> = {}) {
  const { code, output, stdout, stderr } = await fixture.script('test/run.mjs', args, env);
  const [, options, files, scale, browser, fonts] =
    /^vitest (.*) \| (.*) \| (.*) \| (.*) \| (.*)$/m.exec(stdout) ?? [];
  const last = stdout.trimEnd().split('\n').at(-1);
  return { code, output, stdout, options, files, scale, browser, fonts, last, refusal: stderr.trimEnd() };
}

/** A filter, which leaves out all gates. */
const NO_GATES = ['kernel/'];

it('npm test runs each behaviour once beside the fast gates, says what it leaves out, and ends with the sum', async () => {
  const { code, output, files, scale, last } = await run();

  expect(last).toBe('42 passed, 0 failed');
  for (const gate of ['format and lint', 'types', 'generated files'])
    expect(output).toContain(`✓ ${gate} in `);
  expect({ files, scale }).toEqual({
    files: 'kernel/money.test.ts',
    scale: 'sample',
  });
  expect(output).toContain(
    'Left out: 1 files in a browser (npm run test:browser), 0 of whole programs or long',
  );
  expect(code).toBe(0);
});

it('npm run test:browser runs all browser tests but those of test:all', async () => {
  fixture.program('chromium', '');

  expect(await run(['--browser'])).toMatchObject({
    files: 'widget/for-everyone.page-test.ts',
    scale: 'sample',
  });
});

it('Each file that npm test leaves out or takes by its name is a test file', () => {
  const paths = findTestFiles().map(({ path }) => path);
  expect([...ONLY_IN_ALL, ...ONE_OF_EACH, ...LONG].filter((path) => !paths.includes(path))).toEqual([]);
});

it('npm test prints tests, wall and CPU seconds by project', async () => {
  const project = { files: 3, tests: 40, wallMs: 12_300, cpuMs: 4_560 };
  reports({ projects: { unit: project } });

  const { output } = await run(NO_GATES);

  expect(output).toMatch(/^unit +3 +40 +12\.3 +4\.6$/m);
  expect(output).toMatch(/^all +\d+\.\d/m);
});

it('npm test fails when a test does, and ends with the name of the test and the reason', async () => {
  reports({ failed: 1, failures: ['✗ ledger/balance.test.ts > sums to zero\n  expected 1 to be 0'] });

  const { code, stdout } = await run(NO_GATES);

  expect(code).toBe(1);
  expect(stdout).toMatch(
    /✗ ledger\/balance\.test\.ts > sums to zero\n {2}expected 1 to be 0\n42 passed, 1 failed\n$/,
  );
});

it('npm test fails when Vitest ends without a result', async () => {
  reports({ crash: true });

  const { code, output, last } = await run(NO_GATES);

  expect({ code, last }).toEqual({ code: 1, last: '0 passed, 1 failed' });
  expect(output).toContain('✗ The test runner ended without a result');
});

it('npm test fails when a gate does, and still runs the tests', async () => {
  fixture.write('schema.graphql', 'type Mutation');

  const { code, output, last } = await run();

  expect(output).toContain('schema.graphql is not made from the GraphQL schema in server/src');
  expect(output).toContain('npm run regenerate');
  expect(output).toContain('✗ generated files in');
  expect({ code, last }).toEqual({ code: 1, last: '42 passed, 1 failed' });
});

it('npm test fails when the types of the schema are stale', async () => {
  fixture.write('widget/src/graphql-env.d.ts', 'older types');

  expect(await run()).toMatchObject({
    code: 1,
    output: expect.stringContaining('widget/src/graphql-env.d.ts is not made from schema.graphql'),
  });
});

it('npm test fails when no test was run', async () => {
  reports({ passed: 0 });

  expect(await run(NO_GATES)).toMatchObject({ code: 1, last: '0 passed, 0 failed' });
});

it('npm test counts skipped tests, and fails on them where CI is set', async () => {
  reports({ skipped: 2 });

  expect(await run(NO_GATES)).toMatchObject({ code: 0, last: '42 passed, 0 failed, 2 skipped' });
  expect(await run(NO_GATES, { CI: 'true' })).toMatchObject({
    code: 1,
    last: '42 passed, 0 failed, 2 skipped',
  });
});

describe('A filter of npm test', () => {
  it('A filter of npm test chooses files by their path, and leaves the gates out', async () => {
    const { output, files } = await run(['kernel/']);

    expect(files).toBe('kernel/money.test.ts');
    expect(output).not.toContain('types');
  });

  it('A filter of npm test builds nothing that the chosen files do not need', async () => {
    const { output, browser } = await run(['kernel/money']);

    expect(output).not.toMatch(/built|prepared|Chromium/);
    expect(browser).toBe('no browser');
  });

  it('A filter of npm test also chooses among the files that npm test leaves out', async () => {
    expect(await run(['widget/looks'])).toMatchObject({ files: 'widget/looks.page-test.ts' });
  });

  it('A filter of npm test is refused in one line where no path contains it', async () => {
    expect(await run(['no-such-test'])).toMatchObject({
      code: 1,
      refusal: '✗ No test file has no-such-test in its path.',
    });
  });

  it('A filter of npm test is separated from the options of Vitest, which are passed on', async () => {
    const { files, options } = await run(['-t', 'sums to', '--bail', '1', 'kernel/']);

    expect(files).toBe('kernel/money.test.ts');
    expect(options).toMatch(/-t sums to --bail 1$/);
  });
});

it('npm run test:all runs every file, in larger sizes', async () => {
  expect(await run(['--all'])).toMatchObject({
    files: 'kernel/money.test.ts,widget/for-everyone.page-test.ts,widget/looks.page-test.ts',
    scale: 'medium',
  });
});

it('npm run test:unit runs the files that need nothing but Node, and no gates', async () => {
  const { files, output } = await run(['--unit']);

  expect(files).toBe('kernel/money.test.ts');
  expect(output).not.toContain('types');
});

describe('npm run test:changed', () => {
  async function git(...args: string[]): Promise<void> {
    const identity = ['-c', 'user.name=Ana', '-c', 'user.email=ana@padaria.example'];
    const { code, output } = await fixture.command('git', ['-C', fixture.folder, ...identity, ...args]);
    if (code !== 0) throw new Error(output);
  }

  beforeEach(async () => {
    fixture.systemProgram('/usr/bin/git');
    fixture.write('.gitignore', 'node_modules\n');
    await git('init', '--quiet');
    await git('add', '.');
    await git('commit', '--quiet', '--message', 'first');
  });

  it('npm run test:changed runs nothing where nothing has changed', async () => {
    expect(await run(['--changed'])).toMatchObject({ code: 0, last: 'There is nothing to run.' });
  });

  it('npm run test:changed runs the tests that import a changed file, and lists what it leaves out', async () => {
    fixture.write('server/src/kernel/cents.ts', 'export const changed = true;');
    fixture.write('notes.txt', 'new');

    const { files, output } = await run(['--changed']);

    expect(files).toBe('kernel/money.test.ts');
    expect(output).toContain('2 files changed since HEAD: 1 of 3 test files import or read them');
    expect(output).toContain(
      'Left out: 2 files that run the built server or the built widget (npm run check)',
    );
    expect(output).toContain('Imported by no test: notes.txt');
  });

  it('npm run test:changed runs the tests that read a changed document', async () => {
    fixture.write('server/docs/trust.md', 'new');
    fixture.write('test/documents.test.ts', '');
    await git('add', 'test');
    await git('commit', '--quiet', '--message', 'second');

    expect((await run(['--changed'])).files).toBe('documents.test.ts');
  });
});

describe('the browser of npm test', () => {
  const LEFT_OUT = 'Left out: widget/looks.page-test.ts, which compares pictures';

  it('The browser of the tests knows their own fonts, and none of the machine', async () => {
    const { fonts } = await run(['widget/for-everyone']);
    const configuration = readFileSync(fonts!, 'utf8');
    expect(configuration.match(/<dir.*/g)).toEqual([
      `<dir>${fixture.folder}/test/node_modules/dejavu-fonts-ttf/ttf</dir>`,
    ]);
    expect(configuration).not.toContain('<include');
    expect(fonts!.startsWith(`${fixture.folder}/node_modules/`)).toBe(true);
  });

  it('Pictures are left out, with one line, where the browser is not the one that drew them', async () => {
    fixture.removeProgram('chromium-headless-shell');
    const whole = await run(['widget/']);
    expect(whole.files).toBe('widget/for-everyone.page-test.ts');
    expect(whole.output).toContain(LEFT_OUT);
    fixture.program('chrome-headless-shell', '');
    expect((await run(['widget/'])).output).toContain(LEFT_OUT);
  });

  it('Pictures are compared in Debian’s headless shell', async () => {
    const { files, output } = await run(['widget/']);
    expect(files).toBe('widget/for-everyone.page-test.ts,widget/looks.page-test.ts');
    expect(output).not.toContain(LEFT_OUT);
  });
});

describe('Chromium for npm test', () => {
  beforeEach(() => {
    fixture[Symbol.dispose]();
    prepareFixture();
    fixture.removeProgram('chromium');
    fixture.systemProgram('/usr/bin/env');
    // This user may become root without a password.
    fixture.program(
      'sudo',
      `const [, command, ...args] = process.argv.slice(2);
       if (command !== 'true') process.exitCode = require('node:child_process').spawnSync(command, args, { stdio: 'inherit' }).status;`,
    );
  });

  it('A missing Chromium is reported in one line when it cannot be installed', async () => {
    fixture.program('apt-get', 'process.exitCode = 100');

    const { code, refusal } = await run(['widget/for-everyone']);

    expect(refusal).toBe(
      '✗ The browser tests need Chromium: install Debian’s package "chromium", or set CHROME_BIN.',
    );
    expect(code).toBe(1);
  });

  it('Chromium is installed where that needs no password', async () => {
    fixture.program(
      'apt-get',
      `const args = process.argv.slice(2).join(' ');
       console.log('apt-get', args, process.env.DEBIAN_FRONTEND);
       if (args.startsWith('install')) require('node:fs').copyFileSync(bin + '/apt-get', bin + '/' + args.split(' ').at(-1));`,
    );

    const { output, browser } = await run(['widget/for-everyone']);

    expect(output).toMatch(
      /apt-get update noninteractive\napt-get install --yes --no-install-recommends chromium noninteractive\napt-get install --yes --no-install-recommends chromium-headless-shell noninteractive\n/,
    );
    expect(browser).toMatch(/\/chromium$/);
  });

  it('A wrong CHROME_BIN is refused, and no other browser replaces it', async () => {
    const { code, refusal } = await run(['widget/for-everyone'], { CHROME_BIN: '/nowhere/chrome' });

    expect({ code, refusal }).toEqual({
      code: 1,
      refusal: '✗ CHROME_BIN is /nowhere/chrome, which is not a program.',
    });
  });
});

it('npm test counts the lines of the servers, and fails on a secret in one of them, which it does not print', async () => {
  reports({ said: ['log\tops/a.test.ts\tto ana@example.com', 'error\tx\ty'] });

  const { code, output, last } = await run(['kernel/']);

  expect(output).toMatch(/^2 lines were looked through for secrets: 1 log, 1 error, 0 metrics, 0 trace$/m);
  expect(output).toContain('ops/a.test.ts: an e-mail in log: to ana@…');
  expect(output).not.toContain('ana@example.com');
  expect({ code, last }).toEqual({ code: 1, last: '42 passed, 1 failed' });
});

it('npm test fails where all tests have run and no line of the servers was collected', async () => {
  reports({ said: ['log\tx\ty'] });

  expect(await run(['kernel/'])).toMatchObject({ code: 0 });
  expect(await run()).toMatchObject({
    code: 1,
    output: expect.stringContaining('There is no error to look through'),
  });
});
