import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { createManualClock } from '../../support/clock.ts';
import { connectTo, createPostgresDatabase } from '../../support/database.ts';
import { sampled } from '../../support/scale.ts';
import { setBackLog } from '../../support/set-back.ts';

const ALL =
  'subscription ($after: String) { allCardPaymentUpdates(after: $after) { cursor cardPayment { orderCode } } }';
const WALLET =
  'subscription ($after: String) { walletUpdates(after: $after) { cursor wallet { pendingReleaseCents } } }';
const EXPIRED = { extensions: { code: 'CURSOR_EXPIRED', retryPolicy: 'AFTER_CHANGE' } };
const POLL_MS = 5_000;

const clock = createManualClock();
let apps: TestApp[];
beforeAll(async () => {
  const databaseUrl = await createPostgresDatabase();
  apps = [];
  for (let count = 0; count < 2; count += 1)
    apps.push(await startApp({ database: await connectTo(databaseUrl, clock), clock }));
});
afterAll(async () => {
  for (const app of apps) {
    expect(app.faults).toEqual([]);
    await app.close();
  }
});

/**
 * The position at which the log goes on, the instance that commits, and the number of commits. The subscriber is
 * on the first instance.
 */
const CASES: [string, number, number][] = [
  ['below its position, by its own instance', 0, 1],
  ['below its position, by another instance', 1, 1],
  ['exactly to its position, by its own instance', 0, 3],
  ['exactly to its position, by another instance', 1, 3],
  ['beyond its position, by its own instance', 0, 5],
  ['beyond its position, by another instance', 1, 5],
];

describe.each(['ws', 'sse'] as const)('a subscriber over %s whose log is set back', (transport) => {
  test.each(sampled(CASES, 3))(
    'a subscription ends with CURSOR_EXPIRED where its log is set back and continues %s, and a new one works',
    async (_, writer, count) => {
      const [app] = apps as [TestApp, TestApp];
      const { live, database } = app;
      const tenant = await tenantOf(app);
      for (let each = 0; each < 5; each += 1) await create(app);
      const { updatesCursor: before } = await live.request('{ updatesCursor }');
      const kept = await headOf(app);
      const payments = live[transport](ALL, { after: before });
      const wallet = live[transport](WALLET);
      const [first] = [payments.data(), await wallet.data()];
      await create(app);
      const { cursor: shown } = (await first).allCardPaymentUpdates;
      for (let each = 0; each < 2; each += 1) await create(app);
      for (let each = 0; each < 2; each += 1) await payments.data();
      const { updatesCursor: lost } = await live.request('{ updatesCursor }');
      const last = [payments.next(), wallet.next()].map(failureOf);

      await setBackLog(database, tenant, kept);
      const written: string[] = [];
      for (let each = 0; each < count; each += 1) written.push(await create(apps[writer]!));
      clock.advance(POLL_MS);
      for (const each of last) expect(await each).toMatchObject([EXPIRED]);
      // A cursor after the lost events and one at each of them are refused; the cursor before them holds.
      for (const after of [lost, shown])
        for (const query of [ALL, WALLET])
          expect(await failureOf(live[transport](query, { after }).next())).toMatchObject([EXPIRED]);
      const resumed = live[transport](ALL, { after: before });
      for (const orderCode of written)
        expect((await resumed.data()).allCardPaymentUpdates.cardPayment.orderCode).toBe(orderCode);

      const again = live[transport](WALLET);
      await again.data();
      const next = resumed.data();
      const orderCode = await create(app);
      expect((await next).allCardPaymentUpdates.cardPayment.orderCode).toBe(orderCode);
      await Promise.all([resumed, again].map((stream) => stream.close()));
    },
  );
});

/** The errors that end a stream, in the form of either transport. */
async function failureOf(next: Promise<IteratorResult<{ errors?: unknown }>>): Promise<unknown> {
  return next.then(
    ({ value }) => value?.errors,
    (errors: unknown) => errors,
  );
}

async function create(app: TestApp): Promise<string> {
  const { createCardPayment } = await app.live.request(
    'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
  );
  return createCardPayment.cardPayment.orderCode;
}

async function tenantOf({ database }: TestApp) {
  const { id } = await database.sql.selectFrom('account').select('id').executeTakeFirstOrThrow();
  return { accountId: id, environment: 'live' as const };
}

async function headOf({ database }: TestApp): Promise<number> {
  const row = await database.sql
    .selectFrom('stream')
    .select('version')
    .where('environment', '=', 'live')
    .executeTakeFirstOrThrow();
  return row.version;
}
