import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { launchOptions, STILL } from './launch-options.ts';

/** The events of `<psa-checkout>`. */
export interface WidgetEvent {
  name: string;
  /** The element's id. */
  target: string;
  // biome-ignore lint/suspicious/noExplicitAny: each event has a detail of its own
  detail: any;
}

/** One person with a browser of their own: cookies, storage and windows that no other test sees. */
export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** The events of all elements on all pages, in order of arrival. */
  readonly events: readonly WidgetEvent[];
  /** Resolves with the first such event, which may have come already. */
  heard(name: string, matches?: (event: WidgetEvent) => boolean): Promise<WidgetEvent>;
  /** Every message of every WebSocket, `>` sent and `<` received in front. */
  readonly messages: readonly string[];
  /** Complaints that the browser may make; any other complaint fails the test. */
  expectProblems(...problems: RegExp[]): void;
  /** Complaints that were not expected. */
  problems(): string[];
}

const PATIENCE_MS = 20_000;

type Kind = 'shell' | 'browser';

let shell: Promise<Browser> | null = null;

/**
 * A shell is the one of this process, for the files that run in it one after the other: to start one costs a second of
 * CPU time. Closing it ends what the file has opened in it. A whole browser is the caller's own.
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
    // As people have it: a window that no click asked for is blocked, and the back button finds the page as it was.
    ignoreDefaultArgs: ['--disable-popup-blocking', '--disable-back-forward-cache'],
  });
}

/** A new visitor, in Portuguese on a laptop unless `options` say otherwise. Ends with its context. */
export async function openVisitor(browser: Browser, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({
    locale: 'pt-BR',
    timezoneId: 'America/Sao_Paulo',
    viewport: { width: 1280, height: 900 },
    ...STILL,
    ...options,
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const complaints: string[] = [];
  // A page that is left, or a payment put back, while its socket opens.
  const expected: RegExp[] = [/WebSocket is closed before the connection is established/];
  const messages: string[] = [];
  const events: WidgetEvent[] = [];
  const listeners = new Set<() => void>();

  context.on('weberror', (error) => complaints.push(`uncaught: ${error.error().stack}`));
  context.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.type()}: ${message.text()} (${message.location().url})`);
  });
  context.on('response', (response) => {
    if (response.status() >= 500) complaints.push(`${response.status()} from ${response.url()}`);
  });
  context.on('page', (page) => {
    page.on('websocket', (socket) => {
      socket.on('framesent', ({ payload }) => messages.push(`> ${payload}`));
      socket.on('framereceived', ({ payload }) => messages.push(`< ${payload}`));
    });
  });
  // Over a binding, not in the page: what was said before a reload or in a window that has closed is still known.
  await context.exposeBinding('psaHeard', (_source, event: WidgetEvent) => {
    events.push(event);
    for (const listener of listeners) listener();
  });
  await context.exposeBinding('psaViolated', (_source, violation: string) => {
    complaints.push(violation);
  });
  await context.addInitScript(tell);
  const page = await context.newPage();

  return {
    context,
    page,
    events,
    messages,
    heard(name, matches = () => true) {
      const look = () => events.find((event) => event.name === name && matches(event));
      return new Promise((resolve, reject) => {
        const listen = () => {
          const event = look();
          if (!event) return;
          clearTimeout(timer);
          listeners.delete(listen);
          resolve(event);
        };
        const timer = setTimeout(() => {
          listeners.delete(listen);
          reject(new Error(`no ${name}; heard ${events.map((event) => event.name).join(', ') || 'nothing'}`));
        }, PATIENCE_MS);
        listeners.add(listen);
        listen();
      });
    },
    expectProblems(...problems) {
      expected.push(...problems);
    },
    problems: () => complaints.filter((text) => !expected.some((pattern) => pattern.test(text))),
  };
}

/** Runs in every page, before its own scripts. */
function tell(): void {
  const { psaHeard, psaViolated } = globalThis as unknown as Record<string, (value: unknown) => void>;
  const names = [
    'psa-before-start',
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
      psaHeard?.({ name, target: (event.target as Element).id, detail: (event as CustomEvent).detail });
    });
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile }) => {
    psaViolated?.(`CSP: ${violatedDirective} blocked ${blockedURI} in ${sourceFile}`);
  });
}

/** Waits for what moves towards a rest; a spinner never gets there. */
export async function comeToRest(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const shadows = [...document.querySelectorAll('psa-checkout, psa-payouts')].map(
      ({ shadowRoot }) => shadowRoot,
    );
    const moving = [document, ...shadows].flatMap((root) => root?.getAnimations() ?? []);
    const ending = moving.filter(
      ({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY,
    );
    // One that is taken away while it runs is at rest too.
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });
}

// ── The hosted page ─────────────────────────────────────────────────────────────────────────────

/** The simulated acquirer's, by what becomes of them. */
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
