import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  aPayment,
  approve,
  decline,
  leaveOpen,
  NOW,
  PAGES,
  servePage,
} from '../money-in/card-payments/hosted-checkout.ts';
import { launchBrowser } from '../support/browser.ts';
import { deferred } from '../support/deferred.ts';
import { CONTEXT } from '../support/launch-options.ts';
import { firstInSample, runsAll, sampled } from '../support/scale.ts';

/** The folder for screenshots of each page; unset by default. */
const SCREENSHOTS = process.env.PSA_SCREENSHOTS;

let browser: Browser;
let axe: string;

beforeAll(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

async function openPage(options: BrowserContextOptions = {}) {
  const context = await browser.newContext({ locale: 'pt-BR', ...CONTEXT, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  return { context, page, problems, [Symbol.asyncDispose]: () => context.close() };
}

/** Serves a shop, or any other site, at an origin of its own. */
async function serveShop(listener: RequestListener) {
  const server = createServer(listener).listen(0, 'localhost');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function typeCard(page: Page, number = '4242424242424242') {
  await page.getByLabel('Número do cartão').pressSequentially(number);
  await page.getByLabel('Nome no cartão').fill('Maria da Silva');
  await page.getByLabel('Validade').pressSequentially('1229');
  await page.getByLabel('CVV').pressSequentially('123');
}

const pay = (page: Page) => page.getByRole('button', { name: /^Pagar/ }).click();

interface Violation {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

describe('accessibility and layout', () => {
  const phone = { width: 390, height: 844 };
  const desktop = { width: 1280, height: 860 };
  const views = [
    { size: 'phone', viewport: phone, colorScheme: 'light' },
    { size: 'phone', viewport: phone, colorScheme: 'dark' },
    { size: 'desktop', viewport: desktop, colorScheme: 'light' },
    { size: 'desktop', viewport: desktop, colorScheme: 'dark' },
  ] as const;
  const long = {
    merchantName: 'Associação dos Produtores Orgânicos do Vale do Ribeira e Região Ltda.',
    payment: aPayment({
      amountCents: 123_456_789,
      cancelUrl: null,
      description: 'Umapalavramuitocomprida'.repeat(8),
    }),
  };
  const looks: [
    name: string,
    served: Parameters<typeof servePage>[0],
    act?: (page: Page) => Promise<unknown>,
  ][] = [
    ...Object.entries(PAGES).map(
      ([name, payment]) => [name, { payment }] as [string, { payment: typeof payment }],
    ),
    ['real-cards', { testCards: null }],
    ['test-cards', {}, (page) => page.getByText('Cartões de teste').click()],
    [
      'filled',
      {},
      async (page) => {
        await page.getByText('Cartões de teste').click();
        await page.getByRole('button', { name: 'Usar o cartão 4444' }).click();
      },
    ],
    [
      'declined',
      { answer: decline, payment: aPayment({ declinedCharges: 2 }) },
      async (page) => {
        await typeCard(page);
        await pay(page);
        await page.getByRole('alert').waitFor();
      },
    ],
    ['wrong-fields', {}, (page) => pay(page)],
    [
      'refused-card',
      {},
      async (page) => {
        await typeCard(page, '4111111111111111');
        await pay(page);
        await page.getByRole('alert').waitFor();
      },
    ],
    [
      'busy',
      {},
      async (page) => {
        await typeCard(page);
        // A real request would block the page until it is answered.
        await page
          .locator('form')
          .evaluate((form) => form.addEventListener('submit', (event) => event.preventDefault()));
        await pay(page);
        await page.getByText('Processando…').waitFor();
      },
    ],
    [
      'paid-elsewhere',
      { answer: async (payment) => ({ kind: 'paid_elsewhere', payment }) },
      async (page) => {
        await typeCard(page);
        await pay(page);
        await page.getByText('Este pedido já está pago').waitFor();
      },
    ],
    ['order-refunded', { orderStatus: 'refunded' }],
    ['unknown', {}, (page) => page.goto(new URL('/checkout/PSC-NONE', page.url()).href)],
    ['long', long],
    [
      'last-minute',
      { payment: aPayment({ expiresAt: new Date(NOW.getTime() + 59_000) }) },
      (page) => page.locator('.countdown-short').waitFor(),
    ],
  ];
  if (SCREENSHOTS) mkdirSync(SCREENSHOTS, { recursive: true });

  let opened: Awaited<ReturnType<typeof openPage>>;
  // One window serves all tests: each payment page has an address of its own.
  beforeAll(async () => {
    // The policy would block axe. Tests below run with the policy in force.
    opened = await openPage({ viewport: phone, bypassCSP: true, reducedMotion: 'reduce' });
  });
  afterAll(() => opened?.context.close());

  it.each(sampled(looks, 12))(
    'axe finds nothing on the hosted page “%s”, and nothing is cut off',
    async (name, options, act) => {
      const index = looks.findIndex(([each]) => each === name);
      await using served = await servePage(options);
      const { page } = opened;
      // Resets the changes of the previous page.
      await page.setViewportSize(phone);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.goto(served.pageUrl);
      await act?.(page);
      // A sample has one view of every sixth page, light and dark in turn.
      await page.evaluate(axe);
      for (const { size, viewport, colorScheme } of runsAll() ? views : [views.at(index % 12 ? -1 : 0)!]) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        if (SCREENSHOTS)
          await page.screenshot({
            path: `${SCREENSHOTS}/${name}-${size}-${colorScheme}.png`,
            fullPage: true,
          });
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        );
        const violations = await page.evaluate<Violation[]>(
          "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations)",
        );
        const found = violations.flatMap(({ id, nodes }) =>
          nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`),
        );
        expect(found, `${name} ${size} ${colorScheme}`).toEqual([]);
      }
    },
  );
});

describe('the hosted page in a browser', () => {
  it.each(firstInSample([1280, 896, 700, 390]))(
    'the page of no payment is centred, %i px wide',
    async (width) => {
      await using served = await servePage();
      await using opened = await openPage({ viewport: { width, height: 860 } });
      const { page } = opened;
      await page.goto(new URL('/checkout/PSC-NONE', served.pageUrl).href);
      const box = (await page.getByRole('heading', { name: 'Pagamento não encontrado' }).boundingBox())!;
      expect(box.x + box.width / 2).toBeCloseTo(width / 2, 0);
    },
  );

  it('the hosted page groups the typed digits and pays, without a violation of its policy', async () => {
    await using served = await servePage();
    await using opened = await openPage();
    const { page, problems } = opened;
    await page.goto(served.pageUrl);
    await typeCard(page);
    expect(await page.getByLabel('Número do cartão').inputValue()).toBe('4242 4242 4242 4242');
    expect(await page.getByLabel('Validade').inputValue()).toBe('12/29');
    await pay(page);
    await page.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
    expect(served.state.charged).toHaveLength(1);
    expect(problems).toEqual([]);
  });

  it('the caret stays in place where a digit is inserted or deleted', async () => {
    await using served = await servePage();
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(served.pageUrl);
    const number = page.getByLabel('Número do cartão');
    await number.pressSequentially('424242424242');
    for (let press = 0; press < 7; press++) await number.press('ArrowLeft');
    await number.pressSequentially('99');
    expect(await number.inputValue()).toBe('4242 4299 4242 42');
    await number.press('Backspace');
    expect(await number.inputValue()).toBe('4242 4294 2424 2');
    await number.pressSequentially('1');
    expect(await number.inputValue()).toBe('4242 4291 4242 42');
  });

  it.each(['1/29', '01/29', '129', '1/2029'])(
    'the expiry date %s is January 2029 or no date at all',
    async (typed) => {
      await using served = await servePage();
      await using opened = await openPage();
      const { page } = opened;
      await page.goto(served.pageUrl);
      const expiry = page.getByLabel('Validade');
      await expiry.pressSequentially(typed);
      // Without a slash it is unclear whether a 0 is missing.
      expect(await expiry.inputValue()).toBe(typed === '129' ? '12/9' : '01/29');
      await expiry.fill('');
      await expiry.fill(typed);
      expect(await expiry.inputValue()).toBe(typed === '129' ? '12/9' : '01/29');
    },
  );

  it('an expiry date that is filled in as a year and a month has its month first', async () => {
    await using served = await servePage();
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(served.pageUrl);
    const expiry = page.getByLabel('Validade');
    for (const filled of ['2030-01', '2030-01-31', '203001']) {
      await expiry.evaluate((field, value) => {
        (field as HTMLInputElement).value = value;
        field.dispatchEvent(new Event('input', { bubbles: true }));
      }, filled);
      expect(await expiry.inputValue()).toBe('01/30');
    }
  });

  it('the month of an expiry date keeps its place where a digit of it is deleted', async () => {
    await using served = await servePage();
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(served.pageUrl);
    const expiry = page.getByLabel('Validade');
    await expiry.pressSequentially('1229');
    for (let press = 0; press < 3; press++) await expiry.press('ArrowLeft');
    await expiry.press('Backspace');
    expect(await expiry.inputValue()).toBe('12/9');
  });

  it.each([4_990, 9_999_999, 9_999_999_999])(
    'the amount of %i cents fits a phone with text of twice the size',
    async (amountCents) => {
      for (const payment of [aPayment({ amountCents }), { ...PAGES.paid!, amountCents }]) {
        await using served = await servePage({ payment });
        await using opened = await openPage({ viewport: { width: 390, height: 844 }, bypassCSP: true });
        const { page } = opened;
        await page.goto(served.pageUrl);
        await page.addStyleTag({ content: 'html { font-size: 200% }' });
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        );
      }
    },
  );

  it('an invalid field is shown and focused before anything is sent', async () => {
    await using served = await servePage();
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(served.pageUrl);
    await typeCard(page, '4242424242424241');
    await page.keyboard.press('Enter');
    const number = page.getByLabel('Número do cartão');
    expect(await number.getAttribute('aria-invalid')).toBe('true');
    expect(await page.locator('#number-error').textContent()).toBe(
      'Este número não existe. Confira os dígitos.',
    );
    expect(await number.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(served.state.charged).toEqual([]);
  });

  it('a payment can be made with the keyboard alone', async () => {
    await using served = await servePage({ testCards: null });
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(served.pageUrl);
    // The first field has the focus.
    for (const text of ['4242424242424242', 'MARIA DA SILVA', '1229', '123']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
  });

  it('a reload after a decline charges nothing again', async () => {
    await using served = await servePage({ answer: decline });
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(served.pageUrl);
    await typeCard(page);
    await pay(page);
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await page.getByLabel('Nome no cartão').inputValue()).toBe('Maria da Silva');
    expect(await page.getByLabel('Número do cartão').inputValue()).toBe('');
    await page.reload();
    await page.getByLabel('Número do cartão').waitFor();
    expect(await alert.count()).toBe(0);
    expect(served.state.charged).toHaveLength(1);
  });

  it('the hosted page follows a pending payment until it is decided, and then leads to the shop', async () => {
    await using shop = await serveShop((_request, response) => response.end('obrigado'));
    await using served = await servePage({
      answer: leaveOpen,
      payment: aPayment({ successUrl: `${shop.origin}/ok` }),
    });
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(served.pageUrl);
    await typeCard(page);
    await pay(page);
    await page.getByRole('heading', { name: 'Confirmando o pagamento' }).waitFor();
    served.state.payment = (await approve({ ...served.state.payment, openChargeId: null })).payment;
    await page.waitForURL(`${shop.origin}/ok?psa_order_code=*`);
  });

  it('the hosted page leads to the shop even if the shop redirects to another origin', async () => {
    await using other = await serveShop((_request, response) => response.end('obrigado'));
    await using shop = await serveShop(({ url }, response) =>
      response.writeHead(302, { location: `${other.origin}${url}` }).end(),
    );
    await using served = await servePage({ payment: aPayment({ successUrl: `${shop.origin}/ok` }) });
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(served.pageUrl);
    await typeCard(page);
    await pay(page);
    await page.waitForURL(`${other.origin}/ok?psa_order_code=*`);
    expect(served.state.charged).toHaveLength(1);
  });

  it('the form is replaced when the payment has been made elsewhere', async () => {
    await using served = await servePage({
      payment: aPayment({ expiresAt: new Date(NOW.getTime() + 1_000) }),
    });
    await using opened = await openPage();
    const { page } = opened;
    await page.goto(served.pageUrl);
    served.state.payment = (await approve(served.state.payment)).payment;
    await page.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
  });

  it.each([
    ['paid', 'form', 'Este pedido já está pago'],
    ['refunded', 'form', 'Este pedido foi pago e estornado'],
    ['paid', 'expired', 'Este pedido já está pago'],
  ] as const)(
    'an order that another device has %s replaces the page of state %s by itself',
    async (orderStatus, state, text) => {
      await using served = await servePage({ payment: PAGES[state]! });
      await using opened = await openPage();
      const { page, problems } = opened;
      await page.clock.install();
      await page.goto(served.pageUrl);
      // The page no longer asks whether another device has paid while a card is being typed.
      if (state === 'form') await page.getByLabel('Número do cartão').pressSequentially('4242');
      served.state.orderStatus = orderStatus;
      await page.clock.runFor(4_000);
      await page.getByRole('heading', { name: text }).waitFor();
      expect(await page.locator('form').count()).toBe(0);
      expect(served.state.charged).toEqual([]);
      expect(problems).toEqual([]);
    },
  );
});

describe('the hosted page while the server does not answer', () => {
  it('a form whose response never comes can be sent again, once the server says that it waits for a card', async () => {
    await using served = await servePage();
    await using opened = await openPage();
    const { page } = opened;
    await page.clock.install();
    // A response without content leaves the page as it is, as a press of Stop does.
    let sent = 0;
    await page.route(served.pageUrl, (route) => {
      if (route.request().method() !== 'POST' || ++sent > 1) return route.continue();
      return route.fulfill({ status: 204 });
    });
    await page.goto(served.pageUrl);
    await typeCard(page);
    await pay(page);
    await page.getByText('Processando…').waitFor();
    // The card may be charged meanwhile: the payer must not be sent to the shop as if they had cancelled.
    const cancel = page.getByRole('link', { name: 'Cancelar' });
    expect(await cancel.count()).toBe(0);
    await page.clock.fastForward(12_000);
    await page.clock.fastForward(1_000);
    await page.getByRole('button', { name: /^Pagar/ }).waitFor();
    expect(await page.locator('[aria-busy], [aria-disabled]').count()).toBe(0);
    expect(await cancel.count()).toBe(1);
    await pay(page);
    await page.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
    expect(served.state.charged).toHaveLength(1);
  });

  it('a window that cannot close itself does not say that nothing was charged while a card is charged', async () => {
    await using served = await servePage({ payment: aPayment({ cancelUrl: null }) });
    await using opened = await openPage();
    const { page } = opened;
    await page.clock.install();
    await page.route(served.pageUrl, (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 204 }) : route.continue(),
    );
    // The name of a popup, in a window that no script has opened.
    await page.addInitScript("window.name = 'psa-checkout'");
    await page.goto(served.pageUrl);
    const cancel = page.getByRole('button', { name: 'Cancelar' });
    const mayClose = page.getByText('Nada foi cobrado.');
    await cancel.click();
    await page.clock.fastForward(300);
    await mayClose.waitFor();
    await typeCard(page);
    await pay(page);
    await page.getByText('Processando…').waitFor();
    expect(await cancel.count()).toBe(0);
    expect(await mayClose.isVisible()).toBe(false);
    await page.clock.fastForward(12_000);
    await page.clock.fastForward(1_000);
    await page.getByRole('button', { name: /^Pagar/ }).waitFor();
    expect(await mayClose.isVisible()).toBe(true);
    expect(await cancel.count()).toBe(1);
  });

  it('a payer whose response was lost reads what became of that card, not of an earlier one', async () => {
    await using served = await servePage({ payment: aPayment({ declinedCharges: 2 }) });
    await using opened = await openPage();
    const { page } = opened;
    await page.clock.install();
    await page.route(served.pageUrl, (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      served.state.payment = aPayment({ declinedCharges: 2, openChargeId: 'charge' });
      return route.fulfill({ status: 204 });
    });
    await page.goto(served.pageUrl);
    await typeCard(page);
    await pay(page);
    await page.getByText('Processando…').waitFor();
    await page.clock.fastForward(12_000);
    await page.clock.fastForward(1_000);
    await page.getByRole('heading', { name: 'Confirmando o pagamento' }).waitFor();
    expect(page.url()).toContain('?seguir=1&recusas=2');
  });

  it('what an extension of the browser puts into the page does not break off a payment', async () => {
    const violated = deferred();
    await using served = await servePage({
      async answer(payment) {
        await violated.promise;
        return decline(payment);
      },
    });
    await using opened = await openPage();
    const { page } = opened;
    await page.exposeFunction('violated', () => violated.resolve());
    await page.goto(served.pageUrl);
    // An image of another origin is added once the form is being sent; the policy of the page refuses it.
    await page.evaluate(() => {
      document.addEventListener('securitypolicyviolation', () => Object(window).violated());
      document.addEventListener('submit', () =>
        setTimeout(() => {
          document.body.append(Object.assign(new Image(), { src: 'https://elsewhere.example/x.png' }));
        }),
      );
    });
    await typeCard(page);
    await pay(page);
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Nome no cartão').inputValue()).toBe('Maria da Silva');
  });

  it('a page at the end of its time asks less and less often while the server fails', async () => {
    await using served = await servePage({
      payment: aPayment({ expiresAt: new Date(NOW.getTime() + 1_000) }),
    });
    await using opened = await openPage();
    const { page } = opened;
    await page.clock.install();
    let asked = 0;
    await page.route(`${served.pageUrl}/status`, (route) => {
      asked++;
      return route.fulfill({ status: 503 });
    });
    await page.addInitScript(() => {
      const send = window.fetch;
      const state = Object.assign(window, { unanswered: 0 });
      window.fetch = async (...request) => {
        state.unanswered += 1;
        return send(...request).finally(() => {
          state.unanswered -= 1;
        });
      };
    });
    await page.goto(served.pageUrl);
    for (let second = 0; second < 30; second++) {
      await page.clock.runFor(1_000);
      // The page's clock waits for the network, whose clock is another.
      await expect.poll(() => page.evaluate('unanswered')).toBe(0);
    }
    expect(asked).toBeGreaterThan(3);
    // Both the countdown and the form ask the server, which another device has paid at.
    expect(asked).toBeLessThan(15);
  });
});

describe('the hosted page without JavaScript', () => {
  it('without JavaScript the hosted page shows invalid fields and declines, and pays', async () => {
    await using served = await servePage({ answer: decline });
    await using opened = await openPage({ javaScriptEnabled: false });
    const { page } = opened;
    await page.goto(served.pageUrl);
    await typeCard(page, '4242424242424241');
    await pay(page);
    await page.getByRole('link', { name: 'Número do cartão' }).waitFor();
    await page.getByLabel('Número do cartão').fill('4242 4242 4242 4242');
    await page.getByLabel('CVV').fill('123');
    await pay(page);
    await page.getByText('Pagamento não aprovado').waitFor();
    served.state.answer = approve;
    await page.getByLabel('Número do cartão').fill('4242 4242 4242 4242');
    await page.getByLabel('CVV').fill('123');
    await pay(page);
    await page.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
    expect(served.state.charged).toHaveLength(2);
  });

  it('without JavaScript the hosted page reloads itself while a payment is confirmed', async () => {
    await using served = await servePage({ payment: PAGES.processing! });
    await using opened = await openPage({ javaScriptEnabled: false });
    const { page } = opened;
    await page.goto(served.pageUrl);
    served.state.payment = PAGES.failed!;
    await page.getByRole('heading', { name: 'Pagamento não concluído' }).waitFor();
  });
});

describe('the hosted page as a popup', () => {
  /** Opens the popup as the widget does: empty in the click, then at its address and without an opener. */
  async function openPopup(page: Page, shopUrl: string, url: string, features: string) {
    await page.goto(shopUrl);
    const opened = page.waitForEvent('popup');
    await page.evaluate(
      ([url, features]) => {
        const popup = window.open('about:blank', 'psa-checkout', features);
        if (!popup) throw new Error('blocked');
        popup.location.href = url!;
        popup.opener = null;
        Object.assign(window, { popup });
      },
      [url, features],
    );
    const popup = await opened;
    await popup.waitForURL(url);
    return popup;
  }

  it.each(firstInSample(['popup,width=480,height=720', '']))(
    'the popup closes itself after the payment (features "%s")',
    async (features) => {
      await using shop = await serveShop((_request, response) => response.end('loja'));
      await using served = await servePage({ payment: aPayment({ cancelUrl: null }) });
      await using opened = await openPage();
      const popup = await openPopup(opened.page, shop.origin, served.pageUrl, features);
      expect(await opened.page.evaluate('popup.closed')).toBe(false);
      await typeCard(popup);
      const closed = popup.waitForEvent('close');
      await pay(popup);
      await popup.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
      await closed;
      expect(served.state.charged).toHaveLength(1);
    },
  );

  it('the popup closes itself after a payment that was confirmed late', async () => {
    await using shop = await serveShop((_request, response) => response.end('loja'));
    await using served = await servePage({ answer: leaveOpen });
    await using opened = await openPage();
    const popup = await openPopup(opened.page, shop.origin, served.pageUrl, 'popup');
    await typeCard(popup);
    await pay(popup);
    await popup.getByRole('heading', { name: 'Confirmando o pagamento' }).waitFor();
    const closed = popup.waitForEvent('close');
    served.state.payment = (await approve({ ...served.state.payment, openChargeId: null })).payment;
    await closed;
  });

  it('the popup closes itself when the payer cancels', async () => {
    await using shop = await serveShop((_request, response) => response.end('loja'));
    await using served = await servePage({ payment: aPayment({ cancelUrl: null }) });
    await using opened = await openPage();
    const popup = await openPopup(opened.page, shop.origin, served.pageUrl, 'popup');
    const cancel = popup.getByRole('button', { name: 'Cancelar' });
    await cancel.waitFor();
    // The window closes before Playwright reports the click as done.
    await Promise.all([popup.waitForEvent('close'), cancel.click().catch(() => undefined)]);
  });

  it('a hosted page that the payer opened stays open', async () => {
    await using served = await servePage();
    await using opened = await openPage();
    const { page } = opened;
    await page.goto('data:text/html,<title>Início</title>');
    await page.goto(served.pageUrl);
    await typeCard(page);
    await pay(page);
    await page.getByRole('heading', { name: 'Pagamento aprovado' }).waitFor();
    expect(await page.evaluate("sessionStorage.getItem('psa-checkout-popup')")).toBeNull();
  });

  it('the receipt is printed alone, and shared as text without the address', async () => {
    await using served = await servePage({ payment: PAGES.paid! });
    await using opened = await openPage({ isMobile: true, hasTouch: true });
    const { page } = opened;
    await page.addInitScript(`
      print = () => { document.title = 'printed'; };
      Object.defineProperty(navigator, 'share', { configurable: true, value: (data) => { globalThis.shared = data; return Promise.reject(new Error('no')); } });
    `);
    await page.goto(`${served.pageUrl}?lang=en`);
    await page.getByRole('button', { name: 'Share' }).click();
    expect(await page.evaluate('shared')).toEqual({
      title: 'Payment receipt',
      text: expect.stringMatching(/^Payment receipt\nAmount: R\$49\.90\nTo: Café do Largo\n[^/]*$/),
    });
    await page.getByRole('button', { name: 'Print or save' }).click();
    expect(await page.title()).toBe('printed');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByText('Payment receipt').isVisible()).toBe(true);
    for (const hidden of ['.actions', '.receipt-actions', '.foot', '.total'])
      expect(await page.locator(hidden).isVisible()).toBe(false);

    // On a touch screen no field has the focus.
    served.state.payment = PAGES.form!;
    await page.goto(served.pageUrl);
    expect(await page.evaluate('document.activeElement === document.body && scrollY === 0')).toBe(true);
  });
});
