import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { merchantsOf, PIX, rowsOf } from './merchants.ts';

// Batches of payouts that repeat what was paid, or that a restore has set back.

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ environment: { PSA_CONSOLE: 'on' } });
});
afterAll(() => app?.close());

const { enter, merchant, payoutsOf, newestOf, confirm } = merchantsOf(() => app);

test('A corrected file names the rows that were paid, and pays them again only if their payouts are named', async () => {
  const own = await merchant();
  const [one, two, three, four] = rowsOf(4) as [object, object, object, object];
  await confirm(own, [one, two, { ...PIX, externalId: 'A' }, { ...PIX, amountCents: 20_000 }]);
  await app.work.settled();
  const made = await payoutsOf(own);
  // A denied payout was not paid, and another reference is another payout.
  await sql`update payout set status = 'denied', denied_reason = 'x', processed_at = requested_at
    where account_id = ${own.tenant.accountId} and external_id = 'F-1'`.execute(app.database.sql);
  const rows = [
    ...[one, two, three, four, { ...PIX, externalId: 'B' }],
    ...[
      { ...PIX, amountCents: 20_000, externalId: 'C' },
      { ...PIX, amountCents: 20_000, method: 'pix_turbo' },
    ],
    ...[{ ...PIX, amountCents: 20_000, destination: 'bia@psa.example' }, one],
  ];
  const { body } = await own.post('payouts/batches/check', { rows });
  const paid = body.paidBefore.map((each: { row: number; payoutId: string }) => [each.row, each.payoutId]);
  expect(paid).toEqual([
    [1, made[0]!.withdrawal_id],
    [6, made[3]!.withdrawal_id],
    [9, made[0]!.withdrawal_id],
  ]);
  expect(body.paidBefore[0].code).toMatch(/^SAQ-/);
  const input = { rows, key: own.key, idempotencyKey: 'lote-2' };
  for (const named of [undefined, [], [made[3]!.withdrawal_id], ['x']]) {
    const { status, body } = await own.post('payouts/batches', { ...input, paidBefore: named });
    expect([status, body.fields]).toMatchObject([
      400,
      [{ path: 'paidBefore', message: expect.stringContaining('rows 1,') }],
    ]);
  }
  await app.work.settled();
  expect(await payoutsOf(own)).toHaveLength(4);
  app.clock.advance(1_000);
  const paidBefore = [made[0]!.withdrawal_id, made[3]!.withdrawal_id];
  await confirm(own, rows, { idempotencyKey: 'lote-2', paidBefore });
  // The repetition of a confirmation is no new one.
  expect((await own.post('payouts/batches', input)).body.replayed).toBe(true);
  app.clock.advance(8 * DAY_MS);
  await app.work.settled();
  const later = { ...own, post: await enter(own.key) };
  expect(await newestOf(later)).toMatchObject({ status: 'finished', paid: 9 });
  app.clock.advance(8 * DAY_MS);
  const week = await (await enter(own.key))('payouts/batches/check', { rows: [one] });
  expect(week.body.paidBefore).toEqual([]);
});

test('All mistakes of a row are named, and what each destination was taken for', async () => {
  const { post } = await merchant();
  const rows = [
    { ...PIX, amountCents: 100, destination: '=1+1', externalId: 'x'.repeat(101) },
    { ...PIX, destination: '', amountCents: undefined, pixKeyType: 'x' },
    { ...PIX, amountCents: 1, method: 'boleto', pixKeyType: 'x' },
  ];
  const { body } = await post('payouts/batches/check', { rows });
  expect(body.errors.map(({ row, field }: { row: number; field: string }) => `${row} ${field}`)).toEqual([
    ...['1 externalId', '1 destination', '1 amountCents'],
    ...['2 amountCents', '2 pixKeyType'],
    ...['3 method', '3 pixKeyType'],
  ]);
  expect(body.destinationKinds).toEqual([]);
  const kinds = [PIX, { ...PIX, destination: '12345678909' }, { ...PIX, destination: '+5511987654321' }];
  expect((await post('payouts/batches/check', { rows: kinds })).body.destinationKinds).toEqual([
    'email',
    'cpf',
    'phone',
  ]);
});

test('A batch of before a restore waits for its merchant, whether or not the operator has confirmed the records', async () => {
  const own = await merchant();
  const until = app.clock.now();
  const since = new Date(until.getTime() - HOUR_MS);
  await sql`insert into restored_records (confirmed_since, confirmed_until) values (${since}, ${until})
    on conflict (one) do update set confirmed_since = ${since}, confirmed_until = ${until}`.execute(
    app.database.sql,
  );
  const batchId = await confirm(own, rowsOf(2));
  const waits = { paid: 0, waiting: { code: 'RESTORED' } };
  await app.work.settled();
  expect(await newestOf(own)).toMatchObject(waits);
  app.clock.advance(2 * HOUR_MS);
  await app.work.settled();
  expect(await newestOf(own)).toMatchObject(waits);
  const check = await own.post('payouts/batches/check', { rows: rowsOf(1) });
  expect(check.body.lacksSince).toBe(since.toISOString());
  const foreign = await merchant();
  const asked = await own.post('payouts/batches/resume', { batchId });
  expect([asked.status, asked.body.fields[0].path]).toEqual([400, 'key']);
  const notIts = await foreign.post('payouts/batches/resume', { batchId, key: foreign.key });
  expect(notIts.status).toBe(404);
  // The clock was set back: the restore was later.
  const later = new Date(app.clock.now().getTime() + HOUR_MS);
  await sql`update restored_records set confirmed_until = ${later}`.execute(app.database.sql);
  const resumed = await own.post('payouts/batches/resume', { batchId, key: own.key });
  expect([resumed.status, resumed.body.status]).toEqual([200, 'running']);
  await app.work.settled();
  expect(await newestOf(own)).toMatchObject({ paid: 2, status: 'finished' });
  expect((await own.post('payouts/batches/resume', { batchId, key: own.key })).body.status).toBe('finished');
  app.clock.advance(8 * DAY_MS);
  const week = await (await enter(own.key))('payouts/batches/check', { rows: rowsOf(3) });
  expect(week.body.lacksSince).toBeNull();
});

test('The next payout and those that are left count in their order, though the clock went back', async () => {
  const own = await merchant();
  await confirm(own, rowsOf(8));
  await app.work.settled();
  // The first four were requested by a clock ahead.
  await sql`update payout set requested_at = requested_at + interval '3 hours'
    where account_id = ${own.tenant.accountId} and external_id in ('F-0', 'F-1', 'F-2', 'F-3')`.execute(
    app.database.sql,
  );
  const now = app.clock.now().toISOString();
  const terms = (await own.post('payouts/terms', PIX)).body;
  expect([terms.hourly.left, terms.possibleAt]).toEqual([2 + 4, now]);
  // Of two batches of one instant neither is the newest.
  app.clock.advance(1);
  await confirm(own, rowsOf(14).slice(8), { idempotencyKey: 'lote-2' });
  await app.work.settled();
  expect(await newestOf(own)).toMatchObject({ paid: 6, status: 'finished' });
});
