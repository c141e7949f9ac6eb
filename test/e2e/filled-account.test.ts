import { beforeAll, describe, expect, it } from 'vitest';
import { findViolations, injectAxe } from '../support/axe.ts';
import { FILLED, fillAccount } from '../support/filled-account.ts';
import { startServiceFixture } from './fixture.ts';
import { openShop } from './shop.ts';

const shop = openShop(startServiceFixture);
let account: Awaited<ReturnType<typeof fillAccount>>;
beforeAll(async () => {
  const { database, clock } = shop.fixture.app;
  account = await fillAccount(database, clock.now());
});

describe('the console of a full account', () => {
  it('Each filter shows everything that the server has of it, however far behind', async () => {
    const { page } = await shop.visit({}, '/console/');
    await page.getByRole('navigation', { name: 'Páginas' }).waitFor();
    for (const [address, rows, count] of [
      ['sales?statuses=REFUNDED', 'psa-sales tbody tr', FILLED.refundedPayments + FILLED.refundedCards],
      ['disputes?statuses=LOST', 'psa-disputes tbody tr', FILLED.lostDisputes],
      ['subscriptions?statuses=PAST_DUE', 'console-subscriptions tbody tr', FILLED.unpaidSubscriptions],
      ['products?stock=EMPTY', 'details.product', FILLED.emptyContents],
    ] as const) {
      await page.goto(`${shop.fixture.url}/console/${address}`);
      await expect.poll(() => page.locator(rows).count()).toBe(count);
    }
  });

  it('The sales of today are those of all pages, exactly', async () => {
    const { page } = await shop.visit({}, '/console/');
    const midnight = new Date(`${shop.fixture.app.clock.now().toISOString().slice(0, 10)}T03:00:00Z`);
    const cents = await account.paidSince(midnight);
    await page.getByText('Ver como tabela').click();
    await page
      .locator('console-chart tbody')
      .getByText((cents / 100).toLocaleString('pt-BR', { style: 'currency', currency: 'BRL' }))
      .waitFor();
  });

  it('No page of a full account breaks a rule of accessibility, nor is wider than a phone', async () => {
    const { live, url } = shop.fixture;
    const { payments } = await live.request('{ payments(first: 1) { nodes { checkoutUrl } } }');
    const { context, page } = await shop.visit({}, '/demo/');
    await injectAxe(context);
    for (const [address, shown] of [
      [`${url}/simulator/`, '.pix-bank .rows li'],
      [`${url}/demo/`, 'psa-checkout'],
      [payments.nodes[0].checkoutUrl, 'main'],
    ] as const) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(address);
      await page.locator(shown).first().waitFor();
      await page.locator('details').evaluateAll((all: HTMLDetailsElement[]) => {
        for (const details of all) details.open = true;
      });
      expect([address, await findViolations(page)]).toEqual([address, []]);
      await page.setViewportSize({ width: 320, height: 800 });
      await page.emulateMedia({ colorScheme: 'dark' });
      expect([address, await findViolations(page)]).toEqual([address, []]);
      await page.emulateMedia({ colorScheme: 'light' });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([address, width]).toEqual([address, 320]);
    }
  });
});
