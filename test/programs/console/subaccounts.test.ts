import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { addAccount, addKey } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, TEST_KEY, type TestApp } from '../../support/app.ts';
import { type ConsoleSession, signInAtConsole } from '../../support/console-session.ts';
import { silent } from '../../support/templates.ts';

// The page of subaccounts. console.test.ts shows who may enter.

let lines: Record<string, unknown>[];
let app: TestApp;
let session: ConsoleSession;
let subaccountId: string;
beforeAll(async () => {
  app = await startApp({
    environment: { PSA_CONSOLE: 'on' },
    log: { ...silent, info: (fields) => void lines.push(fields as Record<string, unknown>) },
    restLimit: 100_000,
  });
  const { id: accountId } = await app.database.sql
    .selectFrom('account')
    .select('id')
    .orderBy('created_at')
    .executeTakeFirstOrThrow();
  await app.controls.credit({ accountId, environment: 'live' }, 100_000);
  subaccountId = (await app.rest(LIVE_KEY).post('/subaccounts', { name: 'Ana' })).body.id;
});
beforeEach(async () => {
  lines = [];
  session = await signInAtConsole(app);
});
afterAll(() => app?.close());

const balanceOf = async (id: string) =>
  (await app.rest(LIVE_KEY).get(`/subaccounts/${id}`)).body.balanceCents;
const payoutsOf = async (id: string) =>
  (await app.rest(LIVE_KEY).get(`/subaccounts/${id}/payouts`)).body.payouts as object[];
const transfer = (input: object = {}) => ({
  ...{ subaccountId, amountCents: 5_000, idempotencyKey: 'repasse-1', key: LIVE_KEY },
  ...input,
});
const payout = (input: object = {}) => ({
  ...{
    subaccountId,
    amountCents: 2_000,
    pixKey: 'Ana@Example.com',
    idempotencyKey: 'saque-1',
    key: LIVE_KEY,
  },
  ...input,
});

test('A transfer and a payout ask for the key, show fee and net before, and are made once for their keys', async () => {
  for (const [path, input] of [
    ['transfers', transfer({ key: undefined })],
    ['payouts', payout({ key: await addKey(app) })],
  ] as const) {
    const { status, body } = await session.post(`subaccounts/${path}`, input);
    expect([status, body.fields[0].path]).toEqual([400, 'key']);
  }
  lines = [];
  const made = await session.post('subaccounts/transfers', transfer());
  expect([made.status, made.body]).toEqual([201, { refId: expect.stringMatching(/^rep_/), replayed: false }]);
  expect((await session.post('subaccounts/transfers', transfer())).body.replayed).toBe(true);
  expect(await balanceOf(subaccountId)).toBe(5_000);

  const { key: _, idempotencyKey: __, ...asked } = payout();
  const { fees, pixKey } = (await session.post('subaccounts/payout-terms', asked)).body;
  expect(pixKey).toBe('ana@example.com');
  const requested = await session.post('subaccounts/payouts', payout());
  expect([requested.status, requested.body]).toEqual([
    201,
    { payoutId: 'saq_idem_saque-1', status: 'processing', replayed: false },
  ]);
  expect((await session.post('subaccounts/payouts', payout())).body.replayed).toBe(true);
  await app.work.settled();
  expect(await payoutsOf(subaccountId)).toMatchObject([
    {
      amountCents: 2_000,
      feeCents: fees.markupCents,
      netAmountCents: 2_000 - fees.markupCents - fees.serviceFeeCents,
    },
  ]);
  expect(lines.filter((line) => 'audit' in line)).toMatchObject([
    { audit: 'transfer to subaccount', subaccountId, amountCents: 5_000, outcome: 'begun' },
    { audit: 'transfer to subaccount', refId: made.body.refId, outcome: 'done' },
    { audit: 'transfer to subaccount', outcome: 'begun' },
    { audit: 'transfer to subaccount', replayed: true, outcome: 'done' },
    { audit: 'payout of subaccount', subaccountId, amountCents: 2_000, outcome: 'begun' },
    { audit: 'payout of subaccount', payoutId: 'saq_idem_saque-1', outcome: 'done' },
    { audit: 'payout of subaccount', outcome: 'begun' },
    { audit: 'payout of subaccount', replayed: true, outcome: 'done' },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/example\.com/i);
});

test('Who may do it over /v1 may do it here, and nobody else', async () => {
  const [managing, books, foreign] = [
    await addKey(app, { permissions: ['subcontas.gerenciar'] }),
    await addKey(app, { permissions: ['statement.read'] }),
    await addKey(app, { accountId: await addAccount(app) }),
  ];
  const own = await signInAtConsole(app, managing);
  expect((await own.post('token')).body).toMatchObject({ mayWrite: false, mayPaySubaccounts: true });
  const made = await own.post(
    'subaccounts/transfers',
    transfer({ key: managing, idempotencyKey: 'repasse-2' }),
  );
  expect(made.status).toBe(201);
  const before = [await balanceOf(subaccountId), await payoutsOf(subaccountId)];
  const ended = await signInAtConsole(app);
  await ended.post('sign-out');
  const callers = [
    [403, await signInAtConsole(app, books), books, {}],
    [404, await signInAtConsole(app, foreign), foreign, {}],
    [404, await signInAtConsole(app, TEST_KEY), TEST_KEY, {}],
    [401, ended, LIVE_KEY, {}],
    [403, session, LIVE_KEY, { origin: 'https://evil.example' }],
  ] as const;
  for (const [status, who, key, headers] of callers) {
    const input = { key, idempotencyKey: `other-${status}` };
    const moved = await who.post('subaccounts/transfers', transfer(input), headers);
    expect(moved.status).toBe(status);
    const paid = await who.post('subaccounts/payouts', payout(input), headers);
    // A test key has no payouts of subaccounts at all.
    expect(paid.status).toBe(key === TEST_KEY ? 403 : status);
  }
  const { key: _, idempotencyKey: __, ...asked } = payout();
  const terms = await (await signInAtConsole(app, TEST_KEY)).post('subaccounts/payout-terms', asked);
  expect(terms.body.code).toBe('NOT_IN_SANDBOX');
  expect([await balanceOf(subaccountId), await payoutsOf(subaccountId)]).toEqual(before);
});

test.each([
  ['transfers', { subaccountId: 'sacc_1' }, 'subaccountId'],
  ['transfers', { amountCents: 0 }, 'amountCents'],
  ['transfers', { amountCents: 0.5 }, 'amountCents'],
  ['transfers', { amountCents: 2 ** 53 }, 'amountCents'],
  ['transfers', { idempotencyKey: undefined }, 'idempotencyKey'],
  ['transfers', { from: 'acc_1' }, 'from'],
  ['payouts', { pixKey: 'nobody' }, 'pixKey'],
  ['payouts', { pixKeyType: 'cpf' }, 'pixKeyType'],
  ['payouts', { amountCents: 1 }, 'amountCents'],
  ['payouts', { idempotencyKey: null }, 'idempotencyKey'],
  ['payout-terms', { key: undefined, idempotencyKey: undefined, pixKey: '' }, 'pixKey'],
])('A request to subaccounts/%s with %j is refused at %s', async (path, input, field) => {
  const whole =
    path === 'transfers' ? transfer({ idempotencyKey: 'bad-1' }) : payout({ idempotencyKey: 'bad-1' });
  const { status, body } = await session.post(`subaccounts/${path}`, { ...whole, ...input });
  expect(status).toBe(400);
  expect(body.fields.map(({ path }: { path: string }) => path)).toContain(field);
});
