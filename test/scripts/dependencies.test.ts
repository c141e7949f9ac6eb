import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScriptsFixture } from '../support/scripts-fixture.ts';

let fixture: ScriptsFixture;
/** The answer of `pnpm licenses list`. */
let installed: Record<string, { name: string; versions: string[] }[]>;

beforeEach(() => {
  fixture = new ScriptsFixture();
  installed = {
    MIT: [{ name: 'plain', versions: ['1.0.0', '2.0.0'] }],
    '(GPL-3.0 OR (MIT AND (ISC OR AGPL-3.0)))': [{ name: 'nested', versions: ['1.0.0'] }],
    'MPL-2.0': [{ name: 'axe-core', versions: ['1.0.0'] }],
  };
  fixture.write('node_modules/.modules.yaml', '{}');
  answerAudits({ vulnerabilities: {} });
});
afterEach(() => fixture[Symbol.dispose]());

/** Makes npm answer each audit with this, as JSON unless it is a text. */
function answerAudits(answer: unknown): void {
  fixture.program(
    'npm',
    `const { readFileSync } = require('node:fs');
     const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
     if (process.argv[2] !== 'audit' || packages['node_modules/p1'].version !== '2.0.0') throw new Error('no audit');
     console.error('npm warn something');
     console.log(${JSON.stringify(typeof answer === 'string' ? answer : JSON.stringify(answer))});`,
  );
}

async function runGate(env: Record<string, string> = {}) {
  fixture.program(
    'npx',
    `if (!process.argv.join(' ').endsWith(' licenses list --json')) throw new Error('not the licences');
     console.error('npm warn something');
     console.log(${JSON.stringify(JSON.stringify(installed))});`,
  );
  fixture.write(
    'gate.mjs',
    `import { runGates } from './server/scripts/gates.mjs';
     const [{ ok }] = await runGates(['dependencies']);
     process.exitCode = ok ? 0 : 1;`,
  );
  return fixture.script('gate.mjs', [], env);
}

it('Dependencies with free licences, no ignored install script and no vulnerability pass the gate', async () => {
  expect(await runGate()).toMatchObject({ code: 0, output: expect.stringMatching(/✓ dependencies in/) });
});

it.each([
  'GPL-3.0',
  'MPL-2.0',
  'MIT AND AGPL-3.0',
  '(GPL-2.0 OR LGPL-3.0)',
  '(MIT OR GPL-3.0) AND AGPL-3.0',
  '(MIT) AND (GPL-3.0)',
  '(MIT OR (GPL-3.0)',
  'SEE LICENSE IN LICENSE.txt',
  'Unknown',
])('The gate of the dependencies refuses the licence %s', async (licence) => {
  installed[licence] = [{ name: 'bound', versions: ['1.0.0'] }];
  const { code, output } = await runGate();
  expect(code).toBe(1);
  expect(output).toContain(`bound 1.0.0 has the licence ${licence}`);
});

it('The gate of the dependencies refuses an install script that pnpm-workspace.yaml does not name', async () => {
  fixture.write('node_modules/.modules.yaml', '{ "ignoredBuilds": ["runs@1.0.0"] }');
  expect(await runGate()).toMatchObject({
    code: 1,
    output: expect.stringContaining('runs@1.0.0 has an install script'),
  });
});

it('The gate of the dependencies refuses a vulnerability of level high, and no lower one', async () => {
  const advisory = (severity: string) => ({
    name: 'plain',
    severity,
    range: '<2',
    title: `a ${severity} one`,
  });
  answerAudits({
    vulnerabilities: {
      plain: { severity: 'high', via: [advisory('high'), advisory('moderate')] },
      other: { severity: 'high', via: ['plain'] },
    },
  });
  const { code, output } = await runGate();
  expect(code).toBe(1);
  expect(output).toContain('plain <2 has a vulnerability (high): a high one');
  expect(output).not.toContain('moderate');
});

it.each([
  { error: { code: 'ENOTFOUND', summary: '' } },
  { message: '405 Method Not Allowed', statusCode: 405 },
  'npm error network',
  '',
])(
  'The gate of the dependencies says that it has not checked where the registry does not answer, and fails in CI: %j',
  async (answer) => {
    answerAudits(answer);
    const said = 'Known vulnerabilities were not checked: the registry does not answer\n';
    expect(await runGate({ CI: '' })).toMatchObject({ code: 0, output: expect.stringContaining(said) });
    expect(await runGate({ CI: 'true' })).toMatchObject({ code: 1, output: expect.stringContaining(said) });
  },
);

it('The gate of the dependencies fails where pnpm lists none', async () => {
  fixture.program('npx', "console.log('ERR_PNPM_LICENSES_LIST_NO_LOCKFILE')");
  fixture.write(
    'gate.mjs',
    `import { dependencies } from './server/scripts/dependencies.mjs';
     console.log(JSON.stringify(await dependencies()));`,
  );
  const { stdout } = await fixture.script('gate.mjs');
  expect(JSON.parse(stdout)).toEqual({
    ok: false,
    output: 'ERR_PNPM_LICENSES_LIST_NO_LOCKFILE\n',
  });
});
