import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyToBalances,
  type Balances,
  type LedgerAccountName,
  ledgerTransaction,
  NO_BALANCES,
} from '../../server/src/ledger/postings.ts';

const account = fc.constantFrom(...(Object.keys(NO_BALANCES) as LedgerAccountName[]));
const move = fc.record({ from: account, to: account, amountCents: fc.nat(1_000_000) });

describe('a ledger transaction', () => {
  test('sums to zero, whatever it moves', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 8 }), (moves) => {
        const net = (name: LedgerAccountName) =>
          moves.reduce(
            (sum, { from, to, amountCents }) =>
              sum + amountCents * (Number(to === name) - Number(from === name)),
            0,
          );
        const nets = Object.keys(NO_BALANCES).map((name) => net(name as LedgerAccountName));
        if (nets.every((cents) => cents === 0)) {
          expect(() => ledgerTransaction('t', moves)).toThrow('moves nothing');
          return;
        }

        const { lines } = ledgerTransaction('t', moves);
        expect(lines.reduce((sum, line) => sum + line.amountCents, 0)).toBe(0);
        expect(new Set(lines.map((line) => line.account)).size).toBe(lines.length);
        for (const line of lines) {
          expect(line.amountCents).not.toBe(0);
          expect(line.amountCents).toBe(net(line.account));
        }
      }),
    );
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    'refuses to move %s cents',
    (amountCents) => {
      expect(() =>
        ledgerTransaction('t', [{ from: 'acquirer', to: 'merchant_pending', amountCents }]),
      ).toThrow(RangeError);
    },
  );

  test('refuses to move more at once than a number can hold', () => {
    const most = { from: 'acquirer', to: 'merchant_pending', amountCents: Number.MAX_SAFE_INTEGER } as const;
    expect(() => ledgerTransaction('t', [most, most])).toThrow('more than a number can hold');
  });
});

describe('balances', () => {
  const owed = (name: string) => name === 'merchant_receivable' || name === 'acquirer';
  const balances = fc.record({
    merchant_balance: fc.nat(1_000),
    merchant_pending: fc.nat(1_000),
    merchant_receivable: fc.nat(1_000).map((cents) => 0 - cents),
    acquirer: fc.nat(1_000).map((cents) => 0 - cents),
  });

  test('move by a transaction’s lines, or not at all where one would get the wrong sign', () => {
    fc.assert(
      fc.property(balances, fc.array(move, { minLength: 1, maxLength: 4 }), (before, moves) => {
        let transaction: ReturnType<typeof ledgerTransaction>;
        try {
          transaction = ledgerTransaction('t', moves);
        } catch {
          return;
        }
        const expected: Balances = { ...before };
        for (const line of transaction.lines) expected[line.account] += line.amountCents;
        const wrong = Object.entries(expected).some(([name, cents]) => (owed(name) ? cents > 0 : cents < 0));
        const untouched = { ...before };
        if (wrong) expect(() => applyToBalances(before, transaction)).toThrow(RangeError);
        else expect(applyToBalances(before, transaction)).toEqual(expected);
        expect(before).toEqual(untouched);
      }),
    );
  });

  test('refuse a sum that a number cannot hold, for nothing of the account could be read any more', () => {
    const most = ledgerTransaction('t', [
      { from: 'acquirer', to: 'merchant_pending', amountCents: Number.MAX_SAFE_INTEGER },
    ]);
    const full = applyToBalances(NO_BALANCES, most);
    expect(() => applyToBalances(full, most)).toThrow(RangeError);
  });
});
