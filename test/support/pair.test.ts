import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { GOOD_CARD } from '../money-in/card-payments/hosted-checkout.ts';
import { connectTo, takePostgresDatabase } from './database.ts';
import { PASS } from './fault-proxy.ts';
import { fund } from './funds.ts';
import type { Stream } from './graphql.ts';
import { type Pair, type Service, startPair, startService } from './pair.ts';

const SECOND = 1_000;

const START = `mutation ($input: StartCheckoutInput!) {
  startCheckout(input: $input) {
    ... on StartCheckoutSuccess { paymentToken cardPayment { orderCode status checkoutUrl } }
    ... on UserError { code message }
  }
}`;
const FOLLOW = `subscription ($orderCode: String!) {
  cardPaymentUpdates(orderCode: $orderCode) { previousStatus cardPayment { orderCode status } }
}`;
const WALLET = '{ wallet { balanceCents withdrawableCents } }';
const WALLET_UPDATES = 'subscription { walletUpdates { wallet { balanceCents } } }';
const REQUEST_PAYOUT = `mutation ($input: RequestPayoutInput!) {
  requestPayout(input: $input) {
    __typename
    ... on RequestPayoutSuccess { payout { withdrawalId status } }
    ... on UserError { code message }
    ... on UpstreamError { retryable moneyMayHaveMoved }
  }
}`;

describe('a service and a facade in front of it', () => {
  let service: Service;
  const streams: Stream[] = [];
  beforeAll(async () => {
    service = await startService();
  });
  afterEach(async () => {
    await Promise.all(streams.splice(0).map((stream) => stream.close()));
  });
  afterAll(async () => {
    expect(service.app.faults).toEqual([]);
    await service.app.close();
  });

  /** Starts a merchant of its own, and a facade for it. */
  async function start(options: Parameters<typeof startPair>[0] = {}): Promise<Pair> {
    const pair = await startPair({ service, account: {}, ...options });
    onTestFinished(async () => {
      await pair.close();
      await service.app.database.sql
        .deleteFrom('task')
        .where('account_id', '=', pair.accountIds.service)
        .execute();
    });
    return pair;
  }

  const opened = (stream: Stream) => {
    streams.push(stream);
    return stream;
  };

  async function checkoutToken({ facade }: Pair, input: object = { amount: { fixedCents: 4_990 } }) {
    const { createCheckoutToken } = await facade.live.request(
      `mutation ($input: CreateCheckoutTokenInput!) {
        createCheckoutToken(input: $input) {
          ... on CreateCheckoutTokenSuccess { token }
          ... on UserError { code message }
        }
      }`,
      { input },
    );
    return createCheckoutToken.token as string;
  }

  const pay = (checkoutUrl: string) =>
    fetch(checkoutUrl, { method: 'POST', body: new URLSearchParams(GOOD_CARD), redirect: 'manual' });

  test('a payment that a page starts is paid at the service, and its subscriber is notified by webhook', async () => {
    const pair = await start();
    const page = pair.facade.client(await checkoutToken(pair));
    const input = { attemptId: 'a'.repeat(22) };
    const { startCheckout } = await page.request(START, { input });
    const { orderCode, checkoutUrl, status } = startCheckout.cardPayment;
    expect(status).toBe('PENDING');
    expect(new URL(checkoutUrl).origin).toBe(pair.service.url);

    const updates = opened(pair.facade.client(startCheckout.paymentToken).ws(FOLLOW, { orderCode }));
    expect(await updates.data()).toEqual({
      cardPaymentUpdates: { previousStatus: null, cardPayment: { orderCode, status: 'PENDING' } },
    });
    await pair.settled();
    const asked = pair.proxy.arrivals.length;
    expect((await pay(checkoutUrl)).status).toBe(303);
    await pair.settled();
    expect(await updates.data()).toEqual({
      cardPaymentUpdates: { previousStatus: 'PENDING', cardPayment: { orderCode, status: 'PAID' } },
    });
    // The facade has not found it by requesting it.
    expect(pair.proxy.arrivals.slice(asked).filter(({ path }) => path.includes(orderCode))).toEqual([]);
    expect((await updates.next()).done).toBe(true);
    expect(await page.request(START, { input })).toMatchObject({
      startCheckout: { cardPayment: { orderCode, status: 'PAID' } },
    });
    expect(pair.facade.faults).toEqual([]);
  });

  test('a wallet that changes is reported to its subscribers', async () => {
    const pair = await start();
    const { live } = pair.facade;
    const updates = opened(live.sse(WALLET_UPDATES));
    expect(await updates.data()).toEqual({ walletUpdates: { wallet: { balanceCents: 0 } } });
    await fund({ database: pair.service.database, tenant: ofService(pair) }, { cents: 7_000 });
    await pair.pass(10 * SECOND);
    expect(await updates.data()).toEqual({ walletUpdates: { wallet: { balanceCents: 7_000 } } });

    const { requestPayout } = await live.request(REQUEST_PAYOUT, {
      input: { method: 'PIX', amountCents: 2_000, destination: 'ana@padaria.example', idempotencyKey: 'k' },
    });
    expect(requestPayout).toMatchObject({
      __typename: 'RequestPayoutSuccess',
      payout: { status: 'PENDING' },
    });
    // The answer comes long before the next poll.
    await pair.pass(SECOND);
    expect(await updates.data()).toEqual({ walletUpdates: { wallet: { balanceCents: 5_000 } } });
    expect(await live.request(WALLET)).toEqual({ wallet: { balanceCents: 5_000, withdrawableCents: 5_000 } });
  });

  test('two facades over one PostgreSQL are one: what one hears, the subscribers of the other receive', async () => {
    const databaseUrl = await takePostgresDatabase();
    const pair = await start({ open: (clock) => connectTo(databaseUrl, clock) });
    const other = await pair.another();
    const page = pair.facade.client(await checkoutToken(pair));
    const input = { attemptId: 'b'.repeat(22) };
    const { startCheckout } = await page.request(START, { input });
    const { orderCode, checkoutUrl } = startCheckout.cardPayment;
    const payer = other.facade.client(startCheckout.paymentToken);
    const updates = opened(payer.ws(FOLLOW, { orderCode }));
    expect((await updates.data()).cardPaymentUpdates.cardPayment.status).toBe('PENDING');
    // The service knows only the first facade, which gets the webhook.
    await pay(checkoutUrl);
    await pair.settled();
    expect((await updates.data()).cardPaymentUpdates.cardPayment.status).toBe('PAID');
    expect(pair.facade.faults).toEqual([]);
    expect(other.facade.faults).toEqual([]);
  });

  test('Browsers’ tokens grant the same at the facade as at the service, which does not know them', async () => {
    const pair = await start();
    const { live, client, url } = pair.facade;
    const { createDashboardToken } = await live.request(
      `mutation ($input: CreateDashboardTokenInput!) {
        createDashboardToken(input: $input) { ... on CreateDashboardTokenSuccess { token } ... on UserError { message } }
      }`,
      { input: { scopes: ['WALLET'] } },
    );
    const dashboard = client(createDashboardToken.token);
    const code = async (asked: ReturnType<typeof live.send>) =>
      (await asked).body.errors?.[0].extensions.code;
    expect(await dashboard.request(WALLET)).toEqual({ wallet: { balanceCents: 0, withdrawableCents: 0 } });
    expect(await code(dashboard.send('{ payouts(first: 1) { edges { cursor } } }'))).toBe('FORBIDDEN');

    const page = client(await checkoutToken(pair));
    expect(await code(page.send(WALLET))).toBe('FORBIDDEN');
    const { startCheckout } = await page.request(START, { input: { attemptId: 'd'.repeat(22) } });
    const payer = client(startCheckout.paymentToken);
    const find = `query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { status } }`;
    const { orderCode } = startCheckout.cardPayment;
    expect(await payer.request(find, { orderCode })).toEqual({ cardPayment: { status: 'PENDING' } });
    expect(await code(payer.send(WALLET))).toBe('FORBIDDEN');
    // The service does not know a token that the facade has minted.
    const atService = (credential: string) => pair.service.client(credential).send(WALLET);
    for (const token of [createDashboardToken.token, startCheckout.paymentToken])
      expect(await code(atService(token))).toBe('UNAUTHENTICATED');

    const REVOKE = 'mutation ($token: String!) { revokeToken(token: $token) { __typename } }';
    await live.request(REVOKE, { token: createDashboardToken.token });
    expect(await code(dashboard.send(WALLET))).toBe('UNAUTHENTICATED');
    // Another merchant's key is valid at the service, and not at this facade.
    const other = await start();
    expect((await pair.service.client(other.keys.live).send(WALLET)).status).toBe(200);
    expect(await code(client(other.keys.live).send(WALLET))).toBe('UNAUTHENTICATED');
    // Merchants' programs call the service itself.
    expect((await fetch(`${url}/v1/wallet`)).status).toBe(404);
  });

  describe('while the service is away', () => {
    /** Sends a request, and advances the clock while it waits. */
    async function ask<Answer>({ pass }: Pair, asked: Promise<Answer>): Promise<Answer> {
      let done = false;
      const answered = asked.finally(() => {
        done = true;
      });
      answered.catch(() => undefined);
      for (let seconds = 0; !done && seconds < 60; seconds++) await pass(SECOND);
      return answered;
    }

    function stop({ proxy }: Pair): void {
      proxy.plan = () => ({ kind: 'reset', when: 'before' });
    }

    test('A facade gives known values with their age, refuses what is unknown, and recovers when the service is back', async () => {
      const pair = await start();
      const { live, url } = pair.facade;
      await fund({ database: pair.service.database, tenant: ofService(pair) }, { cents: 7_000 });
      const upstreamOf = (answer: { body: { extensions: { upstream: object } } }) =>
        answer.body.extensions.upstream;
      const first = await live.send(WALLET);
      const aged = (ageSeconds: number) => ({
        ageSeconds,
        stale: false,
        circuit: 'closed',
        fields: { wallet: { ageSeconds, stale: false } },
      });
      expect(upstreamOf(first)).toEqual(aged(0));
      pair.clock.advance(SECOND);
      // The query is executed first, and compiled later.
      for (let n = 0; n < 4; n++) expect(upstreamOf(await live.send(WALLET))).toEqual(aged(1));
      expect(await readyOf(url)).toMatchObject({
        status: 200,
        body: { status: 'ready', upstream: { circuit: 'closed' } },
      });

      stop(pair);
      pair.clock.advance(10 * SECOND);
      const old = await ask(pair, live.send(WALLET));
      expect(old.body.data.wallet.balanceCents).toBe(7_000);
      expect(upstreamOf(old)).toMatchObject({ stale: true });
      expect((upstreamOf(old) as { ageSeconds: number }).ageSeconds).toBeGreaterThanOrEqual(11);
      // A WebSocket gives the same.
      const socket = live.ws(WALLET);
      opened(socket);
      const { value } = await ask(pair, socket.next());
      expect(value).toMatchObject({
        data: { wallet: { balanceCents: 7_000 } },
        extensions: { upstream: { stale: true } },
      });

      const unseen = '{ products(first: 1) { edges { node { id } } } }';
      const refused = await ask(pair, live.send(unseen));
      expect(refused.body.errors).toMatchObject([
        { extensions: { code: 'UPSTREAM_UNAVAILABLE', retryPolicy: 'SAME_KEY' } },
      ]);
      const input = {
        method: 'PIX',
        amountCents: 2_000,
        destination: 'ana@padaria.example',
        idempotencyKey: 'k',
      };
      const payout = await ask(pair, live.request(REQUEST_PAYOUT, { input }));
      // A payout always probes, and a broken connection does not show whether the request has arrived.
      expect(payout.requestPayout).toMatchObject({ payout: { withdrawalId: null, status: 'PROCESSING' } });
      // After enough failures the facade pauses its requests; cached data are served all the same.
      for (let n = 0; n < 5; n++) await ask(pair, live.send(unseen));
      const state = await readyOf(url);
      expect(state).toMatchObject({ status: 200, body: { status: 'ready' } });
      expect(state.body.upstream.circuit).not.toBe('closed');
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toMatch(/^psa_upstream_circuit\{class="query",state="closed"\} 0$/m);
      expect(metrics).toMatch(/^psa_upstream_requests_total\{class="query",outcome="\w+"\} \d+$/m);

      pair.proxy.plan = () => PASS;
      // The clock passes the longest pause.
      await pair.pass(2 * 60 * SECOND);
      const back = await live.send(WALLET);
      expect(upstreamOf(back)).toEqual(aged(0));
      const again = await live.request(REQUEST_PAYOUT, { input: { ...input, idempotencyKey: 'other' } });
      expect(again.requestPayout).toMatchObject({ payout: { status: 'PENDING' } });
      expect((await readyOf(url)).body.upstream.circuit).toBe('closed');
    });

    test('A facade ends while what it has in doubt is looked up in vain, without waiting for the service', async () => {
      const pair = await start();
      stop(pair);
      const input = { method: 'PIX', amountCents: 2_000, destination: 'ana@padaria.example' };
      const { requestPayout } = await ask(
        pair,
        pair.facade.live.request(REQUEST_PAYOUT, { input: { ...input, idempotencyKey: 'k' } }),
      );
      expect(requestPayout).toMatchObject({ payout: { status: 'PROCESSING' } });
      // The clock stands still: work that waits for it never ends.
      await pair.close();
    });

    test('A wallet that the service fails to give leaves the payouts in the answer, each with its own age', async () => {
      const pair = await start();
      const { live } = pair.facade;
      await fund({ database: pair.service.database, tenant: ofService(pair) }, { cents: 7_000 });
      const dashboard = '{ w: wallet { balanceCents } p: payouts(first: 5) { totalCount nodes { id } } }';
      const walletFails = () => {
        pair.proxy.plan = ({ path }) =>
          path.startsWith('/v1/wallet') ? { kind: 'status', status: 500, when: 'before' } : PASS;
      };
      walletFails();
      const partly = await ask(pair, live.send(dashboard));
      expect(partly).toMatchObject({
        status: 200,
        body: {
          data: { w: null, p: { totalCount: 0, nodes: [] } },
          errors: [{ path: ['w'], extensions: { code: 'UPSTREAM_UNAVAILABLE', retryPolicy: 'SAME_KEY' } }],
          extensions: { upstream: { fields: { p: { ageSeconds: expect.any(Number), stale: false } } } },
        },
      });
      expect(partly.body.errors).toHaveLength(1);
      pair.proxy.plan = () => PASS;
      expect((await ask(pair, live.send(dashboard))).body.errors).toBeUndefined();
      // A wallet that was read before is shown unchanged, and only it is stale.
      walletFails();
      pair.clock.advance(10 * SECOND);
      const old = await ask(pair, live.send(dashboard));
      expect(old.body).toMatchObject({
        data: { w: { balanceCents: 7_000 }, p: { totalCount: 0 } },
        extensions: { upstream: { stale: true, fields: { w: { stale: true }, p: { stale: false } } } },
      });
    });

    test('A payer reads no words of the service: not how many requests it takes, nor that it refuses the key', async () => {
      const pair = await start({ requestsPerMinute: 4 });
      const { facade } = pair;
      const refusable = `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) {
        ... on UserError { code message } ... on RateLimitError { limit retryAfterSeconds } } }`;
      const page = facade.client(await checkoutToken(pair));
      const tryToPay = async (attemptId: string) =>
        (await ask(pair, page.send(refusable, { input: { attemptId } }))).body;
      const merchantAsks = async () =>
        (await ask(pair, facade.live.send('{ products(first: 1) { edges { node { id } } } }'))).body;
      pair.proxy.plan = () => ({ kind: 'status', status: 401, when: 'before' });
      const refused = await tryToPay('e'.repeat(22));
      expect(refused.data.startCheckout).toEqual({
        code: 'UPSTREAM_REFUSED',
        message: 'This cannot be done now',
      });
      expect(refused.extensions.upstream).not.toHaveProperty('keyRefused');
      const answered = await merchantAsks();
      expect(answered.errors[0].message).toBe('The payments service does not accept the key of this server');
      expect(answered.extensions.upstream).toMatchObject({ keyRefused: true });
      expect((await readyOf(facade.url)).body.upstream.refusedKeys).toEqual(['live']);

      pair.proxy.plan = () => PASS;
      await pair.pass(61 * SECOND);
      const again = await merchantAsks();
      expect(again.errors).toBeUndefined();
      expect(again.extensions.upstream).not.toHaveProperty('keyRefused');
      for (let requests = 0; requests < 8; requests++) {
        const { errors } = await merchantAsks();
        if (errors)
          expect(errors[0].message).toBe('Rate limit exceeded: 4 requests a minute to the payments service');
        pair.clock.advance(SECOND);
      }
      expect((await tryToPay('f'.repeat(22))).data.startCheckout).toEqual({
        code: 'RATE_LIMITED',
        message: 'Rate limit exceeded: payments at this moment',
        limit: 'payments at this moment',
        retryAfterSeconds: expect.any(Number),
      });
    });

    test('No response, log line, metric or error contains the service’s keys or its address', async () => {
      const pair = await start();
      const { facade, proxy, keys } = pair;
      const said: string[] = [];
      const note = async <Value>(value: Promise<Value> | Value) => said.push(JSON.stringify(await value));
      const page = facade.client(await checkoutToken(pair));
      await note(page.send(START, { input: { attemptId: 'c'.repeat(22) } }));
      await note(facade.live.send(WALLET));
      await note(facade.sandbox.send(WALLET));
      await note(facade.client(`${keys.live}x`).send(WALLET));
      stop(pair);
      const unseen = '{ products(first: 1) { edges { node { id } } } }';
      for (const client of [facade.live, facade.sandbox]) {
        await note(ask(pair, client.send(unseen)));
        await note(
          ask(pair, client.send('{ subaccount(subaccountId: "nothing") { id } wallet { balanceCents } }')),
        );
        const input = { method: 'PIX', amountCents: 2_000, destination: 'ana@padaria.example' };
        await note(ask(pair, client.send(REQUEST_PAYOUT, { input })));
      }
      proxy.plan = () => ({ kind: 'status', status: 500, when: 'before' });
      await pair.pass(2 * 60 * SECOND);
      await note(ask(pair, facade.live.send(unseen)));
      await note(readyOf(facade.url));
      await note(fetch(`${facade.url}/metrics`).then((response) => response.text()));
      // The error with its causes, as a logger writes it.
      for (const fault of facade.faults) said.push(written(fault));
      for (const text of said)
        for (const secret of [keys.live, keys.sandbox, new URL(proxy.url).host, ...secretsOf(pair)])
          expect(text).not.toContain(secret);
      proxy.plan = () => PASS;
    });
  });
});

function ofService({ accountIds }: Pair) {
  return { accountId: accountIds.service, environment: 'live' as const };
}

function secretsOf({ webhookSecrets }: Pair): string[] {
  return Object.values(webhookSecrets);
}

async function readyOf(url: string) {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: await response.json() };
}

function written(value: unknown): string {
  if (value instanceof Error)
    return [value.stack, ...Object.values(value).map(written), written(value.cause)].join('\n');
  if (typeof value === 'object' && value !== null) return Object.values(value).map(written).join('\n');
  return String(value);
}
