import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createPostgresDatabase } from '../support/database.ts';
import { silent } from '../support/templates.ts';

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) { ... on CardPaymentSuccess { replayed cardPayment { orderCode amountCents } } }
}`;
const ROUNDS = 20;

describe('when the connection to PostgreSQL is cut', () => {
  let proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
  let app: TestApp;
  beforeAll(async () => {
    const databaseUrl = new URL(await createPostgresDatabase());
    proxy = await startCuttingProxy(Number(databaseUrl.port));
    databaseUrl.port = String(proxy.port);
    const database = await openPostgres({
      databaseUrl: databaseUrl.href,
      clock: createSystemClock(),
      log: silent,
    });
    app = await startApp({ database, config: { graphqlLimit: 1_000_000 } });
  });
  afterAll(async () => {
    await app.close();
    proxy.close();
  });

  test.each<{ cut: Cut; done: boolean[] }>([
    { cut: 'before COMMIT arrives', done: [false] },
    { cut: 'while COMMIT runs', done: [false, true] },
    { cut: 'before the answer to COMMIT', done: [true] },
  ])('$cut, the client is told of a fault, and its key makes one payment', async ({ cut, done }) => {
    for (let round = 0; round < ROUNDS; round++) {
      // The first command has a transaction to itself; those that come meanwhile share the second.
      proxy.cutNext(cut, { commits: round % 2 });
      const inputs = Array.from({ length: 4 }, (_, index) => ({
        valueCents: 1_000 + round,
        idempotencyKey: `${cut.replaceAll(' ', '-')}:${round}:${index}`,
      }));
      const first = await Promise.all(inputs.map((input) => app.live.send(CREATE, { input })));
      expect(proxy.isArmed()).toBe(false);

      const failed = first.filter(({ body }) => body.errors);
      expect(failed.length).toBeGreaterThan(0);
      for (const { body } of failed)
        expect(body.errors).toMatchObject([
          { message: 'Internal error', extensions: { code: 'INTERNAL_SERVER_ERROR' } },
        ]);

      for (const [index, input] of inputs.entries()) {
        const { createCardPayment: again } = await app.live.request(CREATE, { input });
        const before = first[index]!.body.data?.createCardPayment;
        if (before) expect(again).toEqual({ ...before, replayed: true });
        else expect(done).toContain(again.replayed);
        expect((await app.live.request(CREATE, { input })).createCardPayment).toEqual({
          ...again,
          replayed: true,
        });
      }
    }

    const made = await app.database.sql
      .selectFrom('card_payment')
      .innerJoin('idempotency', 'resource_id', 'order_code')
      .select('key')
      .where('key', 'like', `${cut.replaceAll(' ', '-')}:%`)
      .execute();
    expect(new Set(made.map(({ key }) => key)).size).toBe(ROUNDS * 4);
    expect(made).toHaveLength(ROUNDS * 4);
    const all = await app.database.sql.selectFrom('card_payment').select('order_code').execute();
    const keys = await app.database.sql.selectFrom('idempotency').select('key').execute();
    expect(all).toHaveLength(keys.length);
  });
});

type Cut = 'before COMMIT arrives' | 'while COMMIT runs' | 'before the answer to COMMIT';

/** Carries bytes to PostgreSQL and back, until it is told to cut the connection of one COMMIT to come. */
async function startCuttingProxy(serverPort: number) {
  let armed: { cut: Cut; commits: number } | null = null;
  const sockets = new Set<Socket>();

  function take(): Cut | null {
    if (!armed || armed.commits-- > 0) return null;
    const { cut } = armed;
    armed = null;
    return cut;
  }

  const proxy = createServer((client) => {
    const server = connect(serverPort, '127.0.0.1');
    let silence = false;
    const cutBoth = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.setNoDelay(true).on('error', cutBoth).on('close', cutBoth);
    }
    client.on('data', (bytes) => {
      const cut = isCommit(bytes) ? take() : null;
      if (cut === 'before COMMIT arrives') return cutBoth();
      if (cut === 'before the answer to COMMIT') silence = true;
      // Sent with the end right behind it: the answer has nowhere to go.
      if (cut === 'while COMMIT runs') server.end(bytes, () => client.destroy());
      else server.write(bytes);
    });
    // It answers a COMMIT when it has carried it out.
    server.on('data', (bytes) => (silence ? cutBoth() : client.write(bytes)));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');

  return {
    port: (proxy.address() as AddressInfo).port,
    /** Lets so many commits pass, and cuts the connection of the next one. */
    cutNext(cut: Cut, { commits }: { commits: number }) {
      armed = { cut, commits };
    },
    isArmed: () => armed !== null,
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** One simple query: `Q`, its length, the text. */
function isCommit(bytes: Buffer): boolean {
  return bytes[0] === 0x51 && bytes.toString('latin1', 5) === 'commit\0';
}
