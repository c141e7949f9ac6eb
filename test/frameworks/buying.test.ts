// Pages that common bundlers and frameworks build with the packed element: a purchase by each method, which calls the
// page's own handler, and one after a lost chunk. `npm run nightly -- frameworks` runs all.
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { startServiceFixture } from '../e2e/fixture.ts';
import { openShop } from '../e2e/shop.ts';
import type { Visitor } from '../support/browser.ts';
import { scale } from '../support/scale.ts';
import { BUNDLERS } from './bundlers.ts';
import { openProject, packCheckout, type RunningProject } from './project.ts';
import { SERVERS } from './servers.ts';

const PROJECTS = { ...BUNDLERS, ...SERVERS };
/** One of each kind: native modules, a loader of the bundler, and a server that renders. */
const ONE_OF_EACH = ['Vite', 'Rspack', 'React'];
const BUILD_MS = 900_000;

const shop = openShop(() => startServiceFixture());
let checkout: string;
beforeAll(async () => {
  checkout = await packCheckout();
}, BUILD_MS);
afterAll(() => checkout && rm(dirname(checkout), { recursive: true }));

const chosen = Object.entries(PROJECTS).filter(
  ([name]) => scale('FRAMEWORKS') > ONE_OF_EACH.length || ONE_OF_EACH.includes(name),
);

describe.each(chosen)('a page that %s builds', (name, project) => {
  let running: RunningProject;
  beforeAll(async () => {
    running = await openProject(name, project, checkout);
  }, BUILD_MS);
  afterAll(() => running?.close());

  async function open(): Promise<{ visitor: Visitor; page: Page }> {
    const { createCheckoutToken } = await shop.fixture.live.request(
      `mutation { createCheckoutToken(input: {
        amount: { fixedCents: 4990 }, description: "Caneca", reusable: true, methods: [PIX, CARD]
      }) { ... on CreateCheckoutTokenSuccess { token } } }`,
    );
    const visitor = await shop.visit({}, '/healthz');
    const { page } = visitor;
    const query = new URLSearchParams({
      endpoint: `${shop.fixture.url}/graphql`,
      token: createCheckoutToken.token,
    });
    await page.goto(`${running.url}/?${query}`);
    await page.waitForFunction(() => {
      const element = document.querySelector('psa-checkout');
      return element?.customer?.externalId === 'u-17' && !element.disabled;
    });
    return { visitor, page };
  }

  async function payByPix({ page }: Visitor): Promise<void> {
    const code = await page.locator('[part=code]').inputValue();
    expect(await shop.fixture.app.pix.pay({ txid: txidOfCode(code)! })).not.toBeNull();
    await shop.fixture.pass(1);
  }

  async function thanks({ page }: Visitor): Promise<void> {
    const code = await page.evaluate(() => {
      const { payment } = document.querySelector('psa-checkout')!;
      return payment?.__typename === 'Payment' ? payment.paymentId : payment?.orderCode;
    });
    expect(code).toBeTruthy();
    await page.getByText(`Obrigado! Pedido ${code}`).waitFor();
    expect(await page.locator('p', { hasText: 'Obrigado!' }).count()).toBe(1);
  }

  it('is paid by PIX, and its own handler runs once', async () => {
    const { visitor, page } = await open();
    await page.locator('[part=button][value=pix]').click();
    await payByPix(visitor);
    await thanks(visitor);
    const { customer } = await shop.fixture.live
      .request('{ payments(first: 1) { nodes { customer { externalId } } } }')
      .then(({ payments }) => payments.nodes[0]);
    expect(customer).toEqual({ externalId: 'u-17' });
  });

  it('hears of its paid payment again after a reload', async () => {
    const { visitor, page } = await open();
    await page.locator('[part=button][value=pix]').click();
    await payByPix(visitor);
    await thanks(visitor);
    await page.reload();
    await page.waitForFunction(() => document.querySelector('psa-checkout')?.phase === 'paid');
    await thanks(visitor);
  });

  it('is paid by card, and its own handler runs once', async () => {
    const { visitor, page } = await open();
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.locator('[part=button]:not([value=pix])').click(),
    ]);
    await page.waitForFunction(() => document.querySelector('psa-checkout')?.phase === 'pending');
    const orderCode = await page.evaluate(() => document.querySelector('psa-checkout')?.payment?.orderCode);
    await shop.fixture.payElsewhere(orderCode!);
    await thanks(visitor);
    await popup.close();
  });

  if (project.hasBoard)
    it('shows the sale and the disputes of the account, and its own handler runs', async () => {
      const { visitor, page } = await open();
      await page.locator('[part=button][value=pix]').click();
      await payByPix(visitor);
      await thanks(visitor);
      const { createDashboardToken } = await shop.fixture.live.request(
        `mutation { createDashboardToken(input: { scopes: [PAYMENTS, DISPUTES] }) {
          ... on CreateDashboardTokenSuccess { token }
        } }`,
      );
      const query = new URLSearchParams({
        endpoint: `${shop.fixture.url}/graphql`,
        dashboard: createDashboardToken.token,
      });
      await page.goto(`${running.url}/?${query}`);
      await page.locator('psa-disputes [part=empty]').waitFor();
      await page.locator('psa-sales tbody tr').first().click();
      await page.getByText(/^Venda psa_/).waitFor();
    });

  if (project.hasSecondTry ?? true)
    it('loads a chunk again that was lost once', async () => {
      const { visitor, page } = await open();
      visitor.expectProblems(/Failed to load resource/, /503 from .*\.js/);
      const lost: string[] = [];
      await page.route(/\.m?js(\?|$)/, (route) => {
        if (lost.length > 0) return route.continue();
        lost.push(route.request().url());
        return route.fulfill({ status: 503 });
      });
      await page.locator('[part=button][value=pix]').click();
      await payByPix(visitor);
      await thanks(visitor);
      expect(lost).toHaveLength(1);
    });
});
