import { afterEach, beforeEach, expect, inject, vi } from 'vitest';
import type { CardPaymentStatus, PsaCheckout } from '../../widget/src/psa-checkout.ts';
import type { Scenario } from './fake-server.ts';
import { waitFor } from './patience.ts';

/** The address of the fake server for tests that run inside a page. */
export const url = inject('fakeUrl');

/** Resets storage, address, elements, language and color scheme around each test. */
export function eachOnAFreshPage(): void {
  beforeEach(() => {
    sessionStorage.clear();
    localStorage.clear();
    document.documentElement.lang = 'pt-BR';
  });
  afterEach(() => {
    vi.restoreAllMocks();
    for (const element of document.querySelectorAll('psa-checkout')) element.remove();
    history.replaceState(null, '', location.pathname);
    document.documentElement.style.colorScheme = '';
  });
}

export async function checkout(
  scenario: Partial<Scenario> = {},
  attributes: object = {},
): Promise<{ element: PsaCheckout; scenario: Scenario }> {
  const created: Scenario = await post('/scenario', scenario);
  return { element: await place(created.token, attributes), scenario: created };
}

export async function place(token: string, attributes: object = {}): Promise<PsaCheckout> {
  const element = document.createElement('psa-checkout');
  Object.assign(element, { endpoint: `${url}/graphql`, token, mode: 'redirect', ...attributes });
  element.addEventListener('psa-before-redirect', (leaving) => leaving.preventDefault());
  element.append('Pagar R$ 49,90');
  document.body.append(element);
  await element.updateComplete;
  return element;
}

export async function act(element: PsaCheckout, action: object): Promise<void> {
  const { payment } = element;
  const orderCode = payment?.__typename === 'Payment' ? payment.paymentId : payment?.orderCode;
  await post('/act', { orderCode, ...action });
}

/** Changes the payment's status at the server, and waits until the element has received it. */
export async function change(element: PsaCheckout, status: CardPaymentStatus): Promise<void> {
  const changed = event(element, 'psa-status-change', ({ detail }) => detail.status === status);
  await act(element, { values: { status, paidAt: status === 'PAID' ? '2026-03-14T17:42:00.000Z' : null } });
  await changed;
  await element.updateComplete;
}

export async function readScenario(scenario: Scenario): Promise<Scenario> {
  return post('/scenario', { token: scenario.token });
}

export async function changeScenario({ token }: Scenario, changes: Partial<Scenario>): Promise<void> {
  await post('/scenario', { token, ...changes });
}

/**
 * Waits until the scenario has `count` subscriptions. An element is live before its subscription has arrived, and a request
 * of the test may arrive in between.
 */
export function subscriptionsOf(scenario: Scenario, count: number): Promise<Scenario['subscriptions']> {
  return waitFor(async () => {
    const { subscriptions } = await readScenario(scenario);
    expect(subscriptions).toHaveLength(count);
    return subscriptions;
  });
}

async function post<T>(path: string, body: object): Promise<T> {
  return (await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })).json();
}

export function event(
  element: Element,
  name: string,
  matches: (event: CustomEvent) => boolean = () => true,
): Promise<CustomEvent> {
  return new Promise((resolve) => {
    element.addEventListener(name, function listener(dispatched) {
      if (!matches(dispatched as CustomEvent)) return;
      element.removeEventListener(name, listener);
      resolve(dispatched as CustomEvent);
    });
  });
}

export function connectionChange(element: Element, connection: string): Promise<CustomEvent> {
  return event(element, 'psa-connection-change', ({ detail }) => detail.connection === connection);
}

/**
 * Wraps every text of an element, in its shadow and in its slots, as a browser's translator does: a copy of the text,
 * in two elements, replaces the node, which is then in no document.
 */
export function translate(element: Element): void {
  for (const root of [element, element.shadowRoot ?? element]) {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const nodes: Text[] = [];
    while (texts.nextNode()) nodes.push(texts.currentNode as Text);
    for (const node of nodes) {
      const [outer, inner] = [document.createElement('font'), document.createElement('font')];
      inner.textContent = `⟦${node.data}⟧`;
      outer.append(inner);
      node.replaceWith(outer);
    }
  }
}

/** The text of a node, translated or not. */
export function untranslated(node: Node | null | undefined): string {
  return (node?.textContent ?? '').replace(/[⟦⟧]/g, '').replace(/\s+/g, ' ').trim();
}

export function part(element: PsaCheckout, name: string): HTMLElement | null {
  return element.shadowRoot?.querySelector<HTMLElement>(`[part="${name}"]`) ?? null;
}

/** Waits until animations have ended, because axe reads the colors at that moment. */
export async function settledLook(element: PsaCheckout): Promise<void> {
  await element.updateComplete;
  const running = (element.shadowRoot?.getAnimations() ?? []).filter(
    (animation) => animation.effect?.getComputedTiming().iterations !== Infinity,
  );
  await Promise.all(running.map((animation) => animation.finished));
}

export function fakeWindow() {
  return {
    closed: false,
    opener: window as Window | null,
    location: { replace: vi.fn() },
    document: { title: '', body: { textContent: '' } },
    focus: vi.fn(),
    close: vi.fn(),
  };
}

export function failure(code: string): object {
  return { message: code, extensions: { code, retryAfterSeconds: 3 } };
}
