import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { WINGS } from '../server/architecture.mjs';
import { gates } from '../server/scripts/gates.mjs';
import { GENERATED } from '../server/scripts/regenerate.mjs';
import { filesUnder } from '../server/scripts/stamp.mjs';
import { OUTSIDE, OWN } from './programs/modes/another-family/files.ts';

// The worked examples of CONTRIBUTING.md. Each follows something that exists, so it must name the files in which that
// thing appears today.

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const contributing = read('.github/CONTRIBUTING.md');

const TEXT = /\.(?:ts|tsx|mjs|sql|graphql|json|md|html|vue|svelte)$/;
/** Files about the past, and this test: nobody looks for a field there. */
const APART =
  /CHANGELOG\.md$|^(?:server|widget)\/released\/|^test\/state\/db\/released\/|^test\/contributing\.test\.ts$/;
const texts = new Map(
  ['schema.graphql', 'README.md', ...['server', 'widget', 'test'].flatMap(filesUnder)]
    .filter((file) => TEXT.test(file) && !APART.test(file))
    .map((file) => [file, read(file)]),
);

/** The text of a section, without its heading. */
function section(heading: string): string {
  const [, text] = contributing.split(`\n## ${heading}\n`);
  if (text === undefined) throw new Error(`CONTRIBUTING.md has no section called ${heading}.`);
  return text.split('\n## ')[0]!;
}

/** The files that a text names, sorted; changelogs go with every example. */
function filesIn(text: string): string[] {
  const named = text.matchAll(/`((?:server|widget|test)\/[\w./-]+\.\w+|schema\.graphql|README\.md)`/g);
  return [...new Set([...named].map(([, file]) => file!))].filter((file) => !APART.test(file)).sort();
}

/** The files whose text has one of the markers. A marker without a file is a mistake. */
function filesWith(folder: string, ...markers: string[]): string[] {
  return markers.flatMap((marker) => {
    const found = [...texts].filter(([file, text]) => file.startsWith(folder) && text.includes(marker));
    if (found.length === 0) throw new Error(`No file of ${folder || 'the repository'} contains ${marker}.`);
    return found.map(([file]) => file);
  });
}

const sorted = (files: string[]) => [...new Set(files)].sort();

/** The first cells of the rows of the table whose header begins with this word. */
function firstCells(text: string, header: string): string[] {
  const [, rows = ''] = new RegExp(`^\\| ${header} .*\\n\\| -.*\\n((?:\\|.*\\n)+)`, 'm').exec(text) ?? [];
  return [...rows.matchAll(/^\| (.+?) +\|/gm)].map(([, cell]) => cell!);
}

const codeIn = (text: string) =>
  [...text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(([, code]) => code!);

describe('CONTRIBUTING.md', () => {
  it('CONTRIBUTING.md names only tests and gates that exist', () => {
    const argumentsOf = (pattern: RegExp) =>
      codeIn(contributing).flatMap((code) => (pattern.exec(code)?.[1] ?? '').match(/'[^']+'|\S+/g) ?? []);
    const paths = filesUnder('test').filter((file) => /(?:\.test\.ts|-test\.tsx?)$/.test(file));
    const filters = argumentsOf(/^npm (?:test|run test:all) -- (.+)$/);
    expect(filters.length).toBeGreaterThan(20);
    expect(filters.filter((filter) => !paths.some((path) => path.includes(filter)))).toEqual([]);
    const chosen = argumentsOf(/^npm run check -- (.+)$/).map((name) => name.replaceAll("'", ''));
    expect(chosen.length).toBeGreaterThan(5);
    expect(chosen.filter((name) => name !== 'gates' && !(name in gates))).toEqual([]);
  });

  it('CONTRIBUTING.md lists every gate', () => {
    const listed = firstCells(section('The gates and the other commands'), 'gate').flatMap(codeIn);
    expect(listed).toEqual(Object.keys(gates));
  });

  it('CONTRIBUTING.md lists every file that npm run regenerate makes', () => {
    const rows = section('Generated files').split('\n');
    const made = rows
      .filter((row) => row.includes('`npm run regenerate`'))
      .map((row) => row.split(' | ')[0]!);
    expect(made.flatMap(codeIn)).toEqual(GENERATED.map(({ file }) => file));
  });

  it('CONTRIBUTING.md says of every folder of the server what is in it', () => {
    const folders = Object.entries(WINGS).flatMap(([wing, rooms]) =>
      (rooms.length === 0 ? ['.'] : rooms).map((room) => join('server/src', wing, room).replace(/\/$/, '')),
    );
    const listed = firstCells(section('Where things are'), 'folder').flatMap(codeIn);
    expect(listed.filter((folder) => folder.startsWith('server/src/')).sort()).toEqual(folders.sort());
  });

  it('CONTRIBUTING.md says of every file name that three slices share what it holds', () => {
    const names = SLICES.flatMap((slice) => filesUnder(slice).map((file) => file.slice(slice.length + 1)));
    const shared = [...new Set(names)].filter((name) => names.filter((other) => other === name).length >= 3);
    const cells = firstCells(section('Where things are'), 'file').flatMap(codeIn);
    const listed = cells.map((cell) => cell.replace('<slice>/', ''));
    expect(shared.filter((name) => !listed.includes(name))).toEqual([]);
    expect(listed.filter((name) => !names.includes(name))).toEqual([]);
  });
});

it('Each package has one changeset, in the sections that a merchant reads', () => {
  const packages: Record<string, string> = { 'server.md': '@psa/server', 'checkout.md': '@psa/checkout' };
  const sections = [
    ...['What you must do', 'What you can use', 'What you need not know, but may notice'],
    'The breaks by name',
  ];
  for (const file of readdirSync(join(root, '.changeset')).filter((name) => name.endsWith('.md'))) {
    const text = read(`.changeset/${file}`);
    expect(text).toMatch(new RegExp(`^---\n'${packages[file]}': (?:patch|minor|major)\n---\n\n### `));
    const found = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) => title!);
    expect(found).toEqual(sections.filter((title) => found.includes(title)));
  }
});

it('The picture of the data names only files and folders that exist', () => {
  const labels = [...read('.github/data-flow.svg').matchAll(/class="file"[^>]*>([^<]+)</g)];
  const named = labels.flatMap(([, label]) => label!.split(', '));
  const sources = filesUnder('server/src').map((file) => file.slice('server/src/'.length));
  const isThere = (name: string) => sources.some((file) => `/${file}`.includes(`/${name}`));
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

/** Domains with a port, GraphQL types and tables of their own. */
const SLICES = [...new Set(filesUnder('server/src').map((file) => dirname(file)))].filter((folder) =>
  ['model.ts', 'schema.ts', 'store.ts'].every((file) => texts.has(`${folder}/${file}`)),
);

describe('The example of', () => {
  it('The example of a field of Payment names the eight files in which subscriptionId has to be', () => {
    const needed = [
      ...filesWith('server/src/money-in/payments', 'subscriptionId'),
      ...filesWith('server/src/state/db/migrations', 'create table payment ('),
      'server/docs/service.md',
    ];
    expect(needed).toHaveLength(8);
    expect(filesIn(section('Add a field to Payment'))).toEqual(sorted(needed));
  });

  it('The example of a field of Payout names every file in which deniedReason appears', () => {
    const all = filesWith('', 'deniedReason', 'denied_reason').filter(
      (file) => !file.startsWith('server/docs/decisions/'),
    );
    // A test may compare this field alone; a test with every member of a payout needs each new one.
    const isWhole = (file: string) =>
      ['  litoshi: null,', '  endToEndId: null,'].every((member) => texts.get(file)!.includes(member));
    const needed = all.filter(
      (file) => !file.startsWith('test/') || file.startsWith('test/support/') || isWhole(file),
    );
    expect(filesIn(section('Add a field to Payout'))).toEqual(sorted(needed));
  });

  it('The example of a webhook event names every file that dispute.updated needs, and three are made by hand', () => {
    // A test may compare one event alone; HAPPENINGS does not compile without each.
    const needed = filesWith('', "'dispute.updated'", '`dispute.updated`', 'DISPUTE_UPDATED').filter(
      (file) =>
        !file.startsWith('test/') ||
        file.startsWith('test/support/') ||
        texts.get(file)!.includes('const HAPPENINGS'),
    );
    expect(filesIn(section('Add a webhook event'))).toEqual(sorted(needed));
    const byHand = sorted(needed).filter((made) => GENERATED.every(({ file }) => file !== made));
    expect([...byHand, 'a changeset']).toHaveLength(3);
  });

  it('The example of a migration names every file in which pause_reason appears, and kinds that the runner knows', () => {
    const text = section('Add a migration');
    const tests = filesIn(text).filter((file) => file.startsWith('test/'));
    expect(filesIn(text)).toEqual(sorted([...filesWith('server/src', 'pause_reason'), ...tests]));
    const kinds = firstCells(text.replaceAll('\n   ', '\n'), 'name').flatMap(codeIn);
    expect(kinds).toHaveLength(3);
    for (const kind of kinds) expect(kind).toMatch(/^\d{4}_[a-z_]+?(_online)?(_needs_\d{4})?\.sql$/);
  });

  it('The example of a payout method names every file in which usd has to be', () => {
    const METHODS = [/pix_?turbo/i, /(?<![a-z])ltc(?![a-z])/i, /(?<![a-z])usdt?(?![a-z])/i];
    const listing = [...texts].filter(([, text]) => METHODS.every((method) => method.test(text)));
    const needed = [
      // A source that names each method is a list of methods, which would lack the new one.
      ...listing.map(([file]) => file).filter((file) => !/^test\/|\/migrations\//.test(file)),
      // Each later method also has a migration that names usd.
      ...filesWith('server/src/state/db/migrations', 'payout_fee_usd_cents', "'ltc', 'usd'))"),
      'server/src/kernel/payout-methods/method.ts',
      'test/money-out/payouts/another-method.test.ts',
      ...filesWith('server/src/kernel/payout-methods', 'const usd:', "'./usd.ts'"),
      ...filesWith('server/docs', 'fee of `usd`'),
      ...filesWith('test/money-out/payouts', 'parseUsdtAddress'),
      ...filesWith('test/support', "  usd: '"),
    ];
    expect(filesIn(section('Add a payout method'))).toEqual(sorted(needed));
  });

  it('The example of a family names every file outside of its folder, eight by hand, and every test with its rows', () => {
    const text = section('Add a family of payments');
    const documents = ['.github/CONTRIBUTING.md', 'server/docs/service.md'];
    const sources = Object.keys(OUTSIDE).filter((file) => !file.endsWith('.sql'));
    const cells = firstCells(text, 'file').flatMap(codeIn);
    expect(cells.sort()).toEqual(sorted([...sources, ...documents, 'server/src/state/db/migrations']));
    expect(cells).toHaveLength(8);
    expect(OWN).toHaveLength(15);
    // Each of them has rows of charges, and of every other family.
    const rows = filesIn(text).filter((file) => file.startsWith('test/') && !file.includes('another-family'));
    expect(rows.filter((file) => !/charge/i.test(texts.get(file)!))).toEqual([]);
    expect(rows).toHaveLength(5);
  });

  it('The example of a slice names every file of products, and every file that each slice has to be added to', () => {
    // A list of the store is called products, too, and so is a page of the console.
    const isOutside = (file: string) =>
      !/^server\/src\/(?:catalogue\/(?:products|store)|programs\/console)\//.test(file);
    const imports = (file: string, slice: string) =>
      new RegExp(`['/]${slice.slice('server/src/'.length)}/[\\w/-]+\\.ts'`).test(texts.get(file)!);
    const wiring = filesWith('server/src', 'import')
      .concat(filesWith('test/support', 'import'))
      .filter((file) => SLICES.every((slice) => file.startsWith(slice) || imports(file, slice)));
    expect(wiring).toContain('server/src/programs/modes/slices.ts');
    const needed = [
      ...filesUnder('server/src/catalogue/products'),
      ...filesUnder('test/catalogue/products'),
      ...wiring,
      ...filesWith('server/src', "'products'", 'create table product (').filter(isOutside),
      ...filesWith('server/src/state/db', "'product'", '  product: true;'),
      ...filesWith('server/src/kernel', "'products.read'"),
      ...filesWith('test/attacks', '/v1/products/{id}'),
      ...filesWith('server/docs', '`DELETE /v1/products/{id}`'),
    ];
    expect(filesIn(section('Add a slice'))).toEqual(sorted(needed));
  });
});
