// npm run bench -- widget-sizes: the download of our checkout and of others, bundled and compressed by the same tools
// in the same run.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rolldown } from 'vite';
import { runNode } from '../../server/scripts/progress.mjs';
import { ensurePeer } from './peers/install.ts';

interface Checkout {
  name: string;
  /** The package whose version is shown. */
  of: string;
  /** The code that a shop writes to take a card payment. */
  code: string;
  /** The globals of the page after this code has run. */
  what: string;
}

interface Size {
  name: string;
  initial: number;
  total: number;
  what: string;
}

const PEERS = fileURLToPath(new URL('./peers/widgets/', import.meta.url));
const OURS = fileURLToPath(new URL('../', import.meta.url));
const STANDALONE = new URL('../../widget/dist/standalone/', import.meta.url);
const TABLE = 'widget/docs/sizes.md';
const BEGIN = '<!-- npm run bench -- widget-sizes --save writes from here -->';
const END = '<!-- to here -->';

const PSA: Checkout = {
  name: 'psa-checkout, by npm',
  of: '@psa/checkout',
  code: "import '@psa/checkout/define';",
  what: 'the same with the whole of Lit, bundled as those below',
};

const OTHERS: Checkout[] = [
  {
    name: 'Polar, embed',
    of: '@polar-sh/checkout',
    code: "export { PolarEmbedCheckout } from '@polar-sh/checkout/embed';",
    what: 'a frame around the hosted page',
  },
  {
    name: 'Adyen, drop-in with cards',
    of: '@adyen/adyen-web',
    code: "import '@adyen/adyen-web/styles/adyen.css'; export { AdyenCheckout, Card, Dropin } from '@adyen/adyen-web';",
    what: 'a form, whose fields come from the network',
  },
  {
    name: 'Adyen, every payment method',
    of: '@adyen/adyen-web',
    code: "import '@adyen/adyen-web/styles/adyen.css'; export { AdyenCheckout, Dropin } from '@adyen/adyen-web/auto';",
    what: 'the same',
  },
  {
    name: 'Braintree, drop-in',
    of: 'braintree-web-drop-in',
    code: "export { create } from 'braintree-web-drop-in';",
    what: 'a form, whose fields come from the network',
  },
];

/** Packages of a few lines that load the rest from the network, so that their size cannot be measured from npm. */
const LOADERS: Checkout[] = [
  ['Stripe', '@stripe/stripe-js', 'loadStripe'],
  ['PayPal', '@paypal/paypal-js', 'loadScript'],
  ['Mercado Pago', '@mercadopago/sdk-js', 'loadMercadoPago'],
  ['Primer', '@primer-io/checkout-web', 'Primer'],
].map(([name = '', of = '', member]) => ({
  name: `${name}, loader`,
  of,
  code: `export { ${member} } from '${of}';`,
  what: 'loads the rest from the network: not measured',
}));

const rows: Size[] = [standalone(), await bundled(PSA, OURS)];
if (await ensurePeer('widgets')) {
  for (const checkout of [...OTHERS, ...LOADERS]) rows.push(await bundled(checkout, PEERS));
} else process.exitCode = 1;

const kB = (bytes: number) => (bytes / 1000).toFixed(1);
const cells = rows.map((row) => [row.name, kB(row.initial), kB(row.total), row.what]);
const widths = [0, 1, 2].map((column) => Math.max(...cells.map((row) => row[column]!.length)));
for (const row of cells)
  console.log(
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[at] ?? 0))).join('  '),
  );
console.log(
  '\nkB of gzip at level 9: at first, and with every file that is loaded later (languages, wallets, styles).',
);
if (process.argv.includes('--save') && !process.exitCode) await save();

/** The built files for a script tag. */
function standalone(): Size {
  const files = readdirSync(STANDALONE).filter((name) => /^psa-checkout\..*js$/.test(name));
  const sizes = files.map((name) => gzip(readFileSync(new URL(name, STANDALONE))));
  return {
    name: 'psa-checkout, script tag',
    initial: sizes[files.indexOf('psa-checkout.js')]!,
    total: sizes.reduce((sum, size) => sum + size),
    what: 'a button, and the payment followed to its end; the fields are on the hosted page',
  };
}

/** The bundle for a current browser. */
async function bundled({ name, of, code, what }: Checkout, folder: string): Promise<Size> {
  const entry = `${folder}measured.js`;
  const output = (await build({
    configFile: false,
    root: folder,
    logLevel: 'error',
    mode: 'production',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [
      {
        name: 'measured',
        enforce: 'pre',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? code : undefined),
      },
    ],
    build: {
      write: false,
      target: 'es2022',
      modulePreload: false,
      cssMinify: true,
      rolldownOptions: {
        input: entry,
        preserveEntrySignatures: 'strict',
        output: { format: 'es', minify: true },
      },
    },
  })) as Rolldown.RolldownOutput;
  const files = new Map(output.output.map((file) => [file.fileName, file]));
  const size = (file: (typeof output.output)[number]) =>
    gzip(file.type === 'chunk' ? file.code : file.source);
  const first = new Set<string>();
  const add = (fileName: string) => {
    const file = files.get(fileName);
    if (!file || first.has(fileName)) return;
    first.add(fileName);
    if (file.type === 'chunk') file.imports.forEach(add);
  };
  for (const file of files.values()) if (file.type === 'asset' || file.isEntry) add(file.fileName);
  const sum = (list: Iterable<(typeof output.output)[number]>) =>
    [...list].reduce((bytes, file) => bytes + size(file), 0);
  const [path] = [`${folder}node_modules/${of}/package.json`];
  const { version } = JSON.parse(readFileSync(path, 'utf8'));
  return {
    name: of === '@psa/checkout' ? name : `${name} ${version}`,
    initial: sum([...files.values()].filter(({ fileName }) => first.has(fileName))),
    total: sum(files.values()),
    what,
  };
}

function gzip(content: string | Uint8Array): number {
  return gzipSync(content, { level: 9 }).length;
}

async function save(): Promise<void> {
  const address = new URL(`../../${TABLE}`, import.meta.url);
  const text = readFileSync(address, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${TABLE} has no place for the table: ${BEGIN} … ${END}`);
  const table = [['', 'kB at first', 'kB in all', 'what it is'], ['---', '---:', '---:', '---'], ...cells]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');
  writeFileSync(address, `${text.slice(0, begin)}${BEGIN}\n\n${table}\n\n${text.slice(end)}`);
  const biome = 'node_modules/@biomejs/biome/bin/biome';
  const { ok, output } = await runNode(biome, ['format', '--write', TABLE], { quiet: true });
  if (!ok) throw new Error(output);
  console.log(`Written to ${TABLE}`);
}
