// The pages of a full account at the widths of phones and desks: none is wider than the window, and no text is cut off. `npm run
// test:all` has Chromium's light ones; the nightly has all engines, in light and dark and in forced colors.
// `PSA_SCREENSHOTS=FOLDER PSA_SCALE=large npm test -- engines/pages` keeps a picture of each.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ServiceFixture, simulate, startServiceFixture } from '../e2e/fixture.ts';
import { fillAccount } from '../support/filled-account.ts';
import { configureWebhook } from '../support/pair.ts';
import { scale } from '../support/scale.ts';
import { startChromium, startFirefox } from './bidi.ts';
import { findCutTexts } from './cut-texts.ts';
import type { Engine, EngineWindow, Look } from './engine.ts';
import { startWebKit, webView } from './webkit.ts';

const ENGINES = {
  Chromium: startChromium,
  Firefox: startFirefox,
  // A browser's window cannot be as narrow as a phone.
  WebKit: (look: Look) => startWebKit(webView('none'), look),
};
const LOOKS: readonly Look[] = ['light', 'dark', 'forced colors'];
// WebKit knows no forced colors.
const COMBINATIONS = Object.entries(ENGINES)
  .flatMap(([name, start]) => LOOKS.map((look) => ({ name, look, start })))
  .filter(({ name, look }) => name !== 'WebKit' || look !== 'forced colors');
const WIDTHS = [320, 390, 1024, 1440];
const HEIGHT = 1_600;
const FOLDER = process.env.PSA_SCREENSHOTS;
const PATIENCE = { timeout: 60_000, interval: 50 };
const PAGE_MS = 180_000;

/** Each page, with what it shows once it is drawn. */
const PAGES: Record<string, [path: string, shown: string]> = {
  shop: ['/demo/', '[part=button]:not([disabled])'],
  simulator: ['/simulator/', '.pix-bank .rows li'],
  gallery: ['/demo/gallery', '[data-ready]'],
  'gallery of an account': ['/demo/gallery-board', '[data-ready]'],
  console: ['/console/', '.chart-sum strong'],
  'console of sales': ['/console/sales', 'tbody tr'],
  'console of a sale': [`/console/sales/psa_${'1'.padStart(32, '0')}`, '.panel.page ol li'],
  'console of subscriptions': ['/console/subscriptions', 'tbody tr'],
  'console of disputes': ['/console/disputes', 'tbody tr'],
  'console of products': ['/console/products', 'details.product'],
  'console of the statement': ['/console/statement', 'tbody tr'],
  'console of payouts': ['/console/payouts', 'tbody tr'],
  'console of subaccounts': ['/console/subaccounts', '.rows li'],
  'console of a subaccount': [
    `/console/subaccounts?subaccountId=sacc_${'1'.padStart(32, '0')}`,
    '.facts .numeric',
  ],
  'console of developers': ['/console/developers', 'console-endpoints .rows li'],
};

const LOADING = '.skeleton, [aria-busy=true], :is(.empty, .waiting)[role=status]';

/** The expression of the first element of a selector, in the page or in the shadow of any of its elements. */
const find = (css: string) => `((css) => {
  const within = (root) => root.querySelector(css) ??
    [...root.querySelectorAll('*')].map(({ shadowRoot }) => shadowRoot && within(shadowRoot)).find(Boolean);
  return within(document);
})(${JSON.stringify(css)})`;

/**
 * Whether the page has drawn two frames at a width: WebKit's window is of its new size before its page. The first of these questions
 * asks for the frames.
 */
const isDrawnAt = (width: number) => `((root) => {
  const isWide = () => matchMedia('(width: ${width}px)').matches;
  const note = () => isWide() && (root.dataset.drawnAt = '${width}');
  if (isWide()) requestAnimationFrame(() => requestAnimationFrame(note));
  return root.dataset.drawnAt === '${width}';
})(document.documentElement)`;

/** The number of animations on the page that end, and have not ended yet. */
const ENDING = `[document, ...[...document.querySelectorAll('*')].map(({ shadowRoot }) => shadowRoot)]
  .flatMap((root) => root?.getAnimations() ?? [])
  .filter(({ playState, effect }) => playState === 'running' && effect.getComputedTiming().endTime !== Infinity).length`;

describe.each(COMBINATIONS.slice(0, scale('ENGINE_LOOKS')))(
  '$look pages of a full account in $name',
  ({ name, look, start }) => {
    let fixture: ServiceFixture;
    /** The payer's pages, by the method. */
    let hosted: Record<string, [path: string, shown: string]>;
    let engine: Engine;
    let window: EngineWindow;
    beforeAll(async () => {
      fixture = await startServiceFixture();
      await fillAccount(fixture.app.database, fixture.app.clock.now());
      hosted = await sellMore(fixture);
      engine = await start(look);
      window = await engine.visit(`${fixture.url}/demo/`);
    }, PAGE_MS);
    // A merchant's tokens read so many fields a minute.
    beforeEach(() => fixture.pass(20_000));
    afterAll(async () => {
      await window?.leave();
      await engine?.close();
      await fixture?.close();
      expect(fixture?.faults() ?? []).toEqual([]);
    });

    async function inspect(page: string, [path, shown]: [path: string, shown: string]): Promise<void> {
      // A page of WebKit's that gets as narrow keeps rules for wide windows.
      await window.resize({ width: WIDTHS[0]!, height: HEIGHT });
      await window.goto(`${fixture.url}${path}`);
      // A gallery shows elements that load for ever.
      const loading = path.startsWith('/console/') ? find(LOADING) : 'false';
      const drawn = `Boolean(${find(shown)}) && !${loading}`;
      await expect.poll(() => window.ask(drawn), PATIENCE).toBe(true);
      const cut: string[] = [];
      for (const width of WIDTHS) {
        await window.resize({ width, height: HEIGHT });
        await expect.poll(() => window.ask(isDrawnAt(width)), PATIENCE).toBe(true);
        await expect.poll(() => window.ask(ENDING), PATIENCE).toBe(0);
        if (FOLDER) {
          mkdirSync(FOLDER, { recursive: true });
          const picture = `${page} ${name} ${look} ${width}.png`.replaceAll(' ', '-');
          writeFileSync(join(FOLDER, picture), await window.screenshot());
        }
        const texts = await window.ask<string[]>(`(${findCutTexts})()`);
        cut.push(...texts.map((text) => `${page}, ${width} px: ${text}`));
      }
      expect(cut).toEqual([]);
    }

    it.each(Object.keys(PAGES))(
      'can be read at each width: %s',
      (page) => inspect(page, PAGES[page]!),
      PAGE_MS,
    );

    it.each(['card', 'PIX', 'LTC', 'subscription'])(
      'can be read at each width: hosted page, %s',
      (method) => inspect(`hosted page of ${method}`, hosted[method]!),
      PAGE_MS,
    );

    it('can be read at each width: thanks', () => inspect('thanks', hosted.thanks!), PAGE_MS);
  },
);

/**
 * Adds what is rare in an account, or waits: large amounts, long names, pending sales of each method. Returns the
 * pages of their payers.
 */
async function sellMore({
  url,
  live,
}: ServiceFixture): Promise<Record<string, [path: string, shown: string]>> {
  await simulate(url, 'disputes', { amountCents: 7_350 });
  await simulate(url, 'store', {
    products: [{ id: 'rede-varanda', name: 'Rede Varanda', price: '1.234,56', available: true }],
  });
  const sold = await live.request(
    `mutation ($description: String!, $customer: CustomerInput!) {
      card: createCardPayment(input: { valueCents: 4990, description: "Caneca" }) {
        ... on CreateCardPaymentSuccess { payment: cardPayment { checkoutUrl orderCode } }
      }
      PIX: createPayment(input: { valueCents: 12345678, description: $description, customer: $customer }) {
        ... on CreatePaymentSuccess { payment { checkoutUrl } }
      }
      LTC: createPayment(input: { valueCents: 4990, description: "Caneca", method: LTC }) {
        ... on CreatePaymentSuccess { payment { checkoutUrl } }
      }
      subscription: createSubscription(
        input: { valueCents: 4990, description: "Clube do café", interval: QUARTERLY, customer: $customer }
      ) {
        ... on CreateSubscriptionSuccess { payment: subscription { checkoutUrl } }
      }
      createCharge(input: { valueCents: 5000, description: $description }) { __typename }
      requestPayout(input: {
        method: PIX, amountCents: 1000, destination: "ana.maria.dos.santos@psa.example", idempotencyKey: "pages"
      }) { __typename }
    }`,
    {
      description: 'Rede de varanda de algodão cru com franja bordada à mão, cor de areia, de casal',
      customer: {
        name: 'Maria Aparecida dos Santos Albuquerque de Oliveira',
        email: 'maria.aparecida.albuquerque@example.com',
      },
    },
  );
  await configureWebhook(live, 'http://127.0.0.1:9/closed');
  const { card, PIX, LTC, subscription } = sold;
  const pages = Object.entries({ card, PIX, LTC, subscription });
  return {
    ...Object.fromEntries(
      pages.map(([method, { payment }]) => [method, [new URL(payment.checkoutUrl).pathname, 'main']]),
    ),
    thanks: [`/demo/thank-you?psa_order_code=${card.payment.orderCode}`, 'psa-checkout'],
  };
}
