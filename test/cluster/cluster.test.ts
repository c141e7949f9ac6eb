import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { startCluster } from '../../server/scripts/cluster.mjs';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { type Database, INSTANCE_LOCK } from '../../server/src/state/db/database.ts';
import { audit } from '../faults/audit.ts';
import type { ChildServer } from '../faults/child.ts';
import { connectTo, createPostgresDatabase } from '../support/database.ts';
import { deferred } from '../support/deferred.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { startReceiver } from '../support/receiver.ts';
import { runsAll } from '../support/scale.ts';
import { startTcpBalancer } from './tcp-balancer.ts';

const LIVE_KEY = 'ps_live_cluster0123456789';
const EACH = runsAll() ? 80 : 20;
const AT_ONCE = 4;

type Cluster = Awaited<ReturnType<typeof startCluster>>;
let cluster: Cluster;
let database: Database;
/** The error output of the instances. */
const logged: string[] = [];

beforeAll(async () => {
  const databaseUrl = await createPostgresDatabase();
  database = await connectTo(databaseUrl, createSystemClock());
  cluster = await startCluster({
    count: 3,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      PSA_GRAPHQL_LIMIT: '1000000',
      PSA_DRAIN_SECONDS: '0',
    },
    startProxy: startTcpBalancer,
    onLine: (line, { isError }) => isError && logged.push(line),
  });
});
afterAll(async () => {
  await cluster?.close();
  await database?.close();
});

test('Each subscriber of any instance receives each change on any instance, once and in order.', async () => {
  const subscribers = cluster.instances.map((instance) => follow(at(instance)));
  await Promise.all(subscribers.map(({ started }) => started));
  const before = await eventLog();
  await Promise.all(
    cluster.instances.map(async (instance) => {
      const keys = Array.from({ length: EACH }, (_, index) => `written:${instance.number}:${index}`);
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (let key = keys.pop(); key; key = keys.pop()) await create(at(instance), key);
        }),
      );
    }),
  );
  const all = (await eventLog()).slice(before.length);
  expect(all).toHaveLength(3 * EACH);
  for (const subscriber of subscribers) {
    await subscriber.until(all.at(-1)!);
    expect(subscriber.seen).toEqual(all);
  }
});

test('The limit of an account holds over all instances together.', async () => {
  const answers = await Promise.all(
    Array.from({ length: 150 }, () =>
      fetch(`${cluster.url}/v1/wallet`, { headers: { authorization: `Bearer ${LIVE_KEY}` } }),
    ),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(120);
  expect(statuses.filter((status) => status === 429)).toHaveLength(30);
});

test('A rolling restart loses no update and no answer.', async () => {
  const subscribers = [1, 2, 3].map(() => follow(behindBalancer()));
  await Promise.all(subscribers.map(({ started }) => started));
  const before = await eventLog();
  const processes = cluster.instances.map(({ process: { pid } }) => pid);
  let restarting = true;
  const restarted = cluster.restart().finally(() => {
    restarting = false;
  });
  const created: string[] = [];
  await Promise.all(
    [0, 1].map(async (writer) => {
      for (let index = 0; restarting; index += 1)
        created.push(await createWithRetries(behindBalancer(), `restarted:${writer}:${index}`));
    }),
  );
  await restarted;
  for (const {
    process: { pid },
  } of cluster.instances)
    expect(processes).not.toContain(pid);

  const all = (await eventLog()).slice(before.length);
  expect([...all].sort()).toEqual(created.map((orderCode) => `${orderCode} PENDING`).sort());
  for (const subscriber of subscribers) {
    await subscriber.until(all.at(-1)!);
    expect(subscriber.seen).toEqual(all);
    expect(subscriber.connections()).toBeGreaterThan(1);
  }
});

test('The tasks of an instance that is killed are completed by the others, and none is done twice.', async () => {
  // The receiver answers only after the kill, so that each instance has open deliveries.
  const killed = deferred();
  const receiver = await startReceiver((response) => void killed.promise.then(() => response.end()));
  const merchant = behindBalancer();
  await merchant.request(CONFIGURE, { input: { url: receiver.url } });
  await pull('credit', { amountCents: 10_000_000 });
  const subaccounts = await Promise.all(['ana', 'bia', 'caio'].map((name) => openSubaccount(merchant, name)));
  const subscriber = follow(at(cluster.instances[1]!));
  await subscriber.started;

  // The payments of the tests before this one expire at once, on every instance.
  await pull('clock', { seconds: 31 * 60 });
  await Promise.all([
    ...[...Array(10).keys()].map((index) => merchant.request(PAY_OUT, { input: payout(index) })),
    ...[...Array(18).keys()].map((index) =>
      merchant.request(PAY_OUT_OF, { input: subaccountPayout(subaccounts[index % 3]!, index) }),
    ),
  ]);
  await waitFor(async () => (await holders()).size === 3);
  const held = await holders();
  cluster.instances[0]!.process.kill('SIGKILL');
  killed.resolve();

  await waitFor(async () => (await connected()).length === 2);
  const left = await connected();
  const [dead] = [...held.keys()].filter((holder) => !left.includes(holder));
  expect(held.get(dead!)!.length).toBeGreaterThan(0);
  await waitFor(async () => !(await holders()).has(dead!));
  await waitFor(isAllDone);

  const { violations, payments, payouts, subaccountPayouts } = await audit(books, await serverTime());
  expect(violations).toEqual([]);
  expect(new Set(payments.map(({ status }) => status))).toEqual(new Set(['expired']));
  expect(payouts.map(({ status }) => status)).toEqual(Array(10).fill('completed'));
  expect(subaccountPayouts.map(({ status }) => status)).toEqual(Array(18).fill('completed'));
  // Each event is delivered at least once, under one id, and with one body.
  const log = await rows<{ id: string; body: string; status: string }>(
    'select webhook_id as id, body, status from webhook_delivery',
  );
  expect(new Set(log.map(({ status }) => status))).toEqual(new Set(['delivered']));
  expect(new Set(receiver.received.map(({ headers, body }) => `${headers['x-webhook-id']} ${body}`))).toEqual(
    new Set(log.map(({ id, body }) => `${id} ${body}`)),
  );
  // The subscriber of another instance received each expiry, once.
  const all = await eventLog();
  await subscriber.until(all.at(-1)!);
  expect(subscriber.seen).toEqual(all.slice(-subscriber.seen.length));
  expect(subscriber.seen).toHaveLength(payments.length);
  expect(logged.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

// ── Clients ──────────────────────────────────────────────────────────────────────────────────────

function at({ url }: Cluster['instances'][number]): GraphQLClient {
  return createClient(`${url}/graphql`, LIVE_KEY);
}

function behindBalancer(): GraphQLClient {
  return createClient(`${cluster.url}/graphql`, LIVE_KEY);
}

async function create(client: GraphQLClient, idempotencyKey: string): Promise<string> {
  const { createCardPayment } = await client.request(CREATE, {
    input: { valueCents: 1_000, idempotencyKey },
  });
  return createCardPayment.cardPayment.orderCode;
}

/** Retries with the same key until there is an answer, as a merchant does whose connection was lost. */
async function createWithRetries(client: GraphQLClient, key: string): Promise<string> {
  for (;;) {
    try {
      return await create(client, key);
    } catch {
      await pause();
    }
  }
}

/** A subscriber that reconnects with its last cursor until the test ends. */
function follow(client: GraphQLClient) {
  const seen: string[] = [];
  const started = deferred();
  const waiting = new Set<() => void>();
  let connections = 0;
  let ended = false;
  let close: () => unknown = () => undefined;
  let after: string | undefined;

  async function once(): Promise<void> {
    // A stream of changes has no first state, which would show that it has started.
    if (after === undefined) ({ updatesCursor: after } = await client.request('{ updatesCursor }'));
    const updates = client.ws(UPDATES, { after });
    close = () => updates.close();
    connections += 1;
    started.resolve();
    for (;;) {
      const { cursor, cardPayment } = (await updates.data()).allCardPaymentUpdates;
      after = cursor;
      seen.push(`${cardPayment.orderCode} ${cardPayment.status}`);
      for (const wake of waiting) wake();
    }
  }
  const stopped = (async () => {
    while (!ended) await once().catch(() => (ended ? undefined : pause()));
  })();
  async function end(): Promise<void> {
    ended = true;
    await close();
    await stopped;
  }
  onTestFinished(end);

  return {
    seen,
    started: started.promise,
    connections: () => connections,
    until: (last: string) => waitUntil(() => seen.includes(last)),
  };

  async function waitUntil(condition: () => boolean): Promise<void> {
    const { promise, resolve } = deferred();
    const look = () => condition() && resolve();
    waiting.add(look);
    look();
    await promise;
    waiting.delete(look);
  }
}

async function pull(lever: string, input: object) {
  const response = await fetch(`${cluster.url}/simulator/${lever}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: cluster.url },
    body: JSON.stringify(input),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.json();
}

async function serverTime(): Promise<Date> {
  const state = await fetch(`${cluster.url}/simulator/state`);
  return new Date(((await state.json()) as { clock: { now: string } }).clock.now);
}

async function openSubaccount(client: GraphQLClient, externalId: string): Promise<string> {
  const { createSubaccount } = await client.request(OPEN, { input: { name: externalId, externalId } });
  const { subaccountId } = createSubaccount.subaccount;
  await client.request(GIVE, {
    input: { subaccountId, amountCents: 100_000, idempotencyKey: externalId },
  });
  return subaccountId;
}

function payout(index: number) {
  return {
    method: 'PIX',
    amountCents: 5_000 + index,
    destination: 'ana@example.com',
    idempotencyKey: `${index}`,
  };
}

function subaccountPayout(subaccountId: string, index: number) {
  return {
    subaccountId,
    amountCents: 3_000 + index,
    pixKey: 'bia@example.com',
    idempotencyKey: `of-${index}`,
  };
}

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } }
}`;
const UPDATES = `subscription ($after: String) {
  allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode status } }
}`;
const CONFIGURE = `mutation ($input: ConfigureWebhookInput!) {
  configureWebhook(input: $input) { ... on ConfigureWebhookSuccess { url } }
}`;
const PAY_OUT = `mutation ($input: RequestPayoutInput!) {
  requestPayout(input: $input) { ... on RequestPayoutSuccess { payout { withdrawalId } } }
}`;
const OPEN = `mutation ($input: CreateSubaccountInput!) {
  createSubaccount(input: $input) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } }
}`;
const GIVE = `mutation ($input: TransferToSubaccountInput!) {
  transferToSubaccount(input: $input) { ... on TransferToSubaccountSuccess { subaccount { subaccountId } } }
}`;
const PAY_OUT_OF = `mutation ($input: RequestSubaccountPayoutInput!) {
  requestSubaccountPayout(input: $input) { ... on RequestSubaccountPayoutSuccess { subaccountPayout { payoutId } } }
}`;

// ── The database ───────────────────────────────────────────────────────────────────────

async function rows<Row extends object>(statement: string): Promise<Row[]> {
  return (await database.sql.executeQuery<Row>(CompiledQuery.raw(statement))).rows;
}

/** Reads for the audit, all in one transaction. */
const books: Pick<ChildServer, 'ask'> = {
  ask: (_name, statements) =>
    database.transaction(async (sql) => {
      const found = [];
      for (const statement of statements as string[])
        found.push((await sql.executeQuery(CompiledQuery.raw(statement))).rows);
      return found as never;
    }),
};

/** Each change of a card payment, in the order of the log. */
async function eventLog(): Promise<string[]> {
  const events = await rows<{ line: string }>(`
    select resource_id || ' ' || upper(split_part(kind, '.', 2)) as line from event
    where resource = 'card_payment' order by version`);
  return events.map(({ line }) => line);
}

/** The tasks that are being worked on, by the number of their instance. */
async function holders(): Promise<Map<number, string[]>> {
  const held = await rows<{ holder: number; keys: string[] }>(
    'select holder, array_agg(key) as keys from task where lease is not null group by 1',
  );
  return new Map(held.map(({ holder, keys }) => [holder, keys]));
}

/** The numbers of the connected instances. */
async function connected(): Promise<number[]> {
  const locks = await rows<{ instance: number }>(`
    select objid::bigint as instance from pg_locks where locktype = 'advisory' and classid = ${INSTANCE_LOCK}
      and database = (select oid from pg_database where datname = current_database())`);
  return locks.map(({ instance }) => instance);
}

async function isAllDone(): Promise<boolean> {
  const [left] = await rows<{ count: number }>(`
    select (select count(*) from card_payment where status = 'pending')
      + (select count(*) from payout where status not in ('completed', 'denied'))
      + (select count(*) from subaccount_payout where status <> 'completed')
      + (select count(*) from webhook_delivery where status = 'pending') as count`);
  return left!.count === 0;
}

/** Polls: work of other processes is visible in the database alone. The test's own time limit ends the wait. */
async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause();
}

async function pause(): Promise<void> {
  await rows('select pg_sleep(0.05)');
}
