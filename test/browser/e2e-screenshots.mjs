// Draws the shop, the hosted pages of all methods and the thank-you page in their states, wide and narrow, light and dark,
// from a real server:  node test/browser/e2e-screenshots.mjs --out DIR [--readme FILE]
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { register } from 'tsx/esm/api';
import { ensureBuilt } from '../../server/scripts/build.mjs';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('playwright-core').Locator} Locator */

const { values: options } = parseArgs({ options: { out: { type: 'string' }, readme: { type: 'string' } } });
if (!options.out && !options.readme) throw new Error('Say where to: --out DIR, --readme FILE');

await ensureBuilt();
register();
const { createApp } = await import('../../server/src/programs/app.ts');
const { readConfig } = await import('../../server/src/programs/config/config.ts');
const { createManualClock } = await import('../support/clock.ts');
const { txidOfCode } = await import('../../server/src/rails/simulated/pix.ts');
const { CARD, launchBrowser, openVisitor, payOn, waitForAnimations } = await import('../support/browser.ts');
const { PAGES, servePixPage } = await import('../money-in/payments/hosted-page.ts');

const SESSION_MS = 30 * 60_000;
const LOOKS = /** @type {const} */ ([
  { name: '1280-light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: '1280-dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: '390-light', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: '390-dark', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
]);

const clock = createManualClock(new Date());
const app = await createApp({
  config: readConfig({ PORT: '0', PSA_DATA_DIR: 'memory' }),
  clock,
  log: { info: () => undefined, warn: () => undefined, error: console.error },
  onFatal(error) {
    throw error;
  },
});
const browser = await launchBrowser('browser');
try {
  // The README's picture is drawn first, while the server's clock and the browser's still agree.
  if (options.readme) await drawForReadme(options.readme);
  if (options.out) {
    mkdirSync(options.out, { recursive: true });
    for (const look of LOOKS) {
      await drawStates(look, options.out);
      await drawPix(look, options.out);
      await drawPayerPages(look, options.out);
    }
  }
} finally {
  await browser.close();
  await app.close();
}

/** @param {typeof LOOKS[number]} look @param {string} folder */
async function drawStates({ name: suffix, ...look }, folder) {
  const visitor = await openVisitor(browser, look);
  const { page: shop, context } = visitor;
  /** @param {Page} page @param {string} name */
  const draw = async (page, name) => {
    await page.evaluate(() => scrollTo(0, 0));
    await waitForAnimations(page);
    await page.screenshot({ path: join(folder, `${name}-${suffix}.png`), fullPage: true });
  };

  await shop.goto(`${app.url}/demo/`);
  await button(shop, 'caneca').waitFor();
  await draw(shop, 'shop-idle');

  const mug = await openWindow(shop, button(shop, 'caneca'));
  await says(shop, 'caneca', 'Aguardando o pagamento');
  await draw(shop, 'shop-pending');
  await payOn(mug, CARD.approved);
  await says(shop, 'caneca', 'Pagamento confirmado');
  await draw(shop, 'shop-paid');

  const coffee = await openWindow(shop, button(shop, 'cafe'));
  await payOn(coffee, CARD.declinedForGood);
  await says(shop, 'cafe', 'O pagamento não foi aprovado');
  await draw(shop, 'shop-failed');

  const hammock = await openWindow(shop, button(shop, 'rede'));
  await hammock.getByLabel('Número do cartão').waitFor();
  clock.advance(SESSION_MS);
  await says(shop, 'rede', 'O prazo para pagar terminou');
  await draw(shop, 'shop-expired');

  const page = await context.newPage();
  await page.goto(coffee.url());
  await draw(page, 'hosted-failed');
  await page.goto(hammock.url());
  await draw(page, 'hosted-expired');
  await page.goto(`${app.url}/demo/`);
  await page.getByText('Nesta página', { exact: true }).click();
  await button(page, 'caneca').click();
  await page.getByLabel('Número do cartão').waitFor();
  await draw(page, 'hosted-form');
  const hostedUrl = page.url();
  // The widget appends a language to the address.
  const orderCode = new URL(hostedUrl).pathname.split('/').at(-1);
  await payOn(page, CARD.declined);
  await page.getByRole('alert').waitFor();
  await draw(page, 'hosted-declined');
  await page.goto(`${app.url}/demo/thank-you?psa_order_code=${orderCode}`);
  await page.getByText('Aguardando o pagamento').first().waitFor();
  await draw(page, 'thanks-pending');
  await page.goto(hostedUrl);
  await payOn(page, CARD.approved);
  await page.getByRole('heading', { name: 'Obrigado!' }).waitFor();
  await draw(page, 'thanks-paid');
  await page.goto(hostedUrl);
  await page.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
  await draw(page, 'hosted-paid');
  await context.close();
}

/** Draws the shop whose payer pays by PIX. @param {typeof LOOKS[number]} look @param {string} folder */
async function drawPix({ name: suffix, ...look }, folder) {
  const { page, context } = await openVisitor(browser, contextOptionsOf(look));
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const draw = (/** @type {string} */ state) => drawWhole(page, look, join(folder, `${state}-${suffix}.png`));
  const start = async (/** @type {string} */ sku) => {
    const checkout = page.locator(`psa-checkout#${sku}`);
    await checkout.locator('[part=button][value=pix]').click();
    const code = await checkout.locator('[part=code]').inputValue();
    return { checkout, pay: () => payCode(code) };
  };
  await page.goto(`${app.url}/demo/`);
  const mug = await start('caneca');
  await mug.checkout.getByText('Aguardando o pagamento').first().waitFor();
  await draw('shop-pix-pending');
  await mug.checkout.locator('[part=copy-button]').click();
  await draw('shop-pix-copied');
  if (isPhone(look)) {
    await mug.checkout.getByText('Mostrar o QR code').click();
    await draw('shop-pix-qr');
  }
  await mug.pay();
  await says(page, 'caneca', 'Pagamento confirmado');
  await draw('shop-pix-paid');
  await mug.pay();
  await page.evaluate(() => dispatchEvent(new Event('visibilitychange')));
  await mug.checkout.getByText(/Recebemos .* e devolvemos/).waitFor();
  await draw('shop-pix-returned');

  await start('rede');
  await openWindow(page, button(page, 'rede'));
  await says(page, 'rede', 'Reabrir a página de pagamento');
  await draw('shop-pix-beside-card');

  const coffee = await start('cafe');
  clock.advance(SESSION_MS);
  await says(page, 'cafe', 'O prazo para pagar terminou');
  await draw('shop-pix-expired');
  await coffee.pay();
  await says(page, 'cafe', 'Confirmado depois do prazo');
  await draw('shop-pix-paid-late');
  await context.close();
}

/** Pays a code as the payer's bank does. @param {string} code */
async function payCode(code) {
  await app.embedded?.pix.pay({ txid: txidOfCode(code) ?? '' });
  await app.work.settled();
  clock.advance(1);
  await app.work.settled();
}

/** The pages of payments by PIX and LTC, and of subscriptions. @param {typeof LOOKS[number]} look @param {string} folder */
async function drawPayerPages({ name: suffix, ...look }, folder) {
  const { page, context } = await openVisitor(browser, contextOptionsOf(look));
  for (const [name, state] of Object.entries(PAGES)) {
    const served = await servePixPage(state);
    try {
      await page.goto(served.pageUrl);
      await drawWhole(page, look, join(folder, `page-${name}-${suffix}.png`));
    } finally {
      await served[Symbol.asyncDispose]();
    }
  }
  await context.close();
}

/** @param {Pick<typeof LOOKS[number], 'viewport'>} look */
function isPhone({ viewport }) {
  return viewport.width < 500;
}

/** The options of a context; a narrow one is a phone's. @param {Omit<typeof LOOKS[number], 'name'>} look */
function contextOptionsOf(look) {
  return { ...look, hasTouch: isPhone(look), isMobile: isPhone(look) };
}

/**
 * Draws the whole page. For a phone the viewport is made as tall as the page: Playwright's `fullPage` would draw it without touch.
 * @param {Page} page @param {Omit<typeof LOOKS[number], 'name'>} look @param {string} path
 */
async function drawWhole(page, look, path) {
  const { viewport } = look;
  await page.evaluate(() => scrollTo(0, 0));
  await waitForAnimations(page);
  if (!isPhone(look)) {
    await page.screenshot({ path, fullPage: true });
    return;
  }
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ ...viewport, height });
  await page.screenshot({ path });
  await page.setViewportSize(viewport);
}

/** The shop with one payment paid and one pending. @param {string} file */
async function drawForReadme(file) {
  const visitor = await openVisitor(browser, { viewport: { width: 1280, height: 1100 } });
  const { page, context } = visitor;
  await page.goto(`${app.url}/demo/`);
  await payOn(await openWindow(page, button(page, 'caneca')), CARD.approved);
  await says(page, 'caneca', 'Pagamento confirmado');
  await openWindow(page, button(page, 'cafe'));
  await visitor.waitForEvent(
    'psa-connection-change',
    ({ target, detail }) => target === 'cafe' && detail.connection === 'live',
  );
  await page.evaluate(() =>
    scrollTo(0, (document.querySelector('.columns')?.getBoundingClientRect().top ?? 0) + scrollY - 24),
  );
  await waitForAnimations(page);
  await page.screenshot({ path: file });
  await context.close();
}

/** @param {Page} page @param {string} sku */
function button(page, sku) {
  return page.locator(`psa-checkout#${sku} [part=button]:not([value=pix])`);
}

/** @param {Page} page @param {string} sku @param {string} text */
function says(page, sku, text) {
  return page.locator(`psa-checkout#${sku}`).getByText(text).first().waitFor();
}

/** @param {Page} page @param {Locator} button */
async function openWindow(page, button) {
  const [popup] = await Promise.all([page.waitForEvent('popup'), button.click()]);
  await popup.waitForURL(/\/checkout\//);
  return popup;
}
