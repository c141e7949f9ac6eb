import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBenchDatabase } from './databases.ts';
import { type Child, startChild } from './processes/child.ts';
import { inTurns, median, progress, type Row, size } from './report.ts';

const CONNECTIONS = 32;
const ROUNDS = size(9, 1);
const ROUND_MS = size(800, 50);
const LIVE_KEY = 'ps_live_measured0123456789';
const HEADERS = {
  authorization: `Bearer ${LIVE_KEY}`,
  'content-type': 'application/json',
  accept: 'application/json',
};

const OPERATIONS = {
  wallet: '{ wallet { balanceCents withdrawableCents pendingReleaseCents } }',
  'cardPayments(first: 50)': `{ cardPayments(first: 50) { nodes {
    orderCode status amountCents currency checkoutUrl expiresAt createdAt description paidAt version
  } } }`,
};

/** Two queries over HTTP, with the server's checks and limits on, against a server that has its answer ready. */
export async function measureReads(postgresUrl: string): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'psa-bench-'));
  const load = startChild('load.mjs');
  const rows: Row[] = [];
  try {
    const databases = {
      PGlite: { PSA_DATA_DIR: folder },
      PostgreSQL: { DATABASE_URL: await createBenchDatabase(postgresUrl) },
    };
    for (const [engine, database] of Object.entries(databases)) {
      const server = startChild('server.mjs');
      const { url } = await server.ask('start', {
        ...database,
        PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
        PSA_GRAPHQL_LIMIT: '1000000',
        PSA_DEMO: 'off',
      });
      await Promise.all(Array.from({ length: 60 }, (_, index) => post(url, createPayment(index))));
      for (const [name, query] of Object.entries(OPERATIONS))
        rows.push(await measure({ name: `${name}, ${engine}`, server, url, query, load }));
      await server.ask('close');
      await server.stop();
    }
  } finally {
    await load.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

async function measure({
  name,
  server,
  url,
  query,
  load,
}: {
  name: string;
  server: Child;
  url: string;
  query: string;
  load: Child;
}): Promise<Row> {
  const answer = await post(url, query);
  const bare = startChild('bare-http.mjs');
  const { url: bareUrl } = await bare.ask('start', {
    body: await answer.text(),
    headers: { 'content-type': answer.headers.get('content-type') },
  });
  const run = async (process: Child, at: string, ms: number) => {
    const before = await process.ask('cpu');
    const { requests, perSecond } = await load.ask('run', {
      url: at,
      path: '/graphql',
      headers: HEADERS,
      body: JSON.stringify({ query }),
      connections: CONNECTIONS,
      ms,
    });
    return { perSecond: perSecond as number, cpuUs: ((await process.ask('cpu')) - before) / requests };
  };
  progress(`${name}: warming up`);
  await run(bare, bareUrl, 500);
  await run(server, url, ROUND_MS);
  progress(`${name}: ${ROUNDS} rounds`);
  const rounds = await inTurns(ROUNDS, {
    ours: () => run(server, url, ROUND_MS),
    floor: () => run(bare, bareUrl, ROUND_MS),
  });
  await bare.stop();

  const cpu = (side: 'ours' | 'floor') => median(rounds.map((round) => round[side].cpuUs)).toFixed(0);
  return {
    name,
    unit: '/s',
    ours: median(rounds.map(({ ours }) => ours.perSecond)),
    floor: median(rounds.map(({ floor }) => floor.perSecond)),
    ratio: median(rounds.map(({ ours, floor }) => ours.perSecond / floor.perSecond)),
    beside: `CPU ${cpu('ours')} against ${cpu('floor')} µs`,
    explanation: `requests a second over ${CONNECTIONS} connections, with key and limits checked, data read from the database each time; the floor is node:http with the same bytes ready`,
  };
}

async function post(url: string, query: string): Promise<Response> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ query }),
  });
  const text = await response.text();
  if (response.status !== 200 || text.includes('"errors"')) throw new Error(`${response.status} ${text}`);
  return new Response(text, response);
}

function createPayment(index: number): string {
  return `mutation { createCardPayment(input: { valueCents: ${1_000 + index}, description: "Pedido ${index}" }) { __typename } }`;
}
