import { describe, expect, it } from 'vitest';
import type { PsaCheckout } from '../../widget/src/psa-checkout.ts';
import { openPageStand } from './page-stand.ts';

// What needs a real page: headers, reloads, navigations, popups and the built files as a merchant loads them.
const STRICT =
  "default-src 'none'; script-src 'self'; style-src 'none'; connect-src 'self' ws:; require-trusted-types-for 'script'; trusted-types lit-html";
const SHOP =
  '<!doctype html><html lang="pt-BR"><title>Loja</title><script type="module" src="/widget/psa-checkout.js?v=2"></script><body></body></html>';

const stand = openPageStand({
  '/shop': { body: SHOP, headers: { 'content-security-policy': STRICT } },
  '/thank-you': { body: SHOP },
});
const { scenario, told, until, connected, act } = stand;

describe('on a merchant’s page', () => {
  it('loads its chunks beside itself, once, whatever query its address has', async () => {
    const { page } = stand;
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    const { token } = await scenario();
    await shop(token, 'redirect');
    await page.evaluate(() =>
      document
        .querySelector('psa-checkout')
        ?.addEventListener('psa-before-redirect', (event) => event.preventDefault()),
    );
    await page.click('psa-checkout');
    await until('pending');
    expect(loaded.filter((path) => path.startsWith('/widget/'))).toEqual([
      '/widget/psa-checkout.js',
      '/widget/psa-checkout.payment.js',
    ]);
  });

  it('asks for a chunk again that did not load the first time', async () => {
    const { page } = stand;
    let refused = 0;
    await page.route('**/psa-checkout.payment.js', (route) => {
      refused++;
      return route.abort();
    });
    const { token } = await scenario();
    await shop(token, 'redirect', true);
    await page.evaluate(() => document.querySelector('psa-checkout')?.start());
    await until('pending');
    expect(refused).toBe(1);
  });

  it('says so, and can be tried again, when that chunk never loads', async () => {
    const { page } = stand;
    await page.route('**/psa-checkout.payment.js*', (route) => route.abort());
    const { token } = await scenario();
    await shop(token, 'redirect', true);
    await page.evaluate(() => document.querySelector('psa-checkout')?.start());
    await until('error');
    await page.unroute('**/psa-checkout.payment.js*');
    expect(await page.locator('psa-checkout [part=hint]').textContent()).toContain('não cobra duas vezes');
    await page.click('psa-checkout [part=retry-button]');
    await until('pending');
  });
});

describe('on a merchant’s page, where windows are blocked that no click asked for', () => {
  stand.inBrowser();

  it('works under a strict CSP with Trusted Types, without a word in the console', async () => {
    const { page } = stand;
    const { token } = await scenario();
    await shop(token, 'popup');
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('psa-checkout')]);
    await until('pending');
    await popup.waitForURL(/\/checkout\/PSA-/);
    expect(await popup.evaluate(() => opener)).toBeNull();
    await act({ values: { status: 'PAID' } });
    await until('paid');
    expect(stand.problems).toEqual([]);
  });

  it('gives a link where the browser blocks the popup', async () => {
    const { page, context, server } = stand;
    const { token } = await scenario();
    // From an init script, for page.evaluate counts as the payer's own click, and the blocker lets it through.
    await page.addInitScript((token) => {
      addEventListener('DOMContentLoaded', async () => {
        const element = document.createElement('psa-checkout');
        Object.assign(element, { endpoint: '/graphql', token, mode: 'popup' });
        document.body.append(element);
        await customElements.whenDefined('psa-checkout');
        await element.updateComplete;
        void element.start();
      });
    }, token);
    await page.goto(`${server.url}/shop`);
    await until('pending');
    expect(context.pages()).toHaveLength(1);
    const [popup] = await Promise.all([context.waitForEvent('page'), page.click('psa-checkout [part=link]')]);
    await popup.waitForURL(/\/checkout\/PSA-/);
  });

  it('pays once on a double click', async () => {
    const { page, context } = stand;
    const { token } = await scenario();
    await shop(token, 'popup');
    await page.dblclick('psa-checkout');
    await until('pending');
    expect((await told(token)).starts).toHaveLength(1);
    expect(context.pages()).toHaveLength(2);
  });
});

describe('coming back', () => {
  it('goes through the payment page and back, and believes the server alone', async () => {
    const { page, server } = stand;
    const { token } = await scenario();
    await shop(token, 'redirect');
    await page.click('psa-checkout');
    await page.waitForURL(/\/checkout\/PSA-/);
    const orderCode = page.url().split('/').pop() ?? '';
    await page.goto(`${server.url}/thank-you?psa_order_code=${orderCode}`);
    await page.evaluate(() => document.body.append(document.createElement('psa-checkout')));
    await until('pending');
    await act({ values: { status: 'PAID' } });
    await until('paid');
    await page.reload();
    await page.evaluate(() => document.body.append(document.createElement('psa-checkout')));
    await until('paid');
  });

  it('follows on after a reload, with the same attempt', async () => {
    const { page } = stand;
    const { token } = await scenario();
    await shop(token, 'popup');
    await page.click('psa-checkout');
    await until('pending');
    await shop(token, 'popup');
    await until('pending');
    await connected('live');
    await act({ values: { status: 'PAID' } });
    await until('paid');
    expect((await told(token)).starts).toHaveLength(1);
  });

  it('follows on when the network is back', async () => {
    const { page, context } = stand;
    const { token } = await scenario();
    await shop(token, 'popup');
    await page.click('psa-checkout');
    await connected('live');
    await context.setOffline(true);
    await connected('offline');
    await act({ values: { status: 'PAID' } });
    await context.setOffline(false);
    await until('paid');
  });
});

it('can be imported on a server', async () => {
  await expect(import('../../widget/src/define.ts')).resolves.toHaveProperty('PsaCheckout');
});

async function shop(token: string, mode: string, stay = false): Promise<void> {
  const { page, server } = stand;
  await page.goto(`${server.url}/shop`);
  await page.evaluate(
    ({ token, mode, stay }) => {
      const element = document.createElement('psa-checkout') as PsaCheckout;
      Object.assign(element, { endpoint: '/graphql', token, mode });
      if (stay) element.addEventListener('psa-before-redirect', (event) => event.preventDefault());
      document.body.append(element);
      return customElements.whenDefined('psa-checkout').then(() => element.updateComplete);
    },
    { token, mode, stay },
  );
}
