import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  applyToBalances,
  type Balances,
  creditWithRecovery,
  type LedgerAccountName,
  NO_BALANCES,
  takeOrOwe,
} from '../../../server/src/state/ledger/postings.ts';
import { ALL_ACCOUNTS, CENTS_ACCOUNTS, isOwed, ledgerTransaction, signsHold } from '../../support/ledger.ts';

const account = fc.constantFrom(...CENTS_ACCOUNTS);
const move = fc.record({ from: account, to: account, amount: fc.nat(1_000_000) });

describe('a ledger transaction', () => {
  test('A ledger transaction sums to zero, whatever it moves', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 8 }), (moves) => {
        const net = (name: LedgerAccountName) =>
          moves.reduce(
            (sum, { from, to, amount }) => sum + amount * (Number(to === name) - Number(from === name)),
            0,
          );
        const nets = Object.keys(NO_BALANCES).map((name) => net(name as LedgerAccountName));
        if (nets.every((cents) => cents === 0)) {
          expect(() => ledgerTransaction('t', moves)).toThrow('moves nothing');
          return;
        }

        const { lines } = ledgerTransaction('t', moves);
        expect(lines.reduce((sum, line) => sum + line.amount, 0)).toBe(0);
        expect(new Set(lines.map((line) => line.account)).size).toBe(lines.length);
        for (const line of lines) {
          expect(line.amount).not.toBe(0);
          expect(line.amount).toBe(net(line.account));
        }
      }),
    );
  });

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    'A ledger transaction refuses to move %s cents',
    (amount) => {
      expect(() => ledgerTransaction('t', [{ from: 'acquirer', to: 'merchant_pending', amount }])).toThrow(
        RangeError,
      );
    },
  );

  test('A ledger transaction refuses to move more at once than a number can hold', () => {
    const most = { from: 'acquirer', to: 'merchant_pending', amount: Number.MAX_SAFE_INTEGER } as const;
    expect(() => ledgerTransaction('t', [most, most])).toThrow('more than a number can hold');
    // The transaction is too large even if only one of the accounts overflows.
    const other = { ...most, from: 'received' } as const;
    expect(() => ledgerTransaction('t', [most, other])).toThrow('more than a number can hold');
  });

  test('A ledger transaction has no line for a move of zero', () => {
    const nothing = { from: 'merchant_receivable', to: 'acquirer', amount: 0 } as const;
    expect(
      ledgerTransaction('t', [{ from: 'merchant_balance', to: 'acquirer', amount: 5 }, nothing]).lines,
    ).toEqual([
      { account: 'merchant_balance', amount: -5 },
      { account: 'acquirer', amount: 5 },
    ]);
    expect(() => ledgerTransaction('t', [nothing])).toThrow('moves nothing');
  });

  test('A ledger transaction never makes cents of litoshi', () => {
    expect(() =>
      ledgerTransaction('t', [{ from: 'ltc_received', to: 'merchant_balance', amount: 1 }]),
    ).toThrow('same unit');
  });

  test('A ledger transaction names the subaccount that it touches, and none where it touches none', () => {
    const moves = [{ from: 'merchant_balance', to: 'merchant_subaccounts', amount: 1 }] as const;
    expect(() => ledgerTransaction('t', moves)).toThrow('subaccount');
    expect(ledgerTransaction('t', moves, 'sacc_1')).toMatchObject({ subaccountId: 'sacc_1' });
    expect(() =>
      ledgerTransaction('t', [{ from: 'acquirer', to: 'merchant_pending', amount: 1 }], 'sacc_1'),
    ).toThrow('subaccount');
  });
});

describe('balances', () => {
  const balances: fc.Arbitrary<Balances> = fc
    .array(fc.nat(1_000), { minLength: ALL_ACCOUNTS.length, maxLength: ALL_ACCOUNTS.length })
    .map(
      (sizes) =>
        Object.fromEntries(
          ALL_ACCOUNTS.map((name, index) => [name, isOwed(name) ? 0 - sizes[index]! : sizes[index]!]),
        ) as Balances,
    );

  test('Balances change by the lines of a transaction, or not at all where one would get the wrong sign', () => {
    fc.assert(
      fc.property(balances, fc.array(move, { minLength: 1, maxLength: 4 }), (before, moves) => {
        let transaction: ReturnType<typeof ledgerTransaction>;
        try {
          transaction = ledgerTransaction('t', moves);
        } catch {
          return;
        }
        const expected: Balances = { ...before };
        for (const line of transaction.lines) expected[line.account] += line.amount;
        const untouched = { ...before };
        if (!signsHold(expected)) expect(() => applyToBalances(before, transaction)).toThrow(RangeError);
        else expect(applyToBalances(before, transaction)).toEqual(expected);
        expect(before).toEqual(untouched);
      }),
    );
  });

  test('Balances refuse a sum that a number cannot hold', () => {
    const most = ledgerTransaction('t', [
      { from: 'acquirer', to: 'merchant_pending', amount: Number.MAX_SAFE_INTEGER },
    ]);
    const full = applyToBalances(NO_BALANCES, most);
    expect(() => applyToBalances(full, most)).toThrow(RangeError);
  });

  test('Balances may return to zero', () => {
    const sale = ledgerTransaction('a', [{ from: 'acquirer', to: 'merchant_pending', amount: 5 }]);
    const refund = ledgerTransaction('b', [{ from: 'merchant_pending', to: 'acquirer', amount: 5 }]);
    expect(applyToBalances(applyToBalances(NO_BALANCES, sale), refund)).toEqual(NO_BALANCES);
  });
});

describe('cents that come in', () => {
  test.each([
    [0, 1_000, { merchant_balance: 1_000, merchant_receivable: 0 }],
    [300, 1_000, { merchant_balance: 700, merchant_receivable: 0 }],
    [1_000, 1_000, { merchant_balance: 0, merchant_receivable: 0 }],
    [1_500, 1_000, { merchant_balance: 0, merchant_receivable: -500 }],
  ])('Where %d cents are owed, %d incoming cents settle the debt first: %j', (owed, amount, expected) => {
    const before = { ...NO_BALANCES, merchant_receivable: 0 - owed };
    const transaction = ledgerTransaction('t', creditWithRecovery('received', amount, before));
    expect(applyToBalances(before, transaction)).toEqual({ ...before, ...expected, received: -amount });
  });

  test.each([
    [700, 0, 700],
    [1_000, 0, 1_000],
    [1_300, 300, 1_000],
  ])('Of %d cents that are taken from a balance of 1,000, %d become a debt', (amount, owed, taken) => {
    const before = { ...NO_BALANCES, merchant_balance: 1_000 };
    const transaction = ledgerTransaction('t', takeOrOwe('refunds_in_transit', amount, before));
    expect(applyToBalances(before, transaction)).toEqual({
      ...before,
      merchant_balance: 1_000 - taken,
      merchant_receivable: 0 - owed,
      refunds_in_transit: amount,
    });
  });
});
