import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { WINGS } from '../server/architecture.mjs';
import { type Document, readDocuments, readTree, repository } from './support/documents.ts';
import { generatedAt, type Scale, type SizeName, sizeAt } from './support/scale.ts';

// The links, commands, paths and GraphQL operations in documents. test/documents-run.test.ts runs the commands.

const tree = new Set(readTree());
const documents = readDocuments();
const read = (path: string) => readFileSync(repository + path, 'utf8');

test('every relative link of a document leads to a file, and to a heading of it', () => {
  const broken = documents.flatMap((document) =>
    linksOf(document)
      .filter((link) => !leadsSomewhere(document, link))
      .map((link) => `${document.path}: ${link}`),
  );
  expect(broken).toEqual([]);
});

/**
 * The sizes in the rows of server/docs/trust.md: a test of the row, and phrases of its cells for `npm test` and for
 * the full size. `{NAME}` is a size of that scale, `{medium:NAME}` one of `npm run test:all`, and `{path}` the number
 * of cases that a file generates.
 */
const SIZES_IN_ROWS: [test: string, inSample: string[], inFull: string[]][] = [
  ['test/faults/boundaries.test.ts', ['{BOUNDARIES} drawn'], ['each place {BOUNDARY_KILLS} times']],
  ['test/faults/kill.test.ts', ['{KILLS} on PostgreSQL'], ['{KILLS} on each']],
  ['test/faults/cut.test.ts', ['{CUTS} on each side'], ['{CUTS} on each side']],
  ['test/laws/concurrency.test.ts', ['64 at once'], ['64 × {ONE_KEY} on each']],
  [
    'test/money-in/payments/laws.test.ts',
    ['{money-in/payments/laws} histories', '{ATTEMPTS} attempts'],
    ['{money-in/payments/laws} histories', '{ATTEMPTS} attempts'],
  ],
  [
    'test/money-in/charges/laws.test.ts',
    ['{money-in/charges/laws} histories', '{money-in/charges/splitting} divisions'],
    ['{money-in/charges/laws} histories', '{money-in/charges/splitting} divisions'],
  ],
  ['test/money-in/ltc/laws.test.ts', ['{money-in/ltc/laws} histories'], ['{money-in/ltc/laws} histories']],
  [
    'test/money-in/subscriptions/laws.test.ts',
    ['{money-in/subscriptions/laws} histories'],
    ['{money-in/subscriptions/laws} histories'],
  ],
  [
    'test/money-in/disputes/laws.test.ts',
    ['{money-in/disputes/laws} histories'],
    ['{money-in/disputes/laws} histories'],
  ],
  [
    'test/catalogue/store/model.test.ts',
    ['{catalogue/store/model} texts'],
    ['{catalogue/store/model} texts'],
  ],
  ['test/attacks/expiry.test.ts', ['{EXPIRIES} orders of events'], ['{EXPIRIES} orders of events']],
  ['test/attacks/receivers.test.ts', ['{HANGING_RECEIVERS} hang'], ['{HANGING_RECEIVERS} hang']],
  [
    'test/attacks/sockets.test.ts',
    ['{SOCKETS} sockets', '{PAUSED} paused on each transport', '{PAUSED_EVENTS} events'],
    [
      ...['{SOCKETS} sockets', '{PAUSED} paused on each transport', '{PAUSED_EVENTS} events'],
      ...['{INIT_MB} MB first message', '{SUBSCRIPTIONS} subscriptions on one'],
    ],
  ],
  ['test/attacks/sockets.test.ts', ['{medium:UNREAD_STREAMS} streams'], ['{UNREAD_STREAMS} streams']],
  [
    'test/attacks/compiled.test.ts',
    ['{DOCUMENTS} documents', '{SUBSCRIPTION_DOCUMENTS} subscriptions'],
    ['{DOCUMENTS} documents', '{SUBSCRIPTION_DOCUMENTS} subscriptions'],
  ],
  ['test/attacks/graphql.test.ts', [], ['each {REFUSALS} times']],
  ['test/attacks/memory.test.ts', [], ['{DISTINCT_REQUESTS}, of 20 kinds']],
  [
    'test/attacks/tokens.test.ts',
    ['each {PLACES_APART}th place at the service, each {FACADE_PLACES_APART}rd at a facade'],
    ['each place, at both'],
  ],
  ['test/attacks/slow.test.ts', ['{HALF_OPEN} half-open'], ['{HALF_OPEN} half-open']],
  ['test/faults/stop.test.ts', ['{STOPS} on PostgreSQL'], ['{STOPS} on each']],
  [
    'test/state/db/lists.test.ts',
    ['{state/db/lists} histories', '{LIST_ROWS} rows'],
    ['{state/db/lists} histories', '{LIST_ROWS} rows'],
  ],
  ['test/money-in/card-payments/orders.test.ts', ['{ATTEMPTS} attempts'], []],
  [
    'test/catalogue/deliveries/laws.test.ts',
    ['{catalogue/deliveries/laws} histories'],
    ['{catalogue/deliveries/laws} histories'],
  ],
  [
    'test/money-out/payouts/remote-payouts.test.ts',
    ['{LOST_ANSWERS} histories'],
    ['{LOST_ANSWERS} histories'],
  ],
  [
    'test/live/dose.test.ts',
    [
      '{RESUMED} payments by each client',
      '{medium:DOSE_ACTIVE} active, {medium:DOSE_IDLE} idle and {medium:DOSE_CUTS} cuts',
    ],
    [
      '{DOSE_ACTIVE} active, {DOSE_IDLE} idle, {DOSE_CUTS} cuts, {DOSE_RESTARTS} rolling restarts, {DOSE_KILLS} `kill',
    ],
  ],
  ['test/sim/facade.test.ts', ['{STORIES} stories'], []],
];

test('the rows of server/docs/trust.md that are listed here have the sizes of npm test, and the full ones', () => {
  const trust = read('server/docs/trust.md');
  const rows = trust.split('\n').map((line) => line.split(' | '));
  // With the space before it, the first number of a phrase is a whole number.
  const has = (cell: string | undefined, phrase: string, of: Scale) =>
    ` ${cell}`.includes(` ${fill(phrase, of)}`);
  const wrong = SIZES_IN_ROWS.filter(
    ([path, inSample, inFull]) =>
      !rows.some(
        ([, attackedBy, sample, full]) =>
          attackedBy?.includes(path) &&
          inSample.every((phrase) => has(sample, phrase, 'sample')) &&
          inFull.every((phrase) => has(full, phrase, 'full')),
      ),
  );
  expect(
    wrong.map(([path, inSample, inFull]) => [
      path,
      ...[
        ...inSample.map((phrase) => fill(phrase, 'sample')),
        ...inFull.map((phrase) => fill(phrase, 'full')),
      ],
    ]),
  ).toEqual([]);
  // The document writes a distance of 1 as “each place”.
  expect(sizeAt('full', 'PLACES_APART')).toBe(1);
  expect(sizeAt('full', 'FACADE_PLACES_APART')).toBe(1);
  const seeds = [...trust.matchAll(/(\d+) seeds and a tour/g)].map(([, number]) => Number(number));
  expect(seeds.length).toBeGreaterThan(2);
  expect(new Set(seeds)).toEqual(new Set([sizeAt('sample', 'SEEDS')]));
});

/** Fills in the sizes of a phrase, as a document writes them. */
function fill(phrase: string, of: Scale): string {
  return phrase.replace(/\{(?:(medium):)?([\w/-]+)\}/g, (_, medium: Scale | undefined, name: string) => {
    const size = name.includes('/') ? generatedIn(name, of) : sizeAt(medium ?? of, name as SizeName);
    return size.toLocaleString('en');
  });
}

/** Counts the cases that a test file generates in all. */
function generatedIn(path: string, of: Scale): number {
  const file = read(`test/${path}.test.ts`);
  const calls = [...file.matchAll(/generated\(([\d_]+)(?:, (\d+))?\)/g)];
  expect(calls, path).toHaveLength([...file.matchAll(/\bgenerated\(/g)].length);
  const counts = calls.map(([, max, part]) =>
    generatedAt(of, Number(max!.replaceAll('_', '')), part ? Number(part) : undefined),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

test('the address that explains a mistake of a page leads to the chapter of each element', () => {
  const { url } = JSON.parse(read('widget/package.json')).repository;
  const [, folder, heading] = /More: (https:\S+\/)\S+\.md(#\w+)`/.exec(read('widget/src/explain.ts'))!;
  const home = `${url.replace(/^git\+|\.git$/g, '')}/blob/main/`;
  const [readme] = documents.filter(({ path }) => path === 'README.md');
  for (const name of ['psa-checkout', 'psa-payouts']) {
    expect(folder!.startsWith(home)).toBe(true);
    expect(leadsSomewhere(readme!, `${folder!.slice(home.length)}${name}.md${heading}`)).toBe(true);
  }
});

test('links lead from README.md to every other document', () => {
  const reached = new Set(['README.md']);
  for (const path of reached) {
    const document = documents.find((each) => each.path === path);
    for (const link of document ? linksOf(document) : []) reached.add(targetOf(path, link).path);
  }
  expect(documents.map(({ path }) => path).filter((path) => !reached.has(path))).toEqual([]);
});

test('README.md has at most 150 lines', () => {
  expect(read('README.md').split('\n').length - 1).toBeLessThanOrEqual(150);
});

test('each document that has somebody use a package says that it is on no registry yet', () => {
  const users = documents.filter(
    ({ path, text }) =>
      !/CHANGELOG|decisions\//.test(path) &&
      /npx @psa\/server|npm install @psa|(?:from|import) '@psa\//.test(text),
  );
  expect(users.length).toBeGreaterThan(6);
  expect(users.filter(({ text }) => !text.includes('on no registry yet')).map(({ path }) => path)).toEqual(
    [],
  );
});

test('the shop of the recipes has at most 60 lines', () => {
  expect(read('test/widget/recipes/shop.mjs').split('\n').length - 1).toBeLessThanOrEqual(60);
});

test('every npm command of a document is a script of package.json', () => {
  const missing = documents.flatMap(({ path, text }) => {
    const scripts = new Set(['package.json', `${path.split('/')[0]}/package.json`].flatMap(scriptsIn));
    return [...text.matchAll(NPM)]
      .filter(([, run, short]) => !scripts.has((run ?? short)!))
      .map(([command]) => `${path}: ${command}`);
  });
  expect(missing).toEqual([]);
});

test('every path of the repository in a document exists', () => {
  const missing = documents
    // A changelog may name commands of earlier versions.
    .filter(({ path }) => !path.endsWith('CHANGELOG.md'))
    .flatMap((document) =>
      pathsIn(document)
        .filter((path) => !exists(path, document))
        .map((path) => `${document.path}: ${path}`),
    );
  expect(missing).toEqual([]);
});

test('every GraphQL operation of a document is valid', () => {
  const schema = buildSchema(read('schema.graphql'));
  const operations = documents.flatMap(({ path, blocks }) =>
    blocks.flatMap(({ line, language, code }) => {
      const bodies = [...code.matchAll(/'(\{"query":[^']*\})'/g)].map(([, body]) => JSON.parse(body!).query);
      const texts = language === 'graphql' ? [code] : bodies;
      return texts.map((text: string) => ({ at: `${path}:${line}`, text }));
    }),
  );
  expect(operations.length).toBeGreaterThan(5);
  const mistakes = operations.flatMap(({ at, text }) =>
    validate(schema, parse(text)).map(({ message }) => `${at}: ${message}`),
  );
  expect(mistakes).toEqual([]);
});

test('shell commands in documents are in blocks of sh, which are run', () => {
  const others = documents.flatMap(({ path, blocks }) =>
    blocks
      .filter(({ language }) => ['bash', 'shell', 'console', 'zsh'].includes(language))
      .map(({ line, language }) => `${path}:${line}: ${language}`),
  );
  expect(others).toEqual([]);
});

// ── Links ───────────────────────────────────────────────────────────────────────────────────────

/** The targets of links and pictures, without addresses. */
function linksOf({ prose }: Document): string[] {
  const text = prose.replace(/(`+)[\s\S]*?\1/g, '');
  const found = [
    ...text.matchAll(/\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)/g),
    ...text.matchAll(/^\[[^\]]+\]:\s*<?([^\s>]+)/gm),
    ...text.matchAll(/\b(?:href|src)="([^"]+)"/g),
  ];
  return found.map(([, link]) => link!).filter((link) => !/^(?:[a-z][a-z+.-]*:|\/\/)/i.test(link));
}

function targetOf(from: string, link: string): { path: string; anchor: string | undefined } {
  const [file = '', anchor] = link.split('#');
  const path = file === '' ? from : posix.join(posix.dirname(from), decodeURI(file));
  return { path, anchor };
}

function leadsSomewhere({ path: from }: Document, link: string): boolean {
  const { path, anchor } = targetOf(from, link);
  if (!tree.has(path) && !tree.has(`${path}/`)) return false;
  if (anchor === undefined) return true;
  const target = documents.find((each) => each.path === path);
  return target !== undefined && anchorsOf(target).includes(decodeURI(anchor));
}

/** The anchors of headings, as GitHub makes them, and those that the document writes. */
function anchorsOf({ prose }: Document): string[] {
  const counts = new Map<string, number>();
  const headings = [...prose.matchAll(/^#{1,6}[ \t]+(.+?)[ \t]*#*$/gm)].map(([, heading]) => {
    const text = heading!.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1');
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return [...headings, ...[...prose.matchAll(/\b(?:id|name)="([^"]+)"/g)].map(([, name]) => name!)];
}

// ── Commands and paths ──────────────────────────────────────────────────────────────────────────

const NPM = /\bnpm (?:run (?:--?\w+ )*([a-z][\w:-]*)|(start|test)\b)/g;

function scriptsIn(path: string): string[] {
  return tree.has(path) ? Object.keys(JSON.parse(read(path)).scripts ?? {}) : [];
}

const TOP = [...new Set([...tree].filter((path) => path.includes('/')).map((path) => path.split('/')[0]!))];
/** The folders in which a file may lie that is named without its folder. */
const HOMES = [
  ...['test/', 'server/src/', 'widget/src/'],
  ...Object.keys(WINGS).map((wing) => `server/src/${wing}/`),
];
const WITH_EXTENSION = /\/[\w.*{},<>…-]+\.(?:tsx?|mjs|jsonc?|sql|svg|graphql|ya?ml|md|svelte|vue)$/;

/**
 * The paths in backticks and in shell commands: words that begin with a folder of the repository, or end as its files
 * do.
 */
function pathsIn({ prose, blocks }: Document): string[] {
  const spans = [...prose.matchAll(/(`+)([\s\S]*?)\1/g)].map(([, , span]) => span!.trim());
  const words = blocks.filter(({ language }) => language === 'sh').flatMap(({ code }) => code.split(/\s+/));
  const named = (text: string) => TOP.includes(text.split('/')[0]!) && text.includes('/');
  return [
    ...spans.filter((span) => /^[\w.@*{},<>…/-]+$/.test(span) && (named(span) || WITH_EXTENSION.test(span))),
    ...words.filter((word) => /^[\w./-]+$/.test(word) && named(word)),
  ].filter((path) => !/^[/@]|^\.data|(?:^|\/)(?:dist|node_modules)(?:\/|$)/.test(path));
}

/**
 * Returns true if the path exists. It may be a pattern: `*` and `<name>` stand for a part of a name, `**` and `…` for
 * anything; of `{a,b}` each must exist.
 */
function exists(path: string, document: Document): boolean {
  const [, before, choices, after] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(path) ?? [];
  if (choices !== undefined)
    return choices.split(',').every((choice) => exists(`${before}${choice}${after}`, document));
  const homes = ['', ...HOMES, `${posix.dirname(document.path)}/`, `${document.path.split('/')[0]}/`];
  const places = homes.map((home) => posix.normalize(home + path).replace(/\/$/, ''));
  if (!/[*<…]/.test(path)) return places.some((place) => tree.has(place) || tree.has(`${place}/`));
  return places.some((place) => {
    const pattern = place.replace(/\*\*|…|\*|<\w+>|\./g, (each) => PATTERNS[each] ?? '[^/]+');
    return [...tree].some((each) => new RegExp(`^${pattern}/?$`).test(each));
  });
}

const PATTERNS: Record<string, string> = { '**': '.*', '…': '.*', '*': '[^/]*', '.': '\\.' };
