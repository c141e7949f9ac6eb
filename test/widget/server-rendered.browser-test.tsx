// React's components on pages that a server has rendered: first markup, in which the elements are already defined,
// and later React.
import { createElement, StrictMode } from 'react';
import { hydrateRoot, type Root } from 'react-dom/client';
import { renderToString } from 'react-dom/server.browser';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { PsaCheckout } from '../../widget/src/react/react.ts';
import { PsaPayouts } from '../../widget/src/react/react-payouts.ts';
import { act, change, checkout, eachOnAFreshPage, readScenario, url } from './component.ts';
import { waitFor, waitUntil } from './patience.ts';

eachOnAFreshPage();

const roots: Root[] = [];
const heard: string[] = [];
const NAMES = ['status-change', 'phase-change', 'connection-change', 'paid', 'error'].map(
  (each) => `psa-${each}`,
);
const hear = ({ type }: Event) => void heard.push(type);

beforeEach(() => {
  heard.length = 0;
  vi.spyOn(console, 'error');
  for (const name of NAMES) document.addEventListener(name, hear);
});
afterEach(() => {
  for (const name of NAMES) document.removeEventListener(name, hear);
  for (const root of roots.splice(0)) root.unmount();
  document.body.replaceChildren();
});

type Component = Parameters<typeof createElement>[0];

/** The markup of a server, parsed by the browser; hydrate() then starts React. */
async function serve(component: Component, props: object, ...children: string[]) {
  const box = document.body.appendChild(document.createElement('main'));
  const page = (given: object) =>
    createElement(StrictMode, null, createElement(component, given, ...children));
  box.innerHTML = renderToString(page(props));
  const element = box.firstElementChild as HTMLElementTagNameMap['psa-checkout'];
  await element.updateComplete;
  return {
    element,
    markup: box.innerHTML,
    hydrate() {
      const root = hydrateRoot(box, page(props));
      roots.push(root);
      return { render: (given: object) => root.render(page(given)) };
    },
  };
}

const endpoint = `${url}/graphql`;
const SHOP = { endpoint, mode: 'redirect', methods: 'pix' } as const;

describe('<PsaCheckout> that a server has rendered', () => {
  it('has in its markup what the payer sees, and neither the token nor what finds a payment', async () => {
    const { markup } = await serve(
      PsaCheckout,
      {
        ...SHOP,
        token: 'ps_checkout_1',
        amountCents: 4990,
        'resume-key': 'caneca',
        className: 'pay',
        customer: {},
      },
      'Pagar R$ 49,90',
    );
    expect(markup).toMatch(/^<psa-checkout [^>]+>Pagar R\$ 49,90<\/psa-checkout>$/);
    expect(markup).toContain('amount-cents="4990"');
    expect(markup).toContain('methods="pix"');
    expect(markup).toContain('class="pay"');
    expect(markup).toContain('disabled=""');
    expect(markup).not.toMatch(/ps_checkout|caneca|customer/);
  });

  it('sells with the page’s customer and texts, and the page’s handlers run', async () => {
    const { scenario } = await createScenario();
    const onPaid = vi.fn();
    const { element, hydrate } = await serve(PsaCheckout, {
      ...SHOP,
      token: scenario.token,
      customer: { externalId: 'u-17' },
      labels: { payPix: 'Comprar' },
      'onpsa-paid': onPaid,
    });
    hydrate();
    await waitFor(() => expect(element).toMatchObject({ token: scenario.token, disabled: false }));
    await element.updateComplete;
    expect(element.shadowRoot?.textContent).toContain('Comprar');
    await element.start();
    await change(element, 'PAID');
    expect(onPaid).toHaveBeenCalledOnce();
    expect(onPaid.mock.calls[0]![0].detail.payment.status).toBe('PAID');
    const { starts } = await readScenario(scenario);
    expect(starts[0]).toMatchObject({ customer: { externalId: 'u-17' } });
    expect(console.error).not.toHaveBeenCalled();
  });

  it.each([
    ['a page that gives it a token', undefined, (token: string) => ({ ...SHOP, token })],
    ['a page that gives it a name', 'caneca', () => ({ ...SHOP, resumeKey: 'caneca' })],
    ['the page at successUrl', undefined, () => ({})],
  ])(
    'on %s reports a payment that this tab has paid once React listens, and not before',
    async (_, resumeKey, propsOf) => {
      const { element: first, scenario } = await checkout({}, { methods: 'pix', resumeKey });
      await first.start();
      const id = idOf(first);
      // The payment is paid after its page is left: an element reports an outcome once for each page.
      first.remove();
      await act(first, { values: { status: 'PAID', paidAt: '2026-03-14T17:42:00.000Z' } });
      heard.length = 0;

      const onPaid = vi.fn();
      const onStatus = vi.fn();
      const { element, hydrate } = await serve(PsaCheckout, {
        ...propsOf(scenario.token),
        'onpsa-paid': onPaid,
        'onpsa-status-change': onStatus,
      });
      expect([element.phase, element.disabled, heard]).toEqual(['idle', true, []]);
      hydrate();
      await waitFor(() => expect(onPaid).toHaveBeenCalledOnce());
      expect(onStatus).toHaveBeenCalledOnce();
      expect(idOf(element)).toBe(id);
      expect(console.error).not.toHaveBeenCalled();
    },
  );

  it('runs the handlers and has the properties of the newest render, and its own where the page gives none any more', async () => {
    const { scenario } = await createScenario();
    const [before, after, ref] = [vi.fn(), vi.fn(), vi.fn()];
    const props = { ...SHOP, token: scenario.token, ref };
    const { element, hydrate } = await serve(PsaCheckout, {
      ...props,
      disabled: true,
      'onpsa-created': before,
    });
    const { render } = hydrate();
    await waitFor(() => expect(element.token).toBe(scenario.token));
    expect(element.disabled).toBe(true);
    expect(ref).toHaveBeenLastCalledWith(element);
    render({ ...props, labels: { payPix: 'Comprar' }, 'onpsa-created': after });
    await waitFor(() => expect(element.labels).toEqual({ payPix: 'Comprar' }));
    expect(element.disabled).toBe(false);
    await element.start();
    expect([before.mock.calls.length, after.mock.calls.length]).toEqual([0, 1]);
    render(props);
    await waitFor(() => expect(element.labels).toBeUndefined());
    expect(element.payment).toBeDefined();
    expect(element.hasAttribute('disabled')).toBe(false);
  });
});

describe('<PsaPayouts> that a server has rendered', () => {
  it('asks the page for its first token, and reports to its handlers', async () => {
    const payouts = inject('fakePayoutsUrl');
    const renewToken = vi.fn(async () => 'ps_dashboard_none');
    const onPhase = vi.fn();
    const { hydrate } = await serve(PsaPayouts, {
      endpoint: `${payouts}/graphql`,
      renewToken,
      'onpsa-phase-change': onPhase,
    });
    expect(heard).toEqual([]);
    hydrate();
    await waitUntil(() => onPhase.mock.calls.length > 0);
    expect(renewToken).toHaveBeenCalled();
  });
});

/** A token whose element is not on the page. */
async function createScenario() {
  const { element, scenario } = await checkout();
  element.remove();
  return { scenario };
}

const idOf = ({ payment }: HTMLElementTagNameMap['psa-checkout']) =>
  payment?.__typename === 'Payment' ? payment.paymentId : payment?.orderCode;
