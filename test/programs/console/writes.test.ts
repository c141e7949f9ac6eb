import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { answerTo } from '../../../widget/console/write.ts';
import { addAccount, addKey } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { approved } from '../../support/cards.ts';
import { pdf } from '../../support/evidence-files.ts';
import { stallUploads } from '../../support/stalled-uploads.ts';
import { silent } from '../../support/templates.ts';

// The changes that the console requests. test/programs/console/console.test.ts shows who may enter.

const lines: object[] = [];
let app: TestApp;
let cookie: string;
beforeAll(async () => {
  app = await startApp({
    environment: { PSA_CONSOLE: 'on' },
    log: { ...silent, info: (fields) => void lines.push(fields) },
  });
  cookie = await signIn(LIVE_KEY);
});
afterAll(() => app?.close());

async function post(path: string, input: unknown, headers: Record<string, string> = {}) {
  const body = input instanceof Uint8Array ? input : JSON.stringify(input);
  const response = await fetch(`${app.url}/console/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: app.url, cookie, ...headers },
    body: body as BodyInit,
  });
  const { status } = response;
  return { status, body: await response.json(), cookies: response.headers.getSetCookie() };
}

async function signIn(key: string): Promise<string> {
  const { cookies } = await post('sign-in', { key }, { cookie: '' });
  return cookies[0]!.split(';')[0]!;
}

async function sell(key = LIVE_KEY): Promise<string> {
  const { body } = await app.rest(key).post('/card-payments', { valueCents: 4990 });
  await app.cardPayments.pay(body.orderCode, approved());
  return body.orderCode;
}

const ofThisAccount = async () => {
  const accountId = (
    await app.database.sql.selectFrom('account').select('id').orderBy('created_at').execute()
  )[0]!.id;
  return { accountId, environment: 'live' } as const;
};
const openDispute = async () => app.controls.openDispute(await ofThisAccount(), { amountCents: 2000 });
const subscribe = async () =>
  (await app.rest().post('/subscriptions', { valueCents: 4990, interval: 'monthly' })).body;
const auditFrom = (from: number) =>
  lines.slice(from).filter((line) => 'audit' in line) as { audit: string; outcome: string }[];
const refunds = () => app.database.sql.selectFrom('refund').select(['refund_id', 'amount_cents']).execute();

test.each([
  ['a limit in the address', '?amountCents=500', {}, 'amountCents'],
  ['a key in a header', '', { 'idempotency-key': 'outra' }, 'Idempotency-Key'],
  ['a key in another header', '', { 'x-idempotency-key': 'outra' }, 'x-idempotency-key'],
])('An action with %s is refused by its name, and refunds nothing', async (_, query, headers, path) => {
  const input = { type: 'card_payment', reference: 'PSC-1', idempotencyKey: 'estorno-0', key: LIVE_KEY };
  const { status, body } = await post(`refunds${query}`, input, headers);
  expect([status, body.fields.map((field: { path: string }) => field.path)]).toEqual([400, [path]]);
});

test('A refund asks for the key of the session again, is made once for its idempotency key, and is in the log', async () => {
  const input = {
    type: 'card_payment',
    reference: await sell(),
    amountCents: 1_000,
    idempotencyKey: 'estorno-1',
  };
  const otherKey = await addKey(app);
  for (const key of [undefined, 'ps_live_wrong0123456789abcdef', otherKey, cookie.split('=')[1]]) {
    const { status, body } = await post('refunds', { ...input, key });
    expect([status, body.fields[0].path]).toEqual([400, 'key']);
  }
  expect(await refunds()).toEqual([]);
  const made = await post('refunds', { ...input, key: LIVE_KEY });
  expect([made.status, made.body]).toEqual([
    201,
    { refundId: expect.stringMatching(/^ref_/), status: 'processing', amountCents: 1_000, replayed: false },
  ]);
  const again = await post('refunds', { ...input, key: LIVE_KEY });
  expect(again.body).toMatchObject({ refundId: made.body.refundId, replayed: true });
  expect(await refunds()).toHaveLength(1);
  const asked = { ...input, audit: 'refund', sessionId: expect.stringMatching(/^ses_/) };
  const { refundId } = made.body;
  expect(lines.filter((line) => 'audit' in line && line.audit !== 'signed in')).toMatchObject([
    ...Array.from({ length: 3 }, () => ({ audit: 'wrong key', sessionId: asked.sessionId })),
    { ...asked, outcome: 'begun' },
    { ...asked, refundId, replayed: false, outcome: 'done' },
    { ...asked, outcome: 'begun' },
    { ...asked, refundId, replayed: true, outcome: 'done' },
  ]);
  expect(JSON.stringify(lines)).not.toContain(otherKey);
});

test('A sale that is not paid is canceled once, and one that is paid is not', async () => {
  const { orderCode } = (await app.rest().post('/card-payments', { valueCents: 4990 })).body;
  const { chargeId } = (await app.rest().post('/charges', { amountCents: 4990 })).body;
  const sales = [
    { type: 'card_payment', reference: orderCode },
    { type: 'charge', reference: chargeId },
  ];
  for (const sale of sales)
    for (const replayed of [false, true])
      expect(await post('cancellations', sale)).toMatchObject({ status: 200, body: { ...sale, replayed } });
  expect((await app.rest().get(`/card-payments/${orderCode}`)).body.status).toBe('expired');
  expect(await post('cancellations', { type: 'card_payment', reference: await sell() })).toMatchObject({
    status: 409,
    body: { code: 'NOT_CANCELABLE' },
  });
  expect((await post('cancellations', { type: 'payment', reference: orderCode })).status).toBe(400);
});

test('A dispute gets a file and a text of its defence, and is accepted with the key alone', async () => {
  const disputeId = await openDispute();
  const file = { 'content-type': 'application/pdf' };
  const uploaded = await post(`disputes/${disputeId}/files?name=nota.pdf`, pdf(), file);
  expect([uploaded.status, uploaded.body.fileId]).toEqual([201, expect.stringMatching(/^dsf_/)]);
  const evidence = { disputeId, text: 'Entregue.', fileIds: [uploaded.body.fileId] };
  expect(await post('disputes/evidence', evidence)).toMatchObject({
    status: 201,
    body: { disputeId, status: 'under_review' },
  });
  const without = await post('disputes/accept', { disputeId });
  expect([without.status, without.body.fields[0].path]).toEqual([400, 'key']);
  const accepted = await post('disputes/accept', { disputeId, key: LIVE_KEY });
  expect([accepted.status, accepted.body.status]).toEqual([200, 'lost']);
});

test('A subscription is canceled with the key alone, and a second time changes nothing', async () => {
  const { subscriptionId } = await subscribe();
  const without = await post('subscriptions/cancel', { subscriptionId });
  expect([without.status, without.body.fields[0].path]).toEqual([400, 'key']);
  const from = lines.length;
  for (const replayed of [false, true]) {
    const canceled = await post('subscriptions/cancel', { subscriptionId, key: LIVE_KEY });
    expect([canceled.status, canceled.body]).toEqual([200, { subscriptionId, status: 'canceled', replayed }]);
  }
  expect(auditFrom(from)).toMatchObject([
    { audit: 'cancellation', subscriptionId, outcome: 'begun' },
    { audit: 'cancellation', subscriptionId, replayed: false, outcome: 'done' },
    { audit: 'cancellation', subscriptionId, outcome: 'begun' },
    { audit: 'cancellation', subscriptionId, replayed: true, outcome: 'done' },
  ]);
});

test('A product is made and deleted with its content, which is shown on request and is in no line of the log', async () => {
  const from = lines.length;
  const made = await post('products', { name: 'Curso', priceCents: 4990 });
  expect([made.status, made.body]).toEqual([201, { productId: expect.stringMatching(/^[\da-f]{24}$/) }]);
  const { productId } = made.body;
  const codes = { productId, content: { codes: ['AAAA-1', 'BBBB-2'] }, idempotencyKey: 'lote-1' };
  expect(await post('deliveries', codes)).toMatchObject({
    status: 201,
    body: { remainingCount: 2, replayed: false },
  });
  expect((await post('deliveries', codes)).body).toMatchObject({ remainingCount: 2, replayed: true });
  const again = await post('deliveries', { productId, content: { codes: ['CCCC-3', 'AAAA-1'] } });
  expect([again.status, again.body.fields[0].path]).toEqual([400, 'content.codes.1']);
  const text = await post('deliveries', { productId, content: { text: 'A senha é sésamo.' } });
  const { deliveryId } = text.body;
  const shown = await post('deliveries/content', { deliveryId });
  expect([shown.status, shown.body]).toEqual([200, { content: 'A senha é sésamo.' }]);
  for (const [path, input] of [
    ['deliveries/delete', { deliveryId }],
    ['products/delete', { productId }],
  ] as const) {
    const without = await post(path, input);
    expect([without.status, without.body.fields[0].path]).toEqual([400, 'key']);
    expect(await post(path, { ...input, key: LIVE_KEY })).toMatchObject({
      status: 200,
      body: { deleted: true },
    });
    expect((await post(path, { ...input, key: LIVE_KEY })).status).toBe(404);
  }
  const happened = auditFrom(from).map(({ audit, outcome }) => `${audit} ${outcome}`);
  expect(happened.filter((line) => !line.endsWith('begun'))).toEqual([
    'product done',
    'content done',
    'content done',
    'content BAD_USER_INPUT',
    'content done',
    'content shown done',
    'content deletion done',
    'content deletion NOT_FOUND',
    'product deletion done',
    'product deletion NOT_FOUND',
  ]);
  expect(JSON.stringify(lines.slice(from))).not.toMatch(/AAAA-1|CCCC-3|sésamo/);
});

test('Files of the console and of /v1 have the same places', async () => {
  const disputeId = await openDispute();
  onTestFinished(stallUploads(app.url, LIVE_KEY, disputeId));
  const file = { 'content-type': 'application/pdf' };
  const upload = () => post(`disputes/${disputeId}/files?name=nota.pdf`, pdf(), file);
  let answer = await upload();
  while (answer.status === 201) answer = await upload();
  expect([answer.status, answer.body.error]).toEqual([
    429,
    expect.stringContaining('3 open files of one account'),
  ]);
});

test('The log says of a change that is refused or whose answer is lost that it was begun, and how it ended', async () => {
  const from = lines.length;
  const input = { type: 'card_payment', key: LIVE_KEY, idempotencyKey: 'estorno-2' };
  expect((await post('refunds', { ...input, reference: 'PSC-nothing' })).status).toBe(404);
  const reference = await sell();
  await sql`alter table refund rename to refund_away`.execute(app.database.sql);
  const lost = await post('refunds', { ...input, reference });
  await sql`alter table refund_away rename to refund`.execute(app.database.sql);
  expect(lost.status).toBe(500);
  expect(auditFrom(from)).toMatchObject([
    { audit: 'refund', reference: 'PSC-nothing', outcome: 'begun' },
    { audit: 'refund', reference: 'PSC-nothing', outcome: 'NOT_FOUND' },
    { audit: 'refund', reference, outcome: 'begun' },
    { audit: 'refund', reference, outcome: 'unknown' },
  ]);
});

test('A lost answer is no refusal, whose request a page would make again with another key', () => {
  const refused = (status: number) => answerTo({ ok: false, refusal: { status, code: null, fields: [] } });
  for (const status of [0, 500, 502, 503]) expect(() => refused(status)).toThrow('no answer');
  for (const status of [400, 403, 409, 429]) expect(refused(status)?.message).toMatch(/\.$/);
});

test('A restricted key, another account, another site and no session change nothing', async () => {
  const [orderCode, disputeId] = [await sell(), await openDispute()];
  const { subscriptionId } = await subscribe();
  const { id: productId } = (await app.rest().post('/products', { name: 'Curso', priceCents: 4990 })).body;
  const content = { productId, content: { text: 'segredo' } };
  const { deliveryId } = (await app.rest().post('/deliveries', content)).body;
  const before = await refunds();
  const accountId = await addAccount(app);
  const [restrictedKey, foreignKey] = [
    await addKey(app, { permissions: ['statement.read'] }),
    await addKey(app, { accountId }),
  ];
  const callers = [
    [403, { cookie: await signIn(restrictedKey) }, restrictedKey],
    [404, { cookie: await signIn(foreignKey) }, foreignKey],
    [403, { origin: 'https://evil.example' }, LIVE_KEY],
    [403, { 'sec-fetch-site': 'same-site' }, LIVE_KEY],
    [401, { cookie: 'psa_console=ps_session_x' }, LIVE_KEY],
  ] as const;
  for (const [status, headers, key] of callers) {
    const refund = { type: 'card_payment', reference: orderCode, amountCents: 100, idempotencyKey: 'r', key };
    expect((await post('refunds', refund, headers)).status).toBe(status);
    const cancellation = { type: 'card_payment', reference: orderCode };
    expect((await post('cancellations', cancellation, headers)).status).toBe(status);
    expect((await post('disputes/accept', { disputeId, key }, headers)).status).toBe(status);
    expect((await post('disputes/evidence', { disputeId, text: 'x' }, headers)).status).toBe(status);
    const file = { ...headers, 'content-type': 'application/pdf' };
    expect((await post(`disputes/${disputeId}/files?name=a.pdf`, pdf(), file)).status).toBe(status);
    for (const [path, input] of [
      ['subscriptions/cancel', { subscriptionId, key }],
      ['products/delete', { productId, key }],
      ['deliveries', content],
      ['deliveries/delete', { deliveryId, key }],
      ['deliveries/content', { deliveryId }],
    ] as const) {
      const { status: got, body } = await post(path, input, headers);
      expect([path, got, JSON.stringify(body).includes('segredo')]).toEqual([path, status, false]);
    }
    // Another account may have products of its own.
    if (status !== 404)
      expect((await post('products', { name: 'x', priceCents: 80 }, headers)).status).toBe(status);
  }
  expect((await app.rest().get(`/subscriptions/${subscriptionId}`)).body.status).toBe('pending');
  expect((await app.rest().get(`/deliveries?productId=${productId}`)).body.deliveries).toHaveLength(1);
  expect(await refunds()).toEqual(before);
  expect((await app.rest().get(`/disputes/${disputeId}`)).body).toMatchObject({
    status: 'open',
    evidence: [],
    files: [],
  });
});

test.each([
  ['refunds', { type: 'payout' }, 'type'],
  ['refunds', { reference: '' }, 'reference'],
  ['refunds', { reference: 'x'.repeat(101) }, 'reference'],
  ['refunds', { reference: 'a\u0000' }, 'reference'],
  ['refunds', { type: 'payment', reference: 'psa_1' }, 'reference'],
  ['refunds', { type: 'charge' }, 'reference'],
  ['refunds', { amountCents: 0 }, 'amountCents'],
  ['refunds', { amountCents: 1.5 }, 'amountCents'],
  ['refunds', { idempotencyKey: ' ' }, 'idempotencyKey'],
  ['refunds', { idempotencyKey: undefined }, 'idempotencyKey'],
  ['refunds', { orderCode: 'x' }, 'orderCode'],
  ['cancellations', { type: 'payout' }, 'type'],
  ['cancellations', { reference: '' }, 'reference'],
  ['cancellations', { type: 'payment', reference: 'psa_1' }, 'reference'],
  ['cancellations', { type: 'charge' }, 'reference'],
  ['cancellations', { amountCents: 1 }, 'amountCents'],
  ['disputes/accept', { disputeId: 'dsp_1' }, 'disputeId'],
  ['disputes/evidence', { disputeId: 'dsp_x' }, 'text'],
  ['subscriptions/cancel', {}, 'subscriptionId'],
  ['subscriptions/cancel', { subscriptionId: 'psa_sub_1' }, 'subscriptionId'],
  ['subscriptions/cancel', { subscriptionId: 'x'.repeat(101) }, 'subscriptionId'],
  ['products', { name: ' ', priceCents: 80, key: undefined }, 'name'],
  ['products', { name: 'x', priceCents: 79, key: undefined }, 'priceCents'],
  ['products', { name: 'x', priceCents: 80 }, 'key'],
  ['products/delete', { productId: 'x' }, 'productId'],
  ['deliveries', { productId: '0'.repeat(24), content: {}, key: undefined }, 'content'],
  [
    'deliveries',
    { productId: '0'.repeat(24), content: { link: 'http://a.example' }, key: undefined },
    'content.link',
  ],
  [
    'deliveries',
    { productId: '0'.repeat(24), content: { codes: ['a', 'a'] }, key: undefined },
    'content.codes.1',
  ],
  ['deliveries/delete', { deliveryId: 'x' }, 'deliveryId'],
  ['deliveries/content', { deliveryId: ['x'], key: undefined }, 'deliveryId'],
  ['disputes/dsp_1/files?name=a.pdf', undefined, 'disputeId'],
  [`disputes/dsp_${'0'.repeat(24)}/files?name=a.exe`, undefined, 'name'],
  [`disputes/dsp_${'0'.repeat(24)}/files`, undefined, 'name'],
  [`disputes/dsp_${'0'.repeat(24)}/files?name=a.pdf&disputeId=dsp_${'1'.repeat(24)}`, undefined, 'disputeId'],
])('A request to %s with %j is refused at %s', async (path, input, field) => {
  const whole = {
    ...(['refunds', 'cancellations'].includes(path) && { type: 'card_payment', reference: 'x' }),
    ...(path === 'refunds' && { idempotencyKey: 'estorno-3' }),
    key: LIVE_KEY,
  };
  const { key: _, ...keyless } = { ...whole, ...input };
  const given = ['disputes/evidence', 'cancellations'].includes(path) ? keyless : { ...whole, ...input };
  const { status, body } = await (input === undefined
    ? post(path, pdf(), { 'content-type': 'application/pdf' })
    : post(path, given));
  expect(status).toBe(400);
  expect(body.fields.map(({ path }: { path: string }) => path)).toContain(field);
});
