import { expect, it } from 'vitest';
import { CARD, payOn } from '../support/browser.ts';
import { startFixture } from './fixture.ts';
import { openPopup, openShop, productOf } from './shop.ts';

const shop = openShop(startFixture, 'browser');

it('a link replaces a popup that the browser blocks', async () => {
  const visitor = await shop.visit();
  const { page, context } = visitor;
  const product = productOf(page, 'caneca');
  // The payment starts without a click, as after a request of the shop. Playwright's own evaluations would count as a
  // click for seconds.
  const devtools = await context.newCDPSession(page);
  await devtools.send('Runtime.evaluate', {
    // The element is disabled until the shop has its tokens.
    expression: `(async () => {
      const mug = document.querySelector('#caneca');
      while (mug.disabled !== false) await new Promise(requestAnimationFrame);
      mug.start('card');
    })()`,
    userGesture: false,
  });
  const blocked = await visitor.waitForEvent('psa-popup-blocked');
  await product.says(/navegador bloqueou a janela/);
  expect(context.pages()).toHaveLength(1);
  expect(await product.pageLink.getAttribute('href')).toBe(blocked.detail.url);

  const hosted = await openPopup(visitor, () => product.pageLink.click());
  await payOn(hosted, CARD.approved);
  await product.says('Pagamento confirmado');
});
