import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { PAGE_CSP } from '../../server/src/http/own-pages.ts';
import { type FakeServer, startFakeServer } from './fake-server.ts';

export const THEMES = ['padrao', 'armazem', 'noturno', 'custodia'] as const;
export const SCHEMES = ['light', 'dark'] as const;

export interface View {
  tema?: (typeof THEMES)[number] | 'todos';
  idioma?: 'pt-BR' | 'en' | 'es';
  direcao?: 'ltr' | 'rtl';
  largura?: 'estreita' | 'celular' | 'larga';
}

/** The demo's built pages as the server sends them, and whatever else a test needs beside them. */
export function serveDemo(extra: Record<string, string> = {}): Promise<FakeServer> {
  const headers = { 'content-security-policy': PAGE_CSP };
  const files = Object.entries(extra).map(([path, folder]) => [path, { folder }] as const);
  return startFakeServer({
    files: {
      ...Object.fromEntries(files),
      '/demo/': { folder: fileURLToPath(new URL('../../widget/dist/demo/', import.meta.url)), headers },
    },
  });
}

/** The gallery with every element in its state. What the page complains about is added to `problems`. */
export async function openGallery(
  browser: Browser,
  url: string,
  view: View = {},
  options: BrowserContextOptions & { problems?: string[] } = {},
): Promise<Page> {
  const { problems = [], ...rest } = options;
  const context = await browser.newContext({
    locale: 'pt-BR',
    timezoneId: 'America/Sao_Paulo',
    viewport: { width: 1280, height: 900 },
    ...rest,
  });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.location().url.endsWith('icone.svg'))
      problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  await page.goto(`${url}/demo/gallery?${new URLSearchParams(view as Record<string, string>)}`);
  await page.waitForSelector('[data-pronta]', { timeout: 15_000 });
  return page;
}
