import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScriptsHouse } from '../support/scripts-house.ts';

let house: ScriptsHouse;
beforeEach(() => {
  house = new ScriptsHouse();
  house.write(
    'pnpm-workspace.yaml',
    'packages:\n  - server\nonlyBuiltDependencies:\n  - "@a/builds"\n  - other\n',
  );
  install('plain', { license: 'MIT' });
  install('nested', { license: '(GPL-3.0 OR (MIT AND (ISC OR AGPL-3.0)))' });
  install('@a/builds', { license: '(GPL-3.0 OR Apache-2.0)', scripts: { postinstall: 'node x.js' } });
  registry({ vulnerabilities: {} });
});
afterEach(() => house[Symbol.dispose]());

function install(name: string, details: object, version = '1.0.0'): void {
  const folder = `node_modules/.pnpm/${name.replace('/', '+')}@${version}/node_modules/${name}`;
  house.write(`${folder}/package.json`, JSON.stringify({ name, version, ...details }));
}

/** npm's answers, and the requests to it. */
function registry(answer: unknown): void {
  house.program(
    'npm',
    `const { readFileSync, writeFileSync } = require('node:fs');
     if (process.argv[2] !== 'audit') throw new Error('npm ' + process.argv[2]);
     writeFileSync(bin + '/asked.json', readFileSync('package-lock.json'));
     console.error('npm warn something');
     console.log(${JSON.stringify(typeof answer === 'string' ? answer : JSON.stringify(answer))});`,
  );
}

async function gate() {
  house.write(
    'gate.mjs',
    `import { runGates } from './server/scripts/gates.mjs';
     const [{ ok }] = await runGates(['dependencies']);
     process.exitCode = ok ? 0 : 1;`,
  );
  return house.script('gate.mjs');
}

it('lets pass what has no known hole, a free licence, and scripts that are named', async () => {
  expect(await gate()).toMatchObject({ code: 0, output: expect.stringMatching(/✓ dependencies in/) });
});

it.each([
  ['GPL-3.0', 'GPL-3.0'],
  ['MIT AND AGPL-3.0', 'MIT AND AGPL-3.0'],
  ['(GPL-2.0 OR LGPL-3.0)', 'LGPL-3.0'],
  ['(MIT OR GPL-3.0) AND AGPL-3.0', 'AGPL-3.0'],
  ['(MIT) AND (GPL-3.0)', 'GPL-3.0'],
  ['(MIT OR (GPL-3.0)', 'GPL-3.0'],
  ['SEE LICENSE IN LICENSE.txt', 'SEE LICENSE'],
  [undefined, 'nobody knows what'],
])('refuses the licence %s', async (license, said) => {
  install('bound', { license });
  const { code, output } = await gate();
  expect(code).toBe(1);
  expect(output).toContain('bound 1.0.0 has the licence');
  expect(output).toContain(said);
});

it.each([{ install: 'x' }, { preinstall: 'x' }, { postinstall: 'x' }])(
  'refuses a script at installation that nobody has named: %j',
  async (scripts) => {
    install('runs', { license: 'MIT', scripts });
    expect(await gate()).toMatchObject({
      code: 1,
      output: expect.stringContaining('runs 1.0.0 has an install script'),
    });
  },
);

it('refuses a known hole of level high in any version that is installed, and no lower one', async () => {
  const hole = (severity: string) => ({ name: 'plain', severity, range: '<2', title: `a ${severity} hole` });
  registry({
    vulnerabilities: {
      plain: { severity: 'high', via: [hole('high'), hole('moderate')] },
      other: { severity: 'high', via: ['plain'] },
    },
  });
  const { code, output } = await gate();
  expect(code).toBe(1);
  expect(output).toContain('plain <2 has a hole (high): a high hole');
  expect(output).not.toContain('moderate');
});

it.each([
  { error: { code: 'ENOTFOUND', summary: '' } },
  { message: '405 Method Not Allowed', statusCode: 405 },
  'npm error network',
  '',
])('says in a line that the registry does not answer, and does not fail: %j', async (answer) => {
  registry(answer);
  const { code, output } = await gate();
  expect(code).toBe(0);
  expect(output).toContain('The registry does not answer: known holes were not looked for\n');
});

it('looks at something', async () => {
  house.remove('node_modules/.pnpm');
  expect(await gate()).toMatchObject({ code: 1, output: expect.stringContaining('nothing installed') });
});
