import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { accounts } from '../../../server/src/access/collections.ts';
import { productContent } from '../../../server/src/catalogue/deliveries/collections.ts';
import { createCharging } from '../../../server/src/money-in/card-payments/charging.ts';
import type { AttemptOutcome } from '../../../server/src/money-in/card-payments/model.ts';
import { createSimulatedAcquirer } from '../../../server/src/rails/simulated/acquirer.ts';
import { NoConnection } from '../../../server/src/state/db/database.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { card } from '../../support/cards.ts';
import { openRawSocket } from '../../support/raw-socket.ts';
import { startReceiver } from '../../support/receiver.ts';
import { readMetrics } from '../../support/scrape.ts';
import { ownMembers } from '../../support/webhook-bodies.ts';

// Stolen cards that are tried through the hosted page, by anybody with a shop's public token.

const DECLINED = '4000000000000002';
const DECLINED_FOR_GOOD = '4100000000000019';
const APPROVED = '4242424242424242';
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const MINT = `mutation { createCheckoutToken(input: { amount: { fixedCents: 4990 }, reusable: true }) {
  ... on CreateCheckoutTokenSuccess { token } } }`;
const START = `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) { __typename
  ... on StartCheckoutSuccess { paymentToken cardPayment { orderCode } } ... on UserError { code message }
  ... on RateLimitError { retryAfterSeconds } } }`;
const PAUSE = `mutation ($token: String!, $seconds: Int) { pauseToken(token: $token, seconds: $seconds) { __typename
  ... on PauseTokenSuccess { pause { tokenId reason pausedAt pausedUntil } } ... on UserError { code message } } }`;
const RESUME = `mutation ($token: String!) { resumeToken(token: $token) { __typename
  ... on ResumeTokenSuccess { tokenId } ... on UserError { code message } } }`;
const PAUSED = '{ pausedTokens { nodes { tokenId reason pausedAt pausedUntil } } }';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    environment: { PSA_TRUSTED_PROXIES: '127.0.0.1', PSA_GRAPHQL_LIMIT: '100000' },
  });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

let networks = 0;
/** The address of a payer in a network of its own. */
function visitor(): string {
  networks += 1;
  return `10.7.${networks >> 8}.${networks & 255}`;
}

/** Creates an account with a shop and its public token. */
async function shop() {
  const key = await addKey(app, { accountId: await addAccount(app) });
  const live = app.client(key);
  const token: string = (await live.request(MINT)).createCheckoutToken.token;
  let attempts = 0;
  const start = async (address: string) => {
    attempts += 1;
    const attemptId = `tentativa-${attempts}-${'0'.repeat(22)}`;
    const client = app.client(token, { 'x-forwarded-for': address });
    return (await client.request(START, { input: { attemptId } })).startCheckout;
  };
  return { key, live, token, start };
}

async function post(orderCode: string, number: string, address: string) {
  const answer = await fetch(`${app.url}/checkout/${orderCode}`, {
    method: 'POST',
    body: new URLSearchParams({ number, holder: 'ANA SOUZA', expiry: '12/30', cvv: '123' }),
    headers: { 'x-forwarded-for': address },
    redirect: 'manual',
  });
  const text = (await answer.text()).replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), text };
}

/** Tries declined cards, each in a network of its own; a payment allows five. */
async function declineMany({ start }: Awaited<ReturnType<typeof shop>>, count: number): Promise<void> {
  let orderCode = '';
  for (let tried = 0; tried < count; tried += 1) {
    if (tried % 5 === 0) orderCode = (await start(visitor())).cardPayment.orderCode;
    const { kind } = await app.cardPayments.pay(orderCode, card(DECLINED), visitor());
    expect(kind).toBe(tried % 5 === 4 ? 'failed' : 'declined');
  }
}

describe('cards that are tried from one network', () => {
  test('After five declined cards of one network its payer waits, on the page and for another payment, and nobody else does', async () => {
    const { start } = await shop();
    const [thief, payer] = [visitor(), visitor()];
    const first = await start(thief);
    for (let tried = 0; tried < 4; tried += 1)
      expect((await post(first.cardPayment.orderCode, DECLINED, thief)).status).toBe(422);
    const second = await start(thief);
    expect((await post(second.cardPayment.orderCode, DECLINED, thief)).status).toBe(422);
    const held = await post(second.cardPayment.orderCode, APPROVED, thief);
    expect([held.status, held.retryAfter]).toEqual([429, '2']);
    expect(held.text).toContain('Nada foi cobrado: tente de novo em 2 segundos.');
    expect(held.text).not.toMatch(/fraude|suspeit|bloquead/i);
    expect(await start(thief)).toEqual({
      __typename: 'RateLimitError',
      code: 'RATE_LIMITED',
      message: 'Rate limit exceeded: payments of this network',
      retryAfterSeconds: 2,
    });
    const others = await start(payer);
    expect((await post(others.cardPayment.orderCode, APPROVED, payer)).status).toBe(303);
    // Each wait is twice the one before.
    for (const seconds of [2, 4, 8]) {
      app.clock.advance(seconds * SECOND - 1);
      expect((await post(second.cardPayment.orderCode, DECLINED, thief)).status).toBe(429);
      app.clock.advance(1);
      expect((await post(second.cardPayment.orderCode, DECLINED, thief)).status).toBe(422);
    }
    expect((await post(second.cardPayment.orderCode, DECLINED, thief)).retryAfter).toBe('16');
  });

  test('A payer whose next card is approved, and the next payers of its network, do not wait', async () => {
    const { start } = await shop();
    const network = visitor();
    for (let payer = 0; payer < 6; payer += 1) {
      const { cardPayment } = await start(network);
      for (const number of [DECLINED, APPROVED].slice(payer % 2))
        expect((await post(cardPayment.orderCode, number, network)).status).toBe(
          number === DECLINED ? 422 : 303,
        );
    }
  });
});

describe('the reason of a refusal', () => {
  test('The reason of a decline is the merchant’s: the payer reads a neutral sentence, and no token of a browser shows it', async () => {
    const { live, start } = await shop();
    const address = visitor();
    const { cardPayment, paymentToken } = await start(address);
    const { orderCode } = cardPayment;
    expect((await post(orderCode, DECLINED_FOR_GOOD, address)).status).toBe(303);
    const page = await (await fetch(`${app.url}/checkout/${orderCode}`)).text();
    expect(page).toContain('O banco não autorizou o pagamento. Nada foi cobrado.');
    expect(page).not.toMatch(/fraude|suspeit/i);
    const query =
      'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { status failureReason } }';
    expect(await live.request(query, { orderCode })).toEqual({
      cardPayment: { status: 'FAILED', failureReason: 'Pagamento bloqueado por suspeita de fraude' },
    });
    const payers = app.client(paymentToken);
    expect(await payers.request(query, { orderCode })).toEqual({
      cardPayment: { status: 'FAILED', failureReason: null },
    });
    const [update] = [
      await payers
        .ws(
          'subscription ($orderCode: String!) { cardPaymentUpdates(orderCode: $orderCode) { cardPayment { failureReason } } }',
          { orderCode },
        )
        .data(),
    ];
    expect(update.cardPaymentUpdates.cardPayment.failureReason).toBeNull();
  });

  test('The merchant sees the reason of a decline of a payment that stays open too', async () => {
    const { live, start } = await shop();
    const address = visitor();
    const { cardPayment, paymentToken } = await start(address);
    const { orderCode } = cardPayment;
    const query =
      'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { status failureReason declineReason } }';
    const asked = async (client: typeof live) => (await client.request(query, { orderCode })).cardPayment;
    const open = { status: 'PENDING', failureReason: null };
    expect(await asked(live)).toEqual({ ...open, declineReason: null });
    expect((await post(orderCode, DECLINED, address)).status).toBe(422);
    expect(await asked(live)).toEqual({ ...open, declineReason: 'Cartão recusado pelo banco emissor' });
    expect(await asked(app.client(paymentToken))).toEqual({ ...open, declineReason: null });
  });

  test('No page with the form shows the reason of a decline, whatever test cards it lists', async () => {
    const { start } = await shop();
    const { cardPayment } = await start(visitor());
    expect(await (await fetch(`${app.url}/checkout/${cardPayment.orderCode}`)).text()).not.toMatch(
      /fraude|suspeit/i,
    );
  });
});

describe('a token that cards are tested with', () => {
  test('A token that cards are tested with is paused with a webhook, until the pause ends, and stops no payer', async () => {
    const own = await shop();
    const { live, start } = own;
    const receiver = await startReceiver();
    await live.request('mutation ($url: Url!) { configureWebhook(input: { url: $url }) { __typename } }', {
      url: receiver.url,
    });
    const { updatesCursor: after } = await live.request('{ updatesCursor }');
    const updates = live.ws(
      'subscription ($after: String) { allCheckoutTokenUpdates(after: $after) { tokenId occurredAt pause { reason pausedAt pausedUntil } } }',
      { after },
    );
    const update = updates.data();
    const metric = async (name: string, labels = {}) =>
      readMetrics(await (await fetch(`${app.url}/metrics`)).text()).value(name, labels) ?? 0;
    const before = await metric('psa_checkout_token_pauses_total');
    const declined = await metric('psa_cards_total', { outcome: 'declined' });

    await declineMany(own, 39);
    expect((await live.request(PAUSED)).pausedTokens.nodes).toEqual([]);
    await declineMany(own, 1);
    const now = app.clock.now();
    const pause = {
      reason: 'DECLINES',
      pausedAt: now.toISOString(),
      pausedUntil: new Date(now.getTime() + 5 * MINUTE).toISOString(),
    };
    const [{ tokenId }] = (await live.request(PAUSED)).pausedTokens.nodes;
    expect((await live.request(PAUSED)).pausedTokens.nodes).toEqual([{ tokenId, ...pause }]);
    expect((await update).allCheckoutTokenUpdates).toEqual({ tokenId, occurredAt: now.toISOString(), pause });
    expect(await metric('psa_checkout_token_pauses_total')).toBe(before + 1);
    expect(await metric('psa_cards_total', { outcome: 'declined' })).toBe(declined + 40);
    await app.work.settled();
    expect(receiver.received.map(({ body }) => ownMembers(body))).toEqual([
      { event: 'checkout_token.paused', tokenId, ...pause, reason: 'declines' },
    ]);
    expect(receiver.received[0]!.body).not.toContain(own.token);

    // A payer without a declined card pays as always; one with a declined card waits a minute.
    const [payer, unlucky] = [visitor(), visitor()];
    const { cardPayment } = await start(payer);
    expect((await post(cardPayment.orderCode, APPROVED, payer)).status).toBe(303);
    const other = await start(unlucky);
    expect((await post(other.cardPayment.orderCode, DECLINED, unlucky)).status).toBe(422);
    expect((await post(other.cardPayment.orderCode, APPROVED, unlucky)).retryAfter).toBe('60');
    app.clock.advance(MINUTE);
    expect((await post(other.cardPayment.orderCode, APPROVED, unlucky)).status).toBe(303);

    app.clock.advance(4 * MINUTE);
    expect((await live.request(PAUSED)).pausedTokens.nodes).toEqual([]);
    await updates.close();
  }, 60_000);
});

describe('pauseToken', () => {
  test('pauseToken stops a token and the payments that it has started, until the merchant resumes it', async () => {
    const { live, token, start } = await shop();
    const address = visitor();
    const { cardPayment } = await start(address);
    const { pauseToken } = await live.request(PAUSE, { token });
    const { tokenId } = pauseToken.pause;
    expect(pauseToken).toEqual({
      __typename: 'PauseTokenSuccess',
      pause: { tokenId, reason: 'MERCHANT', pausedAt: app.clock.now().toISOString(), pausedUntil: null },
    });
    expect(tokenId).toMatch(/^tok_[0-9a-f]{24}$/);
    expect(await start(address)).toEqual({
      __typename: 'PreconditionError',
      code: 'CHECKOUT_TOKEN_PAUSED',
      message: 'This checkout takes no payments at the moment',
    });
    const held = await post(cardPayment.orderCode, APPROVED, address);
    expect([held.status, held.retryAfter]).toEqual([429, '300']);
    expect(held.text).toContain('tente de novo em 5 minutos');
    // The token is named by its id, which updates and webhooks show.
    expect(await live.request(RESUME, { token: tokenId })).toEqual({
      resumeToken: { __typename: 'ResumeTokenSuccess', tokenId },
    });
    expect((await live.request(PAUSED)).pausedTokens.nodes).toEqual([]);
    expect((await post(cardPayment.orderCode, APPROVED, address)).status).toBe(303);
    expect((await start(address)).__typename).toBe('StartCheckoutSuccess');
  });

  test('A pause with a limit ends by itself, and can be changed before', async () => {
    const { live, token, start } = await shop();
    expect((await live.request(PAUSE, { token, seconds: null })).pauseToken.__typename).toBe(
      'ValidationError',
    );
    expect((await live.request(PAUSED)).pausedTokens.nodes).toEqual([]);
    const address = visitor();
    const { cardPayment } = await start(address);
    await live.request(PAUSE, { token, seconds: 604_800 });
    expect((await post(cardPayment.orderCode, APPROVED, address)).retryAfter).toBe('300');
    const { pause } = (await live.request(PAUSE, { token, seconds: 90 })).pauseToken;
    expect((await post(cardPayment.orderCode, APPROVED, address)).retryAfter).toBe('90');
    expect(pause.pausedUntil).toBe(new Date(app.clock.now().getTime() + 90 * SECOND).toISOString());
    app.clock.advance(90 * SECOND - 1);
    expect((await start(visitor())).code).toBe('CHECKOUT_TOKEN_PAUSED');
    app.clock.advance(1);
    expect((await start(visitor())).__typename).toBe('StartCheckoutSuccess');
  });

  test('A pause and its end take effect on a socket that was open before', async () => {
    const { live, token } = await shop();
    const socket = openRawSocket(app.url);
    await socket.init(token);
    await live.request(PAUSE, { token });
    socket.send({
      id: 'a',
      type: 'subscribe',
      payload: { query: START, variables: { input: { attemptId: 'x'.repeat(30) } } },
    });
    expect((await socket.next()).payload.data.startCheckout.code).toBe('CHECKOUT_TOKEN_PAUSED');
    const later = openRawSocket(app.url);
    await later.init(token);
    await live.request(RESUME, { token });
    later.send({
      id: 'a',
      type: 'subscribe',
      payload: { query: START, variables: { input: { attemptId: 'y'.repeat(30) } } },
    });
    expect((await later.next()).payload.data.startCheckout.__typename).toBe('StartCheckoutSuccess');
    for (const { socket: open } of [socket, later]) open.close();
  });

  test('pauseToken refuses foreign tokens, other kinds of tokens, and invalid seconds', async () => {
    const { live, token } = await shop();
    const other = await shop();
    const notFound = { __typename: 'NotFoundError', code: 'NOT_FOUND', message: 'Token not found' };
    const { createDashboardToken } = await live.request(
      'mutation { createDashboardToken(input: { scopes: [WALLET] }) { ... on CreateDashboardTokenSuccess { token } } }',
    );
    for (const each of [other.token, createDashboardToken.token, 'tok_\u0000', `tok_${'0'.repeat(24)}`, ''])
      for (const [query, name] of [
        [PAUSE, 'pauseToken'],
        [RESUME, 'resumeToken'],
      ] as const)
        expect(await live.request(query, { token: each })).toEqual({ [name]: notFound });
    for (const seconds of [0, -1, 31_536_001])
      expect((await live.request(PAUSE, { token, seconds })).pauseToken).toMatchObject({
        __typename: 'ValidationError',
        message: 'seconds: must lie from 1 to 31536000',
      });
    expect((await app.client(token).request(PAUSE, { token })).pauseToken.code).toBe('FORBIDDEN');
    expect((await live.request(PAUSED)).pausedTokens.nodes).toEqual([]);
  });
});

test('A card whose charge could not be recorded never reached the acquirer, and is not counted as declined', async () => {
  const { start } = await shop();
  const { orderCode } = (await start(visitor())).cardPayment;
  const outcomes: AttemptOutcome[] = [];
  const charging = createCharging({
    database: app.database,
    committer: {
      change: () => Promise.reject(new NoConnection('no connection')),
      idle: async () => undefined,
    },
    guard: {
      peek: async () => null,
      admit: async () => null,
      record: async (_, outcome) => void outcomes.push(outcome),
    },
    acquirer: createSimulatedAcquirer({ database: app.database, clock: app.clock }),
    accounts,
    otherMethods: [],
    content: productContent,
    meter: { onRefund: () => undefined },
    onFault: () => undefined,
  });
  await expect(charging.pay(orderCode, card(APPROVED), visitor())).rejects.toBeInstanceOf(NoConnection);
  expect(outcomes).toEqual(['unused']);
});
