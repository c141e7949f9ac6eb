import { describe, expect, test } from 'vitest';
import { PreconditionError } from '../../../server/src/kernel/errors.ts';
import {
  assertSandbox,
  createTestPaymentInput,
  decideSettle,
  decideTestPayment,
  isTestPaymentId,
} from '../../../server/src/money-in/sandbox/model.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const LATER = new Date('2026-03-03T12:00:00.000Z');
const HALF = Math.floor(Number.MAX_SAFE_INTEGER / 2);
const balances = (given: Partial<Balances>): Balances => ({ ...NO_BALANCES, ...given });

function make(valueCents: number, pending?: boolean | null, before: Balances = NO_BALANCES) {
  return decideTestPayment({ valueCents, pending }, { id: 'test_1', balances: before, now: NOW });
}

describe('a test payment', () => {
  test.each([false, undefined, null])('A test payment is paid at once (pending: %s)', (pending) => {
    const { payment, transaction } = make(500, pending);
    expect(payment).toEqual({ id: 'test_1', valueCents: 500, status: 'paid', createdAt: NOW, paidAt: NOW });
    expect(transaction.id).toBe('test_payment.created:test_1');
    expect(applyToBalances(NO_BALANCES, transaction)).toEqual(
      balances({ merchant_balance: 500, received: -500 }),
    );
    expect(decideSettle(payment, LATER)).toBeNull();
  });

  test('A pending test payment is marked as paid once', () => {
    const { payment, transaction } = make(500, true);
    expect(payment).toMatchObject({ status: 'pending', createdAt: NOW, paidAt: null });
    const held = applyToBalances(NO_BALANCES, transaction);
    expect(held).toEqual(balances({ merchant_pending: 500, received: -500 }));

    const settled = decideSettle(payment, LATER)!;
    expect(settled.payment).toEqual({ ...payment, status: 'paid', paidAt: LATER });
    expect(settled.transaction.id).toBe('test_payment.settled:test_1');
    expect(applyToBalances(held, settled.transaction)).toEqual(
      balances({ merchant_balance: 500, received: -500 }),
    );
    expect(decideSettle(settled.payment, LATER)).toBeNull();
  });

  test('A test payment is accepted up to half of what can be counted', () => {
    expect(() => make(5, false, balances({ received: 5 - HALF }))).not.toThrow();
    expect(() => make(5, false, balances({ received: 4 - HALF }))).toThrow(
      expect.objectContaining({ constructor: PreconditionError, code: 'LIMIT_REACHED' }),
    );
  });

  test('A test payment is for test keys alone', () => {
    expect(() => assertSandbox('sandbox')).not.toThrow();
    expect(() => assertSandbox('live')).toThrow(
      expect.objectContaining({ constructor: PreconditionError, code: 'ONLY_IN_SANDBOX' }),
    );
  });

  test.each([
    ['test_0123456789abcdef01234567', true],
    ['test_0123456789abcdef0123456', false],
    ['test_0123456789abcdef012345678', false],
    ['test_0123456789abcdef0123456g', false],
    ['xtest_0123456789abcdef01234567', false],
    ['test_0123456789abcdef01234567x', false],
  ])('A test payment may have the id %j: %s', (id, may) => {
    expect(isTestPaymentId(id)).toBe(may);
  });
});

describe('a request for a test payment', () => {
  test.each([
    { valueCents: 1 },
    { valueCents: 10_000_000_000, pending: true },
    { valueCents: 5, pending: false },
    { valueCents: 5, pending: null },
  ])('A request for a test payment may be %j', (input) => {
    expect(createTestPaymentInput.parse(input)).toEqual(input);
  });

  test.each<[string, Record<string, unknown>]>([
    ['amountCents', {}],
    ['amountCents', { valueCents: 5, amountCents: 5 }],
    ['amountCents', { amountCents: 0 }],
    ['valueCents', { valueCents: 0 }],
    ['valueCents', { valueCents: -1 }],
    ['valueCents', { valueCents: 1.5 }],
    ['valueCents', { valueCents: '5' }],
    ['valueCents', { valueCents: 10_000_000_001 }],
    ['pending', { valueCents: 5, pending: 'yes' }],
  ])('A request for a test payment is refused for its %s: %j', (field, input) => {
    const { error } = createTestPaymentInput.safeParse(input);
    expect([...new Set(error!.issues.map(({ path }) => path.join('.')))]).toEqual([field]);
  });
});
