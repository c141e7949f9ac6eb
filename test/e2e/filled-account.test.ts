import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { findViolations, injectAxe } from '../support/axe.ts';
import { FILLED, fillAccount } from '../support/filled-account.ts';
import { startServiceFixture } from './fixture.ts';
import { isLive, openShop } from './shop.ts';

const shop = openShop(startServiceFixture);
let account: Awaited<ReturnType<typeof fillAccount>>;
beforeAll(async () => {
  const { database, clock } = shop.fixture.app;
  account = await fillAccount(database, clock.now());
});

async function openDashboard(): Promise<Page> {
  const visitor = await shop.visit({}, '/demo/dashboard');
  visitor.expectProblems(/WebSocket connection to/);
  await isLive(visitor.page);
  return visitor.page;
}

/** Reads a table to its end, and returns the number of its rows. */
async function readToEnd(page: Page, table: string): Promise<number> {
  const rows = page.locator(`#${table} tbody tr`);
  const more = page.locator(`#${table} .more`);
  await rows.first().waitFor();
  while (await more.isVisible()) {
    const before = await rows.count();
    await more.click();
    await expect.poll(async () => (await rows.count()) > before || !(await more.isVisible())).toBe(true);
  }
  return rows.count();
}

describe('the dashboard of a full account', () => {
  it('Each filter shows everything that the server has of it, however far behind, and a list goes to its end', async () => {
    const page = await openDashboard();
    for (const [table, status, count] of [
      ['webhooks', 'EXHAUSTED', FILLED.deadWebhooks],
      ['pix-payments', 'REFUNDED', FILLED.refundedPayments],
      ['card-payments', 'REFUNDED', FILLED.refundedCards],
      ['disputes', 'LOST', FILLED.lostDisputes],
      ['subscriptions', 'PAST_DUE', FILLED.unpaidSubscriptions],
      ['subaccount-payouts', 'FAILED', FILLED.failedSubaccountPayouts],
      ['contents', 'EMPTY', FILLED.emptyContents],
    ] as const) {
      await page.locator(`#${table} select`).selectOption(status);
      expect([table, await readToEnd(page, table)]).toEqual([table, count]);
      await page.locator(`#${table} select`).selectOption('');
    }
    await page.locator('#charges select').selectOption('REFUNDED');
    await page.locator('#charges').getByText('Nenhum com este status.').waitFor();
    expect(await readToEnd(page, 'disputes')).toBe(FILLED.disputes);
  });

  it('The sales of today are those of all pages, exactly, and those of the hours are their parts', async () => {
    const page = await openDashboard();
    const midnight = new Date(`${shop.fixture.app.clock.now().toISOString().slice(0, 10)}T03:00:00Z`);
    const cents = await account.paidSince(midnight);
    const reais = (cents / 100).toLocaleString('pt-BR', { minimumFractionDigits: 2 });
    await page.locator('.legend .in').getByText(`R$ ${reais}`, { exact: true }).waitFor();
    await page.getByText('Ver como tabela').click();
    const hours = await page.locator('.as-table tbody tr td:nth-child(2)').allInnerTexts();
    const sum = hours.reduce((all, text) => all + Number(text.replace(/[^\d,]/g, '').replace(',', '')), 0);
    expect(sum).toBe(cents);
  });

  it('No page of a full account breaks a rule of accessibility, nor is wider than a phone', async () => {
    const { live, url } = shop.fixture;
    const { payments } = await live.request('{ payments(first: 1) { nodes { checkoutUrl } } }');
    const { context, page } = await shop.visit({}, '/demo/');
    await injectAxe(context);
    for (const [address, shown] of [
      [`${url}/demo/dashboard`, '#pix-payments tbody tr'],
      [`${url}/simulator/`, '.pix-bank .rows li'],
      [`${url}/demo/`, 'psa-checkout'],
      [payments.nodes[0].checkoutUrl, 'main'],
    ] as const) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(address);
      await page.locator(shown).first().waitFor();
      expect([address, await findViolations(page)]).toEqual([address, []]);
      await page.setViewportSize({ width: 320, height: 800 });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([address, width]).toEqual([address, 320]);
    }
  });

  it('The dashboard names each time’s zone in a header of two lines at most, and keeps the key of its chart in forced colors', async () => {
    const page = await openDashboard();
    const header = page.locator('#payouts [part=header]');
    await header.getByText('Solicitado (Brasília)').waitFor();
    await page.emulateMedia({ forcedColors: 'active' });
    for (const width of [320, 390, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      expect([width, (await header.boundingBox())!.height < 50]).toEqual([width, true]);
    }
    const [into, out] = await page
      .locator('.legend dt')
      .evaluateAll((keys) => keys.map((key) => getComputedStyle(key, '::before').backgroundColor));
    expect(into).not.toBe(out);
  });

  it('Every button has an edge in forced colors, and one of a row or a list is named by that', async () => {
    const page = await openDashboard();
    await page.emulateMedia({ forcedColors: 'active' });
    await page.locator('#card-payments .operation').first().waitFor();
    const edgeless = await page.locator('button:visible').evaluateAll((buttons) =>
      buttons
        // A grid's head is left out: its cells are the columns' names.
        .filter(
          (button) => !button.closest('th') && Number.parseFloat(getComputedStyle(button).borderTopWidth) < 1,
        )
        .map(({ textContent }) => textContent?.trim()),
    );
    expect(edgeless).toEqual([]);
    const rows = page.locator('#card-payments tbody tr:has(.operation)');
    const unnamed = await rows.evaluateAll((all) =>
      all.filter((row) => {
        const name = row.querySelector('.operation')?.getAttribute('aria-label') ?? '';
        const says = (selector: string) => row.querySelector(selector)?.textContent?.trim() ?? '';
        return ![says('td:nth-child(2)'), says('.strong'), says('td:nth-child(3) small')].every((part) =>
          name.includes(part),
        );
      }),
    );
    expect([await rows.count(), unnamed.length]).toEqual([expect.any(Number), 0]);
    await page.getByRole('button', { name: 'Mostrar mais em Webhooks' }).waitFor();
  });
});
