import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { drawnColour, launchBrowser } from '../support/browser.ts';
import { CONTEXT } from '../support/launch-options.ts';
import { startFakePayouts } from './fake-payouts.ts';
import { type FakeServer, startFakeServer } from './fake-server.ts';

// Tests that need a real page: its headers, a real mouse, and the built file.
const standalone = fileURLToPath(new URL('../../widget/dist/standalone', import.meta.url));

const STRICT =
  "default-src 'none'; script-src 'self'; style-src 'none'; img-src data:; connect-src *; require-trusted-types-for 'script'; trusted-types lit-html";
const DASHBOARD =
  '<!doctype html><html lang="en"><title>Dashboard</title><link rel="icon" href="data:,"><script type="module" src="/widget/psa-payouts.js?v=2"></script><body></body></html>';

let pages: FakeServer;
let payouts: Awaited<ReturnType<typeof startFakePayouts>>;
let browser: Browser;
let page: Page;
let problems: string[];
let loaded: string[];

beforeAll(async () => {
  payouts = await startFakePayouts();
  pages = await startFakeServer({
    files: { '/widget/': { folder: standalone } },
    pages: { '/dashboard': { body: DASHBOARD, headers: { 'content-security-policy': STRICT } } },
  });
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await payouts?.close();
});
beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...CONTEXT });
  problems = [];
  loaded = [];
  page.on('console', (message) => /error|warning/.test(message.type()) && problems.push(message.text()));
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => loaded.push(new URL(request.url()).pathname));
});
afterEach(() => page.close());

it('the table works under a strict CSP with Trusted Types, with all rows in place and no console message', async () => {
  await open({ count: 400 });
  await page.hover('psa-payouts tbody tr');
  for (let wheel = 0; wheel < 8; wheel++) {
    await page.mouse.wheel(0, 2_000);
    await page.waitForFunction(settled);
  }
  // Each drawn row is at the position of its index, although only visible rows are in the document.
  const places = await page.evaluate(() => {
    const root = document.querySelector('psa-payouts')!.shadowRoot!;
    const body = root.querySelector('tbody')!.getBoundingClientRect();
    return [...root.querySelectorAll('tbody tr')].map((row) => {
      const { top, height } = row.getBoundingClientRect();
      return Math.round((top - body.top) / height) - (Number(row.getAttribute('aria-rowindex')) - 2);
    });
  });
  expect(places.length).toBeGreaterThan(8);
  expect(new Set(places)).toEqual(new Set([0]));
  await page.getByRole('button', { name: 'Amount' }).click();
  await page.getByText('400 payouts').waitFor();
  expect(problems).toEqual([]);
  expect(loaded.filter((path) => path.startsWith('/widget/'))).toEqual([
    '/widget/psa-payouts.js',
    '/widget/psa-payouts.en.js',
  ]);
});

it('no row moves under a real mouse, and a button shows the new ones', async () => {
  const token = await open({ count: 30 });
  const row = page.locator('psa-payouts tbody tr').nth(2);
  await row.hover();
  const code = await row.locator('.code').textContent();
  await post('/act', { token, add: {} });
  const waiting = page.getByRole('button', { name: '1 new' });
  await waiting.waitFor();
  expect(await row.locator('.code').textContent()).toBe(code);
  // The mouse stays in the table on its way to the button.
  await waiting.click();
  await page.locator('psa-payouts tbody tr').first().getByText('SAQ-000031').waitFor();
});

it('the table draws its visible rows where the page scrolls', async () => {
  await open({ count: 60 }, '--psa-max-block-size', 'none');
  await page.waitForFunction(settled);
  const count = () => page.locator('psa-payouts tbody tr').count();
  expect(await count()).toBeLessThan(40);
  await page.mouse.wheel(0, 2_000);
  await page.waitForFunction(settled);
  await page.mouse.wheel(0, 9_000);
  await page.getByText('SAQ-000001').waitFor();
  expect(await count()).toBeLessThan(40);
});

it('Tab reaches the buttons and one row', async () => {
  await open({ count: 60 });
  const names: (string | null | undefined)[] = [];
  for (let press = 0; press < 10; press++) {
    await page.keyboard.press('Tab');
    names.push(
      await page.evaluate(() => {
        const active = document.querySelector('psa-payouts')?.shadowRoot?.activeElement;
        return active?.matches('tr')
          ? active.querySelector('.code')?.textContent
          : active?.textContent?.trim();
      }),
    );
  }
  expect(names).toEqual([
    ...[
      'All',
      'Pending',
      'Processing',
      'Completed',
      'Denied',
      'More filters',
      'Status',
      'Amount',
      'Requested (Brasília)',
      'SAQ-000060',
    ],
  ]);
});

it('the filters open by the keyboard, though their chunk was lost once, and fit on a phone', async () => {
  await page.setViewportSize({ width: 320, height: 800 });
  await page.route('**/psa-payouts.filters.js', (route) => route.abort());
  await open({ count: 60 });
  await page.getByRole('button', { name: 'More filters' }).press('Enter');
  await page.getByLabel('Search').fill('SAQ-000007');
  await page.keyboard.press('Enter');
  await page.getByText('1 payout', { exact: true }).first().waitFor();
  expect(await page.locator('psa-payouts tbody tr').count()).toBe(1);
  await page.getByLabel('Requested from (Brasília)').fill('2026-03-02');
  await page.getByLabel('LTC').check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('button', { name: 'More filters (3)' }).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
  const beyond = await page
    .locator('psa-payouts [part=filters] :is(input, button)')
    .evaluateAll((all) =>
      all.map((each) => each.getBoundingClientRect()).filter(({ left, right }) => left < 0 || right > 320),
    );
  expect(beyond).toEqual([]);
  expect(problems).toEqual([expect.stringContaining('ERR_FAILED')]);
  expect(loaded.filter((path) => path.endsWith('.filters.js'))).toHaveLength(2);
});

it('the controls of the filters have an edge in forced colours', async () => {
  await page.emulateMedia({ forcedColors: 'active' });
  await open({ count: 1 });
  await page.getByRole('button', { name: 'More filters' }).click();
  for (const name of ['More filters', 'Apply', 'Clear'])
    expect(await edgeOf(page.getByRole('button', { name })), name).not.toEqual(
      await edgeOf(page.locator('body')),
    );
  expect(await edgeOf(page.getByLabel('Search'))).not.toEqual(await edgeOf(page.locator('body')));
});

/** The color in the middle of an element's left edge. */
async function edgeOf(element: Locator): Promise<number[]> {
  const { data, width, height } = PNG.sync.read(await element.screenshot({ scale: 'css' }));
  const at = Math.floor(height / 2) * width * 4;
  return [...data.subarray(at, at + 3)];
}

it('the selected filter stands out in forced colours', async () => {
  await page.emulateMedia({ forcedColors: 'active' });
  await open({ count: 1 });
  const filter = (pressed: boolean) => page.locator(`psa-payouts [part=filter][aria-pressed=${pressed}]`);
  const [selected, other] = [await drawnColour(filter(true)), await drawnColour(filter(false).first())];
  expect(selected).not.toEqual(other);
});

it('psa-payouts can be imported on a server', async () => {
  await expect(import('../../widget/src/payouts/define.ts')).resolves.toHaveProperty('PsaPayouts');
});

/** Tells whether no request is in progress and all rows are drawn. */
async function settled(): Promise<boolean> {
  const element = document.querySelector('psa-payouts');
  await element?.updateComplete;
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  return element?.shadowRoot?.querySelector('table')?.getAttribute('aria-busy') === 'false';
}

async function open(given: object, property = '', value = ''): Promise<string> {
  const { token } = await post<{ token: string }>('/world', given);
  await page.goto(`${pages.url}/dashboard`);
  await page.evaluate(
    ({ endpoint, token, property, value }) => {
      const element = document.createElement('psa-payouts');
      Object.assign(element, { endpoint, token });
      element.style.setProperty(property, value);
      document.body.append(element);
    },
    { endpoint: `${payouts.url}/graphql`, token, property, value },
  );
  await page.locator('psa-payouts').getByText('Live').waitFor();
  await page.locator('psa-payouts tbody tr').first().waitFor();
  return token;
}

async function post<Answer>(path: string, body: object): Promise<Answer> {
  return (await fetch(payouts.url + path, { method: 'POST', body: JSON.stringify(body) })).json();
}
