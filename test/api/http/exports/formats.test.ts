import { describe, expect, test } from 'vitest';
import { type Column, figure, instant, moved, text } from '../../../../server/src/api/http/exports/export.ts';
import { csvOf, ndjsonOf } from '../../../../server/src/api/http/exports/formats.ts';

interface Row {
  name: string | null;
  cents: number | null;
  litoshi: number;
  at: Date | null;
}

const COLUMNS: readonly Column<Row>[] = [
  text('name', ({ name }) => name),
  moved('amount', ({ cents }) => cents),
  moved('amountLtc', ({ litoshi }) => litoshi, 'litoshi'),
  figure('balance', ({ cents }) => cents),
  instant('createdAt', ({ at }) => at),
];
const HEAD = {
  export: 'rows',
  environment: 'live',
  isExact: true,
  updatesCursor: 'newest',
  opening: { balanceCents: 0 },
};
const AT = new Date('2026-12-01T02:30:00.000Z');

const row = (changes: Partial<Row> = {}) => ({
  row: { name: 'Ana', cents: 1250, litoshi: 0, at: AT, ...changes },
  cursor: 'place',
});
const lines = (csv: string) => csv.split('\r\n').slice(0, -1);

describe('a CSV', () => {
  const of = (changes: Partial<Row>, excel?: 'pt-BR') => lines(csvOf(COLUMNS, excel).rows([row(changes)]))[0];

  test('A CSV has the names once, each amount in cents and as a decimal, and the cursor last', () => {
    const csv = csvOf(COLUMNS, undefined);
    expect(lines(csv.start(HEAD) + csv.rows([row()]) + csv.rows([row({ cents: 5 })]))).toEqual([
      'name,amountCents,amount,amountLtc,balanceCents,balance,createdAt,cursor',
      'Ana,1250,12.50,0.00000000,1250,12.50,2026-12-01T02:30:00.000Z,place',
      'Ana,5,0.05,0.00000000,5,0.05,2026-12-01T02:30:00.000Z,place',
    ]);
  });

  test('A CSV for a spreadsheet in Brazil has its signs, its dates and a byte order mark', () => {
    const csv = csvOf(COLUMNS, 'pt-BR');
    expect(csv.start(HEAD)).toMatch(/^\ufeffname;amountCents;amount;/);
    expect(of({ name: 'a;b', cents: -123_456 }, 'pt-BR')).toBe(
      '"a;b";-123456;-1234,56;0,00000000;-123456;-1234,56;30/11/2026 23:30:00;place',
    );
  });

  test('A text that a spreadsheet would compute gets an apostrophe, and an amount below 0 gets none', () => {
    for (const formula of ['=1+1', '+1', '-2+3', '@SUM(A1)', '\t=1', '＝1+1'])
      expect(of({ name: formula }), formula).toMatch(
        new RegExp(`^'${formula.replaceAll(/[+()@]/g, '\\$&')},`),
      );
    expect(of({ name: '\r=1' })).toMatch(/^"'\r=1",/);
    expect(of({ name: '=HYPERLINK("http://x","y")' })).toMatch(/^"'=HYPERLINK\(""http:\/\/x"",""y""\)",/);
    expect(of({ cents: -5, litoshi: -1 })).toMatch(/^Ana,-5,-0\.05,-0\.00000001,-5,-0\.05,/);
  });

  test('A text with quotation marks or line breaks is one cell, and nothing is an empty one', () => {
    expect(of({ name: 'say "é"\nagain' })).toMatch(/^"say ""é""\nagain",1250,/);
    expect(of({ name: null, cents: null, at: null })).toBe(',,,0.00000000,,,,place');
  });
});

describe('NDJSON', () => {
  test('The lines are the start, the rows, and the end with the sums of what has moved', () => {
    const json = ndjsonOf(COLUMNS);
    const parts = [
      json.start(HEAD),
      json.rows([row({ name: '=1' }), row({ cents: -50, litoshi: 3 })]),
      json.end({ rows: 2, more: false, closing: { balanceCents: 1200 } }),
    ];
    const [start, first, second, end] = parts
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(start).toEqual({ start: HEAD });
    expect(first).toMatchObject({ name: '=1', amountCents: 1250, amount: '12.50', cursor: 'place' });
    expect(second).toEqual({
      name: 'Ana',
      amountCents: -50,
      amount: '-0.50',
      amountLtc: '0.00000003',
      balanceCents: -50,
      balance: '-0.50',
      createdAt: '2026-12-01T02:30:00.000Z',
      cursor: 'place',
    });
    expect(end.end).toEqual({
      rows: 2,
      sums: { amountCents: 1200, amount: '12.00', amountLtc: '0.00000003' },
      closing: { balanceCents: 1200 },
      more: false,
    });
  });
});
