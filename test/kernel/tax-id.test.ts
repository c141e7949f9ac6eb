import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  maskTaxId,
  parseTaxId,
  type TaxIdKind,
  taxIdText,
  withMaskedTaxId,
} from '../../server/src/kernel/tax-id.ts';
import { anyText } from '../support/any-text.ts';
import { generated } from '../support/scale.ts';

describe('a tax number', () => {
  test.each<[TaxIdKind, string, string]>([
    ['cpf', '12345678909', '12345678909'],
    ['cpf', '123.456.789-09', '12345678909'],
    ['cpf', '529.982.247-25', '52998224725'],
    ['cpf', '000.000.001-91', '00000000191'],
    ['cnpj', '11222333000181', '11222333000181'],
    ['cnpj', '11.222.333/0001-81', '11222333000181'],
    ['cnpj', '00.000.000/0001-91', '00000000000191'],
    // The example is the Receita Federal's.
    ['cnpj', '12.ABC.345/01DE-35', '12ABC34501DE35'],
    ['cnpj', '12ABC34501DE35', '12ABC34501DE35'],
    ['cnpj', '12.abc.345/01de-35', '12ABC34501DE35'],
  ])('A %s is parsed into its normal form: %s', (kind, text, taxId) => {
    expect(parseTaxId(text)).toEqual({ kind, taxId });
    expect(taxIdText.parse(text)).toBe(taxId);
    // A normal form is unchanged by parsing.
    expect(parseTaxId(taxId)).toEqual({ kind, taxId });
  });

  test.each([
    '',
    ' ',
    '123.456.789-08',
    '12345678919',
    '111.111.111-11',
    '00000000000',
    '123456789-09',
    '123.456.78909',
    '1234567890',
    '123456789091',
    ' 12345678909',
    '12345678909\n',
    '１２３４５６７８９０９',
    '11222333000182',
    '11.222.333/0001-18',
    '11.222.3330001-81',
    '11.111.111/1111-11',
    '00000000000000',
    '12ABC34501DE36',
    '12.ABC.345/01DE-53',
    '12ABC34501DEA5',
    '12ÁBC34501DE35',
    '21ABC34501DE35',
    '+5511987654321',
    'ana@padaria.example',
  ])('A text that is no tax number is refused, and the message does not repeat it: %j', (text) => {
    expect(parseTaxId(text)).toBeNull();
    const { success, error } = taxIdText.safeParse(text);
    expect(success).toBe(false);
    expect(error!.issues.map(({ message }) => message)).toEqual([
      'must be a CPF or a CNPJ with its check digits',
    ]);
    if (text.trim()) expect(JSON.stringify(error!.issues)).not.toContain(text);
  });

  test('A tax number with one check digit changed is refused', () => {
    for (const taxId of ['52998224725', '12345678909', '11222333000181', '12ABC34501DE35'])
      for (const place of [taxId.length - 2, taxId.length - 1])
        for (let by = 1; by <= 9; by += 1) {
          const changed = taxId.slice(0, place) + ((Number(taxId[place]) + by) % 10) + taxId.slice(place + 1);
          expect(parseTaxId(changed)).toBeNull();
        }
  });

  test('No text makes the parser of tax numbers throw', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        parseTaxId(text);
      }),
      { numRuns: generated(1_000) },
    );
  });

  test.each([
    ['cpf', '0123456789', 9, 12],
    ['cnpj', '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ', 12, 9],
  ] as const)(
    'Every %s with the check digits of the Receita Federal is accepted, and no other',
    (kind, alphabet, length, maxWeight) => {
      const bases = fc.string({ unit: fc.constantFrom(...alphabet), minLength: length, maxLength: length });
      fc.assert(
        fc.property(bases, fc.nat(99), (base, other) => {
          fc.pre(new Set(base).size > 1);
          const first = checkDigit(base, maxWeight);
          const digits = `${first}${checkDigit(`${base}${first}`, maxWeight)}`;
          expect(parseTaxId(`${base}${digits}`)).toEqual({ kind, taxId: `${base}${digits}` });
          const others = `${other}`.padStart(2, '0');
          if (others !== digits) expect(parseTaxId(`${base}${others}`)).toBeNull();
        }),
        { numRuns: generated(1_000) },
      );
    },
  );

  test.each([
    ['12345678909', '***.456.789-**'],
    ['12345678000195', '**.***.678/0001-**'],
    ['12ABC34501DE35', '**.***.345/01DE-**'],
  ])('The tax number %s is shown masked as %s', (taxId, masked) => {
    expect(maskTaxId(taxId)).toBe(masked);
    const customer = { name: 'Ana', taxId };
    expect(withMaskedTaxId(customer)).toEqual({ name: 'Ana', taxId: masked });
    expect(customer.taxId).toBe(taxId);
  });

  test('A customer without a tax number is shown as it is', () => {
    expect(withMaskedTaxId(null)).toBeNull();
    const customer: { name: string; taxId?: string } = { name: 'Ana' };
    expect(withMaskedTaxId(customer)).toEqual({ name: 'Ana' });
    expect(withMaskedTaxId({})).toEqual({});
  });
});

/** The check digit of a text: the weights count up from 2, from right to left, and start again after the largest. */
function checkDigit(text: string, maxWeight: number): number {
  const sum = [...text]
    .reverse()
    .reduce((total, sign, index) => total + (sign.charCodeAt(0) - 48) * (2 + (index % (maxWeight - 1))), 0);
  return ((sum * 10) % 11) % 10;
}
