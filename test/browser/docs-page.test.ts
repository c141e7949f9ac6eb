import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { LIVE_KEY, startApp, type TestApp } from '../support/app.ts';
import { launchBrowser, openVisitor } from '../support/browser.ts';
import { firstInSample } from '../support/scale.ts';

/** The folder for screenshots of each page; unset by default. */
const SCREENSHOTS = process.env.PSA_SCREENSHOTS;

let app: TestApp;
let browser: Browser;
beforeAll(async () => {
  app = await startApp();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  expect(app.faults).toEqual([]);
  await app.close();
});

const LOOKS = [390, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

describe('the REST page', () => {
  // A host name that differs from the public address: the page sends its requests to its own origin.
  const address = () => `http://127.0.0.1:${app.port}/v1/docs`;

  test.each(firstInSample(LOOKS))(
    'the REST page runs a request at $width px, $colorScheme, and loads from this server alone',
    async ({ width, colorScheme }) => {
      const visitor = await openVisitor(browser, { viewport: { width, height: 900 }, colorScheme });
      const { page } = visitor;
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).host));
      const fits = () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
      const draw = (name: string) =>
        SCREENSHOTS &&
        page.screenshot({
          path: join(SCREENSHOTS, `docs-${width}-${colorScheme}-${name}.png`),
          fullPage: true,
        });

      await page.goto(address());
      await page.getByText('/v1/wallet', { exact: true }).waitFor();
      expect(await fits()).toBe(true);
      const isDark = () =>
        page.evaluate(
          () => getComputedStyle(document.documentElement).backgroundColor !== 'rgba(0, 0, 0, 0)',
        );
      await page.emulateMedia({ colorScheme: colorScheme === 'dark' ? 'light' : 'dark' });
      await expect.poll(isDark).toBe(colorScheme !== 'dark');
      await page.emulateMedia({ colorScheme });
      await expect.poll(isDark).toBe(colorScheme === 'dark');
      await draw('closed');

      await page.getByRole('button', { name: 'Authorize', exact: true }).click();
      await page.getByLabel('auth-bearer-value').fill(LIVE_KEY);
      await page.getByRole('button', { name: 'Apply credentials' }).click();
      await page.getByRole('button', { name: 'Close', exact: true }).click();
      await page.locator('#operations-Card_payments-createCardPayment').getByRole('button').first().click();
      await page.getByRole('button', { name: 'Try it out' }).click();
      await page.getByRole('button', { name: 'Execute' }).click();

      await page.locator('.live-responses-table').getByText('"orderCode"').waitFor();
      expect(await page.locator('.live-responses-table .response-col_status').last().textContent()).toContain(
        '201',
      );
      expect(await fits()).toBe(true);
      await draw('tried');
      expect(new Set(asked)).toEqual(new Set([`127.0.0.1:${app.port}`]));
      expect(visitor.problems()).toEqual([]);
      await visitor.context.close();
    },
  );

  test('the REST page’s policy forbids frames and other origins', async () => {
    const { headers } = await fetch(address());
    const policy = headers.get('content-security-policy')!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('http');
  });

  test('the REST page’s script is compressed, and a client with its etag gets 304', async () => {
    const script = `${address()}/swagger-ui-bundle.js`;
    const first = await fetch(script);
    expect(first.headers.get('content-encoding')).toBe('gzip');
    expect(Number(first.headers.get('content-length'))).toBeLessThan(600_000);
    const etag = first.headers.get('etag')!;
    expect((await fetch(script, { headers: { 'if-none-match': etag } })).status).toBe(304);
    const plain = await fetch(script, { headers: { 'accept-encoding': 'identity', 'if-none-match': etag } });
    expect([plain.status, plain.headers.get('content-encoding')]).toEqual([200, null]);
  });

  test.each(['/docs/', '/docs/page.ts', '/docs/package.json', '/docs/../openapi.json/x'])(
    'the REST page serves no file at %s',
    async (path) => {
      expect((await app.rest().get(path)).status).toBe(404);
    },
  );
});
