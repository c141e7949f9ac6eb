import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CheckoutPhase } from '../../widget/src/psa-checkout.ts';
import { launchBrowser } from '../support/browser.ts';
import { CONTEXT } from '../support/launch-options.ts';
import { firstInSample, sampled } from '../support/scale.ts';
import { type FakeServer, type Scenario, startFakeServer } from './fake-server.ts';
import { POLLING } from './page-fixture.ts';

// Accessibility on a merchant's page: keyboard, focus, screen readers, languages, reduced motion.
const SHOP =
  '<!doctype html><html lang="pt-BR"><title>Loja</title><script type="module" src="/widget/psa-checkout.js"></script><body><input aria-label="Cupom" /></body></html>';
const standalone = fileURLToPath(new URL('../../widget/dist/standalone', import.meta.url));

let server: FakeServer;
let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  server = await startFakeServer({
    files: { '/widget/': { folder: standalone } },
    pages: { '/shop': { body: SHOP } },
  });
  browser = await launchBrowser();
  context = await browser.newContext(CONTEXT);
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});
// One browser context serves all tests, because each costs as much as a test; storage is cleared after each.
beforeEach(async () => {
  page = await context.newPage();
  await page.goto(`${server.url}/shop`);
});
afterEach(async () => {
  await page.evaluate(() => localStorage.clear());
  await page.close();
});

describe('the keyboard', () => {
  it('a payment is started, shown again, cancelled, restarted and paid with the keyboard alone', async () => {
    await place({ mode: 'popup' });
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('button');
    const [window] = await Promise.all([context.waitForEvent('page'), page.keyboard.press('Enter')]);
    await until('pending');
    await noticed('psa-checkout-close', () => window.close());
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('link');
    const [again] = await Promise.all([context.waitForEvent('page'), page.keyboard.press('Enter')]);
    await again.close();
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('cancel-button');
    await page.keyboard.press('Space');
    await until('idle');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('button');
    const [last] = await Promise.all([context.waitForEvent('page'), page.keyboard.press('Space')]);
    await until('pending');
    await last.close();
    await tell('PAID');
    await until('paid');
  });

  it('the focused control has a visible focus ring', async () => {
    await place();
    for (let tab = 0; tab < 2; tab++) await page.keyboard.press('Tab');
    expect(await ring()).toBe('3px solid');
    await page.keyboard.press('Enter');
    await until('pending');
    expect(await ring()).toBe('3px solid');
    for (const part of ['link', 'cancel-button']) {
      await page.keyboard.press('Tab');
      expect([await focused(), await ring()]).toEqual([part, '3px solid']);
    }
  });
});

describe('the focus', () => {
  const FAULT = { errors: [{ message: 'no', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] };

  it('the focus stays on the button while the payment is created', async () => {
    await place({}, { start: { hold: true } });
    await press('button');
    await until('creating');
    expect(await focused()).toBe('button');
    await page.evaluate(() => document.querySelector('psa-checkout')?.reset());
    await until('idle');
    expect(await focused()).toBe('button');
  });

  it.each(sampled(['PAID', 'EXPIRED', 'FAILED', 'REFUNDED'] as const, 2))(
    'the focus stays in the element when a payment becomes %s',
    async (status) => {
      await place();
      await press('button');
      await until('pending');
      expect(await focused()).toBe('base panel');
      await page.locator('psa-checkout [part=link]').focus();
      await tell(status);
      await until(status.toLowerCase() as CheckoutPhase);
      expect(await focused()).toBe('base panel');
    },
  );

  it.each(['EXPIRED', 'FAILED'] as const)(
    'the focus stays in the element through a new attempt after %s',
    async (status) => {
      await place();
      await press('button');
      await until('pending');
      await tell(status);
      await until(status.toLowerCase() as CheckoutPhase);
      await press('retry-button');
      await until('pending');
      expect(await focused()).toBe('base panel');
    },
  );

  it('the focus stays in the element when an expired payment is paid late', async () => {
    await place();
    await press('button');
    await until('pending');
    await tell('EXPIRED');
    await until('expired');
    await page.locator('psa-checkout [part=retry-button]').focus();
    await tell('PAID');
    await until('paid');
    expect(await focused()).toBe('base panel');
  });

  it('the focus stays in the element through an error, a retry and the way back', async () => {
    await place({}, { start: { ...FAULT, times: 2 } });
    await press('button');
    await until('error');
    expect(await focused()).toBe('base panel');
    await press('retry-button');
    await until('error');
    expect(await focused()).toMatch(/base panel|retry-button/);
    await press('cancel-button');
    await until('idle');
    expect(await focused()).toBe('base');
    await press('button');
    await until('pending');
    expect(await focused()).toBe('base panel');
  });

  it('the focus stays on its control when the language changes and when the connection is lost', async () => {
    await place();
    await press('button');
    await until('pending');
    await page.locator('psa-checkout [part=link]').focus();
    await page.evaluate(() =>
      Object.assign(document.querySelector('psa-checkout') as object, { locale: 'en' }),
    );
    await page.getByText('Waiting for your payment').waitFor();
    expect(await focused()).toBe('link');
    await page.evaluate(() => dispatchEvent(new Event('offline')));
    await page.getByText('You are offline').waitFor();
    expect(await focused()).toBe('link');
  });

  it('the focus stays in the element when a payment is found again', async () => {
    await place();
    await press('button');
    await until('pending');
    await page.route('**/psa-checkout.payment.js', async (route) => {
      await page.locator('psa-checkout').evaluate((element) => element.focus());
      await route.continue();
    });
    await page.reload();
    await place();
    await page.getByText('Aguardando o pagamento').waitFor();
    expect(await focused()).toBe('base panel');
  });

  it('the focus is never taken from the rest of the page', async () => {
    await place();
    await page.evaluate(() => void document.querySelector('psa-checkout')?.start());
    await page.getByLabel('Cupom').focus();
    await until('pending');
    await tell('FAILED');
    await until('failed');
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
  });
});

describe('screen readers', () => {
  it.each(
    firstInSample<[locale: string, sentences: string[]]>([
      [
        'pt-BR',
        [
          'Preparando o pagamento…',
          'Aguardando o pagamento',
          'O prazo para pagar terminou',
          'Pagamento confirmado',
        ],
      ],
      [
        'en',
        [
          'Preparing your payment…',
          'Waiting for your payment',
          'The time to pay has run out',
          'Payment confirmed',
        ],
      ],
      ['es', ['Preparando el pago…', 'Esperando el pago', 'El plazo para pagar terminó', 'Pago confirmado']],
    ]),
  )('each state is announced once, politely, in %s', async (locale, sentences) => {
    await place({ locale });
    await listen();
    await press('button');
    await until('pending');
    await tell('EXPIRED');
    await until('expired');
    await tell('PAID');
    await until('paid');
    expect(await heard()).toEqual(sentences);
    const regions = await page.evaluate(() =>
      [
        ...(document.querySelector('psa-checkout')?.shadowRoot?.querySelectorAll('[role],[aria-live]') ?? []),
      ].map((element) => element.getAttribute('aria-live') ?? element.getAttribute('role')),
    );
    expect(regions.sort()).toEqual(['group', 'status']);
  });

  it('the countdown and a lost connection are not announced', async () => {
    await place({ transport: 'sse' }, { expiresInSeconds: 90 });
    await press('button');
    await until('pending');
    await listen();
    await page.evaluate(() => dispatchEvent(new Event('offline')));
    await page.evaluate(() => dispatchEvent(new Event('online')));
    await page.evaluate(() => document.querySelector('psa-checkout')?.refresh());
    expect(await heard()).toEqual([]);
    expect(await page.locator('psa-checkout [role=timer]').getAttribute('aria-live')).toBeNull();
  });

  it('an error is announced once', async () => {
    await place({}, { start: { errors: [{ message: 'no', extensions: { code: 'RATE_LIMITED' } }] } });
    await listen();
    await press('button');
    await until('error');
    expect(await heard()).toEqual(['Preparando o pagamento…', 'Não foi possível continuar']);
  });

  it('a payment found again is announced in the page’s language alone', async () => {
    await place();
    await press('button');
    await until('pending');
    await page.addInitScript(() => {
      addEventListener('DOMContentLoaded', () => {
        document.documentElement.lang = 'en';
      });
    });
    const token = await page.evaluate(() => document.querySelector('psa-checkout')?.token);
    await page.reload();
    await page.evaluate(() => {
      const announced: string[] = [];
      Object.assign(globalThis, { announced });
      const attach = Element.prototype.attachShadow;
      Element.prototype.attachShadow = function (init) {
        const root = attach.call(this, init);
        new MutationObserver(() => {
          const text = root.querySelector('[role=status]')?.textContent?.trim();
          if (text && announced.at(-1) !== text) announced.push(text);
        }).observe(root, { subtree: true, childList: true, characterData: true });
        return root;
      };
    });
    await place({ token });
    await page.getByText('Waiting for your payment').waitFor();
    const announced = await page.evaluate(() => (globalThis as unknown as { announced: string[] }).announced);
    expect(
      announced.filter((text) => !['Looking up your payment…', 'Waiting for your payment'].includes(text)),
    ).toEqual([]);
  });
});

it('the element follows the page’s language, unless it has its own', async () => {
  await place({ resumeKey: 'first' });
  await place({ resumeKey: 'second', locale: 'es' });
  // The page has no labels of its own.
  await page.evaluate(() => {
    for (const element of document.querySelectorAll('psa-checkout')) element.replaceChildren();
  });
  const labels = () => page.locator('psa-checkout [part=label]').allInnerTexts();
  await page.getByText('Pagar con tarjeta').waitFor();
  expect(await labels()).toEqual(['Pagar com cartão', 'Pagar con tarjeta']);
  await page.evaluate(() => {
    document.documentElement.lang = 'en-GB';
  });
  await page.getByText('Pay by card').waitFor();
  expect(await labels()).toEqual(['Pay by card', 'Pagar con tarjeta']);
});

it.each([
  ['as wide as its container', 'inline-size: 20rem', 320],
  ['at most 27rem wide', 'inline-size: 60rem', 432],
  ['at least 13rem wide in a container that fits its content', 'display: inline-block', 208],
  ['27rem wide in a wider flex container', 'display: flex; inline-size: 30rem', 432],
])('the element is %s', async (_, css, width) => {
  await place();
  const measured = await page.evaluate((css) => {
    const place = document.body.appendChild(document.createElement('div'));
    place.style.cssText = css;
    const element = place.appendChild(document.querySelector('psa-checkout') as Element);
    return element.getBoundingClientRect().width;
  }, css);
  expect(measured).toBeCloseTo(width, 0);
});

it('nothing moves with reduced motion', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await place({}, { start: { hold: true } });
  await press('button');
  await until('creating');
  const moving = () =>
    page.evaluate(() => document.querySelector('psa-checkout')?.shadowRoot?.getAnimations().length);
  expect(await moving()).toBe(0);
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  expect(await moving()).toBe(1);
});

/** Places an element of a new scenario on the page, with redirects prevented. */
async function place(attributes: object = {}, scenario: Partial<Scenario> = {}): Promise<void> {
  const { token } = await post<Scenario>('/scenario', scenario);
  await page.evaluate(
    async (given) => {
      await customElements.whenDefined('psa-checkout');
      const element = document.createElement('psa-checkout');
      Object.assign(element, { endpoint: '/graphql', resumeKey: 'this', mode: 'redirect' }, given);
      element.addEventListener('psa-before-redirect', (event) => event.preventDefault());
      element.append('Pagar');
      document.body.append(element);
      await element.updateComplete;
    },
    { token, ...attributes },
  );
}

async function press(part: string): Promise<void> {
  await page.locator(`psa-checkout [part=${part}]`).focus();
  await page.keyboard.press('Enter');
}

async function until(phase: CheckoutPhase): Promise<void> {
  await page.waitForFunction(
    (phase) => document.querySelector('psa-checkout')?.phase === phase,
    phase,
    POLLING,
  );
  await page.evaluate(() => document.querySelector('psa-checkout')?.updateComplete);
}

async function tell(status: string): Promise<void> {
  const orderCode = await page.evaluate(() => document.querySelector('psa-checkout')?.payment?.orderCode);
  await page.waitForFunction(
    () => document.querySelector('psa-checkout')?.connection === 'live',
    null,
    POLLING,
  );
  await post('/act', { orderCode, values: { status } });
}

/** Runs `act`, and waits for the event: the page notices a closed window a moment after the browser. */
async function noticed(event: string, act: () => Promise<void>): Promise<void> {
  const heard = page.evaluate(
    (name) =>
      new Promise<void>((resolve) => document.addEventListener(name, () => resolve(), { once: true })),
    event,
  );
  await Promise.all([heard, act()]);
}

/** The focused part of the element; null if the focus is elsewhere. */
function focused(): Promise<string | null> {
  return page.evaluate(
    () => document.querySelector('psa-checkout')?.shadowRoot?.activeElement?.getAttribute('part') ?? null,
  );
}

function ring(): Promise<string> {
  return page.evaluate(() => {
    const element = document.querySelector('psa-checkout')?.shadowRoot?.activeElement;
    const { outlineWidth, outlineStyle } = getComputedStyle(element as Element);
    return `${outlineWidth} ${outlineStyle}`;
  });
}

/** Records the announcements of the live region: each change of its content is one sentence. */
async function listen(): Promise<void> {
  await page.evaluate(() => {
    const said: string[] = [];
    Object.assign(globalThis, { said });
    const region = document
      .querySelector('psa-checkout')
      ?.shadowRoot?.querySelector('[role=status]') as Element;
    new MutationObserver((records) => {
      for (const _ of records) said.push(region.textContent?.trim() ?? '');
    }).observe(region, { childList: true, subtree: true, characterData: true });
  });
}

function heard(): Promise<string[]> {
  return page.evaluate(() => (globalThis as unknown as { said: string[] }).said);
}

async function post<T>(path: string, body: object): Promise<T> {
  return (await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) })).json();
}
