import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LIVE_KEY } from '../../support/app.ts';
import { pdf } from '../../support/evidence-files.ts';
import { PASS } from '../../support/fault-proxy.ts';
import { type Pair, startPair } from '../../support/pair.ts';

// The console in front of another service.

let pair: Pair;
beforeAll(async () => {
  pair = await startPair({ environment: { PSA_CONSOLE: 'on' } });
});
afterAll(async () => {
  await pair?.close();
  expect(pair?.facade.faults).toEqual([]);
});

async function post(path: string, input: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${pair.facade.url}/console/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: pair.facade.url, ...headers },
    body: (input instanceof Uint8Array ? input : JSON.stringify(input)) as BodyInit,
  });
  const { status } = response;
  return { status, body: await response.json(), cookies: response.headers.getSetCookie() };
}

test('The key of the account opens it, and what the service does not have is refused by its name', async () => {
  const { status, body, cookies } = await post('sign-in', { key: LIVE_KEY });
  expect([status, body.mayWrite, body.actions, body.isFacade]).toEqual([201, true, [], true]);
  const { wallet } = await pair.facade.client(body.token).request('{ wallet { balanceCents } }');
  expect(wallet.balanceCents).toBe(0);
  const headers = { cookie: cookies[0]!.split(';')[0]! };
  const disputeId = `dsp_${'0'.repeat(24)}`;
  const refund = { type: 'card_payment', reference: 'PSC-1', idempotencyKey: 'r', key: LIVE_KEY };
  const file = { ...headers, 'content-type': 'application/pdf' };
  const answers = [
    await post('refunds', refund, headers),
    await post('cancellations', { type: 'card_payment', reference: 'PSC-1' }, headers),
    await post('disputes/evidence', { disputeId, text: 'Entregue.' }, headers),
    await post('disputes/accept', { disputeId, key: LIVE_KEY }, headers),
    await post(`disputes/${disputeId}/files?name=nota.pdf`, pdf(), file),
    await post('subscriptions/cancel', { subscriptionId: 'psa_sub_1', key: LIVE_KEY }, headers),
    await post('deliveries', { productId: '0'.repeat(24), content: { text: 'x' } }, headers),
    await post('deliveries/delete', { deliveryId: '0'.repeat(24), key: LIVE_KEY }, headers),
  ];
  for (const { body } of answers) expect(body.code).toBe('NOT_OFFERED');
});

test('Keys come from the configuration and fees from the service, and endpoints of this server are managed here', async () => {
  const { body, cookies } = await post('sign-in', { key: LIVE_KEY });
  expect(body.documents).toEqual({ graphiql: false, rest: false });
  const headers = { cookie: cookies[0]!.split(';')[0]! };
  expect((await post('keys', {}, headers)).body.keys).toBeNull();
  const key = { permissions: [], name: null, key: LIVE_KEY };
  expect((await post('keys/new', key, headers)).body.code).toBe('NOT_OFFERED');
  const url = 'https://loja.example/webhooks';
  expect((await post('endpoints', { url, key: LIVE_KEY }, headers)).status).toBe(201);
  const ofAccount = { endpointId: null, url, key: LIVE_KEY };
  expect((await post('endpoints/change', ofAccount, headers)).body.code).toBe('NOT_OFFERED');
  const payout = { subaccountId: `sacc_${'0'.repeat(32)}`, amountCents: 500, pixKey: 'ana@example.com' };
  expect((await post('subaccounts/payout-terms', payout, headers)).body.fees).toBeNull();
});

test('A payout and a batch are requested of the service, each row once', async () => {
  const { cookies } = await post('sign-in', { key: LIVE_KEY });
  const headers = { cookie: cookies[0]!.split(';')[0]! };
  await pair.service.controls.credit({ accountId: pair.accountIds.service, environment: 'live' }, 100_000);
  const payout = { method: 'pix', amountCents: 5_000, destination: 'ana@psa.example' };
  const terms = await post('payouts/terms', payout, headers);
  expect(terms.body).toMatchObject({
    feeCents: null,
    destinationKind: 'email',
    hourly: { most: 10, left: null },
  });
  const made = await post('payouts', { ...payout, idempotencyKey: 'one', key: LIVE_KEY }, headers);
  expect([made.status, made.body.replayed]).toEqual([201, false]);
  const rows = [6_000, 7_000].map((amountCents) => ({ ...payout, amountCents }));
  const begun = await post('payouts/batches', { rows, idempotencyKey: 'many', key: LIVE_KEY }, headers);
  expect(begun.status).toBe(201);
  await pair.pass(60_000);
  const { body } = await post('payouts/batches/newest', {}, headers);
  expect(body.batch).toMatchObject({ status: 'finished', paid: 2, refused: [] });
  const amounts = await pair.service.database.sql
    .selectFrom('payout')
    .select('amount_cents')
    .orderBy('number')
    .execute();
  expect(amounts.map((row) => row.amount_cents)).toEqual([5_000, 6_000, 7_000]);
  // A service may date no payout.
  await sql`update observed set snapshot = snapshot || '{"requestedAt": null, "processedAt": null}'
    where resource = 'payout'`.execute(pair.facade.database.sql);
  const check = await post(
    'payouts/batches/check',
    { rows: [...rows, { ...payout, amountCents: 1 }] },
    headers,
  );
  expect(check.body.paidBefore).toMatchObject([{ row: 1, requestedAt: null }, { row: 2 }]);
});

test('A batch that no restore has stopped is not resumed, so that a restore can still end it', async () => {
  const { cookies } = await post('sign-in', { key: LIVE_KEY });
  const headers = { cookie: cookies[0]!.split(';')[0]! };
  pair.proxy.plan = ({ method }) =>
    method === 'POST' ? { kind: 'status', status: 401, when: 'before' } : PASS;
  const rows = [{ method: 'pix', amountCents: 2_200, destination: 'ana@psa.example' }];
  const { body } = await post('payouts/batches', { rows, idempotencyKey: 'one', key: LIVE_KEY }, headers);
  await pair.settled();
  const asked = { batchId: body.batchId, key: LIVE_KEY };
  expect((await post('payouts/batches/resume', asked, headers)).body.status).toBe('running');
  const { rows: resumed } =
    await sql`select resumed_at from payout_batch where batch_id = ${body.batchId}`.execute(
      pair.facade.database.sql,
    );
  expect(resumed).toEqual([{ resumed_at: null }]);
  await post('payouts/batches/cancel', { batchId: body.batchId }, headers);
  pair.proxy.plan = () => PASS;
  await pair.pass(600_000);
});

test('A batch waits where the service refuses the whole account, ends with a restore, and one of after it is paid', async () => {
  const { cookies } = await post('sign-in', { key: LIVE_KEY });
  const headers = { cookie: cookies[0]!.split(';')[0]! };
  const newest = async () => (await post('payouts/batches/newest', {}, headers)).body.batch;
  const paid = async () => {
    const query = pair.service.database.sql.selectFrom('payout').select('amount_cents').orderBy('number');
    return (await query.execute()).map((row) => row.amount_cents);
  };
  const confirm = async (idempotencyKey: string, amounts: number[]) => {
    const rows = amounts.map((amountCents) => ({
      method: 'pix',
      amountCents,
      destination: 'ana@psa.example',
    }));
    expect((await post('payouts/batches', { rows, idempotencyKey, key: LIVE_KEY }, headers)).status).toBe(
      201,
    );
  };
  const before = await paid();
  pair.proxy.plan = ({ method }) =>
    method === 'POST' ? { kind: 'status', status: 401, when: 'before' } : PASS;
  await confirm('refused', [2_000, 3_000]);
  await pair.settled();
  expect(await newest()).toMatchObject({
    ...{ status: 'running', paid: 0, refused: [] },
    waiting: { code: 'UPSTREAM_REFUSED' },
  });
  expect((await post('token', {}, headers)).body.keyRefused).toBe(true);
  pair.proxy.plan = () => PASS;

  const until = pair.clock.now();
  await sql`insert into restored_records (behind_since, behind_until, cause) values (${until}, ${until}, 'backup')
    on conflict (one) do update set behind_since = ${until}, behind_until = ${until}, cause = 'backup'`.execute(
    pair.facade.database.sql,
  );
  await pair.pass(600_000);
  expect(await newest()).toMatchObject({
    status: 'canceled',
    cancelReason: 'restored',
    paid: 0,
    waiting: null,
  });
  // The operator may confirm the records before this server has run.
  pair.proxy.plan = ({ method }) =>
    method === 'POST' ? { kind: 'status', status: 401, when: 'before' } : PASS;
  await confirm('confirmed', [2_500]);
  await pair.settled();
  await sql`update restored_records set behind_since = null, behind_until = null, cause = null,
    confirmed_since = ${until}, confirmed_until = ${pair.clock.now()}`.execute(pair.facade.database.sql);
  pair.proxy.plan = () => PASS;
  await pair.pass(600_000);
  expect(await newest()).toMatchObject({ status: 'canceled', cancelReason: 'restored', paid: 0 });
  await confirm('after', [4_000]);
  await pair.pass(60_000);
  expect(await newest()).toMatchObject({ status: 'finished', paid: 1, refused: [] });
  await pair.pass(3_600_000);
  expect(await paid()).toEqual([...before, 4_000]);
});

test('A row whose answer was lost waits until it is known whether the service has made it', async () => {
  const { cookies } = await post('sign-in', { key: LIVE_KEY });
  const headers = { cookie: cookies[0]!.split(';')[0]! };
  const newest = async () => (await post('payouts/batches/newest', {}, headers)).body.batch;
  for (const [when, amountCents, outcome] of [
    ['before', 8_000, { paid: 0, refused: [{ refused: 'UPSTREAM_REFUSED' }] }],
    ['after', 8_100, { paid: 1, refused: [] }],
  ] as const) {
    const rows = [{ method: 'pix', amountCents, destination: 'ana@psa.example' }];
    pair.proxy.plan = ({ method }) => (method === 'POST' ? { kind: 'reset', when } : PASS);
    const input = { rows, idempotencyKey: `lost-${when}`, key: LIVE_KEY };
    expect((await post('payouts/batches', input, headers)).status).toBe(201);
    await pair.pass(5_000);
    // What was made is found in the list of the service at once.
    if (when === 'before')
      expect(await newest()).toMatchObject({ status: 'running', waiting: { code: 'UPSTREAM_UNAVAILABLE' } });
    pair.proxy.plan = () => PASS;
    await pair.pass(20 * 60_000);
    expect(await newest()).toMatchObject({ status: 'finished', ...outcome });
  }
});

test('A payout in doubt says so, is counted, and a row that repeats it is named', async () => {
  const { cookies } = await post('sign-in', { key: LIVE_KEY });
  const headers = { cookie: cookies[0]!.split(';')[0]! };
  const row = { method: 'pix', amountCents: 8_200, destination: 'ana@psa.example' } as const;
  pair.proxy.plan = ({ method }) => (method === 'POST' ? { kind: 'reset', when: 'before' } : PASS);
  const single = await post('payouts', { ...row, idempotencyKey: 'one-doubt', key: LIVE_KEY }, headers);
  expect(single.body).toMatchObject({ inDoubt: true, code: null, replayed: false });
  pair.proxy.plan = () => PASS;
  const check = async () => (await post('payouts/batches/check', { rows: [row] }, headers)).body.paidBefore;
  expect(await check()).toEqual([
    {
      row: 1,
      payoutId: expect.stringMatching(/^int_/),
      code: null,
      requestedAt: expect.any(String),
      inDoubt: true,
    },
  ]);
  const [{ payoutId }] = await check();
  await sql`update payout_batch set payout_rows = jsonb_set(payout_rows, '{0,outcome}',
    ${JSON.stringify({ payoutId, code: null })}::jsonb)`.execute(pair.facade.database.sql);
  const newest = async () => (await post('payouts/batches/newest', {}, headers)).body.batch;
  expect(await newest()).toMatchObject({ paid: 1, inDoubt: 1, denied: 0 });
  // The service never got it.
  await pair.pass(20 * 60_000);
  expect(await newest()).toMatchObject({ paid: 1, inDoubt: 0, denied: 1 });
  expect(await check()).toEqual([]);
});

test('A row that repeats a payout which is still being sent is named', async () => {
  const { cookies } = await post('sign-in', { key: LIVE_KEY });
  const headers = { cookie: cookies[0]!.split(';')[0]! };
  const row = { method: 'pix', amountCents: 8_300, destination: 'ana@psa.example' } as const;
  pair.proxy.plan = ({ method }) => (method === 'POST' ? { kind: 'hang', when: 'before' } : PASS);
  const single = post('payouts', { ...row, idempotencyKey: 'one-sent', key: LIVE_KEY }, headers);
  const check = async () => (await post('payouts/batches/check', { rows: [row] }, headers)).body.paidBefore;
  await expect.poll(check, { timeout: 60_000 }).toMatchObject([{ row: 1, code: null, inDoubt: true }]);
  const confirmed = { rows: [row], idempotencyKey: 'again', key: LIVE_KEY };
  const { body } = await post('payouts/batches', confirmed, headers);
  expect(body.fields).toMatchObject([{ path: 'paidBefore' }]);
  // The request may arrive after its record: it hangs in any case.
  await pair.pass(20 * 60_000);
  pair.proxy.plan = () => PASS;
  expect((await single).body.inDoubt).toBe(true);
});
