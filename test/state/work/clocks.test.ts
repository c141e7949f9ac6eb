import { expect, onTestFinished, test } from 'vitest';
import { oldestAccount } from '../../../server/src/access/store.ts';
import { plusMs } from '../../../server/src/kernel/clock.ts';
import { startApp, type TestApp } from '../../support/app.ts';
import { createManualClock, type ManualClock } from '../../support/clock.ts';
import { connectTo, takePostgresDatabase } from '../../support/database.ts';
import { deferred } from '../../support/deferred.ts';
import { fund } from '../../support/funds.ts';
import { startReceiver } from '../../support/receiver.ts';

const MINUTE = 60_000;

const CONFIGURE = `mutation ($url: Url!) {
  configureWebhook(input: { url: $url }) { ... on ConfigureWebhookSuccess { url } }
}`;
const CREATE = `mutation {
  createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode expiresAt } } }
}`;
const PAY_OUT = `mutation {
  requestPayout(input: { method: PIX, amountCents: 5000, destination: "ana@example.com", idempotencyKey: "a" }) {
    ... on RequestPayoutSuccess { payout { withdrawalId requestedAt } }
    ... on UserError { message }
  }
}`;

/** Two instances on one PostgreSQL: one with the database's clock, and one whose machine is a minute ahead. */
async function startTwo() {
  const databaseUrl = await takePostgresDatabase();
  const right = createManualClock();
  const ahead = createManualClock(plusMs(right.now(), MINUTE));
  const start = async (clock: ManualClock): Promise<TestApp> => {
    const database = await connectTo(databaseUrl, clock);
    const app = await startApp({ database, clock, databaseTime: async () => right.now() });
    onTestFinished(async () => {
      await app.close();
      expect(app.faults).toEqual([]);
    });
    return app;
  };
  return { one: await start(right), other: await start(ahead) };
}

test('A webhook is sent once, though the clock of another instance is a minute ahead.', async () => {
  const { one, other } = await startTwo();
  const looked = deferred();
  const receiver = await startReceiver((response) =>
    receiver.received.length > 1 ? void response.end() : void looked.promise.then(() => response.end()),
  );
  await one.live.request(CONFIGURE, { url: receiver.url });
  const tenant = { accountId: await oldestAccount(one.database.sql), environment: 'live' as const };
  await fund({ database: one.database, tenant }, { cents: 10_000 });
  const arrives = receiver.next();
  await one.live.request(PAY_OUT);
  await arrives;

  // The lease ends in 30 seconds. By this machine's clock that was half a minute ago.
  await other.work.settled();
  expect(receiver.received).toHaveLength(1);
  looked.resolve();
  await one.work.settled();
  const sent = await one.database.sql.selectFrom('webhook_delivery').select(['status', 'attempts']).execute();
  expect(sent).toEqual([{ status: 'delivered', attempts: 1 }]);
});

test('What is due in a while is due by the database’s time, on whichever instance it was begun.', async () => {
  const { one, other } = await startTwo();
  const { createCardPayment } = await other.live.request(CREATE);
  const { expiresAt, orderCode } = createCardPayment.cardPayment;
  expect(new Date(expiresAt)).toEqual(plusMs(one.clock.now(), 30 * MINUTE));

  // Half a minute earlier, the clock of the machine that is ahead is already past it.
  for (const { clock } of [one, other]) clock.advance(29.5 * MINUTE);
  const statusOf = async () => {
    for (const app of [other, one]) await app.work.settled();
    const { cardPayment } = await one.live.request(
      `query ($orderCode: String!) { cardPayment(orderCode: $orderCode) { status } }`,
      { orderCode },
    );
    return cardPayment.status;
  };
  expect(await statusOf()).toBe('PENDING');
  for (const { clock } of [one, other]) clock.advance(MINUTE / 2);
  expect(await statusOf()).toBe('EXPIRED');
});
