import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseBrCode } from '../../../server/src/kernel/br-code.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { cardPaymentWebhook } from '../../../server/src/money-in/card-payments/wire.ts';
import { paymentWebhook, paymentWire } from '../../../server/src/money-in/payments/wire.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import { createClient } from '../../support/graphql.ts';
import type { RestClient } from '../../support/rest.ts';

const MINUTE = 60_000;

let app: TestApp;
/** Each test has its own account, so that none counts another's requests or lists another's payments. */
let tenant: Tenant;
let key: string;
beforeAll(async () => {
  app = await startApp({ environment: { PUBLIC_URL: 'https://pay.example/psa' } });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant(
  settings: Parameters<typeof addAccount>[1] = {},
  environment: Tenant['environment'] = 'live',
): Promise<RestClient> {
  tenant = { accountId: await addAccount(app, settings), environment };
  key = await addKey(app, tenant);
  return rest(key);
}
const graphql = () => createClient(`http://127.0.0.1:${app.port}/graphql`, key);
const rest = (credential: string) => app.rest(credential, `http://127.0.0.1:${app.port}`);

/** Sends the money of a code, and notifies the server. */
async function pay(paymentId: string, order: object = {}): Promise<string> {
  const credit = await app.pix.pay({ txid: txidOf(paymentId), ...order });
  await app.payments.receive(tenant, paymentId);
  return credit!.endToEndId;
}

describe('creating a payment by PIX', () => {
  test('A creation over REST is answered with the code, and every field is there, null where it is empty', async () => {
    const shop = await merchant({ pixFeeCents: 50 });
    const { status, body } = await shop.post('/payments', { valueCents: 14990 });
    expect(status).toBe(201);
    const digits = body.paymentId.slice(4);
    const now = app.clock.now().getTime();
    expect(Object.keys(body).sort()).toEqual(Object.keys(paymentWire.shape).sort());
    expect(body).toMatchObject({
      delivered: null,
      paymentId: expect.stringMatching(/^psa_[0-9a-f]{32}$/),
      status: 'pending',
      method: 'pix',
      currency: 'BRL',
      amountCents: 14990,
      feeCents: 50,
      netAmountCents: 14940,
      description: null,
      customer: null,
      metadata: null,
      externalId: null,
      productId: null,
      language: null,
      subscriptionId: null,
      checkoutUrl: `https://pay.example/psa/checkout/${body.paymentId}`,
      successUrl: null,
      cancelUrl: null,
      pixCopyPaste: expect.stringContaining(`pix.psa.invalid/v2/${digits}`),
      txid: digits,
      createdAt: new Date(now).toISOString(),
      expiresAt: new Date(now + 30 * MINUTE).toISOString(),
      paidAt: null,
      paidLate: false,
      canceledAt: null,
      endToEndId: null,
      failureReason: null,
      returned: false,
      keptPayment: null,
      refundedAt: null,
      refundedCents: 0,
      refundableCents: 0,
      refunds: [],
      returnedCredits: [],
      ltcAddress: null,
      ltcAmount: null,
      ltcReceived: null,
      confirmations: null,
      requiredConfirmations: null,
      orderPaid: false,
      orderRefunded: false,
    });
    expect(parseBrCode(body.pixCopyPaste)).toMatchObject({ amountCents: 14990 });
    expect(await shop.get(`/payments/${body.paymentId}`)).toMatchObject({ status: 200, body });
  });

  test('A creation over REST accepts every field, which a lookup returns', async () => {
    const shop = await merchant();
    const given = {
      description: 'Pão de queijo 🧀',
      customer: { name: 'Ana', email: 'ana@example.com', externalId: '7' },
      metadata: ' {"pedido": "\\u0000 1"} ',
      externalId: 'nº 1042 é',
      successUrl: 'https://shop.example/ok',
      cancelUrl: 'http://shop.example/no',
      method: 'pix',
    };
    const { status, body } = await shop.post('/payments', {
      ...given,
      valueCents: 1,
      callbackUrl: 'https://shop.example/hook',
      // This is the same number in another Unicode form.
      externalId: 'n\u00ba 1042 e\u0301',
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({ ...given, amountCents: 1 });
    expect(Object.keys(body)).not.toContain('callbackUrl');
    expect((await shop.get(`/payments/${body.paymentId}`)).body).toEqual(body);
  });

  test('A product gives its payment the price and the name', async () => {
    const shop = await merchant();
    const { body: product } = await shop.post('/products', { name: 'Caneca', priceCents: 4990 });
    const productId = product.id;
    expect((await shop.post('/payments', { productId })).body).toMatchObject({
      productId,
      amountCents: 4990,
      description: 'Caneca',
    });
    expect((await shop.post('/payments', { productId, description: 'Azul' })).body.description).toBe('Azul');
    // A product's id is accepted in either case, and stored in one.
    const upper = productId.toUpperCase();
    expect((await shop.post('/payments', { productId: upper })).body.productId).toBe(productId);
    const overGraphQL = await graphql().request(
      `mutation { createPayment(input: { productId: "${upper}" }) { ... on CreatePaymentSuccess { payment { productId } } } }`,
    );
    expect(overGraphQL.createPayment).toEqual({ payment: { productId } });
    await shop.delete(`/products/${productId}`);
    expect(await shop.post('/payments', { productId })).toMatchObject({
      status: 404,
      body: { error: 'Product not found' },
    });
  });

  test('An idempotency key makes one payment over REST, shows what became of it, and refuses another input', async () => {
    const shop = await merchant();
    const body = { valueCents: 100, idempotencyKey: 'order-1' };
    const first = await shop.post('/payments', body);
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    await pay(first.body.paymentId);
    const again = await shop.post('/payments', { ...body, description: null });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(again.body).toMatchObject({ paymentId: first.body.paymentId, status: 'paid', pixCopyPaste: null });
    // An explicit `pix`, the default, is the same input, over GraphQL as well.
    expect((await shop.post('/payments', { ...body, method: 'pix' })).status).toBe(201);
    const overGraphQL = await graphql().request(
      `mutation { createPayment(input: { valueCents: 100, idempotencyKey: "order-1" }) {
        ... on CreatePaymentSuccess { replayed payment { paymentId } } } }`,
    );
    expect(overGraphQL.createPayment).toEqual({
      replayed: true,
      payment: { paymentId: first.body.paymentId },
    });
    const conflict = await shop.post('/payments', { ...body, valueCents: 101 });
    expect([conflict.status, conflict.headers.get('x-error-code')]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    expect(conflict.body).toMatchObject({ error: 'This idempotency key was used before with another input' });
    // Card payments have their own keys.
    expect((await shop.post('/card-payments', body)).status).toBe(201);
    expect((await shop.get('/payments')).body.total).toBe(1);
  });

  test('A bank that gives no code is 502, and the same key asks it once more for the same payment', async () => {
    const shop = await merchant();
    const slow = { customer: { email: 'demora-codigo@psa.example' }, idempotencyKey: 'slow' };
    const before = await shop.post('/payments', { valueCents: 100, ...slow });
    expect(before).toMatchObject({ status: 502, body: { error: expect.stringContaining('idempotencyKey') } });
    const [listed] = (await shop.get('/payments')).body.payments;
    expect(listed).toMatchObject({ status: 'pending', pixCopyPaste: null });
    app.clock.advance(20_000);
    const after = await shop.post('/payments', { valueCents: 100, ...slow });
    expect(after).toMatchObject({ status: 201, body: { paymentId: listed.paymentId } });
    expect(parseBrCode(after.body.pixCopyPaste)).toMatchObject({ amountCents: 100 });

    const refused = { customer: { email: 'sem-codigo@psa.example' }, idempotencyKey: 'refused' };
    const answer = await shop.post('/payments', { valueCents: 100, ...refused });
    expect(answer).toMatchObject({
      status: 409,
      body: { error: 'The bank refused this payment', code: 'BANK_REFUSED', retryPolicy: 'NEW_KEY' },
    });
    // Its replay is no error, and shows the payment.
    expect(await shop.post('/payments', { valueCents: 100, ...refused })).toMatchObject({
      status: 201,
      body: { status: 'failed', failureReason: expect.stringMatching(/\w/) },
    });
  });

  test('A creation over REST with bad input is refused in words, and makes nothing', async () => {
    const shop = await merchant();
    const url = (length: number) => `https://shop.example/${'x'.repeat(length - 21)}`;
    for (const [given, error] of [
      [{ valueCents: null }, 'amountCents: is required, or valueCents, which is the same, or productId in'],
      [{ amountCents: 100 }, 'amountCents: must not be given together with valueCents'],
      [{ valueCents: null, amountCents: 0 }, 'amountCents: must be at least 1'],
      [{ orderId: '1', externalId: '2' }, 'orderId: must be the same as externalId'],
      [{ productId: '0'.repeat(24) }, 'valueCents: must be given, or productId in its place, and not both'],
      [{ valueCents: 0 }, 'valueCents: must be at least 1'],
      [{ valueCents: -1 }, 'valueCents: must be an integer number of cents'],
      [{ valueCents: 1.5 }, 'valueCents: must be an integer number of cents'],
      [{ valueCents: '100' }, 'valueCents: must be an integer number of cents'],
      [{ valueCents: 2 ** 53 }, 'valueCents: must be an integer number of cents'],
      [{ valueCents: 10_000_000_001 }, 'valueCents: must be at most 10000000000'],
      [{ valueCents: null, productId: '0'.repeat(23) }, 'productId: invalid product ID format'],
      [{ method: 'UNKNOWN' }, 'method: must be one of pix, ltc'],
      [{ method: 'PIX' }, 'method: must be one of pix, ltc'],
      [{ description: 'x'.repeat(201) }, 'description: must have at most 200 characters'],
      [{ metadata: '{order}' }, 'metadata: must be serialized JSON'],
      [{ metadata: JSON.stringify('x'.repeat(2_047)) }, 'metadata: must have at most 2048'],
      [{ metadata: { order: 1 } }, 'metadata: must be a string'],
      [{ callbackUrl: 'http://shop.example/' }, 'callbackUrl: must be a public https URL'],
      [{ callbackUrl: 'https://127.0.0.1/' }, 'callbackUrl: must be a public https URL'],
      [{ callbackUrl: url(501) }, 'callbackUrl: must have at most 500 characters'],
      [{ successUrl: 'javascript:alert(1)' }, 'successUrl: must be an absolute http'],
      [{ cancelUrl: 'shop' }, 'cancelUrl: must be an absolute http'],
      [{ customer: { taxId: '123.456.789-08' } }, 'customer.taxId: must be a CPF or a CNPJ'],
      [{ externalId: 'line\nbreak' }, 'externalId: must not contain control'],
      [{ externalId: '1042 ' }, 'externalId: must not begin or end with a space'],
      [{ externalId: '1042\u00a0' }, 'externalId: must not begin or end with a space'],
      [{ customer: { externalId: ' 7' } }, 'customer.externalId: must not begin or end with a space'],
      [{ description: 'Caneca \u202etxt.exe' }, 'description: must not contain characters that turn'],
      [{ external_id: '1042' }, 'external_id: is unknown; externalId may be meant'],
      [{ splits: [] }, 'splits: is unknown; known are'],
      [{ currency: 'BRL' }, 'currency: is unknown; known are'],
      [{ idempotencyKey: 'two lines\n' }, 'idempotencyKey: must be 1 to 128 of'],
    ] as const) {
      const { status, body } = await shop.post('/payments', { valueCents: 100, ...given });
      expect([given, status, body]).toMatchObject([given, 400, { error: expect.stringContaining(error) }]);
      expect(body.error).not.toMatch(/123\.456/);
    }
    const hex = '0123456789abcdef0123456789abcdef';
    for (const id of [hex, `psa_${hex.slice(1)}`, `psa_${hex}0`, `PSA_${hex}`, `psa_${hex}`.toUpperCase()])
      for (const ask of [() => shop.get(`/payments/${id}`), () => shop.post(`/payments/${id}/refunds`, {})])
        expect(await ask()).toMatchObject({
          status: 400,
          body: { error: 'id: must be psa_ and 32 hex digits, in lower case' },
        });
    const { status, body } = await shop.post(`/payments/psa_sub_${hex}/refunds`, {});
    expect([status, body.error]).toEqual([
      400,
      'id: is the id of a subscription: use GET /v1/subscriptions/{id}',
    ]);
    expect((await shop.get('/payments')).body.total).toBe(0);
  });

  test.each<[string, object, number, string]>([
    ['pixEnabled off', { settings: { pixEnabled: false } }, 409, 'PIX are not configured for this account'],
    [
      'ltcEnabled off',
      { method: 'ltc', settings: { ltcEnabled: false } },
      409,
      'LTC are not configured for this account',
    ],
    ['LTC with a test key', { method: 'ltc', environment: 'sandbox' }, 403, 'LTC payments are not available'],
  ])('A creation over REST is refused for %s, and makes nothing', async (_, given, status, error) => {
    const { settings, environment, ...body } = given as {
      settings?: Parameters<typeof addAccount>[1];
      environment?: Tenant['environment'];
    };
    const shop = await merchant(settings, environment);
    expect(await shop.post('/payments', { valueCents: 100, ...body })).toMatchObject({
      status,
      body: { error: expect.stringContaining(error) },
    });
    expect((await shop.get('/payments')).body.total).toBe(0);
  });
});

describe('looking payments up', () => {
  test('A payment over REST shows its payer’s PIX, what was sent back, and its refunds', async () => {
    const shop = await merchant({ pixFeeCents: 90 });
    const { paymentId } = (await shop.post('/payments', { valueCents: 5000 })).body;
    const paidAt = app.clock.now().toISOString();
    const endToEndId = await pay(paymentId);
    const more = await pay(paymentId, { amountCents: 5001 });
    await app.work.settled();
    await app.controls.credit(tenant, 100);
    const { body: refund } = await shop.post(`/payments/${paymentId}/refunds`, { amountCents: 1200 });
    expect(refund).toMatchObject({ status: 'processing', paymentId, amountCents: 1200 });
    expect(Object.keys(refund)).not.toContain('orderCode');
    await app.work.settled();
    const { refundId } = refund;
    expect((await shop.get(`/payments/${paymentId}`)).body).toMatchObject({
      status: 'paid',
      paidAt,
      paidLate: false,
      endToEndId,
      pixCopyPaste: null,
      netAmountCents: 4910,
      refundedCents: 1200,
      refundableCents: 3800,
      refunds: [{ refundId, amountCents: 1200, status: 'completed' }],
      returnedCredits: [
        {
          endToEndId: more,
          amountCents: 5001,
          cause: 'already_paid',
          receivedAt: paidAt,
          returnedAt: expect.any(String),
        },
      ],
    });
    expect((await shop.get(`/refunds/${refundId}`)).body).toMatchObject({
      status: 'completed',
      paymentId,
      endToEndId: expect.stringMatching(/^D\d{20}[0-9A-Z]{11}$/),
    });
  });
});

describe('the webhook of a paid payment', () => {
  test('payment.paid is card_payment.paid with two differences: its identifier, and cents', async () => {
    const shop = await merchant();
    const sale = {
      valueCents: 4990,
      metadata: '{"pedido":1}',
      externalId: '1042',
      description: 'Caneca',
      customer: { name: 'Ana', email: 'ana@example.com', externalId: '7', taxId: '123.456.789-09' },
    };
    const { paymentId } = (await shop.post('/payments', sale)).body;
    await pay(paymentId);
    const payment = (await app.payments.find(tenant, paymentId))!;
    const { orderCode } = (await shop.post('/card-payments', { ...sale, externalId: '1043' })).body;
    await app.cardPayments.pay(orderCode, approved());
    const ofCard = cardPaymentWebhook((await app.cardPayments.find(tenant, orderCode))!, 'pending')!;
    const ofPix = paymentWebhook(payment, 'pending', 'live')!;
    const without = (body: object, ...names: string[]) =>
      Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
    // Each order is paid once, so the two payments have different orders.
    expect(without(ofPix, 'event', 'paymentId', 'amountCents', 'orderId', 'externalId')).toEqual(
      without(ofCard, 'event', 'orderCode', 'amount', 'orderId', 'externalId'),
    );
    expect(ofPix).toMatchObject({ event: 'payment.paid', paymentId, amountCents: 4990, orderId: '1042' });
    expect(Object.keys(ofPix)).toEqual(
      Object.keys(ofCard).map((name) => ({ orderCode: 'paymentId', amount: 'amountCents' })[name] ?? name),
    );
    expect(paymentWebhook(payment, 'pending', 'sandbox')).toEqual({ ...ofPix, event: 'payment.test.paid' });
    // A change within a status reports no new payment.
    expect(paymentWebhook(payment, 'paid', 'live')).toBeNull();
  });
});
