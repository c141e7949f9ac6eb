import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { fund } from '../support/funds.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import type { RestClient } from '../support/rest.ts';

// What an error says in data is true: a client that does what `retry` says gets what it promises.

const ERRORS = '__typename ... on UserError { code message retryPolicy retryAfterSeconds }';
const PAY_OUT = `mutation ($input: RequestPayoutInput!) { requestPayout(input: $input) {
  ... on RequestPayoutSuccess { replayed payout { code } } ${ERRORS} } }`;
const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) {
  ... on CreatePaymentSuccess { replayed payment { paymentId status } } ... on UpstreamError { lookupReference } ${ERRORS} } }`;
const CANCEL = `mutation ($id: String!) { cancelPayment(paymentId: $id) {
  ... on CancelPaymentSuccess { payment { status } } ${ERRORS} } }`;
const REFUND = `mutation ($input: RefundPaymentInput!) { refundPayment(input: $input) {
  ... on RefundPaymentSuccess { replayed refund { refundId } } ${ERRORS} } }`;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterEach(() => expect(app.faults).toEqual([]));
afterAll(() => app.close());

interface Merchant {
  tenant: { accountId: string; environment: 'live' };
  client: GraphQLClient;
  rest: RestClient;
}

async function merchant(cents = 100_000): Promise<Merchant> {
  const tenant = { accountId: await addAccount(app), environment: 'live' as const };
  await fund({ database: app.database, tenant }, { cents });
  const key = await addKey(app, tenant);
  return { tenant, client: app.client(key), rest: app.rest(key) };
}

const payOut = async ({ client }: Merchant, input: object) =>
  (
    await client.request(PAY_OUT, {
      input: { method: 'PIX', amountCents: 1_000, destination: 'ana@example.com', ...input },
    })
  ).requestPayout;
const payouts = async ({ client }: Merchant): Promise<number> =>
  (await client.request('{ payouts { totalCount } }')).payouts.totalCount;
const create = async ({ client }: Merchant, input: object) =>
  (await client.request(CREATE, { input: { valueCents: 5_000, ...input } })).createPayment;

/** Sells a payment that is paid. */
async function sell(shop: Merchant, input: object = {}): Promise<string> {
  const { paymentId } = (await create(shop, input)).payment;
  await app.pix.pay({ txid: txidOf(paymentId) });
  await app.payments.receive(shop.tenant, paymentId);
  await app.work.settled();
  return paymentId;
}

describe('SAME_KEY', () => {
  test('The payout of a spent hour succeeds with its key after retryAfterSeconds, once', async () => {
    const shop = await merchant();
    for (let each = 0; each < 10; each += 1) await payOut(shop, { idempotencyKey: `k${each}` });
    const late = { idempotencyKey: 'late' };
    const refused = await payOut(shop, late);
    expect(refused).toMatchObject({ code: 'RATE_LIMITED', retryPolicy: 'SAME_KEY' });
    app.clock.advance(refused.retryAfterSeconds * 1_000);
    expect(await payOut(shop, late)).toMatchObject({ replayed: false });
    expect(await payOut(shop, late)).toMatchObject({ replayed: true });
    expect(await payouts(shop)).toBe(11);
  });

  test('A payment whose code is late gets it with its key, and is no second payment', async () => {
    const shop = await merchant();
    const slow = { customer: { email: 'demora-codigo@psa.example' }, idempotencyKey: 'slow' };
    const refused = await create(shop, slow);
    expect(refused).toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', retryPolicy: 'SAME_KEY' });
    app.clock.advance(20_000);
    const { payment, replayed } = await create(shop, slow);
    expect([payment.paymentId, replayed]).toEqual([refused.lookupReference, true]);
  });
});

test('NEW_KEY: what the bank has refused stays refused under its key, and another key makes another attempt', async () => {
  const shop = await merchant();
  const refused = { customer: { email: 'sem-codigo@psa.example' }, idempotencyKey: 'first' };
  const answer = await create(shop, refused);
  expect(answer).toMatchObject({ __typename: 'UpstreamError', code: 'BANK_REFUSED', retryPolicy: 'NEW_KEY' });
  const again = await create(shop, refused);
  expect(again.payment).toEqual({ paymentId: answer.lookupReference, status: 'FAILED' });
  const other = await create(shop, { customer: { email: 'ana@example.com' }, idempotencyKey: 'second' });
  expect(other.payment.status).toBe('PENDING');
  const overRest = await shop.rest.post('/payments', { valueCents: 5_000, customer: refused.customer });
  expect(overRest).toMatchObject({ status: 409, body: { code: 'BANK_REFUSED', retryPolicy: 'NEW_KEY' } });
});

describe('AFTER_CHANGE', () => {
  test('A payout without funds succeeds with the same key once there are funds, once', async () => {
    const shop = await merchant(100);
    const wanted = { idempotencyKey: 'salary' };
    expect(await payOut(shop, wanted)).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      retryPolicy: 'AFTER_CHANGE',
    });
    await fund({ database: app.database, tenant: shop.tenant }, { cents: 10_000 });
    expect(await payOut(shop, wanted)).toMatchObject({ replayed: false });
    expect(await payOut(shop, wanted)).toMatchObject({ replayed: true });
    expect(await payouts(shop)).toBe(1);
  });

  test('A corrected input uses the key of the refused one', async () => {
    const shop = await merchant();
    const refused = await payOut(shop, { idempotencyKey: 'k', amountCents: 1 });
    expect(refused).toMatchObject({ code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' });
    expect(await payOut(shop, { idempotencyKey: 'k' })).toMatchObject({ replayed: false });
  });

  test('A refund of a payment that is not paid yet succeeds with its key once it is paid', async () => {
    const shop = await merchant();
    const { paymentId } = (await create(shop, {})).payment;
    const input = { paymentId, idempotencyKey: 'r' };
    const refund = async () => (await shop.client.request(REFUND, { input })).refundPayment;
    expect(await refund()).toMatchObject({ code: 'NOT_REFUNDABLE', retryPolicy: 'AFTER_CHANGE' });
    await app.pix.pay({ txid: txidOf(paymentId) });
    await app.payments.receive(shop.tenant, paymentId);
    expect(await refund()).toMatchObject({ replayed: false });
  });
});

describe('NEVER', () => {
  test('A key with another input, a paid payment and a paid order are refused again in the same way', async () => {
    const shop = await merchant();
    await payOut(shop, { idempotencyKey: 'k' });
    const conflict = () => payOut(shop, { idempotencyKey: 'k', amountCents: 2_000 });
    const paid = await sell(shop, { externalId: 'order-1' });
    const cancel = async () => (await shop.client.request(CANCEL, { id: paid })).cancelPayment;
    const another = () => create(shop, { externalId: 'order-1', idempotencyKey: 'o' });
    for (const [attempt, code] of [
      [conflict, 'IDEMPOTENCY_CONFLICT'],
      [cancel, 'NOT_CANCELABLE'],
      [another, 'ORDER_PAID'],
    ] as const) {
      const refused = await attempt();
      expect(refused).toMatchObject({ code, retryPolicy: 'NEVER', retryAfterSeconds: null });
      app.clock.advance(2 * 60 * 60_000);
      expect(await attempt()).toEqual(refused);
    }
    await shop.client.request(REFUND, { input: { paymentId: paid, idempotencyKey: 'whole' } });
    await app.work.settled();
    const refunded = await another();
    expect(refunded).toMatchObject({ code: 'ORDER_REFUNDED', retryPolicy: 'NEVER' });
    expect(await another()).toEqual(refunded);
    expect(await payouts(shop)).toBe(1);
  });
});

describe('a document of 0.1.0', () => {
  test('The old name of PreconditionError goes on selecting it', async () => {
    const shop = await merchant();
    const paid = await sell(shop);
    const old = `mutation ($id: String!) { cancelPayment(paymentId: $id) {
      ... on UnavailableError { code message } ... on PreconditionError { retryPolicy } __typename } }`;
    expect((await shop.client.request(old, { id: paid })).cancelPayment).toEqual({
      __typename: 'PreconditionError',
      code: 'NOT_CANCELABLE',
      message: 'This payment has been paid: refund it',
      retryPolicy: 'NEVER',
    });
  });
});

describe('an id of another resource', () => {
  const IDS = {
    cardPayment: 'PSC-0123456789ABCDEFGHJKMNPQ',
    payment: 'psa_0c7d1a5be2f94a3d8e6b7f100c7d1a5b',
    subscription: 'psa_sub_0c7d1a5be2f94a3d8e6b7f100c7d1a5b',
    charge: 'psc_0c7d1a5be2f94a3d8e6b7f100c7d1a5b',
    split: 'psplit_0c7d1a5be2f94a3d8e6b7f100c7d1a5b',
    subaccount: 'sacc_0c7d1a5be2f94a3d8e6b7f100c7d1a5b',
    refund: 'ref_0c7d1a5be2f94a3d8e6b7f10',
    dispute: 'dsp_0c7d1a5be2f94a3d8e6b7f10',
    payout: 'SAQ-0123456789AB',
    subaccountPayout: 'saq_idem_salary',
  };

  test.each([
    [`cardPayment(orderCode: "${IDS.payment}")`, 'orderCode', 'a payment: use payment(paymentId:)'],
    [`cardPayment(orderCode: "${IDS.split}")`, 'orderCode', 'a charge: use charge(chargeId:)'],
    [`payment(paymentId: "${IDS.cardPayment}")`, 'paymentId', 'a card payment: use cardPayment(orderCode:)'],
    [
      `payment(paymentId: "${IDS.subscription}")`,
      'paymentId',
      'a subscription: use subscription(subscriptionId:)',
    ],
    [`charge(chargeId: "${IDS.payment}")`, 'chargeId', 'a payment: use payment(paymentId:)'],
    [
      `subscription(subscriptionId: "${IDS.payment}")`,
      'subscriptionId',
      'a payment: use payment(paymentId:)',
    ],
    [`refund(refundId: "${IDS.payment}")`, 'refundId', 'a payment: use payment(paymentId:)'],
    [`dispute(disputeId: "${IDS.refund}")`, 'disputeId', 'a refund: use refund(refundId:)'],
    [`product(productId: "${IDS.charge}")`, 'productId', 'a charge: use charge(chargeId:)'],
    [
      `storeProduct(storeProductId: "${IDS.dispute}")`,
      'storeProductId',
      'a dispute: use dispute(disputeId:)',
    ],
    [`subaccount(subaccountId: "${IDS.payout}")`, 'subaccountId', 'a payout: use payout(code:)'],
    [`payout(withdrawalId: "${IDS.payout}")`, 'withdrawalId', 'a payout: use payout(code:)'],
    [
      `payout(code: "${IDS.subaccountPayout}")`,
      'code',
      'a payout of a subaccount: use subaccountPayout(subaccountId:, reference:)',
    ],
    [`cardPayment(orderCode: "${btoa(`CardPayment:${IDS.cardPayment}`)}")`, 'orderCode', null],
    [`node(id: "${IDS.payment}")`, 'id', 'a payment: use payment(paymentId:)'],
  ])('%s names the operation that is meant', async (field, path, says) => {
    const { client } = await merchant();
    const { body } = await client.send(`{ ${field} { __typename } }`);
    const message = `is the id of ${says ?? 'a node: use node(id:)'}`;
    expect(body.errors).toMatchObject([
      { message: `${path}: ${message}`, extensions: { code: 'BAD_USER_INPUT', fields: [{ path, message }] } },
    ]);
  });

  test.each([
    [`cancelPayment(paymentId: "${IDS.cardPayment}")`, 'a card payment: use cancelCardPayment(orderCode:)'],
    [`cancelCharge(chargeId: "${IDS.payment}")`, 'a payment: use cancelPayment(paymentId:)'],
    [
      `refundPayment(input: { paymentId: "${IDS.cardPayment}", idempotencyKey: "k" })`,
      'a card payment: use refundCardPayment(input: { orderCode: … })',
    ],
    [
      `refundCardPayment(input: { orderCode: "${IDS.charge}", idempotencyKey: "k" })`,
      'a charge: use refundCharge(input: { chargeId: … })',
    ],
    [`deleteProduct(productId: "${IDS.payment}")`, 'a payment: use payment(paymentId:)'],
    [`acceptDispute(disputeId: "${IDS.payment}")`, 'a payment: use payment(paymentId:)'],
  ])('%s is refused with the operation that is meant, and does nothing', async (field, says) => {
    const { client } = await merchant();
    const answer = await client.request(`mutation { done: ${field} { ${ERRORS} } }`);
    expect(answer.done).toMatchObject({
      __typename: 'ValidationError',
      code: 'BAD_USER_INPUT',
      message: expect.stringContaining(`is the id of ${says}`),
    });
  });

  test.each([
    ['GET', `/card-payments/${IDS.payment}`, 'a payment: use GET /v1/payments/{id}'],
    ['DELETE', `/card-payments/${IDS.payment}`, 'a payment: use DELETE /v1/payments/{id}'],
    ['POST', `/payments/${IDS.cardPayment}/refunds`, 'use POST /v1/card-payments/{orderCode}/refunds'],
    ['GET', `/charges/${IDS.cardPayment}`, 'use GET /v1/card-payments/{orderCode}'],
    ['GET', `/payments/${IDS.subscription}`, 'use GET /v1/subscriptions/{id}'],
    ['DELETE', `/products/${IDS.payment}`, 'a payment: use GET /v1/payments/{id}'],
    ['GET', `/refunds/${IDS.dispute}`, 'use GET /v1/disputes/{id}'],
    ['GET', `/payouts/${IDS.subaccountPayout}`, 'use GET /v1/subaccounts/{id}/payouts/{payoutId}'],
  ])('%s /v1%s names the operation that is meant', async (method, path, says) => {
    const { rest } = await merchant();
    const { status, body } = await rest.send(path, { method });
    expect([status, body.code]).toEqual([400, 'BAD_USER_INPUT']);
    expect(body.error).toContain(says);
  });

  test('An id of another resource in a body of /v1 names the operation that is meant, and does nothing', async () => {
    const { rest } = await merchant();
    const { status, body } = await rest.post('/payments', { productId: IDS.charge });
    expect([status, body.code]).toEqual([400, 'BAD_USER_INPUT']);
    expect(body.error).toBe('productId: is the id of a charge: use GET /v1/charges/{id}');
  });
});
