import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { LIVE_KEY } from '../support/app.ts';
import { findViolations, injectAxe } from '../support/axe.ts';
import { CARD, payOn } from '../support/browser.ts';
import { onlyInAll, runsAll } from '../support/scale.ts';
import { checkoutOf, chooseMode, openPopup, openShop, productOf } from './shop.ts';

const shop = openShop();

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

// ── GraphiQL ────────────────────────────────────────────────────────────────────────────────────

async function openGraphiQL() {
  const visitor = await shop.visit({}, '/graphql');
  const { page } = visitor;
  // Without a key the examples are refused.
  visitor.expectProblems(/status of 401/);
  await page.getByRole('tab', { name: /Wallet/ }).waitFor();
  return page;
}

/** Types a key that the server printed into Headers. */
async function typeKey(page: Page): Promise<void> {
  const headers = page.getByRole('region', { name: 'Headers' }).locator('.graphiql-editor:not(.hidden)');
  await headers.locator('.view-line', { hasText: 'authorization' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.insertText(LIVE_KEY);
  await headers.getByText(LIVE_KEY).waitFor();
}

const execute = (page: Page) => page.getByRole('button', { name: /^Execute query/ }).click();
const resultOf = (page: Page) => page.getByRole('region', { name: 'Result Window' });

it('GraphiQL shows the documentation without a key, and runs the example query with a key in Headers', async () => {
  const page = await openGraphiQL();
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await page.getByRole('link', { name: 'Query', exact: true }).click();
  await page.getByRole('link', { name: 'wallet', exact: true }).click();
  await page.getByRole('link', { name: 'Wallet', exact: true }).click();
  await page.getByText('Card sales awaiting release').waitFor();

  await execute(page);
  await resultOf(page).getByText('UNAUTHENTICATED').waitFor();

  await typeKey(page);
  await execute(page);
  await resultOf(page).getByText('"pendingReleaseCents"').waitFor();
  await resultOf(page).getByText('"LIVE"').waitFor();
});

if (runsAll())
  it('GraphiQL shows the updates of the example subscription as they arrive', async () => {
    const page = await openGraphiQL();
    // By keyboard: GraphiQL's tabs slide away from under the first click.
    await page.getByRole('button', { name: 'FollowCardPayments', exact: true }).press('Enter');
    await page.getByRole('region', { name: 'Operation Editor' }).getByText('allCardPaymentUpdates').waitFor();
    await typeKey(page);
    const [subscribed] = await Promise.all([
      page.waitForResponse(
        (response) => response.headers()['content-type']?.startsWith('text/event-stream') ?? false,
      ),
      execute(page),
    ]);
    expect(subscribed.status()).toBe(200);

    const { createCardPayment } = await shop.fixture.live.request(
      'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CardPaymentSuccess { cardPayment { orderCode } } } }',
    );
    const { orderCode } = createCardPayment.cardPayment;
    await resultOf(page).getByText(orderCode).waitFor();
    await resultOf(page).getByText('"PENDING"').waitFor();
    await shop.fixture.payElsewhere(orderCode);
    await resultOf(page).getByText('"PAID"').waitFor();
  });
