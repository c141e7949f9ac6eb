// The installed @psa/checkout: the tarball of `npm pack`, unpacked.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const widget = here('../../widget');
/** The exports of the entries, by the first part of their paths. The others export PsaCheckout. */
const NAMES: Record<string, string> = {
  './board': `[
  'PsaDisputes',
  'PsaPayouts',
  'PsaSales',
  'PsaStatement',
  'PsaWallet'
]`,
  './disputes': "[ 'PsaDisputes' ]",
  './payouts': "[ 'PsaPayouts' ]",
  './sales': "[ 'PsaSales' ]",
  './statement': "[ 'PsaStatement' ]",
  './wallet': "[ 'PsaWallet' ]",
  './live': "[ 'PsaLiveError', 'UnfollowableError', 'createLiveClient', 'live' ]",
  './resume': `[
  'UnfollowableError',
  'relaySubscribe',
  'resumable',
  'socketOptions',
  'streamOptions',
  'tokens',
  'urqlForward'
]`,
  './server': `[
  'PsaError',
  'WebhookError',
  'follow',
  'followSales',
  'mintCheckout',
  'refundOf',
  'saleOf',
  'sales',
  'tokenHandler',
  'verifyWebhook'
]`,
};

let shop: string;
let packed: string;
let tarball: Buffer;

beforeAll(async () => {
  // The folder lies inside the tests' node_modules, so that it resolves lit, react and vue as in a shop.
  await mkdir(here('../node_modules/.cache'), { recursive: true });
  shop = await mkdtemp(here('../node_modules/.cache/shop-'));
  await run('npm', ['pack', '--silent', '--pack-destination', shop], { cwd: widget });
  const [name = ''] = await readdir(shop);
  tarball = await readFile(join(shop, name));
  await run('tar', ['xzf', name], { cwd: shop });
  packed = join(shop, 'node_modules/@psa/checkout');
  await cp(join(shop, 'package'), packed, { recursive: true });
  await rm(join(shop, 'package'), { recursive: true });
});

afterAll(() => rm(shop, { recursive: true, force: true }));

it('the entries for live status are within their size gates', async () => {
  const { stdout } = await run(process.execPath, [join(widget, 'scripts/size.mjs'), 'package']);
  expect(stdout).toMatch(/^resume\.js: \d+ of 3900, in 2 files\nlive\.js: \d+ of 5500, in 4 files$/m);
});

it('the package contains the files that its exports name, and neither demo nor sources', async () => {
  const files = await readdir(packed, { recursive: true });
  expect(files.filter((file) => /demo|\bsrc\b|tsconfig|vite/.test(file))).toEqual([]);
  expect(files).toEqual(
    expect.arrayContaining([
      'LICENSE',
      'README.md',
      'docs/psa-checkout.md',
      'custom-elements.json',
      'dist/standalone/lit.LICENSE.txt',
    ]),
  );
  expect(await readFile(join(packed, 'LICENSE'), 'utf8')).toBe(await readFile(here('../../LICENSE'), 'utf8'));
});

it('publint reports nothing on the package', async () => {
  const { messages } = await publint({ pkgDir: packed, level: 'suggestion', strict: true, pack: false });
  expect(messages).toEqual([]);
});

it('the package’s types resolve in every ES module resolution', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
  if (!analysis.types) throw new Error('no types');
  // The package has only ES modules, so resolutions without ESM or `exports` do not count.
  const problems = analysis.problems.filter((problem) => {
    const place = { resolutionKind: '', resolutionOption: '', ...problem };
    return !/node10|node16-cjs/.test(place.resolutionKind + place.resolutionOption);
  });
  expect(problems).toEqual([]);
  expect(Object.keys(analysis.entrypoints)).toEqual(
    expect.arrayContaining(['.', './define', './payouts', './payouts/define', './react', './vue']),
  );
});

it('the package’s types for React, Vue and the DOM reject mistakes', async () => {
  await cp(here('recipes'), shop, { recursive: true });
  for (const file of ['package-types.tsx', 'package-types.vue']) await cp(here(file), join(shop, file));
  const compilerOptions = {
    target: 'ES2022',
    module: 'ESNext',
    moduleResolution: 'Bundler',
    jsx: 'react-jsx',
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    // Checking React's and the DOM's declarations would take most of the time.
    skipLibCheck: true,
    types: [],
  };
  await writeFile(
    join(shop, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions,
      vueCompilerOptions: { strictTemplates: true },
      include: ['*.tsx', '*.vue'],
    }),
  );
  const vueTsc = here('../node_modules/vue-tsc/bin/vue-tsc.js');
  await run(process.execPath, [vueTsc, '-p', shop]).catch(({ stdout }) => {
    throw new Error(stdout);
  });
}, 120_000);

it('every entry of the package can be imported on a server', async () => {
  const { exports } = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8'));
  const parts = Object.entries<{ default?: string }>(exports).filter(([, target]) => target.default);
  // Each element has the same sub-paths behind its own path. The checkout's own path is the package itself.
  const elements = ['.', './payouts', './wallet', './sales', './statement', './disputes'];
  const ofElements = elements.flatMap((own) => [own, ...['define', 'react'].map((part) => `${own}/${part}`)]);
  const ofFiles = ['.', './payouts', './board'].map((own) => `${own}/standalone`);
  const ofNone = ['./live', './resume', './server'];
  expect(new Set(parts.map(([name]) => name))).toEqual(
    new Set([...ofElements, ...ofFiles, './board/define', ...ofNone]),
  );
  for (const [name] of parts)
    expect(
      await inNode(`import * as all from '${join('@psa/checkout', name)}'; console.log(Object.keys(all))`),
    ).toBe(NAMES[name] ?? NAMES[name.split('/', 2).join('/')] ?? "[ 'PsaCheckout' ]");
});

it('no entry for bundlers imports a computed address or has a static block, and those for React are of the client', async () => {
  const dist = join(packed, 'dist');
  const files = [
    ...(await readdir(dist)),
    ...(await readdir(join(dist, 'chunks'))).map((name) => `chunks/${name}`),
  ];
  const scripts = files.filter((name) => name.endsWith('.js'));
  const codes = await Promise.all(scripts.map((name) => readFile(join(dist, name), 'utf8')));
  const imported = codes.flatMap((code) =>
    [...code.matchAll(/\bimport\(([^)]*)\)/g)].map(([, address]) => address),
  );
  expect(imported.length).toBeGreaterThan(5);
  expect(imported.filter((address) => !/^"\.\/\w+\.js"$/.test(address!))).toEqual([]);
  // Babel's settings for React Native refuse a static block.
  expect(codes.filter((code) => /\bstatic\s*\{/.test(code))).toEqual([]);
  const ofTheClient = scripts.filter((_, index) => /^['"]use client['"]/.test(codes[index]!));
  expect(ofTheClient.sort()).toEqual([
    'react-disputes.js',
    'react-payouts.js',
    'react-sales.js',
    'react-statement.js',
    'react-wallet.js',
    'react.js',
  ]);
});

it('the element is registered by /define alone, and once', async () => {
  const output = await inNode(`
    const known = new Map();
    globalThis.customElements = { get: (name) => known.get(name), define: (name, type) => known.set(name, type) };
    const { PsaCheckout } = await import('@psa/checkout');
    const before = known.size;
    const own = class {};
    known.set('psa-checkout', own);
    await import('@psa/checkout/define');
    const guarded = known.get('psa-checkout') === own;
    known.clear();
    await import(new URL('./node_modules/@psa/checkout/dist/define.js?again', 'file://' + process.cwd() + '/'));
    console.log(before, guarded, known.get('psa-checkout') === PsaCheckout);
  `);
  expect(output).toBe('0 true true');
});

it.each([
  [
    'PsaCheckout',
    '@psa/checkout',
    ['events.d.ts'],
    'payment status phase connection error expiresAt customer labels start openCheckout refresh retry reset focus',
  ],
  [
    'PsaPayouts',
    '@psa/checkout/payouts',
    ['payouts/events.d.ts', 'board/events.d.ts'],
    'payouts totalCount phase connection error labels renewToken refresh retry showNew focus',
  ],
  [
    'PsaWallet',
    '@psa/checkout/wallet',
    ['wallet/events.d.ts', 'board/events.d.ts'],
    'wallet phase connection error labels renewToken refresh retry',
  ],
  [
    'PsaSales',
    '@psa/checkout/sales',
    ['sales/events.d.ts', 'board/events.d.ts'],
    'sales totals totalCount phase connection error labels renewToken refresh retry showNew focus',
  ],
  [
    'PsaStatement',
    '@psa/checkout/statement',
    ['statement/events.d.ts', 'board/events.d.ts'],
    'entries totalCount phase connection error labels renewToken refresh retry showNew focus',
  ],
  [
    'PsaDisputes',
    '@psa/checkout/disputes',
    ['disputes/events.d.ts', 'board/events.d.ts'],
    'disputes totalCount phase connection error labels renewToken refresh retry showNew focus',
  ],
])('the manifest describes %s as it is', async (type, entry, eventTypes, shown) => {
  const manifest = JSON.parse(await readFile(join(packed, 'custom-elements.json'), 'utf8'));
  const names = (list: { name: string }[]) => list.map(({ name }) => name).sort();
  const isIt = ({ name }: { name: string }) => name === type;
  const { declarations, path } = manifest.modules.find((part: { declarations?: { name: string }[] }) =>
    part.declarations?.some(isIt),
  );
  const { attributes, events, members } = declarations.find(isIt);
  expect(await readFile(join(packed, path), 'utf8')).toContain(type);

  const observed = await inNode(
    `import { ${type} } from '${entry}'; console.log(${type}.observedAttributes.join())`,
  );
  expect(names(attributes)).toEqual(observed.split(',').sort());

  const types = await Promise.all(
    eventTypes.map((file) => readFile(join(packed, 'dist/types', file), 'utf8')),
  );
  expect(names(events)).toEqual(
    [...types.join('').matchAll(/^ {4}'(psa-[\w-]+)'/gm)].map(([, name]) => name).sort(),
  );

  expect(names(members)).toEqual(expect.arrayContaining(shown.split(' ')));
});

it.each([
  ['PsaCheckout', ['psa-checkout.md']],
  ['PsaPayouts', ['psa-payouts.md', 'psa-checkout.md']],
  ['PsaWallet', ['psa-wallet.md', 'psa-payouts.md', 'psa-checkout.md']],
  ['PsaSales', ['psa-sales.md', 'psa-wallet.md', 'psa-payouts.md', 'psa-checkout.md']],
  ['PsaStatement', ['psa-statement.md', 'psa-wallet.md', 'psa-payouts.md', 'psa-checkout.md']],
  ['PsaDisputes', ['psa-disputes.md', 'psa-wallet.md', 'psa-payouts.md', 'psa-checkout.md']],
])(
  'the documents name every attribute, event, part, slot, state and custom property of %s',
  async (type, documents) => {
    const manifest = JSON.parse(await readFile(join(packed, 'custom-elements.json'), 'utf8'));
    const declarations = manifest.modules.flatMap(
      (part: { declarations?: object[] }) => part.declarations ?? [],
    );
    const element = declarations.find(({ name }: { name: string }) => name === type);
    const texts = await Promise.all(documents.map((name) => readFile(join(packed, 'docs', name), 'utf8')));
    const documented = new Set(texts.join().match(/(?<=[`(])(?:--)?[\w-]+(?=[`)])/g));
    for (const kind of ['attributes', 'events', 'cssParts', 'slots', 'cssStates', 'cssProperties']) {
      const names: string[] = element[kind].map(({ name }: { name: string }) => name || 'default');
      expect(names.length, kind).toBeGreaterThan(0);
      expect(
        names.filter((name) => !documented.has(name)),
        kind,
      ).toEqual([]);
    }
  },
);

it('the document of recipes contains the tested recipes', async () => {
  const document = await readFile(join(packed, 'docs/recipes.md'), 'utf8');
  const recipes = (await readdir(here('recipes'))).filter((file) => file !== 'tsconfig.json');
  for (const recipe of recipes)
    expect(document).toContain(await readFile(join(here('recipes'), recipe), 'utf8'));
});

it('the package contains every file and heading that its documents link to', async () => {
  const documents = (await readdir(packed, { recursive: true })).filter((file) => file.endsWith('.md'));
  const headings = async (file: string) =>
    [...(await readFile(join(packed, file), 'utf8')).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
  const broken: string[] = [];
  let links = 0;
  for (const document of documents)
    for (const [, link = ''] of (await readFile(join(packed, document), 'utf8')).matchAll(/\]\(([^)]+)\)/g)) {
      if (URL.canParse(link)) continue;
      links++;
      const [path = '', heading] = link.split('#');
      const target = path ? posix.join(posix.dirname(document), path) : document;
      const isThere = await stat(join(packed, target)).catch(() => null);
      if (!isThere || (heading && !(await headings(target)).includes(heading)))
        broken.push(`${document}: ${link}`);
    }
  expect(links).toBeGreaterThan(10);
  expect(broken).toEqual([]);
});

it('the README has at most 150 lines', async () => {
  const lines = (await readFile(join(packed, 'README.md'), 'utf8')).trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(150);
});

async function inNode(code: string): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code], { cwd: shop });
  return stdout.trim();
}
