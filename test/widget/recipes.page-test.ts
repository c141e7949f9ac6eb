// The documents' recipe for a page without a framework, and the script tag with hashes.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newestVersion } from '../../widget/scripts/released.mjs';
import { CONTEXT, launchOptions } from '../support/launch-options.ts';
import { type FakeServer, startFakeServer } from './fake-server.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const ORIGIN = 'https://pay.example';

let server: FakeServer;
let browser: Browser;
let token: string;

beforeAll(async () => {
  const plain = await readFile(here('recipes/plain.html'), 'utf8');
  const document = await readFile(here('../../widget/docs/psa-checkout.md'), 'utf8');
  const tag = /<!-- integrity: psa-checkout -->\n\n```html\n([\s\S]*?)```/.exec(document)?.[1] ?? '';
  const hashed = plain.replace(/<script type="module" src.*<\/script>/, tag);
  const served = (page: string) => ({
    body: page.replaceAll(ORIGIN, '{{url}}').replace('ps_checkout_…', ''),
  });
  server = await startFakeServer({
    files: {
      [`/widget/${newestVersion()}/`]: { folder: here(`../../widget/released/${newestVersion()}`) },
      '/widget/': { folder: here('../../widget/dist/standalone') },
    },
    pages: {
      '/plain': served(plain),
      '/hashed': served(hashed),
      // A chunk whose hash does not match.
      '/forged': served(hashed.replace(/(payment\.js(\?again)?": "sha384-)..../g, '$1AAAA')),
    },
  });
  const made = await fetch(`${server.url}/scenario`, { method: 'POST', body: '{}' });
  ({ token } = (await made.json()) as { token: string });
  browser = await chromium.launch(launchOptions());
}, 30_000);

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

it.each(['plain', 'hashed'])('the recipe pays on a %s page', async (name) => {
  const page = await open(name);
  await page.getByRole('button').click();
  await page.waitForFunction(() => document.querySelector('psa-checkout')?.phase === 'pending');
  const orderCode = await page.evaluate(() => document.querySelector('psa-checkout')?.payment?.orderCode);
  await fetch(`${server.url}/act`, {
    method: 'POST',
    body: JSON.stringify({ orderCode, values: { status: 'PAID' } }),
  });
  await page.getByText(`Obrigado! Pedido ${orderCode}`).waitFor();
  await page.context().close();
});

it('a chunk with another hash is not loaded', async () => {
  const page = await open('forged');
  await page.getByRole('button').click();
  await page.waitForFunction(() => document.querySelector('psa-checkout')?.phase === 'error');
  expect(await page.evaluate(() => document.querySelector('psa-checkout')?.error?.code)).toBe('network');
  await page.context().close();
});

async function open(name: string) {
  const page = await (await browser.newContext(CONTEXT)).newPage();
  await page.goto(`${server.url}/${name}`);
  await page.evaluate((token) => document.querySelector('psa-checkout')?.setAttribute('token', token), token);
  return page;
}
