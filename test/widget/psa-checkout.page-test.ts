import type { Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import type { PsaCheckout } from '../../widget/src/psa-checkout.ts';
import { deferred } from '../support/deferred.ts';
import { openPageFixture } from './page-fixture.ts';

// Tests that need a real page: headers, reloads, navigations, popups, and the built files.
const STRICT =
  "default-src 'none'; script-src 'self'; style-src 'none'; connect-src 'self' ws:; require-trusted-types-for 'script'; trusted-types lit-html";
const SHOP =
  '<!doctype html><html lang="pt-BR"><title>Loja</title><script type="module" src="/widget/psa-checkout.js?v=2"></script><body></body></html>';

const fixture = openPageFixture({
  '/shop': { body: SHOP, headers: { 'content-security-policy': STRICT } },
  '/strict': {
    body: SHOP,
    headers: { 'content-security-policy': STRICT.replace("connect-src 'self' ws:", "connect-src 'none'") },
  },
  '/thank-you': { body: SHOP },
});
const { scenario, readScenario, until, connected, act } = fixture;

describe('on a merchant’s page', () => {
  it('the script loads its chunks once, whatever query its address has', async () => {
    const { page } = fixture;
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

  it('a press of the mouse during which the methods of the token arrive starts the payment', async () => {
    const { page } = fixture;
    const { token } = await scenario();
    const pressed = deferred();
    const answered = page.waitForResponse((response) => isAboutMethods(response.request()));
    await page.route('**/graphql', async (route) => {
      if (!isAboutMethods(route.request())) return route.fallback();
      await pressed.promise;
      await route.fulfill({ json: { data: { viewer: { checkoutMethods: ['CARD'] } } } });
    });
    await page.clock.install();
    await shop(token, 'redirect', true, 'pix card');
    const { x, y, width, height } = (await page
      .locator('psa-checkout [part=button][value=card]')
      .boundingBox())!;
    // The press ends within the two seconds for which the change waits, however slow the machine is.
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.mouse.down();
    pressed.resolve();
    await (await answered).finished();
    // The element has read its own answer, which came before this one.
    await page.evaluate(() => fetch('/shop').then((response) => response.text()));
    expect(await page.locator('psa-checkout [part=button]').count()).toBe(2);
    await page.mouse.up();
    await page.clock.resume();
    await until('pending');
    expect(await page.evaluate(() => document.querySelector('psa-checkout')?.method)).toBe('card');
  });

  it('the methods of the token are shown after two seconds of a press at the latest', async () => {
    const { page } = fixture;
    const { token } = await scenario({ methods: ['CARD'] });
    await page.clock.install();
    await shop(token, 'redirect', true, 'pix card');
    const buttons = page.locator('psa-checkout [part=button]');
    const { x, y } = (await buttons.first().boundingBox())!;
    await page.mouse.move(x + 5, y + 5);
    await page.mouse.down();
    await page.evaluate(() =>
      Object.assign(document.querySelector('psa-checkout')!, { methods: 'card pix' }),
    );
    await page.clock.runFor(2_000);
    await buttons.nth(1).waitFor({ state: 'detached' });
    expect(await buttons.count()).toBe(1);
    await page.mouse.up();
  });

  it('the methods of the token are shown once no button is pressed', async () => {
    const { page } = fixture;
    const { token } = await scenario({ methods: ['CARD'] });
    await shop(token, 'redirect', true, 'pix card');
    await page.locator('psa-checkout [part=button]:not([value=pix])').waitFor();
    await page.locator('psa-checkout [part=button][value=pix]').waitFor({ state: 'detached' });
    expect(await page.locator('psa-checkout [part=button]').count()).toBe(1);
  });

  it('a chunk that did not load is requested again', async () => {
    const { page } = fixture;
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

  it('a chunk that never loads is reported, and can be retried', async () => {
    const { page } = fixture;
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

describe('on a merchant’s page with a popup blocker', () => {
  fixture.inBrowser();

  it('the element works under a strict CSP with Trusted Types, without a console message', async () => {
    const { page } = fixture;
    const { token } = await scenario();
    await shop(token, 'popup');
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('psa-checkout')]);
    await until('pending');
    await popup.waitForURL(/\/checkout\/PSA-/);
    expect(await popup.evaluate(() => opener)).toBeNull();
    await act({ values: { status: 'PAID' } });
    await until('paid');
    expect(fixture.problems).toEqual([]);
  });

  it.each(['address', 'origin'] as const)(
    'a policy that refuses the endpoint is explained once in the console, and not to the payer, where the browser reports its %s',
    async (reported) => {
      const { page, server } = fixture;
      const origin = server.url.replace('localhost', '127.0.0.1');
      // Older WebKit reports only the origin of an address at another origin.
      if (reported === 'origin') await page.addInitScript(reportOrigins);
      const { token } = await scenario();
      const lines: string[] = [];
      page.on('console', (message) => lines.push(message.text()));
      await page.goto(`${server.url}/strict`);
      await page.evaluate(
        ({ token, endpoint }) => {
          const element = document.createElement('psa-checkout');
          Object.assign(element, { endpoint, token, mode: 'redirect' });
          document.body.append(element);
        },
        { token, endpoint: `${origin}/graphql` },
      );
      const explained = page.waitForEvent('console', (message) =>
        message.text().startsWith('<psa-checkout>'),
      );
      await page.click('psa-checkout');
      expect((await explained).text()).toContain(
        `Add ${origin} and ${origin.replace('http', 'ws')} to its connect-src`,
      );
      await until('error');
      expect(await page.locator('psa-checkout [part=hint]').textContent()).toContain(
        'Não conseguimos conectar',
      );
      await page.click('psa-checkout [part=retry-button]');
      await until('error');
      expect(lines.filter((line) => line.startsWith('<psa-checkout>'))).toHaveLength(1);
    },
  );

  it('a link replaces a popup that the browser blocks', async () => {
    const { page, context, server } = fixture;
    const { token } = await scenario();
    // The init script runs without a click; page.evaluate counts as a click, and passes the blocker.
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

  it('a double click starts one payment and opens one window', async () => {
    const { page, context } = fixture;
    const { token } = await scenario();
    await shop(token, 'popup');
    await page.dblclick('psa-checkout');
    await until('pending');
    expect((await readScenario(token)).starts).toHaveLength(1);
    expect(context.pages()).toHaveLength(2);
  });
});

describe('returning', () => {
  it('the return from the payment page shows the server’s status, paid or not', async () => {
    const { page, server } = fixture;
    const { token } = await scenario();
    await shop(token, 'redirect');
    await page.click('psa-checkout');
    await page.waitForURL(/\/checkout\/PSA-/);
    const orderCode = new URL(page.url()).pathname.split('/').pop() ?? '';
    await page.goto(`${server.url}/thank-you?psa_order_code=${orderCode}`);
    await page.evaluate(() => document.body.append(document.createElement('psa-checkout')));
    await until('pending');
    await act({ values: { status: 'PAID' } });
    await until('paid');
    await page.reload();
    await page.evaluate(() => document.body.append(document.createElement('psa-checkout')));
    await until('paid');
  });

  it('a reload resumes the same attempt', async () => {
    const { page } = fixture;
    const { token } = await scenario();
    await shop(token, 'popup');
    await page.click('psa-checkout');
    await until('pending');
    await shop(token, 'popup');
    await until('pending');
    await connected('live');
    await act({ values: { status: 'PAID' } });
    await until('paid');
    expect((await readScenario(token)).starts).toHaveLength(1);
  });

  it('following resumes when the network is back', async () => {
    const { page, context } = fixture;
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

/** Shortens the addresses that a page's policy has refused to their origins. Runs in the page, before its own scripts. */
function reportOrigins(): void {
  const { prototype } = SecurityPolicyViolationEvent;
  const { get } = Object.getOwnPropertyDescriptor(prototype, 'blockedURI') as { get: () => string };
  Object.defineProperty(prototype, 'blockedURI', {
    get(this: SecurityPolicyViolationEvent) {
      return new URL(get.call(this)).origin;
    },
  });
}

it('psa-checkout can be imported on a server', async () => {
  await expect(import('../../widget/src/define.ts')).resolves.toHaveProperty('PsaCheckout');
});

function isAboutMethods(request: Request): boolean {
  return request.postData()?.includes('viewer') ?? false;
}

async function shop(token: string, mode: string, stay = false, methods = 'card'): Promise<void> {
  const { page, server } = fixture;
  await page.goto(`${server.url}/shop`);
  await page.evaluate(
    ({ token, mode, stay, methods }) => {
      const element = document.createElement('psa-checkout') as PsaCheckout;
      Object.assign(element, { endpoint: '/graphql', token, mode, methods });
      if (stay) element.addEventListener('psa-before-redirect', (event) => event.preventDefault());
      document.body.append(element);
      return customElements.whenDefined('psa-checkout').then(() => element.updateComplete);
    },
    { token, mode, stay, methods },
  );
}
