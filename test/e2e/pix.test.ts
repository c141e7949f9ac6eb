import jsqr from 'jsqr';
import { hasError, isDynamicPix, parsePix } from 'pix-utils';
import { PNG } from 'pngjs';
import { expect, it } from 'vitest';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { findViolations, injectAxe } from '../support/axe.ts';
import { startServiceFixture } from './fixture.ts';
import { openPopup, openShop, paymentsOf, productOf } from './shop.ts';

const shop = openShop(() => startServiceFixture());

type Product = ReturnType<typeof productOf>;

/** Pays a code as the payer's bank does, and waits until the service has the money. */
async function pay(code: string): Promise<void> {
  expect(await shop.fixture.app.pix.pay({ txid: txidOfCode(code)! })).not.toBeNull();
  await shop.fixture.pass(1);
}

const codeOf = ({ code }: Product) => code.inputValue();

it('a code that is read from the screen is paid, and the shop receives it over a WebSocket', async () => {
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'caneca');
  await product.pixButton.click();
  const qr = product.element.getByRole('img', { name: /QR code do PIX: R\$\s49,90 para/ });
  await qr.waitFor();
  const { data, width, height } = PNG.sync.read(await qr.screenshot());
  // The types of the package expect `default` on its default export, and it is there.
  const read = jsqr.default(new Uint8ClampedArray(data), width, height, { inversionAttempts: 'dontInvert' });
  const code = await codeOf(product);
  expect(read?.data).toBe(code);
  const parsed = parsePix(code);
  if (hasError(parsed) || !isDynamicPix(parsed)) expect.fail(`pix-utils reads ${JSON.stringify(parsed)}`);
  expect(parsed.url).toMatch(/^pix\.psa\.invalid\/v2\/[0-9a-f]{32}$/);
  expect(code).toContain('540549.90');
  await visitor.waitForEvent('psa-connection-change', ({ detail }) => detail.connection === 'live');
  expect(visitor.context.pages()).toHaveLength(1);

  await pay(code);
  await product.says('Pagamento confirmado');
  const { detail } = await visitor.waitForEvent('psa-paid');
  expect(detail).toMatchObject({ method: 'pix', payment: { __typename: 'Payment', status: 'PAID' } });
  expect(visitor.messages.some((message) => message.includes('paymentUpdates'))).toBe(true);

  // The money of a second PIX goes back, and the element says so.
  await pay(code);
  await visitor.page.evaluate(() => dispatchEvent(new Event('visibilitychange')));
  await product.says(/Recebemos R\$\s49,90 e devolvemos/);
});

it('a payer of a product with a code and a link sees both in the page, also after a reload', async () => {
  const { live } = shop.fixture;
  const { createProduct } = await live.request(
    'mutation { createProduct(input: { name: "Curso", priceCents: 4990 }) { ... on CreateProductSuccess { product { productId } } } }',
  );
  const { productId } = createProduct.product;
  for (const content of [{ codes: ['CURSO-7F3K'] }, { link: 'https://loja.example/curso' }])
    await live.request(
      'mutation ($input: CreateDeliveryInput!) { createDelivery(input: $input) { __typename } }',
      {
        input: { productId, content },
      },
    );
  const { createCheckoutToken } = await live.request(
    'mutation ($input: CreateCheckoutTokenInput!) { createCheckoutToken(input: $input) { ... on CreateCheckoutTokenSuccess { token } } }',
    { input: { amount: { productId }, methods: ['PIX', 'CARD'], reusable: true } },
  );
  const { page, context } = await shop.visit();
  await injectAxe(context);
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.reload();
  const product = productOf(page, 'caneca');
  await product.element.evaluate((element: HTMLElement & { token: string; resumeKey: string }, token) => {
    element.resumeKey = 'curso';
    element.token = token;
  }, createCheckoutToken.token);
  await product.pixButton.click();
  await pay(await codeOf(product));
  await product.says('O que você comprou');
  expect(await product.element.getByRole('textbox', { name: 'Seu código' }).inputValue()).toBe('CURSO-7F3K');
  const link = product.element.getByRole('link', { name: 'Abrir o conteúdo' });
  expect(await link.getAttribute('href')).toBe('https://loja.example/curso');
  await product.copyButton.click();
  await product.says('Guarde em um lugar seguro');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('CURSO-7F3K');
  expect(await findViolations(page)).toEqual([]);

  await page.reload();
  await product.element.evaluate((element: HTMLElement & { resumeKey: string }) => {
    element.resumeKey = 'curso';
  });
  await product.says('O que você comprou');
});

it('on a phone that denies the clipboard the code is selected, found again after a reload, and paid late', async () => {
  const visitor = await shop.visit({
    viewport: { width: 390, height: 844 },
    isMobile: true,
    hasTouch: true,
    colorScheme: 'dark',
  });
  const { page, context } = visitor;
  await injectAxe(context);
  await context.addInitScript(() => {
    navigator.clipboard.writeText = () => Promise.reject(new DOMException('denied', 'NotAllowedError'));
  });
  await page.reload();
  const product = productOf(page, 'cafe');
  await product.pixButton.tap();
  await product.copyButton.tap();
  await product.says('O código está selecionado');
  const code = await codeOf(product);
  expect(await product.code.evaluate((field: HTMLTextAreaElement) => field.selectionEnd)).toBe(code.length);
  expect(await findViolations(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  await product.element.getByText('Mostrar o QR code').tap();
  await product.element.getByRole('img', { name: /QR code/ }).waitFor();

  await page.reload();
  await product.code.waitFor();
  expect(await codeOf(product)).toBe(code);
  await shop.fixture.pass(30 * 60_000);
  await product.says('O prazo para pagar terminou');
  await product.retryButton.tap();
  await product.code.waitFor();
  expect(await codeOf(product)).not.toBe(code);
  // The payer had already opened the first code in the bank's app.
  await pay(code);
  await product.says('Confirmado depois do prazo');
});

it('the payer switches between PIX and card, and pays once', async () => {
  const before = (await paymentsOf(shop.fixture)).length;
  const visitor = await shop.visit();
  const product = productOf(visitor.page, 'rede');
  // This payer pays without help after three seconds.
  await product.element.evaluate((element: HTMLElement & { customer: object }) => {
    element.customer = { email: 'paga@psa.example' };
  });
  await product.pixButton.click();
  const code = await codeOf(product);
  const popup = await openPopup(visitor, () => product.payButton.click());
  await product.says('Reabrir a página de pagamento');
  await product.pixButton.click();
  await product.code.waitFor();
  expect(await codeOf(product)).toBe(code);
  await product.payButton.click();
  await product.says('Conclua na página segura');
  expect(await paymentsOf(shop.fixture)).toHaveLength(before + 1);

  await shop.fixture.pass(3_000);
  await product.says('Pagamento confirmado');
  const paid = await visitor.waitForEvent('psa-paid', ({ target }) => target === 'rede');
  expect(paid.detail.method).toBe('pix');
  const changes = visitor.events.filter(({ name }) => name === 'psa-method-change');
  expect(changes.map(({ detail }) => detail.method)).toEqual(['pix', 'card', 'pix', 'card', 'pix']);
  // The page of the card refuses the card, and says so while the form is open.
  await popup.getByRole('heading', { name: 'Este pedido já está pago' }).waitFor();
  expect(await popup.getByLabel('Número do cartão').count()).toBe(0);
  expect((await paymentsOf(shop.fixture))[0]?.status).toBe('PENDING');
});
