import { afterEach, beforeEach, expect, it } from 'vitest';
import { ScriptsFixture } from '../support/scripts-fixture.ts';

let fixture: ScriptsFixture;

beforeEach(() => {
  fixture = new ScriptsFixture();
});

afterEach(() => fixture[Symbol.dispose]());

it.each(['server/scripts/start.mjs', 'server/scripts/dev.mjs', 'server/scripts/check.mjs', 'test/run.mjs'])(
  '%s refuses a Node that is too old, in one line',
  async (script) => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })`;

    const { code, output } = await fixture.node([
      '--import',
      `data:text/javascript,${old}`,
      `${fixture.folder}/${script}`,
    ]);

    expect(output).toBe('✗ Node 22.12, 24 or newer is needed; this is Node 18.20.8.\n');
    expect(code).toBe(1);
  },
);

it('The dependencies are installed once, and again when the lock file or a package.json has changed', async () => {
  fixture.program(
    'npx',
    `console.log('npx', process.argv.slice(2).join(' '), process.env.PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD)`,
  );
  const installs = async () =>
    (await fixture.script('server/scripts/install.mjs')).output.includes('npx --yes');

  expect(await installs()).toBe(true);
  expect(await installs()).toBe(false);
  fixture.write('pnpm-lock.yaml', 'lockfileVersion: 9\n');
  expect(await installs()).toBe(true);
  fixture.write('widget/package.json', '{}');
  expect(await installs()).toBe(true);
  expect(await installs()).toBe(false);
  fixture.remove('node_modules');
  expect(await installs()).toBe(true);
});

it('An install takes exactly the versions of the lock file, and downloads no browser', async () => {
  fixture.program(
    'npx',
    `console.log('npx', process.argv.slice(2).join(' '), process.env.PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD)`,
  );

  const { output } = await fixture.script('server/scripts/install.mjs');

  expect(output).toMatch(/^npx --yes --prefer-offline pnpm@10\.\d+\.\d+ install --frozen-lockfile .* 1$/m);
});

it('An install that cannot reach the registry ends with one clear line, and the next start installs again', async () => {
  fixture.program('npx', `console.error('ENOTFOUND'); process.exitCode = 1`);

  const first = await fixture.script('server/scripts/install.mjs');
  fixture.program('npx', '');
  const second = await fixture.script('server/scripts/install.mjs');

  expect(first.code).toBe(1);
  expect(first.output).toContain('ENOTFOUND');
  expect(first.stderr.trimEnd().split('\n').at(-1)).toMatch(/^✗ The dependencies could not be installed/);
  expect(second.output).toContain('✓ dependencies installed');
});
