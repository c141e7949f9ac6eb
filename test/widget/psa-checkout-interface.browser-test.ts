import { describe, expect, it, onTestFinished, vi } from 'vitest';
import '../../widget/src/define.ts';
import type { PsaCheckout } from '../../widget/src/psa-checkout.ts';
import { deferred } from '../support/deferred.ts';
import {
  act,
  change,
  checkout,
  connectionChange,
  eachOnAFreshPage,
  event,
  failure,
  fakeWindow,
  part,
  place,
  readScenario,
  url,
} from './component.ts';
import type { Scenario } from './fake-server.ts';
import { waitFor } from './patience.ts';

// Every member of the element's interface, in the order of its documentation; the other files test details.
eachOnAFreshPage();

/** Creates an element as markup does, by attributes alone. */
async function written(attributes: Record<string, string>): Promise<PsaCheckout> {
  const element = document.createElement('psa-checkout');
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.addEventListener('psa-before-redirect', (leaving) => leaving.preventDefault());
  document.body.append(element);
  await element.updateComplete;
  return element;
}

async function token(): Promise<string> {
  const { element, scenario } = await checkout();
  element.remove();
  return scenario.token;
}

/** Brings an element into a phase by answers of the server. */
async function bring(phase: string, attributes: object = {}): Promise<PsaCheckout> {
  const hold = phase === 'creating';
  const { element } = await checkout(
    hold ? { start: { hold } } : phase === 'error' ? { start: { status: 503 } } : {},
    attributes,
  );
  if (phase === 'idle') return element;
  const started = element.start();
  if (!hold) await started;
  if (/paid|expired|refunded|failed/.test(phase)) await change(element, phase.toUpperCase() as 'PAID');
  await element.updateComplete;
  return element;
}

const PHASES = ['idle', 'creating', 'pending', 'paid', 'expired', 'refunded', 'failed', 'error'];

describe('attributes', () => {
  it('the attributes endpoint, token, amount-cents and mode determine the payment and its window', async () => {
    const open = vi.spyOn(window, 'open').mockReturnValue(fakeWindow() as unknown as Window);
    const given = await token();
    const element = await written({
      endpoint: `${url}/graphql`,
      token: given,
      'amount-cents': '1234',
      mode: 'tab',
    });
    await element.start();
    expect(element.payment?.amountCents).toBe(1234);
    expect((await readScenario({ token: given } as Scenario)).starts[0]?.amountCents).toBe(1234);
    expect(open).toHaveBeenCalledExactlyOnceWith('about:blank', '_blank', '');
  });

  it.each([
    ['popup', 'Mozilla/5.0 (X11; Linux x86_64) Chrome/130', 1],
    ['redirect', 'Mozilla/5.0 (iPhone) AppleWebKit Instagram 300.0', 0],
  ])('mode="auto" resolves to %s', async (mode, agent, windows) => {
    vi.spyOn(navigator, 'userAgent', 'get').mockReturnValue(agent);
    const open = vi.spyOn(window, 'open').mockReturnValue(fakeWindow() as unknown as Window);
    const element = await written({ endpoint: `${url}/graphql`, token: await token() });
    const leaving = event(element, mode === 'popup' ? 'psa-checkout-open' : 'psa-before-redirect');
    await element.start();
    await leaving;
    expect(open).toHaveBeenCalledTimes(windows);
    await element.updateComplete;
    expect(part(element, 'link')?.getAttribute('target')).toBe(windows ? '_blank' : '_top');
  });

  it.each([
    ['ws', 'live'],
    ['sse', 'live'],
    ['poll', 'polling'],
  ])('transport="%s" uses that transport alone', async (transport, connection) => {
    const element = await written({
      endpoint: `${url}/graphql`,
      token: await token(),
      mode: 'redirect',
      transport,
    });
    const ways: unknown[] = [];
    element.addEventListener('psa-connection-change', ({ detail }: CustomEventInit) =>
      ways.push(detail.transport),
    );
    const connected = connectionChange(element, connection);
    await element.start();
    expect((await connected).detail).toEqual({ connection, transport });
    expect(ways.filter((way) => way !== undefined && way !== transport)).toEqual([]);
  });

  it('order-code and payment-token follow an existing payment', async () => {
    const { element } = await checkout();
    await element.start();
    const { orderCode = '' } = element.payment ?? {};
    sessionStorage.clear();
    localStorage.clear();
    const other = await written({
      endpoint: `${url}/graphql`,
      'order-code': orderCode,
      'payment-token': `pay-${orderCode}`,
    });
    await event(other, 'psa-status-change');
    expect(other.payment?.orderCode).toBe(orderCode);
  });

  it('a payment is found where the endpoint comes after its names', async () => {
    const { element } = await checkout();
    await element.start();
    const { orderCode = '' } = element.payment ?? {};
    sessionStorage.clear();
    localStorage.clear();
    const other = await written({ 'order-code': orderCode, 'payment-token': `pay-${orderCode}` });
    const found = event(other, 'psa-status-change');
    other.endpoint = `${url}/graphql`;
    await found;
    expect(other.payment?.orderCode).toBe(orderCode);
  });

  it('locale selects pt-BR, en or es, by default the page’s language', async () => {
    const says = async (attributes: Record<string, string>, lang: string) => {
      document.documentElement.lang = lang;
      const element = await written({ endpoint: '/graphql', token: 'psa_ct_any', ...attributes });
      const loaded = () => part(element, 'label')?.textContent?.trim();
      if (!/^pt/.test(attributes.locale ?? lang))
        await waitFor(() => expect(loaded()).not.toMatch(/^(Pagar com .*|)$/));
      return loaded();
    };
    const [pt, en, es] = [
      await says({ locale: 'pt-BR' }, 'en'),
      await says({ locale: 'en' }, 'pt-BR'),
      await says({ locale: 'es' }, 'pt-BR'),
    ];
    expect(new Set([pt, en, es]).size).toBe(3);
    expect(await says({}, 'pt-PT')).toBe(pt);
    expect(await says({}, 'en-GB')).toBe(en);
    expect(await says({}, 'es-MX')).toBe(es);
  });

  it('an element that is moved has the language of its new place', async () => {
    const element = await written({ endpoint: `${url}/graphql`, token: await token() });
    const place = document.createElement('div');
    place.lang = 'en';
    document.body.append(place);
    place.append(element);
    await waitFor(() => expect(part(element, 'label')?.textContent?.trim()).toBe('Pay by card'));
    place.remove();
  });

  it('resume-key finds the payment again under another token', async () => {
    const first = await place(await token(), { resumeKey: 'order-7' });
    await first.start();
    const { orderCode } = first.payment ?? {};
    first.remove();
    const second = await written({
      endpoint: `${url}/graphql`,
      token: await token(),
      'resume-key': 'order-7',
    });
    expect(second.payment?.orderCode).toBe(orderCode);
    const other = await written({
      endpoint: `${url}/graphql`,
      token: await token(),
      'resume-key': 'order-8',
    });
    expect(other.payment).toBeUndefined();
  });

  it('disabled is a reflected attribute', async () => {
    const element = await written({ endpoint: `${url}/graphql`, token: await token(), disabled: '' });
    expect(element.disabled).toBe(true);
    expect(part(element, 'button')?.matches(':disabled')).toBe(true);
    element.disabled = false;
    await element.updateComplete;
    expect(element.hasAttribute('disabled')).toBe(false);
    expect(part(element, 'button')?.matches(':disabled')).toBe(false);
  });
});

describe('properties', () => {
  it('disabled holds for each button that starts a payment, and for retry()', async () => {
    const element = await bring('expired', { methods: 'card pix' });
    element.disabled = true;
    await element.updateComplete;
    expect(part(element, 'retry-button')?.matches(':disabled')).toBe(true);
    expect(part(element, 'button')?.matches(':disabled')).toBe(true);
    await element.retry();
    expect(element.phase).toBe('expired');
  });

  it('disabled leaves the button that reads a payment again', async () => {
    const element = await bring('pending', { disabled: false });
    element.disabled = true;
    await act(element, { values: { currency: null } });
    await waitFor(() => expect(element.phase).toBe('error'));
    await element.updateComplete;
    expect(part(element, 'retry-button')?.matches(':disabled')).toBe(false);
    await act(element, { values: { currency: 'BRL' } });
    part(element, 'retry-button')?.click();
    await waitFor(() => expect(element.phase).toBe('pending'));
  });

  it('customer is sent with the payment, and labels replace texts', async () => {
    const { element, scenario } = await checkout();
    element.customer = { name: 'Ana', email: 'ana@example.com', externalId: '7' };
    element.labels = { creating: 'Um instante', pending: 'À espera' };
    const said: (string | undefined)[] = [];
    element.addEventListener('psa-phase-change', async () => {
      await element.updateComplete;
      said.push(part(element, 'status')?.textContent?.trim());
    });
    await element.start();
    await waitFor(() => expect(said).toEqual(['Um instante', 'À espera']));
    expect((await readScenario(scenario)).starts[0]).toMatchObject({
      customer: { name: 'Ana', email: 'ana@example.com', externalId: '7' },
    });
  });

  it('payment, status, phase, connection, error and expiresAt are read-only', async () => {
    const { element } = await checkout();
    const read = () => [element.payment, element.status, element.phase, element.connection, element.error];
    expect(read()).toEqual([undefined, undefined, 'idle', 'idle', undefined]);
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    expect(element.payment).toMatchObject({ status: 'PENDING', amountCents: 4990, version: 1 });
    expect(read().slice(1)).toEqual(['PENDING', 'pending', 'live', undefined]);
    expect(element.expiresAt).toBe('2031-01-01T12:00:00.000Z');
    for (const name of ['payment', 'status', 'phase', 'connection', 'error', 'expiresAt'])
      expect(() => Object.assign(element, { [name]: 'set' }), name).toThrow(TypeError);
  });
});

describe('methods', () => {
  it('start() creates a payment, and openCheckout() shows its page again', async () => {
    const open = vi.spyOn(window, 'open').mockReturnValue(null);
    const { element } = await checkout({}, { mode: 'popup' });
    element.openCheckout();
    expect(open).not.toHaveBeenCalled();
    await element.start();
    expect(element.phase).toBe('pending');
    const opened = fakeWindow();
    open.mockReturnValue(opened as unknown as Window);
    element.openCheckout();
    expect(opened.location.replace).toHaveBeenCalledWith(`${element.payment?.checkoutUrl}?lang=pt-BR`);
  });

  it('refresh() reads the payment from the server', async () => {
    const { element, scenario } = await checkout();
    await element.refresh();
    await element.start();
    const { reads } = await readScenario(scenario);
    await element.refresh();
    expect((await readScenario(scenario)).reads).toBe(reads + 1);
  });

  it.each(PHASES)('retry() does what the phase %s needs', async (phase) => {
    const element = await bring(phase);
    const before = element.payment?.orderCode;
    void element.retry();
    await element.updateComplete;
    // A click starts a new attempt after a failed one, and does nothing during a pending payment or after success.
    expect(element.phase).toBe(/expired|failed|error/.test(phase) ? 'creating' : phase);
    if (/pending|paid|refunded/.test(phase)) expect(element.payment?.orderCode).toBe(before);
  });

  it.each(PHASES)('reset() returns to the button from %s', async (phase) => {
    const element = await bring(phase);
    element.reset();
    await element.updateComplete;
    expect(element.phase).toBe('idle');
    expect([element.payment, element.error, element.connection]).toEqual([undefined, undefined, 'idle']);
    expect(part(element, 'button')?.getAttribute('aria-busy')).toBeNull();
  });

  it('the link and openCheckout() leave the window of another payment where it is', async () => {
    const first = fakeWindow();
    const open = vi.spyOn(window, 'open').mockReturnValueOnce(first as unknown as Window);
    const { element } = await checkout({}, { mode: 'popup' });
    await element.start();
    // The page sells another product now, whose window the browser blocks.
    element.token = await token();
    await element.updateComplete;
    open.mockReturnValue(null);
    await element.start();
    await element.updateComplete;
    let isPrevented: boolean | undefined;
    // The element itself opens the page, because only then it knows whether a window has opened.
    addEventListener(
      'click',
      (clicked) => {
        isPrevented = clicked.defaultPrevented;
        clicked.preventDefault();
      },
      { once: true },
    );
    part(element, 'link')?.dispatchEvent(
      new MouseEvent('click', { cancelable: true, bubbles: true, composed: true }),
    );
    element.openCheckout();
    expect([isPrevented, first.focus.mock.calls, open.mock.calls.length]).toEqual([true, [], 4]);
  });

  it.each(PHASES)('focus() moves the focus into the element when %s', async (phase) => {
    const element = await bring(phase);
    element.focus();
    expect(document.activeElement).toBe(element);
    expect(element.shadowRoot?.activeElement).not.toBeNull();
  });
});

describe('events', () => {
  it('events bubble and are composed, and two can be cancelled', async () => {
    const outer = document.createElement('div');
    const inner = outer.attachShadow({ mode: 'open' });
    document.body.append(outer);
    const opened = fakeWindow();
    vi.spyOn(window, 'open')
      .mockReturnValueOnce(opened as unknown as Window)
      .mockReturnValue(null);
    const heard: [string, boolean, string[]][] = [];
    const names =
      'before-start before-redirect created checkout-open checkout-close popup-blocked status-change paid expired refunded failed connection-change phase-change error';
    const listening = new AbortController();
    for (const name of names.split(' '))
      document.addEventListener(
        `psa-${name}`,
        (happened) => {
          if (name === 'before-redirect') happened.preventDefault();
          heard.push([name, happened.cancelable, Object.keys((happened as CustomEvent).detail ?? {})]);
        },
        { signal: listening.signal },
      );
    const { element } = await checkout({}, { mode: 'popup' });
    inner.append(element);
    await element.start();
    opened.closed = true;
    await event(element, 'psa-checkout-close');
    await change(element, 'EXPIRED');
    await element.retry();
    element.mode = 'redirect';
    element.openCheckout();
    await change(element, 'FAILED');
    await element.retry();
    await change(element, 'PAID');
    // A paid payment is no longer followed; refresh() reads the refund.
    await act(element, { values: { status: 'REFUNDED' } });
    await element.refresh();
    listening.abort();
    const { element: failing } = await checkout({ start: { status: 503 } });
    const error = event(failing, 'psa-error');
    await failing.start();
    heard.push(['error', (await error).cancelable, Object.keys((await error).detail)]);
    outer.remove();

    const details = Object.fromEntries(
      heard.map(([name, cancelable, keys]) => [name, [cancelable, keys.join()]]),
    );
    expect(details).toEqual({
      'before-start': [true, 'method'],
      'before-redirect': [true, 'url,payment,method'],
      created: [false, 'payment,method'],
      'checkout-open': [false, 'payment,method'],
      'checkout-close': [false, 'payment,method'],
      'popup-blocked': [false, 'url,payment,method'],
      'status-change': [false, 'payment,status,previous,method'],
      paid: [false, 'payment,method'],
      expired: [false, 'payment,method'],
      refunded: [false, 'payment,method'],
      failed: [false, 'payment,method'],
      'connection-change': [false, 'connection,transport'],
      'phase-change': [false, 'phase,previous'],
      error: [false, 'code,reason,message,retryable'],
    });
  });

  it('psa-status-change fires once for each status, with the previous one', async () => {
    const { element } = await checkout();
    const changes: unknown[] = [];
    element.addEventListener('psa-status-change', ({ detail }: CustomEventInit) =>
      changes.push([detail.previous, detail.status]),
    );
    await element.start();
    await element.refresh();
    await change(element, 'EXPIRED');
    await element.refresh();
    await change(element, 'PAID');
    await element.refresh();
    expect(changes).toEqual([
      [undefined, 'PENDING'],
      ['PENDING', 'EXPIRED'],
      ['EXPIRED', 'PAID'],
    ]);
  });
});

describe('styling', () => {
  it.each(PHASES)('the custom state %s is set alone', async (phase) => {
    const element = await bring(phase);
    expect(PHASES.filter((name) => element.matches(`:state(${name})`))).toEqual([phase]);
  });

  it('every part exists in some phase', async () => {
    const parts = new Set<string>();
    for (const phase of PHASES) {
      const element = await bring(phase);
      for (const each of element.shadowRoot?.querySelectorAll('[part]') ?? [])
        for (const name of each.getAttribute('part')?.split(' ') ?? []) parts.add(name);
      element.remove();
    }
    const { element: lost } = await checkout();
    await lost.start();
    const { orderCode = '' } = lost.payment ?? {};
    sessionStorage.clear();
    localStorage.clear();
    const looking = await written({
      endpoint: `${url}/graphql`,
      'order-code': orderCode,
      'payment-token': `pay-${orderCode}`,
    });
    expect(part(looking, 'skeleton')).not.toBeNull();
    const wanted = 'base button label spinner status hint timer link retry-button cancel-button';
    expect(wanted.split(' ').filter((name) => !parts.has(name))).toEqual([]);
  });

  it.each([
    ['--psa-color-primary', 'rgb(1, 2, 3)', 'idle', 'background-color'],
    ['--psa-color-on-primary', 'rgb(1, 2, 3)', 'idle', 'color'],
    ['--psa-color-surface', 'rgb(1, 2, 3)', 'pending', 'background-color'],
    ['--psa-color-text', 'rgb(1, 2, 3)', 'pending', 'color'],
    ['--psa-color-muted', 'rgb(1, 2, 3)', 'pending', 'color'],
    ['--psa-color-success', 'rgb(1, 2, 3)', 'paid', 'color'],
    ['--psa-color-danger', 'rgb(1, 2, 3)', 'failed', 'color'],
    ['--psa-radius', '7px', 'idle', 'border-top-left-radius'],
    ['--psa-spacing', '7px', 'pending', 'row-gap|margin-top'],
    ['--psa-padding', '7px', 'pending', 'padding-top'],
    ['--psa-font-family', 'psa-test', 'idle', 'font-family'],
    ['--psa-focus-ring-color', 'rgb(1, 2, 3)', 'idle', 'outline-color'],
  ])('%s is inherited from the page', async (name, value, phase, properties) => {
    const element = await bring(phase);
    element.focus();
    const seen = () =>
      [...(element.shadowRoot?.querySelectorAll('*') ?? [])].flatMap((inner) =>
        properties.split('|').map((property) => getComputedStyle(inner).getPropertyValue(property)),
      );
    const before = seen();
    document.body.style.setProperty(name, value);
    const taken = seen();
    document.body.style.removeProperty(name);
    expect(before).not.toContain(value);
    // The spacing is used in calculations, so its own value appears nowhere.
    if (name === '--psa-spacing') expect(taken).not.toEqual(before);
    else expect(taken).toContain(value);
  });

  it('--psa-popup-width and --psa-popup-height set the size of the popup', async () => {
    const open = vi.spyOn(window, 'open').mockReturnValue(null);
    const { element } = await checkout({}, { mode: 'popup' });
    element.style.setProperty('--psa-popup-width', '333px');
    element.style.setProperty('--psa-popup-height', '444px');
    await element.start();
    expect(open.mock.calls[0]?.[2]).toMatch(/^popup,width=333,height=444,left=-?[\d.]+,top=-?[\d.]+$/);
  });
});

describe('slots', () => {
  it.each([
    ...PHASES.map((phase) => [phase, phase] as const),
    ['icon', 'idle'] as const,
    ['footer', 'idle'] as const,
    ['footer', 'paid'] as const,
    ['next', 'paid'] as const,
    ['popup-blocked', 'pending'] as const,
  ])('the slot %s is shown when %s', async (name, phase) => {
    vi.spyOn(window, 'open').mockReturnValue(null);
    const element = await bring(phase, { mode: name === 'popup-blocked' ? 'popup' : 'redirect' });
    const child = document.createElement('span');
    child.slot = name;
    child.textContent = 'from the page';
    element.append(child);
    expect(child.assignedSlot).not.toBeNull();
    expect(child.checkVisibility({ visibilityProperty: true })).toBe(true);
    expect(child.getBoundingClientRect().width).toBeGreaterThan(0);
  });

  it('the slot next leaves the receipt of a paid payment, and is in no other state', async () => {
    const paid = await bring('paid');
    expect(part(paid, 'panel')?.querySelector('.facts')).not.toBeNull();
    for (const phase of PHASES.filter((each) => each !== 'paid'))
      expect((await bring(phase)).shadowRoot?.querySelector('slot[name=next]')).toBeNull();
  });

  it.each(['pix card', 'card'])(
    'white space and other slots leave the texts of methods="%s"',
    async (methods) => {
      const element = await written({ endpoint: `${url}/graphql`, token: await token(), methods });
      const lone = methods === 'card';
      const says = () =>
        (lone ? part(element, 'label') : element.shadowRoot?.querySelector('#label'))?.textContent?.trim();
      const before = says();
      expect(before).toMatch(/^Pagar/);
      element.innerHTML = '\n  <!-- thanks -->\n  <p slot="paid">Obrigado</p>\n';
      await new Promise((resolve) => setTimeout(resolve));
      await element.updateComplete;
      expect(says()).toBe(before);
      // A framework creates the node of a text before its text.
      const label = element.appendChild(new Text(''));
      label.data = 'Comprar';
      await waitFor(() => expect(says()).toBe(''));
      label.data = ' ';
      await waitFor(() => expect(says()).toBe(before));
    },
  );

  it('the default slot is the label, with a fallback text', async () => {
    const { element } = await checkout();
    expect(part(element, 'label')?.querySelector('slot')?.assignedNodes()[0]?.textContent).toBe(
      'Pagar R$ 49,90',
    );
    element.replaceChildren();
    await waitFor(() => expect(part(element, 'label')?.textContent?.trim()).toBe('Pagar com cartão'));
  });
});

/** The answer to a start that has a code of the server. */
interface Answered {
  errors?: { extensions: { code: string } }[];
  result?: { code: string };
  status?: number;
}

describe('error codes', () => {
  const answers = (result: object): Partial<Scenario> => ({ start: { result } });
  const html = () => new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } });

  it.each<[string, boolean, Partial<Scenario>, ((element: PsaCheckout) => unknown)?]>([
    ['invalid_input', false, { start: { errors: [failure('BAD_USER_INPUT')] } }],
    ['not_configured', false, {}, (element) => Object.assign(element, { endpoint: undefined })],
    ['unauthorized', false, { start: { status: 401 } }],
    ['rate_limited', true, { start: { status: 429 } }],
    [
      'conflict',
      true,
      answers({ __typename: 'IdempotencyError', code: 'IDEMPOTENCY_CONFLICT', message: 'no' }),
    ],
    [
      'network',
      true,
      {},
      () => vi.spyOn(window, 'fetch').mockRejectedValue(new TypeError('Failed to fetch')),
    ],
    [
      'timeout',
      true,
      { start: { hold: true } },
      () =>
        vi
          .spyOn(AbortSignal, 'timeout')
          .mockImplementation(() => AbortSignal.abort(new DOMException('late', 'TimeoutError'))),
    ],
    ['server', true, { start: { status: 500 } }],
    ['unsafe_url', false, { checkoutUrl: 'http://pay.example/x' }],
    ['protocol', true, {}, () => vi.spyOn(window, 'fetch').mockImplementation(async () => html())],
    [
      'aborted',
      true,
      { start: { hold: true } },
      (element) =>
        element.addEventListener('psa-phase-change', () => queueMicrotask(() => element.reset()), {
          once: true,
        }),
    ],
    ['unknown', true, answers({ __typename: 'NewError', code: 'SOMETHING_NEW', message: 'no' })],
  ])('the code %s is reported, retryable: %s', async (code, retryable, scenario, prepare) => {
    const { element } = await checkout(scenario);
    prepare?.(element);
    const failed = event(element, 'psa-error');
    void element.start();
    const { detail } = await failed;
    const { errors, result, status } = (scenario.start ?? {}) as Answered;
    const reason =
      result?.code ?? errors?.[0]?.extensions.code ?? status ?? (code === 'protocol' ? 200 : undefined);
    expect(detail).toEqual({
      code,
      reason: reason && String(reason),
      message: expect.stringMatching(/./),
      retryable,
    });
    // An aborted start shows no error.
    if (code === 'aborted') return expect(element.error).toBeUndefined();
    expect(element.error).toMatchObject({ code, retryable });
    await element.updateComplete;
    expect(part(element, 'hint')?.textContent?.trim()).not.toBe('');
    expect(part(element, 'retry-button') !== null).toBe(retryable);
    return;
  });
});

describe('renewToken', () => {
  const EXPIRED = { errors: [failure('UNAUTHENTICATED')], status: 401 };

  /** Creates an element whose token has expired, and the scenario of the new token. */
  async function expired(attributes: object = {}) {
    const { element: other, scenario: fresh } = await checkout();
    other.remove();
    const renewToken = vi.fn(async () => fresh.token);
    const { element, scenario } = await checkout({ start: EXPIRED }, { renewToken, ...attributes });
    return { element, scenario, fresh, renewToken };
  }

  it('an expired token is replaced once, and the click goes on with the same attempt', async () => {
    const { element, scenario, fresh, renewToken } = await expired();
    await element.start();
    expect([element.phase, element.token]).toEqual(['pending', fresh.token]);
    expect(renewToken).toHaveBeenCalledOnce();
    const [refused, started] = [await readScenario(scenario), await readScenario(fresh)];
    expect(started.starts).toEqual(refused.starts);
    await element.updateComplete;
    const { orderCode } = element.payment ?? {};
    expect([element.phase, typeof orderCode]).toEqual(['pending', 'string']);

    // A reloaded page may still have the old token: it finds the payment.
    element.remove();
    const again = await place(scenario.token, { renewToken });
    await waitFor(() => expect(again.payment?.orderCode).toBe(orderCode));
    await change(again, 'PAID');
    expect(again.phase).toBe('paid');
  });

  it('an expired payment is followed by one with a fresh token', async () => {
    const { element, fresh, renewToken } = await expired();
    element.renewToken = undefined;
    await element.start();
    expect(element.error?.code).toBe('unauthorized');
    const { element: first } = await checkout({}, { renewToken, resumeKey: 'cart' });
    await first.start();
    await change(first, 'EXPIRED');
    first.token = element.token;
    await first.updateComplete;
    await first.retry();
    expect([first.phase, first.token]).toEqual(['pending', fresh.token]);
    const { starts } = await readScenario(fresh);
    expect(starts.map(({ attemptId }) => attemptId.split('.')[1])).toEqual(['2']);
  });

  it('no fresh token is asked for while a payment is open: it would be a second one', async () => {
    const { scenario, renewToken } = await expired();
    const { element } = await checkout({}, { renewToken, resumeKey: 'basket', methods: 'pix card' });
    await element.start('pix');
    element.token = scenario.token;
    await element.updateComplete;
    await element.start('card');
    expect([element.error?.code, renewToken.mock.calls.length]).toEqual(['unauthorized', 0]);
  });

  it.each([
    ['is refused as well', async () => 'refused', 'unauthorized'],
    ['cannot be had', () => Promise.reject(new Error('signed out')), 'network'],
    ['cannot be had for no reason', () => Promise.reject(), 'network'],
    ['is none', async () => '', 'unauthorized'],
    ['is a secret key', async () => ' ps_live_0123456789abcdef', 'unauthorized'],
  ])('where the fresh token %s the payer sees the error', async (_, renewToken, code) => {
    vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const requests = vi.spyOn(window, 'fetch');
    const asked = vi.fn(renewToken);
    const { element } = await expired({ renewToken: asked });
    await element.start();
    expect([element.error?.code, element.phase]).toEqual([code, 'error']);
    expect(asked).toHaveBeenCalledOnce();
    expect(JSON.stringify(requests.mock.calls)).not.toContain('456789abcdef');
  });

  it('where the fresh token never comes the payer sees the error after a while', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const asked = deferred<void>();
    const never = new Promise<string>(() => undefined);
    const { element } = await expired({
      renewToken: vi.fn(() => {
        asked.resolve();
        return never;
      }),
    });
    const started = element.start();
    await asked.promise;
    expect(element.phase).toBe('creating');
    await vi.advanceTimersByTimeAsync(15_000);
    await started;
    expect([element.error?.code, element.phase]).toEqual(['unauthorized', 'error']);
  });

  it('a token of another product that the page sets later does not show the payment of the fresh one', async () => {
    const { element: other, scenario: second } = await checkout();
    other.remove();
    const { element } = await expired();
    await element.start();
    await change(element, 'PAID');
    element.token = second.token;
    await element.updateComplete;
    expect([element.phase, element.resumeKey]).toEqual(['idle', undefined]);
  });

  it('a page may set the fresh token itself', async () => {
    const { element, fresh } = await expired();
    element.renewToken = async () => {
      element.token = fresh.token;
      return fresh.token;
    };
    await element.start();
    await element.updateComplete;
    expect([element.phase, element.token]).toEqual(['pending', fresh.token]);
    expect(element.payment).toBeDefined();
  });

  it('a fresh token is asked for once the payment before has expired, after a return to the button', async () => {
    const { scenario: refused, fresh, renewToken } = await expired();
    const { element, scenario } = await checkout({}, { renewToken, resumeKey: 'bag' });
    await element.start();
    const { orderCode } = element.payment ?? {};
    element.reset();
    element.token = refused.token;
    let followed = (await readScenario(scenario)).subscriptions.length;
    await element.start();
    expect([element.error?.code, renewToken.mock.calls.length]).toEqual(['unauthorized', 0]);
    await act(element, { orderCode, values: { status: 'EXPIRED' } });
    // A click ends the earlier following, so the next click waits until the payment is followed again.
    await waitFor(async () => {
      const { subscriptions } = await readScenario(scenario);
      expect(subscriptions.length).toBeGreaterThan(followed);
      followed = subscriptions.length;
      await element.start();
      expect(element.phase).toBe('pending');
    });
    expect((await readScenario(fresh)).starts).toHaveLength(1);
  });

  it('a token that the page sets meanwhile is kept', async () => {
    const { element } = await expired();
    element.renewToken = async () => {
      element.token = 'of another product';
      return 'late';
    };
    await element.start();
    expect(element.token).toBe('of another product');
  });
});
