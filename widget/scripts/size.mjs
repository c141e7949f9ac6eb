// Fails when a script-tag bundle (`pages`) or an entry of the package (`package`) exceeds the size that docs/sizes.md
// promises; without an argument it looks at both. Sizes are gzip, as a page downloads them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** The most bytes of the first download, of all downloads without languages, explanations and details of rows, of these details, and of single chunks. */
const GATES = {
  'psa-checkout': {
    initial: 15_500,
    // 24.2 kB until an element said what is true in app views, in translated pages, before its files have loaded, and on the way back.
    // 24.6 kB until it said how old an open payment is, in front of a service that is away.
    // 24.8 kB until it compared states by their types, and no longer by parts of their names.
    total: 24_900,
    chunks: {
      'psa-checkout.pix.js': 3_000,
      'psa-checkout.delivered.js': 1_500,
      'psa-checkout.explain.js': 1_900,
    },
  },
  'psa-payouts': {
    // 18.8 kB until it said that of rows whose polls fail or whose server is lost, and named a refused key, and until it had the button
    // that opens the filters, dimmed the rows of another filter and waited for the server's “none”. 19.3 kB until the elements of one
    // token shared their connection, and the table became the base of every list. 20.9 kB until that had an export, a search and details.
    // 22.0 kB until a refused filter left the table usable, and what is read again after a gap was all of it. 22.2 kB until it had the
    // totals of its filter. 23.2 kB until an export renewed its token, a token with more scopes was followed, and gaps had pauses.
    initial: 23_300,
    total: 26_700,
    details: 3_400,
    chunks: { 'psa-payouts.filters.js': 3_300, 'psa-payouts.explain.js': 1_900 },
  },
  // All five elements of a board. 31.1 kB until the same, and until a deadline held against a date that is set; the details 9.0 kB until
  // an attempt that failed left a refund or a defence as it was. 31.5 kB and 9.4 kB until payouts had totals, and payouts and entries details.
  // 32.1 kB until the same of renewals and gaps, and a file was known by its bytes.
  'psa-board': { initial: 32_400, total: 37_400, details: 11_300 },
};
const folder = new URL('../dist/standalone/', import.meta.url);
const read = (name) => readFileSync(new URL(name, folder));

/** The most bytes of an entry of the package, with the chunks that it imports. */
const ENTRIES = { 'resume.js': 3_900, 'live.js': 5_500 };

const PARTS = {
  pages() {
    for (const [element, gate] of Object.entries(GATES)) checkSize(element, gate);
  },
  package() {
    for (const [entry, most] of Object.entries(ENTRIES)) checkEntry(entry, most);
  },
};
for (const [part, check] of Object.entries(PARTS)) if ((process.argv[2] ?? part) === part) check();

function checkEntry(entry, most) {
  const dist = new URL('../dist/', import.meta.url);
  if (!existsSync(new URL(entry, dist))) throw new Error(`no dist/${entry}: run the build first`);
  // A set goes on over what is added meanwhile.
  const files = new Set([new URL(entry, dist).href]);
  let bytes = 0;
  for (const file of files) {
    const content = readFileSync(new URL(file));
    bytes += gzipSync(content, { level: 9 }).length;
    for (const [, path] of content.toString().matchAll(/\bfrom\s*["'](\.[^"']+)["']/g))
      files.add(new URL(path, file).href);
  }
  console.log(`${entry}: ${bytes} of ${most}, in ${files.size} files`);
  if (bytes > most) process.exitCode = 1;
}

function checkSize(element, gate) {
  const entry = `${element}.js`;
  const files = readdirSync(folder).filter((name) => name.startsWith(`${element}.`) && name.endsWith('.js'));
  if (!files.includes(entry)) throw new Error('no dist/standalone: run the build first');
  const sizes = new Map(files.map((name) => [name, gzipSync(read(name), { level: 9 }).length]));
  const languages = files.filter((name) => /\.(en|es)\.js$/.test(name));
  // Loaded on a page that has made a mistake, and so by no payer.
  const explanations = files.filter((name) => name.endsWith('.explain.js'));
  // Loaded when the first row is opened, with the forms of what a merchant can do about it.
  const details = files.filter((name) => name.endsWith('.details.js'));
  const sum = (names) => names.reduce((bytes, name) => bytes + sizes.get(name), 0);

  for (const [name, bytes] of sizes) console.log(`${name.padEnd(30)} ${bytes} B gzip`);

  // A chunk that imports the entry would load it twice where a page adds a query to the entry's address.
  const circular = files.filter(
    (name) => name !== entry && new RegExp(`from\\s*["'\`]\\./${entry}`).test(read(name).toString()),
  );
  if (circular.length > 0) throw new Error(`these chunks import the entry: ${circular.join(', ')}`);

  // It would be one more request before the first row, and be in no limit of the first file.
  if (/(from|import)\s*["'`]\.\//.test(read(entry).toString())) throw new Error(`${entry} imports a chunk`);

  const initial = sizes.get(entry);
  const total = sum(files.filter((name) => ![...languages, ...explanations, ...details].includes(name)));
  console.log(
    `${element}: initial ${initial} of ${gate.initial}, with every method and transport ${total} of ${gate.total}, languages ${sum(languages)} and details of rows ${sum(details)} more`,
  );
  const large = Object.entries(gate.chunks ?? {}).filter(([name, bytes]) => sizes.get(name) > bytes);
  for (const [name, bytes] of large) console.log(`${name} is larger than ${bytes} B`);
  if (sum(details) > (gate.details ?? 0))
    console.log(`the details of rows are larger than ${gate.details} B`);
  if (initial > gate.initial || total > gate.total || sum(details) > (gate.details ?? 0) || large.length > 0)
    process.exitCode = 1;
}
