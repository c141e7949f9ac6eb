import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchBrowser, openVisitor, type Visitor } from '../support/browser.ts';
import { savePages } from '../support/screenshots.ts';
import { type Stand, startStand } from './stand.ts';

export interface Shop<On extends Stand = Stand> {
  readonly stand: On;
  /** A visitor whose page shows the shop, or `path`. Whatever their browser complains about fails the test. */
  visit(options?: BrowserContextOptions, path?: string): Promise<Visitor>;
}

/** The demo shop on real servers and a browser, for the tests around it. */
export function openShop(): Shop;
export function openShop<On extends Stand>(start: () => Promise<On>, kind?: 'shell' | 'browser'): Shop<On>;
export function openShop(start: () => Promise<Stand> = startStand, kind?: 'shell' | 'browser'): Shop {
  let stand: Stand;
  let browser: Browser;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    // Each as soon as it is there: where the other fails, it is ended all the same.
    const opening = await Promise.allSettled([
      start().then((started) => {
        stand = started;
      }),
      launchBrowser(kind).then((launched) => {
        browser = launched;
      }),
    ]);
    for (const each of opening) if (each.status === 'rejected') throw each.reason;
  });
  afterEach(async ({ task }) => {
    const gone = visitors.splice(0);
    if (task.result?.state === 'fail')
      await savePages(
        gone.map(({ context }) => context),
        task.name,
      );
    await Promise.all(gone.map(({ context }) => context.close()));
    expect(gone.flatMap((visitor) => visitor.problems())).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await stand?.close();
    expect(stand?.faults() ?? []).toEqual([]);
  });

  return {
    get stand() {
      return stand;
    },
    async visit(options, path = '/demo/') {
      const visitor = await openVisitor(browser, options);
      visitors.push(visitor);
      await visitor.page.goto(`${stand.url}${path}`);
      return visitor;
    },
  };
}

/** Names the settings of the shop as its page does. */
export async function chooseMode(page: Page, mode: 'Janela' | 'Aba' | 'Nesta página'): Promise<void> {
  await page.getByText(mode, { exact: true }).click();
}

/** One product's `<psa-checkout>`. */
export function productOf(page: Page, sku: 'caneca' | 'cafe' | 'rede') {
  return checkoutOf(page, `psa-checkout#${sku}`);
}

export function checkoutOf(page: Page, selector = 'psa-checkout') {
  const element = page.locator(selector);
  return {
    element,
    payButton: element.locator('[part=button]'),
    retryButton: element.locator('[part=retry-button]'),
    backButton: element.locator('[part=cancel-button]'),
    pageLink: element.locator('[part=link]'),
    /** Resolves when the element says so. */
    says: (text: string | RegExp) => element.getByText(text).first().waitFor(),
    orderCode: async () => (await element.getByText(/^PSC-/).textContent()) ?? '',
  };
}

/** Presses the button and gives the window with the hosted page. */
export async function openPopup(visitor: Visitor, press: () => Promise<void>): Promise<Page> {
  const [popup] = await Promise.all([visitor.context.waitForEvent('page'), press()]);
  await popup.waitForURL(/\/checkout\//);
  return popup;
}

/** What the merchant sees with the live key. */
export async function pendingCents({ live }: Stand): Promise<number> {
  return (await live.request('{ wallet { pendingReleaseCents } }')).wallet.pendingReleaseCents;
}

export async function paymentsOf({ live }: Stand): Promise<{ orderCode: string; status: string }[]> {
  return (await live.request('{ cardPayments { nodes { orderCode status } } }')).cardPayments.nodes;
}

/** Both of the dashboard's connections: the page's own and the table's. */
export async function isLive(page: Page): Promise<void> {
  await page.locator('[data-connection]').getByText('Ao vivo').waitFor();
  await page.locator('#payouts [part=connection]').getByText('Ao vivo').waitFor();
}
