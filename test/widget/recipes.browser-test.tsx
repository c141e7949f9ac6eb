// The recipes of widget/docs/recipes.md, unchanged, on the built package.
import '@angular/compiler';
import { createComponent, inputBinding, provideZonelessChangeDetection } from '@angular/core';
import { createApplication } from '@angular/platform-browser';
import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { mount, unmount } from 'svelte';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { createApp } from 'vue';
import type { Scenario } from './fake-server.ts';
import { waitUntil } from './patience.ts';
import { Pay as AngularPay } from './recipes/angular.ts';
import { Pay } from './recipes/react.tsx';
import SveltePay from './recipes/svelte.svelte';
import VuePay from './recipes/vue.vue';

const url = inject('fakeUrl');
const endpoint = `${url}/graphql`;
let end: () => unknown;
let token: string;

beforeEach(async () => {
  sessionStorage.clear();
  localStorage.clear();
  vi.spyOn(window, 'open').mockReturnValue(null);
  vi.spyOn(console, 'error');
  ({ token } = await tell({}));
});

afterEach(async () => {
  await end();
  vi.restoreAllMocks();
  document.body.replaceChildren();
});

it('the recipe for React 19 pays once, mounted twice by strict mode', async () => {
  const root = createRoot(box());
  end = () => root.unmount();
  root.render(createElement(StrictMode, null, createElement(Pay, { endpoint, token })));
  await pays();
});

it('the recipe for Vue 3 pays once', async () => {
  const app = createApp(VuePay, { endpoint, token });
  end = () => app.unmount();
  app.mount(box());
  await pays();
});

it('the recipe for Svelte 5 pays once', async () => {
  const pay = mount(SveltePay, { target: box(), props: { endpoint, token } });
  end = () => unmount(pay);
  await pays();
});

it('the recipe for Angular pays once', async () => {
  const app = await createApplication({ providers: [provideZonelessChangeDetection()] });
  end = () => app.destroy();
  const pay = createComponent(AngularPay, {
    environmentInjector: app.injector,
    hostElement: box(),
    bindings: [inputBinding('endpoint', () => endpoint), inputBinding('token', () => token)],
  });
  app.attachView(pay.hostView);
  await pays();
});

/** Checks that properties reach the element, a click pays once, and its event reaches the framework. */
async function pays(): Promise<void> {
  await waitUntil(() => document.querySelector('psa-checkout')?.shadowRoot?.querySelector('.button'));
  const element = document.querySelector('psa-checkout');
  if (!element) throw new Error('nothing was rendered');
  expect(element).toMatchObject({ endpoint, token, customer: { externalId: 'u-17' } });
  expect(element.textContent).toContain('Pagar R$ 49,90');
  const button = element.shadowRoot?.querySelector<HTMLElement>('.button');
  button?.click();
  button?.click();
  await waitUntil(() => element.phase === 'pending');
  const { orderCode } = element.payment ?? {};
  await post('/act', { orderCode, values: { status: 'PAID' } });
  await waitUntil(() => document.querySelector('p'));
  expect(document.querySelector('p')?.textContent).toBe(`Obrigado! Pedido ${orderCode}`);
  const { starts } = await tell({ token });
  expect(starts).toHaveLength(1);
  expect(starts[0]).toMatchObject({ customer: { externalId: 'u-17' } });
  expect(console.error).not.toHaveBeenCalled();
}

function box(): HTMLElement {
  return document.body.appendChild(document.createElement('div'));
}

async function tell(scenario: Partial<Scenario>): Promise<Scenario> {
  return (await post('/scenario', scenario)).json() as Promise<Scenario>;
}

function post(path: string, body: object): Promise<Response> {
  return fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
}
