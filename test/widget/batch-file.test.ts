import { describe, expect, test } from 'vitest';
import { decodeFile, readBatch } from '../../widget/console/batch-file.ts';

// The CSV of a batch of payouts.

const ANA = { method: 'pix', amountCents: 123_456, destination: 'ana@example.com' };

test.each([
  ['Excel in Portuguese', '\uFEFFValor;Destino;Referência\r\n1.234,56;ana@example.com;Maio\r\n'],
  ['plain CSV', 'amount,destination,externalId\n1234.56,ana@example.com,Maio'],
  ['quoted cells', '"valor","destino","referencia"\n"1.234,56","ana@example.com","Maio"\n'],
  ['tabs, in another order', 'REFERÊNCIA\tdestino\tvalor\nMaio\tana@example.com\tR$ 1.234,56\n\n'],
])('%s is read', (_, text) => {
  expect(readBatch(text)).toMatchObject({
    errors: [],
    rows: [{ line: 2, row: { ...ANA, externalId: 'Maio' } }],
  });
});

test('Methods and types of keys are read as people write them, and a guard against formulas is taken off', () => {
  const text = `valor;destino;forma;tipo
10;'+5511987654321;PIX Turbo;Celular
10;"ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9";LTC;
10;"a
b";usdt;`;
  expect(readBatch(text).rows).toEqual([
    {
      line: 2,
      row: { method: 'pix_turbo', amountCents: 1_000, destination: '+5511987654321', pixKeyType: 'phone' },
    },
    {
      line: 3,
      row: { method: 'ltc', amountCents: 1_000, destination: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9' },
    },
    { line: 4, row: { method: 'usd', amountCents: 1_000, destination: 'a\nb' } },
  ]);
});

describe('a mistake names its line and its column', () => {
  test.each([
    ['', [[1, '']]],
    ['valor;destino\n', [[1, '']]],
    [
      'ana@example.com;10\n',
      [
        [1, 'ana@example.com'],
        [1, '10'],
        [1, 'valor'],
        [1, 'destino'],
      ],
    ],
    ['valor;valor;destino\n1;2;x', [[1, 'valor']]],
    [
      'Valor;Destino\n10;a@b.co\n\n0;\n=1+1;c@d.co',
      [
        [4, 'Valor'],
        [4, 'Destino'],
        [5, 'Valor'],
      ],
    ],
    [
      'valor;destino;forma;tipo\n1;x;boleto;conta',
      [
        [2, 'forma'],
        [2, 'tipo'],
      ],
    ],
    ['valor,destino\n1.234,56,a@b.co', [[2, 'valor']]],
    // 150.125 is a computed amount in one program, and a hundred thousand in another.
    [
      'valor;destino\n150.125;a@b.co\nR$ 1.234;a@b.co\n1.234,00;a@b.co',
      [
        [2, 'valor'],
        [3, 'valor'],
      ],
    ],
    ['destino,valor,referência\na@b.co,150,50\na@b.co,150.00,50\na@b.co,150,maio', [[2, 'valor']]],
    [`valor;destino\n${'1;a@b.co\n'.repeat(10_000)}`, [[1_002, '']]],
  ])('%#', (text, places) => {
    const { rows, errors } = readBatch(text);
    expect(errors.map(({ line, column }) => [line, column])).toEqual(places);
    if (errors.some(({ line }) => line === 1)) expect(rows).toEqual([]);
  });
});

test('A row with a mistake keeps the rest of its cells, for the mistakes that only the server finds', () => {
  const { rows, errors } = readBatch('valor;destino;tipo;referência\nx;=1+1;conta;A\n1;2;3;4;5');
  expect(errors.map(({ line, column }) => [line, column])).toEqual([
    [2, 'valor'],
    [2, 'tipo'],
    [3, 'valor'],
  ]);
  expect(rows).toEqual([
    { line: 2, row: { method: 'pix', destination: '=1+1', pixKeyType: 'conta', externalId: 'A' } },
  ]);
});

test('A file in the encoding of Excel is decoded', () => {
  const bytes = (text: string) => Uint8Array.from(text, (sign) => sign.charCodeAt(0)).buffer;
  expect(decodeFile(bytes('referência'))).toBe('referência');
  expect(decodeFile(new TextEncoder().encode('referência').buffer)).toBe('referência');
});
