import { expect, it, onTestFinished, vi } from 'vitest';
import { openPostgres } from '../../server/src/db/postgres.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { createManualClock } from '../support/clock.ts';
import { createPostgresDatabase } from '../support/database.ts';
import { silent } from '../support/templates.ts';
import { openPopup, openShop, payElsewhere, productOf } from './shop.ts';

let databaseUrl: string;
let port = 0;

/** One instance of several over one database. */
async function startInstance(options: { port: number }): Promise<TestApp> {
  const clock = createManualClock();
  return startApp({
    clock,
    database: await openPostgres({ databaseUrl, clock, log: silent }),
    config: options,
  });
}

const shop = openShop(async () => {
  databaseUrl = await createPostgresDatabase();
  const app = await startInstance({ port: 0 });
  port = app.port;
  return app;
});

it('comes back to a server that was restarted, and hears what it has missed', async () => {
  const visitor = await shop.visit();
  visitor.expectProblems(/WebSocket connection to .* failed/);
  // Left to itself it would go on over an event stream, or polling, once a socket was refused twice.
  await visitor.page.getByText('WebSocket', { exact: true }).click();
  const product = productOf(visitor.page, 'caneca');
  await openPopup(visitor, () => product.payButton.click());
  await product.says('Aguardando o pagamento');
  const orderCode = await product.orderCode();
  const cursor = await vi.waitUntil(() => lastCursor(visitor.messages));

  await shop.app.close();
  await visitor.heard('psa-connection-change', ({ detail }) => detail.connection === 'reconnecting');
  await product.says('Reconectando');
  // Paid while nobody answers at the address that the page knows.
  const other = await startInstance({ port: 0 });
  await payElsewhere(other, orderCode);
  await other.close();
  const restarted = await startInstance({ port });
  onTestFinished(() => restarted.close());

  await product.says('Pagamento confirmado');
  await visitor.heard('psa-paid');
  const subscriptions = visitor.messages.filter((message) => /^>.*"subscribe"/.test(message));
  expect(JSON.parse(subscriptions.at(-1)!.slice(2)).payload.variables).toEqual({ orderCode, after: cursor });
  expect([...other.faults, ...restarted.faults]).toEqual([]);
});

function lastCursor(messages: readonly string[]): string | undefined {
  const update = messages.findLast((message) => /^<.*"next"/.test(message));
  return update && JSON.parse(update.slice(2)).payload.data.cardPaymentUpdates.cursor;
}
