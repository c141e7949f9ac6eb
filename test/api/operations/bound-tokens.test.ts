import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { print } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WIDGET_DOCUMENTS } from '../../../server/src/api/operations/widget-documents.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { openRawSocket } from '../../support/raw-socket.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const TRUSTED = 'query Wallet { wallet { currency } }';
/** A document as Apollo's manifest has it, with the fields that its cache adds. */
const OF_APOLLO = print(new InMemoryCache().transformDocument(gql(TRUSTED)));
const UNTRUSTED = 'query Other { wallet { balanceCents } }';
const UPDATES = 'subscription Changes { allCardPaymentUpdates { cursor } }';
const OTHER_UPDATES = 'subscription Other { allCardPaymentUpdates { occurredAt } }';
const data = { wallet: { currency: 'BRL' } };
const REFUSED = {
  message: 'This token runs only trusted documents, and this is not one of them',
  extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' },
};

const folder = mkdtempSync(join(tmpdir(), 'psa-bound-'));
let app: TestApp;
beforeAll(async () => {
  const manifest = join(folder, 'manifest.json');
  const documents = [TRUSTED, OF_APOLLO, UPDATES, '{ viewer { credential trustedDocumentsOnly } }'];
  writeFileSync(manifest, JSON.stringify(Object.fromEntries(documents.map((each) => [sha256(each), each]))));
  app = await startApp({
    compileAfter: 1,
    environment: { PSA_FAST_PATH: 'on', PSA_TRUSTED_DOCUMENTS: manifest },
  });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
  rmSync(folder, { recursive: true });
});

const MINT_DASHBOARD = `mutation ($input: CreateDashboardTokenInput!) { result: createDashboardToken(input: $input) { __typename
  ... on CreateDashboardTokenSuccess { token } ... on UserError { code } ... on ValidationError { fields { path message } } } }`;
const MINT_CHECKOUT = `mutation ($input: CreateCheckoutTokenInput!) { result: createCheckoutToken(input: $input) { __typename
  ... on CreateCheckoutTokenSuccess { token } ... on UserError { code } ... on ValidationError { fields { path message } } } }`;

async function dashboardToken(trustedDocumentsOnly?: boolean): Promise<string> {
  const input = { scopes: ['WALLET', 'CARD_PAYMENTS'], trustedDocumentsOnly };
  return (await app.live.request(MINT_DASHBOARD, { input })).result.token;
}

function send(token: string, body: object, accept = 'application/json') {
  return fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
}
async function post(token: string, body: object) {
  const response = await send(token, body);
  return { status: response.status, ...(await response.json()) };
}

test('A bound token runs nothing but trusted documents over HTTP, though every other caller runs any', async () => {
  const bound = await dashboardToken(true);
  const free = await dashboardToken();
  const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(UNTRUSTED) } };
  const before = app.fastAnswers();
  // The second request compiles the document, for callers that may run it.
  for (let times = 0; times < 3; times += 1) {
    expect(await post(LIVE_KEY, { query: UNTRUSTED, extensions })).toMatchObject({ status: 200, data: {} });
    expect(await post(free, { query: UNTRUSTED })).toMatchObject({ status: 200, data: {} });
    for (const sent of [{ query: UNTRUSTED }, { query: UNTRUSTED, extensions }, { extensions }])
      expect(await post(bound, sent)).toEqual({ status: 403, errors: [REFUSED] });
    for (const sent of [{ query: TRUSTED }, { documentId: `sha256:${sha256(TRUSTED)}` }])
      expect(await post(bound, sent)).toEqual({ status: 200, data });
  }
  expect(app.fastAnswers()).toBeGreaterThan(before + 4);
  const byGet = await fetch(`${app.url}/graphql?${new URLSearchParams({ query: UNTRUSTED })}`, {
    headers: { authorization: `Bearer ${bound}` },
  });
  expect(await byGet.json()).toMatchObject({ errors: [REFUSED] });
  expect(await post(bound, { query: '{ __schema { types { name } } }' })).toMatchObject({ status: 403 });
  // The widget's own documents need no manifest.
  const payment = WIDGET_DOCUMENTS.find((each) => each.startsWith('query CardPayment('));
  expect(await post(bound, { query: payment, variables: { orderCode: 'x' } })).toMatchObject({
    data: { cardPayment: null },
  });
});

test('A bound token opens nothing but trusted subscriptions, by event streams and WebSockets', async () => {
  const bound = await dashboardToken(true);
  const refused = await send(bound, { query: OTHER_UPDATES }, 'text/event-stream');
  expect(await refused.text()).toContain(REFUSED.message);
  const opened = await send(bound, { query: UPDATES }, 'text/event-stream');
  expect(opened.headers.get('content-type')).toContain('text/event-stream');

  const socket = openRawSocket(app.url);
  await socket.init(bound);
  socket.send({ id: 'refused', type: 'subscribe', payload: { query: OTHER_UPDATES } });
  expect(await socket.next()).toMatchObject({ id: 'refused', type: 'error', payload: [REFUSED] });
  socket.send({ id: 'query', type: 'subscribe', payload: { query: UNTRUSTED } });
  expect(await socket.next()).toMatchObject({ id: 'query', type: 'error', payload: [REFUSED] });
  socket.send({ id: 'opened', type: 'subscribe', payload: { query: UPDATES } });
  socket.send({ id: 'read', type: 'subscribe', payload: { query: TRUSTED } });
  expect(await socket.next()).toEqual({ id: 'read', type: 'next', payload: { data } });

  await app.live.request('mutation { createCardPayment(input: { valueCents: 100 }) { __typename } }');
  expect(await socket.next()).toMatchObject({ type: 'complete', id: 'read' });
  expect(await socket.next()).toMatchObject({ id: 'opened', type: 'next' });
  const reader = opened.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('data:')) text += (await reader.read()).value;
  expect(text).toContain('"allCardPaymentUpdates":{"cursor"');
  await reader.cancel();
  socket.socket.close();
});

test('Apollo Client reads by identifiers with a bound token, and is refused another document', async () => {
  const bound = await dashboardToken(true);
  const link = new PersistedQueryLink({ sha256 }).concat(
    new HttpLink({ uri: `${app.url}/graphql`, headers: { authorization: `Bearer ${bound}` } }),
  );
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const options = { fetchPolicy: 'no-cache' as const };
  expect((await client.query({ query: gql(TRUSTED), ...options })).data).toMatchObject(data);
  await expect(client.query({ query: gql(UNTRUSTED), ...options })).rejects.toThrow(REFUSED.message);
  client.stop();
});

test('A payment token has the binding of the checkout token that started the payment', async () => {
  for (const trustedDocumentsOnly of [true, false]) {
    const input = { amount: { fixedCents: 1_000 }, methods: ['CARD', 'PIX'], trustedDocumentsOnly };
    const { token } = (await app.live.request(MINT_CHECKOUT, { input })).result;
    for (const field of ['startCheckout', 'startPixCheckout']) {
      const start = WIDGET_DOCUMENTS.find((each) => each.includes(`${field}(`))!;
      const started = await post(token, {
        query: start,
        variables: { input: { attemptId: `b0dd0000-0000-4000-8000-00000000000${field.length % 10}` } },
      });
      const { paymentToken } = started.data[field];
      expect(await post(paymentToken, { query: '{ viewer { credential trustedDocumentsOnly } }' })).toEqual({
        status: 200,
        data: { viewer: { credential: 'PAYMENT_TOKEN', trustedDocumentsOnly } },
      });
      expect(await post(paymentToken, { query: '{ viewer { environment } }' })).toMatchObject(
        trustedDocumentsOnly ? { status: 403, errors: [REFUSED] } : { status: 200 },
      );
    }
  }
});

test('Each token of an order is bound or free by itself', async () => {
  const order = { amount: { fixedCents: 1_000 }, externalId: 'bound-1' };
  const mint = (more: object) =>
    app.live.request(MINT_CHECKOUT, { input: { ...order, ...more } }).then(({ result }) => result);
  const bound = await mint({ trustedDocumentsOnly: true });
  const free = await mint({});
  const query = '{ viewer { environment } }';
  expect(await post(bound.token, { query })).toMatchObject({ status: 403, errors: [REFUSED] });
  expect(await post(free.token, { query })).toMatchObject({ status: 200 });
});

test('A server without a manifest refuses to bind a token, and names the member', async () => {
  const other = await startApp();
  const refusal = {
    __typename: 'ValidationError',
    fields: [
      {
        path: 'input.trustedDocumentsOnly',
        message: 'must be left out, because this server has no manifest of trusted documents',
      },
    ],
  };
  const inputs = [
    [MINT_DASHBOARD, { scopes: ['WALLET'] }],
    [MINT_CHECKOUT, { amount: { fixedCents: 1_000 } }],
  ] as const;
  for (const [mutation, input] of inputs) {
    expect(
      (await other.live.request(mutation, { input: { ...input, trustedDocumentsOnly: true } })).result,
    ).toMatchObject(refusal);
    const free = { ...input, trustedDocumentsOnly: false };
    expect((await other.live.request(mutation, { input: free })).result.token).toBeTypeOf('string');
  }
  expect(other.faults).toEqual([]);
  await other.close();
});
