import puppeteer, { type BrowserContext, type ElementHandle, type Page } from 'puppeteer-core';
import { launchOptions } from '../support/launch-options.ts';
import { type Engine, type EngineWindow, SIZE, TIME_ZONE } from './engine.ts';

const environment = { ...process.env, TZ: TIME_ZONE };

export async function startChromium(): Promise<Engine> {
  return drive(await puppeteer.launch({ ...launchOptions(), env: environment, defaultViewport: SIZE }));
}

/** Starts Firefox, which speaks WebDriver BiDi itself. */
export async function startFirefox(): Promise<Engine> {
  const { PSA_FIREFOX = '/usr/bin/firefox-esr' } = process.env;
  return drive(
    await puppeteer.launch({
      browser: 'firefox',
      executablePath: PSA_FIREFOX,
      env: environment,
      defaultViewport: SIZE,
      extraPrefsFirefox: { 'intl.accept_languages': 'pt-BR' },
    }),
  );
}

function drive(browser: Awaited<ReturnType<typeof puppeteer.launch>>): Engine {
  return {
    async visit(url) {
      const context = await browser.createBrowserContext();
      const window = windowOf(await context.newPage(), context);
      await window.goto(url);
      return window;
    },
    // A version such as "Chrome/156.0.8078.79".
    version: async () => (await browser.version()).replace(/^\D*/, ''),
    close: () => browser.close(),
  };
}

function windowOf(page: Page, context: BrowserContext): EngineWindow {
  const find = async (element: string) => {
    const handle = (await page.evaluateHandle(element)).asElement();
    if (!handle) throw new Error(`There is no ${element} on ${page.url()}`);
    return handle as ElementHandle<Element>;
  };
  return {
    async goto(url) {
      await page.goto(url);
    },
    async reload() {
      await page.reload();
    },
    ask: async <Value>(expression: string) => (await page.evaluate(expression)) as Value,
    click: async (element) => (await find(element)).click(),
    type: async (element, text) => (await find(element)).type(text),
    async opened(act) {
      const opening = new Promise<Page>((resolve) => {
        context.once('targetcreated', async (target) => resolve((await target.page())!));
      });
      await act();
      const popup = await opening;
      return windowOf(popup, context);
    },
    isClosed: async () => page.isClosed(),
    screenshot: async () => Buffer.from(await page.screenshot()),
    leave: () => context.close(),
  };
}
