import { expect, it, vi } from 'vitest';
import { openPopup, openShop, productOf } from './shop.ts';
import { startStand } from './stand.ts';

const shop = openShop(() => startStand({ restarts: true }));

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

  await shop.stand.restart(async () => {
    await visitor.heard('psa-connection-change', ({ detail }) => detail.connection === 'reconnecting');
    await product.says('Reconectando');
    // Paid while nobody answers at the address that the page knows.
    await shop.stand.payElsewhere(orderCode);
  });

  await product.says('Pagamento confirmado');
  await visitor.heard('psa-paid');
  const subscriptions = visitor.messages.filter((message) => /^>.*"subscribe"/.test(message));
  expect(JSON.parse(subscriptions.at(-1)!.slice(2)).payload.variables).toEqual({ orderCode, after: cursor });
});

function lastCursor(messages: readonly string[]): string | undefined {
  const update = messages.findLast((message) => /^<.*"next"/.test(message));
  return update && JSON.parse(update.slice(2)).payload.data.cardPaymentUpdates.cursor;
}
