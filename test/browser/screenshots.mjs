// Renders every state of the element, and the demo shop, to PNG: node --import tsx test/browser/screenshots.mjs --out DIR
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { launchOptions } from '../support/launch-options.ts';
import { startFakeServer } from '../widget/fake-server.ts';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: `${tmpdir()}/psa-checkout` },
    only: { type: 'string', default: '' },
  },
});
mkdirSync(values.out, { recursive: true });

const dist = (path) => fileURLToPath(new URL(`../../widget/dist/${path}`, import.meta.url));
const CSP =
  "default-src 'self'; style-src 'self'; script-src 'self'; connect-src 'self' ws: wss:; require-trusted-types-for 'script'; trusted-types lit-html";
const STATES = [
  'idle',
  'disabled',
  'creating',
  'pending',
  'blocked',
  'cancelled',
  'paid',
  'expired',
  'refunded',
  'failed',
  'error',
  'fatal',
  'skeleton',
];

const gallery = `<!doctype html><html lang="pt-BR"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Estados</title><style>:root{color-scheme:light dark}body{margin:0;padding:24px;font-family:system-ui;background:light-dark(#eef0f4,#0e1014);
display:grid;gap:28px 24px;grid-template-columns:repeat(auto-fill,minmax(min(21rem,100%),1fr));align-items:start}
h2{font:500 12px/1 system-ui;color:light-dark(#596070,#a6aebd);margin:0 0 10px}</style>
<script type="module" src="/widget/psa-checkout.js"></script><body></body></html>`;

const server = await startFakeServer({
  files: {
    '/widget/': { folder: dist('standalone') },
    '/demo/': { folder: dist('demo'), headers: { 'content-security-policy': CSP } },
  },
  pages: { '/gallery': { body: gallery }, '/demo/config.json': { body: JSON.stringify(await shopConfig()) } },
});

async function shopConfig() {
  const { default: products } = await import('../../widget/demo/products.json', { with: { type: 'json' } });
  return {
    endpoint: '{{url}}/graphql',
    products: products.map((product) => ({
      ...product,
      tokens: { popup: `demo-${product.sku}`, redirect: `demo-${product.sku}-r` },
    })),
  };
}

async function post(path, body) {
  return (await fetch(`${server.url}${path}`, { method: 'POST', body: JSON.stringify(body) })).json();
}

const browser = await chromium.launch(launchOptions());
try {
  for (const colorScheme of ['light', 'dark'])
    for (const width of [390, 1280]) {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height: 900 },
        deviceScaleFactor: width === 390 ? 2 : 1,
        timezoneId: 'America/Sao_Paulo',
      });
      const page = await context.newPage();
      page.on('crash', () => console.error('page crashed'));
      page.on('pageerror', (error) => console.error('page error:', error.message));
      page.on(
        'console',
        (message) => message.type() === 'error' && console.error('console:', message.text()),
      );
      if (!values.only || values.only === 'gallery') {
        await page.goto(`${server.url}/gallery`);
        await page.waitForFunction(() => customElements.get('psa-checkout'));
        await fillGallery(page);
        await page.screenshot({
          path: `${values.out}/states-${width}-${colorScheme}.png`,
          fullPage: true,
          animations: 'disabled',
        });
      }
      if (!values.only || values.only === 'shop') {
        for (const { sku } of (await shopConfig()).products)
          for (const token of [`demo-${sku}`, `demo-${sku}-r`]) {
            await post('/scenario', {
              token,
              ws: 'ok',
              sse: 'ok',
              starts: [],
              subscriptions: [],
              reads: 0,
              amountCents: 4990,
              expiresInSeconds: 1799,
            });
          }
        await page.goto(`${server.url}/demo/`);
        await page.waitForSelector('psa-checkout');
        await page.screenshot({ path: `${values.out}/shop-${width}-${colorScheme}.png`, fullPage: true });
        const [popup] = await Promise.all([page.waitForEvent('popup'), page.click('psa-checkout')]);
        await page.waitForFunction(() => document.querySelector('psa-checkout').connection === 'live');
        const orderCode = await page.evaluate(() => document.querySelector('psa-checkout').payment.orderCode);
        await page.click('psa-checkout >> nth=1');
        await page.waitForFunction(() => document.querySelectorAll('psa-checkout')[1].connection === 'live');
        await post('/act', { orderCode, values: { status: 'PAID', paidAt: '2026-03-14T17:42:00.000Z' } });
        await page.waitForFunction(() => document.querySelector('psa-checkout').phase === 'paid');
        await page.waitForTimeout(700);
        await page.screenshot({
          path: `${values.out}/shop-used-${width}-${colorScheme}.png`,
          fullPage: true,
        });
        await popup.close();
        await page.goto(`${server.url}/demo/obrigado?psa_order_code=${orderCode}`);
        await page.waitForFunction(() => document.querySelector('psa-checkout')?.phase === 'paid');
        await page.waitForTimeout(700);
        await page.screenshot({ path: `${values.out}/obrigado-${width}-${colorScheme}.png` });
      }
      await context.close();
    }
} finally {
  await browser.close();
  await server.close();
}
console.log(values.out);

/** Brings one element into each state by what a payer and a server would do. */
async function fillGallery(page) {
  for (const name of STATES) {
    const start = {
      creating: { hold: true },
      error: { errors: [{ message: 'down', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] },
      fatal: { errors: [{ message: 'no', extensions: { code: 'UNAUTHENTICATED' } }] },
    }[name];
    const { token } = await post('/scenario', { start, amountCents: 18900, expiresInSeconds: 1694 });
    const orderCode = await page.evaluate(
      async ({ name, token }) => {
        const section = document.createElement('section');
        const title = document.createElement('h2');
        title.textContent = name;
        section.append(title);
        document.body.append(section);
        const add = () => {
          const element = document.createElement('psa-checkout');
          Object.assign(element, {
            endpoint: '/graphql',
            token,
            mode: name === 'blocked' ? 'popup' : 'redirect',
          });
          element.disabled = name === 'disabled';
          element.addEventListener('psa-before-redirect', (event) => event.preventDefault());
          element.append('Pagar R$ 189,00');
          section.append(element);
          return element;
        };
        if (name === 'skeleton') {
          section.append(
            Object.assign(document.createElement('psa-checkout'), {
              endpoint: '/hang',
              orderCode: 'x',
              paymentToken: 'x',
            }),
          );
          return;
        }
        const element = add();
        await element.updateComplete;
        if (name === 'idle' || name === 'disabled') return;
        window.open = () => null;
        const started = element.start();
        if (name === 'creating') return;
        await started;
        if (name === 'cancelled') {
          history.replaceState(null, '', `?psa_order_code=${element.payment.orderCode}&psa_cancelled=1`);
          element.remove();
          await add().updateComplete;
        }
        return element.payment?.orderCode;
      },
      { name, token },
    );
    const status = name.toUpperCase();
    if (orderCode && ['PAID', 'EXPIRED', 'REFUNDED', 'FAILED'].includes(status)) {
      const paidAt = status === 'PAID' || status === 'REFUNDED' ? '2026-03-14T17:42:00.000Z' : null;
      await post('/act', {
        orderCode,
        values: { status, paidAt, refundedAt: status === 'REFUNDED' ? '2026-03-15T10:05:00.000Z' : null },
      });
      await page.waitForFunction(
        (name) => [...document.querySelectorAll('psa-checkout')].at(-1).phase === name,
        name,
      );
    }
  }
}
