// Pages that name a released version of an element, as the documents show them, against the current server: a
// purchase by PIX, one by card, and a payout on a dashboard.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { importMap, readHashes, scriptTag } from '../../widget/scripts/released.mjs';
import type { Visitor } from '../support/browser.ts';
import { simulate, startServiceFixture } from './fixture.ts';
import { openShop } from './shop.ts';
import { pageWith, type Site, startSite } from './site.ts';

const shop = openShop(() => startServiceFixture());

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site?.close());

/** Opens a page with one element, and collects the addresses of the scripts that it loads. */
async function open(
  { element, version }: { element: 'psa-checkout' | 'psa-payouts'; version: string },
  attributes: Record<string, string>,
): Promise<{ visitor: Visitor; scripts: string[] }> {
  const released = { element, version, origin: shop.fixture.url };
  const endpoint = `${shop.fixture.url}/graphql`;
  site.page = pageWith(element, { endpoint, ...attributes }, importMap(released) + scriptTag(released));
  const visitor = await shop.visit({}, '/healthz');
  const scripts: string[] = [];
  visitor.page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.push(request.url());
  });
  await visitor.page.goto(site.url);
  return { visitor, scripts };
}

describe.each(Object.keys(readHashes()))('version %s of the widget', (version) => {
  async function openCheckout() {
    const { createCheckoutToken } = await shop.fixture.live.request(
      `mutation { createCheckoutToken(input: {
        amount: { fixedCents: 4990 }, description: "Caneca", reusable: true, methods: [PIX, CARD]
      }) { ... on CreateCheckoutTokenSuccess { token } } }`,
    );
    return open(
      { element: 'psa-checkout', version },
      { token: createCheckoutToken.token, methods: 'pix card' },
    );
  }

  const reaches = ({ page }: Visitor, phase: string) =>
    page.waitForFunction((phase) => document.querySelector('psa-checkout')?.phase === phase, phase);

  it('sells by PIX, with files of its own version alone, and finds the payment after a reload', async () => {
    const { visitor, scripts } = await openCheckout();
    const { page } = visitor;
    await page.locator('[part=button][value=pix]').click();
    const code = await page.locator('[part=code]').inputValue();
    expect(await shop.fixture.app.pix.pay({ txid: txidOfCode(code)! })).not.toBeNull();
    await shop.fixture.pass(1);
    await reaches(visitor, 'paid');
    await page.reload();
    await reaches(visitor, 'paid');
    expect(scripts).toContain(`${shop.fixture.url}/widget/${version}/psa-checkout.pix.js`);
    expect(scripts.filter((address) => !address.includes(`/widget/${version}/`))).toEqual([]);
  });

  it('sells by card, in a window of its own', async () => {
    const { visitor } = await openCheckout();
    const { page } = visitor;
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.locator('[part=button]:not([value=pix])').click(),
    ]);
    await reaches(visitor, 'pending');
    const orderCode = await page.evaluate(() => document.querySelector('psa-checkout')?.payment?.orderCode);
    await shop.fixture.payElsewhere(orderCode!);
    await reaches(visitor, 'paid');
    await popup.close();
  });

  it('shows a payout on a dashboard once it is requested, and its status as it changes', async () => {
    const { live, url } = shop.fixture;
    await simulate(url, 'credit', { amountCents: 50_000 });
    const { createDashboardToken } = await live.request(
      'mutation { createDashboardToken(input: { scopes: [PAYOUTS] }) { ... on CreateDashboardTokenSuccess { token } } }',
    );
    const { visitor, scripts } = await open(
      { element: 'psa-payouts', version },
      { token: createDashboardToken.token },
    );
    const table = visitor.page.locator('psa-payouts');
    const connection = table.locator('[part=connection]');
    await connection.getByText('Ao vivo').waitFor();

    const { requestPayout } = await live.request(
      `mutation { requestPayout(input: { method: PIX, amountCents: 12345, destination: "ana@psa.example", idempotencyKey: "widget-${version}" }) {
        ... on RequestPayoutSuccess { payout { code } }
      } }`,
    );
    const row = table.locator('tbody tr').filter({ hasText: requestPayout.payout.code });
    await row.getByText('Pendente', { exact: true }).waitFor();
    await row.getByText('123,45').waitFor();
    await shop.fixture.pass(2_500);
    await row.getByText('Concluído', { exact: true }).waitFor();
    expect(await connection.textContent()).toContain('Ao vivo');
    expect(scripts).toEqual([`${url}/widget/${version}/psa-payouts.js`]);
  });
});
