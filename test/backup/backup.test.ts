import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSystemClock, DAY_MS } from '../../server/src/kernel/clock.ts';
import { readConfig } from '../../server/src/programs/config/config.ts';
import { backUp, restore } from '../../server/src/programs/ops/backup.ts';
import { OPTIONAL_WEBHOOK_EVENTS } from '../../server/src/webhooks/sent-events.ts';
import { audit } from '../faults/audit.ts';
import { type ChildServer, spawnServer } from '../faults/child.ts';
import { createPostgresDatabase } from '../support/database.ts';
import { createClient } from '../support/graphql.ts';
import { startReceiver } from '../support/receiver.ts';
import { firstInSample, runsAll } from '../support/scale.ts';
import {
  type Contents,
  contentsOf,
  contentsOfFile,
  open,
  temporaryFolder,
  withoutMark,
} from './backup-fixture.ts';
import {
  type Acknowledged,
  buyByPix,
  createPayment,
  createWaiting,
  startLoad,
  type Waiting,
} from './load.ts';

const LIVE_KEY = 'ps_live_saved0123456789abc';
const OPENING = { name: 'opening', cents: 1_000_000_000, litoshi: 100_000_000_000 };
const CLIENTS = 4;
/** The instants of three weeks, after which everything is decided, confirmed, returned, released and reported. */
const LATER_MS = [
  ...[60_000, 15 * 60_000, 3_600_000],
  // A week passes day by day: a cycle whose days pass while no server runs is not debited.
  ...Array.from({ length: 9 }, () => DAY_MS),
  ...[11 * DAY_MS, 3_600_000],
];

type Environment = { PSA_DATA_DIR: string } | { DATABASE_URL: string };
const engines: Record<string, () => Promise<Environment>> = {
  PostgreSQL: async () => ({ DATABASE_URL: await createPostgresDatabase() }),
  PGlite: async () => ({ PSA_DATA_DIR: join(temporaryFolder(), 'data') }),
};
/** The targets of a restore: a database or a folder. test/programs/cli/main.test.ts restores a folder, too. */
const into: Record<string, () => Promise<Environment>> = {
  ...(runsAll() && { PGlite: engines.PGlite! }),
  PostgreSQL: async () => ({ DATABASE_URL: await createPostgresDatabase('template1') }),
};
/** The number of writes that are acknowledged before the backup, and of those during it and after it. */
const [BEFORE, SINCE] = runsAll() ? [30, 10] : [10, 3];

const clock = createSystemClock();
const onRows = () => undefined;
const configOf = (environment: Environment) => readConfig({ ...environment });

const CONFIGURE = `mutation ($input: ConfigureWebhookInput!) {
  configureWebhook(input: $input) { ... on ConfigureWebhookSuccess { secret } ... on UserError { message } }
}`;
const NEWEST = `query ($after: String) {
  viewer { environment }
  cardPayments(first: 2, after: $after) { edges { cursor node { orderCode } } pageInfo { endCursor } }
}`;
const FOLLOW =
  'subscription ($after: String) { allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode status } } }';

async function start(environment: Environment): Promise<{ server: ChildServer; url: string }> {
  const server = spawnServer();
  onTestFinished(() => server.kill());
  const settings = {
    PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
    PSA_GRAPHQL_LIMIT: '1000000',
    PSA_TRACE_EXPORTER: '',
  };
  const { url } = await server.ask('start', { environment: { ...settings, ...environment }, brief: true });
  return { server, url };
}

// test/programs/cli/main.test.ts saves the folder of a server that runs on PGlite, and restores it.
describe.each(firstInSample(Object.entries(engines)))('a backup of %s under load', (name, prepare) => {
  test(`A backup holds one consistent state, and servers continue on what it restores (${CLIENTS} writers)`, async () => {
    const environment = await prepare();
    const { server, url } = await start(environment);
    const receiver = await startReceiver();
    const api = createClient(`${url}/graphql`, LIVE_KEY);
    const optionalEvents = OPTIONAL_WEBHOOK_EVENTS.map((event) => event.replace('.', '_').toUpperCase());
    const input = { url: receiver.url, optionalEvents };
    const { configureWebhook } = await api.request(CONFIGURE, { input });
    expect(configureWebhook.secret).toMatch(/^whsec_/);
    await server.ask('credit', OPENING);
    const waiting = await createWaiting(server, url, LIVE_KEY);
    const load = startLoad(server, url, LIVE_KEY, CLIENTS);
    await load.more(BEFORE);

    const before = [...load.acknowledged];
    const page = (await api.request(NEWEST)).cardPayments;
    const updates = api.sse(FOLLOW);
    const { cursor } = (await updates.data()).allCardPaymentUpdates;
    await updates.close();
    const folder = temporaryFolder();
    const file = join(folder, 'one.backup.gz');
    // A place where some operators keep their backups.
    const kept = 'PSA_DATA_DIR' in environment ? join(environment.PSA_DATA_DIR, 'backup') : folder;
    mkdirSync(join(kept, 'earlier'), { recursive: true });
    const counted: string[] = [];
    const saved = await backUp(configOf(environment), file, {
      open,
      clock,
      onRows: (table) => counted.push(table),
    });
    const during = load.acknowledged.length - before.length;
    await load.more(SINCE);
    await load.stop();
    expect(server.faults).toEqual([]);

    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(kept)).toContain('earlier');
    expect(readdirSync(folder)).toContain(basename(file));
    const held = contentsOfFile(file);
    expect(saved.rows).toEqual(mapped(held, (rows) => rows.length));
    expect(new Set(counted)).toEqual(new Set(Object.keys(held).filter((table) => held[table]!.length > 0)));
    if ('PSA_DATA_DIR' in environment)
      expect(readdirSync(environment.PSA_DATA_DIR).sort()).toEqual([
        'backup',
        'data.key',
        'pgdata',
        'psa.sock',
      ]);

    // Without writes a backup equals the contents of the database.
    await server.ask('settle', null);
    server.kill();
    await server.death;
    const quiet = join(folder, 'quiet.backup.gz');
    const database = await open(configOf(environment));
    const alreadyOpen = async () => ({ ...database, close: async () => undefined });
    await backUp(configOf(environment), quiet, { open: alreadyOpen, clock, onRows });
    expect(contentsOfFile(quiet)).toEqual(await contentsOf(database));
    await database.close();

    for (const [target, prepareTarget] of Object.entries(into)) {
      const restored = await prepareTarget();
      const back = await restore(configOf(restored), file, { open, onRows, onChecked: onRows });
      expect(back.rows, target).toEqual(saved.rows);
      const filled = await open(configOf(restored));
      const contents = await contentsOf(filled);
      expect(withoutMark(contents), target).toEqual(withoutMark(held));
      expect(contents.restored_records, target).toEqual([expect.stringContaining('backup')]);
      await filled.close();
      await goesOn(restored, { before, waiting, page, cursor, receiver, target });
    }
    process.stdout.write(
      `${name}: ${before.length} acknowledged before the backup, ${during} while it was taken, ${Object.values(saved.rows).reduce((a, b) => a + b, 0)} rows\n`,
    );
  });
});

/**
 * Starts a server on the restored database: every write that was acknowledged before the backup is there, and all
 * work goes on.
 */
async function goesOn(
  environment: Environment,
  {
    before,
    waiting,
    page,
    cursor,
    receiver,
    target,
  }: {
    before: Acknowledged[];
    waiting: Waiting;
    page: { edges: { cursor: string; node: { orderCode: string } }[]; pageInfo: { endCursor: string } };
    /** The cursor of the updates before the backup. */
    cursor: string;
    receiver: Awaited<ReturnType<typeof startReceiver>>;
    target: string;
  },
): Promise<void> {
  const { server, url } = await start(environment);
  const api = createClient(`${url}/graphql`, LIVE_KEY);
  const first = await audit(server, new Date());
  expect(first.violations, target).toEqual([]);
  const [heads] = await server.ask('query', ['select account_id, environment, version from stream']);

  const pixStatuses = new Map(first.pixPayments.map(({ paymentId, status }) => [paymentId, status]));
  const there: Record<Acknowledged['kind'], Map<string, string>> = {
    card_payment: new Map(first.payments.map(({ orderCode, status }) => [orderCode, status])),
    payment: pixStatuses,
    charge: pixStatuses,
    payout: new Map(first.payouts.map(({ id, status }) => [id, status])),
    subaccount: new Map(first.subaccounts.map(({ id }) => [id, ''])),
    subaccount_payout: new Map(first.subaccountPayouts.map(({ id, status }) => [id, status])),
  };
  const lost = before.filter(
    ({ kind, id, paid }) => !there[kind].has(id) || (paid && there[kind].get(id) !== 'paid'),
  );
  expect(lost, target).toEqual([]);

  // Keys are accepted as before, cursors hold, and numbers continue.
  const known = before.find(({ kind }) => kind === 'card_payment')!;
  expect(await createPayment(url, LIVE_KEY, known.key)).toEqual({ orderCode: known.id, replayed: true });
  const next = (await api.request(NEWEST, { after: page.pageInfo.endCursor })).cardPayments;
  expect(next.edges).toHaveLength(2);
  const shown = page.edges.map(({ node }) => node.orderCode);
  for (const { node } of next.edges) expect(shown).not.toContain(node.orderCode);

  const assertGoneOn = await continueWaiting(server, { url, waiting, receiver, target });

  // A payment, and its webhook.
  const { orderCode, replayed } = await createPayment(url, LIVE_KEY, 'after:the:restore');
  expect(replayed).toBe(false);
  await server.ask('pay', { orderCode, cardNumber: '4242424242424242' });
  for (const ms of LATER_MS) await server.ask('pass', { ms });
  const updates = api.sse(FOLLOW, { after: cursor });
  for (;;) {
    const { cardPayment } = (await updates.data()).allCardPaymentUpdates;
    if (cardPayment.orderCode === orderCode && cardPayment.status === 'PAID') break;
  }
  await updates.close();
  // The clock advanced while the sender waited for an answer, so the webhook may have come twice.
  const reported = receiver.received.filter(({ body }) => body.includes(orderCode));
  expect(new Set(reported.map(({ headers }) => headers['x-webhook-id'])).size, target).toBe(1);

  const now = new Date(Date.now() + LATER_MS.reduce((sum, ms) => sum + ms, 0));
  const last = await audit(server, now);
  expect({ violations: last.violations, faults: server.faults }, target).toEqual({
    violations: [],
    faults: [],
  });
  // Transfers that were open at the backup have ended, each once.
  const open = [...last.payouts, ...last.subaccountPayouts].filter(({ status }) =>
    ['pending', 'processing', 'failed'].includes(status),
  );
  expect(open, target).toEqual([]);
  await assertGoneOn();
  const [undelivered, after] = await server.ask('query', [
    `select webhook_id from webhook_delivery where status <> 'delivered'`,
    'select account_id, environment, version from stream',
  ]);
  expect(undelivered, target).toEqual([]);
  expect(sumOf(after!)).toBeGreaterThan(sumOf(heads!));
  server.kill();
  await server.death;
}

const WAITING = `query ($subscriptionId: String!, $disputeId: String!, $productId: String!, $ltc: String!) {
  subscription(subscriptionId: $subscriptionId) { status cycles(first: 5) { nodes { number status attempts } } }
  dispute(disputeId: $disputeId) { status evidence { text } }
  deliveries(productId: $productId) { nodes { deliveredCount remainingCount } }
  payment(paymentId: $ltc) { status ltc { confirmations } }
  wallet { disputeBlockedCents cryptoBalanceLtc }
  storeProducts(first: 9) { nodes { storeProductId price } }
}`;

/**
 * Asserts that everything that was waiting at the backup is there and goes on: a payer's transaction is
 * confirmed, a code is sold. Returns an assertion for three weeks later: a cycle was debited, and the time for
 * evidence is over.
 */
async function continueWaiting(
  server: ChildServer,
  {
    url,
    waiting,
    receiver,
    target,
  }: {
    url: string;
    waiting: Waiting;
    receiver: Awaited<ReturnType<typeof startReceiver>>;
    target: string;
  },
): Promise<() => Promise<void>> {
  const api = createClient(`${url}/graphql`, LIVE_KEY);
  const { subscriptionId, disputeId, productId, ltcPaymentId, txid, storeProductIds } = waiting;
  const read = () => api.request(WAITING, { subscriptionId, disputeId, productId, ltc: ltcPaymentId });
  const restored = await read();
  expect(restored, target).toEqual({
    subscription: {
      status: 'ACTIVE',
      cycles: {
        nodes: [
          { number: 2, status: 'SCHEDULED', attempts: 0 },
          { number: 1, status: 'PAID', attempts: 1 },
        ],
      },
    },
    dispute: { status: 'OPEN', evidence: [] },
    deliveries: { nodes: [{ deliveredCount: 1, remainingCount: 2 }] },
    payment: { status: 'PENDING', ltc: { confirmations: 1 } },
    wallet: { disputeBlockedCents: 900, cryptoBalanceLtc: restored.wallet.cryptoBalanceLtc },
    storeProducts: {
      nodes: storeProductIds.map((storeProductId) => ({ storeProductId, price: '49,90' })),
    },
  });

  await server.ask('sendLtc', { paymentId: ltcPaymentId, txid, share: 1, confirmations: 2 });
  // The first code belongs to its payer; two other payers have one each.
  const bought = [];
  for (const key of ['after:1', 'after:2', 'after:3'])
    bought.push(...(await buyByPix(server, { url, liveKey: LIVE_KEY, productId, key })));
  expect(bought, target).toEqual([
    { status: 'DELIVERED', content: 'AAAA-2' },
    { status: 'DELIVERED', content: 'AAAA-3' },
    { status: 'PENDING', content: null },
  ]);
  const next = await read();
  expect(next, target).toMatchObject({
    deliveries: { nodes: [{ deliveredCount: 3, remainingCount: 0 }] },
    payment: { status: 'PAID' },
  });
  expect(Number(next.wallet.cryptoBalanceLtc), target).toBeGreaterThan(
    Number(restored.wallet.cryptoBalanceLtc),
  );

  return async () => {
    const last = await read();
    expect(last, target).toMatchObject({
      dispute: { status: 'UNDER_REVIEW' },
      wallet: { disputeBlockedCents: 900 },
    });
    const { nodes } = last.subscription.cycles;
    expect(nodes.slice(-2), target).toEqual([
      { number: 2, status: 'PAID', attempts: 1 },
      { number: 1, status: 'PAID', attempts: 1 },
    ]);
    // The account had opted into these events before the backup.
    const events = new Set(receiver.received.map(({ body }) => JSON.parse(body).event));
    for (const event of ['dispute.updated', 'subscription.paid', 'delivery.out_of_stock'])
      expect(events, target).toContain(event);
  };
}

function sumOf(heads: object[]): number {
  return (heads as { version: number }[]).reduce((sum, { version }) => sum + version, 0);
}

function mapped<T>(contents: Contents, of: (rows: string[]) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(contents).map(([table, rows]) => [table, of(rows)]));
}

test('the folder of a backup is not made', async () => {
  const file = join(temporaryFolder(), 'nowhere', 'one.gz');
  const environment = await engines.PostgreSQL!();
  await expect(backUp(configOf(environment), file, { open, clock, onRows })).rejects.toThrow(
    `There is no folder ${dirname(file)}`,
  );
});
