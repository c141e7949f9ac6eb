import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseBrCode } from '../../../server/src/kernel/br-code.ts';
import { qrCode } from '../../../server/src/kernel/qr-code.ts';
import type { Tenant } from '../../../server/src/kernel/tenant.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { type Received, startReceiver } from '../../support/receiver.ts';
import { ownMembers } from '../../support/webhook-bodies.ts';

// Payments by PIX over GraphQL for a merchant, its dashboard and a payer's page, and their webhooks.

const MINUTE = 60_000;
const SESSION = 30 * MINUTE;
const FIELDS = `paymentId status method amountCents feeCents netAmountCents currency description checkoutUrl
  pix { copyPaste txid qr { path size } } expiresAt expiresInSeconds createdAt
  customer { name email externalId taxId } metadata externalId productId successUrl cancelUrl
  paidAt paidLate endToEndId returnedCredits { endToEndId amountCents cause receivedAt returnedAt }
  refundedAt refundedCents refundableCents refunds { refundId status amountCents } failureReason final version`;
const ERRORS = `... on UserError { code message } ... on ValidationError { fields { path message } }`;
const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename
  ... on CreatePaymentSuccess { replayed payment { id ${FIELDS} } } ${ERRORS}
  ... on UpstreamError { retryable moneyMayHaveMoved lookupReference } } }`;
const ONE = `query ($paymentId: String!) { payment(paymentId: $paymentId) { id ${FIELDS} } }`;
const NODE = `query ($id: ID!) { node(id: $id) { ... on Payment { id ${FIELDS} } } }`;
const LIST = '{ payments { totalCount } }';
const TOKEN = `mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) { __typename
  ... on CreateCheckoutTokenSuccess { token } ${ERRORS} } }`;
const START = `mutation ($input: StartCheckoutInput!) { startPixCheckout(input: $input) { __typename
  ... on StartPixCheckoutSuccess { paymentToken payment { ${FIELDS} } } ${ERRORS} } }`;
const START_CARD = `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) { __typename
  ... on StartCheckoutSuccess { cardPayment { orderCode } } ${ERRORS} } }`;
const REFUND = `mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) { __typename
  ... on RefundPaymentSuccess { replayed refund { refundId status amountCents of {
    ... on Payment { paymentId refundableCents } } } } ${ERRORS} } }`;
const FOLLOW = `subscription ($paymentId: String!, $after: String) {
  paymentUpdates(paymentId: $paymentId, after: $after) {
    cursor previousStatus payment { status pix { copyPaste } returnedCredits { cause } version } } }`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

async function merchant(environment: Tenant['environment'] = 'live') {
  const tenant = { accountId: await addAccount(app), environment };
  const client = app.client(await addKey(app, tenant));
  return { tenant, client };
}
type Merchant = Awaited<ReturnType<typeof merchant>>;

const create = async (client: GraphQLClient, input: object = {}) =>
  (await client.request(CREATE, { input: { valueCents: 5000, ...input } })).createPayment;
const sell = async ({ client }: Pick<Merchant, 'client'>, input: object = {}): Promise<string> =>
  (await create(client, input)).payment.paymentId;
async function pay({ tenant }: Pick<Merchant, 'tenant'>, paymentId: string, order: object = {}) {
  const credit = await app.pix.pay({ txid: txidOf(paymentId), ...order });
  await app.payments.receive(tenant, paymentId);
  await app.work.settled();
  return credit!;
}
const find = async (client: GraphQLClient, paymentId: string) =>
  (await client.request(ONE, { paymentId })).payment;
const mint = async (client: GraphQLClient, input: object = {}) =>
  (await client.request(TOKEN, { input: { amount: { fixedCents: 5000 }, methods: ['PIX'], ...input } }))
    .createCheckoutToken;
const start = async (client: GraphQLClient, input: object = {}) =>
  (await client.request(START, { input: { attemptId: 'tentativa-000000000000001', ...input } }))
    .startPixCheckout;
const firstError = async (client: GraphQLClient, query: string, variables: Record<string, unknown> = {}) =>
  (await client.send(query, variables)).body.errors[0];
async function pass(ms: number): Promise<void> {
  await app.work.settled();
  app.clock.advance(ms);
  await app.work.settled();
}

describe('a payment over GraphQL', () => {
  test('A payment is created with a code and its QR code, and found by id and by node', async () => {
    const { client } = await merchant();
    const given = {
      description: 'Caneca',
      customer: { name: 'Ana', email: 'ana@example.com', externalId: '7', taxId: '123.456.789-09' },
      metadata: ' {"a":1} ',
      externalId: '1042',
      successUrl: 'https://shop.example/ok',
    };
    const made = await create(client, given);
    const { paymentId, id } = made.payment;
    const now = app.clock.now().getTime();
    const { copyPaste } = made.payment.pix;
    expect(made).toEqual({
      __typename: 'CreatePaymentSuccess',
      replayed: false,
      payment: {
        ...given,
        id,
        paymentId,
        status: 'PENDING',
        method: 'PIX',
        currency: 'BRL',
        amountCents: 5000,
        feeCents: 0,
        netAmountCents: 5000,
        customer: { ...given.customer, taxId: '***.456.789-**' },
        pix: { copyPaste, txid: txidOf(paymentId), qr: qrCode(copyPaste) },
        checkoutUrl: `${app.url}/checkout/${paymentId}`,
        createdAt: new Date(now).toISOString(),
        expiresAt: new Date(now + SESSION).toISOString(),
        expiresInSeconds: 1_800,
        productId: null,
        cancelUrl: null,
        failureReason: null,
        paidAt: null,
        paidLate: false,
        endToEndId: null,
        returnedCredits: [],
        refundedAt: null,
        refundedCents: 0,
        refundableCents: 0,
        refunds: [],
        final: false,
        version: 2,
      },
    });
    expect(parseBrCode(copyPaste)).toMatchObject({ amountCents: 5000 });
    expect(await find(client, paymentId)).toEqual(made.payment);
    expect(await client.request(NODE, { id })).toEqual({ node: made.payment });
  });

  test('A paid payment has no code any more, and shows its PIX, its refunds and what was sent back', async () => {
    const shop = await merchant();
    const paymentId = await sell(shop);
    const wrong = await pay(shop, paymentId, { amountCents: 4999 });
    const credit = await pay(shop, paymentId);
    const at = app.clock.now().toISOString();
    expect(await find(shop.client, paymentId)).toMatchObject({
      status: 'PAID',
      paidAt: at,
      paidLate: false,
      endToEndId: credit.endToEndId,
      pix: null,
      refundableCents: 5000,
      final: false,
      returnedCredits: [
        {
          endToEndId: wrong.endToEndId,
          amountCents: 4999,
          cause: 'AMOUNT_MISMATCH',
          receivedAt: at,
          returnedAt: at,
        },
      ],
    });
    const { client } = shop;
    const input = { paymentId, amountCents: 2000, idempotencyKey: 'd-1' };
    const { refundPayment } = await client.request(REFUND, { input });
    expect(refundPayment).toMatchObject({
      __typename: 'RefundPaymentSuccess',
      replayed: false,
      refund: { status: 'PROCESSING', amountCents: 2000, of: { paymentId, refundableCents: 3000 } },
    });
    expect((await client.request(REFUND, { input })).refundPayment).toMatchObject({ replayed: true });
    await app.work.settled();
    const { refundId } = refundPayment.refund;
    expect(await find(client, paymentId)).toMatchObject({
      status: 'PAID',
      refundedCents: 2000,
      refundableCents: 3000,
      refunds: [{ refundId, status: 'COMPLETED', amountCents: 2000 }],
    });
    expect((await client.request(REFUND, { input: { paymentId } })).refundPayment).toMatchObject({
      refund: { amountCents: 3000 },
    });
    await app.work.settled();
    expect(await find(client, paymentId)).toMatchObject({
      status: 'REFUNDED',
      refundedAt: at,
      refundedCents: 5000,
      refundableCents: 0,
      final: true,
    });
  });

  test('A countdown ends at 0, an expired payment has no code, and a late PIX pays it', async () => {
    const shop = await merchant();
    const paymentId = await sell(shop);
    await pass(SESSION - 500);
    expect(await find(shop.client, paymentId)).toMatchObject({ status: 'PENDING', expiresInSeconds: 1 });
    await pass(MINUTE);
    expect(await find(shop.client, paymentId)).toMatchObject({
      status: 'EXPIRED',
      expiresInSeconds: 0,
      pix: null,
      final: false,
    });
    await pay(shop, paymentId);
    expect(await find(shop.client, paymentId)).toMatchObject({ status: 'PAID', paidLate: true });
  });

  test('A bank without a code is an UpstreamError that names the payment, and moves no money', async () => {
    const { client } = await merchant();
    const slow = { customer: { email: 'demora-codigo@psa.example' }, idempotencyKey: 'slow' };
    const answer = await create(client, slow);
    expect(answer).toMatchObject({
      __typename: 'UpstreamError',
      retryable: true,
      moneyMayHaveMoved: false,
      lookupReference: expect.stringMatching(/^psa_/),
    });
    const paymentId = answer.lookupReference;
    expect(await find(client, paymentId)).toMatchObject({ status: 'PENDING', pix: null });
    app.clock.advance(20_000);
    expect(await create(client, slow)).toMatchObject({
      replayed: true,
      payment: { paymentId, pix: { txid: txidOf(paymentId) } },
    });
    const refused = await create(client, { customer: { email: 'sem-codigo@psa.example' } });
    expect(refused).toMatchObject({ __typename: 'UpstreamError', retryable: false });
    expect(await find(client, refused.lookupReference)).toMatchObject({
      status: 'FAILED',
      failureReason: expect.stringMatching(/\w/),
      pix: null,
      final: true,
    });
  });

  test.each<[string, object, object]>([
    ['an amount of 0', { valueCents: 0 }, { fields: [{ path: 'input.valueCents' }] }],
    [
      'no amount and no product',
      { valueCents: null },
      { fields: [{ path: 'input.amountCents', message: expect.stringMatching(/valueCents.*productId/) }] },
    ],
    [
      'an amount under both names',
      { amountCents: 4990 },
      { fields: [{ path: 'input.amountCents', message: expect.stringContaining('valueCents') }] },
    ],
    [
      'two orders',
      { orderId: '1', externalId: '2' },
      { fields: [{ path: 'input.orderId', message: expect.stringContaining('externalId') }] },
    ],
    ['both', { productId: '0'.repeat(24) }, { fields: [{ path: 'input.valueCents' }] }],
    [
      'a product that nobody has',
      { valueCents: null, productId: '0'.repeat(24) },
      { __typename: 'NotFoundError' },
    ],
    ['a word that is none', { method: 'UNKNOWN' }, { fields: [{ path: 'input.method' }] }],
  ])('A payment with %s is refused, and none is made', async (_, input, expected) => {
    const { client } = await merchant();
    expect(await create(client, input)).toMatchObject(expected);
    expect((await client.request(LIST)).payments.totalCount).toBe(0);
  });
});

describe('updates', () => {
  test('The updates of one payment begin with its state and complete when it is paid', async () => {
    const shop = await merchant();
    const { client } = shop;
    const paymentId = await sell(shop);
    const stream = client.ws(FOLLOW, { paymentId });
    const first = (await stream.data()).paymentUpdates;
    expect(first).toMatchObject({
      previousStatus: null,
      payment: { status: 'PENDING', pix: { copyPaste: expect.any(String) } },
    });
    await pay(shop, paymentId, { amountCents: 1 });
    const wrong = { returnedCredits: [{ cause: 'AMOUNT_MISMATCH' }] };
    for (let count = 0; count < 2; count += 1)
      expect((await stream.data()).paymentUpdates).toMatchObject({
        previousStatus: 'PENDING',
        payment: { status: 'PENDING', ...wrong },
      });
    // The stream stays open after the expiry, because the payment may be paid late.
    await pass(SESSION);
    expect((await stream.data()).paymentUpdates).toMatchObject({
      previousStatus: 'PENDING',
      payment: { status: 'EXPIRED', pix: null },
    });
    await pay(shop, paymentId);
    const last = (await stream.data()).paymentUpdates;
    expect(last).toMatchObject({ previousStatus: 'EXPIRED', payment: { status: 'PAID' } });
    expect(await stream.next()).toMatchObject({ done: true });
    const again = client.ws(FOLLOW, { paymentId });
    expect((await again.data()).paymentUpdates).toMatchObject({ payment: { status: 'PAID' } });
    expect(await again.next()).toMatchObject({ done: true });
    const resumed = client.sse(FOLLOW, { paymentId, after: first.cursor });
    const statuses: string[] = [];
    for await (const { data } of resumed) statuses.push(data.paymentUpdates.payment.status);
    expect(statuses).toEqual(['PENDING', 'PENDING', 'EXPIRED', 'PAID']);
  });
});

describe('a payer’s page', () => {
  test('A token shows its methods, and each method starts with a token that takes it alone', async () => {
    const { client } = await merchant();
    const methodsOf = async (asker: GraphQLClient) =>
      (await asker.request('{ viewer { checkoutMethods } }')).viewer.checkoutMethods;
    expect(await methodsOf(client)).toBeNull();
    for (const [methods, shown] of [
      [undefined, ['CARD']],
      [null, ['CARD']],
      [['CARD'], ['CARD']],
      [['PIX'], ['PIX']],
      [
        ['PIX', 'CARD'],
        ['CARD', 'PIX'],
      ],
    ] as const) {
      const page = app.client((await mint(client, { methods })).token);
      expect((await methodsOf(page)).sort()).toEqual(shown);
      expect(await start(page)).toMatchObject(
        shown.some((method) => method === 'PIX')
          ? { __typename: 'StartPixCheckoutSuccess' }
          : { __typename: 'PermissionError', message: 'This checkout token takes no PIX' },
      );
      const input = { attemptId: 'tentativa-000000000000002' };
      if (!shown.some((method) => method === 'CARD'))
        expect((await page.request(START_CARD, { input })).startCheckout).toMatchObject({
          __typename: 'PermissionError',
          message: 'This checkout token takes no cards: its methods are PIX alone',
        });
    }
    for (const methods of [[], ['PIX', 'PIX']])
      expect(await mint(client, { methods })).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: 'input.methods' }],
      });
    expect(await start(client)).toMatchObject({
      __typename: 'PermissionError',
      message: 'startPixCheckout needs a checkout token',
    });
  });

  test('A token for PIX alone takes one cent, and a range that begins there', async () => {
    const shop = await merchant();
    const fixed = app.client((await mint(shop.client, { amount: { fixedCents: 1 } })).token);
    const { payment } = await start(fixed);
    expect(payment.amountCents).toBe(1);
    expect(parseBrCode(payment.pix.copyPaste)).toMatchObject({ amountCents: 1 });
    await pay(shop, payment.paymentId);
    expect((await find(shop.client, payment.paymentId)).status).toBe('PAID');

    const amount = { range: { minCents: 1, maxCents: 79 } };
    const page = app.client((await mint(shop.client, { amount, reusable: true })).token);
    const chosen = (valueCents: number) =>
      start(page, { valueCents, attemptId: `tentativa-0000000000000${valueCents}` });
    for (const valueCents of [1, 79]) expect((await chosen(valueCents)).payment.amountCents).toBe(valueCents);
    for (const valueCents of [0, 80])
      expect(await chosen(valueCents)).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: 'input.valueCents' }],
      });
    // A payment by card is refused before its amount is read.
    const byCard = { attemptId: 'tentativa-000000000000001', valueCents: 80 };
    expect((await page.request(START_CARD, { input: byCard })).startCheckout).toMatchObject({
      __typename: 'PermissionError',
    });
  });

  test.each([{ methods: ['CARD'] }, { methods: ['CARD', 'PIX'] }])(
    'A token that takes cards has their minimum: $methods',
    async ({ methods }) => {
      const { client } = await merchant();
      for (const [amount, path] of [
        [{ fixedCents: 79 }, 'input.amount.fixedCents'],
        [{ range: { minCents: 79, maxCents: 80 } }, 'input.amount.range.minCents'],
      ] as const)
        expect(await mint(client, { methods, amount })).toMatchObject({
          __typename: 'ValidationError',
          fields: [{ path, message: 'must be at least 80 (R$ 0,80)' }],
        });
      const page = app.client((await mint(client, { methods, amount: { fixedCents: 80 } })).token);
      const input = { attemptId: 'tentativa-000000000000001', valueCents: 79 };
      expect((await page.request(START_CARD, { input })).startCheckout).toMatchObject({
        __typename: 'ValidationError',
        fields: [{ path: 'input.valueCents', message: 'must be at least 80 (R$ 0,80)' }],
      });
    },
  );

  test('A test key’s token takes PIX, and no cards', async () => {
    const shop = await merchant('sandbox');
    for (const methods of [['CARD'], ['CARD', 'PIX']])
      expect(await mint(shop.client, { methods })).toMatchObject({ code: 'NOT_IN_SANDBOX' });
    const page = app.client((await mint(shop.client)).token);
    const { payment } = await start(page);
    await pay(shop, payment.paymentId);
    expect((await find(shop.client, payment.paymentId)).status).toBe('PAID');
  });

  test('One attempt id is one payment; a single-use token gives its open payment to a second device', async () => {
    const shop = await merchant();
    const page = app.client((await mint(shop.client)).token);
    const both = await Promise.all([start(page), start(page)]);
    const { payment } = both[0]!;
    const other = await start(page, { attemptId: 'tentativa-000000000000009' });
    for (const each of [...both, other]) expect(each.payment.paymentId).toBe(payment.paymentId);
    await pay(shop, payment.paymentId);
    expect(await start(page, { attemptId: 'tentativa-000000000000010' })).toMatchObject({
      __typename: 'PreconditionError',
      code: 'ORDER_PAID',
    });
    // A repeated start returns its payment in the current state.
    expect((await start(page)).payment).toMatchObject({ paymentId: payment.paymentId, status: 'PAID' });
    expect((await shop.client.request(LIST)).payments.totalCount).toBe(1);
  });

  test('One attempt pays by card or by PIX: the first is kept, and the other sent back', async () => {
    const shop = await merchant();
    const page = app.client((await mint(shop.client, { methods: ['CARD', 'PIX'] })).token);
    const { payment } = await start(page);
    const input = { attemptId: 'tentativa-000000000000001' };
    const { orderCode } = (await page.request(START_CARD, { input })).startCheckout.cardPayment;
    await app.cardPayments.pay(orderCode, approved());
    await pay(shop, payment.paymentId);
    expect(await find(shop.client, payment.paymentId)).toMatchObject({
      status: 'FAILED',
      failureReason: 'paid_elsewhere',
      returnedCredits: [{ cause: 'PAID_ELSEWHERE', returnedAt: expect.any(String) }],
    });
    expect(await start(page, { attemptId: 'tentativa-000000000000002' })).toMatchObject({
      __typename: 'PreconditionError',
      code: 'ORDER_PAID',
    });
  });

  test('A payment token sees its own payment alone, without customer, metadata and refunds, and refunds nothing', async () => {
    const shop = await merchant();
    const given = { customer: { name: 'Ana', taxId: '12345678909' }, metadata: '{}', externalId: '1042' };
    const page = app.client((await mint(shop.client, given)).token);
    const { payment, paymentToken } = await start(page);
    const { paymentId } = payment;
    const other = await sell(shop);
    const hidden = {
      ...{ customer: null, metadata: null, externalId: null, endToEndId: null, refunds: null },
      ...{ feeCents: null, netAmountCents: null },
    };
    expect(payment).toMatchObject({ status: 'PENDING', pix: { copyPaste: expect.any(String) }, ...hidden });
    const payer = app.client(paymentToken);
    await pay(shop, paymentId);
    await shop.client.request(REFUND, { input: { paymentId, amountCents: 10 } });
    await app.work.settled();
    expect(await find(payer, paymentId)).toMatchObject({ status: 'PAID', refundedCents: 10, ...hidden });
    expect(await find(shop.client, paymentId)).toMatchObject({
      customer: { name: 'Ana', taxId: '***.456.789-**' },
      metadata: '{}',
      externalId: '1042',
      endToEndId: expect.any(String),
      refunds: [{ amountCents: 10 }],
      feeCents: expect.any(Number),
      netAmountCents: expect.any(Number),
    });
    expect(await find(payer, other)).toBeNull();
    const stream = payer.ws(FOLLOW, { paymentId: other });
    expect((await stream.next()).value.errors[0]).toMatchObject({
      extensions: { code: 'NOT_FOUND', retryPolicy: 'AFTER_CHANGE' },
    });
    await stream.close();
    for (const query of ['{ payments { totalCount } }', '{ refunds { totalCount } }', '{ updatesCursor }'])
      expect(await firstError(payer, query)).toMatchObject({
        extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' },
      });
    expect((await payer.request(REFUND, { input: { paymentId } })).refundPayment).toMatchObject({
      __typename: 'PermissionError',
    });
    expect(await create(payer)).toMatchObject({ __typename: 'PermissionError' });
    // A checkout token reads no payment: it may be public.
    expect(await firstError(page, ONE, { paymentId })).toMatchObject({
      extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' },
    });
  });

  test('A paused token starts no payment, and a code that was given can still be paid', async () => {
    const shop = await merchant();
    const { token } = await mint(shop.client, { reusable: true });
    const page = app.client(token);
    const { payment } = await start(page);
    await shop.client.request('mutation ($token: String!) { pauseToken(token: $token) { __typename } }', {
      token,
    });
    expect(await start(page, { attemptId: 'tentativa-000000000000002' })).toMatchObject({
      __typename: 'PreconditionError',
      code: 'CHECKOUT_TOKEN_PAUSED',
    });
    await pay(shop, payment.paymentId);
    expect((await find(shop.client, payment.paymentId)).status).toBe('PAID');
  });
});

describe('webhooks', () => {
  const bodyOf = ({ body }: Received) => ownMembers(body);
  const CONFIGURE = `mutation ($url: Url!) { configureWebhook(input: { url: $url }) {
    ... on ConfigureWebhookSuccess { secret } } }`;

  test.each(['live', 'sandbox'] as const)(
    'payment.paid of %s goes to the payment’s own URL first, once, and verifies',
    async (environment) => {
      const shop = await merchant(environment);
      const [ofAccount, own] = [await startReceiver(), await startReceiver()];
      const { configureWebhook } = await shop.client.request(CONFIGURE, { url: ofAccount.url });
      const sale = { metadata: '{"pedido":7}', customer: { name: 'Ana', taxId: '12345678909' } };
      const paymentId = await sell(shop, { ...sale, callbackUrl: own.url });
      await pay(shop, paymentId);
      await pay(shop, paymentId);
      const expected = {
        paymentId,
        amountCents: 5000,
        status: 'paid',
        paidAt: app.clock.now().toISOString(),
        customer: { name: 'Ana' },
        metadata: '{"pedido":7}',
      };
      const event = environment === 'live' ? 'payment.paid' : 'payment.test.paid';
      expect(own.received.map(bodyOf)).toEqual([{ event, ...expected }]);
      expect(ofAccount.received).toEqual([]);
      const { headers, body } = own.received[0]!;
      vi.useFakeTimers({ toFake: ['Date'], now: Number(headers['webhook-timestamp']) * 1_000 });
      onTestFinished(() => void vi.useRealTimers());
      const webhook = new Webhook(configureWebhook.secret);
      expect(webhook.verify(body, headers as Record<string, string>)).toMatchObject({
        ...{ event, ...expected },
        sandbox: environment === 'sandbox',
      });
      expect(() => webhook.verify(body.replace('5000', '5001'), headers as Record<string, string>)).toThrow();
      expect(body).not.toMatch(/12345678909|orderCode|refundId/);
    },
  );

  test('Without an own URL it goes to the account’s, after a late PIX too, and a refund is no second payment', async () => {
    const shop = await merchant();
    const receiver = await startReceiver();
    await shop.client.request(CONFIGURE, { url: receiver.url });
    const paymentId = await sell(shop);
    await pass(SESSION);
    expect(receiver.received).toEqual([]);
    await pay(shop, paymentId);
    const { refundPayment } = await shop.client.request(REFUND, { input: { paymentId } });
    await app.work.settled();
    expect(receiver.received.map(bodyOf)).toMatchObject([
      { event: 'payment.paid', paymentId },
      {
        event: 'refund.completed',
        refundId: refundPayment.refund.refundId,
        amountCents: 5000,
        of: { type: 'payment', id: paymentId },
      },
    ]);
    expect(bodyOf(receiver.received[1]!)).not.toHaveProperty('paymentId');
  });
});
