import { expect, inject } from 'vitest';
import type { BoardPhase } from '../../widget/src/board/board-host.ts';
import type { PayoutsAct, PayoutsWorld, WorldRequest } from './fake-payouts.ts';
import { waitFor } from './patience.ts';

// What the tests of the elements of a board share.

/** An element of a board, as far as every one is alike. */
export interface Placed extends HTMLElement {
  endpoint: string | undefined;
  token: string | undefined;
  renewToken: (() => Promise<string> | string) | undefined;
  readonly phase: BoardPhase;
  readonly connection: string;
  updateComplete: Promise<boolean>;
}

const url = inject('fakePayoutsUrl');

const endpoint = `${url}/graphql`;

export function openWorld(given: WorldRequest = {}): Promise<PayoutsWorld> {
  return post('/world', given);
}

export function readWorld({ token }: Pick<PayoutsWorld, 'token'>): Promise<PayoutsWorld> {
  return post('/world', { token });
}

export function act(token: string | undefined, what: Omit<PayoutsAct, 'token'>): Promise<unknown> {
  return post('/act', { token, ...what });
}

/** Puts an element on the page, and waits until it has read and follows. */
export async function place<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  world: PayoutsWorld,
  properties: object = {},
  phase: BoardPhase = 'ready',
): Promise<HTMLElementTagNameMap[Name] & Placed> {
  const element = document.createElement(name) as HTMLElementTagNameMap[Name] & Placed;
  Object.assign(element, { endpoint, token: world.token, ...properties });
  document.body.append(element);
  await shows(() => element.phase, phase);
  if (phase === 'ready') await shows(() => /live|polling/.test(element.connection), true);
  await element.updateComplete;
  return element;
}

export function shows(look: () => unknown, what: unknown): Promise<void> {
  return waitFor(async () => expect(await look()).toEqual(what));
}

export function event(element: Element, name: string): Promise<CustomEvent> {
  return new Promise((resolve) =>
    element.addEventListener(name, (heard) => resolve(heard as CustomEvent), { once: true }),
  );
}

export function part(element: Element, name: string): HTMLElement | null {
  return element.shadowRoot!.querySelector(`[part=${name}]`);
}

/** The text of a node, with a space between elements. */
export function words(node: Node | null | undefined): string | undefined {
  const read = (child: Node): string => {
    if (child instanceof Element) return ` ${[...child.childNodes].map(read).join('')} `;
    return child instanceof Text ? child.data : '';
  };
  return node ? read(node).replace(/\s+/g, ' ').trim() : undefined;
}

/** Opens the panel of a row, as a click does. */
export async function openRow(element: Element, id: string): Promise<void> {
  const row = element.shadowRoot!.querySelector<HTMLElement>(`tr[data-id=${id}]`)!;
  row.focus();
  row.click();
  await shows(() => dialogOf(element)?.open, true);
}

export function dialogOf(element: Element): HTMLDialogElement {
  return element.shadowRoot!.querySelector('dialog')!;
}

/** Waits until the panel is where it stays. */
export async function arrived(element: Element): Promise<void> {
  await Promise.all(
    dialogOf(element)
      .getAnimations()
      .map(({ finished }) => finished),
  );
}

async function post<Answer>(path: string, body: object): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}
