import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CompiledQuery, sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { createSystemClock } from '../../../server/src/kernel/clock.ts';
import { hashSecret } from '../../../server/src/kernel/ids.ts';
import { migrate } from '../../../server/src/state/db/migrate.ts';
import { openPostgres } from '../../../server/src/state/db/postgres.ts';
import { LIVE_KEY, startApp, TEST_KEY } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { createPostgresDatabase } from '../../support/database.ts';
import { silent } from '../../support/templates.ts';
import { violations } from './books.ts';
import { startLoad } from './load.ts';
import { MIGRATIONS, type Release, readReleases } from './schema.ts';
import { ACCOUNT, AT, DATA } from './upgrade-rows.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const nameOf = (file: string) => file.slice(0, -'.sql'.length);

// ── The server of a released version ────────────────────────────────────────────────────────────

/** Writes a released server's sources into a folder, beside today's dependencies. */
function checkOut({ commit }: Release): string {
  const folder = mkdtempSync(join(tmpdir(), 'psa-released-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  let sources: Buffer;
  try {
    sources = execFileSync('git', ['archive', commit, 'server', 'package.json'], {
      cwd: root,
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch {
    throw new Error(`This needs the commit ${commit}: git fetch --unshallow`);
  }
  writeFileSync(join(folder, 'released.tar'), sources);
  execFileSync('tar', ['-xf', 'released.tar'], { cwd: folder });
  for (const modules of ['node_modules', 'server/node_modules']) {
    mkdirSync(join(folder, modules, '..'), { recursive: true });
    symlinkSync(join(root, modules), join(folder, modules), 'dir');
  }
  return folder;
}

/** The settings of all servers: no limit is reached, because each request comes from an address of its own. */
const SHARED = { PSA_GRAPHQL_LIMIT: '1000000', PSA_TRUSTED_PROXIES: '127.0.0.1' };
let requests = 0;
const from = () => ({ 'x-forwarded-for': `203.0.${++requests >> 8}.${requests & 255}` });

interface ReleasedServer {
  url: string;
  /** Stops the server and returns the faults in its log. */
  stop(): Promise<string[]>;
}

async function startReleased(folder: string, databaseUrl: string): Promise<ReleasedServer> {
  const main = existsSync(join(folder, 'server/src/main.ts')) ? 'src/main.ts' : 'src/programs/main.ts';
  const child = spawn(process.execPath, ['--import', 'tsx', main], {
    cwd: join(folder, 'server'),
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: databaseUrl,
      PORT: '0',
      PSA_DEMO: 'off',
      ...SHARED,
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const exited = once(child, 'close');
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const found = /PSA is running at ([^\s,]+)/.exec(output)?.[1];
      if (found && output.includes('Ctrl-C')) resolve(found);
    });
    void exited.then(() => reject(new Error(`The released server has ended: ${output}${log}`)));
  });
  return {
    url,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      const faults = `${output}${log}`.split('\n').filter((line) => /"level":"(?:error|fatal)"/.test(line));
      // The released server claims tasks of unknown kinds, and postpones them. Today's server leaves them alone.
      return faults.filter((line) => !line.includes('"message":"no handler for tasks of kind '));
    },
  };
}

// ── Requests that both versions serve ───────────────────────────────────────────────────────────

type Reply = { data: Record<string, never>; errors?: unknown };

async function ask(url: string, key: string, query: string, variables: object = {}): Promise<Reply['data']> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...from(), authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as Reply;
  if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`);
  const failed = Object.values(data ?? {}).find((value) => (value as { message?: string })?.message);
  if (failed) throw new Error(`${query}: ${JSON.stringify(failed)}`);
  return data;
}

const CREATE = `mutation ($key: String) {
  done: createCardPayment(input: { valueCents: 4990, idempotencyKey: $key }) {
    ... on CardPaymentSuccess { cardPayment { orderCode checkoutUrl } } ... on UserError { message }
  }
}`;
const MONEY = `mutation ($name: String!) {
  funded: createTestPayment(input: { valueCents: 2000 }) { ... on UserError { message } }
  made: createSubaccount(input: { name: $name, externalId: $name }) {
    ... on SubaccountSuccess { subaccount { subaccountId } } ... on UserError { message }
  }
}`;
const MOVE = `mutation ($subaccountId: String!, $key: String) {
  moved: transferToSubaccount(input: { subaccountId: $subaccountId, amountCents: 100, idempotencyKey: $key }) {
    ... on UserError { message }
  }
}`;
const PAY_OUT = `mutation ($key: String) {
  paidOut: requestPayout(input: { method: PIX, amountCents: 1000, destination: "ana@psa.example", idempotencyKey: $key }) {
    ... on PayoutSuccess { payout { withdrawalId } } ... on UserError { message }
  }
}`;
const CATALOGUE = `mutation ($name: String!) {
  added: createProduct(input: { name: $name, priceCents: 990 }) {
    ... on ProductSuccess { product { productId } } ... on UserError { message }
  }
}`;
const READ = `query ($orderCode: String!) {
  wallet { withdrawableCents }
  cardPayment(orderCode: $orderCode) { status version }
  cardPayments(first: 50) { totalCount nodes { orderCode status } }
  payouts(first: 50) { nodes { withdrawalId status method destination } }
  subaccounts(first: 50) { nodes { subaccountId balanceCents } }
  products(first: 50) { nodes { productId name } }
}`;

/** Creates a card payment and pays it, and waits until it is PAID. */
async function sell(url: string, key: string): Promise<void> {
  const { done } = (await ask(url, LIVE_KEY, CREATE, { key })) as never as {
    done: { cardPayment: { orderCode: string; checkoutUrl: string } };
  };
  const { orderCode } = done.cardPayment;
  const expiry = `12/${(new Date().getFullYear() + 3) % 100}`;
  const form = { attempt: '0', number: '4242424242424242', holder: 'ANA SOUZA', expiry, cvv: '123' };
  const sent = await fetch(`${url}/checkout/${orderCode}`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers: from(),
    redirect: 'manual',
  });
  expect([sent.status, key]).toEqual([303, key]);
  const { cardPayment } = (await ask(url, LIVE_KEY, READ, { orderCode })) as never as {
    cardPayment: { status: string };
  };
  expect([cardPayment.status, key]).toEqual(['PAID', key]);
}

/** One round of a merchant's work, in both environments and through both interfaces. */
async function work(url: string, name: string, round = 0): Promise<void> {
  await sell(url, name);
  const { made } = (await ask(url, TEST_KEY, MONEY, { name })) as never as {
    made: { subaccount: { subaccountId: string } };
  };
  await ask(url, TEST_KEY, MOVE, { subaccountId: made.subaccount.subaccountId, key: name });
  await ask(url, TEST_KEY, CATALOGUE, { name });
  // Later rounds leave this out: `/v1` has a limit of requests a minute.
  for (const path of round < 4 ? ['wallet', 'products', 'subaccounts', 'payouts', 'card-payments'] : []) {
    const response = await fetch(`${url}/v1/${path}`, {
      headers: { ...from(), authorization: `Bearer ${LIVE_KEY}` },
    });
    expect([path, response.status]).toEqual([path, 200]);
  }
}

// ── The test ────────────────────────────────────────────────────────────────────────────────────

test.each(readReleases())(
  'Newer migrations are applied while the server of $version is under load, and both versions serve',
  async (release) => {
    const releasedNames = Object.keys(release.migrations).map(nameOf);
    const newerNames = readdirSync(MIGRATIONS).sort().map(nameOf).slice(releasedNames.length);
    const databaseUrl = await createPostgresDatabase('template1');
    const database = await openPostgres({ databaseUrl, clock: createSystemClock(), log: silent });
    const run = (text: string) => database.sql.executeQuery(CompiledQuery.raw(text));
    for (const name of releasedNames) {
      await migrate(database, undefined, name);
      if (DATA[name]) await run(DATA[name]);
    }
    await run(`
    insert into stream (account_id, environment, version) values ('${ACCOUNT}', 'sandbox', 0);
    insert into api_key (id, account_id, environment, secret_hash, permissions, created_at)
      values ('key_2', '${ACCOUNT}', 'sandbox', '${hashSecret(TEST_KEY)}', '{}', ${AT})`);

    const folder = checkOut(release);
    const old = await startReleased(folder, databaseUrl);
    const load = startLoad(2, (client, round) => work(old.url, `old-${client}-${round}`, round));
    await load.more(4);
    await ask(old.url, TEST_KEY, PAY_OUT, { key: 'old' });
    const applied: string[] = [];
    for (const next of newerNames) {
      applied.push(...(await migrate(database, undefined, next)));
      // The step inserts new values of enums, and the first rows of new tables.
      if (DATA[next]) await run(DATA[next]);
      await load.more(1);
    }
    expect(applied).toEqual(newerNames);

    // Both servers run at once, and read what the other writes.
    const app = await startApp({
      database,
      clock: createManualClock(new Date()),
      environment: { PSA_DEMO: 'false', ...SHARED },
    });
    onTestFinished(() => app.close());
    const newLoad = startLoad(2, async (client, round) => {
      // Both servers have one time: a task of one is not late at the other.
      app.clock.advance(Math.max(0, Date.now() - app.clock.ms()));
      await work(app.url, `new-${client}-${round}`, round);
    });
    await Promise.all([load.more(4), newLoad.more(4)]);
    const rounds = await load.stop();
    expect(await old.stop()).toEqual([]);

    // The deployment is rolled back: the released version starts on the newer database.
    const again = await startReleased(folder, databaseUrl);
    await work(again.url, 'again');
    await newLoad.more(2);
    expect(await again.stop()).toEqual([]);

    const newRounds = await newLoad.stop();
    await app.work.settled();
    const { rows } = await sql`
    select count(*) from card_payment where status = 'paid' and paid_at > ${sql.raw(AT)}`.execute(
      database.sql,
    );
    // The restarted released server sold one of these.
    expect(rows).toEqual([{ count: rounds + newRounds + 1 }]);
    expect(await violations(database, app.clock.now())).toEqual([]);
    expect(app.faults).toEqual([]);
  },
);
