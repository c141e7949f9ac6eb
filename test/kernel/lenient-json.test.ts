import { describe, expect, test } from 'vitest';
import { cardPaymentFromWire } from '../../server/src/card-payments/wire.ts';
import { readWord } from '../../server/src/kernel/lenient-json.ts';
import { readPayout } from '../../server/src/payouts/wire.ts';
import { readSubaccountPayout } from '../../server/src/subaccounts/wire.ts';

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
    // The answer names no fee.
    expect(readSubaccountPayout({ ...body, status })).toMatchObject({ status: known, feeCents: null });
  });
});

test('A value that is no word is read as null', () => {
  for (const value of [null, undefined, '', 7, {}, 'x'.repeat(51)]) expect(readWord(value)).toBeNull();
});
