import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import {
  NotFoundError,
  PreconditionError,
  UpstreamError,
  ValidationError,
} from '../../../server/src/kernel/errors.ts';
import {
  type CardPaymentChange,
  type ChargeOutcome,
  decideCharge,
  decideCreate,
  decideExpire,
  decideOutcome,
  decideRelease,
  RESOLVE_AFTER_MS,
} from '../../../server/src/money-in/card-payments/decisions.ts';
import {
  assertCardsAvailable,
  cardPaymentFromJson,
  createCardPaymentInput,
  isAnyOrderCode,
  isFinal,
  isOrderCode,
  MAX_DECLINED_CHARGES,
  newOrderCode,
  type StoredCardPayment,
} from '../../../server/src/money-in/card-payments/model.ts';
import { returnOf } from '../../../server/src/money-in/card-payments/returning.ts';
import {
  assertCallbackUrl,
  assertTokenFree,
  CHECKOUT_SESSION_MS,
  checkoutAmount,
  customerOf,
  grantAtStart,
  keptPaymentOf,
  startCheckoutInput,
} from '../../../server/src/money-in/checkout/model.ts';
import { fitsBalance } from '../../../server/src/money-in/receiving/model.ts';
import { applyToBalances, type Balances, NO_BALANCES } from '../../../server/src/state/ledger/postings.ts';
import { generated } from '../../support/scale.ts';

const NOW = new Date('2026-03-02T12:00:00.000Z');
const EXPIRY = plusMs(NOW, CHECKOUT_SESSION_MS);
const ACCOUNT = { cardPaymentsEnabled: true, cardReleaseDays: 14 };
const APPROVED: ChargeOutcome = { status: 'approved' };
const DECLINED: ChargeOutcome = { status: 'declined', reason: 'Saldo insuficiente', final: false };

describe('a request for a card payment', () => {
  const long = (length: number) => 'a'.repeat(length);
  const url = (length: number) => `https://shop.example/${long(length - 'https://shop.example/'.length)}`;

  test.each<[string, Record<string, unknown>]>([
    ['the smallest amount alone', { valueCents: 80 }],
    ['the largest amount', { valueCents: 10_000_000_000 }],
    ['an order of one character', { valueCents: 80, externalId: '7' }],
    ['an order of a hundred', { valueCents: 80, externalId: 'ç'.repeat(100) }],
    ['an order of words and signs', { valueCents: 80, externalId: 'Pedido nº 1042/A · 🧀' }],
    [
      'nulls for all that may be left out',
      {
        valueCents: 80,
        description: null,
        customer: null,
        metadata: null,
        externalId: null,
        callbackUrl: null,
        successUrl: null,
        cancelUrl: null,
        idempotencyKey: null,
      },
    ],
    ['a description of 200 characters', { valueCents: 80, description: long(200) }],
    ['metadata of 2048 characters', { valueCents: 80, metadata: `"${long(2046)}"` }],
    ['metadata that is any JSON', { valueCents: 80, metadata: ' [1, {"a": "\\u0000"}] ' }],
    [
      'URLs of 500 characters',
      { valueCents: 80, callbackUrl: url(500), successUrl: url(500), cancelUrl: url(500) },
    ],
    [
      'pages on a laptop',
      { valueCents: 80, successUrl: 'http://localhost:4000/ok', cancelUrl: 'http://127.0.0.1/no' },
    ],
    [
      'a callback by an international name',
      { valueCents: 80, callbackUrl: 'https://padaria.com.br:8443/a?b=c' },
    ],
    [
      'a customer of whom all is known',
      {
        valueCents: 80,
        customer: { name: long(200), email: `ana@${long(250)}`, externalId: long(200), taxId: '12345678909' },
      },
    ],
    ['a customer of whom little is known', { valueCents: 80, customer: { externalId: 'c-1' } }],
    ['an idempotency key of 128 characters', { valueCents: 80, idempotencyKey: `a.b-c_d:${long(120)}` }],
    ['text beyond the basic plane', { valueCents: 80, description: 'Café 🥐', metadata: '"🥐"' }],
  ])('A request for a card payment may have %s', (_, input) => {
    expect(createCardPaymentInput.safeParse(input)).toEqual({ success: true, data: input });
  });

  const LONE = 'half \ud83e of a pair';
  const NUL = 'with \u0000 inside';
  const cases: [string, unknown, Record<string, unknown>?][] = [
    ['externalId', ''],
    ['externalId', 'x'.repeat(101)],
    ['externalId', 1042],
    ['externalId', { number: 1042 }],
    ['externalId', LONE],
    ['externalId', NUL],
    ['externalId', 'line\nbreak'],
    ['externalId', 'tab\t'],
    ['externalId', 'delete \u007f'],
    ['externalId', 'next line \u0085'],
    ['externalId', 'zero width \u200b'],
    ['externalId', 'right to left \u202e'],
    ['externalId', 'separator \u2028'],
    ['externalId', 'separator \u001f'],
    ['amountCents', undefined, { valueCents: undefined }],
    ['amountCents', null, { valueCents: null }],
    ['amountCents', 80],
    ['valueCents', 0],
    ['valueCents', 79],
    ['valueCents', -80],
    ['valueCents', 80.5],
    ['valueCents', Number.NaN],
    ['valueCents', Number.POSITIVE_INFINITY],
    ['valueCents', 10_000_000_001],
    ['valueCents', Number.MAX_SAFE_INTEGER + 1],
    ['valueCents', '80'],
    ...['description', 'metadata', 'callbackUrl', 'successUrl', 'cancelUrl', 'idempotencyKey'].flatMap(
      (field): [string, unknown][] => [
        [field, ''],
        [field, 5],
        [field, NUL],
        [field, LONE],
      ],
    ),
    ['description', long(201)],
    ['metadata', `"${long(2047)}"`],
    ['metadata', 'not JSON'],
    ['metadata', '{"a":1'],
    ['metadata', "{'a': 1}"],
    ['metadata', { a: 1 }],
    ...['successUrl', 'cancelUrl'].flatMap((field): [string, unknown][] => [
      [field, url(501)],
      [field, 'javascript:alert(1)'],
      [field, 'JaVaScRiPt:alert(1)'],
      [field, 'data:text/html,hello'],
      [field, '/relative'],
      [field, '//shop.example/ok'],
      [field, 'ftp://shop.example'],
      [field, 'https://ana:senha@shop.example'],
      [field, 'https://'],
    ]),
    ...[
      url(501),
      'javascript:alert(1)',
      'https://shop.example@127.0.0.1',
      'https://ana:senha@shop.example',
    ].map((target): [string, unknown] => ['callbackUrl', target]),
    ['customer.name', '', { customer: { name: '' } }],
    ['customer.name', NUL, { customer: { name: NUL } }],
    ['customer.name', LONE, { customer: { name: LONE } }],
    ['customer.name', long(201), { customer: { name: long(201) } }],
    ['customer.email', 'ana', { customer: { email: 'ana' } }],
    ['customer.email', 'ana@b c', { customer: { email: 'ana@b c' } }],
    ['customer.email', long(255), { customer: { email: `${long(250)}@b.br` } }],
    ...['@b.br', 'ana@', 'ana@b@c.br', 'a na@b.br', 'ana@b.br ', ' ana@b.br'].map(
      (email): [string, unknown, Record<string, unknown>] => [
        'customer.email',
        email,
        { customer: { email } },
      ],
    ),
    ['customer.externalId', long(201), { customer: { externalId: long(201) } }],
    ...['', 'Ana', '12345678908', '11111111111', ' 12345678909', '12ABC34501DE36', 12345678909].map(
      (taxId): [string, unknown, Record<string, unknown>] => [
        'customer.taxId',
        taxId,
        { customer: { taxId } },
      ],
    ),
    ['customer', 'Ana', { customer: 'Ana' }],
    ['idempotencyKey', long(129)],
    ['idempotencyKey', 'com espaço'],
    ['idempotencyKey', 'line\n'],
  ];
  test.each([
    'http://shop.example',
    'https://localhost/hook',
    'https://localhost./hook',
    'https://api.localhost',
    'https://printer.local',
    'https://metadata.google.internal',
    'https://intranet',
    'https://127.0.0.1',
    'https://127.1',
    'https://2130706433',
    'https://0x7f000001',
    'https://0x7f.1',
    'https://0177.0.0.1',
    'https://10.0.0.1',
    'https://169.254.169.254/latest/meta-data',
    'https://8.8.8.8',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://[fd00::1]:8443',
    'https://１２７.０.０.１',
    'https://127.0.0.1.',
  ])('A callback URL is accepted on a development machine alone: %s', (callbackUrl) => {
    expect(createCardPaymentInput.safeParse({ valueCents: 80, callbackUrl }).success).toBe(true);
    expect(() => assertCallbackUrl(callbackUrl, false)).toThrow(
      /^input\.callbackUrl: must be a public https URL$/,
    );
  });

  test.each(cases)(
    'A request for a card payment is refused for its %s: %j',
    (field, value, input = { [field]: value }) => {
      const result = createCardPaymentInput.safeParse({ valueCents: 80, ...input });
      expect(result.success).toBe(false);
      expect([...new Set(result.error!.issues.map(({ path }) => path.join('.')))]).toEqual([field]);
    },
  );

  test('A refusal names every wrong field of a card payment', () => {
    const result = createCardPaymentInput.safeParse({
      valueCents: 79,
      metadata: 'x',
      customer: { email: 'x' },
    });
    expect(result.error!.issues.map(({ path }) => path.join('.')).sort()).toEqual([
      'customer.email',
      'metadata',
      'valueCents',
    ]);
  });

  test.each(['x'.repeat(22), 'aZ09_-'.repeat(21), `${'x'.repeat(128)}.2`, `${'x'.repeat(22)}.123`])(
    'A checkout may have the attempt id %j',
    (attemptId) => {
      expect(startCheckoutInput.safeParse({ attemptId }).success).toBe(true);
    },
  );

  test.each([
    'x'.repeat(21),
    'x'.repeat(129),
    ` ${'x'.repeat(22)}`,
    'ç'.repeat(22),
    `${'x'.repeat(22)}.`,
    `${'x'.repeat(22)}.1234`,
    `${'x'.repeat(22)}.a`,
    `${'x'.repeat(22)}\n`,
  ])('A checkout is refused for a guessable or malformed attempt id: %j', (attemptId) => {
    expect(startCheckoutInput.safeParse({ attemptId }).success).toBe(false);
  });
});

describe('a token’s amount', () => {
  const fixed = { amount: { kind: 'fixed', cents: 500 }, reusable: false } as const;
  const range = { amount: { kind: 'range', minCents: 100, maxCents: 200 }, reusable: false } as const;
  test.each([
    [fixed, null, 500],
    [fixed, undefined, 500],
    [fixed, 500, 500],
    [range, 100, 100],
    [range, 200, 200],
  ] as const)('The amount of a token of %j with %s asked is %s', (grant, asked, cents) => {
    expect(checkoutAmount(grant, asked)).toBe(cents);
  });
  test.each([
    [fixed, 499],
    [fixed, 501],
    [range, null],
    [range, undefined],
    [range, 99],
    [range, 201],
  ] as const)('The amount of a token of %j is not %s', (grant, asked) => {
    expect(() => checkoutAmount(grant, asked)).toThrow(
      expect.objectContaining({
        constructor: ValidationError,
        // Without an amount the error names the one that is to be given.
        fields: [
          {
            path: asked == null ? 'input.amountCents' : 'input.valueCents',
            message: expect.stringMatching(/\d/),
          },
        ],
      }),
    );
  });
});

describe('a token’s product', () => {
  const grant = { amount: { kind: 'product', productId: 'a' }, reusable: true } as const;

  test('A token’s product gives its price, and its name where the token has no description', () => {
    expect(grantAtStart(grant, { name: 'Caneca', priceCents: 500 })).toEqual({
      amount: { kind: 'fixed', cents: 500 },
      reusable: true,
      description: 'Caneca',
    });
    const described = { ...grant, description: 'Para Ana' };
    expect(grantAtStart(described, { name: 'Caneca', priceCents: 500 })).toMatchObject({
      description: 'Para Ana',
    });
  });

  test('A token’s product is not sold where it was deleted or its price is unknown', () => {
    expect(() => grantAtStart(grant, null)).toThrow(NotFoundError);
    expect(() => grantAtStart(grant, { name: 'Caneca', priceCents: null })).toThrow(
      expect.objectContaining({ constructor: UpstreamError, retryable: false, moneyMayHaveMoved: false }),
    );
  });

  test('A product is read only where the token names one', () => {
    const fixed = { amount: { kind: 'fixed', cents: 700 }, reusable: false } as const;
    expect(grantAtStart(fixed, null)).toEqual(fixed);
  });
});

test('A single-use token is free again when its last payment has expired or failed', () => {
  expect(() => assertTokenFree(null)).not.toThrow();
  for (const status of ['expired', 'failed'] as const)
    expect(() => assertTokenFree({ status })).not.toThrow();
  for (const [status, code] of [
    ['pending', 'CHECKOUT_TOKEN_USED'],
    ['unknown', 'CHECKOUT_TOKEN_USED'],
    ['paid', 'ORDER_PAID'],
    ['refunded', 'ORDER_REFUNDED'],
  ] as const)
    expect(() => assertTokenFree({ status })).toThrow(
      expect.objectContaining({ constructor: PreconditionError, code }),
    );
});

test('Cards are accepted live, where the account accepts them', () => {
  expect(() => assertCardsAvailable('live', ACCOUNT)).not.toThrow();
  for (const [environment, account, code] of [
    ['sandbox', ACCOUNT, 'NOT_IN_SANDBOX'],
    ['live', { ...ACCOUNT, cardPaymentsEnabled: false }, 'CARD_PAYMENTS_NOT_CONFIGURED'],
  ] as const)
    expect(() => assertCardsAvailable(environment, account)).toThrow(
      expect.objectContaining({ constructor: PreconditionError, code }),
    );
});

test('Order codes are 120 random bits, and those of any service are plain letters', () => {
  const codes = Array.from({ length: 100 }, newOrderCode);
  expect(new Set(codes).size).toBe(100);
  for (const code of codes) expect([isOrderCode(code), isAnyOrderCode(code)]).toEqual([true, true]);
  const code = `PSC-${'A'.repeat(24)}`;
  for (const other of [`x${code}`, `${code}x`, code.slice(0, -1), `${code.slice(0, -1)}a`, 'PSC-', ''])
    expect(isOrderCode(other)).toBe(false);
  for (const other of ['a', 'PEDIDO_1-a', 'x'.repeat(64)]) expect(isAnyOrderCode(other)).toBe(true);
  for (const other of ['', 'x'.repeat(65), 'a b', '../../a', 'a/', ' a', 'a\n'])
    expect(isAnyOrderCode(other)).toBe(false);
});

test('Only the given details of a customer are stored', () => {
  for (const nothing of [null, undefined, {}, { name: null }, { name: undefined, email: null }])
    expect(customerOf(nothing)).toBeNull();
  expect(customerOf({ name: 'Ana', email: null })).toEqual({ name: 'Ana' });
});

describe('a card payment', () => {
  test('A card payment begins with the given details alone', () => {
    const asked = {
      valueCents: 5000,
      description: 'Caneca',
      callbackUrl: 'https://shop.example/hook',
      customer: { name: 'Ana' },
      metadata: '{"a":1}',
      successUrl: 'https://shop.example/ok',
      cancelUrl: 'https://shop.example/no',
    };
    const of = (input: Parameters<typeof decideCreate>[0]) =>
      decideCreate(input, { orderCode: 'PSC-1', checkoutAttempt: 'tok_1', now: NOW }).payment;
    const { valueCents: _, ...rest } = asked;
    expect(of(asked)).toMatchObject({ ...rest, amountCents: 5000, checkoutAttempt: 'tok_1', createdAt: NOW });
    expect(of({ valueCents: 80 })).toMatchObject({
      description: null,
      callbackUrl: null,
      customer: null,
      metadata: null,
      successUrl: null,
      cancelUrl: null,
      openChargeId: null,
      paidChargeId: null,
      paidAt: null,
      refundedAt: null,
      failureReason: null,
      releasedAt: null,
      declinedCharges: 0,
    });
  });

  test('A card payment is read back from JSON unchanged', () => {
    for (const payment of [create().payment, pay(create().payment), { ...create().payment, releasedAt: NOW }])
      expect(cardPaymentFromJson(JSON.parse(JSON.stringify(payment)))).toEqual(payment);
  });

  test('A card payment is charged while the ledger can count its amount', () => {
    const { amountCents } = create().payment;
    const half = Math.floor(Number.MAX_SAFE_INTEGER / 2);
    expect(fitsBalance(amountCents, 0)).toBe(true);
    expect(fitsBalance(amountCents, amountCents - half)).toBe(true);
    expect(fitsBalance(amountCents, amountCents - half - 1)).toBe(false);
  });

  test('A paid payment posts its amount, is released after the account’s days, and is refunded where its attempt was paid', () => {
    const settled = (otherPayments: StoredCardPayment[]) =>
      decideOutcome(open(create().payment), {
        chargeId: 'chg',
        outcome: APPROVED,
        otherPayments: otherPayments.map(ofOrder),
        account: ACCOUNT,
        now: NOW,
      })!;
    const release = { kind: 'card_payment.release', at: plusMs(NOW, 14 * 86_400_000) };
    const { payment, transaction, due, announced } = settled([]);
    expect(payment).toMatchObject({ paidChargeId: 'chg', openChargeId: null, paidAt: NOW, version: 2 });
    expect(transaction!.id).toBe('card_payment.paid:PSC-ONE');
    expect(applyToBalances(NO_BALANCES, transaction!)).toEqual({
      ...NO_BALANCES,
      merchant_pending: 5000,
      acquirer: -5000,
    });
    expect(announced).toBe(true);
    const unpaid = create('one').payment;
    expect(due).toEqual([release]);
    expect(settled([unpaid]).due).toEqual([release]);
  });

  test('A payment whose order was paid before is returned, and never announced as paid', () => {
    const [unpaid, paidOne] = [create('one').payment, pay(create('other').payment)];
    for (const before of [
      create().payment,
      decideExpire(create().payment, { otherPayments: [], now: EXPIRY })!.payment,
    ]) {
      const change = decideOutcome(open(before), {
        chargeId: 'chg',
        outcome: APPROVED,
        otherPayments: [unpaid, paidOne].map(ofOrder),
        account: ACCOUNT,
        now: NOW,
      })!;
      expect(change).toMatchObject({ announced: true, due: [{ kind: 'card_payment.return', at: NOW }] });
      expect(change.payment).toMatchObject({
        status: 'failed',
        failureReason: 'paid_elsewhere',
        returned: true,
        keptPayment: paidOne.orderCode,
        version: before.version + 1,
        paidAt: null,
        refundedAt: null,
        refundingCents: 0,
        refundedCents: 0,
        paidChargeId: 'chg',
      });
      expect(returnOf(change, NOW)).toMatchObject({
        resource: { type: 'card_payment', id: before.orderCode },
        amountCents: 5000,
        cause: 'paid_elsewhere',
        keptPayment: paidOne.orderCode,
        railId: 'chg',
        receivedAt: NOW,
        returnedAt: null,
      });
      expect(applyToBalances(NO_BALANCES, change.transaction!)).toMatchObject({
        acquirer: -5000,
        refunds_in_transit: 5000,
        merchant_pending: 0,
      });
      // This payment does not close the order: the kept payment does.
      const otherPayments = [change.payment, paidOne].map(ofOrder);
      expect(decideCharge(create('third').payment, { ...charge(NOW), otherPayments })).toBe('paid_elsewhere');
      expect(keptPaymentOf(otherPayments)).toBe(paidOne.orderCode);
    }
    expect(returnOf(settle(open(create().payment), APPROVED)!, NOW)).toBeNull();
  });

  test('A transition that does not exist is a fault', () => {
    const failed = { ...open(create().payment), status: 'failed' as const };
    expect(() => settle(failed, APPROVED)).toThrow(RangeError);
  });

  test('A step schedules its own tasks alone', () => {
    const { payment } = create();
    for (const change of [
      settle(open(payment), { status: 'void' }),
      settle(open(payment), DECLINED),
      settle(open(payment), { ...DECLINED, final: true }),
      decideExpire(payment, { otherPayments: [], now: EXPIRY }),
      decideRelease(pay(payment), NO_BALANCES, NOW),
    ])
      expect(change!.due).toEqual([]);
    expect(decideRelease(pay(payment), NO_BALANCES, NOW)!.transaction!.id).toBe(
      'card_payment.released:PSC-ONE',
    );
  });

  test('A finished payment cannot be charged, even before its expiry', () => {
    for (const status of ['paid', 'expired', 'refunded', 'failed'] as const)
      expect(decideCharge({ ...create().payment, status }, charge(NOW))).toBe('not_payable');
  });

  test('A card payment begins pending, for 30 minutes', () => {
    const { payment, due, announced, transaction } = create();
    expect(payment).toMatchObject({ status: 'pending', version: 1, expiresAt: EXPIRY, paidLate: false });
    expect(due).toEqual([{ kind: 'card_payment.expire', at: EXPIRY }]);
    expect(announced).toBe(true);
    expect(transaction).toBeNull();
  });

  test('A card payment can be charged until the millisecond before its expiry', () => {
    const { payment } = create();
    expect(decideCharge(payment, charge(plusMs(EXPIRY, -1)))).toMatchObject({
      payment: { openChargeId: 'chg', status: 'pending', version: 1 },
      due: [{ kind: 'card_payment.resolve', at: plusMs(EXPIRY, RESOLVE_AFTER_MS - 1) }],
      announced: false,
    });
    expect(decideCharge(payment, charge(EXPIRY))).toBe('not_payable');
  });

  test('A card payment expires at its instant and not a millisecond before, with or without an open charge', () => {
    for (const payment of [create().payment, open(create().payment)]) {
      expect(decideExpire(payment, { otherPayments: [], now: plusMs(EXPIRY, -1) })).toBeNull();
      expect(decideExpire(payment, { otherPayments: [], now: EXPIRY })).toMatchObject({
        payment: { status: 'expired', version: 2 },
      });
    }
    expect(decideExpire(pay(create().payment), { otherPayments: [], now: plusMs(EXPIRY, 1) })).toBeNull();
  });

  test.each([
    [-1, false],
    [0, true],
    [1, true],
  ])('A card payment confirmed %s ms after its expiry is paid late: %s', (ms, paidLate) => {
    const at = plusMs(EXPIRY, ms);
    expect(pay(open(create().payment), at)).toMatchObject({ status: 'paid', paidAt: at, paidLate });
  });

  test('A card payment has one charge at a time, and none where its attempt is paid already', () => {
    const { payment } = create();
    expect(decideCharge(open(payment), charge(NOW))).toBe('in_progress');
    expect(
      decideCharge(payment, { ...charge(NOW), otherPayments: [ofOrder(pay(create('other').payment))] }),
    ).toBe('paid_elsewhere');
    expect(
      typeof decideCharge(payment, { ...charge(NOW), otherPayments: [ofOrder(create('other').payment)] }),
    ).toBe('object');
  });

  test('A card payment fails at the fifth declined card, or at a final decline', () => {
    let { payment } = create();
    for (let count = 1; count < MAX_DECLINED_CHARGES; count += 1) {
      payment = settle(open(payment), DECLINED)!.payment;
      expect(payment).toMatchObject({
        status: 'pending',
        declinedCharges: count,
        version: 1,
        openChargeId: null,
      });
    }
    expect(settle(open(payment), DECLINED)).toMatchObject({
      payment: { status: 'failed', version: 2, failureReason: 'Saldo insuficiente' },
      announced: true,
    });
    expect(settle(open(create().payment), { ...DECLINED, final: true })!.payment.status).toBe('failed');
  });

  test('An expired payment stays expired when its last card is declined', () => {
    const expired = decideExpire(open(create().payment), { otherPayments: [], now: EXPIRY })!.payment;
    for (const outcome of [DECLINED, { ...DECLINED, final: true }])
      expect(settle(expired, outcome, EXPIRY)).toMatchObject({
        payment: { status: 'expired' },
        announced: false,
      });
  });

  test.each<ChargeOutcome>([APPROVED, DECLINED, { status: 'void' }, { status: 'pending', settlesAt: null }])(
    'An outcome of a charge that is not open changes nothing: %j',
    (outcome) => {
      const { payment } = create();
      const settled = pay(payment);
      for (const each of [payment, settled, { ...open(payment), openChargeId: 'chg_other' }])
        expect(settle(each, outcome)).toBeNull();
    },
  );

  test.each([
    ['when the acquirer says', plusMs(NOW, 90_000), plusMs(NOW, 90_000)],
    ['soon, where it does not say', null, plusMs(NOW, RESOLVE_AFTER_MS)],
    ['soon, where that has passed already', plusMs(NOW, -1), plusMs(NOW, RESOLVE_AFTER_MS)],
    ['soon, where that is this very instant', NOW, plusMs(NOW, RESOLVE_AFTER_MS)],
  ])('An undecided charge is looked up again %s', (_, settlesAt, at) => {
    expect(settle(open(create().payment), { status: 'pending', settlesAt })).toMatchObject({
      due: [{ kind: 'card_payment.resolve', at }],
      announced: false,
    });
  });

  test('A card payment can be charged again when its charge was made void', () => {
    const { payment } = settle(open(create().payment), { status: 'void' })!;
    expect(payment).toMatchObject({ status: 'pending', openChargeId: null, declinedCharges: 0 });
    expect(typeof decideCharge(payment, charge(NOW))).toBe('object');
  });

  test('A card payment is final when refunded or failed, and in no other state', () => {
    expect(
      (['pending', 'paid', 'expired', 'refunded', 'failed'] as const).filter((status) => isFinal(status)),
    ).toEqual(['refunded', 'failed']);
  });
});

describe('the money of a sale', () => {
  const SALE = pay(create().payment);

  test('A sale is released into the balance once, after the merchant’s debt is covered', () => {
    const pending: Balances = { ...NO_BALANCES, merchant_pending: 5000, acquirer: -5000 };
    const { payment, transaction, announced } = decideRelease(SALE, pending, NOW)!;
    expect(applyToBalances(pending, transaction!)).toMatchObject({
      merchant_pending: 0,
      merchant_balance: 5000,
    });
    expect(announced).toBe(false);
    expect(decideRelease(payment, pending, NOW)).toBeNull();

    const owing = { ...pending, merchant_receivable: -1500 };
    expect(applyToBalances(owing, decideRelease(SALE, owing, NOW)!.transaction!)).toMatchObject({
      merchant_balance: 3500,
      merchant_receivable: 0,
    });
    const owingMore = { ...pending, merchant_receivable: -9000 };
    expect(applyToBalances(owingMore, decideRelease(SALE, owingMore, NOW)!.transaction!)).toMatchObject({
      merchant_balance: 0,
      merchant_receivable: -4000,
    });
  });

  test('An unpaid payment is not released', () => {
    for (const payment of [
      create().payment,
      decideExpire(create().payment, { otherPayments: [], now: EXPIRY })!.payment,
    ]) {
      expect(decideRelease(payment, NO_BALANCES, NOW)).toBeNull();
    }
  });
});

describe('whatever happens to a card payment, in any order', () => {
  type Step = ['charge'] | ['outcome', ChargeOutcome, string] | ['expire'] | ['release'] | ['wait', number];
  const outcome = fc.constantFrom<ChargeOutcome>(
    APPROVED,
    DECLINED,
    { ...DECLINED, final: true },
    { status: 'void' },
    { status: 'pending', settlesAt: null },
  );
  const step = fc.oneof<fc.Arbitrary<Step>[]>(
    fc.constant(['charge']),
    fc.tuple(fc.constant('outcome' as const), outcome, fc.constantFrom('open', 'other')),
    fc.constant(['expire']),
    fc.constant(['release']),
    fc.tuple(fc.constant('wait' as const), fc.integer({ min: 0, max: CHECKOUT_SESSION_MS })),
  );
  const NEXT = {
    pending: ['paid', 'failed', 'expired'],
    expired: ['paid'],
    paid: [],
    refunded: [],
    failed: [],
  };

  test('A card payment follows its transitions, counts each, and moves its money once', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        let now = NOW;
        let payment = create().payment;
        let balances = NO_BALANCES;
        const posted: string[] = [];
        for (const [index, [kind, ...rest]] of steps.entries()) {
          const [about, charged] = rest as [ChargeOutcome, string];
          const before = payment;
          let change: CardPaymentChange | string | null = null;
          if (kind === 'wait') now = plusMs(now, rest[0] as number);
          if (kind === 'charge')
            change = decideCharge(payment, { chargeId: `chg_${index}`, otherPayments: [], now });
          if (kind === 'outcome')
            change = decideOutcome(payment, {
              chargeId: charged === 'open' ? (payment.openChargeId ?? 'none') : 'chg_other',
              outcome: about,
              otherPayments: [],
              account: ACCOUNT,
              now,
            });
          if (kind === 'expire') change = decideExpire(payment, { otherPayments: [], now });
          if (kind === 'release') change = decideRelease(payment, balances, now);
          if (change === null || typeof change === 'string') continue;

          payment = change.payment;
          expect(payment.version).toBe(before.version + Number(change.announced));
          expect(payment.status !== before.status).toBe(change.announced);
          if (change.announced) expect(NEXT[before.status]).toContain(payment.status);
          if (change.transaction) {
            balances = applyToBalances(balances, change.transaction);
            posted.push(change.transaction.id);
          }
        }
        expect(new Set(posted).size).toBe(posted.length);
        const isPaid = payment.status === 'paid';
        expect(posted.some((id) => id.startsWith('card_payment.paid:'))).toBe(isPaid);
        const held = isPaid ? payment.amountCents : 0;
        expect(balances.merchant_balance + balances.merchant_pending).toBe(held);
        expect(0 - balances.acquirer).toBe(held);
      }),
      { numRuns: generated(500) },
    );
  });
});

function create(orderCode = 'PSC-ONE') {
  return decideCreate({ valueCents: 5000 }, { orderCode, checkoutAttempt: null, now: NOW });
}

function charge(now: Date) {
  return { chargeId: 'chg', otherPayments: [], now };
}

function open(payment: StoredCardPayment): StoredCardPayment {
  return { ...payment, openChargeId: 'chg' };
}

function settle(payment: StoredCardPayment, outcome: ChargeOutcome, now = NOW): CardPaymentChange | null {
  return decideOutcome(payment, { chargeId: 'chg', outcome, otherPayments: [], account: ACCOUNT, now });
}

function pay(payment: StoredCardPayment, now = NOW): StoredCardPayment {
  return settle(open(payment), APPROVED, now)!.payment;
}

/** A payment in the form that the other payments of its order read. */
function ofOrder({ orderCode: id, status, paidAt, canceledAt }: StoredCardPayment) {
  return { id, status, paidAt, canceledAt };
}
