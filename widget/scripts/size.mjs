// Fails when the script-tag bundle grows beyond what the README promises. Sizes are gzip, as a page downloads them.
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const GATE = { initial: 12_500, total: 16_500 };
const folder = new URL('../dist/standalone/', import.meta.url);
const ENTRY = 'psa-checkout.js';

const files = readdirSync(folder).filter((name) => name.endsWith('.js'));
if (!files.includes(ENTRY)) throw new Error('no dist/standalone: run the build first');
const sizes = new Map(
  files.map((name) => [name, gzipSync(readFileSync(new URL(name, folder)), { level: 9 }).length]),
);
const languages = files.filter((name) => /\.(en|es)\.js$/.test(name));
const sum = (names) => names.reduce((bytes, name) => bytes + sizes.get(name), 0);

for (const [name, bytes] of sizes) console.log(`${name.padEnd(30)} ${bytes} B gzip`);

// A chunk that imports the entry would load all of it twice where a page adds a query to the entry's address.
const back = files.filter(
  (name) =>
    name !== ENTRY && /from\s*["']\.\/psa-checkout\.js/.test(readFileSync(new URL(name, folder), 'utf8')),
);
if (back.length > 0) throw new Error(`these chunks import the entry: ${back.join(', ')}`);

const initial = sizes.get(ENTRY);
const total = sum(files.filter((name) => !languages.includes(name)));
console.log(
  `initial ${initial} of ${GATE.initial}, with both transports ${total} of ${GATE.total}, languages ${sum(languages)} more`,
);
if (initial > GATE.initial || total > GATE.total) process.exitCode = 1;
