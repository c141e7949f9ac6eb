import { describe, expect, it } from 'vitest';
import type { PsaCheckout } from '../../widget/src/psa-checkout.ts';
import { firstInSample } from '../support/scale.ts';
import { openPageFixture } from './page-fixture.ts';

// Hard conditions, each on whole pages in a real browser. widget/docs/what-it-withstands.md lists them.
const SCRIPT = '<script type="module" src="{{url}}/widget/psa-checkout.js"></script>';
const head = `<!doctype html><html lang="pt-BR"><title>Loja</title>${SCRIPT}`;
/** The element in the page's HTML, as a merchant writes it. */
const ELEMENT =
  '<psa-checkout endpoint="{{url}}/graphql" token="{{token}}" mode="{{mode}}">Pagar R$ 49,90</psa-checkout>';

const fixture = openPageFixture({
  '/product': { body: `${head}${ELEMENT}` },
  '/thank-you': { body: `${head}<psa-checkout></psa-checkout>` },
  '/frame': { body: `${head}<iframe src="{{url}}/product?token={{token}}&mode={{mode}}"></iframe>` },
  '/sandbox': {
    body: `${head}<iframe sandbox="allow-scripts {{allow}}" src="{{url}}/product?token={{token}}&mode={{mode}}"></iframe>`,
  },
  '/twice': {
    body: `${head}<script type="module" src="{{url}}/widget/psa-checkout.js?other"></script>${ELEMENT}`,
  },
});
/** Hostile page styles: resets, debugging rules, extreme themes. They leave visibility and position of the element alone. */
const HOSTILE = `
  body, body * { all: unset !important }
  body, body *, body *::before, body *::after {
    color: red !important; -webkit-text-fill-color: red !important; text-shadow: 0 0 9px red !important;
    font: italic small-caps 900 40px/9 fantasy !important; font-feature-settings: "zero" !important;
    letter-spacing: 1em !important; word-spacing: 2em !important; text-indent: 5em !important;
    text-transform: uppercase !important; text-align: center !important; white-space: pre !important;
    word-break: break-all !important; hyphens: auto !important; quotes: none !important; tab-size: 1 !important;
    list-style: square !important; border-spacing: 9px !important; border-collapse: collapse !important;
    cursor: wait !important; pointer-events: none !important; user-select: none !important;
    fill: lime !important; stroke: lime !important; stroke-width: 9px !important; accent-color: lime !important;
    overflow-wrap: normal !important; text-size-adjust: none !important; writing-mode: horizontal-tb !important;
  }
  button, a, svg, dl, dt, dd, div, span, slot, small, [part], .button, .base, .panel, #status {
    display: none !important; float: right !important; position: fixed !important; opacity: 0 !important;
    transform: rotate(90deg) !important; animation: none !important; line-height: 900px !important;
  }
  psa-checkout:not(#none):not(#none) { color: red !important; font: 90px fantasy !important; line-height: 9 !important }
  :host, :host(psa-checkout), :host *, ::slotted(*) { display: none !important; color: red !important }
`;
const { until, connected, act, readScenario } = fixture;

/** Opens a page with the element, for a scenario of the fake server. */
async function shop(given: Parameters<typeof fixture.scenario>[0] = {}, mode = 'popup'): Promise<string> {
  const { token } = await fixture.scenario(given);
  await fixture.page.goto(`${fixture.server.url}/product?token=${token}&mode=${mode}`);
  return token;
}

const button = 'psa-checkout [part=button]';
const status = (name: string) => ({ values: { status: name } });
const element = <T>(read: (checkout: PsaCheckout) => T): Promise<T> =>
  fixture.page.evaluate(`(${read})(document.querySelector('psa-checkout'))`) as Promise<T>;

describe('a reload', () => {
  it('a reload before the click changes nothing', async () => {
    const token = await shop();
    await fixture.page.reload();
    await fixture.page.click(button);
    await until('pending');
    expect((await readScenario(token)).starts).toHaveLength(1);
  });

  it.each([
    ['the request was lost', { hold: true }, 1],
    ['the answer was lost', { lost: true }, 2],
  ] as const)('a reload while the payment is created, when %s, pays once', async (_, start, starts) => {
    const token = await shop({ start });
    const asked = fixture.page.waitForRequest((request) => request.method() === 'POST');
    await fixture.page.click(button);
    const { attemptId } = JSON.parse((await asked).postData() ?? '').variables.input;
    await until('creating');
    await fixture.page.reload();
    await until('idle');
    await fixture.scenario({ token, start: null });
    await fixture.page.click(button);
    await until('pending');
    const sent = (await readScenario(token)).starts;
    expect(sent.map((input) => input.attemptId)).toEqual(Array(starts).fill(attemptId));
  });

  it('a reload at every stage of a payment shows that stage and resumes', async () => {
    await shop();
    await fixture.page.click(button);
    for (const stage of ['PENDING', 'EXPIRED', 'PAID', 'REFUNDED']) {
      // The page may no longer follow, so the reload must find the new stage.
      if (stage === 'PENDING') await until('pending');
      else await act(status(stage));
      await fixture.page.reload();
      await until(stage.toLowerCase());
      expect(await fixture.page.locator(button).count()).toBe(0);
      if (stage === 'PENDING' || stage === 'EXPIRED') await connected('live');
    }
  });

  it('a reload shows a failed payment again', async () => {
    await shop();
    await fixture.page.click(button);
    await connected('live');
    await act(status('FAILED'));
    await until('failed');
    await fixture.page.reload();
    await until('failed');
  });

  it('a reload after an error retries the same attempt', async () => {
    const token = await shop({ start: { status: 503, times: 1 } });
    await fixture.page.click(button);
    await until('error');
    await fixture.page.reload();
    await until('idle');
    await fixture.page.click(button);
    await until('pending');
    const { starts } = await readScenario(token);
    expect(starts).toHaveLength(2);
    expect(starts[1]?.attemptId).toBe(starts[0]?.attemptId);
  });
});

/** Starts a payment and waits until it is followed live. Returns its order code. */
async function startPayment() {
  await shop();
  await fixture.page.click(button);
  await connected('live');
  return element((checkout) => checkout.payment?.orderCode);
}

describe('the tab', () => {
  it('a discarded tab finds its payment again', async () => {
    const { page, context } = fixture;
    const orderCode = await startPayment();
    // Discards the tab, as browsers do to save memory: the process ends, and the page is loaded again when it is
    // shown.
    const devtools = await context.newCDPSession(page);
    await devtools.send('Page.enable');
    const gone = new Promise((resolve) => page.once('crash', resolve));
    devtools.send('Page.crash').catch(() => undefined);
    await gone;
    await fetch(`${fixture.server.url}/act`, {
      method: 'POST',
      body: JSON.stringify({ orderCode, ...status('PAID') }),
    });
    const loaded = new Promise((resolve) => devtools.once('Page.loadEventFired', resolve));
    await devtools.send('Page.reload');
    await loaded;
    const expression = `new Promise((resolve) => {
      const element = document.querySelector('psa-checkout');
      const look = () => element.phase === 'paid' && resolve(element.payment.orderCode);
      element.addEventListener('psa-phase-change', look);
      look();
    })`;
    const { result } = await devtools.send('Runtime.evaluate', { expression, awaitPromise: true });
    expect(result.value).toBe(orderCode);
  });

  it('two tabs with one payment show the same', async () => {
    const { context } = fixture;
    const orderCode = await startPayment();
    const other = await context.newPage();
    await other.goto(`${fixture.server.url}/thank-you?psa_order_code=${orderCode}`);
    await connected('live', other);
    await act(status('PAID'));
    await until('paid');
    await until('paid', other);
    expect((await fixture.events()).filter(({ name }) => name === 'psa-paid')).toHaveLength(1);
    await element((checkout) => checkout.reset());
    await other.reload();
    await until('paid', other);
  });

  it('a device that wakes up after the expiry reads the payment', async () => {
    const { page, context } = fixture;
    await shop();
    await page.click(button);
    await connected('live');
    const devtools = await context.newCDPSession(page);
    const orderCode = await element((checkout) => checkout.payment?.orderCode);
    await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
    // The connection dies without a close.
    await fetch(`${fixture.server.url}/act`, {
      method: 'POST',
      body: JSON.stringify({ orderCode, deaf: true, ...status('EXPIRED') }),
    });
    await devtools.send('Page.setWebLifecycleState', { state: 'active' });
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
    await until('expired');
  });
});

describe('in a full browser', () => {
  fixture.inBrowser();

  it.each(firstInSample([true, false]))(
    'the back button finds the payment again, with the back/forward cache: %s',
    async (cached) => {
      const { page, server } = fixture;
      await page.addInitScript(() => {
        addEventListener('pageshow', ({ persisted }) => Object.assign(window, { persisted }));
      });
      // A page whose popup is still open does not enter the cache.
      const token = await shop({}, cached ? 'redirect' : 'popup');
      await page.click(button);
      if (cached) {
        await page.waitForURL(/\/checkout\/PSA-/);
        await page.goBack({ waitUntil: 'commit' });
      }
      await connected('live');
      // The open connection must not keep the page out of the cache.
      await page.goto(`${server.url}/thank-you`);
      await connected('live');
      await act(status('PAID'));
      await until('paid');
      await page.goBack({ waitUntil: 'commit' });
      await until('paid');
      expect(await page.evaluate('persisted')).toBe(cached);
      expect((await readScenario(token)).starts).toHaveLength(1);
    },
  );

  it('the payment’s own tab follows it too after its return to the shop', async () => {
    const { page } = fixture;
    await shop({}, 'tab');
    const [tab] = await Promise.all([page.waitForEvent('popup'), page.click(button)]);
    await tab.waitForURL(/\/checkout\/PSA-/);
    const orderCode = new URL(tab.url()).pathname.split('/').pop();
    await tab.goto(`${fixture.server.url}/thank-you?psa_order_code=${orderCode}`);
    await until('pending', tab);
    await connected('live', tab);
    await act(status('PAID'));
    await until('paid', tab);
    await until('paid');
  });

  it('an element in a frame of another site’s page pays in a window', async () => {
    const { page, server } = fixture;
    const { token } = await fixture.scenario();
    await page.goto(`${server.url.replace('localhost', '127.0.0.1')}/frame?token=${token}&mode=popup`);
    const frame = page.frame({ url: /product/ });
    if (!frame) throw new Error('no frame');
    const [popup] = await Promise.all([page.waitForEvent('popup'), frame.click(button)]);
    await popup.waitForURL(/\/checkout\/PSA-/);
    await connected('live', frame);
    await act(status('PAID'), frame);
    await until('paid', frame);
  });
});

describe('the network', () => {
  it('a click without a network fails, and a retry pays when it is back', async () => {
    const { page, context } = fixture;
    const token = await shop();
    await context.setOffline(true);
    await page.click(button);
    await until('error');
    expect(await element((checkout) => checkout.error?.code)).toBe('network');
    await page.click('psa-checkout [part=retry-button]');
    await until('error');
    await context.setOffline(false);
    await page.click('psa-checkout [part=retry-button]');
    await until('pending');
    expect((await readScenario(token)).starts).toHaveLength(1);
  });
});

describe('the clock', () => {
  it.each(firstInSample([-365, 365]))('the device’s clock may be wrong by %i days', async (days) => {
    const { page, context } = fixture;
    await context.addInitScript((days) => {
      const RealDate = Date;
      const now = () => RealDate.now() + days * 86_400_000;
      // biome-ignore lint/suspicious/noGlobalAssign: it is wrong everywhere
      Date = new Proxy(RealDate, {
        construct: (target, given) => (given.length ? Reflect.construct(target, given) : new target(now())),
        get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
      });
    }, days);
    await shop();
    await page.click(button);
    await connected('live');
    // The text shows half an hour, in any unit.
    expect(await page.locator('psa-checkout [part=timer]').textContent()).toMatch(/^\s*(30|29)\b/);
    const orderCode = await element((checkout) => checkout.payment?.orderCode);
    const other = await context.newPage();
    await other.goto(`${fixture.server.url}/thank-you?psa_order_code=${orderCode}`);
    await until('pending', other);
    await act(status('PAID'));
    await until('paid');
  });
});

describe('a window', () => {
  it('a window may be closed while the payment is created', async () => {
    const { page } = fixture;
    const token = await shop({ start: { hold: true } });
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click(button)]);
    await popup.close();
    await fixture.scenario({ token, start: null });
    await element((checkout) => checkout.reset());
    await page.click(button);
    await until('pending');
    expect(fixture.problems).toEqual([]);
  });
});

describe('a payment page', () => {
  it('a payment page with an opener policy looks closed, and is still followed', async () => {
    const { page, server } = fixture;
    await shop({ checkoutUrl: `${server.url}/checkout/PSA-1?coop` });
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click(button)]);
    await popup.waitForURL(/\?coop/);
    await page.waitForFunction('psaEvents.some(({ name }) => name === "psa-checkout-close")');
    expect(popup.isClosed()).toBe(false);
    expect(await element((checkout) => checkout.phase)).toBe('pending');
    await act(status('PAID'));
    await until('paid');
  });
});

describe('in a frame', () => {
  it.each(firstInSample(['localhost', '127.0.0.1']))(
    'an element in a frame at %s redirects the whole page',
    async (host) => {
      const { page, server } = fixture;
      const { token } = await fixture.scenario();
      await page.goto(`${server.url.replace('localhost', host)}/frame?token=${token}&mode=redirect`);
      await page.frame({ url: /product/ })?.click(button);
      await page.waitForURL(/\/checkout\/PSA-/);
    },
  );

  it('an element in a sandbox without storage pays and is mounted again', async () => {
    const { page, server } = fixture;
    const { token } = await fixture.scenario();
    await page.goto(
      `${server.url}/sandbox?token=${token}&mode=popup&allow=allow-popups allow-popups-to-escape-sandbox`,
    );
    const frame = page.frame({ url: /product/ });
    if (!frame) throw new Error('no frame');
    const [popup] = await Promise.all([page.waitForEvent('popup'), frame.click(button)]);
    await popup.waitForURL(/\/checkout\/PSA-/);
    await connected('live', frame);
    // A framework mounts another element with the same token.
    await frame.evaluate(() => {
      const old = document.querySelector('psa-checkout');
      old?.replaceWith(old.cloneNode(true));
    });
    await until('pending', frame);
    await act(status('PAID'), frame);
    await until('paid', frame);
    expect(fixture.problems).toEqual([]);
  });

  it.each(firstInSample(['popup', 'redirect']))(
    'an element in a sandbox without popups reports the blocked window: %s',
    async (mode) => {
      const { page, server } = fixture;
      const { token } = await fixture.scenario();
      await page.goto(`${server.url}/sandbox?token=${token}&mode=${mode}`);
      const frame = page.frame({ url: /product/ });
      if (!frame) throw new Error('no frame');
      await frame.click(button);
      await until('pending', frame);
      expect((await fixture.events(frame)).map(({ name }) => name)).toContain('psa-popup-blocked');
    },
  );
});

describe('the page', () => {
  it('a page may load the script twice', async () => {
    const { token } = await fixture.scenario();
    await fixture.page.goto(`${fixture.server.url}/twice?token=${token}&mode=popup`);
    await fixture.page.waitForLoadState();
    await fixture.page.click(button);
    await until('pending');
    expect((await readScenario(token)).starts).toHaveLength(1);
    expect(fixture.problems).toEqual([]);
  });

  it('a browser without custom elements shows the label', async () => {
    await fixture.context.addInitScript(() => {
      Object.defineProperty(window, 'customElements', { value: undefined });
    });
    await shop();
    await fixture.page.waitForLoadState();
    expect(fixture.problems).toEqual([]);
    expect(await fixture.page.locator('psa-checkout').textContent()).toBe('Pagar R$ 49,90');
  });

  it('a page may have filled all storage', async () => {
    const { page } = fixture;
    await shop();
    await page.evaluate(() => {
      for (const store of [sessionStorage, localStorage])
        for (let length = 1 << 23; length > 0; length >>= 1)
          for (;;)
            try {
              store.setItem(`fill${length}${store.length}`, 'x'.repeat(length));
            } catch {
              break;
            }
    });
    await page.click(button);
    await connected('live');
    await page.evaluate(() => {
      const old = document.querySelector('psa-checkout');
      old?.replaceWith(old.cloneNode(true));
    });
    await until('pending');
    expect(fixture.problems).toEqual([]);
  });

  it('hostile style sheets do not change the element', async () => {
    const { page } = fixture;
    await shop();
    // Animations would change the styles between two reads, so they are off.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.addStyleTag({ content: 'body { margin: 0 }' });
    const looks = () =>
      element((checkout) =>
        [...(checkout.shadowRoot?.querySelectorAll('*') ?? [])].map((inner) => {
          const style = getComputedStyle(inner);
          // The spinner's rotation changes with time.
          const own = [...style].filter((name) => name !== 'rotate');
          return [inner.localName, ...own.map((name) => `${name}: ${style.getPropertyValue(name)}`)];
        }),
      );
    const calm: string[][][] = [];
    const shown = async (phase: string) => {
      await until(phase);
      await element((checkout) => checkout.updateComplete.then(() => undefined));
      return looks();
    };
    calm.push(await shown('idle'));
    await page.click(button);
    await connected('live');
    calm.push(await shown('pending'));
    await element((checkout) => checkout.reset());

    await page.addStyleTag({ content: HOSTILE });
    await page.mouse.move(389, 843);
    const hostile = [await shown('idle')];
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.click(button)]);
    await popup.waitForURL(/\/checkout\/PSA-/);
    await connected('live');
    hostile.push(await shown('pending'));
    expect(hostile).toEqual(calm);
  });
});
