import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase, inThisRun } from '../support/database.ts';
import { createClient } from '../support/graphql.ts';
import { startReceiver } from '../support/receiver.ts';
import { scale } from '../support/scale.ts';
import { type Audit, audit } from './audit.ts';
import { type ChildServer, type Moment, ServerDied, spawnServer } from './child.ts';
import { createCustomers } from './customers.ts';
import { CONFIGURE, OPTED_INTO } from './documents.ts';
import { complaintsOfPosted, refusingSomeOnce } from './ledger-check.ts';
import { createLoad, type Requester } from './load.ts';
import { createLtcPayers } from './ltc-payers.ts';
import { createWithdrawers } from './payout-clients.ts';
import { createPixPayers } from './pix-payers.ts';
import { chosenSeed, createRandom, type Random } from './random.ts';
import { createRecurringPayers, DAYS_OF_TWO_CYCLES } from './recurring-payers.ts';

const KILLS = scale('KILLS');
const CLIENTS = 8;
const LIVE_KEY = 'ps_live_killed0123456789';
/** Accounts beside the first. Their commands share transactions with those of the others. */
const OTHER_KEYS = Object.fromEntries(
  Array.from({ length: 3 }, (_, n) => [`acc_killed_${n}`, `ps_live_killed${n}0123456789`]),
);
const REQUESTERS: readonly Requester[] = [
  { key: LIVE_KEY },
  ...Object.entries(OTHER_KEYS).map(([account, key]) => ({ key, account })),
];
/** The time between two processes: leases have ended, and open work is looked up. */
const BETWEEN_LIVES_MS = 45_000;
/** The number of processes after which an hour has passed, so that payouts are possible again. */
const LIVES_IN_AN_HOUR = 16;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const aheadInLife = (life: number) => life * BETWEEN_LIVES_MS + Math.floor(life / LIVES_IN_AN_HOUR) * HOUR_MS;
/** The final instants: late enough for everything to be decided, confirmed, returned, expired, released and reported. */
const LATER_MS = [
  ...[60_000, 15 * 60_000, HOUR_MS, 6 * HOUR_MS],
  ...Array<number>(DAYS_OF_TWO_CYCLES).fill(DAY_MS),
  ...[20 * DAY_MS, 60_000, HOUR_MS],
];
/** The money that can be paid out. */
const OPENING = { name: 'opening', cents: 1_000_000_000, litoshi: 100_000_000_000 };

const engines = {
  async PGlite() {
    const folder = mkdtempSync(join(tmpdir(), 'psa-killed-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return { PSA_DATA_DIR: folder };
  },
  // The database is empty: the first processes die while they create the tables.
  PostgreSQL: async () => ({ DATABASE_URL: await createPostgresDatabase('template1') }),
};

test.each(inThisRun(engines))(
  `A server on %s that is killed ${KILLS} times loses nothing that was acknowledged and does nothing twice`,
  { timeout: 600_000 + KILLS * 15_000 },
  async (engine, prepare) => {
    const environment = {
      ...(await prepare()),
      PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      PSA_GRAPHQL_LIMIT: '1000000',
    };
    const seed = chosenSeed();
    const random = createRandom(seed);
    const customers = createCustomers(random);
    const withdrawers = createWithdrawers(random);
    const pixPayers = createPixPayers(random);
    const ltcPayers = createLtcPayers(random);
    const recurringPayers = createRecurringPayers(random);
    const load = createLoad(REQUESTERS, () =>
      random.pick([
        () => customers.newOrder(),
        () => customers.newOrder(),
        () => pixPayers.newSale(),
        () => ltcPayers.newDeal(),
        () => recurringPayers.newContract(),
        () => withdrawers.newWithdrawal(),
        () => withdrawers.newClient(),
      ])(),
    );
    const receiver = await startReceiver(refusingSomeOnce());
    const deaths: string[] = [];
    let audits = 0;
    let next = spawnServer();
    onTestFinished(() => next.kill());

    async function begin(
      life: number,
      { dieAt = null }: { dieAt?: Moment | null } = {},
    ): Promise<{ server: ChildServer; url: string }> {
      const server = next;
      next = spawnServer();
      const clockAheadMs = aheadInLife(life);
      const { url } = await server.ask('start', {
        ...{ environment, clockAheadMs, dieAt, brief: true },
        otherKeys: OTHER_KEYS,
      });
      // The server answers within a second; on a busy machine its first answer may be that the database is not there.
      await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(200);
      for (const { key, account } of REQUESTERS) {
        const input = { url: receiver.url, optionalEvents: OPTED_INTO };
        await createClient(`${url}/graphql`, key).request(CONFIGURE, { input });
        await server.ask('credit', OPENING, account);
      }
      await server.ask('settle', null);
      await look(server, { clockAheadMs, final: false });
      return { server, url };
    }

    async function look(
      server: ChildServer,
      { clockAheadMs, final }: { clockAheadMs: number; final: boolean },
    ): Promise<Audit> {
      const books = await audit(server, new Date(Date.now() + clockAheadMs));
      const { violations, payments } = books;
      const complaints = [
        ...load.keysOfOthers(await usedKeys(server)),
        ...customers.complaints(payments, { final }),
        ...pixPayers.complaints(books, { final }),
        ...ltcPayers.complaints(books, { final }),
        ...recurringPayers.complaints(books, { final }),
        ...withdrawers.complaints(books, { final }),
      ];
      expect({ violations, complaints, faults: server.faults }, `PSA_FAULTS_SEED=${seed}`).toEqual({
        violations: [],
        complaints: [],
        faults: [],
      });
      audits += 1;
      return books;
    }

    for (let life = 0; life < KILLS; life++) {
      const plan = planDeath(random, life);
      const server = next;
      try {
        const { url } = await begin(life, { dieAt: plan.at === 'start' ? plan.moment : null });
        if (plan.at === 'statement') await server.ask('dieAt', plan.moment);
        // PostgreSQL makes checkpoints at its own times, PGlite once a minute.
        const checkpoint = random.below(4) === 0 ? server.ask('checkpoint', null).catch(() => null) : null;
        let answers = 0;
        await load.run(server, url, CLIENTS, () => {
          answers += 1;
          if (plan.at === 'answer' && answers === plan.answer) afterTurns(plan.turns, server.kill);
        });
        await checkpoint;
      } catch (error) {
        if (!(error instanceof ServerDied) && !(error instanceof TypeError)) throw error;
      }
      const { signal, statement } = await server.death;
      expect(signal, `life ${life}, PSA_FAULTS_SEED=${seed}`).toBe('SIGKILL');
      deaths.push(plan.at === 'answer' ? 'from outside' : whichStatement(statement));
    }

    const last = await begin(KILLS);
    await load.finish(last.server, last.url, CLIENTS);
    await last.server.ask('settle', null);
    last.server.kill();
    await last.server.death;
    const after = await begin(KILLS + 1);
    for (const ms of LATER_MS) await after.server.ask('pass', { ms });
    const clockAheadMs = LATER_MS.reduce((sum, ms) => sum + ms, aheadInLife(KILLS + 1));
    await look(after.server, { clockAheadMs, final: true });
    const { complaints, sent } = await complaintsOfPosted(after.server, receiver.received);
    expect(complaints, `PSA_FAULTS_SEED=${seed}`).toEqual([]);
    after.server.kill();

    const { orders, refunds } = customers.tally();
    const { withdrawals, clients, clientPayouts } = withdrawers.tally();
    const { sales } = pixPayers.tally();
    const deals = ltcPayers.tally();
    const contracts = recurringPayers.tally();
    const done = [orders, sales, deals, contracts, withdrawals, clients, clientPayouts];
    // Each payout has a webhook, unless all processes with one died early.
    if (withdrawals + clientPayouts > 0) expect(sent, `PSA_FAULTS_SEED=${seed}`).toBeGreaterThan(0);
    if (KILLS >= 50) for (const many of done) expect(many).toBeGreaterThan(KILLS / 4);
    expect(
      done.reduce((sum, many) => sum + many),
      `PSA_FAULTS_SEED=${seed}`,
    ).toBeGreaterThan(0);
    process.stdout.write(
      `${engine}: killed ${deaths.length} times, audited ${audits} times; ${load.acknowledged()} answers: ` +
        `${orders} card payments, ${refunds} refunds, ${sales} PIX payments, ${deals} by LTC, ${contracts} subscriptions, ${withdrawals} payouts, ${clients} subaccounts with ${clientPayouts} payouts; ` +
        `${sent} webhooks in ${receiver.received.length} requests; PSA_FAULTS_SEED=${seed}\n  it died at: ${counted(deaths)}\n`,
    );
  },
);

/** The keys of requests, with the account that has used each; that of the first is undefined. */
async function usedKeys(server: ChildServer) {
  const [rows] = await server.ask('query', [
    `select key, account_id from idempotency where operation not in ('credit', 'creditLtc')`,
  ]);
  return (rows as { key: string; account_id: string }[]).map(({ key, account_id: account }) => ({
    key,
    account: account in OTHER_KEYS ? account : undefined,
  }));
}

type Death = { at: 'start' | 'statement'; moment: Moment } | { at: 'answer'; answer: number; turns: number };

/**
 * Draws a death. Some come during the start (the first three while the tables are created), most in the middle of a
 * transaction.
 */
function planDeath(random: Random, life: number): Death {
  const turns = random.pick([0, 0, 1 + random.below(10), random.below(100), random.below(1_000)]);
  const kind = life < 3 ? 0 : random.below(20);
  if (kind < 3) return { at: 'start', moment: { statement: 1 + random.below(30), commits: false, turns } };
  if (kind < 11)
    return { at: 'statement', moment: { statement: 1 + random.below(250), commits: false, turns } };
  if (kind < 16)
    return { at: 'statement', moment: { statement: 1 + random.below(12), commits: true, turns } };
  return { at: 'answer', answer: 1 + random.below(30), turns };
}

function afterTurns(turns: number, then: () => void): void {
  if (turns <= 0) then();
  else setImmediate(afterTurns, turns - 1, then);
}

/** Names a statement: `commit`, `insert into event`, `select from card_payment`. */
function whichStatement(statement: string | null): string {
  const [, verb = '?', table] =
    /^\s*(?:\/\* \w+ \*\/)?\s*(\w+)(?:.*?(?:from|into|update)\s+"?(\w+))?/is.exec(statement ?? '') ?? [];
  return table ? `${verb} ${table}` : verb;
}

function counted(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([name, count]) => `${count} × ${name}`)
    .join(', ');
}
