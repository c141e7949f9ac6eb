import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addAccount, addKey } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { type ConsoleSession, signInAtConsole } from '../../support/console-session.ts';
import { startReceiver } from '../../support/receiver.ts';
import { silent } from '../../support/templates.ts';

// The page for developers: keys, tokens, webhooks. console.test.ts shows who may enter.

let lines: Record<string, unknown>[];
let app: TestApp;
let session: ConsoleSession;
beforeAll(async () => {
  app = await startApp({
    environment: { PSA_CONSOLE: 'on', PSA_WEBHOOK_PRIVATE_ADDRESSES: 'on' },
    log: { ...silent, info: (fields) => void lines.push(fields as Record<string, unknown>) },
    restLimit: 100_000,
  });
});
beforeEach(async () => {
  lines = [];
  session = await signInAtConsole(app);
});
afterAll(() => app?.close());

const audit = () => lines.filter((line) => 'audit' in line && line.audit !== 'signed in');
const keysOf = async (of: ConsoleSession) =>
  (await of.post('keys')).body.keys as { keyId: string; hint: string }[];
const statusOf = async (key: string, path: string) => (await app.rest(key).get(path)).status;

test('A key is made with the key of the session alone, has its permissions, and is shown and known nowhere else', async () => {
  const input = { permissions: ['statement.read'], name: 'Contador' };
  const before = await keysOf(session);
  for (const key of [undefined, 'ps_live_wrong0123456789abcdef', await addKey(app)]) {
    const { status, body } = await session.post('keys/new', { ...input, key });
    expect([status, body.fields[0].path]).toEqual([400, 'key']);
  }
  lines = [];
  const made = await session.post('keys/new', { ...input, key: LIVE_KEY });
  const { secret, newKeyId } = made.body;
  expect([made.status, secret]).toEqual([201, expect.stringMatching(/^ps_live_/)]);
  expect(await statusOf(secret, '/wallet')).toBe(200);
  expect(await statusOf(secret, '/payouts')).toBe(403);
  const listed = (await keysOf(session)).find(({ keyId }) => keyId === newKeyId);
  expect(listed).toMatchObject({ ...input, hint: secret.slice(-4) });
  expect(await keysOf(session)).toHaveLength(before.length + 2);
  const { sessionId } = audit()[0]!;
  expect(audit()).toMatchObject([
    { audit: 'new key', sessionId, permissions: ['statement.read'], outcome: 'begun' },
    { audit: 'new key', sessionId, newKeyId, outcome: 'done' },
  ]);
  const stored = await app.database.sql.selectFrom('api_key').selectAll().execute();
  expect(JSON.stringify([lines, stored, await keysOf(session)])).not.toContain(secret);

  const revoked = await session.post('keys/revoke', { keyId: newKeyId, key: LIVE_KEY });
  expect([revoked.status, revoked.body]).toEqual([200, { revokedKeyId: newKeyId }]);
  app.clock.advance(1_001);
  expect(await statusOf(secret, '/wallet')).toBe(401);
  expect((await session.post('keys/revoke', { keyId: newKeyId, key: LIVE_KEY })).status).toBe(404);
});

test('A session that revokes its own key has ended, and the minute of the account is shown', async () => {
  const key = await addKey(app);
  const own = await signInAtConsole(app, key);
  const { body } = await own.post('keys');
  expect(body).toMatchObject({ mostKeys: 10, requests: { limit: 100_000 } });
  expect(body.requests.remaining).toBeLessThan(100_000);
  await app.rest(LIVE_KEY).get('/wallet');
  expect((await session.post('keys')).body.requests.today).toBe(body.requests.today + 2);
  const { ownKeyId: keyId } = body;
  expect((await own.post('keys/revoke', { keyId, key })).status).toBe(200);
  expect((await own.post('keys')).status).toBe(401);
});

test('Tokens are listed page by page, with cursors of this account alone, and ended', async () => {
  const mint = () =>
    app.live.request(
      'mutation { createDashboardToken(input: { scopes: [WALLET] }) { ... on CreateDashboardTokenSuccess { tokenId } } }',
    );
  const minted: string[] = [];
  for (let nth = 0; nth < 21; nth += 1) minted.unshift((await mint()).createDashboardToken.tokenId);
  const first = (await session.post('tokens')).body;
  expect(first.tokens.map(({ tokenId }: { tokenId: string }) => tokenId)).toEqual(minted.slice(0, 20));
  const second = (await session.post('tokens', { after: first.next })).body;
  expect(second.tokens[0]).toMatchObject({ tokenId: minted[20], kind: 'dashboard', ofConsole: false });
  const of = await signInAtConsole(app, await addKey(app, { accountId: await addAccount(app) }));
  for (const [who, after] of [
    [of, first.next],
    [session, '12'],
  ] as const) {
    const { status, body } = await who.post('tokens', { after });
    expect([status, body.fields[0].path]).toEqual([400, 'after']);
  }
  expect((await of.post('tokens/revoke', { tokenId: minted[0] })).status).toBe(404);
  expect((await session.post('tokens/revoke', { tokenId: minted[0] })).body.replayed).toBe(false);
  expect((await session.post('tokens')).body.tokens[0].tokenId).toBe(minted[1]);
  expect((await session.post('tokens', { ended: true })).body.tokens[0]).toMatchObject({ status: 'revoked' });
});

test('An endpoint is made with its secret shown once, changed, tried, and its deliveries are sent again', async () => {
  const receiver = await startReceiver();
  const made = await session.post('endpoints', { url: receiver.url, key: LIVE_KEY });
  const { endpointId, secret } = made.body;
  expect([made.status, secret]).toEqual([201, expect.stringMatching(/^whsec_/)]);
  const change = (changes: object) => session.post('endpoints/change', { endpointId, ...changes });
  expect((await change({ rotateSecret: true })).body.fields[0].path).toBe('key');
  const changed = await change({ events: ['payment.paid'], rotateSecret: true, key: LIVE_KEY });
  expect(changed.body).toEqual({ endpointId, secret: expect.stringMatching(/^whsec_/) });
  expect((await change({ url: 'nowhere', key: LIVE_KEY })).body.fields[0].path).toBe('url');
  expect((await change({ events: ['nothing'], key: LIVE_KEY })).body.fields[0].path).toBe('events');

  receiver.answer = (response) => response.writeHead(503, { 'content-type': 'text/plain' }).end('busy');
  const sent = await session.post('webhooks/test', { endpointId, event: 'payment.paid' });
  expect(sent.body).toMatchObject({ responseStatus: 503, responseBody: 'busy' });
  expect(JSON.parse(sent.body.payload)).toMatchObject({ event: 'payment.paid', test: true });
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`${secret}|${changed.body.secret}`));

  const account = { endpointId: null, url: `${receiver.url}?of=account`, key: LIVE_KEY };
  expect((await session.post('endpoints/change', account)).body.secret).toMatch(/^whsec_/);
  const filter = { status: ['exhausted'], idempotencyKey: 'reenvio-1' };
  expect((await session.post('webhooks/redeliver-all', filter)).body).toMatchObject({
    total: 0,
    replayed: false,
  });
  expect((await session.post('webhooks/redeliver-all', filter)).body.replayed).toBe(true);
  expect((await session.post('webhooks/redeliver', { webhookId: 'whd_1' })).status).toBe(404);
  expect((await session.post('endpoints/delete', { endpointId })).body).toEqual({ endpointId });
  expect((await session.post('endpoints/delete', { endpointId })).status).toBe(404);
});

test('A restricted key, another environment or account, another site and an ended session change nothing', async () => {
  const [restrictedKey, foreignKey] = [
    await addKey(app, { permissions: ['webhooks.payloads'] }),
    await addKey(app, { accountId: await addAccount(app) }),
  ];
  const receiver = await startReceiver();
  const { endpointId } = (await session.post('endpoints', { url: receiver.url, key: LIVE_KEY })).body;
  const { keyId } = (await keysOf(session))[0]!;
  const ended = await signInAtConsole(app);
  await ended.post('sign-out');
  const callers = [
    [403, await signInAtConsole(app, restrictedKey), restrictedKey, {}],
    [404, await signInAtConsole(app, foreignKey), foreignKey, {}],
    [404, await signInAtConsole(app, TEST_KEY), TEST_KEY, {}],
    [401, ended, LIVE_KEY, {}],
    [403, session, LIVE_KEY, { origin: 'https://evil.example' }],
    [403, session, LIVE_KEY, { 'sec-fetch-site': 'same-site' }],
  ] as const;
  for (const [status, who, key, headers] of callers) {
    const answers = [
      await who.post('keys/revoke', { keyId, key }, headers),
      await who.post('endpoints/change', { endpointId, url: 'https://evil.example/', key }, headers),
      await who.post('endpoints/delete', { endpointId }, headers),
      await who.post('webhooks/test', { endpointId, event: 'payment.paid' }, headers),
    ];
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => status));
    if (status === 404) {
      expect((await keysOf(who)).map((each) => each.keyId)).not.toContain(keyId);
      continue;
    }
    for (const [path, input] of [
      ['keys', {}],
      ['tokens', {}],
      ['keys/new', { permissions: [], name: null, key }],
    ] as const)
      expect((await who.post(path, input, headers)).status).toBe(status);
  }
  expect((await keysOf(session)).map((each) => each.keyId)).toContain(keyId);
  expect(receiver.received).toEqual([]);
});

test.each([
  ['keys/new', { permissions: ['all'] }, 'permissions.0'],
  ['keys/new', { permissions: undefined }, 'permissions'],
  ['keys/new', { name: 'x'.repeat(101) }, 'name'],
  ['keys/new', { name: 'a\u0000' }, 'name'],
  ['keys/new', { environment: 'sandbox' }, 'environment'],
  ['keys/new', { accountId: 'acc_1' }, 'accountId'],
  ['keys/revoke', { keyId: 7 }, 'keyId'],
  ['tokens/revoke', { tokenId: 'ps_dashboard_x' }, 'tokenId'],
  ['endpoints', { url: 'ftp://x.example' }, 'url'],
  ['endpoints', { url: 'https://x.example', events: [] }, 'events'],
  ['endpoints/change', { enabled: false }, 'endpointId'],
  ['webhooks/test', { endpointId: 'whe_1' }, 'event'],
  ['webhooks/redeliver-all', { status: ['lost'], idempotencyKey: 'x' }, 'status.0'],
  ['webhooks/redeliver-all', {}, 'idempotencyKey'],
])('A request to %s with %j is refused at %s', async (path, input, field) => {
  const keyed = /^(keys|endpoints)/.test(path) && { key: LIVE_KEY };
  const whole = path === 'keys/new' ? { permissions: [], name: null } : {};
  const { status, body } = await session.post(path, { ...whole, ...keyed, ...input });
  expect(status).toBe(400);
  expect(body.fields.map(({ path }: { path: string }) => path)).toContain(field);
});
