// Draws <psa-payouts> in its states, wide and narrow, light and dark, against a fake server:
//   node --import tsx test/browser/payouts-screenshots.mjs --out DIR
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { ensureBuilt } from '../../server/scripts/build.mjs';
import { launchOptions } from '../support/launch-options.ts';
import { startFakePayouts } from '../widget/fake-payouts.ts';
import { startFakeServer } from '../widget/fake-server.ts';

const { values: options } = parseArgs({ options: { out: { type: 'string' } } });
const out = options.out;
if (!out) throw new Error('Say where to: --out DIR');
mkdirSync(out, { recursive: true });

const LOOKS = /** @type {const} */ ([
  { name: '1280-light', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { name: '1280-dark', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { name: '390-light', colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { name: '390-dark', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
]);
const PAGE = `<!doctype html><html lang="pt-BR"><meta name="viewport" content="width=device-width" />
<style>
  :root { color-scheme: light dark }
  body { margin: 0; padding: min(24px, 3vw); background: light-dark(#f4f5f8, #0f1116) }
  psa-payouts { --psa-padding: 1rem; border-radius: 16px; overflow: hidden }
</style>
<script type="module" src="/widget/psa-payouts.js"></script><body></body></html>`;

await ensureBuilt();
const payouts = await startFakePayouts();
const pages = await startFakeServer({
  files: { '/widget/': { folder: fileURLToPath(new URL('../../widget/dist/standalone', import.meta.url)) } },
  pages: { '/': { body: PAGE } },
});
const browser = await chromium.launch(launchOptions('browser'));
try {
  for (const { name, ...look } of LOOKS) await drawAll(name, look);
} finally {
  await browser.close();
  await pages.close();
  await payouts.close();
}

/** @param {string} suffix @param {import('playwright-core').BrowserContextOptions} look */
async function drawAll(suffix, look) {
  const context = await browser.newContext({ ...look, locale: 'pt-BR', timezoneId: 'America/Sao_Paulo' });
  const page = await context.newPage();
  await page.goto(pages.url);
  const rows = page.locator('psa-payouts tbody tr');
  const draw = (/** @type {string} */ state) =>
    page.screenshot({ path: join(out ?? '', `payouts-${state}-${suffix}.png`), animations: 'disabled' });
  /** Shows a table alone on the page. @param {object} given @param {object} [properties] */
  const show = async (given, properties = {}) => {
    const { token } = await post('/world', given);
    await page.evaluate(
      ({ endpoint, token, properties }) => {
        document.querySelector('psa-payouts')?.remove();
        const element = document.createElement('psa-payouts');
        document.body.append(Object.assign(element, { endpoint, token, ...properties }));
      },
      { endpoint: `${payouts.url}/graphql`, token, properties },
    );
    return token;
  };

  const token = await show({ count: 1_240 });
  await rows.nth(3).hover();
  await post('/act', { token, add: {} });
  await post('/act', { token, add: {} });
  await page.getByText('2 novos').waitFor();
  await draw('new');

  await show({ count: 1_240 }, { statuses: 'DENIED', sort: '-amount' });
  await page.getByText('248 saques').waitFor();
  await draw('filtered');

  await show({ count: 12_400 }, { sort: '-amount' });
  await page.getByText('50 carregados').waitFor();
  await draw('sorted');

  await show({ count: 0 });
  await page.getByText('Nenhum saque').waitFor();
  await draw('empty');

  await show({ fail: { times: 9, hold: true } });
  await page.getByText('Carregando').waitFor();
  await draw('loading');

  await show({}, { token: 'ended' });
  await page.getByText('O acesso').waitFor();
  await draw('unauthorized');

  await show({ count: 1_240 }, { locale: 'en', dir: 'rtl' });
  await page.getByText('Requested (Brasília)').waitFor();
  await rows.first().waitFor();
  await page.locator('psa-payouts').evaluate((element) => element.focus());
  await draw('right-to-left');

  await page.emulateMedia({ forcedColors: 'active' });
  await context.setOffline(true);
  await page.getByText('Offline').waitFor();
  await draw('offline-forced-colours');
  await context.close();
}

/** @param {string} path @param {object} body */
async function post(path, body) {
  const response = await fetch(payouts.url + path, { method: 'POST', body: JSON.stringify(body) });
  return response.json();
}
