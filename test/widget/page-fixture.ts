import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { CONTEXT } from '../support/launch-options.ts';
import { savePages } from '../support/screenshots.ts';
import { type FakeServer, type FakeServerOptions, type Scenario, startFakeServer } from './fake-server.ts';

/** An event of `<psa-checkout>` on its page. */
export interface PageEvent {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: each event has a detail of its own
  detail: any;
}

export interface PageFixture {
  readonly server: FakeServer;
  /** A new context for each test. */
  readonly context: BrowserContext;
  readonly page: Page;
  /** Console errors and uncaught errors of the page. */
  readonly problems: string[];
  scenario(given?: Partial<Scenario>): Promise<Scenario>;
  readScenario(token: string): Promise<Scenario>;
  /** Changes the payment of the page's element at the server, or the server's behaviour. */
  act(action: object, on?: Page | Frame): Promise<void>;
  /** Waits until the page's element is in this phase. */
  until(phase: string, on?: Page | Frame): Promise<void>;
  connected(connection: string, on?: Page | Frame): Promise<void>;
  /** Reads the events that the page has received. */
  events(on?: Page | Frame): Promise<PageEvent[]>;
  /** Runs the tests of this `describe` in a full browser, with a popup blocker and a back/forward cache. */
  inBrowser(): void;
}

/** Polls every 25 ms: at Playwright's default of each frame, the browser would draw frames for nothing. */
export const POLLING = { polling: 25 };

type BrowserKind = 'shell' | 'browser';

const STANDALONE = fileURLToPath(new URL('../../widget/dist/standalone', import.meta.url));

/** Opens the built bundle on a fake server, in a headless shell, which is three times as fast as a full browser. */
export function openPageFixture(pages: NonNullable<FakeServerOptions['pages']>): PageFixture {
  let server: FakeServer;
  let kind: BrowserKind = 'shell';
  const browsers = new Map<BrowserKind, Browser>();
  let context: BrowserContext;
  let page: Page;
  const problems: string[] = [];

  beforeAll(async () => {
    if (readdirSync(STANDALONE).length === 0) throw new Error('build the widget first');
    const headers = { 'access-control-allow-origin': '*' };
    server = await startFakeServer({ files: { '/widget/': { folder: STANDALONE, headers } }, pages });
  });
  afterAll(async () => {
    for (const browser of browsers.values()) await browser.close();
    await server?.close();
  });
  beforeEach(async () => {
    let browser = browsers.get(kind);
    if (!browser) {
      browser = await launchBrowser(kind);
      browsers.set(kind, browser);
    }
    context = await browser.newContext(CONTEXT);
    await context.addInitScript(listen);
    page = await context.newPage();
    problems.length = 0;
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('favicon')) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
  });
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await savePages([context], task.name);
    await context.close();
  });

  async function post<T>(path: string, body: object): Promise<T> {
    return (await fetch(server.url + path, { method: 'POST', body: JSON.stringify(body) })).json();
  }

  async function waitForProperty(
    name: 'phase' | 'connection',
    value: string,
    on: Page | Frame,
  ): Promise<void> {
    await on.waitForFunction(
      ([property, expected]) => document.querySelector('psa-checkout')?.[property] === expected,
      [name, value] as const,
      POLLING,
    );
  }

  return {
    get server() {
      return server;
    },
    get context() {
      return context;
    },
    get page() {
      return page;
    },
    problems,
    scenario: (given = {}) => post('/scenario', given),
    readScenario: (token) => post('/scenario', { token }),
    async act(action, on = page) {
      const orderCode = await on.evaluate(() => {
        const payment = document.querySelector('psa-checkout')?.payment;
        return payment?.__typename === 'Payment' ? payment.paymentId : payment?.orderCode;
      });
      await post('/act', { orderCode, ...action });
    },
    until: (phase, on = page) => waitForProperty('phase', phase, on),
    connected: (connection, on = page) => waitForProperty('connection', connection, on),
    inBrowser() {
      beforeAll(() => {
        kind = 'browser';
      });
      afterAll(() => {
        kind = 'shell';
      });
    },
    events: (on = page) => on.evaluate(() => (window as unknown as { psaEvents: PageEvent[] }).psaEvents),
  };
}

/** Records the page's events. Runs in every page, before its own scripts. */
function listen(): void {
  const psaEvents: PageEvent[] = [];
  Object.assign(window, { psaEvents });
  const names =
    'before-start method-change pix-copied before-redirect created checkout-open checkout-close popup-blocked status-change paid expired refunded failed connection-change phase-change error';
  for (const name of names.split(' '))
    document.addEventListener(`psa-${name}`, (event) => {
      psaEvents.push({ name: event.type, detail: (event as CustomEvent).detail });
    });
}
