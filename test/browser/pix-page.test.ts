import jsqr from 'jsqr';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  anLtcPayment,
  aPixPayment,
  aReturn,
  aSubscription,
  BR_CODE,
  LTC_ADDRESS,
  NOW,
  PAGES,
  servePixPage,
} from '../money-in/payments/hosted-page.ts';
import { findViolations, injectAxe } from '../support/axe.ts';
import { launchBrowser } from '../support/browser.ts';
import { CONTEXT } from '../support/launch-options.ts';
import { sampled } from '../support/scale.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;
const DESKTOP = { viewport: { width: 1280, height: 860 } } as const;

async function openPage(options: BrowserContextOptions) {
  const context = await browser.newContext({ locale: 'pt-BR', ...CONTEXT, ...options });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  return { context, page, problems, [Symbol.asyncDispose]: () => context.close() };
}

/**
 * Stops the page's clock, which then moves by `runFor` alone. Playwright can stop it only at a later time than it
 * shows.
 */
async function stopClock(page: Page, time = NOW): Promise<void> {
  await page.clock.install({ time: time.getTime() - 3_600_000 });
  await page.clock.pauseAt(time);
}

/** Reads the QR code that the page shows, as a camera does. */
async function readQr(page: Page): Promise<string | undefined> {
  const { data, width, height } = PNG.sync.read(await page.locator('.qr:visible').screenshot());
  // The types of the package expect `default` on its default export, and it is there.
  return jsqr.default(new Uint8ClampedArray(data), width, height)?.data;
}

describe('the hosted page of a PIX payment in a browser', () => {
  it.each([
    ['light', {}],
    ['dark', { colorScheme: 'dark' }],
    ['forced colours', { colorScheme: 'dark', forcedColors: 'active' }],
  ] as const)('the QR code of the PIX page is read from the screen: %s', async (_name, options) => {
    await using served = await servePixPage();
    await using opened = await openPage({ ...DESKTOP, ...options });
    await opened.page.goto(served.pageUrl);
    const box = (await opened.page.locator('.qr:visible').boundingBox())!;
    expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(200);
    expect(await readQr(opened.page)).toBe(BR_CODE);
    expect(opened.problems).toEqual([]);
  });

  it('the PIX page on a phone begins with the button, and has its QR code folded up', async () => {
    await using served = await servePixPage();
    // Without a script the page shows the text in place of the button.
    await using plain = await openPage({ ...PHONE, javaScriptEnabled: false });
    await plain.page.goto(served.pageUrl);
    expect(await plain.page.locator('.qr:visible').count()).toBe(0);
    expect(await plain.page.getByLabel('PIX Copia e Cola').inputValue()).toBe(BR_CODE);
    expect(await plain.page.getByRole('button', { name: 'Copiar código' }).count()).toBe(0);
    await plain.page.getByText('Pagar com outro aparelho').click();
    expect(await readQr(plain.page)).toBe(BR_CODE);

    await using opened = await openPage(PHONE);
    await opened.page.goto(served.pageUrl);
    const button = (await opened.page.getByRole('button', { name: 'Copiar código' }).boundingBox())!;
    const text = (await opened.page.getByLabel('PIX Copia e Cola').boundingBox())!;
    expect(button.y + button.height).toBeLessThan(text.y);
    expect(button.width).toBeCloseTo(text.width, 0);
  });

  it('the PIX page copies the code, or selects it where there is no clipboard', async () => {
    await using served = await servePixPage();
    await using opened = await openPage(PHONE);
    const { context, page, problems } = opened;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await stopClock(page);
    await page.goto(served.pageUrl);
    await page.getByRole('button', { name: 'Copiar código' }).click();
    await page.getByRole('button', { name: 'Copiado' }).waitFor();
    await page.getByText('Código copiado. Abra o app do banco').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(BR_CODE);
    await page.clock.runFor(3_900);
    expect(await page.getByRole('button', { name: 'Copiado' }).count()).toBe(1);
    await page.clock.runFor(200);
    expect(await page.getByRole('button', { name: 'Copiar código' }).count()).toBe(1);

    await page.addInitScript('delete Navigator.prototype.clipboard');
    await page.reload();
    await page.getByRole('button', { name: 'Copiar código' }).click();
    await page.getByText('O código está selecionado').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('pix-code');
    const { start, end } = await page
      .getByLabel('PIX Copia e Cola')
      .evaluate((field: HTMLTextAreaElement) => ({ start: field.selectionStart, end: field.selectionEnd }));
    expect([start, end]).toEqual([0, BR_CODE.length]);
    expect(problems).toEqual([]);
  });

  it('the PIX page counts down days beside the hours', async () => {
    await using served = await servePixPage({
      payment: aPixPayment({ expiresAt: new Date(NOW.getTime() + 86_402_000) }),
    });
    await using opened = await openPage(PHONE);
    const { page } = opened;
    await stopClock(page, NOW);
    await page.goto(served.pageUrl);
    const digits = page.getByRole('timer');
    expect(await digits.textContent()).toBe('1 d 00:00:02');
    await page.clock.runFor(1_000);
    expect(await digits.textContent()).toBe('1 d 00:00:01');
    await page.clock.runFor(2_000);
    expect(await digits.textContent()).toBe('23:59:59');
  });

  it('the PIX page counts down by the server’s time, and says it at 5 minutes, 1 minute and 0', async () => {
    // The device's clock is a day ahead.
    await using served = await servePixPage({
      payment: aPixPayment({ expiresAt: new Date(NOW.getTime() + 302_000) }),
    });
    await using opened = await openPage(PHONE);
    const { page } = opened;
    await stopClock(page, new Date(NOW.getTime() + 86_400_000));
    await page.goto(served.pageUrl);
    const digits = page.getByRole('timer');
    const note = page.locator('[data-countdown-note]');
    expect(await digits.textContent()).toBe('5:02');
    expect(await note.textContent()).toBe('');
    await page.clock.runFor(2_000);
    expect(await digits.textContent()).toBe('5:00');
    expect(await note.textContent()).toContain('Faltam 5 minutos');
    await page.clock.runFor(60_000);
    expect(await note.textContent()).toContain('Faltam 5 minutos');
    await page.clock.runFor(180_000);
    expect(await digits.textContent()).toBe('1:00');
    expect(await note.textContent()).toContain('Falta 1 minuto');
    served.state.now = new Date(NOW.getTime() + 302_000);
    await page.clock.runFor(60_000);
    await page.getByRole('heading', { name: 'O tempo para pagar acabou' }).waitFor();
    expect(await page.getByLabel('PIX Copia e Cola').count()).toBe(0);
  });

  it('the PIX page shows a returned credit and the payment as they come, and a late one after the expiry', async () => {
    await using served = await servePixPage();
    await using opened = await openPage(PHONE);
    const { page, problems } = opened;
    await page.goto(served.pageUrl);
    const credits = [aReturn('amount_mismatch', 4991)];
    served.state.payment = aPixPayment({ version: 3, returnedCredits: credits });
    await page.getByText('o valor é diferente do solicitado').waitFor();
    served.state.payment = aPixPayment({ status: 'expired', version: 4, returnedCredits: credits });
    await page.getByRole('heading', { name: 'O tempo para pagar acabou' }).waitFor();
    served.state.payment = { ...PAGES['paid-late']!.payment, version: 5 };
    await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('the PIX page asks the bank as soon as the payer has come back to it', async () => {
    await using served = await servePixPage();
    await using opened = await openPage(PHONE);
    const { page } = opened;
    await stopClock(page);
    await page.goto(served.pageUrl);
    const asked = page.waitForRequest((request) => request.url().endsWith('/status?voltou=1'));
    served.state.payment = PAGES['paid-late']!.payment;
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await asked;
    await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor();
  });
});

describe('the hosted page of a payment by LTC in a browser', () => {
  it('the page of a payment by LTC has what is still missing in its QR code, and shows each confirmation', async () => {
    await using served = await servePixPage({ payment: anLtcPayment() });
    await using opened = await openPage({ ...DESKTOP, colorScheme: 'dark' });
    const { page, problems } = opened;
    await page.goto(served.pageUrl);
    expect(await readQr(page)).toBe(`litecoin:${LTC_ADDRESS}?amount=0.08149068`);
    served.state.payment = { ...PAGES['ltc-part']!.payment, version: 3 };
    await page.getByText('Envie o que falta').waitFor();
    const uri = `litecoin:${LTC_ADDRESS}?amount=0.00149068`;
    expect(await readQr(page)).toBe(uri);
    expect(await page.getByRole('link', { name: 'Abrir na carteira' }).getAttribute('href')).toBe(uri);
    served.state.payment = { ...PAGES['ltc-confirming']!.payment, version: 4 };
    await page.getByText('1 de 2').waitFor();
    served.state.payment = { ...PAGES['ltc-paid-late']!.payment, version: 5 };
    await page.getByRole('heading', { name: 'Pagamento confirmado' }).waitFor();
    expect(problems).toEqual([]);
  });

  it('the page of a payment by LTC copies the address on a phone, and hides it at the end of the time', async () => {
    await using served = await servePixPage({
      payment: anLtcPayment({ expiresAt: new Date(NOW.getTime() + 301_000) }),
    });
    await using opened = await openPage(PHONE);
    const { context, page, problems } = opened;
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await stopClock(page);
    await page.goto(served.pageUrl);
    expect(await page.locator('.qr:visible').count()).toBe(0);
    await page.getByRole('button', { name: 'Copiar endereço' }).click();
    await page.getByRole('button', { name: 'Copiado' }).waitFor();
    await page.getByText('Endereço copiado. Abra a sua carteira').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(LTC_ADDRESS);
    const digits = page.getByRole('timer');
    expect(await digits.textContent()).toBe('5:01');
    await page.clock.runFor(1_000);
    expect(await digits.textContent()).toBe('5:00');
    await page.getByText('Faltam 5 minutos').waitFor({ state: 'attached' });
    served.state.now = new Date(NOW.getTime() + 301_000);
    await page.clock.runFor(300_000);
    await page.getByRole('heading', { name: 'O tempo para pagar acabou' }).waitFor();
    expect(await page.getByText(LTC_ADDRESS).count()).toBe(0);
    expect(problems).toEqual([]);
  });
});

describe('the hosted page of a subscription in a browser', () => {
  it('the page of a subscription counts down in hours, then in minutes, and shows its authorisation', async () => {
    await using served = await servePixPage({
      payment: aSubscription({ expiresAt: new Date(NOW.getTime() + 3_601_000) }),
    });
    await using opened = await openPage(DESKTOP);
    const { page, problems } = opened;
    await stopClock(page);
    await page.goto(served.pageUrl);
    expect(await readQr(page)).toBe(BR_CODE);
    const digits = page.getByRole('timer');
    expect(await digits.textContent()).toBe('1:00:01');
    await page.clock.runFor(1_000);
    expect(await digits.textContent()).toBe('1:00:00');
    await page.clock.runFor(1_000);
    expect(await digits.textContent()).toBe('59:59');
    served.state.payment = { ...PAGES['recurrence-authorised']!.payment, successUrl: null, version: 3 };
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByRole('heading', { name: 'Assinatura autorizada' }).waitFor();
    await page.getByText('10/04/2026').waitFor();
    expect(problems).toEqual([]);
  });
});

describe('accessibility and layout of the pages of PIX, LTC and subscriptions', () => {
  const merchantName = 'Associação dos Produtores Orgânicos do Vale do Ribeira e Região Ltda.';
  const long = { amountCents: 123_456_789, description: 'Umapalavramuitocomprida'.repeat(8) };
  const looks = [
    ...Object.entries(PAGES),
    ['long', { merchantName, payment: aPixPayment(long) }] as const,
    ['ltc-long', { merchantName, payment: anLtcPayment(long, { litoshi: 123_456_789_012 }) }] as const,
    ['recurrence-long', { merchantName, payment: aSubscription(long) }] as const,
  ].flatMap(([name, page]) => (['light', 'dark'] as const).map((scheme) => [name, scheme, page] as const));

  let opened: Awaited<ReturnType<typeof openPage>>;
  // One window serves all tests: each page has an address of its own.
  beforeAll(async () => {
    opened = await openPage({ ...PHONE, reducedMotion: 'reduce' });
    await injectAxe(opened.context);
  });
  afterAll(() => opened?.context.close());

  // A sample with an odd step takes light and dark pages in turn.
  it.each(sampled(looks, 9))(
    'axe finds nothing on the page “%s”, %s, and nothing is cut off at 320 px',
    async (_name, colorScheme, options) => {
      await using served = await servePixPage(options);
      const { page, problems } = opened;
      problems.splice(0);
      await page.emulateMedia({ colorScheme });
      await page.goto(served.pageUrl);
      for (const width of [320, 1280]) {
        await page.setViewportSize({ width, height: 844 });
        expect(
          await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'),
        ).toBeLessThanOrEqual(0);
        expect(await findViolations(page)).toEqual([]);
      }
      // The page's next request would find no server.
      await page.goto('about:blank');
      // The console names everything that the policy of the page has blocked.
      expect(problems).toEqual([]);
    },
  );
});
