import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CompiledQuery, sql } from 'kysely';
import pg from 'pg';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { txidOf } from '../../../server/src/money-in/pix/model.ts';
import type { Database } from '../../../server/src/state/db/database.ts';
import { appliedMigrations, migrate } from '../../../server/src/state/db/migrate.ts';
import { MigrationError } from '../../../server/src/state/db/migration-error.ts';
import { openPglite } from '../../../server/src/state/db/pglite.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { connectTo, createPostgresDatabase, inThisRun } from '../../support/database.ts';
import { runsAll, sampled } from '../../support/scale.ts';
import { onFatal, silent } from '../../support/templates.ts';
import { violations } from './books.ts';
import { startLoad } from './load.ts';
import { describeSchema, hashMigrations, MIGRATIONS, readReleases } from './schema.ts';
import { ACCOUNT, AT, DATA, ROWS, TENANT } from './upgrade-rows.ts';

const clock = createSystemClock();
const releases = readReleases();
const [oldest] = releases;
const newest = releases.at(-1)!;
const nameOf = (file: string) => file.slice(0, -'.sql'.length);
const names = Object.keys(oldest.migrations).map(nameOf);
/** The names of all migrations, those since the oldest release too: today's code needs all of them. */
const present = readdirSync(MIGRATIONS).sort().map(nameOf);

// ── What was released stays ─────────────────────────────────────────────────────────────────────

test('a migration that was released stays as it was', () => {
  for (const { version, migrations } of releases) expect(hashMigrations(), version).toMatchObject(migrations);
});

test('a new migration goes behind those that were released, and says what it is', () => {
  const added = readdirSync(MIGRATIONS).filter((file) => !(file in newest.migrations));
  const last = Object.keys(newest.migrations).at(-1)!;
  for (const file of added) {
    expect(file > last, file).toBe(true);
    expect(file).toMatch(/^\d{4}_[a-z_]+?(_online)?(_needs_\d{4})?\.sql$/);
  }
  expect(present, 'the rows of each step').toEqual(expect.arrayContaining(Object.keys(DATA)));
});

test('A migration since the oldest release can be interrupted behind any of its parts, and run again', async () => {
  const databaseUrl = await createPostgresDatabase('template1');
  const database = await openPostgres({ databaseUrl, clock, log: silent });
  onTestFinished(() => database.close());
  await migrate(database, undefined, names.at(-1));
  for (const name of present.slice(names.length)) {
    const parts = readFileSync(join(MIGRATIONS, `${name}.sql`), 'utf8').split(/^-- next$/m);
    // The last part of other migrations is recorded in its own transaction.
    const interrupted = name.endsWith('_online') ? parts : parts.slice(0, -1);
    for (const part of interrupted) await database.sql.executeQuery(CompiledQuery.raw(part));
    expect(await migrate(database, undefined, name)).toEqual([name]);
    for (const { version, migrations, schema } of releases)
      if (Object.keys(migrations).map(nameOf).at(-1) === name)
        expect(await describeSchema(database), version).toEqual(schema);
  }
  const fresh = await connectTo(await createPostgresDatabase(), clock);
  onTestFinished(() => fresh.close());
  expect(await describeSchema(database)).toEqual(await describeSchema(fresh));
});

test('A database that a version between the releases has made is refused with one line', async () => {
  const databaseUrl = await createPostgresDatabase('template1');
  const database = await openPostgres({ databaseUrl, clock, log: silent });
  onTestFinished(() => database.close());
  await migrate(database, undefined, names.at(-1));
  await sql`insert into kysely_migration (name, timestamp) values ('0015_list_counts', '')`.execute(
    database.sql,
  );
  await expect(migrate(database)).rejects.toThrow(
    /^The database was brought forward by 0015_list_counts, which this version does not know in the place of 0015_\w+$/,
  );
});

// ── From each step that there was ───────────────────────────────────────────────────────────────

/** Opens the built folder, without the template of the newest version. */
function openOlderPglite(dataDir: string): Promise<Database> {
  const { worker } = inject('templates').pglite;
  return openPglite({ dataDir, ...(worker && { worker }), clock, log: silent, onFatal });
}

const engines = {
  PGlite: () => openOlderPglite('memory'),
  PostgreSQL: async () =>
    openPostgres({ databaseUrl: await createPostgresDatabase('template1'), clock, log: silent }),
};
/** PGlite takes seconds to start, and runs the same SQL; a test below upgrades a folder. */
const STEPS = {
  PGlite: ['0001_spine', '0006_webhooks'],
  PostgreSQL: sampled(names.slice(0, -1), 24),
};

describe.each(inThisRun(engines))('a database (%s) with data in it', (engine, openEngine) => {
  test.each(STEPS[engine])('A database migrates from %s, and its server continues', async (step) => {
    const database = await openEngine();
    const known = names.slice(0, names.indexOf(step) + 1);
    for (const name of known) {
      await migrate(database, undefined, name);
      if (DATA[name]) await database.sql.executeQuery(CompiledQuery.raw(DATA[name]));
    }
    const before = await rowsOf(database);
    expect(await migrate(database, undefined, names.at(-1))).toEqual(names.slice(known.length));
    expect(await describeSchema(database)).toEqual(oldest.schema);
    const after = await rowsOf(database);
    // 0010 records the mode of a database with an account.
    if (step < '0010') before.database_mode = 1;
    expect(after).toMatchObject(before);

    const app = await startApp({ database, environment: { PSA_DEMO: 'false' } });
    onTestFinished(() => app.close());
    await app.work.settled();
    expect(await pay(app, 'new')).toBe('paid');
    expect(await violations(database, app.clock.now())).toEqual([]);
    expect(app.faults).toEqual([]);
  });
});

async function rowsOf(database: Database): Promise<Record<string, number>> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and relname not like 'kysely%'`.execute(database.sql);
  const counts: Record<string, number> = {};
  for (const { name } of tables) {
    const { rows } = await sql<{ count: number }>`select count(*) from ${sql.table(name)}`.execute(
      database.sql,
    );
    counts[name] = rows[0]!.count;
  }
  return counts;
}

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  done: createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } ... on UserError { message } }
}`;

/** Creates a payment by card, and pays it. */
async function pay(app: TestApp, key: string): Promise<string> {
  const { done } = await app.live.request(CREATE, { input: { valueCents: 4_990, idempotencyKey: key } });
  const card = {
    number: '4242424242424242',
    holder: 'ANA',
    expiryMonth: 12,
    expiryYear: 2099,
    securityCode: '123',
  };
  return (await app.cardPayments.pay(done.cardPayment.orderCode, card)).kind;
}

const CREATE_PIX = `mutation ($input: CreatePaymentInput!) {
  done: createPayment(input: $input) { ... on CreatePaymentSuccess { payment { paymentId } } ... on UserError { message } }
}`;

/** Creates a payment by PIX, and pays it. */
async function payByPix(app: TestApp, key: string): Promise<string> {
  const { done } = await app.live.request(CREATE_PIX, { input: { valueCents: 4_990, idempotencyKey: key } });
  const { paymentId } = done.payment;
  await app.pix.pay({ txid: txidOf(paymentId) });
  return (await app.payments.receive({ accountId: ACCOUNT, environment: 'live' }, paymentId))!.status;
}

// ── What came since the oldest release, under its statements ────────────────────────────────────

/**
 * A client's changes as the released version makes them, with the columns of its schema: today's code needs today's
 * columns. The released server itself runs in `previous-server.test.ts`, which needs the history of the repository.
 */
function releasedStatements(client: number, round: number): string[] {
  const id = `${client}`.padStart(4, '0') + `${round}`.padStart(20, '0');
  const event = (kind: string, resource: string, resourceId: string, version: number) => `
    insert into event (account_id, environment, version, kind, resource, resource_id, previous_status, occurred_at, snapshot)
      select account_id, environment, version + 1, '${kind}', '${resource}', '${resourceId}',
        ${version === 1 ? 'null' : "'pending'"}, ${AT}, '{"version": ${version}}'
      from stream;
    update stream set version = version + 1;`;
  const ofTenant = 'select from stream for update;';
  return [
    `begin; ${ofTenant}
    insert into card_payment (account_id, environment, order_code, version, status, amount_cents, created_at, expires_at)
      values (${TENANT}, 'PSC-${id}', 1, 'pending', 4990, ${AT}, ${AT});
    insert into idempotency values (${TENANT}, 'createCardPayment', '${id}', 'hash', 'PSC-${id}');
    ${event('card_payment.pending', 'card_payment', `PSC-${id}`, 1)} commit`,
    `begin; ${ofTenant}
    update card_payment set status = 'expired', version = 2 where order_code = 'PSC-${id}';
    ${event('card_payment.expired', 'card_payment', `PSC-${id}`, 2)} commit`,
    `begin; ${ofTenant}
    insert into payout (account_id, environment, withdrawal_id, code, version, method, status, amount_cents, fee_cents,
        destination, requested_at)
      -- An account has ten payouts an hour.
      select ${TENANT}, '${id}', 'W-${id}', 1, 'pix', 'pending', 100, 10, 'demora@psa.example',
        ${AT}::timestamptz + make_interval(hours => version::integer)
      from stream;
    insert into task (kind, account_id, environment, key, due_at) values ('payout.send', ${TENANT}, '${id}', ${AT});
    insert into posting (account_id, environment, transaction_id, ledger_account, amount, occurred_at) values
      (${TENANT}, 'payout.requested:${id}', 'merchant_balance', -100, ${AT}),
      (${TENANT}, 'payout.requested:${id}', 'payouts_in_transit', 100, ${AT});
    insert into idempotency values (${TENANT}, 'requestPayout', '${id}', 'hash', '${id}');
    ${event('payout.pending', 'payout', id, 1)} commit`,
    `insert into product (account_id, environment, id, name, price_cents, created_at)
      values (${TENANT}, '${id}', 'Caneca', 4990, ${AT})`,
    `delete from product where id = '${id}'`,
    `select * from card_payment where status = 'pending' order by number desc limit 50`,
    `select * from payout where status = 'pending' order by number desc limit 50`,
  ];
}

test('What came since the oldest release goes forward beside clients that work by its schema', async () => {
  const databaseUrl = await createPostgresDatabase('template1');
  const database = await openPostgres({ databaseUrl, clock, log: silent });
  for (const name of names) {
    await migrate(database, undefined, name);
    if (DATA[name]) await database.sql.executeQuery(CompiledQuery.raw(DATA[name]));
  }
  const connections = await Promise.all(
    [1, 2, 3].map(async () => {
      const connection = new pg.Client({ connectionString: databaseUrl });
      await connection.connect();
      onTestFinished(() => connection.end());
      // A client that waits longer gives up.
      await connection.query("set lock_timeout = '5s'");
      return connection;
    }),
  );
  const load = startLoad(connections.length, async (client, round) => {
    for (const statement of releasedStatements(client, round)) await connections[client]!.query(statement);
  });

  await load.more(SOME);
  const applied: string[] = [];
  for (const name of present.slice(names.length)) {
    applied.push(...(await migrate(database, undefined, name)));
    if (DATA[name]) await database.sql.executeQuery(CompiledQuery.raw(DATA[name]));
    await load.more(SOME / 4);
  }
  await load.stop();
  expect(applied).toEqual(present.slice(names.length));
  const counts = Object.entries(await rowsOf(database));
  expect(
    counts.filter(([, count]) => count === 0).map(([table]) => table),
    'tables without a row: give each one in test/state/db/upgrade-rows.ts, at the migration that makes it',
  ).toEqual([]);
  // Its events are from before there was a retention.
  expect((await sql`select keeps_all from database_mode`.execute(database.sql)).rows).toEqual([
    { keeps_all: true },
  ]);
  // An older account has opted into no events.
  const endpoints = await sql`select url, optional_events from webhook_endpoint`.execute(database.sql);
  expect(endpoints.rows).toEqual([{ url: null, optional_events: [] }]);

  const app = await startApp({ database, environment: { PSA_DEMO: 'false' } });
  onTestFinished(() => app.close());
  await app.work.settled();
  expect(await pay(app, 'new')).toBe('paid');
  expect(await payByPix(app, 'new:pix')).toBe('paid');
  expect(await app.live.request(READ)).toEqual(AS_READ);
  expect(await violations(database, app.clock.now())).toEqual([]);
  expect(app.faults).toEqual([]);
});

/** Reads every resource of the rows through today's server. */
const READ = `{
  cardPayment(orderCode: "PSC-PPPPPPPPPPPPPPPPPPPPPAID") { status refundedCents refunds { refundId } disputes { disputeId status } }
  subaccount(subaccountId: "${ROWS.subaccount}") { balanceCents }
  subaccountPayout(subaccountId: "${ROWS.subaccount}", reference: "${ROWS.subaccountPayout}") { status }
  payout(withdrawalId: "${ROWS.payouts[1]}") { status }
  pending: payment(paymentId: "${ROWS.pendingPayment}") { status pix { copyPaste } }
  paid: payment(paymentId: "${ROWS.paidPayment}") {
    status refundedCents refundableCents refunds { refundId } disputes { disputeId status }
    delivered { kind content }
  }
  ltc: payment(paymentId: "${ROWS.ltcPayment}") { status method ltc { address receivedLtc } }
  charge(chargeId: "${ROWS.charge}") { status }
  split: charge(chargeId: "${ROWS.splitCharge}") { status splits { amountCents subaccount { subaccountId } } }
  deliveries(first: 5) { totalCount nodes { deliveryId kind deliveredCount remainingCount } }
  storeProduct(storeProductId: "${ROWS.storeProduct}") { priceCents }
  subscription(subscriptionId: "${ROWS.subscription}") { status cycles(first: 5) { nodes { number status attempts } } }
  refunds(first: 5) { totalCount }
  disputes(first: 5) { totalCount }
  subscriptions(first: 5) { totalCount }
}`;
const AS_READ = {
  cardPayment: {
    status: 'PAID',
    refundedCents: 990,
    refunds: [{ refundId: ROWS.cardRefund }],
    // The time for evidence had ended when the server started.
    disputes: [{ disputeId: ROWS.cardDispute, status: 'UNDER_REVIEW' }],
  },
  subaccount: { balanceCents: 16_000 },
  subaccountPayout: { status: 'COMPLETED' },
  payout: { status: 'COMPLETED' },
  pending: { status: 'PENDING', pix: { copyPaste: '00020126' } },
  paid: {
    status: 'PAID',
    refundedCents: 990,
    refundableCents: 3000,
    refunds: [{ refundId: ROWS.paymentRefund }],
    disputes: [{ disputeId: ROWS.paymentDispute, status: 'OPEN' }],
    delivered: [
      { kind: 'TEXT', content: 'Obrigado' },
      { kind: 'CODES', content: 'AAA' },
    ],
  },
  ltc: { status: 'PAID', method: 'LTC', ltc: { address: 'ltc1old', receivedLtc: '0.01000000' } },
  charge: { status: 'PENDING' },
  split: {
    status: 'PAID',
    splits: [{ amountCents: 1000, subaccount: { subaccountId: ROWS.subaccount } }],
  },
  deliveries: {
    totalCount: 2,
    nodes: [
      { deliveryId: ROWS.codes, kind: 'CODES', deliveredCount: 1, remainingCount: 1 },
      { deliveryId: ROWS.text, kind: 'TEXT', deliveredCount: 1, remainingCount: null },
    ],
  },
  storeProduct: { priceCents: 123_456 },
  subscription: {
    status: 'PAST_DUE',
    cycles: {
      nodes: [
        { number: 2, status: 'RETRYING', attempts: 1 },
        { number: 1, status: 'PAID', attempts: 1 },
      ],
    },
  },
  refunds: { totalCount: 2 },
  disputes: { totalCount: 2 },
  subscriptions: { totalCount: 1 },
};

// ── With the version before at work ─────────────────────────────────────────────────────────────

/** The migrations of a next version: the first expands, the second fills and indexes, and the last contracts. */
const NEXT = {
  expand: {
    '9001_note.sql': 'alter table card_payment add column note text',
    '9002_note_online.sql': `do $$ begin
  loop
    update card_payment set note = 'from before'
    where order_code in (select order_code from card_payment where note is null limit 10);
    exit when not found;
    commit;
  end loop;
end $$;
-- next
drop index if exists card_payment_by_note;
-- next
create index concurrently card_payment_by_note on card_payment (account_id, environment, note);`,
  },
  contract: { '9003_no_note_needs_9002.sql': 'alter table card_payment drop column note' },
};
const EXPANDED = ['9001_note', '9002_note_online'];

function versionWith(...files: Record<string, string>[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'psa-next-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(MIGRATIONS, folder, { recursive: true });
  for (const [file, text] of Object.entries(Object.assign({}, ...files)))
    writeFileSync(join(folder, file), text as string);
  return folder;
}

/** The number of payments between two steps: clients pay as fast as they are answered. */
const SOME = runsAll() ? 32 : 8;

const startPaying = (app: TestApp, name: string) =>
  startLoad(4, async (client, round) => {
    const kind = await pay(app, `${name}:${client}:${round}`);
    if (kind !== 'paid') throw new Error(kind);
  });

test('A database migrates under a server of the version before, serves both versions, and then the new one', async () => {
  const databaseUrl = await createPostgresDatabase('template1');
  const open = (knows: number) => openPostgres({ databaseUrl, clock, log: silent, knownMigration: knows });
  const newest = Number(present.at(-1)!.slice(0, 4));
  const before = versionWith();
  const expanding = versionWith(NEXT.expand);
  const contracting = versionWith(NEXT.expand, NEXT.contract);
  const environment = { PSA_DEMO: 'false', PSA_GRAPHQL_LIMIT: '1000000' };
  const startOld = async () => startApp({ database: await open(newest), migrations: before, environment });
  const startNew = async (migrations: string, knows: number) =>
    startApp({ database: await open(knows), migrations, environment });

  const old = await startOld();
  const load = startPaying(old, 'old');
  await load.more(SOME);

  // A reader holds a table for longer than any lock timeout: a backup, say. The new server tries again and again, and
  // all others go on.
  const reader = new pg.Client({ connectionString: databaseUrl });
  await reader.connect();
  onTestFinished(() => reader.end());
  await reader.query('begin');
  await reader.query('select from card_payment limit 1');
  const starting = startNew(expanding, 9002);
  const watcher = await open(newest);
  onTestFinished(() => watcher.close());
  for (let turned = 0; turned < 2; ) {
    await load.more(SOME / 4);
    turned += (await waitsForCardPayments(watcher)) ? 1 : 0;
  }
  await load.more(SOME);
  expect(await appliedMigrations(watcher.sql)).toEqual(present);
  await reader.query('rollback');
  const next = await starting;
  expect(await appliedMigrations(watcher.sql)).toEqual([...present, ...EXPANDED]);
  expect(await describeSchema(watcher)).toEqual(
    expect.arrayContaining([
      'column card_payment.note text',
      'CREATE INDEX card_payment_by_note ON public.card_payment USING btree (account_id, environment, note)',
    ]),
  );

  // Both servers run at once, each continuing the other's work; and the old one starts again.
  const nextLoad = startPaying(next, 'new');
  await Promise.all([load.more(SOME), nextLoad.more(SOME)]);
  const paidByOld = await load.stop();
  expect(old.faults).toEqual([]);
  await old.close();
  const oldAgain = await startOld();
  expect(await pay(oldAgain, 'again')).toBe('paid');
  await nextLoad.more(10);

  // While the old server runs, nothing that it needs is removed. After the contraction it does not start.
  const early = open(9003);
  onTestFinished(async () => (await early).close());
  const contracted = migrate(await early, contracting);
  await expect(contracted).rejects.toThrow(MigrationError);
  await expect(contracted).rejects.toThrow('takes away what a running server of an older version works on');
  expect(await pay(oldAgain, 'still')).toBe('paid');
  await oldAgain.close();
  expect(await migrate(await early, contracting)).toEqual(['9003_no_note_needs_9002']);
  await expect(startOld()).rejects.toThrow('start the newer one');
  // The version that needs the column is at work all the while.
  await nextLoad.more(10);
  const paidByNew = await nextLoad.stop();

  const { rows } = await sql`select count(*) from card_payment where status = 'paid'`.execute(watcher.sql);
  expect(rows).toEqual([{ count: paidByOld + paidByNew + 2 }]);
  expect(await violations(watcher, next.clock.now())).toEqual([]);
  expect([...oldAgain.faults, ...next.faults]).toEqual([]);
  await next.close();
});

/** Whether a migration waits at this moment to change the table. */
async function waitsForCardPayments({ sql: db }: Database): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks where relation = 'card_payment'::regclass and mode = 'AccessExclusiveLock' and not granted`.execute(
    db,
  );
  return rows.length > 0;
}

if (runsAll())
  test('A database in a folder migrates, and the version before starts on it again', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'psa-forward-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
    const [before, next] = [versionWith(), versionWith(NEXT.expand)];
    const play = async (name: string, migrations: string, database: Database) => {
      const app = await startApp({ database, migrations, environment: { PSA_DEMO: 'false' } });
      expect(await pay(app, name)).toBe('paid');
      expect(await violations(database, app.clock.now())).toEqual([]);
      expect(app.faults).toEqual([]);
      await app.close();
    };
    let database = await openOlderPglite(dataDir);
    await play('before', before, database);
    database = await openOlderPglite(dataDir);
    await play('next', next, database);
    expect(await appliedAgain()).toEqual([...present, ...EXPANDED]);

    /** A payment by the previous version, on the current database. */
    async function appliedAgain(): Promise<string[]> {
      const again = await openOlderPglite(dataDir);
      let applied: string[] = [];
      await play('again', before, {
        ...again,
        async close() {
          applied = await appliedMigrations(again.sql);
          await again.close();
        },
      });
      return applied;
    }
  });
