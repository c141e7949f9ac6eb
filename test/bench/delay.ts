import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import WebSocket from 'ws';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import { createBenchDatabase } from './databases.ts';
import { type Child, startChild } from './processes/child.ts';
import { percentile, progress, type Row, size } from './report.ts';

const PAYMENTS = size(200, 5);
const LIVE_KEY = 'ps_live_measured0123456789';
const UPDATES = `subscription ($orderCode: String!) {
  cardPaymentUpdates(orderCode: $orderCode) { cursor previousStatus cardPayment { orderCode status version paidAt } }
}`;

/** From the instant at which a payment is acknowledged as paid to the update's arrival at who follows it. */
export async function measureDelay(postgresUrl: string): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'psa-bench-'));
  const rows: Row[] = [];
  try {
    const databases = {
      PGlite: { PSA_DATA_DIR: folder },
      PostgreSQL: { DATABASE_URL: await createBenchDatabase(postgresUrl) },
    };
    for (const [engine, database] of Object.entries(databases)) {
      const server = startChild('server.mjs');
      const environment = {
        ...database,
        PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
        PSA_GRAPHQL_LIMIT: '1000000',
        PSA_DEMO: 'off',
      };
      const { url } = await server.ask('start', environment);
      const client = createClient(`${url}/graphql`, LIVE_KEY);
      const size = JSON.stringify((await payAndFollow(server, client, 'ws')).update).length;
      const floor = await pushed(size);
      for (const transport of ['ws', 'sse'] as const) {
        const name = `paid → update, ${transport}, ${engine}`;
        progress(`${name}: ${PAYMENTS} payments`);
        const delays: number[] = [];
        for (let index = 0; index < PAYMENTS; index++)
          delays.push((await payAndFollow(server, client, transport)).delayMs);
        const ours = percentile(delays, 50);
        rows.push({
          name,
          unit: 'ms',
          ours,
          floor: floor.p50,
          ratio: ours / floor.p50,
          beside: `p99 ${percentile(delays, 99).toFixed(1)} against ${floor.p99.toFixed(1)} ms`,
          explanation: `median of ${PAYMENTS} payments, from pay’s answer in the server to the update in the client’s hands; the floor is a bare ws server that pushes ${size} bytes which lie ready`,
        });
      }
      await server.ask('close');
      await server.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return rows;
}

async function payAndFollow(server: Child, client: GraphQLClient, transport: 'ws' | 'sse') {
  const { createCardPayment } = await client.request(
    'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CardPaymentSuccess { cardPayment { orderCode } } } }',
  );
  const { orderCode } = createCardPayment.cardPayment;
  const updates = client[transport](UPDATES, { orderCode });
  await updates.data();
  const arrival = updates.data().then((update) => ({ update, at: process.hrtime.bigint() }));
  const { kind, paidAt } = await server.ask('pay', { orderCode });
  const { update, at } = await arrival;
  if (kind !== 'paid' || update.cardPaymentUpdates.cardPayment.status !== 'PAID')
    throw new Error('it was not paid');
  await updates.close();
  return { update, delayMs: Number(at - BigInt(paidAt)) / 1e6 };
}

async function pushed(size: number): Promise<{ p50: number; p99: number }> {
  const bare = startChild('bare-ws.mjs');
  const { url } = await bare.ask('start');
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const text = 'x'.repeat(size);
  const delays: number[] = [];
  for (let index = 0; index < PAYMENTS; index++) {
    const arrival = once(socket, 'message').then(() => process.hrtime.bigint());
    const { paidAt } = await bare.ask('push', { text });
    delays.push(Number((await arrival) - BigInt(paidAt)) / 1e6);
  }
  socket.close();
  await bare.stop();
  return { p50: percentile(delays, 50), p99: percentile(delays, 99) };
}
