import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { CardPayment } from '../../../server/src/money-in/card-payments/model.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { approved, approvedSoon, declined } from '../../support/cards.ts';
import { startCore } from '../../support/core.ts';
import { describeOnDatabase, type openFreshDatabase } from '../../support/database.ts';
import { readAfter } from '../../support/events.ts';
import type { GraphQLClient } from '../../support/graphql.ts';
import { startPair } from '../../support/pair.ts';
import { startReceiver } from '../../support/receiver.ts';
import { scale } from '../../support/scale.ts';

const SECOND = 1_000;
const SESSION = 30 * 60 * SECOND;

describeOnDatabase('a canceled card payment', (open) => {
  type Core = Awaited<ReturnType<typeof startCore>>;
  let database: Awaited<ReturnType<typeof openFreshDatabase>>;
  beforeAll(async () => {
    database = await open();
  });

  async function create(core: Core, externalId: string | null = null): Promise<string> {
    const { payment } = await core.cardPayments.create(core.tenant, { valueCents: 4990, externalId });
    return payment.orderCode;
  }

  const cancel = async (core: Core, orderCode: string) =>
    (await core.cardPayments.cancel(core.tenant, orderCode)).payment;

  async function statuses(core: Core, orderCode: string): Promise<string[]> {
    const { events } = await readAfter(core.database.sql, core.tenant, { after: 0, limit: 1_000 });
    return events
      .filter(({ resourceId }) => resourceId === orderCode)
      .filter(({ previousStatus, snapshot }) => previousStatus !== (snapshot as CardPayment).status)
      .map(({ snapshot }) => (snapshot as CardPayment).status);
  }

  test('A pending payment is expired at once, takes no card, and stays as it is when it is canceled again', async () => {
    const core = await startCore({ database });
    const orderCode = await create(core);
    core.clock.advance(SECOND);
    const { payment: canceled, replayed } = await core.cardPayments.cancel(core.tenant, orderCode);
    expect(canceled).toMatchObject({ status: 'expired', version: 2, canceledAt: core.clock.now() });
    expect(replayed).toBe(false);
    core.clock.advance(SECOND);
    const again = await core.cardPayments.cancel(core.tenant, orderCode);
    expect(again).toEqual({ payment: canceled, replayed: true });
    expect(await core.cardPayments.pay(orderCode, approved())).toMatchObject({ kind: 'not_payable' });
    await core.pass(SESSION);
    expect(await core.cardPayments.find(core.tenant, orderCode)).toEqual(canceled);
    expect(await statuses(core, orderCode)).toEqual(['pending', 'expired']);
    expect(core.faults).toEqual([]);
  });

  test('A payment that is not pending is not canceled, and the refusal says why', async () => {
    const core = await startCore({ database });
    const [paid, refunded, failed, expired] = [
      await create(core),
      await create(core),
      await create(core),
      await create(core),
    ];
    for (const orderCode of [paid, refunded]) await core.cardPayments.pay(orderCode, approved());
    await core.cardPayments.refund(core.tenant, refunded);
    for (let cards = 0; cards < 5; cards++) await core.cardPayments.pay(failed, declined());
    await core.pass(SESSION);
    for (const [orderCode, reason] of [
      [paid, 'has been paid: refund it'],
      [refunded, 'has been refunded'],
      [failed, 'has failed'],
      [expired, 'has expired'],
    ] as const) {
      const before = await core.cardPayments.find(core.tenant, orderCode);
      await expect(cancel(core, orderCode)).rejects.toMatchObject({
        code: 'NOT_CANCELABLE',
        message: `This card payment ${reason}`,
      });
      expect(await core.cardPayments.find(core.tenant, orderCode)).toEqual(before);
    }
  });

  test('A payment of another account or of no account is not found', async () => {
    const [core, other] = [await startCore({ database }), await startCore({ database })];
    const orderCode = await create(core);
    for (const each of [orderCode, 'PSC-000000000000000000000000', 'x\u0000'])
      await expect(cancel(other, each)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({ status: 'pending' });
  });

  test('The money of a card that was being confirmed and is approved afterwards is returned, and it is never paid', async () => {
    const core = await startCore({ database });
    const orderCode = await create(core, '1042');
    expect(await core.cardPayments.pay(orderCode, approvedSoon())).toMatchObject({ kind: 'processing' });
    await cancel(core, orderCode);
    // The returned money does not delay another payment of the same order.
    const next = await create(core, '1042');
    await core.pass(60 * SECOND);
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({
      ...{ status: 'failed', failureReason: 'canceled', returned: true, keptPayment: null },
      ...{ paidAt: null, refundedAt: null, refundedCents: 0, openChargeId: null },
    });
    expect(await statuses(core, orderCode)).toEqual(['pending', 'expired', 'failed']);
    expect(await core.refunds.ofResources(core.tenant, 'card_payment', [orderCode])).toEqual([[]]);
    const { items } = await core.returns.list(core.tenant, { end: 'first', limit: 2, externalId: '1042' });
    expect(items.map(({ item }) => item)).toMatchObject([
      { cause: 'canceled', amountCents: 4990, keptPayment: null, returnedAt: expect.any(Date) },
    ]);
    expect(await core.wallet.read(core.tenant)).toMatchObject({ pendingReleaseCents: 0, receivableCents: 0 });
    expect(await core.cardPayments.pay(next, approved())).toMatchObject({ kind: 'paid' });
    expect(core.faults).toEqual([]);
  });

  test('A card that was being confirmed and is declined afterwards leaves it canceled', async () => {
    const core = await startCore({
      database,
      acquirer: (simulated) => ({
        ...simulated,
        charge: async () => ({ status: 'pending', settlesAt: null }),
        resolve: async () => ({ status: 'declined', reason: 'Recusado', final: true }),
      }),
    });
    const orderCode = await create(core);
    await core.cardPayments.pay(orderCode, approved());
    await cancel(core, orderCode);
    await core.pass(60 * SECOND);
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({
      status: 'expired',
      openChargeId: null,
      declinedCharges: 1,
    });
    expect(await statuses(core, orderCode)).toEqual(['pending', 'expired']);
  });

  test('A canceled payment that a server of the version before has kept closes its order, and is not canceled again', async () => {
    const core = await startCore({ database });
    const [orderCode, next] = [await create(core, '1043'), await create(core, '1043')];
    await core.cardPayments.pay(orderCode, approvedSoon());
    await cancel(core, orderCode);
    // The older server reads and writes every column but this one.
    const column = core.database.sql.updateTable('card_payment').where('order_code', '=', orderCode);
    await column.set({ canceled_at: null }).execute();
    await core.pass(60 * SECOND);
    await column.set({ canceled_at: core.clock.now() }).execute();
    expect(await core.cardPayments.find(core.tenant, orderCode)).toMatchObject({ status: 'paid' });
    await expect(cancel(core, orderCode)).rejects.toMatchObject({ code: 'NOT_CANCELABLE' });
    expect(await core.cardPayments.pay(next, approved())).toMatchObject({ kind: 'paid_elsewhere' });
    expect(await core.cardPayments.open(next)).toMatchObject({ orderStatus: 'paid' });
  });

  test('Of a payment and a cancellation at once, either the payment is kept or all of its money goes back', async () => {
    const core = await startCore({ database });
    for (let round = 0; round < scale('CALLERS'); round++) {
      const orderCode = await create(core);
      const [, canceled] = await Promise.allSettled([
        core.cardPayments.pay(orderCode, approved()),
        cancel(core, orderCode),
      ]);
      await core.pass(SECOND);
      const after = await core.cardPayments.find(core.tenant, orderCode);
      if (canceled.status === 'fulfilled') {
        expect(after!.canceledAt).not.toBeNull();
        expect(['expired', 'failed']).toContain(after!.status);
      } else {
        expect(canceled.reason).toMatchObject({ code: 'NOT_CANCELABLE' });
        expect(after).toMatchObject({ status: 'paid', canceledAt: null });
        await core.cardPayments.refund(core.tenant, orderCode);
      }
    }
    await core.pass(60 * SECOND);
    expect(Object.values(await core.balances()).filter((cents) => cents !== 0)).toEqual([]);
    expect(core.faults).toEqual([]);
  });
});

// ── Over HTTP ───────────────────────────────────────────────────────────────────────────────────

const CANCEL = `mutation ($orderCode: String!) { cancelCardPayment(orderCode: $orderCode) {
  __typename ... on CancelCardPaymentSuccess { replayed cardPayment { orderCode status canceledAt version final } }
  ... on UserError { code message } } }`;
const CREATE = `mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) {
  ... on CreateCardPaymentSuccess { cardPayment { orderCode checkoutUrl } } } }`;
const MINT = `mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) {
  ... on CreateCheckoutTokenSuccess { token } } }`;
const START = `mutation ($attemptId: String!) { startCheckout(input: { attemptId: $attemptId }) {
  __typename ... on StartCheckoutSuccess { cardPayment { orderCode } } ... on UserError { code } } }`;

describe('canceling a card payment', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(async () => {
    expect(app.faults).toEqual([]);
    await app.close();
  });

  async function merchant() {
    const accountId = await addAccount(app);
    const key = await addKey(app, { accountId });
    return { accountId, client: app.client(key), rest: app.rest(key) };
  }

  async function create(client: GraphQLClient, input: object = {}) {
    const { createCardPayment } = await client.request(CREATE, { input: { valueCents: 4990, ...input } });
    return createCardPayment.cardPayment as { orderCode: string; checkoutUrl: string };
  }

  const cancel = async (client: GraphQLClient, orderCode: string) =>
    (await client.request(CANCEL, { orderCode })).cancelCardPayment;

  test('A payment is canceled over GraphQL, and a follower sees it', async () => {
    const { accountId, client } = await merchant();
    const { orderCode } = await create(client);
    const updates = client.sse(
      `subscription ($orderCode: String!) { cardPaymentUpdates(orderCode: $orderCode) {
        previousStatus cardPayment { orderCode status canceledAt } } }`,
      { orderCode },
    );
    onTestFinished(() => updates.close());
    await updates.data();
    const canceledAt = app.clock.now().toISOString();
    const made = await cancel(client, orderCode);
    expect(made).toEqual({
      __typename: 'CancelCardPaymentSuccess',
      replayed: false,
      cardPayment: { orderCode, status: 'EXPIRED', canceledAt, version: 2, final: false },
    });
    expect(await cancel(client, orderCode)).toEqual({ ...made, replayed: true });
    expect((await updates.data()).cardPaymentUpdates).toEqual({
      previousStatus: 'PENDING',
      cardPayment: { orderCode, status: 'EXPIRED', canceledAt },
    });
    const payer = app.client(await addToken(app, { accountId, kind: 'payment', grant: { orderCode } }));
    expect(await cancel(payer, orderCode)).toMatchObject({ __typename: 'PermissionError' });
    expect(await cancel((await merchant()).client, orderCode)).toMatchObject({ __typename: 'NotFoundError' });
  });

  test('Over REST a payment is canceled by DELETE, which may be repeated', async () => {
    const { client, rest } = await merchant();
    const { orderCode } = await create(client);
    const path = `/card-payments/${orderCode}`;
    const canceled = await rest.delete(path);
    expect(canceled).toMatchObject({
      status: 200,
      body: { orderCode, status: 'expired', canceledAt: app.clock.now().toISOString() },
    });
    expect(await rest.delete(path)).toMatchObject({ status: 200, body: canceled.body });
    expect(await rest.get(path)).toMatchObject({ status: 200, body: canceled.body });
    const paid = await create(client);
    await app.cardPayments.pay(paid.orderCode, approved());
    expect(await rest.delete(`/card-payments/${paid.orderCode}`)).toMatchObject({
      status: 409,
      body: { error: 'This card payment has been paid: refund it' },
    });
    expect(await rest.delete('/card-payments/PSC-?')).toMatchObject({ status: 404 });
  });

  test('The payer’s page says that the shop has canceled the payment, and asks for no card', async () => {
    const { client } = await merchant();
    const { orderCode, checkoutUrl } = await create(client);
    await cancel(client, orderCode);
    const page = await (await fetch(checkoutUrl)).text();
    expect(page).toContain('Pagamento cancelado');
    expect(page).not.toContain('Número do cartão');
  });

  test('A single-use token starts no other payment after its payment was canceled', async () => {
    const { client } = await merchant();
    const { createCheckoutToken } = await client.request(MINT, { input: { amount: { fixedCents: 4990 } } });
    const payer = app.client(createCheckoutToken.token);
    const start = async (letter: string) =>
      (await payer.request(START, { attemptId: letter.repeat(22) })).startCheckout;
    const { orderCode } = (await start('a')).cardPayment;
    await cancel(client, orderCode);
    expect(await start('b')).toMatchObject({ code: 'CHECKOUT_TOKEN_USED' });
    expect(await start('a')).toMatchObject({ cardPayment: { orderCode } });
  });

  test('The optional event of an expiry has the instant at which the payment was canceled', async () => {
    const { client } = await merchant();
    const receiver = await startReceiver();
    await client.request(
      `mutation ($input: ConfigureWebhookInput!) { configureWebhook(input: $input) { __typename } }`,
      { input: { url: receiver.url, optionalEvents: ['CARD_PAYMENT_EXPIRED'] } },
    );
    const { orderCode } = await create(client);
    const canceledAt = app.clock.now().toISOString();
    await cancel(client, orderCode);
    await app.work.settled();
    expect(receiver.received.map(({ body }) => JSON.parse(body))).toMatchObject([
      { event: 'card_payment.expired', orderCode, status: 'expired', expiredAt: canceledAt, canceledAt },
    ]);
  });

  test('A facade shows what the service has canceled: the token starts nothing more, and the order can be paid', async () => {
    const pair = await startPair({});
    onTestFinished(() => pair.close());
    const client = pair.facade.client(pair.keys.live);
    const { createCheckoutToken } = await client.request(MINT, {
      input: { amount: { fixedCents: 4990 }, externalId: '1044' },
    });
    const payer = pair.facade.client(createCheckoutToken.token);
    const start = async (letter: string) =>
      (await payer.request(START, { attemptId: letter.repeat(22) })).startCheckout;
    const { orderCode } = (await start('a')).cardPayment;
    // A card is being confirmed, and is returned afterwards.
    await pair.service.cardPayments.pay(orderCode, approvedSoon());
    const tenant = { accountId: pair.accountIds.service, environment: 'live' } as const;
    await pair.service.cardPayments.cancel(tenant, orderCode);
    await pair.pass(60 * SECOND);
    const { cardPayment } = await client.request(
      'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { status canceledAt failureReason returned keptPayment } }',
      { orderCode },
    );
    expect(cardPayment).toEqual({
      ...{ status: 'FAILED', failureReason: 'canceled', returned: true, keptPayment: null },
      canceledAt: expect.any(String),
    });
    expect(await start('b')).toMatchObject({ code: 'CHECKOUT_TOKEN_USED' });
    const { createCardPayment } = await client.request(CREATE, {
      input: { valueCents: 4990, externalId: '1044' },
    });
    expect(createCardPayment.cardPayment.orderCode).not.toBe(orderCode);
    const other = await client.request(MINT, { input: { amount: { fixedCents: 100 }, externalId: '1045' } });
    expect(other.createCheckoutToken.token).toMatch(/^ps_checkout_/);
    expect(pair.facade.faults).toEqual([]);
  });

  test('A facade refuses to cancel, and asks the service nothing', async () => {
    const pair = await startPair({});
    onTestFinished(() => pair.close());
    const client = pair.facade.client(pair.keys.live);
    const { orderCode } = await create(client);
    const asked = pair.proxy.arrivals.length;
    expect(await cancel(client, orderCode)).toMatchObject({ code: 'NOT_OFFERED' });
    expect(pair.proxy.arrivals).toHaveLength(asked);
    await pair.settled();
    expect(pair.facade.faults).toEqual([]);
  });
});
