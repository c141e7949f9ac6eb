import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { LIVE_KEY } from '../support/app.ts';
import { findViolations, injectAxe } from '../support/axe.ts';
import { CARD, payOn } from '../support/browser.ts';
import { fillAccount } from '../support/filled-account.ts';
import { onlyInAll, runsAll } from '../support/scale.ts';
import type { ServiceFixture } from './fixture.ts';
import { checkoutOf, chooseMode, openPopup, openShop, productOf } from './shop.ts';

const INVALID_KEY = 'ps_live_thisIsNoKey';

const shop = openShop();
// Lists are longer than one page of twenty rows.
beforeAll(async () => {
  if (!runsAll() || inject('backend') === 'facade') return;
  const { database, clock } = (shop.fixture as ServiceFixture).app;
  await fillAccount(database, clock.now());
});

// Every test fails on a violation of a page's own Content-Security-Policy, because the browser logs it.
describe.each(
  // The hosted page and the element have their own axe tests.
  onlyInAll([
    ['light', { width: 1280, height: 900 }],
    ['dark', { width: 390, height: 844 }],
  ] as const),
)('in %s colours', (colorScheme, viewport) => {
  it('axe finds nothing on the shop, the hosted page and the thank-you page', async () => {
    const visitor = await shop.visit({ colorScheme, viewport });
    visitor.expectProblems(/status of 422/);
    const { page, context } = visitor;
    await injectAxe(context);
    await page.reload();
    const product = productOf(page, 'caneca');
    await product.payButton.waitFor();
    expect(await findViolations(page)).toEqual([]);

    const popup = await openPopup(visitor, () => product.payButton.click());
    expect(await findViolations(popup)).toEqual([]);
    await product.says('Aguardando o pagamento');
    expect(await findViolations(page)).toEqual([]);
    await payOn(popup, CARD.declined);
    await popup.getByRole('alert').waitFor();
    expect(await findViolations(popup)).toEqual([]);
    await payOn(popup, CARD.declinedForGood);
    await popup.getByRole('heading', { name: 'Pagamento não concluído' }).waitFor();
    expect(await findViolations(popup)).toEqual([]);
    await product.says('O pagamento não foi aprovado');
    expect(await findViolations(page)).toEqual([]);
    await popup.close();

    await chooseMode(page, 'Nesta página');
    await productOf(page, 'cafe').payButton.click();
    await page.waitForURL(/\/checkout\//);
    const hostedUrl = page.url();
    await page.goto(
      `${shop.fixture.url}/demo/thank-you?psa_order_code=${new URL(hostedUrl).pathname.split('/').at(-1)}`,
    );
    await checkoutOf(page).says('Aguardando o pagamento');
    expect(await findViolations(page)).toEqual([]);
    await page.goto(hostedUrl);
    await payOn(page, CARD.approved);
    await page.getByRole('heading', { name: 'Obrigado!' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.goto(hostedUrl);
    await page.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
  });
});

it('the shop sells in a browser that stores nothing', async () => {
  const visitor = await shop.visit({});
  const { page, context } = visitor;
  await context.addInitScript(() => {
    const get = () => {
      throw new DOMException('Access is denied', 'SecurityError');
    };
    for (const name of ['sessionStorage', 'localStorage']) Object.defineProperty(window, name, { get });
  });
  await page.reload();
  await page.getByText('Aba', { exact: true }).click();
  const { payButton, pixButton, code } = productOf(page, 'caneca');
  // Waits until the button can be pressed, and does not press it.
  await payButton.click({ trial: true });
  // The operator of this facade has not named the family of the service.
  if (inject('backend') === 'facade') return;
  await pixButton.click();
  await code.waitFor();
});

// ── The gallery ─────────────────────────────────────────────────────────────────────────────────

// A facade creates no tokens of a real account; the gallery says so.
if (inject('backend') === 'service')
  it('what the gallery writes works in an empty page of another site', async () => {
    const visitor = await shop.visit({ colorScheme: 'light' }, '/demo/gallery?theme=custody&mode=popup');
    const { page } = visitor;
    await page.getByLabel('Produto').fill('Caneca');
    await page.getByLabel('Valor em reais').fill('49,90');
    await page.keyboard.press('Enter');
    await page.getByText('Token criado').waitFor();
    const html = await page.getByLabel('HTML', { exact: true }).inputValue();
    const css = await page.getByLabel('CSS', { exact: true }).inputValue();
    const body = `<!doctype html><title>Shop</title><link rel="icon" href="data:,"><style>${css}</style>${html}`;
    const site = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(body),
    ).listen(0);
    await once(site, 'listening');
    onTestFinished(() => void site.close());
    await page.goto(`http://localhost:${(site.address() as AddressInfo).port}/`);

    const checkout = checkoutOf(page);
    await checkout.pixButton.click();
    await checkout.code.waitFor();
    await checkout.says('R$ 49,90');
    const panel = checkout.element.locator('[part~=panel]');
    expect(await panel.evaluate((node) => getComputedStyle(node).borderRadius)).toBe('2px');
    const popup = await openPopup(visitor, () => checkout.payButton.click());
    await payOn(popup, CARD.approved);
    await checkout.says('Pagamento confirmado');
  });

// ── GraphiQL ────────────────────────────────────────────────────────────────────────────────────

async function openGraphiQL() {
  const visitor = await shop.visit({}, '/graphql');
  const { page } = visitor;
  // Without a key the examples are refused.
  visitor.expectProblems(/status of 401/);
  await page.getByRole('tab', { name: /Wallet/ }).waitFor();
  return page;
}

/** Types a key that the server printed into the field for all tabs. */
const typeKey = (page: Page) => page.getByLabel('API key').fill(LIVE_KEY);

async function openTab(page: Page, operation: string): Promise<void> {
  // The tab is chosen by keyboard: GraphiQL's tabs slide away from under the first click.
  await page.getByRole('button', { name: operation, exact: true }).press('Enter');
  // GraphiQL notices a moment later that the operation has changed, and then stores its text.
  await page.waitForFunction((name) => localStorage['graphiql:query']?.includes(` ${name} {`), operation);
}

const execute = (page: Page) => page.getByRole('button', { name: /^Execute query/ }).click();
const resultOf = (page: Page) => page.getByRole('region', { name: 'Result Window' });

it('GraphiQL shows the documentation without a key, and runs the examples of every tab with the key of one field', async () => {
  const page = await openGraphiQL();
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await page.getByRole('link', { name: 'Query', exact: true }).click();
  await page.getByRole('link', { name: 'wallet', exact: true }).click();
  await page.getByRole('link', { name: 'Wallet', exact: true }).click();
  await page.getByText('card sales that await release').waitFor();

  await execute(page);
  // Each root field has an error.
  await resultOf(page).getByText('UNAUTHENTICATED').first().waitFor();
  await resultOf(page).getByText('No API key').first().waitFor();
  await page.getByText('No key. In embedded mode').waitFor();

  await typeKey(page);
  await page.getByText('Live key for all tabs').waitFor();
  await execute(page);
  await resultOf(page).getByText('"pendingReleaseCents"').waitFor();
  await resultOf(page).getByText('"LIVE"').waitFor();
  await openTab(page, 'CardPayments');
  await execute(page);
  await resultOf(page).getByText('"totalCount"').waitFor();
  // A key in Headers is sent, too, and neither is stored.
  await page.getByRole('button', { name: 'Headers', exact: true }).click();
  const headers = page.getByRole('region', { name: 'Headers' }).locator('.graphiql-editor:not(.hidden)');
  await headers.locator('.view-lines').click();
  await page.keyboard.insertText(JSON.stringify({ authorization: `Bearer ${INVALID_KEY}` }));
  await execute(page);
  await resultOf(page).getByText('Invalid API key').first().waitFor();
  // The mark has no hexadecimal digits: GraphiQL stores random UUIDs, too.
  await page.evaluate(() => localStorage.setItem('by the test', 'Bearer xyz, ps_live_xyz'));
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(stored).toContain('CardPayments');
  for (const key of [LIVE_KEY, INVALID_KEY, 'xyz']) expect(stored).not.toContain(key);
  expect(page.url()).not.toContain(LIVE_KEY);
});

if (runsAll())
  it('GraphiQL shows the updates of the example subscription as they arrive', async () => {
    const page = await openGraphiQL();
    await openTab(page, 'FollowCardPayments');
    await typeKey(page);
    const [subscribed] = await Promise.all([
      page.waitForResponse(
        (response) => response.headers()['content-type']?.startsWith('text/event-stream') ?? false,
      ),
      execute(page),
    ]);
    expect(subscribed.status()).toBe(200);

    const { createCardPayment } = await shop.fixture.live.request(
      'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } } }',
    );
    const { orderCode } = createCardPayment.cardPayment;
    await resultOf(page).getByText(orderCode).waitFor();
    await resultOf(page).getByText('"PENDING"').waitFor();
    await shop.fixture.payElsewhere(orderCode);
    await resultOf(page).getByText('"PAID"').waitFor();
  });
