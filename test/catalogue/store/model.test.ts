import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  importStoreInput,
  MAX_STORE_PRODUCTS,
  priceCentsOf,
} from '../../../server/src/catalogue/store/model.ts';
import { reaisText } from '../../../server/src/kernel/money.ts';
import { describeRefusal, findOperation } from '../../../server/src/programs/ops/operations.ts';
import { generated } from '../../support/scale.ts';
import { product } from './products.ts';

describe('the price of a product of the store', () => {
  test('Every amount that is written in the Brazilian format is read back, with dots and without, to the cent', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom('', 'R$', 'R$ ', 'R$\u00a0'), (cents, sign) => {
        const text = reaisText(cents).replace('R$ ', '');
        expect(priceCentsOf(sign + text)).toBe(cents);
        expect(priceCentsOf(sign + text.replaceAll('.', ''))).toBe(cents);
      }),
      { numRuns: generated(1_000) },
    );
  });

  test('Every text that is read as an amount is that amount, written in the format', () => {
    const text = fc.stringMatching(/^(R\$ ?)?[\d.,]{1,12}$/);
    fc.assert(
      fc.property(text, (price) => {
        const cents = priceCentsOf(price);
        if (cents === null) return;
        const digits = (written: string) =>
          written
            .replace(/^R\$\s*/, '')
            .replaceAll('.', '')
            .replace(/^0+(?=\d)/, '');
        expect(digits(price)).toBe(digits(reaisText(cents)));
      }),
      { numRuns: generated(1_000) },
    );
  });

  test.each<[string | null, number | null]>([
    ['1.234,56', 123_456],
    ['R$ 1.234.567,00', 123_456_700],
    ['1234,56', 123_456],
    ['0,01', 1],
    ['R$0,00', 0],
    ['49.90', null],
    ['49,9', null],
    ['49', null],
    ['1.23,45', null],
    ['1234.567,89', null],
    ['-1,00', null],
    [' 1,00', null],
    ['1,00 ', null],
    ['US$ 1,00', null],
    ['99999999999999999,00', null],
    ['', null],
    [null, null],
  ])('The price %j is %j cents', (price, cents) => {
    expect(priceCentsOf(price)).toBe(cents);
  });
});

describe('the file of an import', () => {
  const one = { id: '1', name: 'Caneca' };
  const read = (products: unknown) => importStoreInput.parse({ environment: 'live', products }).products;

  test('The list itself and an answer of the service are read alike, with what is left out as null', () => {
    const expected = [product('1', { name: 'Caneca', price: null, available: null })];
    expect(read([one])).toEqual(expected);
    expect(read({ products: [one], total: 1, limit: 50, offset: 0 })).toEqual(expected);
    expect(read([])).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['no list', 'abc', 'the file must be a list of products'],
    ['null', null, 'the file must be a list of products'],
    ['a row that is none', [one, 7], 'row 2 must be an object'],
    ['no id', [{ name: 'Caneca' }], 'row 1, id: is required'],
    [
      'an id with a line break',
      [{ ...one, id: 'a\nb' }],
      'row 1, id: must not contain control or invisible characters',
    ],
    ['an id twice', [one, { ...one, name: 'Prato' }], 'row 2, id: is there twice'],
    ['an empty name', [{ ...one, name: '' }], 'row 1, name: must not be empty'],
    ['a blank name', [{ ...one, name: ' ' }], 'row 1, name: must not be blank'],
    [
      'a long description',
      [{ ...one, description: 'x'.repeat(2_001) }],
      'row 1, description: must have at most 2000 characters',
    ],
    ['a price that is a number', [one, { ...one, id: '2', price: 49.9 }], 'row 2, price: must be a string'],
    [
      'an image that runs',
      [{ ...one, imageUrl: 'javascript:alert(1)' }],
      'row 1, imageUrl: must be an absolute http or https URL without credentials',
    ],
    ['a word for available', [{ ...one, available: 'sim' }], 'row 1, available: must be a boolean'],
    [
      '5,001 products',
      Array.from({ length: MAX_STORE_PRODUCTS + 1 }, (_, id) => ({ ...one, id: String(id) })),
      'the file must be at most 5000 products',
    ],
  ])('A file with %s is refused by its row and field', (_, products, message) => {
    const refusal = findOperation('store.import')!.check({ environment: 'live', products });
    expect(describeRefusal(refusal!)).toBe(message);
  });

  test('Of many mistakes the first ten are named', () => {
    const products = Array.from({ length: 30 }, (_, id) => ({ id: String(id), name: '' }));
    const text = describeRefusal(findOperation('store.import')!.check({ environment: 'live', products })!);
    expect(text.split('; ')).toHaveLength(11);
    expect(text).toMatch(/row 10, name: must not be empty; and 20 more$/);
  });
});
