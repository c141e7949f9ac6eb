import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addKey } from '../../support/accounts.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { fund } from '../../support/funds.ts';
import { silent } from '../../support/templates.ts';
import { type Merchant, merchantsOf, PIX, rowsOf } from './merchants.ts';

// The payouts that the console requests, one or many.

const HOUR_MS = 3_600_000;
const lines: object[] = [];
let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    environment: { PSA_CONSOLE: 'on' },
    log: { ...silent, info: (fields) => void lines.push(fields) },
  });
});
afterAll(() => app?.close());

const { post, enter, merchant, payoutsOf, newestOf, confirm } = merchantsOf(() => app);

test('A payout shows its terms, asks for the key of the session again, and is made once for its idempotency key', async () => {
  const { post, key, tenant } = await merchant();
  const input = { ...PIX, destination: '(11) 98765-4321', pixKeyType: 'phone' };
  const terms = await post('payouts/terms', input);
  expect([terms.status, terms.body]).toEqual([
    200,
    {
      feeCents: 100,
      destination: '+5511987654321',
      destinationKind: 'phone',
      hourly: { most: 10, left: 10, mostOfMethod: null },
      paidBefore: null,
      possibleAt: app.clock.now().toISOString(),
    },
  ]);
  const from = lines.length;
  for (const wrong of [undefined, LIVE_KEY]) {
    const refused = await post('payouts', { ...input, idempotencyKey: 'p-1', key: wrong });
    expect([refused.status, refused.body.fields[0].path]).toEqual([400, 'key']);
  }
  expect(await payoutsOf({ tenant })).toEqual([]);
  const made = await post('payouts', { ...input, idempotencyKey: 'p-1', key });
  const again = await post('payouts', { ...input, idempotencyKey: 'p-1', key });
  expect([made.status, made.body.replayed, again.body]).toEqual([
    201,
    false,
    { ...made.body, replayed: true },
  ]);
  expect(await payoutsOf({ tenant })).toHaveLength(1);
  expect(lines.slice(from).filter((line) => 'audit' in line)).toMatchObject([
    { audit: 'wrong key' },
    { audit: 'payout', amountCents: 15_000, outcome: 'begun' },
    { audit: 'payout', code: made.body.code, outcome: 'done' },
    { audit: 'payout', outcome: 'begun' },
    { audit: 'payout', replayed: true, outcome: 'done' },
  ]);
  expect(JSON.stringify(lines)).not.toContain('11987654321');
  const { hourly, paidBefore } = (await post('payouts/terms', input)).body;
  expect([hourly.left, paidBefore.code]).toEqual([9, made.body.code]);
});

test('A batch is checked whole: each bad row is named, and nothing is requested', async () => {
  const { post, key, tenant } = await merchant();
  const rows = [
    PIX,
    { ...PIX, destination: '=1+1' },
    { ...PIX, amountCents: 100 },
    { ...PIX, amountCents: 500_001 },
    PIX,
    { ...PIX, method: 'boleto' },
    'x',
  ];
  const { body } = await post('payouts/batches/check', { rows });
  expect(body.errors.map(({ row, field }: { row: number; field: string }) => [row, field])).toEqual([
    [2, 'destination'],
    [3, 'amountCents'],
    [4, 'amountCents'],
    [6, 'method'],
    [7, 'row'],
  ]);
  const refused = await post('payouts/batches', { rows, key, idempotencyKey: 'lote' });
  expect([refused.status, refused.body.fields[0].path]).toEqual([400, 'rows.2.destination']);
  const many = await post('payouts/batches/check', { rows: rowsOf(1_001) });
  expect([many.status, many.body.fields[0].path]).toEqual([400, 'rows']);
  const good = await post('payouts/batches/check', { rows: [PIX, ...rowsOf(11), PIX] });
  expect(good.body).toEqual({
    errors: [],
    count: 13,
    totalCents: 140_055,
    feesCents: 1_300,
    duplicates: [[1, 13]],
    destinationKinds: Array.from({ length: 13 }, () => 'email'),
    confirmedBefore: null,
    paidBefore: [],
    lacksSince: null,
    endsAt: new Date(app.clock.now().getTime() + HOUR_MS).toISOString(),
  });
  expect(await payoutsOf({ tenant })).toEqual([]);
});

test('A batch asks for the key, is made once, and drains at the limit of the hour until its foretold end', async () => {
  const own = await merchant();
  const rows = rowsOf(12);
  const asked = await own.post('payouts/batches', { rows, idempotencyKey: 'lote-1' });
  expect([asked.status, asked.body.fields[0].path]).toEqual([400, 'key']);
  const from = lines.length;
  const batchId = await confirm(own, rows);
  const again = await own.post('payouts/batches', { rows, key: own.key, idempotencyKey: 'lote-1' });
  expect(again.body).toEqual({ batchId, replayed: true });
  const second = await own.post('payouts/batches', { rows, key: own.key, idempotencyKey: 'lote-2' });
  expect([second.status, second.body.code]).toEqual([409, 'LIMIT_REACHED']);
  await app.work.settled();
  const endsAt = new Date(app.clock.now().getTime() + HOUR_MS).toISOString();
  expect(await newestOf(own)).toMatchObject({
    ...{ batchId, status: 'running', count: 12, paid: 10, refused: [], endsAt },
    waiting: { code: 'RATE_LIMITED', until: endsAt },
  });
  expect(await payoutsOf(own)).toHaveLength(10);
  app.clock.advance(HOUR_MS);
  await app.work.settled();
  expect(await newestOf(own)).toMatchObject({
    status: 'finished',
    paid: 12,
    paidCents: 120_066,
    waiting: null,
  });
  expect((await payoutsOf(own)).map((row) => row.external_id)).toEqual(rows.map((row) => row.externalId));
  const audit = lines.slice(from).filter((line) => 'audit' in line) as { audit: string }[];
  const ofRows = audit.filter((line) => line.audit === 'payout batch row');
  expect(ofRows).toMatchObject(rows.map((_, nth) => ({ batchId, row: nth + 1, outcome: 'done' })));
  expect(audit.at(-1)).toMatchObject({ audit: 'payout batch ended', batchId, outcome: 'finished' });
  expect(audit.filter((line) => line.audit === 'payout batch')).toMatchObject([
    { audit: 'payout batch', count: 12, outcome: 'begun' },
    { audit: 'payout batch', batchId, outcome: 'done' },
    { audit: 'payout batch', outcome: 'begun' },
    { audit: 'payout batch', batchId, replayed: true },
    { audit: 'payout batch', outcome: 'begun' },
    { audit: 'payout batch', outcome: 'LIMIT_REACHED' },
  ]);
  // Nobody needs the keys of the destinations any more.
  const kept = await app.database.sql.selectFrom('payout_batch').select('payout_rows').execute();
  expect(JSON.stringify(kept)).not.toContain(PIX.destination);
  const { body } = await own.post('payouts/batches/check', { rows });
  expect(body.confirmedBefore).not.toBeNull();
});

test('Rows that another tab has confirmed since the check are not paid again without a word', async () => {
  const own = await merchant();
  const rows = rowsOf(2);
  await confirm(own, rows);
  await app.work.settled();
  const input = { rows, key: own.key, idempotencyKey: 'lote-2' };
  for (const confirmedBefore of [undefined, null, '2026-01-01T00:00:00.000Z', 'x']) {
    const { status, body } = await own.post('payouts/batches', { ...input, confirmedBefore });
    expect([status, body.fields?.[0].path]).toEqual([400, 'confirmedBefore']);
  }
  await app.work.settled();
  expect(await payoutsOf(own)).toHaveLength(2);
  const { confirmedBefore, ...check } = (await own.post('payouts/batches/check', { rows })).body;
  const paidBefore = check.paidBefore.map(({ payoutId }: { payoutId: string }) => payoutId);
  expect((await own.post('payouts/batches', { ...input, confirmedBefore, paidBefore })).status).toBe(201);
  await app.work.settled();
  expect(await payoutsOf(own)).toHaveLength(4);
});

test('A batch whose confirmation is repeated after a restore has the same rows, each paid once', async () => {
  const own = await merchant();
  const batchId = await confirm(own, rowsOf(2));
  await app.work.settled();
  const made = await payoutsOf(own);
  const { accountId } = own.tenant;
  await sql`delete from payout_batch where account_id = ${accountId}`.execute(app.database.sql);
  await sql`delete from idempotency where account_id = ${accountId} and operation = 'requestPayoutBatch'`.execute(
    app.database.sql,
  );
  const paidBefore = made.map((row) => row.withdrawal_id);
  expect(await confirm(own, rowsOf(2), { paidBefore })).toBe(batchId);
  await app.work.settled();
  expect(await newestOf(own)).toMatchObject({ batchId, status: 'finished', paid: 2 });
  expect(await payoutsOf(own)).toEqual(made);
});

test('A running batch is the one that is shown, though one of a clock ahead has ended', async () => {
  const own = await merchant();
  await confirm(own, rowsOf(1));
  await app.work.settled();
  await sql`update payout_batch set created_at = created_at + interval '1 day'
    where account_id = ${own.tenant.accountId}`.execute(app.database.sql);
  const batchId = await confirm(own, rowsOf(13).slice(1), { idempotencyKey: 'lote-2' });
  await app.work.settled();
  expect(await newestOf(own)).toMatchObject({ batchId, status: 'running' });
  const input = { rows: rowsOf(3), key: own.key, idempotencyKey: 'lote-3' };
  expect((await own.post('payouts/batches', input)).body.code).toBe('LIMIT_REACHED');
});

test('The fifty-first batch of a day is refused', async () => {
  const own = await merchant();
  await confirm(own, rowsOf(1));
  await app.work.settled();
  await sql`insert into payout_batch (batch_id, account_id, environment, payout_rows, rows_hash, created_at, finished_at)
    select 'pob_' || substr(md5(account_id || nth), 1, 24), account_id, environment, payout_rows, nth, created_at, finished_at
    from payout_batch, generate_series(1, 49) nth where account_id = ${own.tenant.accountId}`.execute(
    app.database.sql,
  );
  const input = { rows: rowsOf(2).slice(1), key: own.key, idempotencyKey: 'lote-51' };
  expect((await own.post('payouts/batches', input)).body.code).toBe('LIMIT_REACHED');
  app.clock.advance(25 * HOUR_MS);
  expect((await (await enter(own.key))('payouts/batches', input)).status).toBe(201);
});

test('A batch shows which of its payouts were denied afterwards', async () => {
  const own = await merchant();
  await confirm(own, rowsOf(3));
  await app.work.settled();
  expect(await newestOf(own)).toMatchObject({ paid: 3, denied: 0, inDoubt: 0 });
  await sql`update payout set status = 'denied', denied_reason = 'x', processed_at = requested_at where external_id = 'F-1' and account_id = ${own.tenant.accountId}`.execute(
    app.database.sql,
  );
  expect(await newestOf(own)).toMatchObject({ paid: 3, denied: 1, inDoubt: 0 });
});

test('A row as deep as no other is named as wrong', async () => {
  const { post, key } = await merchant();
  const deep = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`;
  const { status, body } = await post(
    'payouts/batches',
    `{"rows":[${deep}],"key":"${key}","idempotencyKey":"x"}`,
  );
  expect([status, body.fields?.[0].path]).toEqual([400, 'rows.1.row']);
});
const DEPTH = 100_000;

test('A row whose mark a crash has lost is not paid again, in a canceled batch either', async () => {
  const own = await merchant();
  const batchId = await confirm(own, rowsOf(3));
  await app.work.settled();
  const made = await payoutsOf(own);
  for (const canceled of [false, true]) {
    await sql`update payout_batch set finished_at = null, canceled_at = ${canceled ? app.clock.now() : null},
        payout_rows = jsonb_set(payout_rows, '{2,outcome}', 'null') where batch_id = ${batchId}`.execute(
      app.database.sql,
    );
    await sql`insert into task (account_id, environment, kind, key, due_at)
      values (${own.tenant.accountId}, 'live', 'payout.batch', ${batchId}, ${app.clock.now()})`.execute(
      app.database.sql,
    );
    await app.work.settled();
    expect(await newestOf(own)).toMatchObject({ paid: 3, status: canceled ? 'canceled' : 'finished' });
  }
  expect(await payoutsOf(own)).toEqual(made);
});

test('A batch waits for its balance, and requests nothing once it is canceled or its key is revoked', async () => {
  const own = await merchant(10_500);
  const batchId = await confirm(own, rowsOf(2));
  await app.work.settled();
  expect(await newestOf(own)).toMatchObject({ paid: 1, waiting: { code: 'INSUFFICIENT_FUNDS' } });
  await fund({ database: app.database, tenant: own.tenant }, { cents: 100_000 });
  const canceled = await own.post('payouts/batches/cancel', { batchId });
  expect([canceled.status, canceled.body.status]).toEqual([200, 'canceled']);
  app.clock.advance(HOUR_MS);
  await app.work.settled();
  expect(await payoutsOf(own)).toHaveLength(1);

  await confirm(own, rowsOf(13).slice(1), { idempotencyKey: 'lote-2' });
  await app.work.settled();
  const watcher = await enter(await addKey(app, own.tenant));
  await sql`update api_key set revoked_at = ${app.clock.now()} where id = (select key_id from payout_batch
    where account_id = ${own.tenant.accountId} order by created_at desc limit 1)`.execute(app.database.sql);
  const before = await payoutsOf(own);
  app.clock.advance(HOUR_MS);
  await app.work.settled();
  expect(await newestOf({ ...own, post: watcher })).toMatchObject({
    status: 'canceled',
    cancelReason: 'key_revoked',
    endsAt: null,
  });
  expect(await payoutsOf(own)).toEqual(before);
});

test('A restricted key, another account, another site and no session request and see nothing', async () => {
  const own = await merchant();
  const rows = rowsOf(12);
  const batchId = await confirm(own, rows);
  await app.work.settled();
  const before = await payoutsOf(own);
  const { tenant, key } = own;
  const restricted = await addKey(app, { ...tenant, permissions: ['statement.read'] });
  const foreign = await merchant();
  const callers = [
    [403, await enter(restricted), restricted],
    [403, (path: string, input = {}) => own.post(path, input, { origin: 'https://evil.example' }), key],
    [403, (path: string, input = {}) => own.post(path, input, { 'sec-fetch-site': 'same-site' }), key],
    [401, post, key],
  ] as const;
  for (const [status, send, given] of callers) {
    const paid = { ...PIX, idempotencyKey: 'x', key: given };
    expect((await send('payouts', paid)).status).toBe(status);
    expect((await send('payouts/terms', PIX)).status).toBe(status);
    expect((await send('payouts/batches', { rows, idempotencyKey: 'x', key: given })).status).toBe(status);
    expect((await send('payouts/batches/check', { rows })).status).toBe(status);
    expect((await send('payouts/batches/newest', {})).status).toBe(status);
    expect((await send('payouts/batches/cancel', { batchId })).status).toBe(status);
  }
  expect((await foreign.post('payouts/batches/cancel', { batchId })).status).toBe(404);
  expect(await newestOf(foreign)).toBeNull();
  expect(await newestOf(own)).toMatchObject({ batchId, status: 'running' });
  expect(await payoutsOf(own)).toEqual(before);
});

test.each([
  ['payouts', { amountCents: 1.5 }, 'amountCents'],
  ['payouts', { amountCents: 100 }, 'amountCents'],
  ['payouts', { method: 'UNKNOWN' }, 'method'],
  ['payouts', { destination: 'x' }, 'destination'],
  ['payouts', { pixKeyType: 'cpf' }, 'pixKeyType'],
  ['payouts', { externalId: 'a\u0000' }, 'externalId'],
  ['payouts', { idempotencyKey: undefined }, 'idempotencyKey'],
  ['payouts', { walletAddress: 'x' }, 'walletAddress'],
  ['payouts/terms', { idempotencyKey: 'x' }, 'idempotencyKey'],
  ['payouts/terms', { amountCents: 500_001 }, 'amountCents'],
  ['payouts/batches', { rows: [] }, 'rows'],
  ['payouts/batches', { rows: [PIX], idempotencyKey: ' ' }, 'idempotencyKey'],
  ['payouts/batches/check', { rows: 'x' }, 'rows'],
  ['payouts/batches/cancel', { batchId: 'pob_1' }, 'batchId'],
])('A request to %s with %j is refused at %s', async (path, input, field) => {
  refusals ??= await merchant();
  const whole = {
    payouts: { ...PIX, idempotencyKey: 'x', key: refusals.key },
    'payouts/terms': PIX,
    'payouts/batches': { idempotencyKey: 'x', key: refusals.key },
  };
  const { status, body } = await refusals.post(path, { ...whole[path as keyof typeof whole], ...input });
  expect([status, body.fields.map(({ path }: { path: string }) => path)]).toEqual([
    400,
    expect.arrayContaining([field]),
  ]);
});
let refusals: Merchant | undefined;
