import axe from 'axe-core';
import { describe, expect, inject, it, vi } from 'vitest';
import '../../widget/src/define.ts';
import type { PsaCheckout } from '../../widget/src/psa-checkout.ts';
import {
  act,
  change,
  checkout,
  connection_,
  eachOnAFreshPage,
  event,
  failure,
  fakeWindow,
  part,
  place,
  settledLook,
  told,
  url,
} from './component.ts';
import { waitFor } from './patience.ts';

eachOnAFreshPage();

describe('a click', () => {
  it('pays once, however often it comes', async () => {
    const { element, scenario } = await checkout();
    await Promise.all([element.start(), element.start(), element.start()]);
    await element.start();
    expect((await told(scenario)).starts).toHaveLength(1);
    expect(element.phase).toBe('pending');
  });

  it('makes another attempt after a conflict, of the same base', async () => {
    const { element, scenario } = await checkout({
      start: {
        result: { __typename: 'IdempotencyError', code: 'IDEMPOTENCY_CONFLICT', message: 'no' },
        times: 1,
      },
    });
    await element.start();
    expect(element.error).toMatchObject({ code: 'conflict', retryable: true });
    await element.retry();
    const ids = (await told(scenario)).starts.map(({ attemptId }) => attemptId);
    expect(ids).toEqual([ids[0], `${ids[0]}.2`]);
    expect(element.phase).toBe('pending');
  });

  it('sends an attempt id that was kept before the request', async () => {
    const { element, scenario } = await checkout({ start: { hold: true } });
    void element.start();
    const [id] = Object.keys(sessionStorage).filter((name) => name.endsWith(scenario.token.slice(-12)));
    expect(JSON.parse(sessionStorage.getItem(id ?? '') ?? '{}').base).toMatch(/^[0-9a-z]{22,}$/);
  });

  it('asks with the same attempt id again after an error', async () => {
    const { element, scenario } = await checkout({
      start: { errors: [failure('INTERNAL_SERVER_ERROR')], times: 1 },
    });
    await element.start();
    expect(element.error).toMatchObject({ code: 'server', retryable: true });
    await element.retry();
    const { starts } = await told(scenario);
    expect(starts).toHaveLength(2);
    expect(starts[1]?.attemptId).toBe(starts[0]?.attemptId);
    expect(element.phase).toBe('pending');
  });

  it('keeps the base of the attempt id in a retry after an expiry', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'EXPIRED');
    await element.retry();
    await change(element, 'FAILED');
    await element.retry();
    const ids = (await told(scenario)).starts.map(({ attemptId }) => attemptId);
    expect(ids).toEqual([ids[0], `${ids[0]}.2`, `${ids[0]}.3`]);
  });

  it('goes on to a new attempt when this visit’s payment has expired unseen', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await act(element, { silent: true, values: { status: 'EXPIRED', version: 2 } });
    element.reset();
    await element.start();
    expect((await told(scenario)).starts.at(-1)?.attemptId).toMatch(/\.2$/);
    expect(element.phase).toBe('pending');
  });

  it('can be stopped by the page', async () => {
    const { element, scenario } = await checkout();
    element.addEventListener('psa-before-start', (event) => event.preventDefault());
    await element.start();
    expect(element.phase).toBe('idle');
    expect((await told(scenario)).starts).toHaveLength(0);
  });

  it('sends amount and customer', async () => {
    const { element, scenario } = await checkout();
    element.amountCents = 1234;
    element.customer = { name: 'Ana' };
    await element.start();
    expect((await told(scenario)).starts[0]).toMatchObject({ valueCents: 1234, customer: { name: 'Ana' } });
  });
});

describe('the payment page', () => {
  it('opens in a window that is opened empty in the click, and cut off from its opener', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const opened = fakeWindow();
    const open = vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
    const started = element.start();
    expect(open).toHaveBeenCalledWith('about:blank', '_blank', expect.stringContaining('popup,width=480'));
    await started;
    expect(opened.location.replace).toHaveBeenCalledWith(element.payment?.checkoutUrl);
    expect(opened.opener).toBeNull();
  });

  it('is a real link where the window was blocked', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    vi.spyOn(window, 'open').mockReturnValue(null);
    const blocked = event(element, 'psa-popup-blocked');
    await element.start();
    expect((await blocked).detail.url).toBe(element.payment?.checkoutUrl);
    const link = part(element, 'link');
    expect(link?.getAttribute('href')).toBe(element.payment?.checkoutUrl);
    expect(link?.getAttribute('rel')).toBe('noopener');
    expect(element.shadowRoot?.querySelector('slot[name="popup-blocked"]')).not.toBeNull();
  });

  it('does not take a closed window for a cancelled payment', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const opened = fakeWindow();
    vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
    await element.start();
    const closed = event(element, 'psa-checkout-close');
    opened.closed = true;
    await closed;
    expect(element.phase).toBe('pending');
    await change(element, 'PAID');
    expect(element.phase).toBe('paid');
  });

  it.each(['http://pay.example/x', 'javascript:alert(1)', 'data:text/html,x', '/relative'])(
    'is not opened at %s',
    async (checkoutUrl) => {
      const { element } = await checkout({ checkoutUrl }, { mode: 'popup' });
      const opened = fakeWindow();
      vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
      await element.start();
      expect(element.error?.code).toBe('unsafe_url');
      expect(opened.location.replace).not.toHaveBeenCalled();
      expect(opened.close).toHaveBeenCalled();
    },
  );

  it('leaves the page only where the page lets it', async () => {
    const { element } = await checkout({}, { mode: 'redirect' });
    const leaving = event(element, 'psa-before-redirect');
    await element.start();
    expect((await leaving).detail.url).toBe(element.payment?.checkoutUrl);
  });
});

describe('following', () => {
  it.each([
    ['a WebSocket', {}, 'ws', 'live'],
    ['an event stream where there is no WebSocket', { ws: 'refuse' }, 'sse', 'live'],
    ['polling where there is neither', { ws: 'refuse', sse: 'refuse' }, 'poll', 'polling'],
  ] as const)('goes over %s', async (_, behaviour, transport, connection) => {
    const { element } = await checkout(behaviour);
    const connected = connection_(element, connection);
    await element.start();
    expect((await connected).detail).toEqual({ connection, transport });
    const paid = event(element, 'psa-paid');
    await act(element, { values: { status: 'PAID' } });
    expect((await paid).detail.payment).toMatchObject({ status: 'PAID', version: 2 });
    expect(element.connection).toBe('idle');
  });

  it('gives a socket that hangs three seconds, whether it opens or not', async () => {
    const { element: opens } = await checkout({ ws: 'hang' });
    const { element: neverOpens } = await checkout({}, { endpoint: `${url}/graphql?swallowed` });
    const connected = [opens, neverOpens].map((element) => connection_(element, 'live'));
    await Promise.all([opens.start(), neverOpens.start()]);
    expect((await Promise.all(connected)).map(({ detail }) => detail.transport)).toEqual(['sse', 'sse']);
  });

  it.each([
    ['ws', 17_000],
    ['sse', 45_000],
  ] as const)('leaves a dead %s connection, and opens another', async (transport, afterMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { element, scenario } = await checkout({ ws: 'mute' }, { transport });
      const live = connection_(element, 'live');
      await element.start();
      await live;
      await act(element, { deaf: true, values: { status: 'EXPIRED' } });
      const lost = connection_(element, 'reconnecting');
      const expired = event(element, 'psa-expired');
      await vi.advanceTimersByTimeAsync(afterMs);
      await lost;
      await vi.advanceTimersByTimeAsync(2_000);
      await expired;
      expect((await told(scenario)).subscriptions.map(({ after }) => after)).toEqual([null, 'c1']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('asks for the state anew where the server has forgotten its cursor', async () => {
    const { element, scenario } = await checkout({}, { transport: 'ws' });
    const live = connection_(element, 'live');
    await element.start();
    await live;
    const heard = waitFor(() => expect(element.payment?.version).toBe(2));
    await act(element, { cursor: 'expired', values: { description: 'x' } });
    await heard;
    const again = connection_(element, 'live');
    await act(element, { drop: 1013 });
    await again;
    await waitFor(async () =>
      expect((await told(scenario)).subscriptions.map(({ after }) => after)).toEqual([null, null]),
    );
    expect(element.phase).toBe('pending');
  });

  it('comes back after a lost socket with the cursor of the last update', async () => {
    const { element, scenario } = await checkout();
    const live = connection_(element, 'live');
    await element.start();
    await live;
    const again = connection_(element, 'live');
    await act(element, { drop: 1013 });
    await again;
    const { subscriptions } = await told(scenario);
    expect(subscriptions).toEqual([
      { transport: 'ws', after: null },
      { transport: 'ws', after: 'c1' },
    ]);
  });

  it('stops with unauthorized where the token has ended', async () => {
    const { element } = await checkout();
    const live = connection_(element, 'live');
    await element.start();
    await live;
    const failed = event(element, 'psa-error');
    await act(element, { drop: 4403 });
    expect((await failed).detail).toMatchObject({ code: 'unauthorized', retryable: true });
    expect(element.phase).toBe('error');
  });

  it('never goes back', async () => {
    const { element } = await checkout({}, { transport: 'sse' });
    await element.start();
    await change(element, 'PAID');
    await act(element, { silent: true, values: { status: 'PENDING', version: 1 } });
    await element.refresh();
    await act(element, { silent: true, values: { status: 'PENDING', version: 99 } });
    await element.refresh();
    expect(element.phase).toBe('paid');
  });

  it('listens on after an expiry: it may be paid late', async () => {
    const { element } = await checkout();
    await element.start();
    await change(element, 'EXPIRED');
    expect(element.connection).toBe('live');
    // A new attempt is offered, with a line that says so.
    expect(part(element, 'hint')?.textContent?.trim()).toContain('tente de novo');
    expect(part(element, 'retry-button')?.checkVisibility()).toBe(true);
    const paid = event(element, 'psa-paid');
    await act(element, { values: { status: 'PAID', paidLate: true } });
    await paid;
    expect(element.phase).toBe('paid');
  });

  it('counts down by its own clock and asks the server at 0:00', async () => {
    const { element } = await checkout({ expiresInSeconds: 1 });
    vi.spyOn(Date, 'now').mockReturnValue(0);
    await element.start();
    await element.updateComplete;
    expect(part(element, 'timer')?.textContent?.trim()).toBe('1 s');
    await act(element, { silent: true, values: { status: 'EXPIRED', version: 2, expiresInSeconds: 0 } });
    await event(element, 'psa-expired');
    expect(element.phase).toBe('expired');
  });
});

describe('coming back', () => {
  it('finds the payment again after a reload, and shows a receipt until reset()', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'PAID');
    element.remove();
    const again = await place(scenario.token);
    expect(again.phase).toBe('paid');
    again.reset();
    expect(again.phase).toBe('idle');
    await again.start();
    const [first, second] = (await told(scenario)).starts;
    expect(second?.attemptId).not.toContain(first?.attemptId);
  });

  it('finds it without any attribute on the page at successUrl', async () => {
    const { element } = await checkout();
    await element.start();
    const { orderCode } = element.payment ?? {};
    element.remove();
    // Another tab: only the order code in the address leads to the payment.
    sessionStorage.clear();
    history.replaceState(null, '', `?psa_order_code=${orderCode}`);
    const thanks = document.createElement('psa-checkout');
    document.body.append(thanks);
    await event(thanks, 'psa-status-change');
    expect(thanks.payment?.orderCode).toBe(orderCode);
    expect(thanks.phase).toBe('pending');
  });

  it('takes the cancel link as a hint', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    history.replaceState(null, '', `?psa_order_code=${element.payment?.orderCode}&psa_cancelled=1`);
    element.remove();
    const again = await place(scenario.token);
    await connection_(again, 'live');
    expect(again.phase).toBe('pending');
    expect(part(again, 'hint')?.textContent).toContain('ainda está aberto');
  });

  it('does not collide with another product’s payment', async () => {
    const first = await checkout();
    const second = await checkout();
    await first.element.start();
    expect(second.element.phase).toBe('idle');
    await second.element.start();
    expect(second.element.payment?.orderCode).not.toBe(first.element.payment?.orderCode);
  });

  it('follows a payment that the page names', async () => {
    const { element } = await checkout();
    await element.start();
    const { orderCode = '' } = element.payment ?? {};
    element.remove();
    sessionStorage.clear();
    localStorage.clear();
    const other = document.createElement('psa-checkout');
    Object.assign(other, { endpoint: `${url}/graphql`, orderCode, paymentToken: `pay-${orderCode}` });
    document.body.append(other);
    await event(other, 'psa-status-change');
    expect(other.status).toBe('PENDING');
  });

  it('survives being mounted twice, as frameworks do in strict mode', async () => {
    const { element, scenario } = await checkout();
    const started = element.start();
    element.remove();
    document.body.append(element);
    await started;
    element.remove();
    document.body.append(element);
    await connection_(element, 'live');
    await change(element, 'PAID');
    expect((await told(scenario)).starts).toHaveLength(1);
  });
});

describe('errors', () => {
  it.each([
    ['ValidationError', 'VALIDATION', 'invalid_input', false],
    ['PermissionError', 'PERMISSION_DENIED', 'unauthorized', false],
    ['NotFoundError', 'NOT_FOUND', 'not_configured', false],
    ['UnavailableError', 'CARD_PAYMENTS_NOT_CONFIGURED', 'not_configured', false],
    ['UnavailableError', 'CHECKOUT_TOKEN_USED', 'conflict', true],
    ['UnavailableError', 'CHECKOUT_TOKEN_PAUSED', 'unknown', true],
    ['IdempotencyError', 'IDEMPOTENCY_CONFLICT', 'conflict', true],
    ['RateLimitError', 'RATE_LIMITED', 'rate_limited', true],
    ['UpstreamError', 'UPSTREAM_UNAVAILABLE', 'server', true],
  ])('tells %s with %s as %s', async (__typename, code, expected, retryable) => {
    const { element } = await checkout({
      start: { result: { __typename, code, message: 'no', retryAfterSeconds: 7 } },
    });
    const failed = event(element, 'psa-error');
    await element.start();
    expect((await failed).detail).toEqual({ code: expected, message: 'no', retryable });
    await element.updateComplete;
    expect(part(element, 'hint')?.textContent?.trim()).not.toBe('');
    expect(part(element, 'retry-button') !== null).toBe(retryable);
    if (expected === 'rate_limited') expect(part(element, 'hint')?.textContent).toContain('7 s');
  });

  it.each([
    [{ errors: [failure('UNAUTHENTICATED')], status: 401 }, 'unauthorized'],
    [{ errors: [failure('RATE_LIMITED')] }, 'rate_limited'],
    [{ errors: [failure('UNAVAILABLE')] }, 'server'],
    [{ errors: [failure('BAD_USER_INPUT')] }, 'invalid_input'],
    [{ status: 503 }, 'server'],
    [{ status: 403 }, 'unauthorized'],
  ])('tells %j as %s', async (start, expected) => {
    const { element } = await checkout({ start });
    await element.start();
    expect(element.error?.code).toBe(expected);
  });

  const PAYMENT = {
    ...{ orderCode: 'PSA-1', status: 'PENDING', amountCents: 4990, currency: 'BRL', version: 1 },
    ...{ checkoutUrl: `${url}/checkout/PSA-1`, expiresAt: '2031-01-01T12:00:00.000Z', expiresInSeconds: 60 },
    ...{ description: null, paidAt: null, paidLate: false, refundedAt: null, failureReason: null },
  };

  it.each([
    ['no currency', { ...PAYMENT, currency: undefined }],
    ['a currency that is none', { ...PAYMENT, currency: 'reais' }],
    ['an amount that is no number', { ...PAYMENT, amountCents: '49,90' }],
    ['an instant that is none', { ...PAYMENT, status: 'PAID', paidAt: 'today' }],
    ['nothing in it', null],
  ])('shows that it failed where a payment has %s, and pays at the next try', async (_, cardPayment) => {
    const result = { __typename: 'StartCheckoutSuccess', cardPayment, paymentToken: 'pay-1' };
    const { element } = await checkout({ start: { result, times: 1 } });
    await element.start();
    expect(element.error).toMatchObject({ code: 'protocol', retryable: true });
    await element.updateComplete;
    expect(part(element, 'hint')?.textContent?.trim()).not.toBe('');
    part(element, 'retry-button')!.click();
    await waitFor(() => expect(element.phase).toBe('pending'));
  });

  it.each(['ws', 'sse', 'poll'] as const)(
    'shows that it failed where an update over %s is no payment',
    async (transport) => {
      const { element } = await checkout({}, { transport });
      const connected = connection_(element, transport === 'poll' ? 'polling' : 'live');
      await element.start();
      await connected;
      const failed = event(element, 'psa-error');
      await act(element, { values: { currency: null } });
      expect((await failed).detail.code).toBe('protocol');
      await element.updateComplete;
      expect(element.phase).toBe('error');
      expect(part(element, 'hint')?.textContent?.trim()).not.toBe('');
    },
  );

  it('tells a server that cannot be reached as network', async () => {
    const { element } = await checkout();
    element.endpoint = 'http://localhost:1/graphql';
    await element.start();
    expect(element.error).toMatchObject({ code: 'network', retryable: true });
  });

  it('needs an endpoint and a token', async () => {
    const element = document.createElement('psa-checkout');
    document.body.append(element);
    await element.start();
    expect(element.error?.code).toBe('not_configured');
  });
});

describe('for everyone', () => {
  const shown: [string, (element: PsaCheckout) => Promise<unknown>][] = [
    ['idle', async () => undefined],
    ['disabled', async (element) => Object.assign(element, { disabled: true })],
    ['pending', (element) => element.start()],
    ['paid', (element) => element.start().then(() => change(element, 'PAID'))],
    ['expired', (element) => element.start().then(() => change(element, 'EXPIRED'))],
    ['refunded', (element) => element.start().then(() => change(element, 'REFUNDED'))],
    ['failed', (element) => element.start().then(() => change(element, 'FAILED'))],
    ['error', (element) => Object.assign(element, { endpoint: 'http://localhost:1/graphql' }).start()],
  ];
  for (const scheme of inject('axeSchemes'))
    it.each(shown)(`has nothing for axe to find when %s, ${scheme}`, async (_, bring) => {
      document.documentElement.style.colorScheme = scheme;
      document.body.style.background = scheme === 'dark' ? '#0e1014' : '#fff';
      const { element } = await checkout();
      await bring(element);
      await settledLook(element);
      const { violations } = await axe.run(element, { rules: { region: { enabled: false } } });
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([]);
    });

  it('says each state once, in a live region, and keeps the focus inside', async () => {
    const { element } = await checkout();
    element.focus();
    const status = part(element, 'status');
    const said: string[] = [];
    const observer = new MutationObserver(() => said.push(status?.textContent?.trim() ?? ''));
    observer.observe(status as Node, { childList: true, subtree: true, characterData: true });
    await element.start();
    await element.updateComplete;
    expect(element.matches(':focus')).toBe(true);
    await change(element, 'PAID');
    await element.updateComplete;
    await Promise.resolve();
    observer.disconnect();
    expect(status?.getAttribute('role')).toBe('status');
    expect(part(element, 'status')).toBe(status);
    expect([...new Set(said)]).toEqual([
      'Preparando o pagamento…',
      'Aguardando o pagamento',
      'Pagamento confirmado',
    ]);
    expect(said.length).toBe(3);
  });

  it('shows its phase as a custom state', async () => {
    const { element } = await checkout();
    expect(element.matches(':state(idle)')).toBe(true);
    await element.start();
    await element.updateComplete;
    expect(element.matches(':state(pending)')).toBe(true);
    expect(element.matches(':state(idle)')).toBe(false);
  });

  it('speaks the language of the page, and words of the page’s choice', async () => {
    const { element } = await checkout();
    element.locale = 'en';
    element.labels = { cancel: 'Never mind' };
    await element.start();
    await waitFor(() => expect(part(element, 'status')?.textContent).toContain('Waiting for your payment'));
    expect(part(element, 'cancel-button')?.textContent).toBe('Never mind');
  });
});
