import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { LIVE_KEY, startApp, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { createPostgresDatabase } from '../../support/database.ts';
import { type FaultyNetwork, startFaultyNetwork } from '../../support/faulty-network.ts';
import { openRawSocket } from '../../support/raw-socket.ts';
import { readMetrics } from '../../support/scrape.ts';
import { administrate, silent } from '../../support/templates.ts';

let app: TestApp;
let network: FaultyNetwork;
let url: string;

beforeEach(async () => {
  url = await createPostgresDatabase();
  network = await startFaultyNetwork(url);
  const clock = createManualClock();
  const database = await openPostgres({ databaseUrl: network.url, clock, log: silent });
  app = await startApp({ clock, database, environment: { PSA_FAST_PATH: 'on' } });
  await app.controls.credit({ accountId: await account(), environment: 'live' }, 100_000);
});

afterEach(async () => {
  await app.close();
  await network.close();
  // An outage of the database is not logged as an internal fault.
  expect(app.faults).toEqual([]);
});

async function account(): Promise<string> {
  return (await app.database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow()).id;
}

/** Makes the database refuse every connection from now on. */
function goAway(): void {
  network.refuses = true;
  network.cut();
}

const NOTHING_DONE = {
  message: 'The service is unavailable for the moment: repeat the request with the same idempotency key',
  extensions: { code: 'UNAVAILABLE', retryPolicy: 'SAME_KEY', retryAfterSeconds: 1 },
};
const PAY_OUT = `mutation ($input: RequestPayoutInput!) {
  requestPayout(input: $input) { ... on RequestPayoutSuccess { replayed payout { code } } ... on UserError { code } }
}`;
const payout = {
  amountCents: 2_500,
  method: 'PIX',
  destination: 'ana@example.com',
  idempotencyKey: 'salary-7',
};

describe('a database that is away', () => {
  test('an outage that no request meets is counted by the queue of due work', async () => {
    const outages = async () =>
      readMetrics(await (await fetch(`${app.url}/metrics`)).text()).value('psa_failures_total', {
        outcome: 'UNAVAILABLE',
      });
    expect(await outages()).toBe(0);
    goAway();
    await app.work.settled();
    expect(await outages()).toBeGreaterThan(0);
  });

  test('an outage of the database is UNAVAILABLE over HTTP, with 503, whether or not the caller is known', async () => {
    network.onRequest = (chunk) => (chunk.includes('start transaction') ? 'cut-before' : 'pass');
    const known = await app.live.send(PAY_OUT, { input: payout });
    expect(known).toMatchObject({
      status: 503,
      body: { data: { requestPayout: null }, errors: [NOTHING_DONE] },
    });
    expect(known.headers.get('retry-after')).toBe('1');
    goAway();
    const unknown = await app.sandbox.send('{ viewer { credential } }');
    expect(unknown).toMatchObject({ status: 503, body: { errors: [NOTHING_DONE] } });
    expect(unknown.headers.get('retry-after')).toBe('1');
    network.refuses = false;
    network.onRequest = () => 'pass';
    const { requestPayout } = await app.live.request(PAY_OUT, { input: payout });
    expect(requestPayout).toMatchObject({ replayed: false });
  });

  test('an outage of the database is UNAVAILABLE to a query of the fast path', async () => {
    const query = '{ wallet { balanceCents } }';
    for (let times = 0; times < 4; times += 1) await app.live.request(query);
    expect(app.fastAnswers()).toBeGreaterThan(0);
    goAway();
    expect(await app.live.send(query)).toMatchObject({ status: 503, body: { errors: [NOTHING_DONE] } });
    // The cached caller has expired, so it is looked up as well.
    app.clock.advance(2_000);
    const answer = await app.live.send(query);
    expect(answer).toMatchObject({ status: 503, body: { errors: [NOTHING_DONE] } });
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  test('an outage of the database in one field leaves a partial result', async () => {
    network.onRequest = (chunk) => (chunk.includes('from "card_payment"') ? 'cut-before' : 'pass');
    const { status, body } = await app.live.send(
      '{ viewer { credential } cardPayment(orderCode: "PSC-0123456789ABCDEFGHJKMNPQ") { id } }',
    );
    expect([status, body.data]).toEqual([200, { viewer: { credential: 'API_KEY' }, cardPayment: null }]);
    expect(body.errors).toMatchObject([{ ...NOTHING_DONE, path: ['cardPayment'] }]);
  });

  test('an outage of the database is 503 over REST, with a message', async () => {
    goAway();
    const answer = await app
      .rest()
      .post('/payouts', { amount: 25, method: 'pix', walletAddress: 'ana@example.com' });
    expect(answer).toMatchObject({ status: 503, body: { error: NOTHING_DONE.message } });
    expect(answer.headers.get('retry-after')).toBe('1');
  });

  test('an outage of the database is UNAVAILABLE over a WebSocket, and closes a new one so that its client reconnects', async () => {
    const socket = openRawSocket(app.url);
    await socket.init(LIVE_KEY);
    goAway();
    const answer = async (id: string, query: string) => {
      socket.send({ type: 'subscribe', id, payload: { query } });
      for (;;) {
        const message = await socket.next();
        if (message.id === id && message.type === 'next') return message.payload;
      }
    };
    const wallet = '{ wallet { balanceCents } }';
    expect(await answer('1', `subscription { walletUpdates ${wallet} }`)).toMatchObject({
      errors: [NOTHING_DONE],
    });
    expect(await answer('2', wallet)).toMatchObject({ errors: [NOTHING_DONE] });
    app.clock.advance(2_000);
    const late = openRawSocket(app.url);
    await late.init(LIVE_KEY).catch(() => undefined);
    expect(await late.closed).toEqual({ code: 1013, reason: 'Unavailable; come back' });
    // The outage has ended no credential.
    network.refuses = false;
    expect(await answer('3', wallet)).toEqual({ data: { wallet: { balanceCents: 100_000 } } });
    socket.socket.terminate();
  });

  test('an outage of the database is UNAVAILABLE over an event stream', async () => {
    goAway();
    const stream = app.live.sse('subscription { walletUpdates { cursor } }');
    await expect(stream.next()).rejects.toThrow(
      /^503 .*"code":"UNAVAILABLE","retryPolicy":"SAME_KEY","retryAfterSeconds":1/,
    );
  });

  test('a server without its database is not ready, and its metrics can be read', async () => {
    const ready = async () => (await fetch(`${app.url}/readyz`)).status;
    expect(await ready()).toBe(200);
    network.swallows = true;
    network.silence();
    expect(await ready()).toBe(503);
    expect((await fetch(`${app.url}/metrics`)).status).toBe(200);
    network.swallows = false;
    await expect.poll(ready).toBe(200);
  });
});

test('a payout whose COMMIT was not confirmed is OUTCOME_UNKNOWN with 504, and its key finds it', async () => {
  network.onRequest = (chunk) => (chunk.includes('commit\0') ? 'silence-after' : 'pass');
  const { status, headers, body } = await app.live.send(PAY_OUT, { input: payout });
  expect([status, headers.get('retry-after'), body.errors[0].extensions]).toEqual([
    504,
    null,
    { code: 'OUTCOME_UNKNOWN', retryPolicy: 'LOOK_UP' },
  ]);
  expect(body.errors[0].message).toContain('may have been done');
  network.onRequest = () => 'pass';
  const { requestPayout } = await app.live.request(PAY_OUT, { input: payout });
  expect(requestPayout).toMatchObject({ replayed: true });
  const { status: restStatus } = await app.rest().get('/payouts');
  expect(restStatus).toBe(200);
});

test('a mutation field behind one whose outcome is unknown is not begun, and no header invites to repeat the two', async () => {
  const two = `mutation ($input: RequestPayoutInput!) {
    requestPayout(input: $input) { __typename }
    createSubaccount(input: { name: "Bia" }) { __typename }
  }`;
  network.onRequest = (chunk) => (chunk.includes('commit\0') ? 'silence-after' : 'pass');
  const { status, headers, body } = await app.live.send(two, { input: payout });
  expect([status, headers.get('retry-after'), body.data]).toEqual([
    504,
    null,
    { requestPayout: null, createSubaccount: null },
  ]);
  const error = { message: expect.stringContaining('may have been done') };
  expect(body.errors).toMatchObject([error, error]);
  network.onRequest = () => 'pass';
  const known = await app.live.request('{ payouts { totalCount } subaccounts { totalCount } }');
  expect(known).toEqual({ payouts: { totalCount: 1 }, subaccounts: { totalCount: 0 } });
  goAway();
  const neither = await app.live.send(two, { input: { ...payout, idempotencyKey: 'another' } });
  expect(neither).toMatchObject({ status: 503, body: { errors: [NOTHING_DONE, NOTHING_DONE] } });
  expect(neither.headers.get('retry-after')).toBe('1');
});

test('an outage after a change does not claim that nothing was done', async () => {
  const open = `mutation ($input: CreateSubaccountInput!) {
    createSubaccount(input: $input) {
      ... on CreateSubaccountSuccess { replayed subaccount { payouts(first: 1) { nodes { id } } } }
    }
  }`;
  const input = { name: 'Bia', externalId: 'bia' };
  network.onRequest = (chunk) => (chunk.includes('subaccount_payout') ? 'cut-before' : 'pass');
  const { status, headers, body } = await app.live.send(open, { input });
  const data = { createSubaccount: null };
  expect([status, headers.get('retry-after'), body.data]).toEqual([504, null, data]);
  const error = {
    message: expect.stringContaining('may have been done'),
    extensions: { code: 'OUTCOME_UNKNOWN', retryPolicy: 'LOOK_UP' },
  };
  expect(body.errors).toMatchObject([error]);
  expect(body.errors[0].extensions).toEqual({ code: 'OUTCOME_UNKNOWN', retryPolicy: 'LOOK_UP' });
  const socket = openRawSocket(app.url);
  await socket.init(LIVE_KEY);
  socket.send({ type: 'subscribe', id: '1', payload: { query: open, variables: { input } } });
  expect(await socket.next()).toMatchObject({ id: '1', payload: { data, errors: [error] } });
  socket.socket.terminate();
  network.onRequest = () => 'pass';
  expect((await app.live.request(open, { input })).createSubaccount).toMatchObject({ replayed: true });
});

test('a read-only database serves reads, and is UNAVAILABLE to writes', async () => {
  const name = new URL(url).pathname.slice(1);
  await administrate(
    inject('templates').postgresUrl,
    `alter database ${name} set default_transaction_read_only = on`,
  );
  network.cut();
  expect((await fetch(`${app.url}/readyz`)).status).toBe(503);
  expect(await app.live.request('{ wallet { balanceCents } }')).toEqual({
    wallet: { balanceCents: 100_000 },
  });
  expect(await app.rest().get('/wallet')).toMatchObject({ status: 200 });
  const refused = await app.live.send(PAY_OUT, { input: payout });
  expect(refused).toMatchObject({ status: 503, body: { errors: [NOTHING_DONE] } });
  await administrate(
    inject('templates').postgresUrl,
    `alter database ${name} reset default_transaction_read_only`,
  );
  network.cut();
  await expect.poll(async () => (await fetch(`${app.url}/readyz`)).status).toBe(200);
  await app.live.request(PAY_OUT, { input: payout });
});

test('a full disk makes the server not ready with its cause at the first refused write, and alive; it is ready again by itself', async () => {
  const ready = async () => {
    const answer = await fetch(`${app.url}/readyz`);
    return [answer.status, ((await answer.json()) as { cause?: string }).cause];
  };
  await administrate(
    url,
    `create function full_disk() returns trigger language plpgsql as $$ begin
       raise exception 'could not extend file: No space left on device' using errcode = 'disk_full';
     end $$;
     create trigger full_disk before insert on event execute function full_disk()`,
  );
  expect(await ready()).toEqual([200, undefined]);
  const refused = await app.live.send(PAY_OUT, { input: payout });
  expect(refused).toMatchObject({ status: 503, body: { errors: [NOTHING_DONE] } });
  expect(await ready()).toEqual([503, 'disk_full']);
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
  const { value } = readMetrics(await (await fetch(`${app.url}/metrics`)).text());
  expect(value('psa_not_ready', { cause: 'disk_full' })).toBe(1);
  expect(await app.live.request('{ wallet { balanceCents } }')).toEqual({
    wallet: { balanceCents: 100_000 },
  });
  // The retried operation is another than the refused one, so it counts only after a while.
  app.clock.advance(4_999);
  expect(await ready()).toEqual([503, 'disk_full']);
  await administrate(url, 'drop function full_disk cascade');
  app.clock.advance(1);
  await expect.poll(ready).toEqual([200, undefined]);
  await app.live.request(PAY_OUT, { input: payout });
});
