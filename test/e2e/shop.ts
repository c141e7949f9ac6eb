import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchBrowser, openVisitor, type Visitor } from '../support/browser.ts';
import { savePages } from '../support/screenshots.ts';
import { type Fixture, startFixture } from './fixture.ts';

/** The members of a server that a shop needs. */
type Served = Pick<Fixture, 'url' | 'faults' | 'close'>;

export interface Shop<On extends Served = Fixture> {
  readonly fixture: On;
  /** Opens a visitor's page on the shop, or on `path`. Any problem in the visitor's browser fails the test. */
  visit(options?: BrowserContextOptions, path?: string): Promise<Visitor>;
}

/** Opens the demo shop on real servers and a browser for the tests of a file or a `describe`. */
export function openShop(): Shop;
export function openShop<On extends Served>(start: () => Promise<On>, kind?: 'shell' | 'browser'): Shop<On>;
export function openShop(
  start: () => Promise<Served> = startFixture,
  kind?: 'shell' | 'browser',
): Shop<Served> {
  let fixture: Served;
  let browser: Browser;
  const visitors: Visitor[] = [];

  beforeAll(async () => {
    // Each is assigned as soon as it is ready, so that it is closed even if the other fails.
    const opening = await Promise.allSettled([
      start().then((started) => {
        fixture = started;
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
    await fixture?.close();
    expect(fixture?.faults() ?? []).toEqual([]);
  });

  return {
    get fixture() {
      return fixture;
    },
    async visit(options, path = '/demo/') {
      const visitor = await openVisitor(browser, options);
      visitors.push(visitor);
      await visitor.page.goto(`${fixture.url}${path}`);
      return visitor;
    },
  };
}

/** Chooses where the payment page opens, by the text of the shop's setting. */
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
    /** Pays by card. */
    payButton: element.locator('[part=button]:not([value=pix])'),
    pixButton: element.locator('[part=button][value=pix]'),
    code: element.locator('[part=code]'),
    copyButton: element.locator('[part=copy-button]'),
    retryButton: element.locator('[part=retry-button]'),
    backButton: element.locator('[part=cancel-button]'),
    pageLink: element.locator('[part=link]'),
    /** Waits until the element shows the text. A failure names the text that it shows in its place. */
    says: (text: string | RegExp) =>
      element
        .getByText(text)
        .first()
        .waitFor()
        .catch(async (cause: Error) => {
          const shown = await element.evaluate(({ shadowRoot }) => shadowRoot?.textContent);
          throw new Error(`${cause.message}\nIt shows: ${shown}`, { cause });
        }),
    orderCode: async () => (await element.getByText(/^PSC-/).textContent()) ?? '',
  };
}

/** Presses a button and returns the window with the hosted page. */
export async function openPopup(visitor: Visitor, press: () => Promise<void>): Promise<Page> {
  const [popup] = await Promise.all([visitor.context.waitForEvent('page'), press()]);
  await popup.waitForURL(/\/checkout\//);
  return popup;
}

/** Reads the merchant's pending release with the live key. */
export async function pendingCents({ live }: Fixture): Promise<number> {
  return (await live.request('{ wallet { pendingReleaseCents } }')).wallet.pendingReleaseCents;
}

export async function paymentsOf({ live }: Fixture): Promise<{ orderCode: string; status: string }[]> {
  return (await live.request('{ cardPayments { nodes { orderCode status } } }')).cardPayments.nodes;
}
