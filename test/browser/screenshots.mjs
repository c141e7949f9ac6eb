// Renders the gallery's themes and the demo shop to PNG: node --import tsx test/browser/screenshots.mjs --out DIR
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { launchOptions } from '../support/launch-options.ts';
import { startFakeServer } from '../widget/fake-server.ts';
import { THEMES } from '../widget/gallery-page.ts';

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
const server = await startFakeServer({
  files: {
    '/demo/': { folder: dist('demo'), headers: { 'content-security-policy': CSP } },
  },
  pages: { '/demo/config.json': { body: JSON.stringify(await shopConfig()) } },
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

const browser = await chromium.launch(launchOptions('browser'));
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
        for (const theme of THEMES) {
          await page.goto(`${server.url}/demo/gallery?theme=${theme}`);
          await page.waitForSelector('[data-ready]');
          await page.screenshot({
            path: `${values.out}/${theme}-${width}-${colorScheme}.png`,
            fullPage: true,
            animations: 'disabled',
          });
        }
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
        await page.goto(`${server.url}/demo/thank-you?psa_order_code=${orderCode}`);
        await page.waitForFunction(() => document.querySelector('psa-checkout')?.phase === 'paid');
        await page.waitForTimeout(700);
        await page.screenshot({ path: `${values.out}/thank-you-${width}-${colorScheme}.png` });
      }
      await context.close();
    }
} finally {
  await browser.close();
  await server.close();
}
console.log(values.out);
