import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { createSystemClock } from '../../server/src/kernel/clock.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createPostgresDatabase } from '../support/database.ts';
import { type FaultyNetwork, startFaultyNetwork, type Verdict } from '../support/faulty-network.ts';
import { silent } from '../support/templates.ts';

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) { ... on CardPaymentSuccess { replayed cardPayment { orderCode amountCents } } }
}`;
const ROUNDS = 20;

describe('when the connection to PostgreSQL is cut', () => {
  let network: FaultyNetwork;
  let app: TestApp;
  beforeAll(async () => {
    network = await startFaultyNetwork(await createPostgresDatabase());
    const database = await openPostgres({
      databaseUrl: network.url,
      clock: createSystemClock(),
      log: silent,
    });
    app = await startApp({ database, config: { graphqlLimit: 1_000_000 } });
  });
  afterAll(async () => {
    await app.close();
    await network.close();
  });

  test.each<{ cut: Verdict; moment: string; done: boolean }>([
    { cut: 'cut-before', moment: 'before COMMIT arrives', done: false },
    { cut: 'cut-after', moment: 'before the answer to COMMIT', done: true },
  ])('$moment, the client is told of a fault, and its key makes one payment', async ({ cut, done }) => {
    for (let round = 0; round < ROUNDS; round++) {
      // The first command has a transaction to itself; those that come meanwhile share the second.
      cutAtCommit(network, cut, { after: round % 2 });
      const inputs = Array.from({ length: 4 }, (_, index) => ({
        valueCents: 1_000 + round,
        idempotencyKey: `${cut}:${round}:${index}`,
      }));
      const first = await Promise.all(inputs.map((input) => app.live.send(CREATE, { input })));

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
        else expect(again.replayed).toBe(done);
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
      .where('key', 'like', `${cut}:%`)
      .execute();
    expect(new Set(made.map(({ key }) => key)).size).toBe(ROUNDS * 4);
    expect(made).toHaveLength(ROUNDS * 4);
    const all = await app.database.sql.selectFrom('card_payment').select('order_code').execute();
    const keys = await app.database.sql.selectFrom('idempotency').select('key').execute();
    expect(all).toHaveLength(keys.length);
  });
});

/** Lets so many commits pass, and cuts the connection of the next one. */
function cutAtCommit(network: FaultyNetwork, verdict: Verdict, { after }: { after: number }): void {
  let commits = 0;
  network.onRequest = (chunk) => (isCommit(chunk) && commits++ === after ? verdict : 'pass');
}

/** One simple query: `Q`, its length, the text. */
function isCommit(chunk: Buffer): boolean {
  return chunk[0] === 0x51 && chunk.toString('latin1', 5) === 'commit\0';
}
