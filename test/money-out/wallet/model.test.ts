import { describe, expect, test } from 'vitest';
import {
  InsufficientFundsError,
  PreconditionError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import {
  assertLive,
  decideCredit,
  decideCreditLtc,
  isSameWallet,
  isWallet,
  walletOf,
} from '../../../server/src/money-out/wallet/model.ts';
import {
  assertLtcWithdrawable,
  assertWithdrawable,
  withdrawableOf,
} from '../../../server/src/state/ledger/funds.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';

const HALF = Math.floor(Number.MAX_SAFE_INTEGER / 2);
const balances = (given: Partial<Balances>): Balances => ({ ...NO_BALANCES, ...given });

const HELD = balances({
  merchant_balance: 10_000,
  merchant_subaccounts: 3_000,
  merchant_pending: 700,
  dispute_hold: 2_500,
  merchant_ltc: 42,
});

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('a wallet', () => {
  test('A wallet shows balance − disputes − subaccounts, and each of these', () => {
    expect(walletOf('live', HELD, 3_000)).toEqual({
      environment: 'live',
      balanceCents: 13_000,
      disputeBlockedCents: 2_500,
      withdrawableCents: 7_500,
      pendingReleaseCents: 700,
      receivableCents: 0,
      subaccountsBalanceCents: 3_000,
      assignableCents: 7_500,
      cryptoBalanceLitoshi: 42,
    });
  });

  test('A wallet without the subaccounts’ sum subtracts none, and has no assignable amount', () => {
    expect(walletOf('sandbox', HELD, null)).toMatchObject({
      environment: 'sandbox',
      withdrawableCents: 10_500,
      subaccountsBalanceCents: null,
      assignableCents: null,
    });
    // A debit takes the merchant's own money, too.
    expect(withdrawableOf(HELD)).toBe(7_500);
  });

  test('A wallet is never below 0, however much is disputed', () => {
    const disputed = balances({ merchant_balance: 100, dispute_hold: 101 });
    expect(walletOf('live', disputed, 0).withdrawableCents).toBe(0);
    expect(withdrawableOf(disputed)).toBe(0);
  });

  test('A wallet is distinguished from balances, and from another wallet', () => {
    const wallet = walletOf('live', HELD, 3_000);
    expect(isWallet(wallet)).toBe(true);
    expect(isWallet(HELD)).toBe(false);
    expect(isSameWallet(wallet, { ...wallet })).toBe(true);
    for (const field of Object.keys(wallet))
      expect(isSameWallet(wallet, { ...wallet, [field]: 'other' })).toBe(false);
  });
});

describe('a debit', () => {
  test('A debit takes the withdrawable amount to the cent, and not one more', () => {
    expect(() => assertWithdrawable(HELD, 7_500)).not.toThrow();
    const refusal = thrown(() => assertWithdrawable(HELD, 7_501));
    expect(refusal).toBeInstanceOf(InsufficientFundsError);
    expect(refusal).toMatchObject({
      requestedCents: 7_501,
      withdrawableCents: 7_500,
      balanceCents: 13_000,
      disputeBlockedCents: 2_500,
      subaccountsBalanceCents: 3_000,
      cryptoBalanceLitoshi: null,
    });
  });

  test('A debit in LTC takes the balance to the litoshi', () => {
    expect(() => assertLtcWithdrawable(HELD, { amountCents: 99_999, litoshi: 42 })).not.toThrow();
    expect(thrown(() => assertLtcWithdrawable(HELD, { amountCents: 5, litoshi: 43 }))).toMatchObject({
      constructor: InsufficientFundsError,
      requestedCents: 5,
      withdrawableCents: 7_500,
      cryptoBalanceLitoshi: 42,
    });
  });
});

describe('what comes in', () => {
  test('A credit covers the debt first, and the rest adds to the balance', () => {
    const owing = balances({ merchant_receivable: -300, acquirer: 0 });
    const credit = decideCredit(1_000, { id: 'crd_1', balances: owing });
    expect(credit.id).toBe('credit:crd_1');
    expect(applyToBalances(owing, credit)).toEqual(balances({ merchant_balance: 700, received: -1_000 }));
  });

  test('A credit in LTC adds to the LTC balance', () => {
    const credit = decideCreditLtc(70, { id: 'crd_1', balances: NO_BALANCES });
    expect(credit.id).toBe('credit_ltc:crd_1');
    expect(applyToBalances(NO_BALANCES, credit)).toEqual(balances({ merchant_ltc: 70, ltc_received: -70 }));
  });

  const LARGEST = 10_000_000_000;
  const LARGEST_LTC = 100_000_000_000_000;
  const CONTROLS = {
    credit: {
      path: 'amountCents',
      largest: LARGEST,
      do: (amount: number, held: number) =>
        decideCredit(amount, { id: 'a', balances: balances({ received: -held }) }),
    },
    'credit in LTC': {
      path: 'amountLitoshi',
      largest: LARGEST_LTC,
      do: (amount: number, held: number) =>
        decideCreditLtc(amount, { id: 'a', balances: balances({ ltc_received: -held }) }),
    },
  };
  test.each(Object.entries(CONTROLS))(
    'The amount of a %s is a whole number from 1 to its upper limit',
    (_, control) => {
      expect(() => control.do(1, 0)).not.toThrow();
      expect(() => control.do(control.largest, 0)).not.toThrow();
      for (const amount of [0, -1, 0.5, 1.5, Number.NaN, control.largest + 1])
        expect(thrown(() => control.do(amount, 0))).toMatchObject({
          constructor: ValidationError,
          fields: [{ path: control.path }],
        });
    },
  );

  test.each(Object.entries(CONTROLS))('A %s is accepted up to half of what can be counted', (_, control) => {
    expect(() => control.do(5, HALF - 5)).not.toThrow();
    expect(thrown(() => control.do(5, HALF - 4))).toMatchObject({
      constructor: PreconditionError,
      code: 'LIMIT_REACHED',
    });
  });

  test('Credits and disputes are for live accounts alone', () => {
    expect(() => assertLive('live')).not.toThrow();
    expect(thrown(() => assertLive('sandbox'))).toMatchObject({ code: 'NOT_IN_SANDBOX' });
  });
});
