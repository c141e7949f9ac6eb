import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { PAGE_CSP } from '../../server/src/api/http/same-origin.ts';
import { CONTEXT } from '../support/launch-options.ts';
import { type FakeServer, startFakeServer } from './fake-server.ts';

export const THEMES = ['default', 'market', 'night', 'custody'] as const;
export const SCHEMES = ['light', 'dark'] as const;
export const LANGUAGES = ['pt-BR', 'en', 'es'] as const;

/** The settings of the gallery's controls, as its address has them; an absent one is left unchanged. */
export interface View {
  /** The element of the account's gallery. */
  element?: 'psa-wallet' | 'psa-sales' | 'psa-payouts' | 'psa-statement' | 'psa-disputes';
  theme?: (typeof THEMES)[number] | 'all';
  language?: (typeof LANGUAGES)[number];
  direction?: 'ltr' | 'rtl';
  width?: 'narrow' | 'phone' | 'wide';
  methods?: 'pix card' | 'card pix' | 'pix' | 'card';
  mode?: 'auto' | 'popup' | 'tab' | 'redirect';
}

/** Serves the demo's built pages with the headers of the real server. */
export function serveDemo(): Promise<FakeServer> {
  const folder = fileURLToPath(new URL('../../widget/dist/demo/', import.meta.url));
  return startFakeServer({
    files: { '/demo/': { folder, headers: { 'content-security-policy': PAGE_CSP } } },
  });
}

export interface Gallery {
  page: Page;
  /** Errors in the page's console. */
  problems: string[];
  show(view: View): Promise<void>;
}

/** Opens a gallery and waits until every element that it shows has reached its state. */
export async function openGallery(
  browser: Browser,
  url: string,
  view: View = {},
  options: BrowserContextOptions = {},
  name: 'gallery' | 'gallery-board' = 'gallery',
): Promise<Gallery> {
  const context = await browser.newContext({
    locale: 'pt-BR',
    timezoneId: 'America/Sao_Paulo',
    viewport: { width: 1280, height: 900 },
    ...CONTEXT,
    ...options,
  });
  // A busy machine builds and draws the many elements of a page in more than Playwright's 30 s.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !/(icon\.svg|account\.json)$/.test(message.location().url))
      problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${url}/demo/${name}?${new URLSearchParams({ ...view })}`);
  await page.waitForSelector('[data-ready]');
  return { page, problems, show: (view) => show(page, view) };
}

async function show(page: Page, view: View): Promise<void> {
  for (const [name, value] of Object.entries(view))
    await page.locator(`input[name="${name}"][value="${value}"]`).check({ force: true });
  // A theme that is shown for the first time creates its elements now.
  await page.waitForSelector('[data-ready]');
  const language = view.language;
  if (!language) return;
  await page.waitForFunction(
    (language) =>
      [...document.querySelectorAll('#gallery :is(psa-checkout, .board)')].every(
        ({ shadowRoot }) => shadowRoot?.querySelector('[part~=base]')?.getAttribute('lang') === language,
      ),
    language,
  );
}

const FONT = createRequire(import.meta.url).resolve(
  '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2',
);
const FONT_CSS = `
@font-face { font-family: Bundled; font-weight: 100 900; src: url('/bundled.woff2'); }
.frame h3 { font-family: Bundled !important; }
.frame psa-checkout { --psa-font-family: Bundled; }
psa-checkout::part(status), psa-checkout::part(timer) { font-family: Bundled !important; }
`;

/** Sets all elements in a bundled font, because machines differ in their fonts. */
export async function useBundledFont(page: Page): Promise<void> {
  await page.route('**/bundled.woff2', (route) => route.fulfill({ path: FONT, contentType: 'font/woff2' }));
  await page.route('**/bundled.css', (route) => route.fulfill({ body: FONT_CSS, contentType: 'text/css' }));
  await page.addStyleTag({ url: '/bundled.css' });
  await page.evaluate(async () => {
    await Promise.all([400, 500, 600, 650].map((weight) => document.fonts.load(`${weight} 16px Bundled`)));
  });
}
