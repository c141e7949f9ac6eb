import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { unsuitableNode } from '../../server/scripts/install.mjs';
import { PNPM } from '../../server/scripts/pnpm.mjs';
import { ScriptsHouse } from '../support/scripts-house.ts';

let house: ScriptsHouse;

beforeEach(() => {
  house = new ScriptsHouse();
});

afterEach(() => house[Symbol.dispose]());

it('accepts the versions of Node that everything here runs on', () => {
  const versions = [
    '18.20.8',
    '20.18.3',
    '20.19.0',
    '21.7.3',
    '22.11.0',
    '22.12.0',
    '23.11.1',
    '24.0.0',
    '26.1.0',
  ];

  expect(versions.filter((version) => !unsuitableNode(version))).toEqual([
    '20.19.0',
    '22.12.0',
    '24.0.0',
    '26.1.0',
  ]);
});

it.each(['server/scripts/start.mjs', 'server/scripts/dev.mjs', 'server/scripts/check.mjs', 'test/run.mjs'])(
  '%s says in one line that Node is too old',
  async (script) => {
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.8' } })`;

    const { code, output } = await house.node([
      '--import',
      `data:text/javascript,${old}`,
      `${house.folder}/${script}`,
    ]);

    expect(output).toBe('✗ Node 20.19, 22.12, 24 or newer is needed; this is Node 18.20.8.\n');
    expect(code).toBe(1);
  },
);

it('installs for the image with the same pnpm', () => {
  const dockerfile = readFileSync(new URL('../../server/Dockerfile', import.meta.url), 'utf8');
  expect(dockerfile.match(/pnpm@[\d.]+/g)).toEqual([PNPM]);
});

it('installs once, and again when the lock file or a package has changed', async () => {
  house.program(
    'npx',
    `console.log('npx', process.argv.slice(2).join(' '), process.env.PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD)`,
  );
  const installs = async () =>
    (await house.script('server/scripts/install.mjs')).output.includes('npx --yes');

  expect(await installs()).toBe(true);
  expect(await installs()).toBe(false);
  house.write('pnpm-lock.yaml', 'lockfileVersion: 9\n');
  expect(await installs()).toBe(true);
  house.write('widget/package.json', '{}');
  expect(await installs()).toBe(true);
  expect(await installs()).toBe(false);
  house.remove('node_modules');
  expect(await installs()).toBe(true);
});

it('installs exactly what the lock file says, and no browser', async () => {
  house.program(
    'npx',
    `console.log('npx', process.argv.slice(2).join(' '), process.env.PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD)`,
  );

  const { output } = await house.script('server/scripts/install.mjs');

  expect(output).toMatch(/^npx --yes --prefer-offline pnpm@10\.\d+\.\d+ install --frozen-lockfile .* 1$/m);
});

it('ends with one clear line when the registry cannot be reached, and tries again the next time', async () => {
  house.program('npx', `console.error('ENOTFOUND'); process.exitCode = 1`);

  const first = await house.script('server/scripts/install.mjs');
  house.program('npx', '');
  const second = await house.script('server/scripts/install.mjs');

  expect(first.code).toBe(1);
  expect(first.output).toContain('ENOTFOUND');
  expect(first.stderr.trimEnd().split('\n').at(-1)).toMatch(/^✗ The dependencies could not be installed/);
  expect(second.output).toContain('✓ dependencies installed');
});
