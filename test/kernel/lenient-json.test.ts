import { describe, expect, test } from 'vitest';
import { readId, readPage, readWord } from '../../server/src/kernel/lenient-json.ts';
import { cardPaymentFromWire } from '../../server/src/money-in/card-payments/wire.ts';
import { readPayout } from '../../server/src/money-out/payouts/wire.ts';
import { readSubaccountPayout } from '../../server/src/money-out/subaccounts/wire.ts';

describe('a status that another service writes in its own way', () => {
  test.each([
    ['concluido', 'completed'],
    ['Concluído', 'completed'],
    ['CONCLUI\u0301DO ', 'completed'],
    ['Negado', 'denied'],
    ['PENDENTE', 'pending'],
    ['liquidado', 'unknown'],
  ])('The status %j of a payout at another service is read as %s', (status, known) => {
    expect(readPayout({ id: 'a'.repeat(24), amount: 1, method: 'PIX', status })).toMatchObject({
      status: known,
      method: 'pix',
    });
  });

  test.each([
    ['PAID', 'paid'],
    ['Expired', 'expired'],
    ['settled', 'unknown'],
  ])('The status %j of a card payment at another service is read as %s', (status, known) => {
    expect(cardPaymentFromWire({ orderCode: 'ORD-1', status })?.status).toBe(known);
  });

  test.each([
    ['Completed', 'completed'],
    ['FAILED', 'failed'],
    [7, 'unknown'],
  ])('The status %j of a subaccount’s payout at another service is read as %s', (status, known) => {
    const body = {
      subaccountId: `sacc_${'0'.repeat(32)}`,
      amountCents: 100,
      createdAt: '2026-03-02T12:00:00Z',
    };
    // The answer has no fee.
    expect(readSubaccountPayout({ ...body, status })).toMatchObject({ status: known, feeCents: null });
  });
});

test('A value that is no word is read as null', () => {
  for (const value of [null, undefined, '', 7, {}, 'x'.repeat(51)]) expect(readWord(value)).toBeNull();
});

test.each([
  ['the whole body', [{ id: 1 }], [{ id: 1 }]],
  ['the only array', { itens: [7] }, [7]],
  ['the member that is asked for', { avisos: [{ texto: 'a' }], payouts: [] }, []],
  ['the member of a usual name', { links: [{ rel: 'self' }], data: [{ id: 1 }] }, [{ id: 1 }]],
  ['records beside an empty member of a usual name', { data: [], dados: [{ id: 1 }] }, [{ id: 1 }]],
  ['records and a null', { dados: [null, { id: 1 }], erros: [] }, [null, { id: 1 }]],
  ['rows that are no records', { linhas: [[1]], avisos: [] }, [[1]]],
  ['records behind texts', { etiquetas: ['a', 'b'], dados: [{ id: 1 }] }, [{ id: 1 }]],
  ['records behind an empty array', { erros: [], dados: [{ id: 1 }] }, [{ id: 1 }]],
  ['an empty array behind texts', { etiquetas: ['a', 'b'], dados: [] }, []],
])('A page of a list is %s', (_name, json, items) => {
  expect(readPage(json, 'payouts')?.items).toEqual(items);
});

test('An answer without an array is no page', () => {
  for (const json of [null, 'a', {}, { total: 0, payouts: { id: 1 } }])
    expect(readPage(json, 'payouts')).toBeNull();
});

test('An answer with two lists of unknown names is no page', () => {
  expect(readPage({ filtros: [{ nome: 'a' }], saques: [{ id: 1 }] }, 'payouts')).toBeNull();
});

test.each(['', ' a', 'a ', 'a\n', 'a\u0000', 'ç', 'x'.repeat(201), 5, null, {}])('%j is no id', (value) => {
  expect(readId(value)).toBeNull();
});

test.each(['a', '0', 'saq_idem_pedido 7/2026', '~'.repeat(200)])('%j is an id', (text) => {
  expect(readId(text)).toBe(text);
});
