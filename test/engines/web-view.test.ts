// A purchase in the web view of an app: no window opens there, whatever the app's name is.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { txidOfCode } from '../../server/src/rails/simulated/pix.ts';
import { type ServiceFixture, startServiceFixture } from '../e2e/fixture.ts';
import { pageWith, type Site, startSite } from '../e2e/site.ts';
import { CARD } from '../support/browser.ts';
import type { Engine, EngineWindow } from './engine.ts';
import { startWebKit, webView } from './webkit.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const ELEMENT = "document.querySelector('psa-checkout')";
const CARD_BUTTON = `${ELEMENT}?.shadowRoot?.querySelector('[part=button]:not([value=pix])')`;
const part = (css: string) => `${ELEMENT}?.shadowRoot?.querySelector('${css}')`;

let fixture: ServiceFixture;
let site: Site;
beforeAll(async () => {
  site = await startSite();
  fixture = await startServiceFixture();
});
afterAll(async () => {
  site?.close();
  await fixture?.close();
  expect(fixture?.faults() ?? []).toEqual([]);
});

const waitFor = <Value>(read: () => Promise<Value>) => expect.poll(read, PATIENCE);

/** The user agent of an app on iOS. */
const WK_WEB_VIEW =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148';

const APPS = {
  'no new window': ['none', ''],
  'no new window, iOS': ['none', WK_WEB_VIEW],
  'new window in the same view, iOS': ['same-view', WK_WEB_VIEW],
} as const;

describe.each(Object.entries(APPS))(
  'a purchase in the web view of an app (%s)',
  (_, [newWindow, userAgent]) => {
    let engine: Engine;
    let window: EngineWindow;
    beforeAll(async () => {
      engine = await startWebKit(webView(newWindow, userAgent));
    });
    afterEach(() => window?.leave());
    afterAll(() => engine?.close());

    async function openShop(): Promise<void> {
      const { createCheckoutToken } = await fixture.live.request(
        `mutation ($successUrl: Url!) {
        createCheckoutToken(input: { amount: { fixedCents: 4990 }, methods: [PIX, CARD], successUrl: $successUrl }) {
          ... on CreateCheckoutTokenSuccess { token }
        }
      }`,
        { successUrl: site.url },
      );
      const { token } = createCheckoutToken;
      const attributes = { endpoint: `${fixture.url}/graphql`, token, methods: 'pix card' };
      site.page = pageWith(
        'psa-checkout',
        attributes,
        `<script type="module" src="${fixture.url}/widget/psa-checkout.js"></script>
      <script>addEventListener('psa-checkout-open', () => localStorage.setItem('opened', 'yes'))</script>`,
      );
      window = await engine.visit(site.url);
    }

    /** The driver clicks at a point, so an element that still moves is missed. */
    async function press(element: string): Promise<void> {
      await waitFor(() => window.ask<boolean>(`Boolean(${element}) && !${element}.disabled`)).toBe(true);
      let before = '';
      const hasMoved = async () => {
        const last = before;
        before = await window.ask<string>(`JSON.stringify(${element}.getBoundingClientRect())`);
        return before !== last;
      };
      await waitFor(hasMoved).toBe(false);
      await window.click(element);
    }

    const address = () => window.ask<string>('location.href');
    const phase = () => window.ask<string>(`${ELEMENT}?.phase ?? ''`);

    it('is paid by PIX', async () => {
      await openShop();
      await press(part('[part=button][value=pix]'));
      const code = part('[part=code]');
      await waitFor(() => window.ask<string>(`${code}?.value ?? ''`)).toContain('br.gov.bcb.pix');
      const txid = txidOfCode(await window.ask<string>(`${code}.value`))!;
      expect(await fixture.app.pix.pay({ txid, amountCents: 4990 })).not.toBeNull();
      await fixture.pass(1);
      await waitFor(phase).toBe('paid');
    });

    it('is paid by card in the same view', async () => {
      await openShop();
      await press(CARD_BUTTON);
      await waitFor(address).toContain(`${fixture.url}/checkout/`);
      await payOn(CARD.approved);
      await waitFor(address).toMatch(new RegExp(`^${site.url}`));
      await waitFor(phase).toBe('paid');
      expect(await window.ask<string | null>("localStorage.getItem('opened')")).toBeNull();
    });

    it('is paid by card after the way back, behind the link', async () => {
      await openShop();
      await press(CARD_BUTTON);
      await waitFor(address).toContain(`${fixture.url}/checkout/`);
      await window.goto(site.url);
      await waitFor(phase).toBe('pending');
      await press(part('[part=link]'));
      await waitFor(address).toContain(`${fixture.url}/checkout/`);
      await payOn(CARD.approved);
      await waitFor(address).toMatch(new RegExp(`^${site.url}`));
      await waitFor(phase).toBe('paid');
    });

    async function payOn(card: string): Promise<void> {
      const field = (id: string) => `document.querySelector('#${id}')`;
      await waitFor(() => window.ask<boolean>(`Boolean(${field('cvv')})`)).toBe(true);
      await window.type(field('number'), card);
      await window.type(field('holder'), 'Maria da Silva');
      await window.type(field('expiry'), '1229');
      await window.type(field('cvv'), '123');
      await window.click("document.querySelector('.button-pay')");
    }
  },
);
