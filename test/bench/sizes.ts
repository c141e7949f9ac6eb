import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Chart } from './charts.ts';
import { createBenchDatabase } from './databases.ts';
import { LIVE_KEY, SANDBOX_KEY, UNLIMITED_KEY } from './environment.ts';
import { connect, createFanOuts, type FanOut, notify, notifyOften, subscribe } from './fan-out-bench.ts';
import { type Child, startChild } from './processes/child.ts';
import { figure, inTurns, median, progress, QUICK, type Row, size } from './report.ts';

/** A measurement at several sizes: a chart, with rows beside it. */
export interface Measured {
  rows: Row[];
  charts: Chart[];
}

const HEADERS = {
  authorization: `Bearer ${LIVE_KEY}`,
  'content-type': 'application/json',
  accept: 'application/json',
};

// ── Subscribers ─────────────────────────────────────────────────────────────────────────────────

const SUBSCRIBERS = QUICK ? [10, 20] : [10, 100, 1_000, 10_000];
const MOST_SUBSCRIBERS = SUBSCRIBERS.at(-1)!;
/** The wait for requests that may still run in the server. */
const SETTLE_MS = size(3_000, 10);

/**
 * Measures the cost of a delivery as subscribers grow, and the memory that the most subscribers hold while nothing
 * happens.
 */
export async function measureSubscribers(postgresUrl: string): Promise<Measured> {
  const fanOuts = createFanOuts();
  const many = MOST_SUBSCRIBERS.toLocaleString('en');
  try {
    progress(`${many} idle subscriptions: opening sockets`);
    const ours = await fanOuts.openOurs(await createBenchDatabase(postgresUrl));
    await subscribe(ours, 1);
    const { text } = await notify(ours, 1);
    const bare = await fanOuts.openBare('bare-ws.mjs', text);
    await subscribe(bare, 1);
    const held = { ours: await memoryOf(ours), bare: await memoryOf(bare) };

    const parties = { ours, bare };
    const found = { ours: [] as number[], bare: [] as number[] };
    for (const subscribers of [...SUBSCRIBERS].reverse()) {
      for (const { listeners } of Object.values(parties)) await listeners.ask('keep', { count: subscribers });
      const options = { subscribers, changes: Math.max(3, Math.min(60, 3_000 / subscribers)) };
      for (const fanOut of Object.values(parties)) await notifyOften(fanOut, options);
      const rounds = await inTurns(
        size(5, 1),
        { ours: () => notifyOften(ours, options), bare: () => notifyOften(bare, options) },
        `${subscribers.toLocaleString('en')} subscribers`,
      );
      for (const whose of ['ours', 'bare'] as const)
        found[whose].unshift(median(rounds.map((round) => round[whose].cpuUs)));
    }
    await ours.server.ask('close');
    return {
      rows: [
        {
          name: `memory of ${many} idle subscriptions`,
          against: 'ws, sockets alone',
          unit: 'MB',
          ours: held.ours.rssMb,
          floor: held.bare.rssMb,
          ratio: null,
          target: { atMost: 200 },
          beside: `heap ${figure(held.ours.heapMb)} against ${figure(held.bare.heapMb)} MB`,
          explanation:
            'what the process holds more than with one subscription, each on a socket of its own, garbage collected',
        },
      ],
      charts: [
        {
          name: 'subscribers',
          title: 'One event, more subscribers',
          subtitle: 'CPU of the server a delivery, µs',
          along: 'subscribers',
          sizes: SUBSCRIBERS,
          series: [
            { name: 'PSA', values: found.ours },
            { name: 'bare ws broadcast', values: found.bare },
          ],
          isLogarithmic: true,
          description: `CPU a delivery of one event: ${SUBSCRIBERS.map((subscribers, index) => `${subscribers.toLocaleString('en')} subscribers ${figure(found.ours[index]!)} µs (bare ws ${figure(found.bare[index]!)})`).join(', ')}. What the change itself costs is in it, and is shared by all subscribers.`,
        },
      ],
    };
  } finally {
    await fanOuts.close();
  }
}

/** The memory of the most subscriptions beyond that of one. */
async function memoryOf(fanOut: FanOut): Promise<{ rssMb: number; heapMb: number }> {
  const before = await fanOut.server.ask('memory');
  await connect(fanOut, MOST_SUBSCRIBERS - 1);
  await wait(SETTLE_MS);
  const after = await fanOut.server.ask('memory');
  await subscribe(fanOut, 0);
  return { rssMb: after.rssMb - before.rssMb, heapMb: after.heapMb - before.heapMb };
}

// ── Payouts in the table ────────────────────────────────────────────────────────────────────────

const PAYOUTS = QUICK ? [100, 200] : [100, 1_000, 10_000, 100_000, 1_000_000];
const NODES = `nodes {
  withdrawalId code method amountCents serviceFeeCents destination status version requestedAt processedAt
}`;

/** The offset of a page that is deep in the list. */
const OFFSET = QUICK ? 100 : 10_000;

/**
 * Measures the time of a page of payouts as PostgreSQL has more of them, and of any page of the longest list against
 * the shortest.
 */
export async function measureTable(postgresUrl: string): Promise<Measured> {
  const databaseUrl = await createBenchDatabase(postgresUrl);
  const server = startChild('server.mjs');
  const load = startChild('load.mjs');
  const client = new pg.Client(databaseUrl);
  try {
    const { url } = await server.ask('start', {
      ...UNLIMITED_KEY,
      PSA_BOOTSTRAP_TEST_KEY: SANDBOX_KEY,
      restLimit: 100_000_000,
      DATABASE_URL: databaseUrl,
    });
    await client.connect();
    const send = async (request: object, ms: number): Promise<number> => {
      const { delays } = await load.ask('run', { url, headers: HEADERS, connections: 1, ms, ...request });
      return median(delays);
    };
    const run = (query: string, variables: object, ms: number, headers = HEADERS) =>
      send({ path: '/graphql', headers, body: JSON.stringify({ query, variables }) }, ms);

    const first = `{ payouts(first: 50) { ${NODES} } }`;
    const inTheMiddle = `query ($after: String!) { payouts(first: 50, after: $after) { ${NODES} } }`;
    const counted = `{ payouts(first: 50) { totalCount ${NODES} } }`;
    const filtered = `query ($filter: PayoutFilter!) { payouts(first: 50, filter: $filter) { totalCount ${NODES} } }`;
    /** A period of thirty days, or a part of a short list, that has neither the newest nor the oldest payouts. */
    const period = (payouts: number) => {
      const day = (part: number) =>
        new Date(Date.UTC(2020, 0, 1) + payouts * part * 60_000 + 1).toISOString();
      const length = Math.min(0.25, (30 * 24 * 60) / payouts);
      return { requestedAfter: day(0.3), requestedBefore: day(0.3 + length) };
    };

    await client.query(SEED, [0, PAYOUTS[0], 'sandbox']);
    const found: Record<'first' | 'middle' | 'counted' | 'period', number[]> = {
      first: [],
      middle: [],
      counted: [],
      period: [],
    };
    let seeded = 0;
    for (const payouts of PAYOUTS) {
      const called = `${payouts.toLocaleString('en')} payouts in the table`;
      progress(`${called}: writing them`);
      await client.query(SEED, [seeded, payouts, 'live']);
      await client.query('vacuum analyze payout');
      seeded = payouts;
      const after = await middleCursor(url, payouts);
      await run(first, {}, size(1_000, 20));
      const rounds = await inTurns<number, keyof typeof found>(
        size(3, 1),
        {
          first: () => run(first, {}, size(400, 20)),
          middle: () => run(inTheMiddle, { after }, size(400, 20)),
          counted: () => run(counted, {}, size(400, 20)),
          period: () => run(filtered, { filter: period(payouts) }, size(400, 20)),
        },
        called,
      );
      for (const which of Object.keys(found) as (keyof typeof found)[])
        found[which].push(median(rounds.map((round) => round[which])));
    }

    const most = PAYOUTS.at(-1)!;
    const old = period(most);
    const rare = { status: ['DENIED', 'PROCESSING', 'PENDING'] };
    const page = (filter: object) => () => run(filtered, { filter }, size(400, 20));
    const asked: Record<string, () => Promise<number>> = {
      'the newest, with totalCount': () => run(counted, {}, size(400, 20)),
      'of a month, with totalCount': page(old),
      'of two statuses in a month, with totalCount': page({ ...old, status: ['COMPLETED', 'DENIED'] }),
      'of all time but the last hour, with totalCount': page({
        requestedBefore: new Date(Date.now()).toISOString(),
      }),
      'of three rare statuses, with totalCount': page(rare),
      'of a rare method in all time, with totalCount': page({
        method: ['LTC'],
        requestedAfter: '2020-01-01T00:00:00Z',
      }),
      'the newest at /v1, with total': () =>
        send({ method: 'GET', path: '/v1/payouts?limit=50' }, size(400, 20)),
      [`at /v1, from the ${OFFSET.toLocaleString('en')}th on, with total`]: () =>
        send({ method: 'GET', path: `/v1/payouts?limit=50&offset=${OFFSET}` }, size(400, 20)),
    };
    const least = () =>
      run(counted, {}, size(400, 20), { ...HEADERS, authorization: `Bearer ${SANDBOX_KEY}` });
    const rounds = await inTurns<number, string>(size(5, 1), { least, ...asked }, 'any page of the most');
    await server.ask('close');
    const many = most.toLocaleString('en');
    const few = PAYOUTS[0]!.toLocaleString('en');
    return {
      rows: Object.keys(asked).map((name) => ({
        name: `payouts of ${many}, ${name}`,
        against: `the newest of ${few}`,
        unit: 'ms',
        ours: median(rounds.map((round) => round[name]!)),
        floor: median(rounds.map(({ least: floor }) => floor!)),
        ratio: median(rounds.map((round) => round[name]! / round.least!)),
        target: { atMost: name.includes('from the') ? 6 : 4 },
        beside: '',
        explanation: `a page of fifty payouts on PostgreSQL, one request at a time: of ${many} in the table, against the newest page with totalCount of an environment that has ${few}`,
      })),
      charts: [
        {
          name: 'payouts',
          title: 'payouts(first: 50), more payouts',
          subtitle: 'milliseconds on PostgreSQL, one at a time',
          along: 'payouts in the table',
          sizes: PAYOUTS,
          series: [
            { name: 'newest', values: found.first },
            { name: 'from the middle', values: found.middle },
            { name: 'with totalCount', values: found.counted },
            { name: 'of a month, with totalCount', values: found.period },
          ],
          isLogarithmic: true,
          description: `Median milliseconds of a page of fifty payouts with ten fields each: ${PAYOUTS.map((payouts, index) => `of ${payouts.toLocaleString('en')} payouts the newest ${figure(found.first[index]!)}, from the middle ${figure(found.middle[index]!)}, with totalCount ${figure(found.counted[index]!)}, of a month with totalCount ${figure(found.period[index]!)}`).join('; ')}. A total is kept, and not counted.`,
        },
      ],
    };
  } finally {
    await client.end();
    await Promise.all([server, load].map((child) => child.stop()));
  }
}

/** Inserts payouts from one number to another, a minute apart. */
const SEED = `
  insert into payout (account_id, environment, withdrawal_id, code, version, method, status, amount_cents, fee_cents,
    destination, requested_at, processed_at)
  select account.id, $3::text, case $3::text when 'live' then '0' else 'f' end || lpad(to_hex(place), 23, '0'),
    'SAQ-' || $3::text || lpad(place::text, 12, '0'), 2, 'pix', 'completed',
    1000 + place % 9000, 100, 'ana@padaria.example', timestamptz '2020-01-01' + place * interval '1 minute',
    timestamptz '2020-01-01' + place * interval '1 minute' + interval '2 seconds'
  from account, generate_series($1::int + 1, $2::int) place
  order by place`;

async function middleCursor(url: string, payouts: number): Promise<string> {
  const requestedBefore = new Date(Date.UTC(2020, 0, 1) + (payouts / 2) * 60_000).toISOString();
  const query = `{ payouts(first: 1, filter: { requestedBefore: "${requestedBefore}" }) { pageInfo { endCursor } } }`;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ query }),
  });
  const { data } = (await response.json()) as { data: { payouts: { pageInfo: { endCursor: string } } } };
  return data.payouts.pageInfo.endCursor;
}

// ── Instances ───────────────────────────────────────────────────────────────────────────────────

const INSTANCES = QUICK ? [1, 2] : [1, 2, 3];
const CONNECTIONS = 24;

/** Measures requests a second as more instances share one PostgreSQL, and how far this machine's cores limit them. */
export async function measureInstances(postgresUrl: string): Promise<Measured> {
  const databaseUrl = await createBenchDatabase(postgresUrl);
  const load = startChild('load.mjs');
  const instances: { child: Child; url: string }[] = [];
  try {
    for (const _ of INSTANCES) {
      const child = startChild('server.mjs');
      instances.push({ child, url: '' });
      const { url } = await child.ask('start', { ...UNLIMITED_KEY, DATABASE_URL: databaseUrl });
      instances.at(-1)!.url = url;
    }
    const body = JSON.stringify({
      query: '{ wallet { balanceCents withdrawableCents pendingReleaseCents } }',
    });
    const run = async (count: number, ms: number) => {
      const asked = instances.slice(0, count);
      const cpu = async () => {
        const each = await Promise.all(asked.map(({ child }) => child.ask('cpu') as Promise<number>));
        return each.reduce((sum, us) => sum + us, 0);
      };
      const before = await cpu();
      const started = performance.now();
      const runs = await Promise.all(
        asked.map(({ url }) =>
          load.ask('run', {
            url,
            path: '/graphql',
            headers: HEADERS,
            body,
            connections: CONNECTIONS / count,
            ms,
          }),
        ),
      );
      const seconds = (performance.now() - started) / 1_000;
      const requests = runs.reduce((sum, each) => sum + each.requests, 0);
      return { perSecond: requests / seconds, cpuUs: ((await cpu()) - before) / requests };
    };
    progress('instances: warming up');
    await run(INSTANCES.length, size(4_000, 50));
    const rounds = await inTurns(
      size(5, 1),
      Object.fromEntries(INSTANCES.map((count) => [count, () => run(count, size(800, 50))])),
      'instances',
    );
    for (const { child } of instances) await child.ask('close');
    const of = (count: number, what: 'perSecond' | 'cpuUs') =>
      median(rounds.map((round) => round[count]![what]));
    const cores = availableParallelism();
    return {
      rows: [],
      charts: [
        {
          name: 'instances',
          title: 'wallet, more instances',
          subtitle: `requests a second, one PostgreSQL, ${cores} cores for all`,
          along: 'instances',
          sizes: INSTANCES,
          series: [
            { name: 'on this machine', values: INSTANCES.map((count) => of(count, 'perSecond')) },
            {
              name: 'by CPU, a core for each',
              values: INSTANCES.map((count) => (count * 1e6) / of(count, 'cpuUs')),
            },
          ],
          isLogarithmic: false,
          description: `Requests a second for the wallet, read from PostgreSQL, on ${cores} cores that instances, PostgreSQL and the load share: ${INSTANCES.map((count) => `${count === 1 ? '1 instance' : `${count} instances`} ${Math.round(of(count, 'perSecond')).toLocaleString('en')}, at ${figure(of(count, 'cpuUs'))} µs of the instances’ CPU a request`).join('; ')}. The other line is what that CPU time would give with a core for each instance.`,
        },
      ],
    };
  } finally {
    await Promise.all([load, ...instances.map(({ child }) => child)].map((child) => child.stop()));
  }
}
