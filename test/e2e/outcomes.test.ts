import { expect, it } from 'vitest';
import { CARD, payOn } from '../support/browser.ts';
import { runsAll } from '../support/scale.ts';
import { chooseMode, openPopup, openShop, paymentsOf, productOf } from './shop.ts';

/** Chromium's message about a page with status 422. */
const UNPROCESSABLE = /status of 422/;
const A_REAL_CARD = '4539 5787 6362 1486';

const SESSION_MS = 30 * 60_000;

const shop = openShop();

it('a declined card is answered with one neutral sentence, and another card pays', async () => {
  const visitor = await shop.visit();
  visitor.expectProblems(UNPROCESSABLE);
  const product = productOf(visitor.page, 'caneca');
  const popup = await openPopup(visitor, () => product.payButton.click());
  await payOn(popup, CARD.declined);
  await popup.getByRole('alert').getByText('O banco não autorizou o pagamento.').waitFor();
  expect(await popup.getByLabel('Número do cartão').inputValue()).toBe('');
  await product.says('Aguardando o pagamento');

  await payOn(popup, CARD.approved);
  await product.says('Pagamento confirmado');
  expect(visitor.events.map(({ name }) => name)).not.toContain('psa-failed');
});

it('a final decline fails the payment, and a new attempt can be paid', async () => {
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'cafe');
  const popup = await openPopup(visitor, () => product.payButton.click());
  await payOn(popup, CARD.declinedForGood);
  await popup.getByRole('heading', { name: 'Pagamento não concluído' }).waitFor();
  await popup.getByText('O banco não autorizou o pagamento.').waitFor();
  expect(await popup.getByText('fraude').count()).toBe(0);
  const failed = await visitor.waitForEvent('psa-failed');
  await product.says('O pagamento não foi aprovado');
  await popup.close();

  const second = await openPopup(visitor, () => product.retryButton.click());
  await product.says('Aguardando o pagamento');
  await payOn(second, CARD.approved);
  await product.says('Pagamento confirmado');
  const paid = await visitor.waitForEvent('psa-paid');
  expect(paid.detail.payment.orderCode).not.toBe(failed.detail.payment.orderCode);
  const statuses = new Map(
    (await paymentsOf(shop.fixture)).map(({ orderCode, status }) => [orderCode, status]),
  );
  expect(statuses.get(failed.detail.payment.orderCode)).toBe('FAILED');
  expect(statuses.get(paid.detail.payment.orderCode)).toBe('PAID');
});

it('both pages follow a card payment that is approved later', async () => {
  const visitor = await shop.visit();
  const { page } = visitor;
  await chooseMode(page, 'Aba');
  const product = productOf(page, 'rede');
  const hosted = await openPopup(visitor, () => product.payButton.click());
  await payOn(hosted, CARD.approvedLater);
  await hosted.getByRole('heading', { name: 'Confirmando o pagamento' }).waitFor();
  await product.says('Aguardando o pagamento');

  await shop.fixture.pass(5_000);
  await hosted.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
  await product.says('Pagamento confirmado');
});

it('a card that is no test card is refused, and its number is stored nowhere', async () => {
  const visitor = await shop.visit();
  visitor.expectProblems(UNPROCESSABLE);
  const product = productOf(visitor.page, 'caneca');
  const popup = await openPopup(visitor, () => product.payButton.click());
  await payOn(popup, A_REAL_CARD);
  await popup.getByRole('alert').getByText('Não digite um cartão de verdade').waitFor();
  expect(await popup.content()).not.toMatch(digits(A_REAL_CARD));

  // The payer pastes the same number into the wrong field.
  await popup.getByLabel('Número do cartão').fill(CARD.approved);
  await popup.getByLabel('Nome no cartão').fill(A_REAL_CARD);
  await popup.locator('form').evaluate((form: HTMLFormElement) => form.submit());
  await popup.getByRole('alert').getByText('Nome no cartão').waitFor();
  expect(await popup.content()).not.toMatch(digits(A_REAL_CARD));

  const kept = await shop.fixture.kept();
  expect(Object.keys(kept)).toContain('card_payment');
  const places = [...Object.values(kept).flat(), ...shop.fixture.logged()];
  expect(places.filter((text) => digits(A_REAL_CARD).test(text))).toEqual([]);
  // Numbers of accepted cards are stored nowhere either.
  expect(places.filter((text) => digits(CARD.approved).test(text))).toEqual([]);
});

// ── The expiry ──────────────────────────────────────────────────────────────────────────────────

it('both pages show the expiry, and a new attempt can be paid', async () => {
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'caneca');
  const attempts: string[] = [];
  visitor.page.on('request', (request) => {
    const { attemptId } = request.method() === 'POST' ? (request.postDataJSON().variables?.input ?? {}) : {};
    if (attemptId) attempts.push(attemptId);
  });
  const popup = await openPopup(visitor, () => product.payButton.click());
  await visitor.waitForEvent('psa-connection-change', ({ detail }) => detail.connection === 'live');

  await shop.fixture.pass(SESSION_MS);
  const { detail } = await visitor.waitForEvent('psa-expired');
  await product.says('O prazo para pagar terminou');
  // The server sent the expiry: the page's own clock would still have thirty minutes.
  expect(visitor.messages.some((message) => /^<.*"status":"EXPIRED"/.test(message))).toBe(true);
  await popup.reload();
  await popup.getByRole('heading', { name: 'O tempo para pagar acabou' }).waitFor();
  await popup.close();

  const second = await openPopup(visitor, () => product.retryButton.click());
  await payOn(second, CARD.approved);
  await product.says('Pagamento confirmado');
  const paid = await visitor.waitForEvent('psa-paid');
  expect(paid.detail.payment.orderCode).not.toBe(detail.payment.orderCode);
  expect(attempts).toEqual([attempts[0], `${attempts[0]}.2`]);
});

if (runsAll())
  it('a payment that the acquirer confirms after the expiry is shown as paid', async () => {
    const visitor = await shop.visit();
    const product = productOf(visitor.page, 'cafe');
    const popup = await openPopup(visitor, () => product.payButton.click());
    await payOn(popup, CARD.approvedAfterExpiry);
    await popup.getByRole('heading', { name: 'Confirmando o pagamento' }).waitFor();

    await shop.fixture.pass(SESSION_MS);
    await product.says('O prazo para pagar terminou');
    await shop.fixture.pass(SESSION_MS / 2);
    await product.says('Confirmado depois do prazo');
    expect((await visitor.waitForEvent('psa-paid')).detail.payment).toMatchObject({
      status: 'PAID',
      paidLate: true,
    });
  });

if (runsAll())
  it('the first click starts a new payment when the previous one has expired unseen', async () => {
    const visitor = await shop.visit();
    const product = productOf(visitor.page, 'rede');
    const popup = await openPopup(visitor, () => product.payButton.click());
    const first = await product.orderCode();
    await popup.close();
    await product.backButton.click();
    await shop.fixture.pass(SESSION_MS);
    // A facade may answer from its cache for some seconds.
    const status = async () =>
      (
        await shop.fixture.live.request('query ($id: String!) { cardPayment(orderCode: $id) { status } }', {
          id: first,
        })
      ).cardPayment.status;
    await expect.poll(status, { timeout: 30_000, interval: 500 }).toBe('EXPIRED');

    await openPopup(visitor, () => product.payButton.click());
    await product.says('Aguardando o pagamento');
    const second = await product.orderCode();
    expect(second).not.toBe(first);
    await shop.fixture.payElsewhere(second);
    await product.says('Pagamento confirmado');
  });

/** Matches the card's digits with any separators. */
function digits(cardNumber: string): RegExp {
  return new RegExp(cardNumber.replace(/\D/g, '').split('').join('\\D?'));
}
