import { expect, it } from 'vitest';
import { CARD, payOn } from '../support/browser.ts';
import { openPopup, openShop, payElsewhere, productOf } from './shop.ts';

const SESSION_MS = 30 * 60_000;
const shop = openShop();

it('tells both pages that the time is over, and a new attempt can be paid', async () => {
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'caneca');
  const attempts: string[] = [];
  visitor.page.on('request', (request) => {
    const { attemptId } = request.method() === 'POST' ? (request.postDataJSON().variables?.input ?? {}) : {};
    if (attemptId) attempts.push(attemptId);
  });
  const popup = await openPopup(visitor, () => product.payButton.click());
  await visitor.heard('psa-connection-change', ({ detail }) => detail.connection === 'live');

  shop.app.clock.advance(SESSION_MS);
  const { detail } = await visitor.heard('psa-expired');
  await product.says('O prazo para pagar terminou');
  // The server said so by itself: by this page's clock there are thirty minutes left.
  expect(visitor.messages.some((message) => /^<.*"status":"EXPIRED"/.test(message))).toBe(true);
  await popup.reload();
  await popup.getByRole('heading', { name: 'O tempo para pagar acabou' }).waitFor();
  await popup.close();

  const second = await openPopup(visitor, () => product.retryButton.click());
  await Promise.all([second.waitForEvent('close'), payOn(second, CARD.approved)]);
  await product.says('Pagamento confirmado');
  const paid = await visitor.heard('psa-paid');
  expect(paid.detail.payment.orderCode).not.toBe(detail.payment.orderCode);
  expect(attempts).toEqual([attempts[0], `${attempts[0]}.2`]);
});

it('shows a payment that the acquirer confirms after the time is over', async () => {
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'cafe');
  const popup = await openPopup(visitor, () => product.payButton.click());
  await payOn(popup, CARD.approvedAfterExpiry);
  await popup.getByRole('heading', { name: 'Confirmando o pagamento' }).waitFor();

  shop.app.clock.advance(SESSION_MS);
  await product.says('O prazo para pagar terminou');
  shop.app.clock.advance(SESSION_MS / 2);
  await product.says('Confirmado depois do prazo');
  expect((await visitor.heard('psa-paid')).detail.payment).toMatchObject({ status: 'PAID', paidLate: true });
});

it('starts a new payment with the first click when the old one has expired behind a closed page', async () => {
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'rede');
  const popup = await openPopup(visitor, () => product.payButton.click());
  const first = await product.orderCode();
  await popup.close();
  await product.backButton.click();
  shop.app.clock.advance(SESSION_MS);
  await shop.app.work.settled();

  await openPopup(visitor, () => product.payButton.click());
  await product.says('Aguardando o pagamento');
  const second = await product.orderCode();
  expect(second).not.toBe(first);
  await payElsewhere(shop.app, second);
  await product.says('Pagamento confirmado');
});
