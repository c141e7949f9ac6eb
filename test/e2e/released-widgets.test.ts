// A shop's page that names a version of the widget, as each released one has been copied from the documents: a purchase by PIX and
// one by card, against the server as it is now.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { importMap, readHashes, scriptTag } from '../../widget/scripts/released.mjs';
import type { Visitor } from '../support/browser.ts';
import { startServiceFixture } from './fixture.ts';
import { openShop } from './shop.ts';

const shop = openShop(() => startServiceFixture());

/** The shop's own server, of another origin than the payments server. */
let site: Server;
let siteUrl: string;
/** The token of the page that is served. */
let token = '';

beforeAll(async () => {
  site = createServer((request, response) => {
    const version = new URL(request.url ?? '/', 'http://shop').searchParams.get('version') ?? '';
    const options = { element: 'psa-checkout', origin: shop.fixture.url, version };
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(`<!doctype html><html lang="pt-BR"><title>Caneca</title><link rel="icon" href="data:,">
      ${importMap(options)}${scriptTag(options)}
      <psa-checkout endpoint="${shop.fixture.url}/graphql" token="${token}" methods="pix card">Pagar</psa-checkout></html>`);
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});

afterAll(() => void site.close());

describe.each(Object.keys(readHashes()))('version %s of the widget', (version) => {
  /** Opens the shop's page, and collects the addresses of the scripts that it loads. */
  async function visit(): Promise<{ visitor: Visitor; scripts: string[] }> {
    const { createCheckoutToken } = await shop.fixture.live.request(
      `mutation { createCheckoutToken(input: {
        amount: { fixedCents: 4990 }, description: "Caneca", reusable: true, methods: [PIX, CARD]
      }) { ... on CheckoutTokenSuccess { token } } }`,
    );
    token = createCheckoutToken.token;
    const visitor = await shop.visit({}, '/healthz');
    const scripts: string[] = [];
    visitor.page.on('request', (request) => {
      if (request.resourceType() === 'script') scripts.push(request.url());
    });
    await visitor.page.goto(`${siteUrl}/?version=${version}`);
    return { visitor, scripts };
  }

  const reaches = ({ page }: Visitor, phase: string) =>
    page.waitForFunction((phase) => document.querySelector('psa-checkout')?.phase === phase, phase);

  it('sells by PIX, with files of its own version alone, and finds the payment after a reload', async () => {
    const { visitor, scripts } = await visit();
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
    const { visitor } = await visit();
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
});
