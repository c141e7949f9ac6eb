import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cardPaymentWebhook } from '../../../server/src/money-in/card-payments/wire.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { approved, approvedLate, card, declinedForGood } from '../../support/cards.ts';
import type { RestClient } from '../../support/rest.ts';

let app: TestApp;
/** Each test has its own account, so that none counts another's requests or lists another's payments. */
let accountId: string;
beforeAll(async () => {
  app = await startApp({ environment: { PUBLIC_URL: 'https://pay.example/psa' } });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant(settings: Parameters<typeof addAccount>[1] = {}): Promise<RestClient> {
  accountId = await addAccount(app, settings);
  return rest(await addKey(app, { accountId }));
}
const rest = (key: string) => app.rest(key, `http://127.0.0.1:${app.port}`);
const pay = (orderCode: string, details = approved()) => app.cardPayments.pay(orderCode, details);

describe('creating a card payment (section 4.2)', () => {
  test('A creation over REST is answered with the checkout URL, and nothing more than 2.3 shows', async () => {
    const shop = await merchant();
    const { status, body } = await shop.post('/card-payments', { valueCents: 14990 });
    expect(status).toBe(201);
    expect(body).toEqual({
      orderCode: expect.stringMatching(/^PSC-[0-9A-Z]{24}$/),
      status: 'pending',
      amountCents: 14990,
      currency: 'BRL',
      checkoutUrl: `https://pay.example/psa/checkout/${body.orderCode}`,
      expiresAt: new Date(app.clock.now().getTime() + 30 * 60_000).toISOString(),
    });
  });

  test('A creation over REST accepts every field, which a lookup returns', async () => {
    const shop = await merchant();
    const given = {
      description: 'Pão de queijo 🧀',
      customer: { name: 'Ana', email: 'ana@example.com', externalId: '7' },
      metadata: ' {"pedido": "\\u0000 1"} ',
    };
    const created = await shop.post('/card-payments', {
      ...given,
      valueCents: 820,
      callbackUrl: 'https://shop.example/hook',
      successUrl: 'https://shop.example/ok',
      cancelUrl: 'http://shop.example/no',
    });
    expect(created.status).toBe(201);
    expect(await shop.get(`/card-payments/${created.body.orderCode}`)).toMatchObject({
      status: 200,
      body: {
        ...created.body,
        ...given,
        amount: 8.2,
        createdAt: app.clock.now().toISOString(),
        paidAt: null,
        paidLate: false,
        refundedAt: null,
        failureReason: null,
      },
    });
  });

  test('A creation over REST with bad input is refused in words, and makes nothing', async () => {
    const shop = await merchant();
    for (const [given, error] of [
      [{}, /^amountCents: is required, or valueCents, which is the same$/],
      [{ valueCents: null }, /^amountCents: is required, or valueCents/],
      [{ valueCents: 79 }, /^valueCents: must be at least 80 \(R\$ 0,80\)$/],
      [{ valueCents: 100, amountCents: 100 }, /^amountCents: must not be given together with valueCents/],
      [{ valueCents: 100, orderId: '7', externalId: '8' }, /^orderId: must be the same as externalId/],
      [{ valueCents: 100, orderId: '' }, /^orderId: must not be empty$/],
      [{ valueCents: 80.5 }, /^valueCents: must be an integer/],
      [{ valueCents: '100' }, /^valueCents: must be an integer/],
      [{ valueCents: -100 }, /^valueCents: must be an integer/],
      [{ valueCents: 2 ** 53 }, /^valueCents: must be an integer/],
      [{ valueCents: 10_000_000_001 }, /^valueCents: must be at most/],
      [{ valueCents: 100, description: 'x'.repeat(201) }, /^description: must have at most 200 characters$/],
      [{ valueCents: 100, description: '' }, /^description: must not be empty$/],
      [{ valueCents: 100, description: '\u0000' }, /^description: must not contain U\+0000/],
      [{ valueCents: 100, description: '\ud800' }, /^description: must not contain U\+0000/],
      [{ valueCents: 100, callbackUrl: 'http://shop.example/' }, /^callbackUrl: must be a public https URL$/],
      [{ valueCents: 100, callbackUrl: 'https://127.0.0.1/' }, /^callbackUrl: must be a public https URL$/],
      [
        { valueCents: 100, callbackUrl: `https://shop.example/${'x'.repeat(480)}` },
        /^callbackUrl: must have at/,
      ],
      [{ valueCents: 100, successUrl: 'javascript:alert(1)' }, /^successUrl: must be an absolute http/],
      [{ valueCents: 100, cancelUrl: 'shop' }, /^cancelUrl: must be an absolute http/],
      [{ valueCents: 100, cancelUrl: 'https://a.example/\r\nX: y' }, /^cancelUrl: must be an absolute http/],
      [{ valueCents: 100, customer: 'Ana' }, /^customer: must be an object$/],
      [{ valueCents: 100, customer: { email: 'ana' } }, /^customer\.email: must be an e-mail address$/],
      [
        { valueCents: 100, customer: { email: 'a\u202ea@shop.example' } },
        /^customer\.email: must be an e-mail address$/,
      ],
      [
        { valueCents: 100, customer: { email: 'ana\u200b@shop.example' } },
        /^customer\.email: must be an e-mail address$/,
      ],
      [{ valueCents: 100, customer: { name: 1 } }, /^customer\.name: must be a string$/],
      [
        { valueCents: 100, customer: { taxId: '123.456.789-08' } },
        /^customer\.taxId: must be a CPF or a CNPJ/,
      ],
      [{ valueCents: 100, metadata: { order: 1 } }, /^metadata: must be a string$/],
      [{ valueCents: 100, metadata: '{order}' }, /^metadata: must be serialized JSON$/],
      [{ valueCents: 100, metadata: JSON.stringify('x'.repeat(2_047)) }, /^metadata: must have at most 2048/],
      [{ valueCents: 100, externalId: '' }, /^externalId: must not be empty$/],
      [{ valueCents: 100, externalId: 'x'.repeat(101) }, /^externalId: must have at most 100 characters$/],
      [{ valueCents: 100, externalId: 'line\nbreak' }, /^externalId: must not contain control or invisible/],
      [{ valueCents: 100, externalId: 1042 }, /^externalId: must be a string$/],
      [{ valueCents: 100, idempotencyKey: 'two lines\n' }, /^idempotencyKey: must be 1 to 128 of/],
      [{ valueCents: 1, description: 1, metadata: 1 }, /^description: .*; metadata: .*; valueCents: /],
    ] as const) {
      const { status, body } = await shop.post('/card-payments', given);
      const code = { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' };
      const refusal = { error: expect.stringMatching(error), ...code, fields: expect.any(Array) };
      expect([given, status, body]).toEqual([given, 400, refusal]);
    }
    expect((await shop.get('/card-payments')).body.total).toBe(0);
  });

  test('An idempotency key makes one payment over REST, and refuses another input', async () => {
    const shop = await merchant();
    const body = { valueCents: 100, idempotencyKey: 'order-1' };
    const [first, again] = [
      await shop.post('/card-payments', body),
      await shop.post('/card-payments', { idempotencyKey: 'order-1', valueCents: 100, description: null }),
    ];
    expect(again).toMatchObject({ status: 201, body: first.body });
    expect(await shop.post('/card-payments', { ...body, valueCents: 101 })).toMatchObject({
      status: 409,
      body: { error: 'This idempotency key was used before with another input' },
    });
    expect((await shop.get('/card-payments')).body.total).toBe(1);
  });

  test('The same sale under the other names of its members is the same request over REST', async () => {
    const shop = await merchant();
    const key = { idempotencyKey: 'names' };
    const sale = { valueCents: 100, externalId: '1042' };
    const first = await shop.post('/card-payments', { ...sale, ...key });
    const named = { amountCents: 100, orderId: '1042' };
    const again = await shop.post('/card-payments', { ...named, ...key });
    expect([again.body.orderCode, again.headers.get('idempotent-replayed')]).toEqual([
      first.body.orderCode,
      'true',
    ]);
    const { body } = await shop.get(`/card-payments/${first.body.orderCode}`);
    expect(body).toMatchObject({ amountCents: 100, feeCents: 0, netAmountCents: 100, orderId: '1042' });
  });

  test('A payment over REST has the externalId of its creation, as its webhook has', async () => {
    const shop = await merchant();
    const { body: made } = await shop.post('/card-payments', { valueCents: 100, externalId: 'nº 1042' });
    // The answer to a creation is as in the document.
    expect(Object.keys(made)).not.toContain('externalId');
    const { body: lone } = await shop.post('/card-payments', { valueCents: 100 });
    expect((await shop.get(`/card-payments/${made.orderCode}`)).body.externalId).toBe('nº 1042');
    const { cardPayments } = (await shop.get('/card-payments')).body;
    expect(cardPayments.map((each: { externalId: string }) => each.externalId)).toEqual([null, 'nº 1042']);
    await pay(made.orderCode, card('4242424242424242'));
    const paid = await app.cardPayments.find({ accountId, environment: 'live' }, made.orderCode);
    expect(cardPaymentWebhook(paid!, 'pending')).toEqual({
      event: 'card_payment.paid',
      orderCode: made.orderCode,
      amount: 1,
      status: 'paid',
      metadata: null,
      paidAt: paid!.paidAt!.toISOString(),
      orderId: 'nº 1042',
      externalId: 'nº 1042',
    });
    expect(lone.status).toBe('pending');
  });

  test('A creation over REST is refused in sandbox', async () => {
    expect(await rest(TEST_KEY).post('/card-payments', { valueCents: 100 })).toMatchObject({
      status: 403,
      body: { error: 'Card payments are not available in sandbox' },
    });
  });

  test('A creation over REST is refused for an account without cards', async () => {
    const shop = await merchant({ cardPaymentsEnabled: false });
    expect(await shop.post('/card-payments', { valueCents: 100 })).toMatchObject({
      status: 409,
      body: { error: 'Card payments are not configured for this account' },
    });
  });
});

describe('looking a card payment up (section 4.5)', () => {
  const created = async (shop: RestClient) =>
    (await shop.post('/card-payments', { valueCents: 1990 })).body.orderCode as string;

  test('A lookup over REST shows the present state of a payment', async () => {
    const shop = await merchant();
    const [paid, failed, expired] = [await created(shop), await created(shop), await created(shop)];
    const late = await created(shop);
    const paidAt = app.clock.now().toISOString();
    await pay(paid);
    await pay(failed, declinedForGood());
    await pay(late, approvedLate());
    const look = async (orderCode: string) => (await shop.get(`/card-payments/${orderCode}`)).body;
    expect(await look(paid)).toMatchObject({ status: 'paid', paidAt, amount: 19.9, paidLate: false });
    expect(await look(failed)).toMatchObject({ status: 'failed', failureReason: expect.any(String) });

    app.clock.advance(30 * 60_000);
    await app.work.settled();
    expect(await look(expired)).toMatchObject({ status: 'expired', paidAt: null });
    app.clock.advance(30 * 60_000);
    await app.work.settled();
    expect(await look(late)).toMatchObject({ status: 'paid', paidLate: true });

    await app.cardPayments.refund({ accountId, environment: 'live' }, paid);
    await app.work.settled();
    expect(await look(paid)).toMatchObject({ status: 'refunded', paidAt, refundedAt: expect.any(String) });
  });

  test('A lookup over REST finds nothing under any other text', async () => {
    const shop = await merchant();
    for (const text of [
      'PSC-000000000000000000000000',
      'unknown',
      '%00',
      '..%2Fwallet',
      'x'.repeat(5_000),
      '%F0%9F%98%80',
    ])
      expect([text, await shop.get(`/card-payments/${text}`)]).toMatchObject([
        ...[text, { status: 404, body: { error: 'Card payment not found' } }],
      ]);
  });
});

test('No REST response contains a card’s number, a charge or a hash', async () => {
  const shop = await merchant();
  const { orderCode } = (await shop.post('/card-payments', { valueCents: 100 })).body;
  await pay(orderCode, card('4242424242424242'));
  const { body } = await shop.get(`/card-payments/${orderCode}`);
  expect(Object.keys(body).sort()).toEqual([
    'amount',
    'amountCents',
    'canceledAt',
    'checkoutUrl',
    'createdAt',
    'currency',
    'customer',
    'description',
    'expiresAt',
    'externalId',
    'failureReason',
    'feeCents',
    'keptPayment',
    'language',
    'metadata',
    'netAmountCents',
    'orderCode',
    'orderId',
    'orderPaid',
    'orderRefunded',
    'paidAt',
    'paidLate',
    'refundableCents',
    'refundedAt',
    'refundedCents',
    'returned',
    'status',
  ]);
});
