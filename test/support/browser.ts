import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Locator,
  type Page,
} from 'playwright-core';
import { PNG } from 'pngjs';
import { CONTEXT, launchOptions } from './launch-options.ts';

/** The events of `<psa-checkout>`. */
export interface WidgetEvent {
  name: string;
  /** The element's id. */
  target: string;
  // biome-ignore lint/suspicious/noExplicitAny: each event has a detail of its own
  detail: any;
}

/** A person with a browser context of their own: cookies, storage and windows that no other test sees. */
export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The events of all elements on all pages, in order of arrival. */
  readonly events: readonly WidgetEvent[];
  /** Resolves with the first matching event, which may have been dispatched already. */
  waitForEvent(name: string, matches?: (event: WidgetEvent) => boolean): Promise<WidgetEvent>;
  /** Every message of every WebSocket; sent ones begin with `>`, received ones with `<`. */
  readonly messages: readonly string[];
  /** Adds problems that the browser may report; any other one fails the test. */
  expectProblems(...problems: RegExp[]): void;
  /** The reported problems that were not expected. */
  problems(): string[];
}

/** A limit for pages that hang: beside three other workers a page has taken more than twenty seconds to load. */
const TIMEOUT_MS = 60_000;

type Kind = 'shell' | 'browser';

let shell: Promise<Browser> | null = null;

/**
 * Launches a browser. A shell is shared by the files that run in this process one after the other, because its start takes
 * a second of CPU time; closing it closes its contexts. A full browser is the caller's own.
 */
export async function launchBrowser(kind: Kind = 'shell'): Promise<Browser> {
  if (kind === 'browser') return launch(kind);
  shell ??= launch(kind).then((launched) =>
    Object.assign(launched, {
      close: async () => {
        await Promise.all(launched.contexts().map((context) => context.close()));
      },
    }),
  );
  const launched = await shell;
  if (launched.isConnected()) return launched;
  shell = null;
  return launchBrowser(kind);
}

function launch(kind: Kind): Promise<Browser> {
  return chromium.launch({
    ...launchOptions(kind),
    // Windows without a click are blocked, and the back button restores the page, as in people's browsers.
    ignoreDefaultArgs: ['--disable-popup-blocking', '--disable-back-forward-cache'],
  });
}

/** Opens a visitor, by default in Portuguese on a laptop. Closing its context ends it. */
export async function openVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({
    locale: 'pt-BR',
    timezoneId: 'America/Sao_Paulo',
    viewport: { width: 1280, height: 900 },
    ...CONTEXT,
    ...options,
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  const problems: string[] = [];
  // The browser reports this if the page is left, or the payment reset, while its socket opens.
  const expected: RegExp[] = [/WebSocket is closed before the connection is established/];
  const messages: string[] = [];
  const events: WidgetEvent[] = [];
  const listeners = new Set<() => void>();

  context.on('weberror', (error) => problems.push(`uncaught: ${error.error().stack}`));
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`${message.type()}: ${message.text()} (${message.location().url})`);
  });
  context.on('response', (response) => {
    if (response.status() >= 500) problems.push(`${response.status()} from ${response.url()}`);
  });
  context.on('page', (page) => {
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => messages.push(`> ${payload}`));
      socket.on('framereceived', ({ payload }) => messages.push(`< ${payload}`));
    });
  });
  // The events go through a binding and not into the page, so that events before a reload or in a closed window are
  // kept.
  await context.exposeBinding('psaEvent', (_source, event: WidgetEvent) => {
    events.push(event);
    for (const listener of listeners) listener();
  });
  await context.exposeBinding('psaViolation', (_source, violation: string) => {
    problems.push(violation);
  });
  await context.addInitScript(reportEvents);
  const page = await context.newPage();

  return {
    context,
    page,
    events,
    messages,
    waitForEvent(name, matches = () => true) {
      return new Promise((resolve, reject) => {
        const listen = () => {
          const event = events.find((each) => each.name === name && matches(each));
          if (!event) return;
          clearTimeout(timer);
          listeners.delete(listen);
          resolve(event);
        };
        const timer = setTimeout(() => {
          listeners.delete(listen);
          reject(
            new Error(`no ${name} among ${events.map((event) => event.name).join(', ') || 'no events'}`),
          );
        }, TIMEOUT_MS);
        listeners.add(listen);
        listen();
      });
    },
    expectProblems(...problems) {
      expected.push(...problems);
    },
    problems: () => problems.filter((text) => !expected.some((pattern) => pattern.test(text))),
  };
}

/** Reports the page's events and policy violations. Runs in every page, before its own scripts. */
function reportEvents(): void {
  const { psaEvent, psaViolation } = globalThis as unknown as Record<string, (value: unknown) => void>;
  const names = [
    'psa-before-start',
    'psa-method-change',
    'psa-pix-copied',
    'psa-before-redirect',
    'psa-created',
    'psa-checkout-open',
    'psa-checkout-close',
    'psa-popup-blocked',
    'psa-status-change',
    'psa-paid',
    'psa-expired',
    'psa-refunded',
    'psa-failed',
    'psa-connection-change',
    'psa-phase-change',
    'psa-error',
  ];
  for (const name of names)
    document.addEventListener(name, (event) => {
      psaEvent?.({ name, target: (event.target as Element).id, detail: (event as CustomEvent).detail });
    });
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile }) => {
    psaViolation?.(`CSP: ${violatedDirective} blocked ${blockedURI} in ${sourceFile}`);
  });
}

/** Waits for all animations that end; a spinner's never does. */
export async function waitForAnimations(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const shadows = [...document.querySelectorAll('*')].map(({ shadowRoot }) => shadowRoot);
    const animations = [document, ...shadows].flatMap((root) => root?.getAnimations() ?? []);
    const ending = animations.filter(
      ({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY,
    );
    // The promise of an animation rejects if its element is removed, so all of them are settled.
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });
}

/** The color of an element beside its text, as it is drawn, which a style may not tell. */
export async function drawnColour(element: Locator): Promise<number[]> {
  const { data, width } = PNG.sync.read(await element.screenshot({ scale: 'css' }));
  const at = (6 * width + 6) * 4;
  return [...data.subarray(at, at + 3)];
}

// ── The hosted page ─────────────────────────────────────────────────────────────────────────────

/** The test cards of the simulated acquirer, by their outcome. */
export const CARD = {
  approved: '4242 4242 4242 4242',
  declined: '4000 0000 0000 0002',
  declinedForGood: '4100 0000 0000 0019',
  approvedLater: '4000 0000 0000 3220',
  approvedAfterExpiry: '4000 0000 0000 0077',
} as const;

/** Types a card into the hosted page and presses its button. */
export async function payOn(page: Page, cardNumber: string): Promise<void> {
  await page.getByLabel('Número do cartão').fill(cardNumber);
  await page.getByLabel('Nome no cartão').fill('Maria da Silva');
  await page.getByLabel('Validade').fill('12/29');
  await page.getByLabel('CVV').fill('123');
  await page.getByRole('button', { name: /^Pagar/ }).click();
}
