import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import {
  InsufficientFundsError,
  RateLimitError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import {
  METHODS,
  PAYOUT_METHODS,
  type PayoutMethod,
} from '../../../server/src/kernel/payout-methods/registry.ts';
import {
  decideOutcome,
  decideRequest,
  type PayoutChange,
  SEND_RETRY_MS,
  type TransferOutcome,
} from '../../../server/src/money-out/payouts/decisions.ts';
import { type RecentPayouts, withOneMore } from '../../../server/src/money-out/payouts/limits.ts';
import {
  type AccountSettings,
  isFinal,
  isPayoutCode,
  isWithdrawalId,
  maskDestination,
  netCents,
  netLitoshi,
  newPayoutCode,
  nextStatuses,
  type OwnPayout,
  payoutFromJson,
  requestPayoutInput,
} from '../../../server/src/money-out/payouts/model.ts';
import { withdrawableOf } from '../../../server/src/state/ledger/funds.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { DESTINATIONS, FEES } from '../../support/payout-methods.ts';
import { generated } from '../../support/scale.ts';
import { PAYOUT } from './examples.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const HOUR = 3_600_000;
const NONE: RecentPayouts = { all: [], byMethod: {} };
const KEY = DESTINATIONS.pix;

describe('a request for a payout', () => {
  test.each(PAYOUT_METHODS)('a request by %s for one cent is valid', (method) => {
    const input = { method, amountCents: 1, destination: DESTINATIONS[method] };
    expect(requestPayoutInput.parse(input)).toEqual(input);
  });

  test('a request has its destination in the normal form', () => {
    const input = { method: 'pix', amountCents: 1, destination: '123.456.789-09', idempotencyKey: null };
    expect(requestPayoutInput.parse(input)).toEqual({ ...input, destination: '12345678909' });
  });

  const cases: [string, unknown][] = [
    ...[undefined, null, '', 'PIX', 'unknown', 'no_method', 5].map((value): [string, unknown] => [
      'method',
      value,
    ]),
    ...[undefined, null, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '1'].map(
      (value): [string, unknown] => ['amountCents', value],
    ),
    ...[undefined, null, '', 5, 'x', '12345678900', DESTINATIONS.ltc, 'with \u0000', '\ud83e'].map(
      (value): [string, unknown] => ['destination', value],
    ),
    ...['', ' ', 'a b ', 'é', 'x'.repeat(129), 5, '\u0000'].map((value): [string, unknown] => [
      'idempotencyKey',
      value,
    ]),
  ];
  test.each(cases)('a request is refused by the name of its %s: %j', (field, value) => {
    const { success, error } = requestPayoutInput.safeParse({
      method: 'pix',
      amountCents: 100,
      destination: KEY,
      [field]: value,
    });
    expect(success).toBe(false);
    expect(error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
  });

  test.each(PAYOUT_METHODS)('a request by %s accepts no destination of another method', (method) => {
    for (const other of PAYOUT_METHODS) {
      const taken = requestPayoutInput.safeParse({
        method,
        amountCents: 1,
        destination: DESTINATIONS[other],
      }).success;
      expect(taken).toBe(DESTINATIONS[other] === DESTINATIONS[method]);
    }
  });
});

describe('rules', () => {
  test('a payout begins pending and debited, and is sent at once', () => {
    const change = request();
    expect(change.payout).toEqual({
      ...PAYOUT,
      withdrawalId: '0'.repeat(24),
      code: `SAQ-${'0'.repeat(12)}`,
      amountCents: 1_000,
      destination: KEY,
      requestedAt: NOW,
    });
    expect(change.steps).toEqual([{ previous: null, payout: change.payout }]);
    expect(change.sendAt).toEqual(NOW);
    expect(change.transactions.map(({ id }) => id)).toEqual([`payout.requested:${'0'.repeat(24)}`]);
    expect(balancesAfter(RICH, change)).toEqual({
      ...RICH,
      merchant_balance: RICH.merchant_balance - 1_000,
      payouts_in_transit: 1_000,
    });
  });

  test('a payout in LTC debits litoshi alone, as many as were quoted', () => {
    const change = request({ method: 'ltc', amountCents: 1_000 });
    expect(balancesAfter(RICH, change)).toEqual({
      ...RICH,
      merchant_ltc: RICH.merchant_ltc - 1_633_000,
      ltc_in_transit: 1_633_000,
    });
    const poor = { ...RICH, merchant_ltc: 1_632_999 };
    expect(() => request({ method: 'ltc', amountCents: 1_000 }, { balances: poor })).toThrow(
      InsufficientFundsError,
    );
    expect(netLitoshi(request().payout)).toBeNull();
  });

  test('an amount no larger than the fee is refused by its name', () => {
    expect(() => request({ amountCents: 100 })).toThrow(
      expect.objectContaining({ fields: [{ path: 'input.amountCents', message: expect.any(String) }] }),
    );
  });

  test('a payout by PIX above the ceiling of the account is refused with the figure, one by another method is not', () => {
    const account = { payoutFeesCents: FEES, pixMaxCents: 1_500_000 };
    const balances = { ...RICH, merchant_balance: 9_000_000 };
    const asking = (method: PayoutMethod, amountCents: number) => () =>
      request({ method, amountCents }, { account, balances });
    for (const method of ['pix', 'pix_turbo'] as const) {
      expect(asking(method, 1_500_000)).not.toThrow();
      expect(asking(method, 1_500_001)).toThrow(
        expect.objectContaining({
          fields: [
            { path: 'input.amountCents', message: expect.stringContaining('at most 1500000 (R$ 15.000,00)') },
          ],
        }),
      );
    }
    expect(asking('usd', 1_500_001)).not.toThrow();
  });

  test('a payout in LTC that leaves less than the network carries is refused, after the fee and with both figures', () => {
    const leaving = (amountCents: number) => () => request({ method: 'ltc', amountCents });
    // 1,633 litoshi a cent: three cents are 4,899, four are 6,532.
    for (const cents of [1, 3])
      expect(leaving(FEES.ltc + cents)).toThrow(
        expect.objectContaining({
          fields: [
            { path: 'input.amountCents', message: expect.stringContaining('0.00005460 LTC after the fee') },
          ],
        }),
      );
    expect(leaving(FEES.ltc + 3)).toThrow('it leaves 0.00004899 LTC');
    expect(leaving(FEES.ltc + 4)).not.toThrow();
    expect(() => request({ method: 'usd', amountCents: FEES.usd + 1 })).not.toThrow();
  });

  test('a refusal has the longest wait, and the limit that it comes from', () => {
    const ago = (ms: number) => plusMs(NOW, -ms);
    const refusal = (method: PayoutMethod, recent: RecentPayouts) => {
      try {
        request({ method }, { recent });
      } catch (error) {
        return error;
      }
      return undefined;
    };
    const ten = [...Array(9).fill(NOW), ago(HOUR - 5_000)];
    const five = [...Array(4).fill(NOW), ago(HOUR - 9_000)];
    expect(refusal('pix', { all: ten, byMethod: { pix_turbo: five } })).toMatchObject({
      constructor: RateLimitError,
      retryAfterSeconds: 5,
      limit: '10 withdrawals an hour',
    });
    expect(refusal('pix_turbo', { all: ten, byMethod: { pix_turbo: five } })).toMatchObject({
      retryAfterSeconds: 9,
      limit: '5 turbo withdrawals an hour',
    });
    const later = [...Array(9).fill(NOW), ago(HOUR - 20_000)];
    expect(refusal('pix_turbo', { all: later, byMethod: { pix_turbo: five } })).toMatchObject({
      retryAfterSeconds: 20,
    });
    expect(
      refusal('pix_turbo', { all: ten.slice(1), byMethod: { pix_turbo: five.slice(1) } }),
    ).toBeUndefined();
    // An hour later, to the millisecond, the payout is accepted; before, the wait is rounded up to seconds.
    expect(refusal('pix', { all: [...Array(9).fill(NOW), ago(HOUR)], byMethod: {} })).toBeUndefined();
    expect(refusal('pix', { all: [...Array(9).fill(NOW), ago(HOUR - 1)], byMethod: {} })).toMatchObject({
      retryAfterSeconds: 1,
    });
  });

  test('an instant far ahead of the clock, from before it was set back, blocks no payout', () => {
    const request10 = (at: Date) =>
      request({ method: 'pix' }, { recent: { all: Array(10).fill(at), byMethod: {} } });
    expect(request10(plusMs(NOW, 24 * HOUR)).payout.status).toBe('pending');
    expect(() => request10(plusMs(NOW, 59_000))).toThrow(RateLimitError);
  });

  test('the newest payouts are remembered, as many as the limits count, newest first', () => {
    const at = (minutes: number) => plusMs(NOW, minutes * 60_000);
    const make = (method: PayoutMethod, requestedAt: Date) => ({ ...request().payout, method, requestedAt });
    const recent = Array.from({ length: 12 }, (_, index) => index).reduce(
      (known, index) => withOneMore(known, make(index % 2 === 0 ? 'pix_turbo' : 'pix', at(index))),
      NONE,
    );
    expect(recent.all).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2].map(at));
    expect(recent.byMethod).toEqual({ pix_turbo: [10, 8, 6, 4, 2].map(at) });
  });

  test('only a turbo payout is ever processing, and no status follows an end but the return of a PIX', () => {
    const next = (method: PayoutMethod) =>
      (['pending', 'processing', 'completed', 'denied', 'returned'] as const).map((status) =>
        nextStatuses({ method, status }),
      );
    const ends = ['completed', 'denied'];
    expect(next('pix_turbo')).toEqual([['processing', 'denied'], ends, ['returned'], [], []]);
    expect(next('pix')).toEqual([ends, ends, ['returned'], [], []]);
    for (const method of ['ltc', 'usd'] as const) expect(next(method)).toEqual([ends, ends, [], [], []]);
  });

  test('ids and codes have their forms', () => {
    const id = '0123456789abcdef01234567';
    expect(isWithdrawalId(id)).toBe(true);
    for (const other of ['', id.slice(1), `${id}0`, `x${id}`, id.replace('f', 'g'), id.toUpperCase()])
      expect(isWithdrawalId(other)).toBe(false);
    const codes = Array.from({ length: 50 }, newPayoutCode);
    expect(new Set(codes).size).toBe(50);
    expect(codes.every(isPayoutCode)).toBe(true);
    const code = 'SAQ-0123456789AB';
    expect(isPayoutCode(code)).toBe(true);
    for (const other of ['', code.slice(1), `${code}0`, `x${code}`, 'SAQ-0123456789Ab', 'SAQ-01234567'])
      expect(isPayoutCode(other)).toBe(false);
  });

  test('an amount must be more than the fee', () => {
    for (const method of PAYOUT_METHODS) {
      expect(() => request({ method, amountCents: FEES[method] })).toThrow(ValidationError);
      const leastCents = method === 'ltc' ? 4 : 1;
      expect(netCents(request({ method, amountCents: FEES[method] + leastCents }).payout)).toBe(leastCents);
    }
  });

  test('the checks run in their order: the fee, then the limits, then the funds', () => {
    const reached: RecentPayouts = { all: Array(10).fill(NOW), byMethod: {} };
    const poor = { recent: reached, balances: NO_BALANCES };
    expect(() => request({ amountCents: 100 }, poor)).toThrow(ValidationError);
    expect(() => request({ amountCents: 101 }, poor)).toThrow(RateLimitError);
    expect(() => request({ amountCents: 101 }, { balances: NO_BALANCES })).toThrow(InsufficientFundsError);
  });

  test('a debit is at most the withdrawable amount, for any balances', () => {
    fc.assert(
      fc.property(anyBalances, fc.integer({ min: 101, max: 1_000_000 }), (balances, amountCents) => {
        const most = withdrawableOf(balances);
        if (amountCents > most)
          expect(() => request({ amountCents }, { balances })).toThrow(InsufficientFundsError);
        else
          expect(
            balancesAfter(balances, request({ amountCents }, { balances })).merchant_balance,
          ).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('the net litoshi are never more than their share, and short of it by less than one', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 8_400_000_000_000_000n }),
        fc.integer({ min: 2, max: Number.MAX_SAFE_INTEGER }),
        fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
        (litoshi, amountCents, fee) => {
          const feeCents = fee % amountCents;
          const net = netLitoshi({ amountCents, feeCents, litoshi: Number(litoshi) })!;
          const rest = litoshi * BigInt(amountCents - feeCents) - BigInt(net) * BigInt(amountCents);
          expect(rest >= 0n && rest < BigInt(amountCents)).toBe(true);
        },
      ),
    );
  });

  test('any hour has at most ten payouts, five of them turbo, and a caller who waits as long as the refusal says succeeds', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(fc.constantFrom<PayoutMethod>('pix', 'pix_turbo'), fc.integer({ min: 0, max: HOUR / 6 })),
          {
            maxLength: 60,
          },
        ),
        (steps) => {
          let recent = NONE;
          let now = NOW;
          const made: { at: Date; method: PayoutMethod }[] = [];
          for (const [method, wait] of steps) {
            now = plusMs(now, wait);
            try {
              const { payout } = request({ method, amountCents: 1_000 }, { recent, now });
              recent = withOneMore(recent, payout);
              made.push({ at: now, method });
            } catch (error) {
              if (!(error instanceof RateLimitError)) throw error;
              const later = plusMs(now, error.retryAfterSeconds * 1_000);
              request({ method, amountCents: 1_000 }, { recent, now: later });
              const early = plusMs(now, (error.retryAfterSeconds - 1) * 1_000);
              expect(() => request({ method, amountCents: 1_000 }, { recent, now: early })).toThrow(
                RateLimitError,
              );
            }
          }
          for (const { at } of made) {
            const within = made.filter((other) => other.at <= at && other.at.getTime() > at.getTime() - HOUR);
            expect(within.length).toBeLessThanOrEqual(10);
            expect(within.filter(({ method }) => method === 'pix_turbo').length).toBeLessThanOrEqual(5);
          }
        },
      ),
    );
  });
});

describe('what the bank says', () => {
  const anyOutcome: fc.Arbitrary<TransferOutcome> = fc.oneof(
    fc.record({
      status: fc.constantFrom('in_verification' as const, 'queued' as const, 'sent' as const),
      until: fc.constantFrom(null, plusMs(NOW, -1), NOW, plusMs(NOW, 60_000)),
    }),
    fc.constantFrom<TransferOutcome>(
      { status: 'completed', receipt: { endToEndId: 'E1' } },
      { status: 'returned', receipt: { endToEndId: 'E1' } },
    ),
    fc.constantFrom<TransferOutcome>(
      { status: 'denied', reason: 'Conta encerrada' },
      { status: 'refused', reason: 'Bloqueado' },
    ),
  );

  test('a status never goes back and no money appears or is lost, whatever the bank answers in whatever order', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...PAYOUT_METHODS),
        fc.array(anyOutcome, { maxLength: 12 }),
        (method, outcomes) => {
          let change: PayoutChange | null = request({ method, amountCents: 1_000 });
          let payout = change.payout;
          let balances = balancesAfter(RICH, change);
          for (const outcome of outcomes) {
            // No chain returns a payment.
            if (outcome.status === 'returned' && !METHODS[method].rail.comesBack) continue;
            const comesBack = payout.status === 'completed' && outcome.status === 'returned';
            change = decideOutcome(payout, { outcome, environment: 'live', balances, now: NOW });
            if (isFinal(payout.status)) expect(change !== null).toBe(comesBack);
            if (change === null) continue;
            let status: OwnPayout['status'] | null = payout.status;
            for (const step of change.steps) {
              expect(step.previous).toBe(status);
              expect(nextStatuses({ method, status: status! })).toContain(step.payout.status);
              status = step.payout.status;
            }
            expect(change.payout.version).toBe(payout.version + change.steps.length);
            // Either the payout is final, or it is looked up again, later than now.
            expect(change.sendAt !== null && change.sendAt > NOW).toBe(!isFinal(change.payout.status));
            payout = change.payout;
            balances = balancesAfter(balances, change);
          }
          if (payout.status === 'denied' || payout.status === 'returned') expect(balances).toEqual(RICH);
          expect(payout.returnedAt !== null).toBe(payout.status === 'returned');
          if (payout.status === 'completed') {
            expect(balances.payouts_in_transit + balances.ltc_in_transit).toBe(0);
            expect(balances.paid_out).toBe(method === 'ltc' ? 0 : 1_000 - FEES[method]);
            expect(balances.platform_fees).toBe(method === 'ltc' ? 0 : FEES[method]);
          }
          expect(payout.processedAt !== null).toBe(isFinal(payout.status));
          expect(payout.deniedReason !== null).toBe(payout.status === 'denied');
          expect(payoutFromJson(JSON.parse(JSON.stringify(payout)))).toEqual(payout);
        },
      ),
      { numRuns: generated(500) },
    );
  });

  test('a payout that comes back repays what the merchant owes before it is in the balance', () => {
    const sent = request();
    const outcome = (status: 'completed' | 'returned'): TransferOutcome => ({
      status,
      receipt: { endToEndId: 'E1' },
    });
    const decide = (payout: OwnPayout, balances: Balances, status: 'completed' | 'returned') =>
      decideOutcome(payout, { outcome: outcome(status), environment: 'live', balances, now: NOW })!;
    const arrived = decide(sent.payout, balancesAfter(RICH, sent), 'completed');
    const owing: Balances = {
      ...balancesAfter(balancesAfter(RICH, sent), arrived),
      merchant_balance: 0,
      merchant_receivable: -300,
    };
    const back = decide(arrived.payout, owing, 'returned');
    expect(back.payout).toMatchObject({ status: 'returned', returnedAt: NOW, endToEndId: 'E1' });
    expect(balancesAfter(owing, back)).toMatchObject({
      merchant_balance: 700,
      merchant_receivable: 0,
      paid_out: 0,
      platform_fees: 0,
    });
    // The transfer may arrive and be returned between two lookups.
    const both = decide(sent.payout, balancesAfter(RICH, sent), 'returned');
    expect(both.steps.map((step) => step.payout.status)).toEqual(['completed', 'returned']);
    expect(balancesAfter(balancesAfter(RICH, sent), both)).toEqual(RICH);
  });

  test.each([
    [null, SEND_RETRY_MS],
    [plusMs(NOW, -5), SEND_RETRY_MS],
    [NOW, SEND_RETRY_MS],
    [plusMs(NOW, 60_000), 60_000],
  ])(
    'the next look at the bank is at its instant, and soon where that is none or past: %s',
    (until, afterMs) => {
      const { payout } = request();
      const change = decideOutcome(payout, {
        outcome: { status: 'queued', until },
        environment: 'live',
        balances: RICH,
        now: NOW,
      });
      expect(change).toMatchObject({ payout, steps: [], transactions: [], sendAt: plusMs(NOW, afterMs) });
    },
  );

  const changeBy = (payout: OwnPayout, outcome: TransferOutcome, balances = RICH) =>
    decideOutcome(payout, { outcome, environment: 'live', balances, now: NOW })!;
  const ARRIVED: TransferOutcome = { status: 'completed', receipt: { endToEndId: 'E1' } };

  test('a transfer that is on its way changes nothing, but makes a turbo payout processing', () => {
    for (const method of PAYOUT_METHODS)
      for (const status of ['in_verification', 'queued', 'sent'] as const) {
        const { payout } = request({ method });
        const change = changeBy(payout, { status, until: null });
        const leaves = method === 'pix_turbo' && status === 'sent';
        expect(change.payout).toEqual(leaves ? { ...payout, status: 'processing', version: 2 } : payout);
        expect(change.steps).toHaveLength(leaves ? 1 : 0);
        expect(change).toMatchObject({ transactions: [], sendAt: plusMs(NOW, SEND_RETRY_MS) });
      }
  });

  test('a transfer that has arrived completes the payout, the fee kept', () => {
    const { payout } = request();
    const change = changeBy(payout, ARRIVED);
    expect(change.payout).toEqual({
      ...payout,
      status: 'completed',
      version: 2,
      processedAt: NOW,
      endToEndId: 'E1',
    });
    expect(change.steps).toEqual([{ previous: 'pending', payout: change.payout }]);
    expect(change.sendAt).toBeNull();
    expect(change.transactions.map(({ id }) => id)).toEqual([`payout.completed:${payout.withdrawalId}`]);
    // The first lookup came after the arrival: the payout was processing in between.
    expect(changeBy(request({ method: 'pix_turbo' }).payout, ARRIVED).steps).toMatchObject([
      { previous: 'pending', payout: { status: 'processing', version: 2 } },
      { previous: 'processing', payout: { status: 'completed', version: 3 } },
    ]);
  });

  test.each(['denied', 'refused'] as const)(
    'a transfer that is %s returns the whole amount, and recovers a debt from it first',
    (status) => {
      const change = request();
      const owing = { ...balancesAfter(RICH, change), merchant_receivable: -300 };
      const back = changeBy(change.payout, { status, reason: 'Conta encerrada' }, owing);
      expect(back.payout).toMatchObject({
        status: 'denied',
        version: 2,
        processedAt: NOW,
        deniedReason: 'Conta encerrada',
      });
      expect(back.sendAt).toBeNull();
      expect(back.transactions.map(({ id }) => id)).toEqual([`payout.denied:${change.payout.withdrawalId}`]);
      expect(balancesAfter(owing, back)).toEqual({
        ...RICH,
        merchant_balance: RICH.merchant_balance - 300,
      });
    },
  );

  test('a step that the transitions do not have is refused', () => {
    const odd = { ...request().payout, method: 'pix_turbo' as const, status: 'unknown' as never };
    expect(() => changeBy(odd, ARRIVED)).toThrow();
  });

  test('a sandbox payout is never denied, whatever a bank answers', () => {
    const outcome = { status: 'denied', reason: 'Não' } as const;
    expect(() =>
      decideOutcome(request().payout, { outcome, environment: 'sandbox', balances: RICH, now: NOW }),
    ).toThrow(RangeError);
  });
});

describe.each(PAYOUT_METHODS)('the destination of %s', (method) => {
  const { mask, isPublic, inText } = METHODS[method].destination;
  const destination = DESTINATIONS[method];

  test('a mask hides two characters of it at least', () => {
    const masked = mask(destination)!;
    expect(masked).toMatch(/[*…]/);
    expect(masked.replaceAll(/[*…]/g, '').length).toBeLessThanOrEqual(destination.length - 2);
    expect(masked).not.toContain(destination);
  });

  test('it is taken out of the text of an error, unless a public ledger shows it', () => {
    const text = `transfer to ${destination} refused`;
    const shown = inText.reduce(
      (left, [pattern, replacement]) => left.replaceAll(pattern, replacement),
      text,
    );
    expect(shown.includes(destination)).toBe(isPublic);
  });
});

test('a PIX key is always masked, an address only where masksPublic is set', () => {
  const mask = (method: PayoutMethod, masksPublic: boolean) =>
    maskDestination({ method, destination: DESTINATIONS[method] }, { masksPublic });
  for (const masksPublic of [true, false])
    for (const method of ['pix', 'pix_turbo'] as const)
      expect(mask(method, masksPublic)).toBe('a***@padaria.example');
  expect(mask('ltc', true)).toBe('ltc1qw…n4n9');
  expect(mask('usd', true)).toBe('TSKvj5…VhxK');
  expect(mask('usd', false)).toBe(DESTINATIONS.usd);
  const unknown = (destination: string) =>
    maskDestination({ method: 'unknown', destination }, { masksPublic: true });
  expect(unknown(DESTINATIONS.ltc)).toBe('ltc1qw…n4n9');
  expect(unknown(DESTINATIONS.usd)).toBe('TSKvj5…VhxK');
  expect(unknown(KEY)).toBe('a***@padaria.example');
  // The name of a member that every object inherits is no method.
  const inherited = 'constructor' as PayoutMethod;
  expect(maskDestination({ method: inherited, destination: KEY }, { masksPublic: true })).toBe(
    'a***@padaria.example',
  );
  expect(unknown('what is it')).toBe('****');
  expect(unknown('a.b.c')).toBe('****');
  expect(maskDestination({ method: 'ltc', destination: 'not one' }, { masksPublic: false })).toBe('not one');
});

const RICH: Balances = {
  ...NO_BALANCES,
  merchant_balance: 1_000_000,
  received: -1_000_000,
  merchant_ltc: 200_000_000,
  ltc_received: -200_000_000,
};

const anyBalances = fc
  .record({
    merchant_balance: fc.nat(1_000_000),
    merchant_subaccounts: fc.nat(1_000_000),
    dispute_hold: fc.nat(1_000_000),
    merchant_pending: fc.nat(1_000_000),
  })
  .map((balances) => ({ ...NO_BALANCES, ...balances }));

function request(
  { method = 'pix', amountCents = 1_000 }: { method?: PayoutMethod; amountCents?: number } = {},
  facts: { recent?: RecentPayouts; balances?: Balances; account?: AccountSettings; now?: Date } = {},
): PayoutChange {
  return decideRequest(
    { method, amountCents, destination: DESTINATIONS[method] },
    {
      withdrawalId: '0'.repeat(24),
      code: `SAQ-${'0'.repeat(12)}`,
      litoshi: method === 'ltc' ? amountCents * 1_633 : null,
      account: { payoutFeesCents: FEES, pixMaxCents: null },
      recent: NONE,
      balances: RICH,
      now: NOW,
      ...facts,
    },
  );
}

function balancesAfter(balances: Balances, { transactions }: PayoutChange): Balances {
  return transactions.reduce(applyToBalances, balances);
}
