import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('..', import.meta.url));

const ENGINE = [
  'kernel/',
  'any model.ts',
  'commit/',
  'db/',
  'work/',
  'rails/bank.ts',
  'events/event.ts',
  'ledger/postings.ts',
];
const SCHEMA = [
  'kernel/',
  'any model.ts',
  'payouts/schema.ts',
  'wallet/schema.ts',
  'access/schema.ts',
  'graphql/builder.ts',
  'graphql/context.ts',
  'events/event.ts',
  'events/subscribe.ts',
  'events/credential.ts',
];
/** The commands of a remote side, and what its service imports too. */
const REMOTE_COMMANDS = [
  'kernel/',
  'payouts/model.ts',
  'payouts/fees.ts',
  'payouts/wire.ts',
  'payouts/remote/mirror.ts',
  'any model.ts',
  'upstream/',
  'commit/',
];
/** No layers: whatever stands beside them may import them, as far as that makes no circle. */
const WEBHOOKS_OWN = ['webhooks/outbox.ts', 'webhooks/delivery.ts'];
const GRAPHQL = [
  'kernel/',
  'graphql/builder.ts',
  'graphql/context.ts',
  'graphql/schema.ts',
  'graphql/yoga.ts',
  'http/',
  'any model.ts',
  'events/event.ts',
  'events/subscribe.ts',
  'events/credential.ts',
];

/**
 * The import table. Each file of this made-up house tries to import each other one; it may import what stands
 * behind it, as a file, as a room with all that is in it (`db/`), or as a layer of any slice (`any model.ts`).
 */
const TABLE: Record<string, string[]> = {
  'kernel/money.ts': ['kernel/'],
  'kernel/ids.ts': ['kernel/'],

  'payouts/methods/pix.ts': ['kernel/'],
  'payouts/model.ts': [
    'kernel/',
    'any model.ts',
    'payouts/fees.ts',
    'payouts/methods/',
    'ledger/postings.ts',
  ],
  'payouts/fees.ts': ['kernel/', 'any model.ts', 'ledger/postings.ts'],
  'payouts/store.ts': ['kernel/', 'payouts/model.ts', 'payouts/fees.ts', 'payouts/fee-store.ts', 'db/'],
  'payouts/fee-store.ts': ['kernel/', 'payouts/model.ts', 'payouts/fees.ts', 'payouts/store.ts', 'db/'],
  'payouts/collections.ts': [
    'kernel/',
    'payouts/model.ts',
    'payouts/fees.ts',
    'payouts/store.ts',
    'payouts/fee-store.ts',
    'commit/',
  ],
  'payouts/service.ts': [
    'payouts/fees.ts',
    'payouts/store.ts',
    'payouts/fee-store.ts',
    'payouts/collections.ts',
    ...ENGINE,
  ],
  'payouts/sending.ts': [
    'payouts/fees.ts',
    'payouts/store.ts',
    'payouts/fee-store.ts',
    'payouts/collections.ts',
    'payouts/service.ts',
    ...ENGINE,
  ],
  'payouts/wire.ts': ['kernel/', 'payouts/model.ts', 'payouts/fees.ts'],
  'payouts/routes.ts': [
    'kernel/',
    'payouts/model.ts',
    'payouts/fees.ts',
    'payouts/wire.ts',
    'http/',
    'access/model.ts',
  ],
  'payouts/remote/mirror.ts': ['kernel/', 'payouts/model.ts', 'payouts/fees.ts', 'upstream/', 'commit/'],
  'payouts/remote/commands.ts': ['payouts/remote/fee-commands.ts', ...REMOTE_COMMANDS],
  'payouts/remote/fee-commands.ts': ['payouts/remote/commands.ts', ...REMOTE_COMMANDS],
  'payouts/remote/service.ts': [
    'payouts/remote/commands.ts',
    'payouts/remote/fee-commands.ts',
    'payouts/remote/fee-service.ts',
    'events/',
    ...REMOTE_COMMANDS,
  ],
  'payouts/remote/fee-service.ts': [
    'payouts/remote/commands.ts',
    'payouts/remote/fee-commands.ts',
    'payouts/remote/service.ts',
    'events/',
    ...REMOTE_COMMANDS,
  ],
  'payouts/schema.ts': ['payouts/fees.ts', 'payouts/fee-schema.ts', ...SCHEMA],
  'payouts/fee-schema.ts': ['payouts/fees.ts', ...SCHEMA],

  'wallet/model.ts': ['kernel/', 'any model.ts', 'ledger/postings.ts'],
  'wallet/store.ts': ['kernel/', 'wallet/model.ts', 'db/'],
  'wallet/service.ts': ['wallet/store.ts', 'ledger/store.ts', ...ENGINE],
  'wallet/wire.ts': ['kernel/', 'wallet/model.ts'],
  'wallet/schema.ts': SCHEMA,
  'access/model.ts': ['kernel/', 'any model.ts', 'access/keys.ts', 'ledger/postings.ts'],
  'access/schema.ts': ['access/keys.ts', ...SCHEMA],
  'webhooks/model.ts': ['kernel/', 'any model.ts', 'ledger/postings.ts', ...WEBHOOKS_OWN],
  'webhooks/store.ts': ['kernel/', 'webhooks/model.ts', ...WEBHOOKS_OWN, 'db/'],
  'webhooks/receive.ts': [
    'kernel/',
    'webhooks/model.ts',
    'webhooks/store.ts',
    ...WEBHOOKS_OWN,
    'http/',
    'upstream/',
    'commit/',
    'db/',
    'work/',
  ],
  'webhooks/outbox.ts': [
    'kernel/',
    'webhooks/model.ts',
    'webhooks/store.ts',
    'webhooks/delivery.ts',
    'any wire.ts',
    'events/event.ts',
    'db/',
    'work/',
  ],
  'webhooks/delivery.ts': [
    'kernel/',
    'webhooks/model.ts',
    'webhooks/store.ts',
    'webhooks/outbox.ts',
    'commit/',
    'db/',
    'work/',
  ],
  'card-payments/model.ts': ['kernel/', 'any model.ts', 'ledger/postings.ts'],
  'card-payments/service.ts': ENGINE,
  'card-payments/tokens/model.ts': ['kernel/', 'any model.ts'],
  'card-payments/tokens/store.ts': [
    'kernel/',
    'card-payments/model.ts',
    'card-payments/tokens/model.ts',
    'db/',
  ],
  'card-payments/tokens/service.ts': [
    'kernel/',
    'any model.ts',
    'card-payments/tokens/store.ts',
    'commit/',
    'db/',
  ],
  'card-payments/tokens/schema.ts': [
    'kernel/',
    'any model.ts',
    'graphql/builder.ts',
    'graphql/context.ts',
    'events/event.ts',
    'events/subscribe.ts',
    'events/credential.ts',
  ],
  'card-payments/page/page.ts': ['kernel/', 'card-payments/model.ts', 'http/', 'rails/bank.ts'],

  'demo/routes.ts': ['kernel/', 'http/', 'any model.ts', 'demo/'],
  'demo/dashboard.ts': ['kernel/', 'http/', 'any model.ts', 'demo/'],
  'simulator/controls.ts': ['kernel/', 'http/', 'any model.ts', 'rails/simulated/bank.ts', 'simulator/'],
  'simulator/routes.ts': ['kernel/', 'http/', 'any model.ts', 'rails/simulated/bank.ts', 'simulator/'],

  'db/database.ts': ['kernel/', 'payouts/methods/'],
  'rails/bank.ts': ['kernel/', 'payouts/methods/', 'rails/'],
  'rails/simulated/bank.ts': ['kernel/', 'payouts/methods/', 'rails/', 'db/', 'http/'],
  'http/guard.ts': ['kernel/', 'access/model.ts'],
  'upstream/upstream.ts': ['kernel/', 'db/', 'commit/', 'work/', 'events/event.ts', 'upstream/'],
  'upstream/client.ts': ['kernel/', 'db/', 'commit/', 'work/', 'events/event.ts', 'upstream/'],
  'upstream/intents/transitions.ts': ['kernel/'],
  'upstream/intents/store.ts': ['kernel/', 'db/', 'commit/', 'work/', 'events/event.ts', 'upstream/'],
  'ledger/postings.ts': ['kernel/', 'ledger/', 'db/'],
  'ledger/store.ts': ['kernel/', 'ledger/', 'db/'],
  'events/event.ts': ['kernel/', 'events/', 'db/', 'any model.ts', 'ledger/postings.ts'],
  'events/log.ts': ['kernel/', 'events/', 'db/', 'any model.ts', 'ledger/postings.ts'],
  'events/credential.ts': ['kernel/', 'events/', 'db/', 'any model.ts', 'ledger/postings.ts'],
  'events/subscribe.ts': ['kernel/', 'events/', 'db/', 'any model.ts', 'ledger/postings.ts'],
  'limits/windows.ts': ['kernel/', 'limits/', 'db/', 'any model.ts'],
  'limits/store.ts': ['kernel/', 'limits/', 'db/', 'any model.ts'],
  'work/queue.ts': ['kernel/', 'db/', 'commit/'],
  'commit/commit.ts': ['kernel/', 'db/', 'ledger/', 'events/', 'work/'],
  'graphql/builder.ts': GRAPHQL,
  'graphql/context.ts': GRAPHQL,
  'graphql/schema.ts': ['any schema.ts', ...GRAPHQL],
  'graphql/yoga.ts': ['graphql/fast/', ...GRAPHQL],
  'graphql/fast/fast-path.ts': ['graphql/fast/', ...GRAPHQL],
  'ops/metrics.ts': [
    'kernel/',
    'db/',
    'http/',
    'config.ts',
    'access/keys.ts',
    'card-payments/tokens/model.ts',
    'requests/model.ts',
    'payouts/methods/',
    'upstream/upstream.ts',
    'ops/',
  ],
  'cli/format.ts': [
    'kernel/',
    'ops/',
    'access/keys.ts',
    'card-payments/tokens/model.ts',
    'requests/model.ts',
    'payouts/methods/',
  ],
  'cli/main.ts': [
    'kernel/',
    'ops/',
    'access/keys.ts',
    'requests/model.ts',
    'cli/',
    'db/',
    'config.ts',
    'access/administration.ts',
    'card-payments/tokens/model.ts',
    'card-payments/tokens/service.ts',
    'modes/doubts.ts',
    'commit/commit.ts',
    'events/log-tailer.ts',
  ],
  'access/keys.ts': ['kernel/', 'any model.ts', 'ledger/postings.ts'],
  'access/administration.ts': ['access/keys.ts', ...ENGINE],

  'config.ts': ['kernel/', 'any model.ts'],
  'service.ts': ['kernel/', 'any model.ts'],
  'requests/model.ts': ['kernel/', 'any model.ts', 'ledger/postings.ts'],
  'modes/remote.ts': ['everything but app.ts, main.ts, bundle.ts and cli/'],
  'modes/doubts.ts': ['everything but app.ts, main.ts, bundle.ts and cli/'],
  'app.ts': ['everything but main.ts, bundle.ts and cli/'],
  'main.ts': ['everything but cli/'],
  'bundle.ts': ['everything but cli/'],
};
const FILES = Object.keys(TABLE);

let house: string;

beforeEach(() => {
  house = mkdtempSync(join(tmpdir(), 'psa house '));
  for (const config of ['biome.jsonc', 'server/biome.jsonc']) {
    mkdirSync(dirname(join(house, config)), { recursive: true });
    copyFileSync(join(repository, config), join(house, config));
  }
});

afterEach(() => {
  rmSync(house, { recursive: true, force: true });
});

describe('the import table', () => {
  it('reports every import that the table forbids, and none that it allows', async () => {
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

  it('looks at every kind of import', async () => {
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

  it('keeps the server out of the widget', async () => {
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
  it.each([
    ['noProcessEnv', 'payouts/service.ts', 'export const port = process.env.PORT;'],
    ['noConsole', 'payouts/service.ts', "console.log('paid');"],
    ['noDefaultExport', 'payouts/service.ts', 'export default 1;'],
    ['noReExportAll', 'payouts/service.ts', "export * from './store.ts';"],
    ['noBarrelFile', 'payouts/service.ts', "export { a } from './store.ts';"],
    ['useImportExtensions', 'payouts/service.ts', "import './store';"],
    ['noExplicitAny', 'payouts/service.ts', 'export const amount: any = 1;'],
    ['noFloatingPromises', 'payouts/service.ts', 'async function pay() {}\npay();'],
    ['noEmptyBlockStatements', 'payouts/service.ts', 'try { pay(); } catch {}'],
    ['noSkippedTests', '../../test/payouts/model.test.ts', "it.skip('pays', () => {});"],
    ['noFocusedTests', '../../test/payouts/model.test.ts', "it.only('pays', () => {});"],
    ['useFilenamingConvention', 'payouts/fooBar.ts', 'export const a = 1;'],
  ])('%s holds', async (rule, file, code) => {
    write('payouts/store.ts', ['export const a = 1;']);
    write(file, [code]);

    expect((await lint()).map((found) => found.rule)).toContain(rule);
  });

  it('noImportCycles holds, for types too', async () => {
    write('payouts/model.ts', ["import type { B } from '../wallet/model.ts';", 'export type A = B | 1;']);
    write('wallet/model.ts', ["import type { A } from '../payouts/model.ts';", 'export type B = A[];']);

    expect((await lint()).map((found) => found.rule)).toContain('noImportCycles');
  });

  it.each([
    ['config.ts', 'export const port = process.env.PORT;'],
    ['main.ts', "console.log('listening');"],
    ['cli/progress.ts', "console.log('saving');"],
  ])('lets %s do what the others must not', async (file, code) => {
    write(file, [code]);

    expect(await lint()).toEqual([]);
  });
});

function others(file: string): string[] {
  return FILES.filter((other) => other !== file);
}

function mayImport(file: string, other: string): boolean {
  return TABLE[file]!.some((granted) => {
    const [, excluded] = /^everything but (.*)$/.exec(granted) ?? [];
    if (excluded) return !excluded.split(/, | and /).some((path) => isIn(path, other));
    if (granted.startsWith('any ')) return other.endsWith(`/${granted.slice(4)}`);
    return isIn(granted, other);
  });
}

/** Whether `file` is `path`, or is in it where that is a room (`db/`). */
function isIn(path: string, file: string): boolean {
  return path.endsWith('/') ? file.startsWith(path) : file === path;
}

/** How `file` names `other`: `../db/database.ts`. */
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
