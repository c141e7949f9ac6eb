import { expect, it } from 'vitest';
import { CARD, payOn } from '../support/browser.ts';
import { checkoutOf, chooseMode, openPopup, openShop, paymentsOf, pendingCents, productOf } from './shop.ts';

const shop = openShop();

it('a popup closes after the payment, and the shop receives it over a WebSocket', async () => {
  const before = await pendingCents(shop.fixture);
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'caneca');
  const popup = await openPopup(visitor, () => product.payButton.click());
  await product.says('Aguardando o pagamento');

  await Promise.all([popup.waitForEvent('close'), payOn(popup, CARD.approved)]);
  const { target, detail } = await visitor.waitForEvent('psa-paid');
  await product.says('Pagamento confirmado');

  expect(target).toBe('caneca');
  expect(detail.payment).toMatchObject({ status: 'PAID', amountCents: 4990, paidLate: false });
  expect(detail.payment.orderCode).toBe(await product.orderCode());
  expect(visitor.messages.filter((message) => /^<.*"status":"PAID"/.test(message))).toHaveLength(1);
  expect(await pendingCents(shop.fixture)).toBe(before + 4990);
  expect(visitor.events.filter(({ name }) => name === 'psa-paid')).toHaveLength(1);
});

it('the shop sells under another name of its machine than the printed one', async () => {
  const visitor = await shop.visit();
  const { page } = visitor;
  await page.goto(`http://127.0.0.1:${shop.fixture.port}/demo/`);
  const product = productOf(page, 'caneca');
  const popup = await openPopup(visitor, () => product.payButton.click());
  await visitor.waitForEvent('psa-connection-change', ({ detail }) => detail.connection === 'live');
  await Promise.all([popup.waitForEvent('close'), payOn(popup, CARD.approved)]);
  await product.says('Pagamento confirmado');
});

it('a payment in the same tab survives a reload and is found again on the thank-you page', async () => {
  const visitor = await shop.visit();
  const { page } = visitor;
  await chooseMode(page, 'Nesta página');
  await productOf(page, 'cafe').payButton.click();
  await page.waitForURL(/\/checkout\//);
  await page.getByRole('heading', { name: /R\$\s38,50/ }).waitFor();
  await page.reload();
  await payOn(page, CARD.approved);

  await page.waitForURL(/\/demo\/thank-you/);
  const receipt = checkoutOf(page);
  await receipt.says('Pagamento confirmado');
  await page.getByRole('heading', { name: 'Obrigado!' }).waitFor();
  const orderCode = await receipt.orderCode();
  expect(new URL(page.url()).searchParams.get('psa_order_code')).toBe(orderCode);

  await page.getByRole('link', { name: 'Voltar à loja' }).click();
  const product = productOf(page, 'cafe');
  await product.says('Pagamento confirmado');
  expect(await product.orderCode()).toBe(orderCode);
  await page.reload();
  await product.says('Pagamento confirmado');
  await product.element.evaluate((element: HTMLElement & { reset(): void }) => element.reset());
  await product.payButton.waitFor();
  await page.reload();
  await product.payButton.waitFor();
});

it('the thank-you page shows an unpaid payment as pending, never as paid', async () => {
  const visitor = await shop.visit();
  const { page } = visitor;
  await chooseMode(page, 'Nesta página');
  await productOf(page, 'rede').payButton.click();
  await page.waitForURL(/\/checkout\//);
  const orderCode = new URL(page.url()).pathname.split('/').at(-1)!;

  await page.goto(`${shop.fixture.url}/demo/thank-you?psa_order_code=${orderCode}`);
  await visitor.waitForEvent('psa-connection-change', ({ detail }) => detail.connection === 'live');
  await checkoutOf(page).says('Aguardando o pagamento');
  await page.getByRole('heading', { name: 'Quase lá.' }).waitFor();
  expect(visitor.events.map(({ name }) => name)).not.toContain('psa-paid');

  await shop.fixture.payElsewhere(orderCode);
  await page.getByRole('heading', { name: 'Obrigado!' }).waitFor();
});

it('a double click pays once, and a reload shows the receipt', async () => {
  const before = (await paymentsOf(shop.fixture)).length;
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'rede');
  const popup = await openPopup(visitor, () => product.payButton.dblclick());
  await product.says('Aguardando o pagamento');
  await Promise.all([popup.waitForEvent('close'), payOn(popup, CARD.approved)]);
  await product.says('Pagamento confirmado');

  await visitor.page.reload();
  await product.says('Pagamento confirmado');
  expect(await product.payButton.count()).toBe(0);
  expect(visitor.context.pages()).toHaveLength(1);
  expect(await paymentsOf(shop.fixture)).toHaveLength(before + 1);
});

it('two products on one page are paid separately', async () => {
  const visitor = await shop.visit();
  const [mug, coffee] = [productOf(visitor.page, 'caneca'), productOf(visitor.page, 'cafe')];
  const mugPage = await openPopup(visitor, () => mug.payButton.click());
  const coffeePage = await openPopup(visitor, () => coffee.payButton.click());
  await payOn(coffeePage, CARD.approved);
  await coffee.says('Pagamento confirmado');
  await mug.says('Aguardando o pagamento');
  await payOn(mugPage, CARD.approved);
  await mug.says('Pagamento confirmado');
  expect(await mug.orderCode()).not.toBe(await coffee.orderCode());
});

// ── Windows ─────────────────────────────────────────────────────────────────────────────────────

it('a closed popup cancels nothing: the payment stays open and can be resumed', async () => {
  const before = (await paymentsOf(shop.fixture)).length;
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'cafe');
  const popup = await openPopup(visitor, () => product.payButton.click());
  await popup.getByLabel('Número do cartão').fill('4242');
  await popup.close();
  await visitor.waitForEvent('psa-checkout-close');
  await product.says('Aguardando o pagamento');

  const again = await openPopup(visitor, () => product.pageLink.click());
  await payOn(again, CARD.approved);
  await product.says('Pagamento confirmado');
  expect(await paymentsOf(shop.fixture)).toHaveLength(before + 1);
  expect(visitor.events.map(({ name }) => name)).not.toContain('psa-error');
});

it('the cancel link leads back to a pending payment, which can be resumed', async () => {
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
  expect((await paymentsOf(shop.fixture)).find((payment) => payment.orderCode === orderCode)?.status).toBe(
    'PENDING',
  );

  await product.pageLink.click();
  await page.waitForURL(/\/checkout\//);
  await payOn(page, CARD.approved);
  await page.waitForURL(/\/demo\/thank-you/);
  await page.getByRole('heading', { name: 'Obrigado!' }).waitFor();
});
