import puppeteer, { type BrowserContext, type ElementHandle, type Page } from 'puppeteer-core';
import { launchOptions } from '../support/launch-options.ts';
import { type Engine, type EngineWindow, type Look, SIZE, TIME_ZONE } from './engine.ts';

const environment = { ...process.env, TZ: TIME_ZONE };

export async function startChromium(look: Look = 'light'): Promise<Engine> {
  const browser = await puppeteer.launch({ ...launchOptions(), env: environment, defaultViewport: SIZE });
  return drive(browser, (page) =>
    page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: look === 'dark' ? 'dark' : 'light' },
      { name: 'forced-colors', value: look === 'forced colors' ? 'active' : 'none' },
    ]),
  );
}

/** Starts Firefox, which speaks WebDriver BiDi itself. */
export async function startFirefox(look: Look = 'light'): Promise<Engine> {
  const { PSA_FIREFOX = '/usr/bin/firefox-esr' } = process.env;
  return drive(
    await puppeteer.launch({
      browser: 'firefox',
      executablePath: PSA_FIREFOX,
      // Its sandbox would not let pages read the fonts of the tests.
      env: { ...environment, MOZ_DISABLE_CONTENT_SANDBOX: '1' },
      defaultViewport: SIZE,
      extraPrefsFirefox: {
        'intl.accept_languages': 'pt-BR',
        // 0 is dark, and 1 is light.
        'layout.css.prefers-color-scheme.content-override': look === 'dark' ? 0 : 1,
        // 2 takes the colors of the person for those of every page.
        'browser.display.document_color_use': look === 'forced colors' ? 2 : 0,
      },
    }),
  );
}

function drive(
  browser: Awaited<ReturnType<typeof puppeteer.launch>>,
  prepare?: (page: Page) => Promise<void>,
): Engine {
  return {
    async visit(url) {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      await prepare?.(page);
      const window = windowOf(page, context);
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
    resize: (size) => page.setViewport(size),
    screenshot: async () => Buffer.from(await page.screenshot()),
    leave: () => context.close(),
  };
}
