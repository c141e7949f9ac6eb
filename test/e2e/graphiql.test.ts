import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { LIVE_KEY } from '../support/app.ts';
import { openShop, payElsewhere } from './shop.ts';

const shop = openShop();

async function openGraphiQL() {
  const visitor = await shop.visit();
  const { page } = visitor;
  // Without a key the examples are refused.
  visitor.expectProblems(/status of 401/);
  await page.goto(`${shop.app.url}/graphql`);
  await page.getByRole('tab', { name: /Wallet/ }).waitFor();
  return page;
}

/** What somebody does who has the keys that the server printed. */
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

it('opens with the documentation, without a key', async () => {
  const page = await openGraphiQL();
  await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
  await page.getByRole('link', { name: 'Query', exact: true }).click();
  await page.getByRole('link', { name: 'wallet', exact: true }).click();
  await page.getByRole('link', { name: 'Wallet', exact: true }).click();
  await page.getByText('Card sales awaiting release').waitFor();
});

it('runs the example query with a key typed into Headers', async () => {
  const page = await openGraphiQL();
  await execute(page);
  await resultOf(page).getByText('UNAUTHENTICATED').waitFor();

  await typeKey(page);
  await execute(page);
  await resultOf(page).getByText('"pendingReleaseCents"').waitFor();
  await resultOf(page).getByText('"LIVE"').waitFor();
});

it('shows the updates of the example subscription as they come', async () => {
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

  const { createCardPayment } = await shop.app.live.request(
    'mutation { createCardPayment(input: { valueCents: 4990 }) { ... on CardPaymentSuccess { cardPayment { orderCode } } } }',
  );
  const { orderCode } = createCardPayment.cardPayment;
  await resultOf(page).getByText(orderCode).waitFor();
  await resultOf(page).getByText('"PENDING"').waitFor();
  await payElsewhere(shop.app, orderCode);
  await resultOf(page).getByText('"PAID"').waitFor();
});
