import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ARCHITECTURE, type Row } from '../server/architecture.mjs';

const repository = fileURLToPath(new URL('..', import.meta.url));

/**
 * A made-up house: each of its files tries to import each other one. It has files of every row of the import table, and
 * for every pattern one that the pattern is about.
 */
const FILES = [
  'kernel/money.ts',
  'kernel/ids.ts',

  'payouts/model.ts',
  'payouts/fees.ts',
  'payouts/events.ts',
  'payouts/methods/pix.ts',
  'payouts/store.ts',
  'payouts/method-store.ts',
  'payouts/collections.ts',
  'payouts/service.ts',
  'payouts/sending.ts',
  'payouts/wire.ts',
  'payouts/routes.ts',
  'payouts/schema.ts',
  'payouts/method-schema.ts',
  'payouts/remote/mirror.ts',
  'payouts/remote/commands.ts',
  'payouts/remote/service.ts',
  'payouts/remote/status.ts',
  'payouts/remote/method-commands.ts',

  'wallet/model.ts',
  'wallet/store.ts',
  'wallet/collections.ts',
  'wallet/service.ts',
  'wallet/wire.ts',
  'wallet/schema.ts',
  'access/model.ts',
  'access/keys.ts',
  'access/service.ts',
  'access/collections.ts',
  'access/administration.ts',
  'access/schema.ts',
  'webhooks/model.ts',
  'webhooks/store.ts',
  'webhooks/collections.ts',
  'webhooks/receive.ts',
  'webhooks/outbox.ts',
  'webhooks/wire.ts',
  'webhooks/delivery.ts',
  'card-payments/model.ts',
  'card-payments/store.ts',
  'card-payments/service.ts',
  'card-payments/charging.ts',
  'card-payments/page/page.ts',
  'card-payments/page/routes.ts',
  'card-payments/tokens/model.ts',
  'card-payments/tokens/pauses.ts',
  'card-payments/tokens/store.ts',
  'card-payments/tokens/collections.ts',
  'card-payments/tokens/service.ts',
  'card-payments/tokens/wire.ts',
  'card-payments/tokens/schema.ts',
  'ltc/model.ts',
  'ltc/decisions.ts',
  'ltc/upstream-request.ts',
  'ltc/store.ts',
  'ltc/collections.ts',
  'ltc/charging.ts',
  'ltc/service.ts',
  'ltc/wire.ts',
  'ltc/page/view.ts',
  'pix/model.ts',
  'pix/decisions.ts',
  'pix/refunding.ts',
  'pix/store.ts',
  'pix/table-store.ts',
  'pix/service.ts',
  'pix/wire.ts',
  'pix/upstream-resource.ts',
  'pix/remote/service.ts',
  'pix/collections.ts',
  'pix/charging.ts',
  'subscriptions/collections.ts',
  'subscriptions/charging.ts',
  'payments/store.ts',
  'payments/collections.ts',
  'payments/service.ts',
  'payments/wire.ts',
  'payments/remote/service.ts',
  'payments/remote/commands.ts',
  'card-payments/remote/service.ts',
  'checkout/remote/token-commands.ts',
  'requests/model.ts',
  'store/model.ts',
  'store/service.ts',
  'returns/model.ts',
  'returns/collections.ts',
  'receiving/model.ts',
  'receiving/wire.ts',
  'receiving/upstream-payment.ts',
  'receiving/poll-interval.ts',
  'checkout-page/layout.ts',
  'checkout/model.ts',
  'checkout/service.ts',
  'checkout/schema.ts',

  'demo/routes.ts',
  'demo/dashboard.ts',
  'simulator/controls.ts',
  'simulator/routes.ts',

  'db/database.ts',
  'db/migrations/steps.ts',
  'rails/bank.ts',
  'rails/acquirer.ts',
  'rails/simulated/bank.ts',
  'http/guard.ts',
  'upstream/upstream.ts',
  'upstream/budget/store.ts',
  'upstream/intents/store.ts',
  'upstream/intents/transitions.ts',
  'ledger/postings.ts',
  'ledger/funds.ts',
  'ledger/store.ts',
  'events/event.ts',
  'events/log.ts',
  'events/log-tailer.ts',
  'events/credential.ts',
  'events/subscribe.ts',
  'events/subscription.ts',
  'limits/windows.ts',
  'limits/store.ts',
  'work/queue.ts',
  'work/store.ts',
  'commit/commit.ts',
  'commit/idempotency.ts',
  'graphql/builder.ts',
  'graphql/context.ts',
  'modes/schema.ts',
  'graphql/yoga.ts',
  'graphql/transport/frames/frame.ts',
  'graphql/fast/fast-path.ts',
  'graphql/fast/cache/entries.ts',
  'ops/metrics.ts',
  'cli/format.ts',
  'cli/run.ts',
  'cli/main.ts',

  'config/config.ts',
  'config/variables.ts',
  'load.ts',
  'modes/remote.ts',
  'modes/doubts.ts',
  'modes/upstream-check.ts',
  'app.ts',
  'main.ts',
  'bundle.ts',
];

let house: string;

beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), 'psa house '));
  for (const config of ['biome.jsonc', 'server/biome.jsonc', 'server/imports.generated.jsonc']) {
    mkdirSync(dirname(join(house, config)), { recursive: true });
    copyFileSync(join(repository, config), join(house, config));
  }
});

afterEach(() => {
  rmSync(house, { recursive: true, force: true });
});

describe('the import table', () => {
  it('The linter reports every import that the table forbids, and none that it allows', async () => {
    for (const file of FILES)
      write(
        file,
        others(file).map((other) => `import '${specifier(file, other)}';`),
      );

    const reported = await lint('--only=style/noRestrictedImports');

    const allowed = FILES.map((file) => [
      file,
      others(file).filter(
        (_, index) => !reported.some((found) => found.file === file && found.line === index + 1),
      ),
    ]);
    const granted = FILES.map((file) => [file, others(file).filter((other) => mayImport(file, other))]);
    expect(Object.fromEntries(allowed)).toEqual(Object.fromEntries(granted));
  });

  it('The made-up house has files of every row of the table, and of every pattern in it', () => {
    const patterns = ARCHITECTURE.flatMap(({ files, others }) => [...files, ...others]);
    expect(ARCHITECTURE.filter((row) => !FILES.some((file) => rowOf(file) === row))).toEqual([]);
    expect(patterns.filter((pattern) => !FILES.some((file) => fits(pattern.replace('!', ''), file)))).toEqual(
      [],
    );
  });

  it.each([
    ['kernel/money.ts', 'payouts/model.ts'],
    ['payouts/model.ts', 'payouts/store.ts'],
    ['payouts/fees.ts', 'db/database.ts'],
    ['payouts/service.ts', 'wallet/service.ts'],
    ['payouts/service.ts', 'payouts/remote/service.ts'],
    ['payouts/store.ts', 'wallet/store.ts'],
    ['db/database.ts', 'commit/commit.ts'],
    ['events/event.ts', 'payouts/model.ts'],
    ['graphql/builder.ts', 'modes/schema.ts'],
    ['app.ts', 'cli/main.ts'],
  ])('The table forbids %s to import %s', (file, other) => {
    expect(mayImport(file, other)).toBe(false);
  });

  it('The table allows no circle but among the files of one row or of one folder', () => {
    const reached = new Map(FILES.map((file) => [file, reachableFrom(file)]));
    const circles = FILES.flatMap((file) =>
      [...reached.get(file)!]
        .filter((other) => reached.get(other)!.has(file))
        .filter((other) => topOf(other) !== topOf(file) && rowOf(other) !== rowOf(file))
        .map((other) => `${file} ⇄ ${other}`),
    );
    expect(circles).toEqual([]);
  });

  it('The folders of the server import one another in one direction, but for the builder of GraphQL types', () => {
    expect(foldersInCycles(importsOfFolders())).toEqual([]);
  });

  it('A cycle over several folders is found', () => {
    expect(foldersInCycles(['a → b', 'b → c', 'c → a', 'd → a', 'c → e'])).toEqual(['a', 'b', 'c']);
  });

  it('The linter looks at every kind of import', async () => {
    write('payouts/model.ts', [
      "import '../db/database.ts';",
      "import { a } from '../db/database.ts';",
      "import * as b from '../db/database.ts';",
      "import type { C } from '../db/database.ts';",
      "import { type D } from '../db/database.ts';",
      "export { e } from '../db/database.ts';",
      "export type { F } from '../db/database.ts';",
      "export * from '../db/database.ts';",
      "const g = await import('../db/database.ts');",
    ]);

    const reported = await lint('--only=style/noRestrictedImports');

    expect(reported.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('The linter keeps the server out of the widget', async () => {
    write('../../widget/src/state.ts', [
      "import type { Money } from '../../server/src/kernel/money.ts';",
      "import '@psa/server';",
      "import './locales/pt.ts';",
    ]);

    const reported = await lint('--only=style/noRestrictedImports');

    expect(reported.map(({ line }) => line)).toEqual([1, 2]);
  });
});

describe('the house rules', () => {
  /** Each breaks the rule of its name, in a file of its own. */
  const BROKEN = [
    ['noProcessEnv', 'payouts/environment.ts', 'export const port = process.env.PORT;'],
    ['noConsole', 'payouts/console.ts', "console.log('paid');"],
    ['noDefaultExport', 'payouts/default.ts', 'export default 1;'],
    ['noReExportAll', 'payouts/all.ts', "export * from './store.ts';"],
    ['noBarrelFile', 'payouts/barrel.ts', "export { a } from './store.ts';"],
    ['useImportExtensions', 'payouts/extension.ts', "import './store';"],
    ['noExplicitAny', 'payouts/any.ts', 'export const amount: any = 1;'],
    ['noFloatingPromises', 'payouts/floating.ts', 'async function pay() {}\npay();'],
    ['noEmptyBlockStatements', 'payouts/empty.ts', 'try { pay(); } catch {}'],
    ['noSkippedTests', '../../test/payouts/skipped.test.ts', "it.skip('pays', () => {});"],
    ['noFocusedTests', '../../test/payouts/focused.test.ts', "it.only('pays', () => {});"],
    ['useFilenamingConvention', 'payouts/fooBar.ts', 'export const a = 1;'],
    // For types too.
    [
      'noImportCycles',
      'payouts/model.ts',
      "import type { B } from '../wallet/model.ts';\nexport type A = B | 1;",
    ],
    [
      'noImportCycles',
      'wallet/model.ts',
      "import type { A } from '../payouts/model.ts';\nexport type B = A[];",
    ],
  ] as const;
  /** These may do what the others must not. */
  const ALLOWED = [
    ['config/config.ts', 'export const port = process.env.PORT;'],
    ['main.ts', "console.log('listening');"],
    ['cli/progress.ts', "console.log('saving');"],
  ] as const;

  it('The linter reports a break of each rule, and leaves alone who may do it', async () => {
    write('payouts/store.ts', ['export const a = 1;']);
    for (const [, file, code] of BROKEN) write(file, [code]);
    for (const [file, code] of ALLOWED) write(file, [code]);

    const reported = await lint();

    const rulesOf = (file: string) =>
      reported.filter((found) => found.file.endsWith(file.replace('../../', ''))).map(({ rule }) => rule);
    for (const [rule, file] of BROKEN) expect(rulesOf(file), file).toContain(rule);
    expect(reported.filter(({ file }) => ALLOWED.some(([allowed]) => allowed === file))).toEqual([]);
  });
});

function others(file: string): string[] {
  return FILES.filter((other) => other !== file);
}

function mayImport(file: string, other: string): boolean {
  const { isOwn, path } = pathFrom(file, other);
  const decisive = rowOf(file)[isOwn ? 'own' : 'others'].findLast((pattern) =>
    fits(pattern.replace('!', ''), path),
  );
  return decisive !== undefined && !decisive.startsWith('!');
}

function rowOf(file: string): Row {
  return ARCHITECTURE.findLast(({ files }) => files.some((pattern) => fits(pattern, file)))!;
}

/** The name that the table has for `other` in the row of `file`: from their top folder where they share it. */
function pathFrom(file: string, other: string): { isOwn: boolean; path: string } {
  const isOwn = topOf(file) === topOf(other);
  return { isOwn, path: isOwn ? other.slice(topOf(other).length) : other };
}

/** The top folder of a file, `payouts/`, and nothing for a file of src itself. */
function topOf(file: string): string {
  return file.slice(0, file.indexOf('/') + 1);
}

function fits(pattern: string, path: string): boolean {
  let compiled = patterns.get(pattern);
  if (!compiled) {
    const source = pattern
      .replaceAll('.', '\\.')
      .replace(/\{(.*?)\}/g, (_, names: string) => `(${names.replaceAll(',', '|')})`)
      .replace(/\*\*\/|\*\*|\*/g, (stars) => ({ '**/': '([^/]+/)*', '**': '.+' })[stars] ?? '[^/]*');
    compiled = new RegExp(`^${source}$`);
    patterns.set(pattern, compiled);
  }
  return compiled.test(path);
}

const patterns = new Map<string, RegExp>();

/** All that the file may import, and what that may import. */
function reachableFrom(file: string): Set<string> {
  const reached = new Set<string>();
  const open = [file];
  for (let next = open.pop(); next !== undefined; next = open.pop())
    for (const other of FILES)
      if (other !== next && !reached.has(other) && mayImport(next, other)) {
        reached.add(other);
        open.push(other);
      }
  return reached;
}

/**
 * Every import from one folder to another in the real sources, as `from → to`. A folder is one below `src`; the records of the
 * payout methods are one of their own. Schemas import Pothos' builder, and its context imports the slices: of these two, the
 * first is left out.
 */
function importsOfFolders(): string[] {
  const sources = join(repository, 'server/src');
  const found = new Set<string>();
  for (const file of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue;
    const importing = file.replaceAll('\\', '/');
    for (const [, path] of readFileSync(join(sources, file), 'utf8').matchAll(
      /(?:from|import) '(\.[^']+)'/g,
    )) {
      const imported = posix.join(posix.dirname(importing), path!);
      const [from, to] = [folderOf(importing), folderOf(imported)];
      const isSchemaToGraphql = importing.endsWith('schema.ts') && to === 'graphql/';
      if (from !== to && !isSchemaToGraphql) found.add(`${from} → ${to}`);
    }
  }
  return [...found];
}

function folderOf(path: string): string {
  if (path.startsWith('payouts/methods/')) return 'payouts/methods';
  return topOf(path) || path;
}

function foldersInCycles(imports: readonly string[]): string[] {
  const edges = imports.map((text) => text.split(' → ') as [string, string]);
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const [folder, to] of edges)
      if (folder === from && !seen.has(to)) {
        seen.add(to);
        reach(to, seen);
      }
    return seen;
  };
  return [...new Set(edges.map(([from]) => from))].filter((folder) => reach(folder).has(folder)).sort();
}

/** The specifier by which `file` imports `other`: `../db/database.ts`. */
function specifier(file: string, other: string): string {
  const path = posix.relative(posix.dirname(file), other);
  return path.startsWith('.') ? path : `./${path}`;
}

function write(file: string, lines: string[]): void {
  const path = join(house, 'server/src', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${lines.join('\n')}\n`);
}

/** Biome's findings in the made-up sources, by file (within server/src), line and rule. */
async function lint(...options: string[]): Promise<{ file: string; line: number; rule: string }[]> {
  const biome = join(repository, 'node_modules/@biomejs/biome/bin/biome');
  const args = [biome, 'lint', '--reporter=github', '--max-diagnostics=none', ...options, '.'];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: house,
    maxBuffer: 2 ** 26,
  }).catch((failed: { stdout: string }) => failed);
  return [...stdout.matchAll(/title=lint\/\w+\/(\w+),file=(.*?),line=(\d+)/g)].map(
    ([, rule, file, line]) => ({
      file: file!.replaceAll('\\', '/').replace(/^.*server\/src\//, ''),
      line: Number(line),
      rule: rule!,
    }),
  );
}
