import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DASHBOARD_SCOPES, type DashboardScope } from '../../server/src/kernel/caller.ts';
import { hashSecret } from '../../server/src/kernel/ids.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { schema } from '../../server/src/programs/modes/schema.ts';
import { addAccount, addKey } from '../support/accounts.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { approved } from '../support/cards.ts';
import { FAMILIES } from '../support/families.ts';
import type { GraphQLClient } from '../support/graphql.ts';
import { openRawSocket, type RawSocket } from '../support/raw-socket.ts';
import { openReceiver, type Receiver } from '../support/receiver.ts';

const MINT = `mutation ($input: CreateDashboardTokenInput!) { createDashboardToken(input: $input) { __typename
  ... on CreateDashboardTokenSuccess { token expiresAt }
  ... on UserError { code message } ... on ValidationError { fields { path message } } } }`;
const REVOKE = `mutation ($token: String!) { revokeToken(token: $token) { __typename } }`;
/** A field needs one of these scopes; null: any dashboard token. */
type Scopes = DashboardScope | readonly DashboardScope[] | null;
/** A refund belongs to a card payment or to a payment: a token with a scope sees the refunds of its kind. */
const REFUND_SCOPES = ['card_payments', 'payments'] as const;
const RETURN_SCOPES = ['card_payments', 'payments', 'subscriptions'] as const;
const SCOPES_WITH_UPDATES = DASHBOARD_SCOPES.filter(
  (scope) => scope !== 'products' && scope !== 'webhook_payloads',
);
/** The scope that each field of `Query` needs. Every field of the schema has its line here, or is one of a family’s. */
const QUERIES: Record<string, { scope: Scopes; query: string }> = {
  ...Object.fromEntries(
    FAMILIES.flatMap(({ one, id, list, scope }) => [
      [one, { scope, query: `{ ${one}(${id}: $${id}) { status } }` }],
      [list, { scope, query: `{ ${list} { totalCount nodes { status } } }` }],
    ]),
  ),
  token: { scope: [], query: '{ token(tokenId: "tok_000000000000000000000000") { status } }' },
  tokens: { scope: [], query: '{ tokens { nodes { tokenId } } }' },
  retention: { scope: null, query: '{ retention { eventsDays } }' },
  viewer: { scope: null, query: '{ viewer { credential environment } }' },
  updateKinds: { scope: null, query: '{ updateKinds }' },
  updatesCursor: { scope: null, query: '{ updatesCursor }' },
  node: { scope: 'products', query: '{ node(id: $product) { id } }' },
  nodes: { scope: 'card_payments', query: '{ nodes(ids: [$cardPayment]) { id } }' },
  _service: { scope: null, query: '{ _service { __typename } }' },
  _entities: {
    scope: 'card_payments',
    query: '{ _entities(representations: [{ __typename: "CardPayment", id: $cardPayment }]) { __typename } }',
  },
  wallet: { scope: 'wallet', query: '{ wallet { balanceCents } }' },
  cardPaymentTotals: {
    scope: 'card_payments',
    query: '{ cardPaymentTotals(groupBy: [STATUS]) { count amountCents groups { status } } }',
  },
  paymentTotals: { scope: 'payments', query: '{ paymentTotals { count amountCents } }' },
  sales: { scope: REFUND_SCOPES, query: '{ sales { totalCount nodes { status } } }' },
  salesTotals: { scope: REFUND_SCOPES, query: '{ salesTotals { count amountCents } }' },
  chargeTotals: { scope: 'payments', query: '{ chargeTotals { count amountCents } }' },
  refundTotals: { scope: REFUND_SCOPES, query: '{ refundTotals { count amountCents } }' },
  payoutTotals: { scope: 'payouts', query: '{ payoutTotals { count amountCents } }' },
  subaccountPayoutTotals: {
    scope: 'subaccounts',
    query: '{ subaccountPayoutTotals { count amountCents } }',
  },
  pausedTokens: { scope: 'card_payments', query: '{ pausedTokens { nodes { tokenId } } }' },
  refund: { scope: REFUND_SCOPES, query: '{ refund(refundId: $refundId) { status } }' },
  returns: { scope: RETURN_SCOPES, query: '{ returns { totalCount nodes { cause } } }' },
  refunds: { scope: REFUND_SCOPES, query: '{ refunds { totalCount nodes { status } } }' },
  product: { scope: 'products', query: '{ product(productId: $productId) { name } }' },
  products: { scope: 'products', query: '{ products { totalCount nodes { name } } }' },
  delivery: { scope: 'products', query: '{ delivery(idempotencyKey: "x") { kind } }' },
  deliveries: { scope: 'products', query: '{ deliveries { totalCount nodes { kind } } }' },
  storeProduct: { scope: 'products', query: '{ storeProduct(storeProductId: "1") { name } }' },
  storeProducts: { scope: 'products', query: '{ storeProducts { totalCount nodes { name } } }' },
  requestsInDoubt: { scope: 'payouts', query: '{ requestsInDoubt { nodes { requestId } } }' },
  subaccount: { scope: 'subaccounts', query: '{ subaccount(subaccountId: $subaccountId) { balanceCents } }' },
  subaccounts: { scope: 'subaccounts', query: '{ subaccounts { totalCount nodes { balanceCents } } }' },
  subaccountPayout: {
    scope: 'subaccounts',
    query: '{ subaccountPayout(subaccountId: $subaccountId, reference: $reference) { status } }',
  },
  subaccountTransfer: {
    scope: 'subaccounts',
    query: '{ subaccountTransfer(subaccountId: $subaccountId, idempotencyKey: "x") { kind } }',
  },
  // The scope is that of the resource which the reference names.
  lookup: { scope: 'payments', query: '{ lookup(reference: $paymentId) { id } }' },
  webhookDeliveries: { scope: 'webhooks', query: '{ webhookDeliveries { totalCount nodes { event } } }' },
  webhookDelivery: { scope: 'webhooks', query: '{ webhookDelivery(webhookId: "x") { status } }' },
  webhookRedelivery: { scope: 'webhooks', query: '{ webhookRedelivery(redeliveryId: "x") { status } }' },
  webhookEndpoint: { scope: 'webhooks', query: '{ webhookEndpoint { url } }' },
  webhookEndpoints: { scope: 'webhooks', query: '{ webhookEndpoints { url } }' },
  webhookEvents: { scope: 'webhooks', query: '{ webhookEvents { name } }' },
};

/** Each field of `Subscription` with the scope that it needs; each sends a first update at once. */
const SUBSCRIPTIONS: Record<string, { scope: Scopes; query: string }> = {
  ...Object.fromEntries(
    FAMILIES.flatMap(({ one, id, follow, all, scope }) => [
      ...(follow ? [[follow, { scope, query: `{ ${follow}(${id}: $${id}) { ${one} { status } } }` }]] : []),
      [all, { scope, query: `{ ${all}(after: $before) { ${one} { status } } }` }],
    ]),
  ),
  accountUpdates: {
    scope: SCOPES_WITH_UPDATES,
    query: '{ accountUpdates(after: $before) { cursor } }',
  },
  allRefundUpdates: {
    scope: REFUND_SCOPES,
    query: '{ allRefundUpdates(after: $before) { refund { status } } }',
  },
  allCheckoutTokenUpdates: {
    scope: 'card_payments',
    query: '{ allCheckoutTokenUpdates(after: $before) { tokenId } }',
  },
  statementUpdates: {
    scope: 'wallet',
    query: '{ statementUpdates(after: $before) { entries { kind } } }',
  },
  walletUpdates: { scope: 'wallet', query: '{ walletUpdates { wallet { balanceCents } } }' },
  subaccountPayoutUpdates: {
    scope: 'subaccounts',
    query:
      '{ subaccountPayoutUpdates(subaccountId: $subaccountId, reference: $reference) { subaccountPayout { status } } }',
  },
  allSubaccountPayoutUpdates: {
    scope: 'subaccounts',
    query: '{ allSubaccountPayoutUpdates(after: $before) { subaccountPayout { status } } }',
  },
  subaccountUpdates: {
    scope: 'subaccounts',
    query: '{ subaccountUpdates(subaccountId: $subaccountId) { subaccount { balanceCents } } }',
  },
  allSubaccountUpdates: {
    scope: 'subaccounts',
    query: '{ allSubaccountUpdates(after: $before) { subaccount { balanceCents } entry { kind } } }',
  },
  webhookDeliveryUpdates: {
    scope: 'webhooks',
    query: '{ webhookDeliveryUpdates(webhookId: $webhookId) { delivery { status } } }',
  },
  allWebhookDeliveryUpdates: {
    scope: 'webhooks',
    query: '{ allWebhookDeliveryUpdates(after: $before) { delivery { status } } }',
  },
};

/** Each field of `Mutation`, with what an unrestricted key could do. */
const MUTATIONS: Record<string, string> = {
  createCardPayment: '(input: { valueCents: 500 })',
  createPayment: '(input: { valueCents: 500 })',
  createCharge: '(input: { valueCents: 500 })',
  createSubscription: '(input: { valueCents: 500, interval: WEEKLY })',
  cancelSubscription: '(subscriptionId: $subscriptionId)',
  createCheckoutToken: '(input: { amount: { fixedCents: 500 } })',
  createDashboardToken: '(input: { scopes: [WALLET] })',
  createProduct: '(input: { name: "x", priceCents: 500 })',
  createTestPayment: '(input: { valueCents: 500 })',
  deleteProduct: '(productId: $productId)',
  createDelivery: '(input: { productId: $productId, content: { text: "x" } })',
  createWebhookEndpoint: '(input: { url: "https://shop.example/hook" })',
  updateWebhookEndpoint: `(input: { endpointId: "whe_${'0'.repeat(24)}" })`,
  deleteWebhookEndpoint: `(endpointId: "whe_${'0'.repeat(24)}")`,
  deleteDelivery: `(deliveryId: "${'0'.repeat(24)}")`,
  revokeToken: '(token: $token)',
  pauseToken: '(token: $token)',
  resumeToken: '(token: $token)',
  configureWebhook: '(input: { url: "https://shop.example/webhook" })',
  createSubaccount: '(input: { name: "Bia" })',
  cancelCardPayment: '(orderCode: $orderCode)',
  cancelPayment: '(paymentId: $paymentId)',
  cancelCharge: '(chargeId: $chargeId)',
  acceptDispute: '(disputeId: $disputeId)',
  deleteDisputeFile: `(disputeId: $disputeId, fileId: "dsf_${'0'.repeat(24)}")`,
  refundCardPayment: '(input: { orderCode: $orderCode, idempotencyKey: "x" })',
  refundPayment: '(input: { paymentId: $paymentId, idempotencyKey: "x" })',
  refundCharge: '(input: { chargeId: $chargeId, idempotencyKey: "x" })',
  submitDisputeEvidence: '(input: { disputeId: $disputeId, text: "x" })',
  redeliverWebhook: '(webhookId: "whd_unknown")',
  redeliverWebhooks: '(input: { filter: {}, idempotencyKey: "x" })',
  cancelWebhookRedelivery: '(redeliveryId: "x")',
  sendTestWebhook: '(input: { event: "payment.paid" })',
  requestPayout:
    '(input: { method: PIX, amountCents: 500, destination: "maria@example.com", idempotencyKey: "x" })',
  requestSubaccountPayout:
    '(input: { subaccountId: $subaccountId, amountCents: 500, pixKey: "maria@example.com", idempotencyKey: "x" })',
  transferToSubaccount: '(input: { subaccountId: $subaccountId, amountCents: 500, idempotencyKey: "x" })',
  startPixCheckout: `(input: { attemptId: "attempt-${randomUUID()}" })`,
  simulatePayment: `(input: { id: "psa_${'0'.repeat(32)}" })`,
  startCheckout: `(input: { attemptId: "attempt-${randomUUID()}" })`,
};

let app: TestApp;
let receiver: Receiver;
let given: Record<string, string>;
beforeAll(async () => {
  app = await startApp();
  const before = (await app.live.request('{ updatesCursor }')).updatesCursor;
  receiver = await openReceiver();
  const configure = `mutation { configureWebhook(input: { url: "${receiver.url}" }) { __typename } }`;
  expect(await app.live.request(configure)).toMatchObject({
    configureWebhook: { __typename: 'ConfigureWebhookSuccess' },
  });
  const { createCardPayment, createProduct } = await app.live.request(`mutation {
    createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { id orderCode } } }
    createProduct(input: { name: "Caneca", priceCents: 4990 }) { ... on CreateProductSuccess { product { id productId } } }
  }`);
  const { id: cardPayment, orderCode } = createCardPayment.cardPayment;
  const { id: product, productId } = createProduct.product;
  const account = await app.database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
  await app.controls.credit({ accountId: account.id, environment: 'live' }, 100_000);
  const { requestPayout, createSubaccount } = await app.live.request(`mutation {
    requestPayout(input: { method: PIX, amountCents: 5000, destination: "maria@example.com", idempotencyKey: "a" }) {
      ... on RequestPayoutSuccess { payout { withdrawalId } } }
    createSubaccount(input: { name: "Bia" }) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } }
  }`);
  const { createCheckoutToken } = await app.live.request(`mutation {
    createCheckoutToken(input: { amount: { fixedCents: 4990 } }) { ... on CreateCheckoutTokenSuccess { token } }
  }`);
  await app.live.request('mutation ($token: String!) { pauseToken(token: $token) { __typename } }', {
    token: createCheckoutToken.token,
  });
  const { withdrawalId } = requestPayout.payout;
  const { subaccountId } = createSubaccount.subaccount;
  const { requestSubaccountPayout } = await app.live.request(
    `mutation ($id: String!) {
      transferToSubaccount(input: { subaccountId: $id, amountCents: 9000, idempotencyKey: $id }) { __typename }
      requestSubaccountPayout(input: { subaccountId: $id, amountCents: 5000, pixKey: "maria@example.com", idempotencyKey: $id }) {
        ... on RequestSubaccountPayoutSuccess { subaccountPayout { payoutId } } }
    }`,
    { id: subaccountId },
  );
  const { sold } = await app.live.request(
    'mutation { sold: createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
  );
  await app.cardPayments.pay(sold.cardPayment.orderCode, approved());
  const { refundCardPayment } = await app.live.request(
    'mutation ($code: String!) { refundCardPayment(input: { orderCode: $code, amountCents: 10, idempotencyKey: $code }) { ... on RefundCardPaymentSuccess { refund { refundId } } } }',
    { code: sold.cardPayment.orderCode },
  );
  const { refundId } = refundCardPayment.refund;
  const tenant = { accountId: account.id, environment: 'live' } as const;
  const { payment } = await app.payments.create(tenant, { valueCents: 4990 });
  const { paymentId } = payment;
  await app.pix.pay({ txid: txidOf(paymentId) });
  await app.payments.receive(tenant, paymentId);
  const refundPayment = `mutation { refundPayment(input: { paymentId: "${paymentId}", amountCents: 10, idempotencyKey: "${paymentId}" }) { __typename } }`;
  expect(await app.live.request(refundPayment)).toEqual({
    refundPayment: { __typename: 'RefundPaymentSuccess' },
  });
  const { charge } = await app.charges.create(tenant, { valueCents: 4990 });
  const { chargeId } = charge;
  await app.pix.pay({ txid: txidOf(chargeId) });
  await app.charges.receive(tenant, chargeId);
  const refundCharge = `mutation { refundCharge(input: { chargeId: "${chargeId}", amountCents: 10, idempotencyKey: "${chargeId}" }) { __typename } }`;
  expect(await app.live.request(refundCharge)).toEqual({
    refundCharge: { __typename: 'RefundChargeSuccess' },
  });
  const disputeId = await app.controls.openDispute(tenant, { amountCents: 100 });
  const { subscription } = await app.subscriptions.create(tenant, { valueCents: 4990, interval: 'weekly' });
  const { subscriptionId } = subscription;
  const [{ webhookId }] = (await app.live.request('{ webhookDeliveries { nodes { webhookId } } }'))
    .webhookDeliveries.nodes;
  const reference = requestSubaccountPayout.subaccountPayout.payoutId;
  given = {
    before,
    cardPayment,
    orderCode,
    paymentId,
    chargeId,
    disputeId,
    product,
    productId,
    refundId,
    withdrawalId,
    subaccountId,
    subscriptionId,
    webhookId,
    reference,
  };
  const merchant = { app, tenant, client: app.live, rest: app.rest() };
  for (const { id, make } of FAMILIES) given[id] ??= await make(merchant);
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
  await receiver.shut();
});

const mint = async (input: object, client: GraphQLClient = app.live) =>
  (await client.request(MINT, { input })).createDashboardToken;
const holder = async (...scopes: DashboardScope[]) =>
  app.client((await mint({ scopes: scopes.map((scope) => scope.toUpperCase()) })).token);

/** The document, with the named values written into it. */
function filled(document: string, values: Record<string, string> = given): string {
  return document.replace(/\$(\w+)/g, (_, name: string) => JSON.stringify(values[name]));
}

describe('a dashboard token', () => {
  test('A dashboard token is opaque, stored hashed, and lives for an hour by default', async () => {
    const { token, expiresAt } = await mint({ scopes: ['WALLET'] });
    expect(token).toMatch(/^ps_dashboard_[A-Za-z0-9_-]{43}$/);
    expect(expiresAt).toBe(later(3_600));
    expect((await mint({ scopes: ['WALLET'], expiresInSeconds: null })).expiresAt).toBe(later(3_600));
    for (const expiresInSeconds of [60, 86_400])
      expect((await mint({ scopes: ['WALLET'], expiresInSeconds })).expiresAt).toBe(later(expiresInSeconds));
    const rows = await app.database.sql.selectFrom('token').selectAll().execute();
    expect(rows.map(({ secret_hash }) => secret_hash)).toContain(hashSecret(token));
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test.each<[object, string]>([
    [{ scopes: [] }, 'input.scopes'],
    [{ scopes: ['WALLET', 'PAYOUTS', 'WALLET'] }, 'input.scopes'],
    [{ expiresInSeconds: 59 }, 'input.expiresInSeconds'],
    [{ expiresInSeconds: 86_401 }, 'input.expiresInSeconds'],
    [{ expiresInSeconds: -3_600 }, 'input.expiresInSeconds'],
    [{ allowedOrigins: ['https://shop.example/path'] }, 'input.allowedOrigins.0'],
    [{ allowedOrigins: Array(21).fill('https://shop.example') }, 'input.allowedOrigins'],
  ])('A dashboard token is not minted with %j', async (wrong, path) => {
    expect(await mint({ scopes: ['WALLET'], ...wrong })).toMatchObject({
      __typename: 'ValidationError',
      fields: [{ path, message: expect.any(String) }],
    });
  });

  test.each([{ scopes: ['EVERYTHING'] }, { scopes: ['wallet'] }, { scopes: [null] }, {}])(
    'A dashboard token has known scopes only: %j is malformed',
    async (input) => {
      const { body } = await app.live.send(MINT, { input });
      expect(body.errors[0].extensions.code).toBe('BAD_USER_INPUT');
    },
  );

  test('A dashboard token is minted by an unrestricted key alone, whatever its scopes', async () => {
    const others = [
      app.client(await addKey(app, { permissions: ['subcontas.gerenciar', 'subcontas.sacar'] })),
      await holder(...DASHBOARD_SCOPES),
    ];
    for (const client of others)
      for (const scope of DASHBOARD_SCOPES)
        expect(await mint({ scopes: [scope.toUpperCase()] }, client)).toMatchObject({
          __typename: 'PermissionError',
          code: 'FORBIDDEN',
        });
  });

  test('A dashboard token belongs to the account and the environment of its key', async () => {
    const sandbox = app.client((await mint({ scopes: ['CARD_PAYMENTS', 'PRODUCTS'] }, app.sandbox)).token);
    expect((await sandbox.request('{ viewer { environment credential permissions } }')).viewer).toEqual({
      environment: 'SANDBOX',
      credential: 'DASHBOARD_TOKEN',
      permissions: null,
    });
    const stranger = app.client(await addKey(app, { accountId: await addAccount(app) }));
    const strange = app.client((await mint({ scopes: ['CARD_PAYMENTS', 'PRODUCTS'] }, stranger)).token);
    for (const client of [sandbox, strange])
      expect(
        await client.request(
          `{ cardPayment(orderCode: "${given.orderCode}") { status } products { totalCount }
             product(productId: "${given.productId}") { name } }`,
        ),
      ).toEqual({ cardPayment: null, product: null, products: { totalCount: 0 } });
  });

  test('A dashboard token is valid on its allowed origins alone', async () => {
    const { token } = await mint({ scopes: ['WALLET'], allowedOrigins: ['https://painel.example/'] });
    const wallet = '{ wallet { currency } }';
    const origin = (of: string) => app.client(token, { origin: of });
    expect((await origin('https://painel.example').send(wallet)).status).toBe(200);
    for (const client of [origin('https://other.example'), app.client(token)])
      expect((await client.send(wallet)).body.errors[0].extensions.code).toBe('FORBIDDEN');
  });

  test('A dashboard token shows customer and metadata, as its key does', async () => {
    const { createCardPayment } = await app.live.request(`mutation { createCardPayment(
      input: { valueCents: 500, customer: { name: "Ana" }, metadata: "{}" }
    ) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }`);
    const client = await holder('card_payments');
    expect(
      await client.request(
        'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { customer { name } metadata } }',
        createCardPayment.cardPayment,
      ),
    ).toEqual({ cardPayment: { customer: { name: 'Ana' }, metadata: '{}' } });
  });

  test('A dashboard token is refused by the REST interface', async () => {
    const { token } = await mint({ scopes: ['WALLET'] });
    expect((await app.rest(token).get('/wallet')).status).toBe(401);
  });
});

describe.each(DASHBOARD_SCOPES)('the scope %s', (scope) => {
  test('A scope opens exactly its own queries', async () => {
    // All tokens together have one limit a minute, that of their address.
    app.clock.advance(60_000);
    const client = await holder(scope);
    const opened = await Promise.all(
      Object.entries(QUERIES).map(async ([field, { query }]) => {
        const { body } = await client.send(filled(query));
        return [field, body.errors?.[0].extensions.code ?? 'open'];
      }),
    );
    expect(Object.fromEntries(opened)).toEqual(expected(QUERIES, scope));
  });

  test('A scope opens exactly its own subscriptions', async () => {
    const client = await holder(scope);
    const opened = await Promise.all(
      Object.entries(SUBSCRIPTIONS).map(async ([field, { query }]) => {
        const stream = client.ws(`subscription ${filled(query)}`);
        const { value } = await stream.next();
        await stream.close();
        return [field, value.errors?.[0].extensions.code ?? 'open'];
      }),
    );
    expect(Object.fromEntries(opened)).toEqual(expected(SUBSCRIPTIONS, scope));
  });
});

describe('all scopes together', () => {
  // The scopes above have used most of the minute's root fields of this address.
  beforeAll(async () => {
    app.clock.advance(60_000);
    await app.work.settled();
  });

  test.each(Object.entries(MUTATIONS))('A token with all scopes changes nothing: %s', async (field, args) => {
    const { token } = await mint({ scopes: DASHBOARD_SCOPES.map((scope) => scope.toUpperCase()) });
    const before = await everything();
    const { body } = await app
      .client(token)
      .send(`mutation { ${field}${filled(args, { ...given, token })} { __typename } }`);
    expect(body).toEqual({ data: { [field]: { __typename: 'PermissionError' } } });
    expect(await everything()).toEqual(before);
  });

  test('Every root field has a scope in these tests', () => {
    const fieldsOf = (type: ReturnType<typeof schema.getQueryType>) => Object.keys(type?.getFields() ?? {});
    expect(Object.keys(QUERIES).sort()).toEqual(fieldsOf(schema.getQueryType()).sort());
    expect(Object.keys(SUBSCRIPTIONS).sort()).toEqual(fieldsOf(schema.getSubscriptionType()).sort());
    expect(Object.keys(MUTATIONS).sort()).toEqual(fieldsOf(schema.getMutationType()).sort());
  });
});

describe('what a dashboard token has opened', () => {
  const WALLET = 'subscription { walletUpdates { wallet { balanceCents } } }';

  test('A dashboard token’s subscription ends when the token is revoked, and the token is refused', async () => {
    const { token } = await mint({ scopes: ['WALLET'] });
    const { closed } = await follow(token);
    expect((await app.live.request(REVOKE, { token })).revokeToken.__typename).toBe('RevokeTokenSuccess');
    expect(await closed).toMatchObject({ code: 4403, reason: 'This credential was revoked' });
    expect((await app.client(token).send('{ wallet { currency } }')).status).toBe(401);
    expect((await app.live.request(REVOKE, { token })).revokeToken.__typename).toBe('RevokeTokenSuccess');
  });

  test('A dashboard token’s subscription ends at the instant at which the token expires', async () => {
    const { token } = await mint({ scopes: ['WALLET'], expiresInSeconds: 60 });
    const { closed } = await follow(token);
    app.clock.advance(60_000);
    expect(await closed).toMatchObject({ code: 4403, reason: 'This token has expired' });
    expect((await app.client(token).send('{ wallet { currency } }')).status).toBe(401);
  });

  test('A dashboard token cannot be revoked by another account', async () => {
    const { token } = await mint({ scopes: ['WALLET'] });
    const stranger = app.client(await addKey(app, { accountId: await addAccount(app) }));
    for (const client of [stranger, app.sandbox])
      expect((await client.request(REVOKE, { token })).revokeToken.__typename).toBe('NotFoundError');
    expect((await app.client(token).send('{ wallet { currency } }')).status).toBe(200);
  });

  /** Follows the wallet; `closed` resolves when its socket ends. */
  async function follow(token: string): Promise<RawSocket> {
    const connection = openRawSocket(app.url);
    await connection.init(token);
    connection.send({ id: 'a', type: 'subscribe', payload: { query: WALLET } });
    expect((await connection.next()).payload.data.walletUpdates).toBeTruthy();
    return connection;
  }
});

function later(seconds: number): string {
  return new Date(app.clock.now().getTime() + seconds * 1_000).toISOString();
}

/** The expected outcome of each field for a token with this scope alone. */
function expected(fields: Record<string, { scope: Scopes }>, scope: DashboardScope) {
  return Object.fromEntries(
    Object.entries(fields).map(([field, needed]) => [
      field,
      needed.scope === null || [needed.scope].flat().includes(scope) ? 'open' : 'FORBIDDEN',
    ]),
  );
}

describe('the tokens of an account', () => {
  const MINTED = `mutation ($input: CreateCheckoutTokenInput!) { minted: createCheckoutToken(input: $input) {
    ... on CreateCheckoutTokenSuccess { token tokenId } ... on UserError { message } } }`;
  const TOKEN = `tokenId kind status environment reusable orderId methods scopes expiresAt revokedAt
    amount { fixedCents minCents maxCents productId } pause { reason }`;
  const LIST = `query ($filter: TokenFilter, $first: Int, $after: String, $last: Int, $before: String) {
    tokens(filter: $filter, first: $first, after: $after, last: $last, before: $before) {
      nodes { ${TOKEN} } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  const NAMED = ['revokeToken', 'pauseToken', 'resumeToken'] as const;
  const change = (name: (typeof NAMED)[number]) =>
    `mutation ($token: String, $tokenId: String) { done: ${name}(token: $token, tokenId: $tokenId) {
      __typename ${name === 'revokeToken' ? '... on RevokeTokenSuccess { tokenId }' : ''} ... on ValidationError { fields { path } } } }`;

  async function shop() {
    const accountId = await addAccount(app);
    const key = await addKey(app, { accountId });
    const client = app.client(key);
    const minted = async (input: object): Promise<{ token: string; tokenId: string }> =>
      (await client.request(MINTED, { input })).minted;
    const list = async (variables: object = {}) => (await client.request(LIST, { ...variables })).tokens;
    const ids = async (filter: object = {}): Promise<string[]> =>
      (await list({ filter })).nodes.map(({ tokenId }: { tokenId: string }) => tokenId);
    return { accountId, key, client, minted, list, ids };
  }

  test('A leaked reusable token is found in the list and ended by its id, and what it has open ends', async () => {
    const { client, minted, list, ids } = await shop();
    const single = await minted({
      amount: { fixedCents: 500 },
      externalId: '1042',
      methods: ['PIX', 'CARD'],
    });
    const leaked = await minted({ amount: { range: { minCents: 100, maxCents: 900 } }, reusable: true });
    const { createDashboardToken: board } = await client.request(
      'mutation { createDashboardToken(input: { scopes: [WALLET] }) { ... on CreateDashboardTokenSuccess { token tokenId } } }',
    );
    for (const { tokenId } of [single, leaked, board]) expect(tokenId).toMatch(/^tok_[0-9a-f]{24}$/);

    const { nodes } = await list();
    expect(nodes).toMatchObject([
      { tokenId: board.tokenId, kind: 'DASHBOARD', scopes: ['WALLET'], reusable: null, amount: null },
      {
        ...{
          tokenId: leaked.tokenId,
          kind: 'CHECKOUT',
          status: 'ACTIVE',
          environment: 'LIVE',
          reusable: true,
        },
        ...{
          expiresAt: null,
          revokedAt: null,
          pause: null,
          orderId: null,
          methods: ['CARD'],
          scopes: null,
        },
        amount: { fixedCents: null, minCents: 100, maxCents: 900, productId: null },
      },
      { tokenId: single.tokenId, reusable: false, orderId: '1042', methods: ['CARD', 'PIX'] },
    ]);
    for (const text of [single.token, leaked.token, board.token]) {
      expect(JSON.stringify(nodes)).not.toContain(text);
      expect(JSON.stringify(nodes)).not.toContain(hashSecret(text));
    }
    expect(await ids({ reusable: true })).toEqual([leaked.tokenId]);
    expect(await ids({ reusable: false })).toEqual([single.tokenId]);
    expect(await ids({ kind: ['DASHBOARD'] })).toEqual([board.tokenId]);
    expect(await ids({ kind: ['DASHBOARD'], reusable: true })).toEqual([]);
    expect(await ids({ kind: [] })).toEqual([]);
    expect(await ids({ kind: ['CHECKOUT', 'DASHBOARD'] })).toHaveLength(3);

    const connection = openRawSocket(app.url);
    await connection.init(leaked.token);
    const { tokenId } = leaked;
    expect((await client.request(change('revokeToken'), { tokenId })).done).toEqual({
      ...{ __typename: 'RevokeTokenSuccess', tokenId },
    });
    expect(await connection.closed).toMatchObject({ code: 4403, reason: 'This credential was revoked' });
    expect((await app.client(leaked.token).send('{ viewer { credential } }')).status).toBe(401);
    expect(await ids()).toEqual([board.tokenId, single.tokenId]);
    expect(await ids({ ended: true })).toEqual([board.tokenId, tokenId, single.tokenId]);
    const { token } = await client.request(
      `query ($tokenId: String!) { token(tokenId: $tokenId) { ${TOKEN} } }`,
      { tokenId },
    );
    expect(token).toMatchObject({ status: 'REVOKED', revokedAt: app.clock.now().toISOString() });
    expect((await client.request(change('revokeToken'), { tokenId })).done.__typename).toBe(
      'RevokeTokenSuccess',
    );
  });

  test('The list has pages from either end, and nothing of tokens that have ended with their time or their key', async () => {
    const { accountId, client, minted, list, ids } = await shop();
    const made = [];
    for (let index = 0; index < 5; index += 1)
      made.unshift((await minted({ amount: { fixedCents: 500 }, reusable: index % 2 === 0 })).tokenId);
    const first = await list({ first: 2 });
    const rest = await list({ first: 10, after: first.pageInfo.endCursor });
    const idsOf = (page: { nodes: { tokenId: string }[] }) => page.nodes.map(({ tokenId }) => tokenId);
    expect([idsOf(first), idsOf(rest)]).toEqual([made.slice(0, 2), made.slice(2)]);
    expect([first.pageInfo.hasNextPage, rest.pageInfo.hasNextPage]).toEqual([true, false]);
    const last = await list({ last: 2 });
    const before = await list({ last: 10, before: last.pageInfo.startCursor });
    expect([idsOf(before), idsOf(last)]).toEqual([made.slice(0, 3), made.slice(3)]);

    const other = app.client(await addKey(app, { accountId }));
    const { viewer } = await other.request('{ viewer { credential } }');
    expect(viewer.credential).toBe('API_KEY');
    const ofOther = (await other.request(MINTED, { input: { amount: { fixedCents: 500 }, reusable: true } }))
      .minted;
    const { mintedBy } = (
      await client.request('query ($id: String!) { token(tokenId: $id) { mintedBy } }', {
        id: ofOther.tokenId,
      })
    ).token;
    await app.database.sql
      .updateTable('api_key')
      .set({ revoked_at: app.clock.now() })
      .where('id', '=', mintedBy)
      .execute();
    app.clock.advance(86_400_000);
    await app.work.settled();
    const reusable = made.filter((_, index) => index % 2 === 0);
    expect(await ids()).toEqual(reusable);
    const ended = (await list({ filter: { ended: true } })).nodes;
    expect(ended.map(({ status }: { status: string }) => status)).toEqual([
      'REVOKED',
      ...made.map((_, index) => (index % 2 === 0 ? 'ACTIVE' : 'EXPIRED')),
    ]);
  });

  test('A token is paused and resumed by its id, and the list shows the pause', async () => {
    const { client, minted, list } = await shop();
    const { tokenId } = await minted({ amount: { fixedCents: 500 }, orderId: 'pausa' });
    const second = await minted({ amount: { fixedCents: 500 }, orderId: 'pausa' });
    await client.request(change('pauseToken'), { tokenId });
    expect((await list()).nodes).toMatchObject([
      { tokenId: second.tokenId, status: 'ACTIVE', pause: { reason: 'MERCHANT' } },
      { tokenId, pause: { reason: 'MERCHANT' } },
    ]);
    await client.request(change('resumeToken'), { tokenId });
    expect((await list()).nodes).toMatchObject([{ pause: null }, { pause: null }]);
  });

  test('The pauses have pages from either end', async () => {
    const { client, minted } = await shop();
    const made: string[] = [];
    for (let index = 0; index < 3; index += 1) {
      made.unshift((await minted({ amount: { fixedCents: 500 }, reusable: true })).tokenId);
      await client.request(change('pauseToken'), { tokenId: made[0] });
    }
    const page = async (args: string) =>
      (
        await client.request(
          `{ page: pausedTokens(${args}) { nodes { tokenId } pageInfo { hasNextPage startCursor endCursor } } }`,
        )
      ).page;
    const idsOf = ({ nodes }: { nodes: { tokenId: string }[] }) => nodes.map(({ tokenId }) => tokenId);
    const first = await page('first: 2');
    expect([idsOf(first), first.pageInfo.hasNextPage]).toEqual([made.slice(0, 2), true]);
    expect(idsOf(await page(`first: 2, after: "${first.pageInfo.endCursor}"`))).toEqual(made.slice(2));
    const last = await page('last: 2');
    expect(idsOf(last)).toEqual(made.slice(1));
    expect(idsOf(await page(`last: 2, before: "${last.pageInfo.startCursor}"`))).toEqual(made.slice(0, 1));
  });

  test.each(NAMED)('%s takes the text or the id, one of them, and refuses others by name', async (name) => {
    const { client, minted } = await shop();
    const { token, tokenId } = await minted({ amount: { fixedCents: 500 }, reusable: true });
    for (const variables of [{}, { token, tokenId }, { tokenId: token }, { tokenId: 'tok_1' }])
      expect((await client.request(change(name), variables)).done).toEqual({
        ...{ __typename: 'ValidationError', fields: [{ path: 'tokenId' }] },
      });
    const stranger = (await shop()).client;
    for (const variables of [{ tokenId }, { token: tokenId }, { token }])
      expect((await stranger.request(change(name), variables)).done.__typename).toBe('NotFoundError');
    expect((await client.request(change(name), { token: tokenId })).done.__typename).toMatch(/Success$/);
  });

  test('The list is for unrestricted keys alone, and shows nothing of another account or environment', async () => {
    const { accountId, minted } = await shop();
    const { tokenId } = await minted({ amount: { fixedCents: 500 }, reusable: true });
    const test = app.client(await addKey(app, { accountId, environment: 'sandbox' }));
    for (const client of [test, (await shop()).client]) {
      expect((await client.request(LIST)).tokens.nodes).toEqual([]);
      const query = 'query ($tokenId: String!) { token(tokenId: $tokenId) { status } }';
      expect((await client.request(query, { tokenId })).token).toBeNull();
    }
  });
});

/** Everything that a mutation could have changed. */
async function everything() {
  const tables = [
    'card_payment',
    'payment',
    'refund',
    'product',
    'event',
    'token',
    'test_payment',
    'subaccount',
    'dispute',
    'delivery',
  ] as const;
  return Promise.all(
    tables.map((table) =>
      app.database.sql
        .selectFrom(table)
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow(),
    ),
  );
}
