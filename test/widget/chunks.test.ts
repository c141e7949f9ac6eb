// The elements' chunks after bundling, and the second try of a lost one.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { importAgain } from '../../widget/src/import-again.ts';

const sources = fileURLToPath(new URL('../../widget/src/', import.meta.url));

/** The chunks with a second try, by the name under which they register themselves. */
const CHUNKS: Record<string, () => Promise<object>> = {
  'checkout.payment': () => import('../../widget/src/payment.ts'),
  'checkout.pix': () => import('../../widget/src/pix.ts'),
  'checkout.delivered': () => import('../../widget/src/delivered.ts'),
  'checkout.en': () => import('../../widget/src/locales/en.ts'),
  'checkout.es': () => import('../../widget/src/locales/es.ts'),
  'disputes.details': () => import('../../widget/src/disputes/details.ts'),
  'disputes.en': () => import('../../widget/src/disputes/locales/en.ts'),
  'disputes.es': () => import('../../widget/src/disputes/locales/es.ts'),
  'disputes.filters': () => import('../../widget/src/disputes/filters.ts'),
  'payouts.details': () => import('../../widget/src/payouts/details.ts'),
  'payouts.en': () => import('../../widget/src/payouts/locales/en.ts'),
  'payouts.filters': () => import('../../widget/src/payouts/filters.ts'),
  'payouts.es': () => import('../../widget/src/payouts/locales/es.ts'),
  'sales.details': () => import('../../widget/src/sales/details.ts'),
  'sales.en': () => import('../../widget/src/sales/locales/en.ts'),
  'sales.es': () => import('../../widget/src/sales/locales/es.ts'),
  'sales.filters': () => import('../../widget/src/sales/filters.ts'),
  'statement.details': () => import('../../widget/src/statement/details.ts'),
  'statement.en': () => import('../../widget/src/statement/locales/en.ts'),
  'statement.es': () => import('../../widget/src/statement/locales/es.ts'),
  'statement.filters': () => import('../../widget/src/statement/filters.ts'),
  'wallet.en': () => import('../../widget/src/wallet/locales/en.ts'),
  'wallet.es': () => import('../../widget/src/wallet/locales/es.ts'),
};

const lost = () => Promise.reject(new Error('lost'));

test('no module of the package imports a computed address, which Turbopack and Metro refuse', () => {
  const computed = readdirSync(sources, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts'))
    .filter((file) => /\bimport\((?!['"]\.|\))/.test(readFileSync(sources + file, 'utf8')));
  // Only the script-tag bundles contain it.
  expect(computed).toEqual(['import-beside.ts']);
});

test.each(Object.entries(CHUNKS))('the chunk %s hands over all that it exports', async (name, load) => {
  const chunk = { ...(await load()) };
  expect(await importAgain(name, lost)).toEqual(chunk);
});

test('each chunk that an element imports with a second try is among these', () => {
  const names = readdirSync(sources, { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(sources + file, 'utf8').matchAll(/\barrive\('([\w.]+)'/g)])
    .map(([, name]) => name);
  expect(names.sort()).toEqual(Object.keys(CHUNKS).sort());
});

test('a chunk whose bundler requests it again is the one of the second import', async () => {
  const loads = [lost, async () => ({ second: true })];
  expect(await importAgain('another', () => loads.shift()!())).toEqual({ second: true });
});

test('a chunk that is lost for good is reported by the first error', async () => {
  const errors = [new Error('first'), new Error('second')];
  await expect(importAgain('none', () => Promise.reject(errors.shift()))).rejects.toThrow('first');
});
