import { expect, it, vi } from 'vitest';
import { startFixture } from './fixture.ts';
import { openPopup, openShop, productOf } from './shop.ts';

const shop = openShop(() => startFixture({ restarts: true }));

it('the element reconnects to a restarted server and receives the missed update', async () => {
  const visitor = await shop.visit();
  visitor.expectProblems(/WebSocket connection to .* failed/);
  // With the automatic setting the element would change to an event stream or to polling after two refused sockets.
  await visitor.page.getByText('WebSocket', { exact: true }).click();
  const product = productOf(visitor.page, 'caneca');
  await openPopup(visitor, () => product.payButton.click());
  await product.says('Aguardando o pagamento');
  const orderCode = await product.orderCode();
  const cursor = await vi.waitUntil(() => lastCursor(visitor.messages), 60_000);

  await shop.fixture.restart(async () => {
    await visitor.waitForEvent('psa-connection-change', ({ detail }) => detail.connection === 'reconnecting');
    await product.says('Reconectando');
    // The payer pays while no server answers at the page's address.
    await shop.fixture.payElsewhere(orderCode);
  });

  await product.says('Pagamento confirmado');
  await visitor.waitForEvent('psa-paid');
  const subscriptions = visitor.messages.filter((message) => /^>.*"subscribe"/.test(message));
  expect(JSON.parse(subscriptions.at(-1)!.slice(2)).payload.variables).toEqual({ orderCode, after: cursor });
});

function lastCursor(messages: readonly string[]): string | undefined {
  const update = messages.findLast((message) => /^<.*"next"/.test(message));
  return update && JSON.parse(update.slice(2)).payload.data.cardPaymentUpdates.cursor;
}
