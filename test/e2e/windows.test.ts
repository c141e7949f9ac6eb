import { expect, it } from 'vitest';
import { CARD, payOn } from '../support/browser.ts';
import { chooseMode, openPopup, openShop, paymentsOf, productOf } from './shop.ts';

const shop = openShop({ blocksPopups: true });

it('offers a link where the browser opens no window', async () => {
  const visitor = await shop.visit();
  const { page, context } = visitor;
  const product = productOf(page, 'caneca');
  // Not in a click, as after a request of the shop's own. Whatever Playwright evaluates, waiting included, would count
  // as one for seconds.
  const devtools = await context.newCDPSession(page);
  await devtools.send('Runtime.evaluate', {
    expression: `(async () => {
      while (!document.querySelector('#caneca')) await new Promise(requestAnimationFrame);
      document.querySelector('#caneca').start();
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

it('takes a closed window for nothing: the payment stays open and can be taken up again', async () => {
  const before = (await paymentsOf(shop.app)).length;
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'cafe');
  const popup = await openPopup(visitor, () => product.payButton.click());
  await popup.getByLabel('Número do cartão').fill('4242');
  await popup.close();
  await visitor.heard('psa-checkout-close');
  await product.says('Aguardando o pagamento');

  const again = await openPopup(visitor, () => product.pageLink.click());
  await payOn(again, CARD.approved);
  await product.says('Pagamento confirmado');
  expect(await paymentsOf(shop.app)).toHaveLength(before + 1);
  expect(visitor.events.map(({ name }) => name)).not.toContain('psa-error');
});

it('comes back by the cancel link, pending, and goes on from there', async () => {
  const visitor = await shop.visit();
  const { page } = visitor;
  await chooseMode(page, 'Nesta página');
  const product = productOf(page, 'rede');
  await product.payButton.click();
  await page.getByRole('link', { name: 'Cancelar e voltar' }).click();
  await page.waitForURL(/\/demo\/\?.*psa_cancelled=1/);
  await product.says('Aguardando o pagamento');
  await product.says('Você voltou antes de concluir');
  const orderCode = await product.orderCode();
  expect((await paymentsOf(shop.app)).find((payment) => payment.orderCode === orderCode)?.status).toBe(
    'PENDING',
  );

  await product.pageLink.click();
  await page.waitForURL(/\/checkout\//);
  await payOn(page, CARD.approved);
  await page.waitForURL(/\/demo\/obrigado/);
  await page.getByRole('heading', { name: 'Obrigado!' }).waitFor();
});
