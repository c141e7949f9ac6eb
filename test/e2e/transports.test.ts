import { afterAll, beforeEach, expect, it } from 'vitest';
import { CARD, payOn, type Visitor } from '../support/browser.ts';
import { type ReverseProxy, startReverseProxy } from '../support/reverse-proxy.ts';
import { startFixture } from './fixture.ts';
import { openPopup, openShop, productOf } from './shop.ts';

let proxy: ReverseProxy;
const shop = openShop(async () => {
  proxy = await startReverseProxy();
  const fixture = await startFixture({ publicUrl: proxy.url });
  proxy.target = fixture.port;
  return fixture;
});
beforeEach(() => proxy.refuses.clear());
afterAll(() => proxy?.close());

async function payInAWindow(visitor: Visitor): Promise<void> {
  const product = productOf(visitor.page, 'caneca');
  const popup = await openPopup(visitor, () => product.payButton.click());
  await visitor.waitForEvent('psa-connection-change', ({ detail }) => /live|polling/.test(detail.connection));
  await payOn(popup, CARD.approved);
  await product.says('Pagamento confirmado');
  await visitor.waitForEvent('psa-paid');
}

/** All connection changes of the element in order, each with its transport. */
const connections = ({ events }: Visitor) =>
  events
    .filter(({ name, detail }) => name === 'psa-connection-change' && detail.connection !== 'idle')
    .map(({ detail }) => `${detail.connection} ${detail.transport ?? ''}`.trim());

it('the element follows over a WebSocket through a proxy that allows it', async () => {
  const visitor = await shop.visit();
  await payInAWindow(visitor);
  expect(connections(visitor).at(-1)).toBe('live ws');
});

it('the element follows an event stream where WebSockets are refused', async () => {
  proxy.refuses.add('ws');
  const visitor = await shop.visit();
  visitor.expectProblems(/WebSocket connection to .* failed/);
  await payInAWindow(visitor);
  expect(connections(visitor).at(-1)).toBe('live sse');
  expect(visitor.messages).toEqual([]);
});

it('the element polls where event streams are refused as well', async () => {
  proxy.refuses.add('ws').add('sse');
  const visitor = await shop.visit();
  visitor.expectProblems(/WebSocket connection to .* failed/, /status of 502/);
  visitor.expectProblems(/^502 from .*\/graphql$/);
  await payInAWindow(visitor);
  expect(connections(visitor).at(-1)).toBe('polling poll');
});
