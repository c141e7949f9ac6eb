import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { createPostgresDatabase } from '../support/database.ts';
import { createClient } from '../support/graphql.ts';

const LIVE_KEY = 'ps_live_stopped0123456789';
const CLIENTS = 8;
const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) { ... on CardPaymentSuccess { replayed cardPayment { orderCode } } }
}`;

const engines = {
  async PGlite() {
    const folder = mkdtempSync(join(tmpdir(), 'psa-stopped-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return { PSA_DATA_DIR: folder };
  },
  PostgreSQL: async () => ({ DATABASE_URL: await createPostgresDatabase() }),
};

test.each(Object.entries(engines))(
  'on %s, SIGTERM under load answers what was begun, keeps it, and ends with 0',
  async (_, prepare) => {
    const environment = await prepare();
    const server = await startMain(environment);
    const acknowledged: string[] = [];
    let stopping = false;

    await Promise.all(
      Array.from({ length: CLIENTS }, async (_client, client) => {
        for (let index = 0; ; index++) {
          const key = `${client}:${index}`;
          let answer: Awaited<ReturnType<typeof server.live.send>>;
          try {
            answer = await server.live.send(CREATE, { input: { valueCents: 1_000, idempotencyKey: key } });
          } catch (error) {
            if (!stopping) throw error;
            return;
          }
          expect(answer.body).toMatchObject({ data: { createCardPayment: { replayed: false } } });
          acknowledged.push(answer.body.data.createCardPayment.cardPayment.orderCode);
          if (acknowledged.length !== CLIENTS * 5) continue;
          stopping = true;
          server.process.kill('SIGTERM');
        }
      }),
    );
    expect(await server.exit).toEqual([0, null]);
    const next = await startMain(environment);
    for (const orderCode of acknowledged) {
      const { cardPayment } = await next.live.request(
        'query ($code: String!) { cardPayment(orderCode: $code) { status } }',
        {
          code: orderCode,
        },
      );
      expect(cardPayment).toEqual({ status: 'PENDING' });
    }
    // What was begun was answered: nobody has to ask what became of it.
    const { cardPayments } = await next.live.request('{ cardPayments(first: 1) { totalCount } }');
    expect(cardPayments.totalCount).toBe(acknowledged.length);
    next.process.kill('SIGTERM');
    expect(await next.exit).toEqual([0, null]);
  },
);

/** `main.ts` itself, once it says where it is. */
async function startMain(environment: Record<string, string>) {
  const server = spawn(
    process.execPath,
    ['--import', 'tsx', fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: {
        PATH: process.env.PATH,
        NODE_ENV: 'production',
        PORT: '0',
        PSA_BOOTSTRAP_LIVE_KEY: LIVE_KEY,
        PSA_GRAPHQL_LIMIT: '1000000',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  onTestFinished(() => void server.kill('SIGKILL'));
  const exit = once(server, 'exit');
  let output = '';
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += text;
    const url = /running at (\S+)\n/.exec(output)?.[1];
    if (!url) continue;
    server.stdout.resume();
    return { process: server, exit, live: createClient(`${url}/graphql`, LIVE_KEY) };
  }
  throw new Error(`the server ended: ${output}`);
}
