// Both packages as a shop installs them: their tarballs, by npm, in an empty project outside of the repository.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { newestVersion } from '../widget/scripts/released.mjs';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = ['server', 'widget'];

/** The project of a shop, and the tarballs that it installs. */
let shop: string;
let tarballs: string[];

beforeAll(async () => {
  shop = await mkdtemp(join(tmpdir(), 'psa-shop-'));
  await writeFile(join(shop, 'package.json'), '{ "private": true, "type": "module" }');
  // The packages are built one after the other: both build shared parts.
  for (const name of PACKAGES)
    await run('npm', ['pack', '--silent', '--pack-destination', shop], { cwd: join(root, name) });
  tarballs = (await readdir(shop)).filter((name) => name.endsWith('.tgz'));
  await run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], { cwd: shop });
});

afterAll(() => rm(shop, { recursive: true, force: true }));

const installed = (path: string) => join(shop, 'node_modules/@psa', path);

describe('@psa/server', () => {
  it('packing leaves nothing behind in the repository', async () => {
    expect(await readdir(join(root, 'server'))).not.toEqual(expect.arrayContaining(['widget']));
    expect(await readdir(join(root, 'server'))).not.toEqual(expect.arrayContaining(['schema.graphql']));
  });

  it('the package needs PGlite alone, and has no cache, test or source in it', async () => {
    expect(
      (await readdir(join(shop, 'node_modules'))).filter((name) => !name.startsWith('.')).sort(),
    ).toEqual(['@electric-sql', '@lit', '@lit-labs', '@psa', '@types', 'lit', 'lit-element', 'lit-html']);
    const { dependencies } = JSON.parse(await readFile(installed('server/package.json'), 'utf8'));
    expect(Object.keys(dependencies)).toEqual(['@electric-sql/pglite']);
    const files = await readdir(installed('server'), { recursive: true });
    expect(files.filter((file) => /\.cache|\.test\.|\.ts$/.test(file) && !file.endsWith('.d.mts'))).toEqual(
      [],
    );
    expect(files).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'schema.graphql']));
  });

  it('the package contains the licence of every package that is built in', async () => {
    const licences = await readFile(installed('server/dist/LICENSES.txt'), 'utf8');
    for (const name of ['graphql', 'graphql-yoga', '@graphql-yoga/render-graphiql', 'pg', 'zod', 'undici'])
      expect(licences).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+, MIT$`, 'm'));
    expect(licences.match(/Permission is hereby granted/g)?.length).toBeGreaterThan(40);
    expect(await readFile(installed('server/dist/vendor/swagger-ui-dist/LICENSE'), 'utf8')).toContain(
      'Apache',
    );
  });

  it('npx @psa/server starts the server, with its pages, and psa beside it', async () => {
    const child = spawn('npx', ['@psa/server'], {
      cwd: shop,
      env: environment({ PORT: '0', PSA_DATA_DIR: join(shop, 'data') }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'close');
    onTestFinished(async () => {
      child.kill('SIGTERM');
      await ended;
    });
    let said = '';
    const url = await new Promise<string>((resolve, reject) => {
      child.stderr.setEncoding('utf8').on('data', (text) => {
        said += text;
      });
      child.stdout.setEncoding('utf8').on('data', (text) => {
        said += text;
        if (said.includes('Ctrl-C')) resolve(/PSA is running at (\S+)/.exec(said)![1]!);
      });
      ended.then(([code]) => reject(new Error(`It ended with ${code}: ${said}`)), reject);
    });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);

    const key = /ps_live_\S+/.exec(said)![0];
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query: '{ viewer { environment } wallet { balanceCents } }' }),
    });
    expect(await response.json()).toEqual({
      data: { viewer: { environment: 'LIVE' }, wallet: { balanceCents: 0 } },
    });

    for (const [path, type] of Object.entries({
      '/widget/psa-checkout.js': 'text/javascript',
      '/widget/psa-checkout.pix.js': 'text/javascript',
      [`/widget/${newestVersion()}/psa-checkout.js`]: 'text/javascript',
      '/demo/': 'text/html',
      '/demo/config.json': 'application/json',
      '/demo/account.json': 'application/json',
      '/console/statement': 'text/html',
      '/simulator/': 'text/html',
      '/v1/docs': 'text/html',
      '/v1/docs/swagger-ui-bundle.js': 'text/javascript',
    })) {
      const page = await fetch(`${url}${path}`);
      expect([path, page.status, page.headers.get('content-type')]).toEqual([
        path,
        200,
        expect.stringContaining(type),
      ]);
      await page.arrayBuffer();
    }
    const graphiql = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
    expect(await graphiql.text()).toContain('YogaGraphiQL');

    const { stdout } = await run('npx', ['@psa/server', 'keys', 'list', '--json'], {
      cwd: shop,
      env: environment({ PSA_DATA_DIR: join(shop, 'data') }),
    });
    expect(JSON.parse(stdout).keys).toHaveLength(2);
  });

  it('npx @psa/server explains a mistake in one line that names its own command', async () => {
    const { stderr, code } = await run('npx', ['@psa/server', '--port', '1'], { cwd: shop }).catch(
      (error) => error,
    );
    expect(code).toBe(1);
    expect(stderr).toContain('as in PORT=4200 npx @psa/server');
    const { stdout } = await run('npx', ['@psa/server', 'help'], { cwd: shop });
    expect(stdout).toContain('Usage: npx @psa/server <command>');
    expect(stdout).not.toContain('npm run');
  });

  it('start() runs a server from a program, which ends with stop()', async () => {
    const output = await inNode(`
      import { start } from '@psa/server';
      const server = await start({ PORT: '0', PSA_DATA_DIR: 'memory', PSA_DRAIN_SECONDS: '0' });
      const { status } = await fetch(server.url + '/readyz');
      await server.stop();
      const after = await fetch(server.url + '/readyz').catch(() => 'gone');
      console.log(status, after, server.keys.live.slice(0, 8), server.keys.sandbox.slice(0, 8));
    `);
    expect(output.split('\n').at(-1)).toBe('200 gone ps_live_ ps_test_');
  });

  it('a server of start() ends with the program that has started it, also where that is killed', async () => {
    const program = `
      import { start } from '@psa/server';
      const server = await start({ PORT: '0', PSA_DATA_DIR: 'memory', PSA_DRAIN_SECONDS: '0' });
      console.log(server.url);
    `;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: shop,
      env: environment({}),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [url] = await once(parent.stdout.setEncoding('utf8'), 'data');
    const isUp = () =>
      fetch(`${url.trim()}/healthz`).then(
        () => true,
        () => false,
      );
    expect(await isUp()).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(isUp).toBe(false);
  });
});

describe('both packages', () => {
  it.each(PACKAGES)('publint reports nothing on the package of the %s', async (name) => {
    const pkgDir = installed(name === 'widget' ? 'checkout' : name);
    const { messages } = await publint({ pkgDir, level: 'suggestion', strict: true, pack: false });
    expect(messages).toEqual([]);
  });

  it('the types of each package resolve in every ES module resolution', async () => {
    for (const tarball of tarballs) {
      const data = new Uint8Array(await readFile(join(shop, tarball)));
      const analysis = await checkPackage(createPackageFromTarballData(data));
      if (!analysis.types) throw new Error(`${tarball} has no types`);
      // The packages are ESM alone, which a CommonJS module imports with import().
      const problems = analysis.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM');
      expect(problems).toEqual([]);
    }
  });

  it.each(PACKAGES)('the package of the %s says what it is', async (name) => {
    const manifest = JSON.parse(
      await readFile(installed(join(name === 'widget' ? 'checkout' : name, 'package.json')), 'utf8'),
    );
    expect(manifest).toMatchObject({
      license: 'MIT',
      repository: { type: 'git', url: expect.stringMatching(/^git\+https:.*\.git$/), directory: name },
      publishConfig: { access: 'public', provenance: true },
    });
    expect(manifest.description).toMatch(/\.$/);
    expect(manifest.private).toBeUndefined();
  });

  it('every entry can be imported in Node', async () => {
    expect(
      await inNode(`console.log(${entries.map((entry) => `typeof await import('${entry}')`).join()})`),
    ).toBe(entries.map(() => 'object').join(' '));
  });

  it('a strict TypeScript project compiles against the types of every entry', async () => {
    await writeFile(join(shop, 'shop.ts'), CONSUMER);
    const compilerOptions = {
      target: 'ES2022',
      lib: ['ES2024', 'DOM', 'DOM.Iterable'],
      types: [],
      noEmit: true,
      module: 'NodeNext',
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      verbatimModuleSyntax: true,
      isolatedModules: true,
    };
    await writeFile(join(shop, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['shop.ts'] }));
    const tsc = join(root, 'test/node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, '-p', shop]).catch(({ stdout }) => {
      throw new Error(stdout);
    });
  });
});

const entries = [
  ...['@psa/checkout', '@psa/checkout/define', '@psa/checkout/payouts', '@psa/checkout/payouts/define'],
  ...['@psa/checkout/resume', '@psa/checkout/live', '@psa/checkout/server', '@psa/server'],
];

/** Code that uses each entry of the packages, with its types. */
const CONSUMER = `
import { PsaCheckout } from '@psa/checkout';
import '@psa/checkout/define';
import { PsaPayouts } from '@psa/checkout/payouts';
import { createLiveClient, PsaLiveError } from '@psa/checkout/live';
import { resumable, tokens } from '@psa/checkout/resume';
import { follow, mintCheckout, PsaError, verifyWebhook } from '@psa/checkout/server';
import { type RunningServer, start } from '@psa/server';

export const element: PsaCheckout = document.createElement('psa-checkout');
element.addEventListener('psa-paid', ({ detail }) => {
  const code: string | undefined = detail.payment.orderCode;
  console.log(code);
});
// @ts-expect-error The element has no such phase.
export const wrong: boolean = element.phase === 'nonsense';
export const table: PsaPayouts = document.createElement('psa-payouts');
export const known: unknown[] = [createLiveClient, PsaLiveError, resumable, tokens, follow, mintCheckout, verifyWebhook];
export const isRetryable = (error: unknown): boolean => error instanceof PsaError;
const server: RunningServer = await start({ PORT: '0' });
export const url: string = server.url;
// @ts-expect-error Variables are text.
await start({ PORT: 0 });
`;

/** The environment of a shop's terminal, without variables of the tests or of npm. */
function environment(variables: Record<string, string>): Record<string, string> {
  const { PATH = '', HOME = shop } = process.env;
  return { PATH, HOME, PSA_DRAIN_SECONDS: '0', ...variables };
}

async function inNode(code: string): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: shop,
    env: environment({}),
  });
  return stdout.trim();
}
