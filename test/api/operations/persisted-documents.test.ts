import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { fetchExchange, Client as UrqlClient } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';
import { createClient as createSocket } from 'graphql-ws';
import { Environment, fetchQuery, Network, Observable, RecordSource, Store } from 'relay-runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { readTrustedDocuments } from '../../../server/src/api/operations/trusted-manifest.ts';
import { WIDGET_DOCUMENTS } from '../../../server/src/api/operations/widget-documents.ts';
import { relaySubscribe, resumable } from '../../../widget/src/live/resume.ts';
import { follow } from '../../../widget/src/server/follow.ts';
import { MINT_DASHBOARD, mintCheckout, tokenHandler } from '../../../widget/src/server/mint.ts';
import { followSales, SALES_DOCUMENTS, sales } from '../../../widget/src/server/sales.ts';
import { documentOf, TOPIC_NAMES } from '../../../widget/src/server/topics.ts';
import { addAccount, addKey, addToken } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const hashed = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });

const TRUSTED = 'query Wallet { wallet { currency } }';
const TRUSTED_UPDATES = 'subscription Changes { allCardPaymentUpdates { cursor } }';
const UNTRUSTED = 'query Other { wallet { balanceCents } }';
const NOT_FOUND = {
  message: 'PersistedQueryNotFound',
  extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', retryPolicy: 'AFTER_CHANGE' },
};
const REFUSED = {
  message: 'This server runs only trusted documents, and this is not one of them',
  extensions: { code: 'FORBIDDEN', retryPolicy: 'AFTER_CHANGE' },
};

const folder = mkdtempSync(join(tmpdir(), 'psa-documents-'));
function manifest(content: unknown): string {
  const path = join(folder, `${sha256(JSON.stringify(content)).slice(0, 8)}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const noop = () => undefined;

const apps: TestApp[] = [];
async function start(environment: Record<string, string> = {}): Promise<TestApp> {
  const app = await startApp({ compileAfter: 1, environment: { PSA_FAST_PATH: 'on', ...environment } });
  apps.push(app);
  return app;
}

let app: TestApp;
beforeAll(async () => {
  app = await start();
});
afterAll(async () => {
  for (const each of apps) {
    expect(each.faults).toEqual([]);
    await each.close();
  }
  rmSync(folder, { recursive: true });
});

interface Sent {
  query?: unknown;
  extensions?: unknown;
  documentId?: unknown;
  variables?: unknown;
}
async function post(
  sent: Sent,
  { key = LIVE_KEY as string | null, accept = 'application/json', to = app } = {},
) {
  const response = await fetch(`${to.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...(key && { authorization: `Bearer ${key}` }) },
    body: JSON.stringify(sent),
  });
  return { status: response.status, ...(await response.json()) };
}
async function get(sent: Sent, to = app) {
  const params = Object.entries(sent).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  const response = await fetch(`${to.url}/graphql?${new URLSearchParams(params)}`, {
    headers: { authorization: `Bearer ${LIVE_KEY}`, accept: 'application/json' },
  });
  return { status: response.status, ...(await response.json()) };
}
/** Sends an operation by the library `graphql-ws`, and resolves with its first result or its errors. */
async function overSocket(sent: Sent, { key = LIVE_KEY, to = app } = {}) {
  const socket = createSocket({
    url: `${to.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: { authorization: `Bearer ${key}` },
  });
  try {
    // The protocol requires the member `query`.
    for await (const result of socket.iterate({ query: '', ...sent } as { query: string })) return result;
    return null;
  } catch (errors) {
    return { errors };
  } finally {
    await socket.dispose();
  }
}

describe('automatic persisted queries', () => {
  const headers = { authorization: `Bearer ${LIVE_KEY}` };

  /** A `fetch` for a client that persists its queries, and the requests that it has sent. */
  function recorded() {
    const requests: { method: string; query: boolean; status: number }[] = [];
    const send: typeof fetch = async (url, init) => {
      const response = await fetch(url, init);
      const method = init?.method ?? 'GET';
      const query =
        method === 'GET'
          ? new URL(String(url)).searchParams.has('query')
          : 'query' in JSON.parse(String(init?.body));
      requests.push({ method, query, status: response.status });
      return response;
    };
    return { requests, fetch: send };
  }

  /** A client that persists its queries, and the requests that it has sent. */
  function apollo(options: { useGETForHashedQueries?: boolean } = {}) {
    const { requests, fetch } = recorded();
    const link = new PersistedQueryLink({ sha256, ...options }).concat(
      new HttpLink({ uri: `${app.url}/graphql`, headers, fetch }),
    );
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    const read = async (text: string, variables?: Record<string, string>) => {
      const { data } = await client.query({
        query: gql(text),
        fetchPolicy: 'network-only',
        ...(variables && { variables }),
      });
      return data;
    };
    return { read, requests, stop: () => client.stop() };
  }

  test.each([false, true])('Apollo Client registers a query once, by GET: %s', async (byGet) => {
    const { read, requests, stop } = apollo({ useGETForHashedQueries: byGet });
    const text = `query Apollo${byGet}($code: String!) { cardPayment(orderCode: $code) { status } }`;
    const method = byGet ? 'GET' : 'POST';
    for (const code of ['a', 'b', 'c', 'c'])
      expect(await read(text, { code })).toEqual({ cardPayment: null });
    expect(requests).toEqual([
      { method, query: false, status: 404 },
      { method: 'POST', query: true, status: 200 },
      { method, query: false, status: 200 },
      { method, query: false, status: 200 },
      { method, query: false, status: 200 },
    ]);
    stop();
  });

  test.each([false, true])('urql registers a query once, by GET: %s', async (byGet) => {
    const { requests, fetch } = recorded();
    const client = new UrqlClient({
      url: `${app.url}/graphql`,
      preferGetMethod: false,
      fetchOptions: { headers },
      fetch,
      exchanges: [persistedExchange({ preferGetForPersistedQueries: byGet }), fetchExchange],
    });
    const text = `query Urql${byGet}($code: String!) { cardPayment(orderCode: $code) { status } }`;
    for (const code of ['a', 'b', 'c', 'c'])
      expect(await client.query(text, { code }).toPromise()).toMatchObject({ data: { cardPayment: null } });
    const method = byGet ? 'GET' : 'POST';
    expect(requests).toEqual([
      { method, query: false, status: 404 },
      // The exchange sends the document by the method of the hash; Apollo Client always by POST.
      { method, query: true, status: 200 },
      { method, query: false, status: 200 },
      { method, query: false, status: 200 },
      { method, query: false, status: 200 },
    ]);
  });

  test('the compiled path answers a hash with the same bytes', async () => {
    const query = 'query Compiled { wallet { currency balanceCents } }';
    const registered = await post({ query, extensions: hashed(query) });
    await post({ extensions: hashed(query) });
    const before = app.fastAnswers();
    expect(await post({ extensions: hashed(query) })).toEqual(registered);
    expect(await post({ documentId: `sha256:${sha256(query)}` })).toEqual(registered);
    expect(app.fastAnswers()).toBe(before + 2);
  });

  test('a hash is known over every transport, whichever has registered it', async () => {
    const query = 'query Everywhere { wallet { currency } }';
    const data = { wallet: { currency: 'BRL' } };
    expect(await overSocket({ extensions: hashed(query) })).toMatchObject({ errors: [NOT_FOUND] });
    expect(await overSocket({ query, extensions: hashed(query) })).toEqual({ data });
    expect(await overSocket({ extensions: hashed(query) })).toEqual({ data });
    expect(await get({ extensions: hashed(query) })).toEqual({ status: 200, data });
    expect(await post({ extensions: hashed(query) })).toEqual({ status: 200, data });
  });

  test('a subscription is opened by its hash over an event stream and a WebSocket', async () => {
    await app.live.request('mutation { createCardPayment(input: { valueCents: 100 }) { __typename } }');
    const { cursor } = { cursor: (await app.live.request('{ updatesCursor }')).updatesCursor };
    await app.live.request('mutation { createCardPayment(input: { valueCents: 200 }) { __typename } }');
    const query =
      'subscription Live($after: String) { allCardPaymentUpdates(after: $after) { cardPayment { amountCents } } }';
    const update = { allCardPaymentUpdates: { cardPayment: { amountCents: 200 } } };
    const variables = { after: cursor };
    expect(await overSocket({ query, variables, extensions: hashed(query) })).toEqual({ data: update });
    expect(await overSocket({ variables, extensions: hashed(query) })).toEqual({ data: update });
    const stream = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${LIVE_KEY}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ variables, extensions: hashed(query) }),
    });
    let text = '';
    for await (const chunk of stream.body!.pipeThrough(new TextDecoderStream()) as never as string[]) {
      text += chunk;
      if (text.includes('data:')) break;
    }
    expect(text).toContain(JSON.stringify({ data: update }));
  });

  test('an unknown hash has the status of its media type', async () => {
    const sent = { extensions: hashed('{ unknown }') };
    expect(await post(sent)).toEqual({ status: 200, errors: [NOT_FOUND] });
    const newer = { accept: 'application/graphql-response+json' };
    expect(await post(sent, newer)).toEqual({ status: 404, errors: [NOT_FOUND] });
    // Some clients send an empty query in place of none.
    expect(await post({ query: '', ...sent }, newer)).toMatchObject({ status: 404 });
  });

  test.each([
    [
      'a hash of another text',
      { query: TRUSTED, extensions: hashed(UNTRUSTED) },
      'The hash is not that of the query',
    ],
    [
      'a hash in capitals',
      {
        query: TRUSTED,
        extensions: { persistedQuery: { version: 1, sha256Hash: sha256(TRUSTED).toUpperCase() } },
      },
      'in lower case',
    ],
    [
      'another version',
      { extensions: { persistedQuery: { version: 2, sha256Hash: 'x' } } },
      'version must be 1',
    ],
    ['no hash', { extensions: { persistedQuery: { version: 1 } } }, 'sha256Hash must be'],
    [
      'a hash that is a list',
      { extensions: { persistedQuery: { version: 1, sha256Hash: [] } } },
      'sha256Hash must be',
    ],
    ['a text for the protocol', { extensions: { persistedQuery: 'x' } }, 'version must be 1'],
    ['an identifier that is an object', { documentId: {} }, 'documentId must be'],
    [
      'an identifier of another text',
      { query: TRUSTED, documentId: 'sha256:0' },
      'The hash is not that of the query',
    ],
  ])('%s is refused with what is wrong', async (_, sent, says) => {
    const error = {
      message: expect.stringContaining(says),
      extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
    };
    expect(await post(sent, { accept: 'application/graphql-response+json' })).toEqual({
      status: 400,
      errors: [error],
    });
    expect(await overSocket(sent)).toMatchObject({ errors: [error] });
  });

  test('a mutation is not run by GET, though its hash is known', async () => {
    const query = 'mutation Create { createCardPayment(input: { valueCents: 100 }) { __typename } }';
    expect(await post({ query, extensions: hashed(query) })).toMatchObject({ status: 200 });
    expect(await get({ extensions: hashed(query) })).toMatchObject({ status: 405 });
  });

  test('a document is registered for known callers alone', async () => {
    const query = 'query Stranger { __typename }';
    const sent = { query, extensions: hashed(query) };
    expect(await post(sent, { key: null })).toEqual({ status: 200, data: { __typename: 'Query' } });
    expect(await post({ extensions: hashed(query) })).toMatchObject({ errors: [NOT_FOUND] });
    expect(await post(sent, { key: 'ps_live_unknown0123456789' })).toMatchObject({ status: 401 });
    expect(await post({ extensions: hashed(query) })).toMatchObject({ errors: [NOT_FOUND] });
  });

  test.each([
    ['cannot be parsed', 'query Broken {'],
    ['asks for a field that is not there', 'query Invalid { wallet { colour } }'],
  ])('a document that %s is not registered, over any transport', async (_, query) => {
    const sent = { query, extensions: hashed(query) };
    expect(await post(sent)).toMatchObject({ errors: [expect.anything()] });
    expect(await overSocket(sent)).toMatchObject({ errors: [expect.anything()] });
    expect(await post({ extensions: hashed(query) })).toMatchObject({ errors: [NOT_FOUND] });
  });

  test('what the token of a shop’s page registers pushes out no document of others', async () => {
    const query = 'query Nightly { wallet { currency } }';
    await post({ query, extensions: hashed(query) });
    const key = await addToken(app, {
      kind: 'checkout',
      grant: { amount: { fixedCents: 4990 }, reusable: true },
    });
    const text = (index: number) => `query Visitor { __typename } # ${index} ${'y'.repeat(95_000)}`;
    for (let index = 0; index < 30; index += 1)
      expect(await post({ query: text(index), extensions: hashed(text(index)) }, { key })).toMatchObject({
        data: { __typename: 'Query' },
      });
    expect(await post({ extensions: hashed(text(29)) }, { key })).toMatchObject({
      data: { __typename: 'Query' },
    });
    expect(await post({ extensions: hashed(text(0)) }, { key })).toMatchObject({ errors: [NOT_FOUND] });
    expect(await post({ extensions: hashed(query) })).toMatchObject({ data: {} });
  });

  test('what one merchant registers pushes out no document of another', async () => {
    const query = 'query Monthly { wallet { currency } }';
    await post({ query, extensions: hashed(query) });
    const key = await addKey(app, { accountId: await addAccount(app), environment: 'live' });
    const text = (index: number) => `query Other { __typename } # ${index} ${'z'.repeat(95_000)}`;
    for (let index = 0; index < 30; index += 1)
      await post({ query: text(index), extensions: hashed(text(index)) }, { key });
    expect(await post({ extensions: hashed(text(0)) }, { key })).toMatchObject({ errors: [NOT_FOUND] });
    expect(await post({ extensions: hashed(text(29)) }, { key })).toMatchObject({ data: {} });
    expect(await post({ extensions: hashed(query) })).toMatchObject({ data: { wallet: {} } });
  });

  test('registered documents are dropped before they take much memory', async () => {
    const text = (index: number) => `query Large { __typename } # ${index} ${'x'.repeat(95_000)}`;
    for (let index = 0; index < 30; index += 1)
      await post({ query: text(index), extensions: hashed(text(index)) });
    expect(await post({ extensions: hashed(text(0)) })).toMatchObject({ errors: [NOT_FOUND] });
    expect(await post({ extensions: hashed(text(29)) })).toMatchObject({ data: { __typename: 'Query' } });
  });
});

interface Changes {
  data: { allCardPaymentUpdates: { cardPayment: { amountCents: number } } };
}

/** The artifact of the query `Wallet`, as Relay's compiler writes it with persisted documents: without a text. */
const WALLET_ARTIFACT = (() => {
  const field = { alias: null, args: null, storageKey: null };
  const currency = { ...field, kind: 'ScalarField', name: 'currency' };
  const wallet = {
    ...field,
    kind: 'LinkedField',
    name: 'wallet',
    concreteType: 'Wallet',
    plural: false,
    selections: [currency],
  };
  const common = { argumentDefinitions: [], name: 'Wallet', selections: [wallet] };
  return {
    kind: 'Request',
    fragment: { ...common, kind: 'Fragment', type: 'Query', abstractKey: null, metadata: null },
    operation: { ...common, kind: 'Operation' },
    params: {
      id: md5(TRUSTED),
      cacheID: md5(TRUSTED),
      metadata: {},
      name: 'Wallet',
      operationKind: 'query',
      text: null,
    },
  };
})();

describe('trusted documents', () => {
  const PSA_TRUSTED_DOCUMENTS = [
    manifest({
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: [{ id: sha256(TRUSTED), name: 'Wallet', type: 'query', body: TRUSTED }],
    }),
    // Relay names a document by its MD5.
    manifest({ '8f14e45fceea167a5a36dedd4bea2543': TRUSTED_UPDATES }),
  ].join();
  const data = { wallet: { currency: 'BRL' } };

  test('a document of a manifest is known by its identifier at once, over each transport', async () => {
    const to = await start({ PSA_TRUSTED_DOCUMENTS });
    expect(await post({ extensions: hashed(TRUSTED) }, { to })).toEqual({ status: 200, data });
    expect(await post({ documentId: `sha256:${sha256(TRUSTED)}` }, { to })).toEqual({ status: 200, data });
    expect(await get({ documentId: sha256(TRUSTED) }, to)).toEqual({ status: 200, data });
    expect(await overSocket({ extensions: hashed(TRUSTED) }, { to })).toEqual({ data });
    // A document outside the manifest may run, too.
    expect(await post({ query: UNTRUSTED }, { to })).toMatchObject({ status: 200, data: {} });
  });

  test('Relay reads and follows by the identifiers of trusted documents, where tokens run nothing else', async () => {
    const updates =
      'subscription Changes($after: String) { allCardPaymentUpdates(after: $after) { cursor cardPayment { amountCents } } }';
    const to = await start({
      PSA_TRUSTED_DOCUMENTS: manifest({ [md5(TRUSTED)]: TRUSTED, [md5(updates)]: updates }),
      PSA_TRUSTED_DOCUMENTS_ONLY: 'tokens',
    });
    const key = await addToken(to, { kind: 'dashboard', grant: { scopes: ['wallet', 'card_payments'] } });
    const socket = createSocket({
      url: `${to.url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
      connectionParams: { authorization: `Bearer ${key}` },
    });
    const relay = new Environment({
      network: Network.create(
        ({ id }, variables) => post({ documentId: id, variables }, { to, key }),
        relaySubscribe(resumable(socket), Observable),
      ),
      store: new Store(new RecordSource()),
    });
    expect(await post({ query: UNTRUSTED }, { to, key })).toEqual({ status: 403, errors: [REFUSED] });
    expect(await fetchQuery(relay, WALLET_ARTIFACT, {}).toPromise()).toEqual(data);

    const pay = (cents: number) =>
      to.live.request(
        `mutation { createCardPayment(input: { valueCents: ${cents} }) { ... on CreateCardPaymentSuccess { replayed } } }`,
      );
    const { updatesCursor } = await to.live.request('{ updatesCursor }');
    const amounts: unknown[] = [];
    const operation = { id: md5(updates), text: null, name: 'Changes', operationKind: 'subscription' };
    const { unsubscribe } = relay
      .getNetwork()
      .execute(operation, { after: updatesCursor }, {})
      .subscribe({
        next: (result) =>
          amounts.push((result as Changes).data.allCardPaymentUpdates.cardPayment.amountCents),
        error: (error) => amounts.push(error),
      });
    await pay(200);
    await expect.poll(() => amounts).toEqual([200]);
    socket.terminate();
    await pay(300);
    await expect.poll(() => amounts).toEqual([200, 300]);
    unsubscribe();
    await socket.dispose();
  });

  test('a server for trusted documents alone refuses any other, over each transport and on both paths', async () => {
    const to = await start({ PSA_TRUSTED_DOCUMENTS, PSA_TRUSTED_DOCUMENTS_ONLY: 'all' });
    for (const sent of [
      { query: UNTRUSTED },
      { query: UNTRUSTED, extensions: hashed(UNTRUSTED) },
      { query: '{ __schema { types { name } } }' },
      { query: 'not GraphQL' },
    ]) {
      expect(await post(sent, { to })).toEqual({ status: 403, errors: [REFUSED] });
      expect(await get(sent, to)).toEqual({ status: 403, errors: [REFUSED] });
      expect(await overSocket(sent, { to })).toMatchObject({ errors: [REFUSED] });
    }
    expect(await post({ extensions: hashed(UNTRUSTED) }, { to })).toMatchObject({ errors: [NOT_FOUND] });
    const before = to.fastAnswers();
    for (let times = 0; times < 3; times += 1) {
      // The whole text is accepted as its hash is.
      expect(await post({ query: TRUSTED }, { to })).toEqual({ status: 200, data });
      expect(await post({ extensions: hashed(TRUSTED) }, { to })).toEqual({ status: 200, data });
    }
    expect(to.fastAnswers()).toBeGreaterThan(before);
    const subscription = await fetch(`${to.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${LIVE_KEY}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: 'subscription { allCardPaymentUpdates { cursor } }' }),
    });
    expect(await subscription.text()).toContain(REFUSED.message);
  });

  test('a backend by @psa/checkout/server needs no manifest, and no token runs its documents', async () => {
    const to = await start({ PSA_TRUSTED_DOCUMENTS_ONLY: 'all' });
    const server = { endpoint: `${to.url}/graphql`, key: LIVE_KEY };
    expect((await mintCheckout(server, { amount: { fixedCents: 4_990 } })).token).toMatch(/^ps_checkout_/);
    const renew = tokenHandler<Request>({ ...server, scopes: ['PAYMENTS'], authorize: () => true });
    const renewed = await renew(new Request('https://shop.example/token', { method: 'POST' }));
    expect(renewed.status).toBe(200);
    const from = new Date(0);
    for await (const sale of sales(server, { from })) expect.unreachable(JSON.stringify(sale));
    // The subscription runs, and refuses the cursor.
    const options = { ...server, load: () => 'x', save: noop, onUpdate: noop, reconcile: noop };
    for (const topic of TOPIC_NAMES)
      await expect(follow(topic, options)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(follow('accountUpdates', options)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    await expect(followSales({ ...options, onSale: noop })).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
    const ofOwn = follow('payments', { ...options, fields: 'paymentId' });
    await expect(ofOwn).rejects.toMatchObject({ code: 'FORBIDDEN' });

    const { token } = await renewed.json();
    for (const query of [MINT_DASHBOARD, ...SALES_DOCUMENTS, documentOf('payments')])
      expect(await post({ query }, { to, key: token })).toEqual({ status: 403, errors: [REFUSED] });
  });

  test('tokens are bound to trusted documents where API keys are not, also to documents that are compiled', async () => {
    const to = await start({ PSA_TRUSTED_DOCUMENTS, PSA_TRUSTED_DOCUMENTS_ONLY: 'tokens' });
    const key = await addToken(to, { kind: 'dashboard', grant: { scopes: ['wallet'] } });
    const sent = { query: UNTRUSTED, extensions: hashed(UNTRUSTED) };
    for (let times = 0; times < 3; times += 1)
      for (const each of [sent, { query: UNTRUSTED }, { extensions: hashed(UNTRUSTED) }]) {
        expect(await post(each, { to })).toMatchObject({ status: 200, data: {} });
        expect(await post(each, { to, key })).toEqual({ status: 403, errors: [REFUSED] });
        expect(await post(each, { to, key: null })).toEqual({ status: 403, errors: [REFUSED] });
      }
    expect(to.fastAnswers()).toBeGreaterThan(0);
    expect(await overSocket(sent, { to })).toMatchObject({ data: {} });
    expect(await overSocket(sent, { to, key })).toMatchObject({ errors: [REFUSED] });
    for (let times = 0; times < 3; times += 1)
      expect(await post({ extensions: hashed(TRUSTED) }, { to, key })).toEqual({ status: 200, data });
    expect(await post({ query: UNTRUSTED }, { to, key: 'ps_live_unknown0123456789' })).toMatchObject({
      status: 401,
    });
    // The widget's own operations need no manifest.
    const [payments] = WIDGET_DOCUMENTS.filter((each) => each.startsWith('query CardPayment('));
    const variables = { orderCode: 'x' };
    expect(await post({ query: payments, variables }, { to, key })).not.toMatchObject({ errors: [REFUSED] });
  });

  test('the identifiers of a manifest may begin with their algorithm, as a documentId does', () => {
    const id = sha256(TRUSTED);
    const paths = [
      manifest({ [`sha256:${id}`]: TRUSTED }),
      manifest({
        format: 'apollo-persisted-query-manifest',
        version: 1,
        operations: [{ id: `sha256:${id}`, name: 'Wallet', type: 'query', body: TRUSTED }],
      }),
    ];
    for (const path of paths) expect([...readTrustedDocuments([path])]).toContainEqual([id, TRUSTED]);
  });

  test.each([
    ['no JSON', '{', 'is not JSON'],
    ['a list', [], 'must be a manifest'],
    ['an empty document', { x: '' }, 'must be a manifest'],
    ['an unknown version', { format: 'apollo-persisted-query-manifest', version: 2 }, 'must be a manifest'],
    [
      'an operation without a body',
      { format: 'apollo-persisted-query-manifest', version: 1, operations: [{ id: 'x' }] },
      'must be a manifest',
    ],
    [
      'another document for a known identifier',
      { [sha256(WIDGET_DOCUMENTS[0]!)]: TRUSTED },
      'another document',
    ],
  ])('a manifest is refused at the start: %s', (_, content, says) => {
    const path = manifest(content);
    expect(() => readTrustedDocuments([path])).toThrow(`PSA_TRUSTED_DOCUMENTS: ${path}`);
    expect(() => readTrustedDocuments([path])).toThrow(says);
  });

  test('a manifest that does not exist is refused with its path', () => {
    expect(() => readTrustedDocuments([join(folder, 'none.json')])).toThrow(
      'none.json cannot be read (ENOENT)',
    );
  });
});
