import { expect, it } from 'vitest';
import { CARD, payOn } from '../support/browser.ts';
import { openPopup, openShop, productOf } from './shop.ts';
import { startStand } from './stand.ts';

const shop = openShop(startStand, 'browser');

it('offers a link where the browser opens no window', async () => {
  const visitor = await shop.visit();
  const { page, context } = visitor;
  const product = productOf(page, 'caneca');
  // Not in a click, as after a request of the shop's own. Whatever Playwright evaluates, waiting included, would count
  // as one for seconds.
  const devtools = await context.newCDPSession(page);
  await devtools.send('Runtime.evaluate', {
    // It is disabled until the shop has been given its tokens.
    expression: `(async () => {
      const mug = document.querySelector('#caneca');
      while (mug.disabled !== false) await new Promise(requestAnimationFrame);
      mug.start();
    })()`,
    userGesture: false,
  });
  const blocked = await visitor.heard('psa-popup-blocked');
  await product.says(/navegador bloqueou a janela/);
  expect(context.pages()).toHaveLength(1);
  expect(await product.pageLink.getAttribute('href')).toBe(blocked.detail.url);

  const hosted = await openPopup(visitor, () => product.pageLink.click());
  await payOn(hosted, CARD.approved);
  await product.says('Pagamento confirmado');
});
