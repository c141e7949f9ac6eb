import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { openReceiver, type Receiver } from '../../support/receiver.ts';

const ALL = `subscription ($after: String, $kinds: [AccountUpdateKind!]) {
  accountUpdates(after: $after, kinds: $kinds) { __typename cursor occurredAt
    ... on CardPaymentUpdate { cardPayment { id status } }
    ... on PaymentUpdate { payment { id status } }
    ... on RefundUpdate { refund { id status } }
    ... on PayoutUpdate { payout { id payoutStatus: status } }
    ... on SubaccountPayoutUpdate { subaccountPayout { payoutId payoutStatus: status } }
    ... on SubaccountUpdate { subaccount { balanceCents } entry { kind amountCents } }
    ... on WebhookDeliveryUpdate { previousStatus delivery { webhookId deliveryStatus: status } }
    ... on WalletUpdate { wallet { balanceCents } }
  }
}`;
/** The type of the updates of each resource in the log. */
const TYPES: Record<string, string> = {
  card_payment: 'CardPaymentUpdate',
  charge: 'ChargeUpdate',
  checkout_token: 'CheckoutTokenUpdate',
  dispute: 'DisputeUpdate',
  payment: 'PaymentUpdate',
  payout: 'PayoutUpdate',
  refund: 'RefundUpdate',
  subaccount: 'SubaccountUpdate',
  subaccount_payout: 'SubaccountPayoutUpdate',
  subscription: 'PixSubscriptionUpdate',
  wallet: 'WalletUpdate',
  webhook_delivery: 'WebhookDeliveryUpdate',
};

interface Update {
  __typename: string;
  cursor: string;
}

let app: TestApp;
let receiver: Receiver;
let accountId: string;
let live: GraphQLClient;
/** The account's cursor before its first change. */
let before: string;
/** The types of the updates in its log, in order. */
let logged: string[];

beforeAll(async () => {
  app = await startApp();
  accountId = await addAccount(app);
  live = app.client(await addKey(app, { accountId }));
  before = await cursorOf(live);
  receiver = await openReceiver();
  await live.request(`mutation { configureWebhook(input: { url: "${receiver.url}" }) { __typename } }`);
  await happen(live);
  await app.work.settled();
  const rows = await app.database.sql
    .selectFrom('event')
    .select('resource')
    .where('account_id', '=', accountId)
    .orderBy('version')
    .execute();
  logged = rows.flatMap(({ resource }) => TYPES[resource] ?? []);
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
  await receiver.shut();
});

const cursorOf = async (client: GraphQLClient) =>
  (await client.request('{ updatesCursor }')).updatesCursor as string;

/** Changes a resource of each kind, and revokes a token in between, which is no update. */
async function happen(client: GraphQLClient): Promise<void> {
  const tenant = { accountId, environment: 'live' } as const;
  const { payment: card } = await app.cardPayments.create(tenant, { valueCents: 4990 });
  await app.cardPayments.pay(card.orderCode, approved());
  const { payment } = await app.payments.create(tenant, { valueCents: 4990 });
  await app.pix.pay({ txid: txidOf(payment.paymentId) });
  await app.payments.receive(tenant, payment.paymentId);
  await app.charges.create(tenant, { valueCents: 100 });
  await app.subscriptions.create(tenant, { valueCents: 4990, interval: 'weekly' });
  await app.controls.credit(tenant, 100_000);
  await app.controls.openDispute(tenant, { amountCents: 100 });
  const done = await client.request(
    `mutation ($payment: String!) {
      token: createCheckoutToken(input: { amount: { fixedCents: 4990 } }) {
        ... on CreateCheckoutTokenSuccess { token } }
      dashboard: createDashboardToken(input: { scopes: [WALLET] }) { ... on CreateDashboardTokenSuccess { token } }
      payout: requestPayout(input: { method: PIX, amountCents: 5000, destination: "maria@example.com", idempotencyKey: "a" }) {
        __typename }
      refund: refundPayment(input: { paymentId: $payment, amountCents: 10, idempotencyKey: $payment }) { __typename }
      open: createSubaccount(input: { name: "Bia" }) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } }
    }`,
    { payment: payment.paymentId },
  );
  expect([done.payout.__typename, done.refund.__typename]).toEqual([
    'RequestPayoutSuccess',
    'RefundPaymentSuccess',
  ]);
  await client.request(
    `mutation ($token: String!, $dashboard: String!, $id: String!) {
      pauseToken(token: $token) { __typename }
      revokeToken(token: $dashboard) { __typename }
      transferToSubaccount(input: { subaccountId: $id, amountCents: 9000, idempotencyKey: $id }) { __typename }
      requestSubaccountPayout(input: { subaccountId: $id, amountCents: 5000, pixKey: "maria@example.com", idempotencyKey: $id }) {
        __typename }
    }`,
    {
      token: done.token.token,
      dashboard: done.dashboard.token,
      id: done.open.subaccount.subaccountId,
    },
  );
}

/** The first `count` updates of a subscription. */
async function read(
  client: GraphQLClient,
  variables: Record<string, unknown>,
  count: number,
  transport: 'sse' | 'ws' = 'sse',
): Promise<Update[]> {
  const stream = client[transport](ALL, variables);
  const updates: Update[] = [];
  while (updates.length < count) updates.push((await stream.data()).accountUpdates);
  await stream.close();
  return updates;
}

const typesOf = (updates: readonly Update[]) => updates.map(({ __typename }) => __typename);
const refusalOf = async (client: GraphQLClient, variables: Record<string, unknown>) => {
  const stream = client.ws(ALL, variables);
  const { value } = await stream.next();
  await stream.close();
  return value.errors?.[0];
};
const holder = (...scopes: string[]) =>
  addToken(app, { kind: 'dashboard', grant: { scopes }, accountId }).then((token) => app.client(token));

describe('accountUpdates', () => {
  test('every update of every kind comes once, in the order of the log, under one cursor', async () => {
    expect(new Set(logged)).toEqual(new Set(Object.values(TYPES)));
    for (const transport of ['sse', 'ws'] as const) {
      const updates = await read(live, { after: before }, logged.length, transport);
      expect(typesOf(updates)).toEqual(logged);
      expect(new Set(updates.map(({ cursor }) => cursor)).size).toBe(logged.length);
    }
  });

  test('it goes on behind each of its cursors, and behind those of other subscriptions', async () => {
    const updates = await read(live, { after: before }, logged.length);
    for (const [index, { cursor }] of updates.slice(0, -1).entries())
      expect(await read(live, { after: cursor }, updates.length - index - 1)).toEqual(
        updates.slice(index + 1),
      );

    const other = live.sse('subscription ($after: String) { allPayoutUpdates(after: $after) { cursor } }', {
      after: before,
    });
    const { cursor } = (await other.data()).allPayoutUpdates;
    await other.close();
    const at = logged.indexOf('PayoutUpdate');
    expect(typesOf(await read(live, { after: cursor }, logged.length - at - 1))).toEqual(
      logged.slice(at + 1),
    );
  });

  test('each update is the one of its own subscription', async () => {
    const updates = await read(live, { after: before }, logged.length);
    const own = live.sse(
      `subscription ($after: String) { allPaymentUpdates(after: $after) {
        __typename cursor occurredAt payment { id status } } }`,
      { after: before },
    );
    for (const update of updates.filter(({ __typename }) => __typename === 'PaymentUpdate'))
      expect((await own.data()).allPaymentUpdates).toEqual(update);
    await own.close();
  });

  test('`kinds` selects, at the live end as well as behind a cursor', async () => {
    const kinds = ['PAYOUT', 'WALLET', 'PAYOUT'];
    const wanted = logged.filter((type) => ['PayoutUpdate', 'WalletUpdate'].includes(type));
    expect(typesOf(await read(live, { after: before, kinds }, wanted.length))).toEqual(wanted);

    const after = await cursorOf(live);
    const followers = (['sse', 'ws'] as const).map((transport) =>
      live[transport](ALL, { after, kinds: ['PAYMENT'] }),
    );
    const tenant = { accountId, environment: 'live' } as const;
    for (let round = 0; round < 2; round += 1) {
      await app.controls.credit(tenant, 10);
      const { payment } = await app.payments.create(tenant, { valueCents: 10 });
      for (const follower of followers)
        expect((await follower.data()).accountUpdates).toMatchObject({
          __typename: 'PaymentUpdate',
          payment: { status: payment.status.toUpperCase() },
        });
    }
    for (const follower of followers) await follower.close();
  });

  test('a token gets what its scopes allow, and is refused what they do not', async () => {
    const client = await holder('payouts', 'wallet');
    const allowed = logged.filter((type) => ['PayoutUpdate', 'WalletUpdate'].includes(type));
    expect(typesOf(await read(client, { after: before }, allowed.length))).toEqual(allowed);
    expect(await refusalOf(client, { kinds: ['PAYOUT', 'PAYMENT'] })).toMatchObject({
      message: 'This dashboard token does not have the scope payments',
      extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' },
    });
    // The refunds here are of payments, which the token may not read.
    const cards = await holder('card_payments');
    const ofCards = logged.filter((type) => ['CardPaymentUpdate', 'CheckoutTokenUpdate'].includes(type));
    expect(typesOf(await read(cards, { after: before }, ofCards.length))).toEqual(ofCards);
  });

  test('`updateKinds` names the kinds that the credential may follow, and none to a payer', async () => {
    const kindsOf = async (client: GraphQLClient) => (await client.request('{ updateKinds }')).updateKinds;
    expect(await kindsOf(live)).toHaveLength(new Set(Object.values(TYPES)).size);
    expect(await kindsOf(await holder('card_payments', 'wallet'))).toEqual([
      ...['CARD_PAYMENT', 'CHECKOUT_TOKEN', 'REFUND', 'WALLET'],
    ]);
    expect(await kindsOf(await holder('products'))).toEqual([]);
    const grant = { amount: { fixedCents: 100 } };
    const payer = await addToken(app, { kind: 'checkout', grant, accountId });
    await expect(kindsOf(app.client(payer))).rejects.toThrow('This token does not follow the account');
  });

  test('a credential that follows nothing of the account is refused', async () => {
    const checkout = await addToken(app, {
      kind: 'checkout',
      grant: { amount: { fixedCents: 100 } },
      accountId,
    });
    for (const client of [await holder('products'), app.client(checkout)])
      expect(await refusalOf(client, {})).toMatchObject({
        extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' },
      });
  });

  test('a restricted key follows the payouts of subaccounts alone', async () => {
    const key = await addKey(app, { accountId, permissions: ['subcontas.sacar'] });
    const count = logged.filter((type) => type === 'SubaccountPayoutUpdate').length;
    expect(new Set(typesOf(await read(app.client(key), { after: before }, count)))).toEqual(
      new Set(['SubaccountPayoutUpdate']),
    );
  });

  test('another account gets none of it', async () => {
    const other = await addAccount(app);
    const client = app.client(await addKey(app, { accountId: other }));
    const stream = client.ws(ALL, { after: await cursorOf(client) });
    await app.payments.create({ accountId, environment: 'live' }, { valueCents: 10 });
    const { payment } = await app.payments.create(
      { accountId: other, environment: 'live' },
      { valueCents: 10 },
    );
    const { payment: shown } = (await stream.data()).accountUpdates;
    expect(Buffer.from(shown.id, 'base64').toString()).toContain(payment.paymentId);
    await stream.close();
  });

  test.each<[Record<string, unknown>, RegExp]>([
    [{ kinds: [] }, /^kinds: must name at least one kind$/],
    [{ kinds: ['NOTHING'] }, /kinds\[0\].*does not exist/],
    [{ kinds: [null] }, /null/],
    [{ after: 'x' }, /^after: is not a cursor of updates/],
  ])('%j is refused', async (variables, message) => {
    expect(await refusalOf(live, variables)).toMatchObject({
      message: expect.stringMatching(message),
      extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
    });
  });
});
