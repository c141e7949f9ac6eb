// Fails when a script-tag bundle exceeds the size that docs/sizes.md promises. Sizes are gzip, as a page downloads them.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** The most bytes of the first download, of all downloads without languages and explanations, and of single chunks. */
const GATES = {
  'psa-checkout': {
    initial: 15_500,
    total: 24_000,
    chunks: {
      'psa-checkout.pix.js': 3_000,
      'psa-checkout.delivered.js': 1_500,
      'psa-checkout.explain.js': 1_600,
    },
  },
  'psa-payouts': { initial: 18_500, total: 18_500, chunks: { 'psa-payouts.explain.js': 1_600 } },
};
const folder = new URL('../dist/standalone/', import.meta.url);
const read = (name) => readFileSync(new URL(name, folder));

for (const [element, gate] of Object.entries(GATES)) checkSize(element, gate);

function checkSize(element, gate) {
  const entry = `${element}.js`;
  const files = readdirSync(folder).filter((name) => name.startsWith(`${element}.`) && name.endsWith('.js'));
  if (!files.includes(entry)) throw new Error('no dist/standalone: run the build first');
  const sizes = new Map(files.map((name) => [name, gzipSync(read(name), { level: 9 }).length]));
  const languages = files.filter((name) => /\.(en|es)\.js$/.test(name));
  // Loaded on a page that has made a mistake, and so by no payer.
  const explanations = files.filter((name) => name.endsWith('.explain.js'));
  const sum = (names) => names.reduce((bytes, name) => bytes + sizes.get(name), 0);

  for (const [name, bytes] of sizes) console.log(`${name.padEnd(30)} ${bytes} B gzip`);

  // A chunk that imports the entry would load it twice where a page adds a query to the entry's address.
  const circular = files.filter(
    (name) => name !== entry && new RegExp(`from\\s*["'\`]\\./${entry}`).test(read(name).toString()),
  );
  if (circular.length > 0) throw new Error(`these chunks import the entry: ${circular.join(', ')}`);

  const initial = sizes.get(entry);
  const total = sum(files.filter((name) => !languages.includes(name) && !explanations.includes(name)));
  console.log(
    `${element}: initial ${initial} of ${gate.initial}, with every method and transport ${total} of ${gate.total}, languages ${sum(languages)} more`,
  );
  const large = Object.entries(gate.chunks ?? {}).filter(([name, bytes]) => sizes.get(name) > bytes);
  for (const [name, bytes] of large) console.log(`${name} is larger than ${bytes} B`);
  if (initial > gate.initial || total > gate.total || large.length > 0) process.exitCode = 1;
}
