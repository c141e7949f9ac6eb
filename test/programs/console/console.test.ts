import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createAdministration } from '../../../server/src/access/administration.ts';
import { prepareToken } from '../../../server/src/access/service.ts';
import { createSessionService } from '../../../server/src/access/session-service.ts';
import type { Caller } from '../../../server/src/kernel/caller.ts';
import { createCommitter } from '../../../server/src/state/commit/committer.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { SCOPES } from '../../support/dashboard-scopes.ts';
import { createClient } from '../../support/graphql.ts';
import { silent } from '../../support/templates.ts';

const HOUR = 3_600_000;

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of any route
  body: any;
}

interface Asked {
  cookie?: string | undefined;
  headers?: Record<string, string>;
  body?: string;
}

/** Posts to the console as its page does. */
async function post(app: TestApp, path: string, input: unknown = {}, asked: Asked = {}): Promise<Answer> {
  const base = `http://127.0.0.1:${app.port}`;
  const response = await fetch(`${base}/console/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      origin: base,
      ...(asked.cookie === undefined ? {} : { cookie: asked.cookie }),
      ...asked.headers,
    },
    body: asked.body ?? JSON.stringify(input),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
}

/** Signs in, and returns the cookie as a browser sends it, with the answer. */
async function signIn(app: TestApp, key: string, asked?: Asked) {
  const answer = await post(app, 'sign-in', { key }, asked);
  expect(answer.status).toBe(201);
  const [cookie = ''] = answer.headers.getSetCookie();
  return { cookie: cookie.split(';')[0]!, attributes: cookie.split('; ').slice(1), answer };
}

/** A client at the server's own address: that of PUBLIC_URL is no address of this machine. */
const client = ({ port }: TestApp, credential: string) =>
  createClient(`http://127.0.0.1:${port}/graphql`, credential);
const wallet = (app: TestApp, token: string) => client(app, token).send('{ wallet { id } }');
const codeOf = ({ body }: { body: { errors?: { extensions: { code: string } }[] } }) =>
  body.errors?.[0]?.extensions.code;

async function start(environment: Record<string, string>, options: object = {}): Promise<TestApp> {
  const app = await startApp({ environment, ...options });
  onTestFinished(async () => {
    await app.close();
    expect(app.faults).toEqual([]);
  });
  return app;
}

describe('who may enter', () => {
  test('A server that others reach has no console, and one on loopback with the demo has it without a key', async () => {
    const off = await start({ PSA_DEMO: 'off' });
    expect((await fetch(`${off.url}/console/`)).status).toBe(404);
    expect((await post(off, 'token')).status).toBe(404);

    const open = await start({});
    const { status, body } = await post(open, 'token');
    expect([status, body.key, body.environment]).toEqual([201, null, 'live']);
    expect(body.scopes.map((scope: string) => scope.toUpperCase()).sort()).toEqual([...SCOPES].sort());
    expect(codeOf(await wallet(open, body.token))).toBeUndefined();
    expect((await post(open, 'sign-in', { key: LIVE_KEY })).status).toBe(405);
  });

  test('The pages have one document under a strict policy, and are open at the host of PUBLIC_URL alone', async () => {
    const app = await start({ PSA_CONSOLE: 'on' });
    const ones = ['sales/PSC-1', 'payouts/0', 'disputes/%3Cscript%3E', `sales/${'x'.repeat(2_000)}`];
    const pages = ['sales', 'subscriptions', 'disputes', 'products', 'statement', 'payouts', 'subaccounts'];
    for (const page of ['', ...pages, 'developers', ...ones]) {
      const response = await fetch(`${app.url}/console/${page}`);
      const { status, headers } = response;
      const [, script = ''] = /src="([^"]+)"/.exec(await response.text()) ?? [];
      expect((await fetch(new URL(script, response.url))).headers.get('content-type')).toMatch(
        /^text\/javascript/,
      );
      expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'self'; .*require-trusted-types-for/,
      );
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect(headers.get('content-security-policy')).toContain(
        `connect-src 'self' ws://${new URL(app.url).host};`,
      );
    }
    const moved = await fetch(`${app.url}/console?x=1`, { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/console/?x=1']);
    for (const path of ['nothing', 'nothing/1', 'sales/', 'sales/1/2', 'index/1'])
      expect((await fetch(`${app.url}/console/${path}`)).status).toBe(404);
    expect((await post(app, 'token', {}, { headers: { origin: 'http://evil.example' } })).status).toBe(403);
  });
});

describe('a session', () => {
  const lines: { fields: object; message: string }[] = [];
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({
      environment: { PSA_CONSOLE: 'on', PUBLIC_URL: 'https://pay.example/base' },
      log: { ...silent, info: (fields, message) => void lines.push({ fields, message }) },
    });
  });
  afterAll(() => app?.close());
  const lastEndOfTokens = async () => {
    const { fn } = app.database.sql;
    const tokens = app.database.sql.selectFrom('token').select(fn.max('expires_at').as('end'));
    return (await tokens.executeTakeFirstOrThrow()).end?.getTime();
  };
  const rows = () => app.database.sql.selectFrom('console_session').selectAll().execute();
  const enter = (cookie: string | undefined) => post(app, 'token', {}, { cookie });

  test('A key opens a session of 12 hours whose cookie no script and no other site has', async () => {
    const before = await enter(undefined);
    expect([before.status, before.body.code]).toEqual([401, 'UNAUTHENTICATED']);
    const { cookie, attributes, answer } = await signIn(app, LIVE_KEY);
    expect(attributes).toEqual([
      'Path=/base/console',
      'Max-Age=43200',
      'HttpOnly',
      'SameSite=Strict',
      'Secure',
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.body.key).toEqual({ name: null, hint: LIVE_KEY.slice(-4) });
    const stored = JSON.stringify([answer.body, await rows()]);
    expect(stored).not.toContain(LIVE_KEY);
    expect(stored).not.toContain(cookie.slice(cookie.indexOf('=') + 1));

    const { status, body } = await enter(cookie);
    expect([status, body.environment]).toEqual([201, 'live']);
    expect(body.account).toMatch(/^acc_/);
    expect(codeOf(await wallet(app, body.token))).toBeUndefined();
    expect(await lastEndOfTokens()).toBe(app.clock.ms() + 900_000);
    expect(lines.filter(({ message }) => message.startsWith('console'))).toEqual([
      {
        message: 'console: signed in',
        fields: {
          audit: 'signed in',
          sessionId: expect.stringMatching(/^ses_/),
          keyId: expect.stringMatching(/^key_/),
          accountId: expect.stringMatching(/^acc_/),
          environment: 'live',
        },
      },
    ]);
  });

  test('Signing out ends the session with its tokens, and no other session', async () => {
    const [one, other] = [await signIn(app, LIVE_KEY), await signIn(app, LIVE_KEY)];
    const tokens = [one.answer.body.token, (await enter(one.cookie)).body.token];
    const follows = client(app, tokens[0]).sse('subscription { walletUpdates { wallet { id } } }');
    await follows.data();
    const { status, headers } = await post(app, 'sign-out', {}, { cookie: one.cookie });
    expect([status, headers.getSetCookie()[0]]).toEqual([
      200,
      '__Secure-psa_console=; Path=/base/console; Max-Age=0; HttpOnly; SameSite=Strict; Secure',
    ]);
    expect((await enter(one.cookie)).status).toBe(401);
    await expect(follows.data()).rejects.toThrow();
    for (const token of tokens) expect(codeOf(await wallet(app, token))).toBe('UNAUTHENTICATED');
    expect((await enter(other.cookie)).status).toBe(201);
    // Who has no session is signed out, too.
    expect((await post(app, 'sign-out', {}, { cookie: one.cookie })).status).toBe(200);
  });

  test('The end of a session ends all its tokens with one event, and leaves those of other sessions', async () => {
    const { id: keyId, accountId } = (await administration().listKeys({ revokedToo: false })).keys[0]!;
    const committer = createCommitter({ ...app, onCommit: () => undefined });
    const sessions = createSessionService({ ...app, committer, prepare: prepareToken });
    const caller = {
      tenant: { accountId, environment: 'live' },
      credential: { kind: 'api_key', id: keyId, permissions: [] },
    } as unknown as Caller;
    const [one, other] = [await sessions.begin(caller), await sessions.begin(caller)];
    const tokens = [];
    for (let tab = 0; tab < 60; tab += 1) tokens.push(await sessions.mint(one.session, ['wallet']));
    const kept = await sessions.mint(other.session, ['wallet']);

    await sessions.end(one.session);
    await sessions.end(one.session);
    expect(await sessions.find(one.text)).toBeNull();
    await expect(sessions.mint(one.session, ['wallet'])).rejects.toThrow('This session has ended');
    const inForce = await app.database.sql
      .selectFrom('token')
      .select('id')
      .where('session_id', 'is not', null)
      .where('revoked_at', 'is', null)
      .where(
        'id',
        'in',
        [...tokens, kept].map(({ tokenId }) => tokenId),
      )
      .execute();
    expect(inForce).toEqual([{ id: kept.tokenId }]);
    const events = await app.database.sql
      .selectFrom('event')
      .select('kind')
      .where('resource_id', '=', one.session.sessionId)
      .execute();
    expect(events).toEqual([{ kind: 'credential.revoked' }]);
  });

  test('A cookie that another host or a page without https has set is no session', async () => {
    const [own, planted] = [(await signIn(app, LIVE_KEY)).cookie, (await signIn(app, LIVE_KEY)).cookie];
    expect(own).toMatch(/^__Secure-psa_console=ps_session_/);
    for (const text of [`${planted}; ${own}`, `${own}; ${planted}`, own.replace('__Secure-', '')])
      expect((await enter(text)).status).toBe(401);
    expect((await enter(`other=1; ${own}; psa_console=x`)).status).toBe(201);
  });

  test('Signing in again in a browser ends the session that it had', async () => {
    const one = await signIn(app, LIVE_KEY);
    const other = await signIn(app, LIVE_KEY, { cookie: one.cookie });
    expect((await enter(one.cookie)).status).toBe(401);
    expect((await enter(other.cookie)).status).toBe(201);
  });

  test('The revocation of the key ends its sessions and their tokens at once', async () => {
    const stays = await signIn(app, LIVE_KEY);
    const { accountId } = (await administration().listKeys({ revokedToo: false })).keys[0]!;
    const { key, secret } = await administration().createKey({
      accountId,
      environment: 'live',
      permissions: [],
      name: null,
    });
    const { cookie, answer } = await signIn(app, secret);
    await administration().revokeKey({ id: key.id });
    expect((await enter(cookie)).status).toBe(401);
    app.clock.advance(1_001);
    expect(codeOf(await wallet(app, answer.body.token))).toBe('UNAUTHENTICATED');
    expect((await enter(stays.cookie)).status).toBe(201);
  });

  test('A session ends after 12 hours, and its last token with it', async () => {
    const { cookie } = await signIn(app, LIVE_KEY);
    app.clock.advance(12 * HOUR - 100_000);
    const { body } = await enter(cookie);
    expect(await lastEndOfTokens()).toBe(app.clock.ms() + 100_000);
    app.clock.advance(100_000);
    expect((await enter(cookie)).status).toBe(401);
    expect(codeOf(await wallet(app, body.token))).toBe('UNAUTHENTICATED');
  });

  test('A session reads the account and the environment of its key, and what the permissions of the key allow', async () => {
    const own = await client(app, LIVE_KEY).request('{ wallet { id } }');
    const accountId = await addAccount(app);
    const sessions = {
      own: await signIn(app, LIVE_KEY),
      sandbox: await signIn(app, TEST_KEY),
      other: await signIn(app, await addKey(app, { accountId })),
      books: await signIn(app, await addKey(app, { permissions: ['statement.read'] })),
      // It may pay out of subaccounts, and see none of them.
      none: await signIn(app, await addKey(app, { permissions: ['subcontas.sacar'] })),
    };
    const idOf = async ({ answer }: (typeof sessions)['own']) =>
      (await wallet(app, answer.body.token)).body.data?.wallet?.id;
    expect(await idOf(sessions.own)).toBe(own.wallet.id);
    expect(await idOf(sessions.books)).toBe(own.wallet.id);
    const [sandbox, other] = [await idOf(sessions.sandbox), await idOf(sessions.other)];
    expect(new Set([own.wallet.id, sandbox, other, undefined]).size).toBe(4);
    expect(sessions.sandbox.answer.body.environment).toBe('sandbox');

    const { scopes, token } = sessions.books.answer.body;
    expect(scopes).toEqual(['wallet']);
    expect(codeOf(await client(app, token).send('{ payouts(first: 1) { totalCount } }'))).toBe('FORBIDDEN');
    expect(sessions.none.answer.body).toMatchObject({ scopes: [], token: null });
  });

  test.each([
    ['another site', { origin: 'https://evil.example' }],
    ['another port of this host', { origin: 'http://127.0.0.1:1' }],
    ['a page without an origin', { origin: 'null' }],
    ['another site, as the browser says', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of the site', { 'sec-fetch-site': 'same-site' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['a form of text', { 'content-type': 'text/plain' }],
    ['a host that resolves to this machine', { host: 'evil.example' }],
  ])('No request of %s signs in, signs out or gets a token', async (_, headers: Record<string, string>) => {
    const { cookie } = await signIn(app, LIVE_KEY);
    const before = await rows();
    for (const [path, input] of [
      ['token', {}],
      ['sign-in', { key: LIVE_KEY }],
      ['sign-out', {}],
    ] as const) {
      const { status, headers: got } =
        'host' in headers
          ? await postAs(headers.host!, path, input)
          : await post(app, path, input, { cookie, headers });
      expect([path, status]).toEqual([path, 'content-type' in headers ? 400 : 403]);
      expect(got.getSetCookie()).toEqual([]);
    }
    expect(await rows()).toEqual(before);
    expect((await enter(cookie)).status).toBe(201);
  });

  test.each([
    ['{}', 'key'],
    ['{"key":""}', 'key'],
    ['{"key":"   "}', 'key'],
    ['{"key":7}', 'key'],
    ['{"key":["ps_live_x"]}', 'key'],
    [JSON.stringify({ key: 'k'.repeat(301) }), 'key'],
    ['{"key":"a","key":"b"}', 'key'],
    ['{"key":"a","scope":"all"}', 'scope'],
  ])('The input %s of a sign-in is refused at %s, and begins nothing', async (body, field) => {
    const before = await rows();
    const answer = await post(app, 'sign-in', null, { body });
    expect([answer.status, answer.body.fields[0].path]).toEqual([400, field]);
    expect(await rows()).toEqual(before);
  });

  test('What is no active API key begins nothing, and is not repeated', async () => {
    const before = await rows();
    const { answer, cookie } = await signIn(app, LIVE_KEY);
    const payment = await client(app, LIVE_KEY).request(
      'mutation { createCheckoutToken(input: { amount: { fixedCents: 500 } }) { ... on CreateCheckoutTokenSuccess { token } } }',
    );
    for (const key of [
      'ps_live_wrong0123456789abcdef',
      `${LIVE_KEY}x`,
      'x\r\nset-cookie: a=b',
      'ключ',
      answer.body.token,
      payment.createCheckoutToken.token,
      cookie.slice(cookie.indexOf('=') + 1),
    ]) {
      const refused = await post(app, 'sign-in', { key });
      expect([refused.status, refused.body.error]).toEqual([401, 'Invalid API key']);
      expect(refused.headers.getSetCookie()).toEqual([]);
    }
    expect(await rows()).toHaveLength(before.length + 1);
    const name = '__Secure-psa_console';
    for (const text of [name, `${name}=`, `${name}=x; ${name}=y`, `${name}=%00`])
      expect((await enter(text)).status).toBe(401);
  });

  function administration() {
    const { database, clock } = app;
    const committer = createCommitter({ database, clock, onCommit: () => undefined });
    return createAdministration({ database, committer, clock });
  }

  /** Posts with another Host, which `fetch` does not send. */
  async function postAs(host: string, path: string, input: unknown): Promise<Answer> {
    const sent = request(`http://127.0.0.1:${app.port}/console/${path}`, {
      method: 'POST',
      headers: { host, origin: `http://${host}`, 'content-type': 'application/json' },
    });
    sent.end(JSON.stringify(input));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const headers = new Headers();
    for (const each of response.headers['set-cookie'] ?? []) headers.append('set-cookie', each);
    return { status: response.statusCode ?? 0, headers, body: await json(response) };
  }
});

test('The requests of a session are requests of its account, and a sign-out is none', async () => {
  const app = await start({ PSA_CONSOLE: 'on' }, { restLimit: 4 });
  const { cookie } = await signIn(app, LIVE_KEY);
  const statuses: number[] = [];
  for (let request = 0; request < 4; request += 1)
    statuses.push((await post(app, 'token', {}, { cookie })).status);
  expect(statuses).toEqual([201, 201, 201, 429]);
  const refund = { type: 'card_payment', reference: 'x', idempotencyKey: 'x', key: LIVE_KEY };
  const refused = await post(app, 'refunds', refund, { cookie });
  expect([refused.status, refused.body.code]).toEqual([429, 'RATE_LIMITED']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await post(app, 'sign-in', { key: LIVE_KEY })).status).toBe(429);
  expect((await app.rest(LIVE_KEY).get('/wallet')).status).toBe(429);
  expect(await app.database.sql.selectFrom('token').selectAll().execute()).toHaveLength(4);
  expect((await post(app, 'sign-out', {}, { cookie })).status).toBe(200);
});

test('An open console is bounded as its account is', async () => {
  const app = await start({}, { restLimit: 1 });
  expect((await post(app, 'token')).status).toBe(201);
  expect((await post(app, 'token')).status).toBe(429);
});

test('Wrong keys and sessions are bounded for each network, and do not lock out who has a session', async () => {
  const app = await start({ PSA_CONSOLE: 'on' }, { strangerLimit: 10 });
  const { cookie } = await signIn(app, LIVE_KEY);
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 12; attempt += 1)
    statuses.push((await post(app, 'sign-in', { key: `ps_live_wrong${attempt}0123456789abc` })).status);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
  const guess = await post(app, 'token', {}, { cookie: 'psa_console=ps_session_guess' });
  expect([guess.status, guess.body.code]).toEqual([429, 'RATE_LIMITED']);
  expect(Number(guess.headers.get('retry-after'))).toBeGreaterThan(0);
  for (let request = 0; request < 20; request += 1)
    expect((await post(app, 'token', {}, { cookie })).status).toBe(201);
  const { cookie: next } = await signIn(app, LIVE_KEY, { cookie });
  expect((await post(app, 'sign-out', {}, { cookie: next })).status).toBe(200);
  expect((await post(app, 'sign-out', {}, { cookie: next })).status).toBe(200);
});

test('A cookie that a server does not know is counted before it costs a query, and not where it is a session', async () => {
  const app = await start({ PSA_CONSOLE: 'on' }, { strangerLimit: 3 });
  const { cookie } = await signIn(app, LIVE_KEY);
  const committer = createCommitter({ ...app, onCommit: () => undefined });
  const { begin } = createSessionService({ ...app, committer, prepare: prepareToken });
  const key = await app.database.sql
    .selectFrom('console_session')
    .select(['account_id', 'key_id'])
    .executeTakeFirstOrThrow();
  const caller = {
    tenant: { accountId: key.account_id, environment: 'live' },
    credential: { kind: 'api_key', id: key.key_id, permissions: [] },
  } as unknown as Caller;
  /** A session that another instance has begun. */
  const elsewhere = async () => `psa_console=${(await begin(caller)).text}`;
  const statusOf = async (text: string) => (await post(app, 'token', {}, { cookie: text })).status;
  for (let nth = 0; nth < 5; nth += 1) expect(await statusOf(await elsewhere())).toBe(201);
  const [late, guess] = [await elsewhere(), 'psa_console=ps_session_guess'];
  expect([await statusOf(guess), await statusOf(guess), await statusOf(guess)]).toEqual([401, 401, 401]);
  expect([await statusOf(guess), await statusOf(late), await statusOf(cookie)]).toEqual([429, 429, 201]);
});
