import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('..', import.meta.url));

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

it('The linter keeps the server out of the widget', async () => {
  write('../../widget/src/state.ts', [
    "import type { Money } from '../../server/src/kernel/money.ts';",
    "import '@psa/server';",
    "import './locales/pt.ts';",
  ]);

  const reported = await lint('--only=style/noRestrictedImports');

  expect(reported.map(({ line }) => line)).toEqual([1, 2]);
});

describe('the house rules', () => {
  /** Each source breaks the rule of its name, in a file of its own. */
  const BROKEN = [
    ['noProcessEnv', 'money-out/payouts/environment.ts', 'export const port = process.env.PORT;'],
    ['noConsole', 'money-out/payouts/console.ts', "console.log('paid');"],
    ['noDefaultExport', 'money-out/payouts/default.ts', 'export default 1;'],
    ['noReExportAll', 'money-out/payouts/all.ts', "export * from './store.ts';"],
    ['noBarrelFile', 'money-out/payouts/barrel.ts', "export { a } from './store.ts';"],
    ['useImportExtensions', 'money-out/payouts/extension.ts', "import './store';"],
    ['noExplicitAny', 'money-out/payouts/any.ts', 'export const amount: any = 1;'],
    ['noFloatingPromises', 'money-out/payouts/floating.ts', 'async function pay() {}\npay();'],
    ['noEmptyBlockStatements', 'money-out/payouts/empty.ts', 'try { pay(); } catch {}'],
    ['noSkippedTests', '../../test/skipped.test.ts', "it.skip('pays', () => {});"],
    ['noFocusedTests', '../../test/focused.test.ts', "it.only('pays', () => {});"],
    ['useFilenamingConvention', 'money-out/payouts/fooBar.ts', 'export const a = 1;'],
    // The rule holds for types, too.
    [
      'noImportCycles',
      'money-out/payouts/model.ts',
      "import type { B } from '../wallet/model.ts';\nexport type A = B | 1;",
    ],
    [
      'noImportCycles',
      'money-out/wallet/model.ts',
      "import type { A } from '../payouts/model.ts';\nexport type B = A[];",
    ],
  ] as const;
  /** These sources may do what the others must not. */
  const ALLOWED = [
    ['programs/config/config.ts', 'export const port = process.env.PORT;'],
    ['programs/main.ts', "console.log('listening');"],
    ['programs/cli/progress.ts', "console.log('saving');"],
  ] as const;

  it('The linter reports a break of each rule, and leaves alone who may do it', async () => {
    write('money-out/payouts/store.ts', ['export const a = 1;']);
    for (const [, file, code] of BROKEN) write(file, [code]);
    for (const [file, code] of ALLOWED) write(file, [code]);

    const reported = await lint();

    const rulesOf = (file: string) =>
      reported.filter((found) => found.file.endsWith(file.replace('../../', ''))).map(({ rule }) => rule);
    for (const [rule, file] of BROKEN) expect(rulesOf(file), file).toContain(rule);
    expect(reported.filter(({ file }) => ALLOWED.some(([allowed]) => allowed === file))).toEqual([]);
  });
});

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
