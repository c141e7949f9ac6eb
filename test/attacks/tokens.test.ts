import { createHmac } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAdministration } from '../../server/src/access/administration.ts';
import { tenantKey } from '../../server/src/kernel/tenant.ts';
import { txidOf } from '../../server/src/money-in/pix/model.ts';
import { createCommitter } from '../../server/src/state/commit/committer.ts';
import { STREAM_CHANNEL } from '../../server/src/state/events/announcement.ts';
import { addKey } from '../support/accounts.ts';
import { LIVE_KEY, TEST_KEY, type TestApp, type TestServer } from '../support/app.ts';
import { approved } from '../support/cards.ts';
import { SCOPES } from '../support/dashboard-scopes.ts';
import { type Pair, startPair, startService } from '../support/pair.ts';
import { openRawSocket } from '../support/raw-socket.ts';
import { createRestClient } from '../support/rest.ts';
import { firstInSample, scale } from '../support/scale.ts';

// What each kind of credential does not permit: it is refused, and nothing changes. The two servers are the
// service and a facade in front of it; a token of one is invalid at the other.

const ENVIRONMENT = { PSA_TRUSTED_PROXIES: '127.0.0.1', PSA_GRAPHQL_LIMIT: '1000000' };
const MINUTE = 60_000;
const DAY = 86_400_000;

let pair: Pair;
let app: TestApp;
beforeAll(async () => {
  const service = await startService({ environment: ENVIRONMENT });
  pair = await startPair({ service, environment: ENVIRONMENT, requestsPerMinute: 100_000 });
  app = pair.service;
}, 120_000);
afterAll(async () => {
  expect([...app.faults, ...pair.facade.faults]).toEqual([]);
  await pair.close();
  await app.close();
});
const servers = { 'the service': () => app, 'a facade': () => pair.facade };

let asked = 0;
/** Each visitor has a network of its own: the limit of requests is not tested here. */
function visitor(): Record<string, string> {
  asked += 1;
  return { 'x-forwarded-for': `10.${(asked >> 16) & 255}.${(asked >> 8) & 255}.${asked & 255}` };
}

interface Refusal {
  status: number;
  code: string | undefined;
  message: string | undefined;
}

async function ask(
  server: TestServer,
  authorization: string | null,
  { query = '{ viewer { credential } }', variables = {}, headers = {}, accept = 'application/json' } = {},
): Promise<Refusal> {
  const answer = await fetch(`http://127.0.0.1:${server.port}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept,
      ...visitor(),
      ...(authorization === null ? {} : { authorization }),
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
  });
  const text = await answer.text();
  const said = accept === 'application/json' ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? text);
  const [error] = JSON.parse(said).errors ?? [];
  return { status: answer.status, code: error?.extensions.code, message: error?.message };
}

const UNKNOWN = {
  status: 401,
  code: 'UNAUTHENTICATED',
  message: expect.stringMatching(/^(Invalid API key|Invalid or revoked token)$/),
};

const MINT = `mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) {
  ... on CreateCheckoutTokenSuccess { token } ... on UserError { code message } } }`;
const START = `mutation ($input: StartCheckoutInput!) { startCheckout(input: $input) { __typename
  ... on StartCheckoutSuccess { paymentToken cardPayment { orderCode id amountCents } }
  ... on UserError { code message } ... on ValidationError { fields { path message } } } }`;

const START_PIX = `mutation ($input: StartCheckoutInput!) { startPixCheckout(input: $input) { __typename
  ... on StartPixCheckoutSuccess { paymentToken payment { paymentId id amountCents } }
  ... on UserError { code message } } }`;

let attempts = 0;
function attemptId(): string {
  attempts += 1;
  return `tentativa-${attempts}-${'0'.repeat(22)}`;
}

async function checkoutToken(server: TestServer, input: object = {}): Promise<string> {
  const { createCheckoutToken } = await server.live.request(MINT, {
    input: { amount: { fixedCents: 4990 }, reusable: true, ...input },
  });
  return createCheckoutToken.token;
}

async function dashboardToken(server: TestServer, input: object = {}): Promise<string> {
  const { createDashboardToken } = await server.live.request(
    `mutation ($input: CreateDashboardTokenInput!) { createDashboardToken(input: $input) {
      ... on CreateDashboardTokenSuccess { token } } }`,
    { input: { scopes: SCOPES, ...input } },
  );
  return createDashboardToken.token;
}

async function start(server: TestServer, token: string, input: object = {}) {
  const client = server.client(token, visitor());
  return (await client.request(START, { input: { attemptId: attemptId(), ...input } })).startCheckout;
}

async function startPix(server: TestServer, token: string, input: object = {}) {
  const client = server.client(token, visitor());
  return (await client.request(START_PIX, { input: { attemptId: attemptId(), ...input } })).startPixCheckout;
}

const made = new Map<TestServer, Promise<Record<string, string>>>();

/**
 * One credential of each kind, the same at each call. A facade has no restricted keys: the service refuses by
 * itself.
 */
function everyKind(server: TestServer): Promise<Record<string, string>> {
  const kinds = made.get(server) ?? makeEveryKind(server);
  made.set(server, kinds);
  return kinds;
}

async function makeEveryKind(server: TestServer): Promise<Record<string, string>> {
  const checkout = await checkoutToken(server);
  const pixCheckout = server === pair.facade ? null : await checkoutToken(server, { methods: ['PIX'] });
  return {
    live: LIVE_KEY,
    sandbox: TEST_KEY,
    ...(server === pair.facade
      ? {}
      : {
          manages: await addKey(app, { permissions: ['subcontas.gerenciar'] }),
          withdraws: await addKey(app, { permissions: ['subcontas.sacar'] }),
        }),
    checkout,
    payment: (await start(server, checkout)).paymentToken,
    // This facade takes no PIX.
    ...(pixCheckout && {
      pixCheckout,
      pixPayment: (await startPix(server, pixCheckout)).paymentToken,
    }),
    dashboard: await dashboardToken(server),
  };
}

/** Everything that a credential could have changed. */
async function everything(): Promise<unknown> {
  const counted = [app, pair.facade].map(async ({ database }) => {
    const { rows } = await sql`
      select (select count(*) from event) as events, (select count(*) from card_payment) as payments,
        (select count(*) from payment) as pix, (select count(*) from refund) as refunds,
        (select count(*) from charge) as charges, (select count(*) from pix_subscription) as subscriptions,
        (select count(*) from dispute) as disputes, (select count(*) from delivery) as contents,
        (select count(*) from subaccount) as subaccounts,
        (select count(*) from token) as tokens, (select count(*) from product) as products,
        (select count(*) from posting) as postings, (select count(*) from idempotency) as keys,
        (select count(*) from upstream_intent) as intents`.execute(database.sql);
    return rows[0];
  });
  return Promise.all(counted);
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const next = (sign: string) => ALPHABET[(ALPHABET.indexOf(sign) + 1) % ALPHABET.length]!;

describe.each(Object.entries(servers))('at %s a credential', (_, serverOf) => {
  test('A credential that is changed in any place, shortened, lengthened or written differently is refused', async () => {
    const server = serverOf();
    const before = await everyKind(server);
    const rows = await everything();
    let changed = 0;
    for (const [kind, credential] of Object.entries(before)) {
      const signs = [...credential];
      const apart = scale(server === app ? 'PLACES_APART' : 'FACADE_PLACES_APART');
      const others = signs.flatMap((sign, at) =>
        at % apart
          ? []
          : [
              credential.slice(0, at) + next(sign) + credential.slice(at + 1),
              credential.slice(0, at) + credential.slice(at + 1),
            ],
      );
      const swapped = [...credential].map((sign) =>
        sign === sign.toLowerCase() ? sign.toUpperCase() : sign.toLowerCase(),
      );
      for (const other of [
        ...others,
        ...[`${credential}A`, `${credential}=`, credential.toUpperCase(), swapped.join('')],
        ...[`A${credential}`, `${credential}.${credential}`, credential.split('_').at(-1)!],
      ]) {
        expect(await ask(server, `Bearer ${other}`), `${kind} ${other}`).toEqual(UNKNOWN);
        changed += 1;
      }
      // Only the same scheme and the same text are accepted.
      for (const other of [
        ...[`Basic ${Buffer.from(`${credential}:`).toString('base64')}`, `Token ${credential}`, credential],
        ...[`Bearer ${credential} ${credential}`, `Bearer ${credential},`, `Bearer "${credential}"`],
        ...[`Bearer%20${credential}`, `Bearer=${credential}`, `Digest ${credential}`],
      ])
        expect(await ask(server, other), `${kind} ${other}`).toMatchObject({
          status: 401,
          code: 'UNAUTHENTICATED',
        });
      expect((await ask(server, `Bearer ${credential}`)).status).toBe(200);
    }
    expect(changed).toBeGreaterThan(50);
    expect(await everything()).toEqual(rows);
  });

  test('A credential is read from the Authorization header alone, and no cookie or query parameter replaces it', async () => {
    const server = serverOf();
    for (const credential of Object.values(await everyKind(server))) {
      const base = `http://127.0.0.1:${server.port}/graphql`;
      const query = new URLSearchParams({ query: '{ viewer { credential } }' });
      for (const [url, init] of [
        [
          `${base}?${query}&authorization=Bearer%20${credential}&access_token=${credential}&token=${credential}`,
          {},
        ],
        [
          `${base}?${query}`,
          { headers: { cookie: `authorization=Bearer ${credential}; token=${credential}` } },
        ],
        [
          `${base}?${query}`,
          { headers: { 'x-api-key': credential, 'proxy-authorization': `Bearer ${credential}` } },
        ],
      ] as [string, RequestInit][]) {
        const { errors } = await (await fetch(url, init)).json();
        expect(errors[0].extensions.code).toBe('UNAUTHENTICATED');
      }
    }
  });

  test('A credential of another form is refused: JWTs of every kind, hashes, ids and values of the database', async () => {
    const server = serverOf();
    const kinds = await everyKind(server);
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { rows } = await sql<{ id: string; secret_hash: string; account_id: string }>`
      select id, secret_hash, account_id from token union all select id, secret_hash, account_id from api_key`.execute(
      server.database.sql,
    );
    const [{ account_id: accountId }] = rows as [(typeof rows)[number]];
    const claims = encode({
      sub: accountId,
      iss: server.url,
      aud: server.url,
      exp: 9_999_999_999,
      kind: 'api_key',
      environment: 'live',
      scope: SCOPES.join(' '),
      permissions: [],
      token: kinds.dashboard,
    });
    const signed = (header: object, key: string) => {
      const text = `${encode(header)}.${claims}`;
      return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
    };
    const jwts = [
      ...['none', 'None', 'NONE', 'nOnE', ''].map((alg) => `${encode({ alg, typ: 'JWT' })}.${claims}.`),
      ...['none', 'None'].map((alg) => `${encode({ alg })}.${claims}`),
      ...['', 'secret', accountId, LIVE_KEY, rows[0]!.secret_hash].map((key) =>
        signed({ alg: 'HS256' }, key),
      ),
      signed({ alg: 'HS256', kid: '../../../../dev/null' }, ''),
      signed({ alg: 'HS256', jku: `${server.url}/jwks`, jwk: { kty: 'oct', k: '' } }, ''),
    ];
    const forms = [
      ...jwts,
      ...['ps_live_', 'ps_test_', 'ps_checkout_', 'ps_payment_', 'ps_dashboard_'].flatMap((prefix) => [
        prefix,
        prefix + jwts[0],
        ...rows.flatMap(({ id, secret_hash }) => [prefix + id, prefix + secret_hash]),
      ]),
      ...rows.flatMap(({ id, secret_hash }) => [id, secret_hash]),
      ...['null', 'undefined', 'true', '0', '%00', accountId],
    ];
    for (const form of forms) expect(await ask(server, `Bearer ${form}`), form).toEqual(UNKNOWN);
    expect(forms.length).toBeGreaterThan(50);
  });

  test('A credential of one environment or kind is refused under the prefix of another', async () => {
    const server = serverOf();
    const kinds = await everyKind(server);
    for (const [kind, credential] of Object.entries(kinds))
      for (const prefix of ['ps_live_', 'ps_test_', 'ps_checkout_', 'ps_payment_', 'ps_dashboard_']) {
        const other = prefix + credential.slice(credential.indexOf('_', 3) + 1);
        if (!Object.values(kinds).includes(other))
          expect(await ask(server, `Bearer ${other}`), `${kind} ${other}`).toEqual(UNKNOWN);
      }
  });

  test('A token is no key of the REST interface, and a wrong credential closes its socket with 4403', async () => {
    const server = serverOf();
    const { checkout, payment, dashboard, live } = (await everyKind(server)) as Record<string, string>;
    if (server !== pair.facade)
      for (const token of [checkout!, payment!, dashboard!, `${LIVE_KEY}0`, `${live!.slice(0, -1)}0`]) {
        const { status, body } = await createRestClient(server.url, token).get('/wallet');
        expect([status, body]).toMatchObject([401, { error: 'Invalid API key' }]);
      }
    for (const token of [checkout!, payment!, dashboard!, live!]) {
      const socket = openRawSocket(server.url);
      await socket.init(`${token.slice(0, -1)}${next(token.at(-1)!)}`).catch(() => undefined);
      expect(await socket.closed).toEqual({ code: 4403, reason: UNKNOWN.message });
    }
  });
});

describe('a token of another server', () => {
  test('A token of another server is refused, although both servers belong to one merchant', async () => {
    for (const [here, there] of [
      [app, pair.facade],
      [pair.facade, app],
    ] as const) {
      const { checkout, payment, dashboard } = await everyKind(there);
      for (const token of [checkout, payment, dashboard]) {
        expect(await ask(here, `Bearer ${token}`)).toEqual(UNKNOWN);
        expect(
          await ask(here, `Bearer ${token}`, {
            query: START,
            variables: { input: { attemptId: attemptId() } },
          }),
        ).toEqual(UNKNOWN);
        const { revokeToken } = await here.live.request(
          'mutation ($token: String!) { revokeToken(token: $token) { __typename } }',
          { token },
        );
        expect(revokeToken.__typename).toBe('NotFoundError');
        expect((await ask(there, `Bearer ${token}`)).status).toBe(200);
      }
    }
  });
});

describe('a token of a payment by PIX', () => {
  const PAYMENT = 'query ($paymentId: String!) { payment(paymentId: $paymentId) { id paymentId status } }';
  const FOLLOW =
    'subscription ($paymentId: String!) { paymentUpdates(paymentId: $paymentId) { payment { id paymentId } } }';
  const HOSTED = (id: string) => fetch(`${app.url}/checkout/${id}`, { headers: visitor() });

  test('It gets the same responses for another payment, of PIX or of a card, as for an unknown one', async () => {
    const methods = { methods: ['CARD', 'PIX'] };
    const checkout = await checkoutToken(app, methods);
    const [one, other] = [await startPix(app, checkout), await startPix(app, checkout)];
    const ofCard = await start(app, checkout);
    const nobodys = `psa_${'0'.repeat(32)}`;
    const asks = async (paymentId: string, id: string, token = one.paymentToken) => {
      const client = app.client(token, visitor());
      const answers = [
        await client.send(PAYMENT, { paymentId }),
        await client.send('query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }', { id }),
      ].map(({ status, body }) => [status, JSON.stringify(body)]);
      const stream = client.ws(FOLLOW, { paymentId });
      const { value } = await stream.next();
      await stream.close();
      return JSON.stringify([...answers, value]);
    };
    const idOf = (paymentId: string) => Buffer.from(`Payment:${paymentId}`).toString('base64');
    const unknown = await asks(nobodys, idOf(nobodys));
    expect(await asks(other.payment.paymentId, other.payment.id)).toBe(unknown);
    expect(await asks(nobodys, ofCard.cardPayment.id)).toBe(unknown);
    expect(await asks(one.payment.paymentId, one.payment.id)).not.toBe(unknown);
    // The token of a card payment does not read a payment by PIX of the same attempt either.
    expect(await asks(one.payment.paymentId, one.payment.id, ofCard.paymentToken)).toBe(unknown);
    const rows = await everything();
    for (const query of [
      ...['{ payments { totalCount } }', '{ cardPayments { totalCount } }', '{ refunds { totalCount } }'],
      ...['{ wallet { balanceCents } }', '{ updatesCursor }'],
    ])
      expect(await ask(app, `Bearer ${one.paymentToken}`, { query })).toMatchObject({ code: 'FORBIDDEN' });
    const { paymentId } = one.payment;
    for (const token of [one.paymentToken, checkout, await dashboardToken(app, { scopes: ['PAYMENTS'] })])
      for (const mutation of [
        'createPayment(input: { valueCents: 100 })',
        `refundPayment(input: { paymentId: "${paymentId}", idempotencyKey: "a" })`,
        ...(token === checkout ? [] : [`startPixCheckout(input: { attemptId: "${attemptId()}" })`]),
      ]) {
        const data = await app.client(token, visitor()).request(`mutation { a: ${mutation} { __typename } }`);
        expect([mutation, data]).toEqual([mutation, { a: { __typename: 'PermissionError' } }]);
      }
    expect(JSON.stringify(await everything())).toBe(withMoreTokens(rows, 1, app));
  });

  test('One token and order have one open PIX payment, by however many clients, and none after a paid one', async () => {
    const token = await checkoutToken(app, { reusable: false, methods: ['PIX', 'CARD'] });
    const started = await Promise.all(Array.from({ length: 16 }, () => startPix(app, token)));
    const ids = new Set(started.map(({ payment }) => payment?.paymentId));
    expect([...ids]).toEqual([expect.stringMatching(/^psa_/)]);
    const [paymentId] = ids as Set<string>;
    const card = await start(app, token);
    const { account_id: accountId } = await app.database.sql
      .selectFrom('payment')
      .select('account_id')
      .where('payment_id', '=', paymentId!)
      .executeTakeFirstOrThrow();
    await app.pix.pay({ txid: txidOf(paymentId!) });
    await app.payments.receive({ accountId, environment: 'live' }, paymentId!);
    for (const again of [await startPix(app, token), await start(app, token)])
      expect(again).toMatchObject({ code: 'ORDER_PAID' });
    // The page of the card stayed open, and now accepts no card.
    expect(await app.cardPayments.pay(card.cardPayment.orderCode, approved())).toMatchObject({
      kind: 'paid_elsewhere',
    });
  });

  test('The hosted page of a guessed id is that of an id that nobody has', async () => {
    const { payment } = await startPix(app, await checkoutToken(app, { methods: ['PIX'] }));
    const { paymentId } = payment;
    const hex = paymentId.slice(4);
    const guesses = [
      ...[hex.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')), hex.slice(1), `${hex}0`],
      ...[hex.toUpperCase().replace(/[0-9]/g, 'A'), `${hex}%00`, `../${hex}`, `${hex.slice(0, 31)}%25`],
    ];
    const shown = async (id: string) => {
      const answer = await HOSTED(id);
      return [answer.status, (await answer.text()).replaceAll(id, '')];
    };
    const [status, text] = await shown(`psa_${'0'.repeat(32)}`);
    expect(status).toBe(404);
    expect((await shown(paymentId))[0]).toBe(200);
    for (const guess of guesses) {
      const [itsStatus, its] = await shown(`psa_${guess}`);
      expect([guess, itsStatus]).toEqual([guess, 404]);
      expect(its).not.toContain(hex);
      if (/^[0-9a-f]{32}$/.test(guess)) expect(its).toBe(text);
    }
  });
});

// A token permits the same at both servers: npm test shows it at the service.
describe.each(firstInSample(Object.entries(servers)))('at %s a token', (_, serverOf) => {
  const PAYMENT =
    'query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { id orderCode status } }';
  const FOLLOW =
    'subscription ($orderCode: String!) { cardPaymentUpdates(orderCode: $orderCode) { cursor } }';

  test('An expired token is refused from its expiry on, over HTTP, an event stream and a socket', async () => {
    const server = serverOf();
    const tokens = {
      checkout: await checkoutToken(server, { expiresInSeconds: 60 }),
      single: await checkoutToken(server, { expiresInSeconds: 60, reusable: false }),
      dashboard: await dashboardToken(server, { expiresInSeconds: 60 }),
    };
    const lasting = await checkoutToken(server);
    const { paymentToken } = await start(server, lasting);
    const rows = await everything();
    const refusedFrom = async (token: string, ms: number) => {
      await pair.pass(ms - 1);
      expect((await ask(server, `Bearer ${token}`)).status).toBe(200);
      pair.clock.advance(1);
    };
    await refusedFrom(tokens.checkout, MINUTE);
    for (const token of Object.values(tokens)) await expired(token);
    const seen = await everything();
    expect(seen).toEqual(rows);
    await refusedFrom(paymentToken, 7 * DAY - MINUTE);
    await expired(paymentToken);
    expect((await ask(server, `Bearer ${lasting}`)).status).toBe(200);

    async function expired(token: string) {
      for (const query of [
        '{ viewer { credential } }',
        `mutation { startCheckout(input: { attemptId: "${attemptId()}" }) { __typename } }`,
      ])
        expect(await ask(server, `Bearer ${token}`, { query })).toMatchObject({
          status: 401,
          code: 'UNAUTHENTICATED',
        });
      const query = 'subscription { walletUpdates { cursor } }';
      expect(await ask(server, `Bearer ${token}`, { query, accept: 'text/event-stream' })).toMatchObject({
        code: 'UNAUTHENTICATED',
      });
      const socket = openRawSocket(server.url);
      await socket.init(token).catch(() => undefined);
      expect((await socket.closed).code).toBe(4403);
    }
  }, 120_000);

  test('A token of one payment gets the same responses for another payment as for an unknown one', async () => {
    const server = serverOf();
    const checkout = await checkoutToken(server);
    const [one, other] = [await start(server, checkout), await start(server, checkout)];
    const nobodys = 'PSC-00000000000000000000';
    const asks = async (orderCode: string, id: string) => {
      const client = server.client(one.paymentToken, visitor());
      const answers = [
        await client.send(PAYMENT, { orderCode }),
        await client.send('query ($id: ID!) { node(id: $id) { id } nodes(ids: [$id]) { id } }', { id }),
      ].map(({ status, body }) => [status, JSON.stringify(body)]);
      const stream = client.ws(FOLLOW, { orderCode });
      const { value } = await stream.next();
      await stream.close();
      return JSON.stringify([...answers, value]);
    };
    const idOf = (orderCode: string) => Buffer.from(`CardPayment:${orderCode}`).toString('base64');
    const reported = await asks(nobodys, idOf(nobodys));
    expect(await asks(other.cardPayment.orderCode, other.cardPayment.id)).toBe(reported);
    expect(await asks(one.cardPayment.orderCode, one.cardPayment.id)).not.toBe(reported);
    for (const query of [
      '{ cardPayments { totalCount } }',
      '{ wallet { balanceCents } }',
      '{ updatesCursor }',
    ])
      expect(await ask(server, `Bearer ${one.paymentToken}`, { query })).toMatchObject({ code: 'FORBIDDEN' });
    const rows = await everything();
    for (const token of [one.paymentToken, await dashboardToken(server, { scopes: ['CARD_PAYMENTS'] })])
      expect(await start(server, token)).toMatchObject({
        __typename: 'PermissionError',
        code: 'FORBIDDEN',
      });
    expect(JSON.stringify(await everything())).toBe(withMoreTokens(rows, 1, server));
  });

  test('A token for one payment starts one, however often and by however many clients it is used', async () => {
    const server = serverOf();
    const token = await checkoutToken(server, { reusable: false });
    const before = await payments();
    const started = await Promise.all(Array.from({ length: 32 }, () => start(server, token)));
    const [first, ...more] = started.filter(({ cardPayment }) => cardPayment);
    // Each client joins the payment of the first client, and starts no other.
    for (const { cardPayment } of more) expect(cardPayment.orderCode).toBe(first.cardPayment.orderCode);
    for (const refused of started.filter(({ cardPayment }) => !cardPayment))
      expect(refused).toMatchObject({ __typename: 'PreconditionError', code: 'CHECKOUT_TOKEN_USED' });
    expect((await payments()) - before).toBe(1);
    await app.embedded!.cardPayments.pay(first.cardPayment.orderCode, approved());
    await pair.settled();
    for (const wait of [0, 31 * MINUTE]) {
      await pair.pass(wait);
      expect(await start(server, token)).toMatchObject({ code: 'ORDER_PAID' });
    }
    expect((await payments()) - before).toBe(1);
  });

  test.each([
    ['below it', { valueCents: 99 }],
    ['above it', { valueCents: 901 }],
    ['no amount', {}],
    ['null', { valueCents: null }],
    ['nothing', { valueCents: 0 }],
    ['less than nothing', { valueCents: -500 }],
    ['decimals', { valueCents: 500.5 }],
    ['a text', { valueCents: '500' }],
    ['a list', { valueCents: [500] }],
    ['an object', { valueCents: { fixedCents: 500 } }],
    ['more than a number holds', { valueCents: 2 ** 53 }],
    ['infinity', { valueCents: Number.POSITIVE_INFINITY }],
    ['another currency', { valueCents: 500, currency: 'USD' }],
    ['a product', { valueCents: 500, productId: '0123456789abcdef01234567' }],
    ['a grant of its own', { valueCents: 500, amount: { fixedCents: 100 } }],
  ])('A token with a range starts no payment with an invalid input: %s', async (_name, input) => {
    const server = serverOf();
    const token = await checkoutToken(server, { amount: { range: { minCents: 100, maxCents: 900 } } });
    const before = await everything();
    const { body } = await server.client(token, visitor()).send(START, {
      input: { attemptId: attemptId(), ...input },
    });
    const answer = body.data?.startCheckout;
    if (answer)
      expect(answer).toMatchObject({
        code: 'BAD_USER_INPUT',
        fields: [{ path: expect.stringMatching(/^input\.(valueCents|amountCents)$/) }],
      });
    else
      expect(body.errors[0]).toMatchObject({
        extensions: { code: 'BAD_USER_INPUT', retryPolicy: 'AFTER_CHANGE' },
        message: expect.stringMatching(/valueCents|currency|productId|amount/),
      });
    expect(await everything()).toEqual(before);
  });

  test.each([
    ...[null, '', 'null', 'https://evil.example', 'http://loja.example', 'https://loja.example.evil.example'],
    ...[
      'https://evil-loja.example',
      'https://www.loja.example',
      'https://loja.exampl',
      'https://loja.example.',
    ],
    ...[
      'https://loja.example:444',
      'https://loja.example:443',
      'https://loja.example/',
      'https://loja.example/a',
    ],
    ...[
      'https://loja.example@evil.example',
      'https://evil.example#https://loja.example',
      'https://xn--lja-5cd.example',
    ],
    ...[
      'https://evil.example, https://loja.example',
      'https://loja.example, https://evil.example',
      'loja.example',
    ],
    ...[
      'HTTPS://LOJA.EXAMPLE',
      '//loja.example',
      'https://loja.example https://evil.example',
      '*',
      'file://',
    ],
    ...['http://localhost:3001', 'http://localhost', 'https://localhost:3000', 'http://127.0.0.1:3000'],
    ...['chrome-extension://loja.example', 'https://loja.example%00.evil.example', 'https://loja%2eexample'],
  ])('A token with allowed origins is refused with the origin %j', async (origin) => {
    const server = serverOf();
    const allowedOrigins = ['https://loja.example', 'http://localhost:3000'];
    const tokens = [
      await checkoutToken(server, { allowedOrigins }),
      await dashboardToken(server, { allowedOrigins }),
    ];
    const headers: Record<string, string> = origin === null ? {} : { origin };
    const before = await everything();
    const FOREIGN = { status: 403, code: 'FORBIDDEN', message: 'This token may not be used on this page' };
    for (const token of tokens) {
      expect(
        (await ask(server, `Bearer ${token}`, { headers: { origin: 'https://loja.example' } })).status,
      ).toBe(200);
      expect(await ask(server, `Bearer ${token}`, { headers })).toEqual(FOREIGN);
      const variables = { input: { attemptId: attemptId() } };
      expect(await ask(server, `Bearer ${token}`, { headers, query: START, variables })).toEqual(FOREIGN);
      const socket = openRawSocket(server.url, { headers });
      await socket.init(token).catch(() => undefined);
      expect((await socket.closed).code).toBe(4403);
    }
    const [checkout] = tokens;
    // Headers in which a page names itself are ignored.
    for (const name of ['referer', 'x-forwarded-origin', 'host', 'x-forwarded-host', 'sec-websocket-origin'])
      expect(
        await ask(server, `Bearer ${checkout}`, { headers: { ...headers, [name]: 'https://loja.example' } }),
      ).toEqual(FOREIGN);
    expect(await everything()).toEqual(before);
  });

  async function payments(): Promise<number> {
    const rows = await app.database.sql.selectFrom('card_payment').select('order_code').execute();
    return rows.length;
  }
});

/** The rows as they were, except for tokens that were minted meanwhile. */
function withMoreTokens(rows: unknown, minted: number, server: TestServer): string {
  const [ofService, ofFacade] = structuredClone(rows) as { tokens: number }[];
  const changed = server === app ? ofService! : ofFacade!;
  changed.tokens = Number(changed.tokens) + minted;
  return JSON.stringify([ofService, ofFacade]);
}

describe('a token whose key was revoked', () => {
  test('A token whose key was revoked is refused from then on, and its open connections are ended', async () => {
    const administration = createAdministration({
      database: app.database,
      clock: app.clock,
      committer: createCommitter({
        database: app.database,
        clock: app.clock,
        onCommit: (committed) =>
          void app.database.notify(STREAM_CHANNEL, ...committed.map(({ tenant }) => tenantKey(tenant))),
      }),
    });
    const { accountId } = (await administration.listKeys({ revokedToo: false })).keys[0]!;
    const { key, secret } = await administration.createKey({
      accountId,
      environment: 'live',
      permissions: [],
      name: null,
    });
    const minter = app.client(secret);
    const minted = await minter.request(
      `mutation ($scopes: [DashboardScope!]!) {
        checkout: createCheckoutToken(input: { amount: { fixedCents: 4990 }, reusable: true }) {
          ... on CreateCheckoutTokenSuccess { token } }
        dashboard: createDashboardToken(input: { scopes: $scopes }) { ... on CreateDashboardTokenSuccess { token } } }`,
      { scopes: SCOPES },
    );
    const credentials = [secret, minted.checkout.token, minted.dashboard.token];
    const sockets = credentials.map(() => openRawSocket(app.url));
    await Promise.all(sockets.map((socket, index) => socket.init(credentials[index]!)));
    const stream = app.client(secret).sse('subscription { walletUpdates { cursor } }');
    await stream.data();
    const { paymentToken, cardPayment } = await start(app, minted.checkout.token);
    const rows = await everything();

    await administration.revokeKey({ id: key.id });
    for (const socket of sockets)
      expect(await socket.closed).toEqual({ code: 4403, reason: 'This credential was revoked' });
    expect((await stream.next()).value.errors[0].extensions.code).toBe('UNAUTHENTICATED');
    for (const credential of credentials) {
      expect(await ask(app, `Bearer ${credential}`)).toEqual(UNKNOWN);
      const variables = { input: { attemptId: attemptId() } };
      expect(await ask(app, `Bearer ${credential}`, { query: START, variables })).toEqual(UNKNOWN);
    }
    expect(await everything()).toEqual(withOneEventMore(rows));
    // The payer has begun to pay, and sees the outcome.
    const { orderCode } = cardPayment;
    expect(
      await app
        .client(paymentToken)
        .request('query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { status } }', {
          orderCode,
        }),
    ).toEqual({ cardPayment: { status: 'PENDING' } });
  });
});

function withOneEventMore(rows: unknown): unknown {
  const [ofService, ofFacade] = rows as { events: number }[];
  return [{ ...ofService, events: Number(ofService!.events) + 1 }, ofFacade];
}

describe('the payer’s page', () => {
  test('The payer’s page shows no payment for an order code with a changed character, and charges nothing', async () => {
    const { cardPayment } = await start(app, await checkoutToken(app));
    const code: string = cardPayment.orderCode;
    const before = await everything();
    const form = new URLSearchParams({
      number: '4242424242424242',
      holder: 'ANA SOUZA',
      expiry: '12/30',
      cvv: '123',
    });
    const page = (orderCode: string, init: RequestInit = {}) =>
      fetch(`${app.url}/checkout/${orderCode}`, { redirect: 'manual', ...init });
    const nobodys = await (await page('PSC-000000000000000000000000')).text();
    const others = [...code].flatMap((sign, at) => [
      code.slice(0, at) + next(sign) + code.slice(at + 1),
      code.slice(0, at) + code.slice(at + 1),
    ]);
    for (const other of [...others, code.toLowerCase(), `${code}0`, `${code}%00`, `%20${code}`]) {
      const answer = await page(other);
      expect([answer.status, await answer.text()], other).toEqual([404, nobodys]);
      expect((await page(`${other}/status`)).status, other).toBe(404);
      const paid = await page(other, { method: 'POST', body: form, headers: { origin: app.url } });
      expect([paid.status, await paid.text()], other).toEqual([404, nobodys]);
    }
    expect(await everything()).toEqual(before);
    expect((await page(code)).status).toBe(200);
  });
});
