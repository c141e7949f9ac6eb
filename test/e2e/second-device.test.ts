import { expect, it } from 'vitest';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { CARD, payOn } from '../support/browser.ts';
import { runsAll } from '../support/scale.ts';
import { startServiceFixture } from './fixture.ts';
import { openPopup, openShop, paymentsOf, productOf } from './shop.ts';

const shop = openShop(startServiceFixture);

const MINT = `mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) {
  ... on CreateCheckoutTokenSuccess { token } } }`;
const CREATE = `mutation ($input: CreateCardPaymentInput!) { createCardPayment(input: $input) {
  ... on CreateCardPaymentSuccess { cardPayment { orderCode checkoutUrl } } } }`;

/** Opens the shop in a new browser, in a page that was rendered with a token of the order. */
async function open(externalId: string, methods = ['CARD']) {
  const input = { amount: { fixedCents: 4990 }, description: 'Caneca', externalId, methods };
  const { createCheckoutToken } = await shop.fixture.live.request(MINT, { input });
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'caneca');
  // The shop gives the element its own token as soon as its answer is there, and would replace an earlier one.
  const element = await product.element.elementHandle();
  await visitor.page.waitForFunction(
    (each) => Boolean((each as HTMLElement & { token?: string }).token),
    element,
  );
  await product.element.evaluate((each: HTMLElement & { token: string }, token) => {
    each.token = token;
  }, createCheckoutToken.token);
  return { visitor, product };
}

it('a payment that was begun on a laptop is paid on a phone, and both show it paid', async () => {
  const before = (await paymentsOf(shop.fixture)).length;
  const laptop = await open('e2e-1042');
  const page = await openPopup(laptop.visitor, () => laptop.product.payButton.click());
  await laptop.product.says('Aguardando o pagamento');

  const phone = await open('e2e-1042');
  const popup = await openPopup(phone.visitor, () => phone.product.payButton.click());
  await phone.product.says('Aguardando o pagamento');
  expect(popup.url()).toBe(page.url());
  await payOn(popup, CARD.approved);
  for (const { product } of [phone, laptop]) await product.says('Pagamento confirmado');
  expect(await laptop.product.orderCode()).toBe(await phone.product.orderCode());
  expect(await paymentsOf(shop.fixture)).toHaveLength(before + 1);

  // A third device finds the order paid, and no button leads to a second payment.
  const late = await open('e2e-1042');
  await late.product.payButton.click();
  await late.product.says('Este pedido já está pago');
  expect(await paymentsOf(shop.fixture)).toHaveLength(before + 1);
});

it('an order that is paid by PIX on a phone is shown as paid on a laptop, live', async () => {
  const laptop = await open('e2e-1044', ['PIX', 'CARD']);
  const page = await openPopup(laptop.visitor, () => laptop.product.payButton.click());
  await laptop.product.says('Aguardando o pagamento');
  const phone = await open('e2e-1044', ['PIX', 'CARD']);
  await phone.product.pixButton.click();
  const code = await phone.product.code.inputValue();
  expect(await shop.fixture.app.pix.pay({ txid: txidOfCode(code)! })).not.toBeNull();
  await shop.fixture.pass(1);
  await phone.product.says('Pagamento confirmado');
  await laptop.product.says('Este pedido já está pago');
  expect(await laptop.product.retryButton.count()).toBe(0);
  await page.getByRole('heading', { name: 'Este pedido já está pago' }).waitFor();
});

if (runsAll())
  it('the page of another payment of a paid order says so, and asks for no card', async () => {
    const { visitor, product } = await open('e2e-1043');
    const input = { valueCents: 4990, externalId: 'e2e-1043' };
    const { cardPayment } = (await shop.fixture.live.request(CREATE, { input })).createCardPayment;
    const popup = await openPopup(visitor, () => product.payButton.click());
    await payOn(popup, CARD.approved);
    await product.says('Pagamento confirmado');
    await visitor.page.goto(cardPayment.checkoutUrl);
    await visitor.page.getByRole('heading', { name: 'Este pedido já está pago' }).waitFor();
    expect(await visitor.page.getByLabel('Número do cartão').count()).toBe(0);
  });
