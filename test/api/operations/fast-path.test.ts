import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { request as httpRequest, ServerResponse } from 'node:http';
import { type DocumentNode, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { schema } from '../../../server/src/programs/modes/schema.ts';
import { addToken } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { sampled } from '../../support/scale.ts';

let app: TestApp;
let orderCode: string;
let productId: string;
let paymentToken: string;
let dashboardToken: string;

beforeAll(async () => {
  // The limit is so high that `remaining` keeps its number of digits.
  app = await startApp({
    compileAfter: 1,
    environment: { PSA_FAST_PATH: 'on', PSA_GRAPHQL_LIMIT: '900000' },
  });
  const { createProduct } = await app.live.request(
    'mutation { createProduct(input: { name: "Caneca \\"azul\\" 🫖", priceCents: 4990 }) { ... on CreateProductSuccess { product { productId } } } }',
  );
  productId = createProduct.product.productId;
  for (const valueCents of [1_000, 2_000, 3_000])
    orderCode = (
      await app.live.request(
        'mutation ($valueCents: Cents!) { createCardPayment(input: { valueCents: $valueCents, description: "a\\n\\u2028\\ud83d\\ude00", customer: { name: "Ana" } }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
        { valueCents },
      )
    ).createCardPayment.cardPayment.orderCode;
  await app.sandbox.request('mutation { createTestPayment(input: { valueCents: 100000 }) { __typename } }');
  paymentToken = await addToken(app, { kind: 'payment', grant: { orderCode } });
  dashboardToken = await addToken(app, { kind: 'dashboard', grant: { scopes: ['wallet'] } });
});
afterAll(async () => {
  expect(app.faults).toEqual([]);
  await app.close();
});

// ── Both paths ──────────────────────────────────────────────────────────────────────────────────

interface Sent {
  query: string;
  variables?: unknown;
  operationName?: unknown;
}
type Headers = Record<string, string | undefined>;

/** Sends a request on a connection of its own with the headers as given: `fetch` would normalize them. */
function post(body: unknown, headers: Headers, server: TestApp = app) {
  return new Promise<{ status: number; headers: unknown; text: string }>((resolve, reject) => {
    const given = {
      authorization: `Bearer ${LIVE_KEY}`,
      'content-type': 'application/json',
      accept: 'application/json',
      ...headers,
    };
    const request = httpRequest(
      `${server.url}/graphql`,
      {
        method: 'POST',
        agent: false,
        headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () => {
          const { date: _, ...rest } = response.headers;
          resolve({
            status: response.statusCode ?? 0,
            headers: rest,
            // The two answers differ in `remaining`, which the first request has lowered.
            text: Buffer.concat(chunks)
              .toString()
              .replace(/"remaining":\d+/g, '"remaining":0'),
          });
        });
      },
    );
    request.on('error', reject);
    request.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
}

/** Compares Yoga's answer with the fast path's. Returns true if the fast path answered. */
async function isSame(sent: Sent, headers: Headers = {}, server: TestApp = app): Promise<boolean> {
  // Yoga answers each request with extensions.
  const yogas = await post({ ...sent, extensions: {} }, headers, server);
  await post(sent, headers, server);
  const before = server.fastAnswers();
  expect(await post(sent, headers, server)).toEqual(yogas);
  // The fast path answers as Yoga does also when the caller, too, is cached.
  expect(await post(sent, headers, server)).toEqual(yogas);
  return server.fastAnswers() === before + 2;
}

// ── Every operation that is written anywhere ────────────────────────────────────────────────────

const ROOT = new URL('../../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');

function documentsIn(file: string): string[] {
  const text = read(file);
  const strings = file.endsWith('.md')
    ? [...text.matchAll(/```graphql\n([\s\S]*?)```/g)].map((match) => match[1]!)
    : [...text.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'/g)].map((match) =>
        (match[1] ?? match[2]!).replace(/\\(.)/g, '$1'),
      );
  return strings.filter((each) => /[{]/.test(each) && isValid(each));
}

function isValid(text: string): boolean {
  try {
    const document = parse(text);
    return validate(schema, document).length === 0 && isQuery(document);
  } catch {
    return false;
  }
}

function isQuery(document: DocumentNode): boolean {
  return document.definitions.every(
    (each) => each.kind === 'FragmentDefinition' || ('operation' in each && each.operation === 'query'),
  );
}

const OPERATIONS = [
  ...new Set(
    [
      'README.md',
      'widget/src/operations.ts',
      'server/src/api/operations/examples.ts',
      ...[
        'api/graphql',
        'api/operations',
        'access',
        'money-out/payouts',
        'money-out/subaccounts',
        'catalogue/products',
        'webhooks',
        'money-out/wallet',
        'e2e',
        'security',
      ].flatMap((room) =>
        readdirSync(new URL(`test/${room}`, ROOT))
          .filter((name) => name.endsWith('.test.ts'))
          .map((name) => `test/${room}/${name}`),
      ),
    ].flatMap(documentsIn),
  ),
];

describe('a query that was answered before has the same response without Yoga', () => {
  test('the tests and documents have more than 40 operations to compare', () => {
    expect(OPERATIONS.length).toBeGreaterThan(40);
  });

  test.each(OPERATIONS.map((query) => [query.replace(/\s+/g, ' ').slice(0, 100), query] as const))(
    'the response is the one of Yoga to %s',
    async (_, query) => {
      const variables = {
        code: orderCode,
        orderCode,
        orderCodes: [orderCode],
        productId,
        id: 'x',
        ids: ['x'],
        reference: 'x',
        first: 2,
        last: 2,
        valueCents: 100,
        after: null,
        before: null,
      };
      const document = parse(query);
      const operation = document.definitions.find((each) => each.kind === 'OperationDefinition')!;
      const names = (operation.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
      const given = Object.fromEntries(Object.entries(variables).filter(([name]) => names.includes(name)));
      const operationName = operation.name?.value;
      const sent = { query, variables: given, ...(operationName ? { operationName } : {}) };
      await isSame(sent);
      await isSame(sent, { authorization: `Bearer ${TEST_KEY}` });
    },
  );

  test('A deprecated member is announced in the headers of each response, and no other is', async () => {
    const ask = async (member: string) => {
      const sent = { query: `{ payouts(first: 1) { nodes { ${member} } } }` };
      await isSame(sent);
      return (await post(sent, {})).headers;
    };
    expect(await ask('final')).toMatchObject({
      deprecation: '@1796083200',
      sunset: 'Wed, 01 Dec 2027 00:00:00 GMT',
    });
    expect(Object.keys((await ask('isFinal')) as object)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/deprecation|sunset/)]),
    );
  });

  test('The headers of a deprecated member are written with the head: set before, they make it three times as long', async () => {
    const sent = { query: '{ payouts(first: 1) { nodes { final } } }' };
    for (let times = 0; times < 3; times += 1) await post(sent, {});
    const set = vi.spyOn(ServerResponse.prototype, 'setHeader');
    const { headers } = await post(sent, {});
    expect(set).not.toHaveBeenCalled();
    set.mockRestore();
    expect(headers).toHaveProperty('deprecation');
  });

  const EVERYTHING = {
    wallet:
      '{ wallet { id __typename currency balanceCents subaccountsBalanceCents cryptoBalanceLtc sandbox } }',
    aliases: '{ b: wallet { y: balanceCents x: balanceCents } a: wallet { x: currency } __typename }',
    'a name that is a name of the language':
      '{ __proto__: wallet { __proto__: currency constructor: currency } }',
    fragments: `query Q { ...R wallet { ...W ... on Wallet { sandbox } ... { id } } }
      fragment R on Query { wallet { currency } viewer { environment } }
      fragment W on Wallet { ... on Node { id } pendingReleaseCents }`,
    lists: `{ cardPayments(first: 2) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      edges { cursor node { id orderCode status } } nodes { description createdAt customer { name email } paidLate version } } }`,
    'the later before the earlier':
      '{ payouts { totalCount nodes { id } } viewer { credential } updatesCursor }',
    'what is not there': `{ cardPayment(orderCode: "x") { status } product(productId: "x") { name } }`,
    texts: '{ products { nodes { name description priceCents createdAt } } }',
    webhooks: '{ webhookDeliveries { nodes { id status attempts { at } } } }',
    limits: '{ viewer { permissions rateLimit { limit remaining resetAt } } }',
  };
  test.each(Object.entries(EVERYTHING))(
    'the fast path answers this query as Yoga does: %s',
    async (_, query) => {
      expect(await isSame({ query })).toBe(true);
      expect(await isSame({ query }, { accept: 'application/graphql-response+json' })).toBe(true);
    },
  );

  test('the fast path answers a query with variables as Yoga does', async () => {
    const query = `query ($first: Int = 2, $code: String!, $filter: PayoutFilter) {
      cardPayment(orderCode: $code) { orderCode amountCents }
      cardPayments(first: $first) { nodes { orderCode } }
      payouts(filter: $filter) { nodes { id } }
    }`;
    for (const variables of [
      { code: orderCode },
      { code: orderCode, first: 1, filter: { status: ['PENDING', 'COMPLETED'] } },
      { code: '\u0000"\\\ud800', first: null, filter: { requestedAfter: '2026-01-01T00:00:00Z' } },
    ])
      expect(await isSame({ query, variables })).toBe(true);
  });

  test('the fast path answers one of several operations as Yoga does', async () => {
    const query = 'query A { wallet { currency } } query B { viewer { environment } }';
    for (const operationName of ['A', 'B']) expect(await isSame({ query, operationName })).toBe(true);
    for (const operationName of ['C', '', null, undefined, 1])
      expect(await isSame({ query, operationName })).toBe(false);
    const one = 'query A { wallet { currency } }';
    for (const operationName of ['A', '', null])
      expect(await isSame({ query: one, operationName })).toBe(true);
  });
});

describe('limits of the fast path', () => {
  const TEN = `balanceCents withdrawableCents pendingReleaseCents disputeBlockedCents subaccountsBalanceCents
    assignableCents cryptoBalanceLtc currency sandbox id`;
  /** Each wallet is eleven fields. */
  const wallets = (count: number) =>
    Array.from({ length: count }, (_, index) => `f${index}: wallet { ...Ten }`).join(' ');
  const WITH_TEN = `fragment Ten on Wallet { ${TEN} }`;

  test('nothing is compiled for a caller without a credential, nor for a query that only such callers have sent', async () => {
    const query = '{ wallet { asked: currency } }';
    const nobody = { authorization: undefined };
    for (let time = 0; time < 3; time += 1) await post({ query }, nobody);
    const before = app.fastAnswers();
    await post({ query }, {});
    expect(app.fastAnswers()).toBe(before);
    await post({ query }, {});
    expect(app.fastAnswers()).toBe(before + 1);
    // A cached document does nothing for a caller without a credential.
    expect(await isSame({ query }, nobody)).toBe(false);
  });

  test('a query of up to five hundred fields is compiled', async () => {
    expect(await isSame({ query: `{ ${wallets(45)} } ${WITH_TEN}` })).toBe(true);
    expect(await isSame({ query: `{ ${wallets(46)} } ${WITH_TEN}` })).toBe(false);
  });

  test('operations of one large document are compiled one by one, within the limit of the cache', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `o${index}`);
    const query = `${names.map((name) => `query ${name} { ...F }`).join(' ')} fragment F on Query { ${wallets(40)} } ${WITH_TEN}`;
    for (const operationName of sampled(names, 5)) expect(await isSame({ query, operationName })).toBe(true);
    expect(await isSame({ query, operationName: names[0] })).toBe(true);
  });
});

describe('refusals of the fast path and of Yoga', () => {
  const REFUSED: Record<string, Sent & { headers?: Headers }> = {
    'no credential': { query: '{ wallet { currency } }', headers: { authorization: undefined } },
    'an empty credential': { query: '{ wallet { currency } }', headers: { authorization: 'Bearer ' } },
    'a wrong credential': { query: '{ wallet { currency } }', headers: { authorization: 'Bearer x' } },
    'a document that does not parse': { query: '{ wallet {' },
    'an unknown field': { query: '{ wallet { nothing } }' },
    'a page that is too large': { query: '{ cardPayments(first: 101) { totalCount } }' },
    'a malformed cursor': { query: '{ a: wallet { currency } cardPayments(after: "x") { totalCount } }' },
    'too many items': {
      query: `query ($n: Int) { ${Array.from({ length: 20 }, (_, index) => `a${index}: cardPayments(first: $n) { totalCount }`).join(' ')} }`,
      variables: { n: 100 },
    },
    'a variable that is missing': {
      query: 'query ($code: String!) { cardPayment(orderCode: $code) { status } }',
    },
    'a variable of another type': {
      query: 'query ($first: Int) { cardPayments(first: $first) { totalCount } }',
      variables: { first: '1' },
    },
    'variables that are a list': { query: '{ wallet { currency } }', variables: [] },
    'an input with two amounts': {
      query:
        'mutation ($amount: CheckoutAmountInput!) { createCheckoutToken(input: { amount: $amount }) { __typename } }',
      variables: { amount: { fixedCents: 100, productId: 'x' } },
    },
    'an input without an amount': {
      query:
        'mutation ($amount: CheckoutAmountInput!) { createCheckoutToken(input: { amount: $amount }) { __typename } }',
      variables: { amount: {} },
    },
    'a lookup without a reference': { query: '{ wallet { currency } payout { id } }' },
    'a subscription for JSON': { query: 'subscription { allPayoutUpdates { cursor } }' },
  };
  test.each(Object.entries(REFUSED))(
    'the refusal is the one of Yoga for %s',
    async (_, { headers, ...sent }) => {
      for (const accept of ['application/json', 'application/graphql-response+json'])
        expect(await isSame(sent, { accept, ...headers })).toBe(false);
    },
  );

  test('fields that a token may not read are refused as by Yoga, beside those that it may', async () => {
    const query = '{ wallet { currency } payouts { totalCount } viewer { credential } }';
    const headers = () => ({ authorization: `Bearer ${dashboardToken}` });
    expect(await isSame({ query }, headers())).toBe(false);
    expect(await isSame({ query: '{ wallet { currency } }' }, headers())).toBe(true);
    const own = 'query ($code: String!) { cardPayment(orderCode: $code) { status customer { name } } }';
    for (const code of [orderCode, 'x'])
      await isSame({ query: own, variables: { code } }, { authorization: `Bearer ${paymentToken}` });
    await isSame({ query: '{ __schema { queryType { name } } }' }, headers());
    await isSame({ query: '{ __schema { queryType { name } } }' });
  });

  test('a document that selects the schema in another operation is answered by Yoga', async () => {
    const query = 'query A { __schema { queryType { name } } } query B { wallet { currency } }';
    for (const authorization of [`Bearer ${LIVE_KEY}`, `Bearer ${dashboardToken}`, undefined])
      expect(await isSame({ query, operationName: 'B' }, { authorization })).toBe(false);
  });

  test('a token of other pages is refused as by Yoga', async () => {
    const token = await addToken(app, {
      kind: 'dashboard',
      grant: { scopes: ['wallet'] },
      allowedOrigins: ['https://shop.example'],
    });
    const query = '{ wallet { currency } }';
    const from = (origin: string) => ({ authorization: `Bearer ${token}`, origin });
    expect(await isSame({ query }, from('https://shop.example'))).toBe(true);
    expect(await isSame({ query }, from('https://other.example'))).toBe(false);
  });

  test('the response is the one of Yoga for every Accept header', async () => {
    const query = '{ wallet { currency } }';
    for (const accept of [
      undefined,
      '*/*',
      'application/*',
      'application/graphql-response+json, application/json;q=0.9',
      'application/json; charset=utf-8',
      'application/json; charset=latin1',
      'text/html',
      'text/event-stream',
      'application/json, text/event-stream',
      'multipart/mixed',
    ])
      await isSame({ query }, { accept });
  });

  test('a subscription in the document of a known query opens an event stream', async () => {
    const query = 'query Q { wallet { currency } } subscription S { walletUpdates { cursor } }';
    const accept = 'application/json, text/event-stream';
    expect(await isSame({ query, operationName: 'Q' }, { accept })).toBe(true);
    const before = app.fastAnswers();
    const gone = new AbortController();
    const response = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${LIVE_KEY}`, 'content-type': 'application/json', accept },
      body: JSON.stringify({ query, operationName: 'S' }),
      signal: gone.signal,
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(app.fastAnswers()).toBe(before);
    gone.abort();
  });

  test('a request with more members than a plain query is answered by Yoga', async () => {
    const body = { query: '{ wallet { currency } }' };
    expect(await isSame(body)).toBe(true);
    const before = app.fastAnswers();
    for (const more of [{ extensions: { a: 1 } }, { other: 1 }, { query: 1 }, { operationName: 1 }])
      await post({ ...body, ...more }, {});
    const documentId = `sha256:${createHash('sha256').update(body.query).digest('hex')}`;
    const persistedQuery = { version: 1, sha256Hash: documentId.slice('sha256:'.length) };
    expect((await post({ ...body, extensions: { persistedQuery } }, {})).status).toBe(200);
    expect((await post({ documentId }, {})).status).toBe(200);
    const known = app.fastAnswers();
    expect(known).toBe(before + 1);
    for (const extensions of ['x', 5, []])
      expect([(await post({ documentId, extensions }, {})).status, extensions]).toEqual([400, extensions]);
    // JSON.parse would take the last of two equal members.
    const repeated = await post(
      `{"operationName":"x","operationName":null,${JSON.stringify(body).slice(1)}`,
      {},
    );
    expect([repeated.status, repeated.text]).toEqual([
      400,
      expect.stringContaining('operationName is given twice'),
    ]);
    expect(app.fastAnswers()).toBe(known);
  });

  test('a selection that leaves an object without fields is answered alike, before it is compiled and after', async () => {
    const query =
      'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { ...OfOthers } } fragment OfOthers on Node { ... on Payout { code } }';
    expect(await isSame({ query, variables: { orderCode } })).toBe(true);
  });

  test('the fast path counts root fields, and refuses those beyond the limit as Yoga does', async () => {
    const small = await startApp({
      compileAfter: 1,
      environment: { PSA_FAST_PATH: 'on', PSA_GRAPHQL_LIMIT: '6' },
    });
    try {
      const query = '{ wallet { currency } }';
      const answers = [];
      for (let index = 0; index < 8; index += 1) answers.push(await post({ query }, {}, small));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
      expect(small.fastAnswers()).toBe(5);
      expect(await isSame({ query }, {}, small)).toBe(false);
      await isSame(
        { query: '{ a: wallet { currency } b: wallet { currency } viewer { credential } }' },
        {},
        small,
      );
    } finally {
      await small.close();
    }
  });

  test('an internal fault gives the response of Yoga, in one field and in all', async () => {
    const broken = await startApp({ compileAfter: 1, environment: { PSA_FAST_PATH: 'on' } });
    try {
      const services = broken.servicesFor({ priority: 'merchant', subject: null, onRead: () => undefined });
      services.wallet.read = async () => ({}) as never;
      services.payouts.count = async () => {
        throw new Error('broken');
      };
      for (const query of [
        '{ viewer { credential } wallet { balanceCents } }',
        '{ payouts { nodes { id } totalCount } }',
        '{ cardPayment(orderCode: "x") { status } wallet { subaccountsBalanceCents } }',
      ])
        for (const accept of ['application/json', 'application/graphql-response+json'])
          await isSame({ query }, { accept }, broken);
      expect(broken.faults.length).toBeGreaterThan(0);
    } finally {
      await broken.close();
    }
  });
});

test('a revoked credential is refused at once, though its requests are cached', async () => {
  const { createDashboardToken } = await app.live.request(
    'mutation { createDashboardToken(input: { scopes: [WALLET] }) { ... on CreateDashboardTokenSuccess { token } } }',
  );
  const { token } = createDashboardToken;
  const query = '{ wallet { currency } }';
  expect(await isSame({ query }, { authorization: `Bearer ${token}` })).toBe(true);
  await app.live.request('mutation ($token: String!) { revokeToken(token: $token) { __typename } }', {
    token,
  });
  expect((await post({ query }, { authorization: `Bearer ${token}` })).status).toBe(401);
});

test('PSA_FAST_PATH=off leaves repeated queries to Yoga, with the same responses', async () => {
  const slow = await startApp({ compileAfter: 1, environment: { PSA_FAST_PATH: 'off' } });
  try {
    const query = '{ viewer { credential environment } __typename }';
    const answers = [];
    for (let index = 0; index < 4; index += 1) answers.push(await post({ query }, {}, slow));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toEqual(await post({ query }, {}));
    expect(slow.fastAnswers()).toBe(0);
  } finally {
    await slow.close();
  }
});
