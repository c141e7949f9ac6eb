import { spawnSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase } from '../support/database.ts';
import { startFaultyNetwork } from '../support/faulty-network.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { startPostgres } from '../support/postgres.ts';
import { runProgram } from '../support/program.ts';
import { scale } from '../support/scale.ts';

const LIVE_KEY = 'ps_live_outage0123456789';
const CLIENTS = 4;
/** The time for which the database is away: far longer than the server's deadlines. */
const AWAY_MS = scale('OUTAGE_MS');
/** The time after its return within which all work goes on. */
const BACK_WITHIN_MS = 5_000;
/** The deadline of `/readyz`, including the scheduling of the two processes. */
const READY_WITHIN_MS = 1_000;
/** The pause between two requests of one client. */
const BETWEEN_MS = 100;
const OPENING_CENTS = 1_000_000_000;
const PAYOUT_CENTS = 1_000;

/** A way in which a database disappears without closing its connections. */
interface Outage {
  readonly databaseUrl: string;
  begin(): void;
  end(): void;
}

const outages: Record<string, () => Promise<Outage>> = {
  async 'a proxy that keeps connections and answers nothing'() {
    const network = await startFaultyNetwork(await createPostgresDatabase());
    onTestFinished(() => network.close());
    return {
      databaseUrl: network.url,
      begin() {
        network.swallows = true;
        network.silence();
      },
      end() {
        network.swallows = false;
      },
    };
  },
  async 'a PostgreSQL that is stopped'() {
    const { url, stop } = await startPostgres();
    onTestFinished(stop);
    const backend = await backendOf(url);
    let stopped: number[] = [];
    const end = () => {
      for (const process of stopped) signal(process, 'SIGCONT');
      stopped = [];
    };
    onTestFinished(end);
    return {
      databaseUrl: url,
      begin() {
        const main = parentOf(backend);
        stopped = [main, ...childrenOf(main)];
        for (const process of stopped) signal(process, 'SIGSTOP');
      },
      end,
    };
  },
  ...(mayDropPackets() && {
    async 'a firewall that drops all packets'() {
      const { url, stop } = await startPostgres();
      onTestFinished(stop);
      const { port } = new URL(url);
      let isUp = false;
      const rules = (change: '-I' | '-D') => {
        for (const side of ['--dport', '--sport'])
          iptables([change, 'INPUT', '-i', 'lo', '-p', 'tcp', side, port, '-j', 'DROP']);
        isUp = change === '-I';
      };
      const end = () => {
        if (isUp) rules('-D');
      };
      onTestFinished(end);
      return { databaseUrl: url, begin: () => rules('-I'), end };
    },
  }),
};

test.each(Object.entries(outages))(
  `%s for ${AWAY_MS / 1_000} s loses and repeats no payout, is reported at once, and is over within 5 s of its end`,
  { timeout: 120_000 + 2 * AWAY_MS },
  async (name, prepare) => {
    const outage = await prepare();
    const environment = {
      DATABASE_URL: outage.databaseUrl,
      NODE_ENV: 'production',
      PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
      PSA_GRAPHQL_LIMIT: '1000000',
    };
    const first = await start(environment);
    const { live, url } = first;
    const subaccountId = await fund(live, url);
    const payouts: Payout[] = [];
    let isOver = false;
    const clients = Promise.all(
      Array.from({ length: CLIENTS }, (_, client) =>
        payOutUntil(() => isOver, { live, subaccountId, client, payouts }),
      ),
    );
    // The test reports its first failure; this one may follow it.
    clients.catch(() => undefined);
    const acknowledged = () => payouts.filter(({ payoutId }) => payoutId !== null).length;
    const refused = () => payouts.reduce((sum, { refusals }) => sum + refusals, 0);
    await expect.poll(acknowledged).toBeGreaterThanOrEqual(5 * CLIENTS);

    outage.begin();
    await expect.poll(() => ready(url)).toBe(503);
    const away = pause(AWAY_MS);
    await expect.poll(refused).toBeGreaterThanOrEqual(CLIENTS);
    // `/metrics` never waits for the database.
    const figures = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(READY_WITHIN_MS) });
    expect(await figures.text()).toContain('route="/graphql",status="503"');
    expect(await ready(url)).toBe(503);
    await away;
    outage.end();
    const endedAt = performance.now();
    const before = acknowledged();
    await expect
      .poll(() => acknowledged(), { timeout: BACK_WITHIN_MS, interval: 20 })
      .toBeGreaterThanOrEqual(before + CLIENTS);
    const backMs = performance.now() - endedAt;
    expect(await ready(url)).toBe(200);
    isOver = true;
    await clients;
    // Due work goes on: payouts requested before, during and after the outage arrive.
    await expect.poll(async () => (await books(live, subaccountId)).underWay).toBe(0);

    outage.begin();
    await expect.poll(() => ready(url)).toBe(503);
    const stopAt = performance.now();
    first.program.child.kill('SIGTERM');
    expect(await first.program.exited).toBe(0);
    const stopMs = performance.now() - stopAt;
    outage.end();
    const said = first.program.output.stderr.split('\n');
    // An outage of the database is not logged as an internal fault.
    expect(said.filter((line) => /"level":"(?:error|fatal)"/.test(line))).toEqual([]);

    const second = await start(environment);
    for (const { key, payoutId } of payouts) {
      const again = await payOut(second.live, { subaccountId, key });
      expect(again).toEqual({ payoutId, replayed: true });
    }
    const { balanceCents, made } = await books(second.live, subaccountId);
    expect(made).toBe(payouts.length);
    expect(balanceCents).toBe(OPENING_CENTS - payouts.length * PAYOUT_CENTS);
    second.program.child.kill('SIGTERM');
    expect(await second.program.exited).toBe(0);
    process.stdout.write(
      `${name}: ${payouts.length} payouts, each once, ${refused()} requests refused meanwhile; ` +
        `back after ${Math.round(backMs)} ms; stopped during another in ${Math.round(stopMs)} ms\n`,
    );
  },
);

interface Payout {
  readonly key: string;
  payoutId: string | null;
  refusals: number;
}

async function start(environment: Record<string, string>) {
  const program = runProgram(environment, 'built');
  onTestFinished(() => void program.child.kill('SIGKILL'));
  const url = await program.started;
  return { program, url, live: createClient(`${url}/graphql`, LIVE_KEY) };
}

async function ready(url: string): Promise<number> {
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(READY_WITHIN_MS) });
  return answer.status;
}

/** Creates a subaccount with money. */
async function fund(live: GraphQLClient, url: string): Promise<string> {
  const credited = await fetch(`${url}/simulator/credit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-psa-action': '1' },
    body: JSON.stringify({ amountCents: OPENING_CENTS }),
  });
  expect(credited.status).toBe(200);
  const { done } = await live.request(OPEN, { input: { name: 'Bia', externalId: 'bia' } });
  const { subaccountId } = done.subaccount;
  const input = { subaccountId, amountCents: OPENING_CENTS, idempotencyKey: 'opening' };
  await live.request(GIVE, { input });
  return subaccountId;
}

/** Requests one payout after the other, each repeated under its key until it is acknowledged. */
async function payOutUntil(
  isOver: () => boolean,
  {
    live,
    subaccountId,
    client,
    payouts,
  }: { live: GraphQLClient; subaccountId: string; client: number; payouts: Payout[] },
): Promise<void> {
  for (let n = 0; !isOver(); n += 1) {
    const payout: Payout = { key: `${client}:${n}`, payoutId: null, refusals: 0 };
    payouts.push(payout);
    while (payout.payoutId === null) {
      const answer = await payOut(live, { subaccountId, key: payout.key });
      if (answer) payout.payoutId = answer.payoutId;
      else payout.refusals += 1;
      await pause(BETWEEN_MS);
    }
  }
}

/** Requests a payout. Null if it was refused because of the outage. */
async function payOut(
  live: GraphQLClient,
  { subaccountId, key }: { subaccountId: string; key: string },
): Promise<{ payoutId: string; replayed: boolean } | null> {
  const input = {
    subaccountId,
    amountCents: PAYOUT_CENTS,
    pixKey: 'bia@cliente.example',
    idempotencyKey: key,
  };
  const { status, headers, body } = await live.send(PAY_OUT, { input });
  if (body.errors) {
    const code = status === 503 ? 'UNAVAILABLE' : 'OUTCOME_UNKNOWN';
    expect(body.errors).toMatchObject([{ extensions: { code } }]);
    expect([status, headers.has('retry-after')]).toEqual([status, status === 503]);
    return null;
  }
  const { replayed, subaccountPayout, ...refusal } = body.data.done;
  if (!subaccountPayout) throw new Error(JSON.stringify(refusal));
  return { payoutId: subaccountPayout.payoutId, replayed };
}

async function books(live: GraphQLClient, subaccountId: string) {
  const { subaccount } = await live.request(BOOKS, { id: subaccountId });
  return {
    balanceCents: subaccount.balanceCents as number,
    made: subaccount.all.totalCount as number,
    underWay: subaccount.underWay.totalCount as number,
  };
}

// ── The machine ─────────────────────────────────────────────────────────────────────────────────

/** The process of a connection at a PostgreSQL. */
async function backendOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  onTestFinished(() => client.end());
  client.on('error', () => undefined);
  const { rows } = await client.query('select pg_backend_pid() as pid');
  return rows[0].pid;
}

function parentOf(child: number): number {
  return processes().find(({ pid }) => pid === child)!.parent;
}

function childrenOf(main: number): number[] {
  return processes().flatMap(({ pid, parent }) => (parent === main ? [pid] : []));
}

function processes(): { pid: number; parent: number }[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid, parent]) => ({ pid: pid!, parent: parent! }));
}

/** The process may have ended meanwhile. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function iptables(options: readonly string[]) {
  return spawnSync('iptables', ['-w', ...options], { encoding: 'utf8' });
}

/** Whether the machine has the program, and this user may run it. */
function mayDropPackets(): boolean {
  return iptables(['-S']).status === 0;
}

const REFUSED = '... on UserError { code message }';
const OPEN = `mutation ($input: CreateSubaccountInput!) {
  done: createSubaccount(input: $input) { ... on CreateSubaccountSuccess { subaccount { subaccountId } } ${REFUSED} }
}`;
const GIVE = `mutation ($input: TransferToSubaccountInput!) {
  done: transferToSubaccount(input: $input) { ... on TransferToSubaccountSuccess { subaccount { subaccountId } } ${REFUSED} }
}`;
const PAY_OUT = `mutation ($input: RequestSubaccountPayoutInput!) {
  done: requestSubaccountPayout(input: $input) {
    ... on RequestSubaccountPayoutSuccess { replayed subaccountPayout { payoutId } } ${REFUSED}
  }
}`;
const BOOKS = `query ($id: String!) {
  subaccount(subaccountId: $id) {
    balanceCents
    all: payouts(first: 1) { totalCount }
    underWay: payouts(first: 1, status: [PROCESSING]) { totalCount }
  }
}`;
