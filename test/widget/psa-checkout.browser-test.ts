import axe from 'axe-core';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { Chunks } from '../../widget/src/chunks.ts';
import '../../widget/src/define.ts';
import type { CardPayment, PsaCheckout } from '../../widget/src/psa-checkout.ts';
import {
  act,
  change,
  changeScenario,
  checkout,
  connectionChange,
  eachOnAFreshPage,
  event,
  failure,
  fakeWindow,
  part,
  place,
  readScenario,
  settledLook,
  subscriptionsOf,
  url,
} from './component.ts';
import type { Scenario } from './fake-server.ts';
import { waitFor } from './patience.ts';

eachOnAFreshPage();

describe('a click', () => {
  it('any number of clicks starts one payment', async () => {
    const { element, scenario } = await checkout();
    await Promise.all([element.start(), element.start(), element.start()]);
    await element.start();
    expect((await readScenario(scenario)).starts).toHaveLength(1);
    expect(element.phase).toBe('pending');
  });

  it('a click after a conflict makes another attempt of the same base', async () => {
    const { element, scenario } = await checkout({
      start: {
        result: { __typename: 'IdempotencyError', code: 'IDEMPOTENCY_CONFLICT', message: 'no' },
        times: 1,
      },
    });
    await element.start();
    expect(element.error).toMatchObject({ code: 'conflict', retryable: true });
    await element.retry();
    const ids = (await readScenario(scenario)).starts.map(({ attemptId }) => attemptId);
    expect(ids).toEqual([ids[0], `${ids[0]}.2`]);
    expect(element.phase).toBe('pending');
  });

  it('the attempt id is stored before the request', async () => {
    const { element, scenario } = await checkout({ start: { hold: true } });
    void element.start();
    const [id] = Object.keys(sessionStorage).filter((name) => name.endsWith(scenario.token.slice(-12)));
    expect(JSON.parse(sessionStorage.getItem(id ?? '') ?? '{}').base).toMatch(/^[0-9a-z]{22,}$/);
  });

  it('a retry after an error sends the same attempt id', async () => {
    const { element, scenario } = await checkout({
      start: { errors: [failure('INTERNAL_SERVER_ERROR')], times: 1 },
    });
    await element.start();
    expect(element.error).toMatchObject({ code: 'server', retryable: true });
    await element.retry();
    const { starts } = await readScenario(scenario);
    expect(starts).toHaveLength(2);
    expect(starts[1]?.attemptId).toBe(starts[0]?.attemptId);
    expect(element.phase).toBe('pending');
  });

  it('a retry after an expiry keeps the base of the attempt id', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'EXPIRED');
    await element.retry();
    await change(element, 'FAILED');
    await element.retry();
    const ids = (await readScenario(scenario)).starts.map(({ attemptId }) => attemptId);
    expect(ids).toEqual([ids[0], `${ids[0]}.2`, `${ids[0]}.3`]);
  });

  it('a click makes a new attempt when this visit’s payment has expired unseen', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await act(element, { silent: true, values: { status: 'EXPIRED', version: 2 } });
    element.reset();
    await element.start();
    expect((await readScenario(scenario)).starts.at(-1)?.attemptId).toMatch(/\.2$/);
    expect(element.phase).toBe('pending');
  });

  it('the page can prevent the start of a payment', async () => {
    const { element, scenario } = await checkout();
    element.addEventListener('psa-before-start', (event) => event.preventDefault());
    await element.start();
    expect(element.phase).toBe('idle');
    expect((await readScenario(scenario)).starts).toHaveLength(0);
  });

  it('a click sends amount and customer', async () => {
    const { element, scenario } = await checkout();
    element.amountCents = 1234;
    element.customer = { name: 'Ana' };
    await element.start();
    expect((await readScenario(scenario)).starts[0]).toMatchObject({
      amountCents: 1234,
      customer: { name: 'Ana' },
    });
  });
});

describe('the payment page', () => {
  it('the payment page opens in a window that is opened empty in the click, without an opener', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const opened = fakeWindow();
    const open = vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
    const started = element.start();
    expect(open).toHaveBeenCalledWith('about:blank', '_blank', expect.stringContaining('popup,width=480'));
    await started;
    expect(opened.location.replace).toHaveBeenCalledWith(`${element.payment?.checkoutUrl}?lang=pt-BR`);
    expect(opened.opener).toBeNull();
  });

  it('a real link to the payment page replaces a blocked window', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    vi.spyOn(window, 'open').mockReturnValue(null);
    const blocked = event(element, 'psa-popup-blocked');
    await element.start();
    expect((await blocked).detail.url).toBe(`${element.payment?.checkoutUrl}?lang=pt-BR`);
    const link = part(element, 'link');
    expect(link?.getAttribute('href')).toBe(`${element.payment?.checkoutUrl}?lang=pt-BR`);
    expect(link?.getAttribute('rel')).toBe('noopener');
    expect(element.shadowRoot?.querySelector('slot[name="popup-blocked"]')).not.toBeNull();
  });

  it('a view that opens no window in a click is left for the payment page, and nothing is said to be open', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    vi.spyOn(navigator, 'userActivation', 'get').mockReturnValue({ isActive: true } as UserActivation);
    const open = vi.spyOn(window, 'open').mockReturnValue(null);
    const events: string[] = [];
    for (const name of ['psa-before-redirect', 'psa-popup-blocked', 'psa-checkout-open'] as const)
      element.addEventListener(name, ({ type }) => events.push(type));
    await element.start();
    await element.updateComplete;
    // The shop's page has prevented the redirect here, and shows the link.
    expect(events).toEqual(['psa-before-redirect', 'psa-popup-blocked']);
    expect(part(element, 'link')?.getAttribute('target')).toBe('_top');
    expect(open.mock.calls.map(([, target]) => target)).toEqual(['_blank']);
  });

  it('a link that opens no window leads to the payment page in the same view', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const open = vi.spyOn(window, 'open').mockReturnValue(null);
    await element.start();
    await element.updateComplete;
    const events: string[] = [];
    element.addEventListener('psa-checkout-open', ({ type }) => events.push(type));
    // This page, unlike that of `place`, permits navigation.
    element.addEventListener('psa-before-redirect', (leaving) => leaving.stopImmediatePropagation(), true);
    const click = () =>
      part(element, 'link')?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
    expect(click()).toBe(false);
    await element.updateComplete;
    expect(open.mock.calls.slice(1)).toEqual(
      ['_blank', '_top'].map((target) => [`${element.payment?.checkoutUrl}?lang=pt-BR`, target]),
    );
    expect([part(element, 'link')?.getAttribute('target'), events]).toEqual(['_top', []]);
  });

  it('a link whose window comes says that the page is open, and cuts the opener', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const tab = fakeWindow();
    const open = vi.spyOn(window, 'open').mockReturnValueOnce(null);
    await element.start();
    await element.updateComplete;
    open.mockReturnValueOnce(tab as unknown as Window);
    const opened = event(element, 'psa-checkout-open');
    part(element, 'link')?.click();
    await opened;
    expect([tab.opener, open.mock.calls.at(-1)?.[0]]).toEqual([
      null,
      `${element.payment?.checkoutUrl}?lang=pt-BR`,
    ]);
  });

  it('a closed window does not cancel the payment', async () => {
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

  it('a closed window names its own payment, as it is now, although the payer has gone on to PIX', async () => {
    const { element } = await checkout({}, { mode: 'popup', methods: 'card pix' });
    const opened = fakeWindow();
    vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
    await element.start('card');
    const { orderCode } = element.payment as CardPayment;
    await element.start('pix');
    expect(element.method).toBe('pix');
    const closed = event(element, 'psa-checkout-close');
    opened.closed = true;
    expect((await closed).detail).toMatchObject({ payment: { orderCode }, method: 'card' });
  });

  it.each(['http://pay.example/x', 'javascript:alert(1)', 'data:text/html,x', '/relative'])(
    'the payment page is not opened at %s',
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

  it('the page can prevent the redirect to the payment page', async () => {
    const { element } = await checkout({}, { mode: 'redirect' });
    const leaving = event(element, 'psa-before-redirect');
    await element.start();
    expect((await leaving).detail.url).toBe(`${element.payment?.checkoutUrl}?lang=pt-BR`);
  });

  it('the page can prevent the redirect by the link as well', async () => {
    const { element } = await checkout({}, { mode: 'redirect' });
    await element.start();
    await element.updateComplete;
    const leaving = event(element, 'psa-before-redirect');
    const click = new MouseEvent('click', { bubbles: true, cancelable: true });
    expect(part(element, 'link')?.dispatchEvent(click)).toBe(false);
    expect((await leaving).detail.payment).toEqual(element.payment);
  });
});

describe('following', () => {
  it.each([
    ['a WebSocket', {}, 'ws', 'live'],
    ['an event stream where there is no WebSocket', { ws: 'refuse' }, 'sse', 'live'],
    ['polling where neither is available', { ws: 'refuse', sse: 'refuse' }, 'poll', 'polling'],
  ] as const)('the element follows over %s', async (_, behaviour, transport, connection) => {
    const { element } = await checkout(behaviour);
    const connected = connectionChange(element, connection);
    await element.start();
    expect((await connected).detail).toEqual({ connection, transport });
    const paid = event(element, 'psa-paid');
    await act(element, { values: { status: 'PAID' } });
    expect((await paid).detail.payment).toMatchObject({ status: 'PAID', version: 2 });
    expect(element.connection).toBe('idle');
  });

  it('a socket that hangs is left after three seconds', async () => {
    const { element: opens } = await checkout({ ws: 'hang' });
    const { element: neverOpens } = await checkout({}, { endpoint: `${url}/graphql?swallowed` });
    const connected = [opens, neverOpens].map((element) => connectionChange(element, 'live'));
    await Promise.all([opens.start(), neverOpens.start()]);
    expect((await Promise.all(connected)).map(({ detail }) => detail.transport)).toEqual(['sse', 'sse']);
  });

  it.each([
    ['ws', 17_000],
    ['sse', 45_000],
  ] as const)('a dead %s connection is replaced', async (transport, afterMs) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { element, scenario } = await checkout({ ws: 'mute' }, { transport });
      const live = connectionChange(element, 'live');
      await element.start();
      await live;
      await act(element, { deaf: true, values: { status: 'EXPIRED' } });
      const lost = connectionChange(element, 'reconnecting');
      const expired = event(element, 'psa-expired');
      await vi.advanceTimersByTimeAsync(afterMs);
      await lost;
      await vi.advanceTimersByTimeAsync(2_000);
      await expired;
      expect((await readScenario(scenario)).subscriptions.map(({ after }) => after)).toEqual([null, 'c1']);
    } finally {
      vi.useRealTimers();
    }
  });

  it('an open payment that the service behind the server gives no newer state of says so, with its age, until its next update', async () => {
    const { element, scenario } = await checkout(
      { upstream: { ageSeconds: 1, stale: false } },
      { transport: 'ws' },
    );
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    await element.updateComplete;
    expect(part(element, 'hint')?.textContent).not.toContain('Sem contato');
    await changeScenario(scenario, { upstream: { ageSeconds: 78, stale: true } });
    await element.refresh();
    await element.updateComplete;
    expect(part(element, 'hint')?.textContent).toContain('Sem contato com o serviço há 1 min');
    expect([element.payment?.stale, element.connection]).toEqual([true, 'live']);
    expect(Date.now() - element.payment!.staleSince!).toBeGreaterThanOrEqual(78_000);
    await change(element, 'PAID');
    expect(element.shadowRoot!.textContent).not.toContain('Sem contato');
    expect([element.payment?.stale, element.payment?.staleSince]).toEqual([undefined, undefined]);
  });

  it.each([
    ['en', 'No contact with the service. Status as of 3 min. ago'],
    ['es', 'Sin contacto con el servicio. Estado de hace 3 min'],
  ])('the age of an open payment is in the language %s', async (locale, words) => {
    const upstream = { ageSeconds: 170, stale: true };
    const { element } = await checkout({ upstream }, { transport: 'poll', locale });
    await element.start();
    await waitFor(() => expect(part(element, 'hint')?.textContent).toContain(words));
  });

  it('an open payment is read once a minute beside a stream where another service is behind the server, and not where none is', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const { element, scenario } = await checkout(
        { upstream: { ageSeconds: 1, stale: false } },
        { transport: 'ws' },
      );
      const own = await checkout({}, { transport: 'ws' });
      for (const each of [element, own.element]) {
        const live = connectionChange(each, 'live');
        await each.start();
        await live;
      }
      await Promise.all([scenario, own.scenario].map((each) => subscriptionsOf(each, 1)));
      await changeScenario(scenario, { upstream: { ageSeconds: 60, stale: true } });
      vi.setSystemTime(Date.now() + 61_000);
      await waitFor(() => expect(part(element, 'hint')?.textContent).toContain('serviço há 1 min'));
      expect(element.connection).toBe('live');
      await changeScenario(scenario, { upstream: { ageSeconds: 1, stale: false } });
      vi.setSystemTime(Date.now() + 61_000);
      await waitFor(() => expect(part(element, 'hint')?.textContent).not.toContain('Sem contato'));
      expect((await readScenario(scenario)).reads).toBe(2);
      expect((await readScenario(own.scenario)).reads).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('the state is read again where the cursor has expired', async () => {
    const { element, scenario } = await checkout({}, { transport: 'ws' });
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    const heard = waitFor(() => expect(element.payment?.version).toBe(2));
    await act(element, { cursor: 'expired', values: { description: 'x' } });
    await heard;
    const again = connectionChange(element, 'live');
    await act(element, { drop: 1013 });
    await again;
    await waitFor(async () =>
      expect((await readScenario(scenario)).subscriptions.map(({ after }) => after)).toEqual([null, null]),
    );
    expect(element.phase).toBe('pending');
  });

  it('a lost socket is reopened with the cursor of the last update', async () => {
    const { element, scenario } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    const again = connectionChange(element, 'live');
    await act(element, { drop: 1013 });
    await again;
    expect(await subscriptionsOf(scenario, 2)).toEqual([
      { transport: 'ws', after: null },
      { transport: 'ws', after: 'c1' },
    ]);
  });

  it('following stops with unauthorized where the token has expired', async () => {
    const { element } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    const failed = event(element, 'psa-error');
    await act(element, { drop: 4403 });
    expect((await failed).detail).toMatchObject({ code: 'unauthorized', retryable: true });
    expect(element.phase).toBe('error');
  });

  it('a paid payment never becomes pending again', async () => {
    const { element } = await checkout({}, { transport: 'sse' });
    await element.start();
    await change(element, 'PAID');
    await act(element, { silent: true, values: { status: 'PENDING', version: 1 } });
    await element.refresh();
    await act(element, { silent: true, values: { status: 'PENDING', version: 99 } });
    await element.refresh();
    expect(element.phase).toBe('paid');
  });

  it('an expired payment is still followed, because it may be paid late', async () => {
    const { element } = await checkout();
    await element.start();
    await change(element, 'EXPIRED');
    expect(element.connection).toBe('live');
    // The panel offers a new attempt.
    expect(part(element, 'hint')?.textContent?.trim()).toContain('tente de novo');
    expect(part(element, 'retry-button')?.checkVisibility()).toBe(true);
    const paid = event(element, 'psa-paid');
    await act(element, { values: { status: 'PAID', paidLate: true } });
    await paid;
    expect(element.phase).toBe('paid');
  });

  it('the countdown ignores the device’s date, and at 0:00 the server is asked', async () => {
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

describe('the way back to the button', () => {
  const back = async (scenario: Scenario, element: PsaCheckout, count: number) => {
    const { orderCode } = element.payment!;
    element.reset();
    await subscriptionsOf(scenario, count);
    return orderCode;
  };

  it.each(['stays', 'is reloaded'])(
    'a payment that is made after it is shown on a page that %s',
    async (how) => {
      const { element, scenario } = await checkout();
      const live = connectionChange(element, 'live');
      await element.start();
      await live;
      const orderCode = await back(scenario, element, 2);
      expect([element.phase, element.connection]).toEqual(['idle', 'idle']);
      let page = element;
      if (how === 'is reloaded') {
        element.remove();
        page = await place(scenario.token);
        await subscriptionsOf(scenario, 3);
      }
      const paid = event(page, 'psa-paid');
      await act(page, { orderCode, values: { status: 'PAID' } });
      expect((await paid).detail).toMatchObject({ method: 'card', payment: { orderCode } });
      expect(page.phase).toBe('paid');
      expect((await readScenario(scenario)).starts).toHaveLength(1);
    },
  );

  it('a payment that fails after it changes nothing, and is followed no longer', async () => {
    const { element, scenario } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    const orderCode = await back(scenario, element, 2);
    await act(element, { orderCode, values: { status: 'FAILED' } });
    const kept = () => JSON.parse(sessionStorage.getItem(`psa-checkout:${scenario.token.slice(-12)}`)!);
    await waitFor(() => expect(kept().earlier).toEqual([]));
    expect(element.phase).toBe('idle');
    element.remove();
    await place(scenario.token);
    expect((await readScenario(scenario)).subscriptions).toHaveLength(2);
  });
});

describe('the icon of a state', () => {
  it('the tick is another element than the spinner before it, whose animation WebKit never stops', async () => {
    const { element } = await checkout();
    const icon = () => element.shadowRoot?.querySelector('.badge > svg');
    await element.start();
    await element.updateComplete;
    const spinner = icon();
    expect(spinner?.getAttribute('part')).toBe('spinner');
    await change(element, 'PAID');
    expect(spinner?.isConnected).toBe(false);
    expect(icon()?.matches('[part], .spinner')).toBe(false);
  });
});

it('the time of a payment is that of Brasília, and names it, wherever the device is', async () => {
  const { element } = await checkout();
  await element.start();
  await change(element, 'PAID');
  const [, time] = element.shadowRoot!.textContent!.match(/14 de mar\. de 2026, (\d\d:\d\d \([^)]+\))/) ?? [];
  expect(time).toBe('14:42 (Brasília)');
});

describe('finding a payment again', () => {
  it('a reload finds the payment again, and the receipt stays until reset()', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'PAID');
    element.remove();
    const again = await place(scenario.token);
    expect(again.phase).toBe('paid');
    again.reset();
    expect(again.phase).toBe('idle');
    await again.start();
    const [first, second] = (await readScenario(scenario)).starts;
    expect(second?.attemptId).not.toContain(first?.attemptId);
  });

  it('the page at successUrl finds the payment without any attribute', async () => {
    const { element } = await checkout();
    await element.start();
    const { orderCode } = element.payment ?? {};
    element.remove();
    // In another tab only the order code in the address identifies the payment.
    sessionStorage.clear();
    history.replaceState(null, '', `?psa_order_code=${orderCode}`);
    const thanks = document.createElement('psa-checkout');
    document.body.append(thanks);
    await event(thanks, 'psa-status-change');
    expect(thanks.payment?.orderCode).toBe(orderCode);
    expect(thanks.phase).toBe('pending');
  });

  it.each([
    ['?psa_order_code=PSC-1', 'A loja vai confirmar o pagamento', 'PSC-1'],
    ['?psa_payment_id=psa_1', 'A loja vai confirmar o pagamento', 'psa_1'],
    ['?psa_order_code=PSC-1&psa_cancelled=1', '', undefined],
    ['?psa_order_code=<b>call+0800</b>', '', undefined],
    ['?', '', undefined],
  ])('the page at successUrl%s without a stored payment says “%s”', async (address, title, code) => {
    // The payer returns from a frame of another site, whose storage this page cannot read.
    history.replaceState(null, '', address);
    const thanks = document.createElement('psa-checkout');
    document.body.append(thanks);
    await thanks.updateComplete;
    expect(part(thanks, 'status')?.textContent).toBe(title);
    expect(part(thanks, 'hint')?.textContent).toBe(code);
    expect(thanks.shadowRoot?.querySelector('button')).toBeNull();
    expect(thanks.phase).toBe('idle');
  });

  it('the cancel link is a hint, and the payment stays pending', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    history.replaceState(null, '', `?psa_order_code=${element.payment?.orderCode}&psa_cancelled=1`);
    element.remove();
    const again = await place(scenario.token);
    await connectionChange(again, 'live');
    expect(again.phase).toBe('pending');
    expect(part(again, 'hint')?.textContent).toContain('ainda está aberto');
  });

  it('payments of two products do not collide', async () => {
    const first = await checkout();
    const second = await checkout();
    await first.element.start();
    expect(second.element.phase).toBe('idle');
    await second.element.start();
    expect(second.element.payment?.orderCode).not.toBe(first.element.payment?.orderCode);
  });

  it('an element does not overwrite the stored payment of another one with the same token', async () => {
    const { element, scenario } = await checkout();
    const other = await place(scenario.token);
    await element.start();
    await other.start();
    await change(element, 'EXPIRED');
    await element.retry();
    await other.refresh();
    expect(other.phase).toBe('expired');
    const { orderCode } = element.payment as CardPayment;
    element.remove();
    other.remove();
    const reloaded = await place(scenario.token);
    await waitFor(() => expect(reloaded.phase).toBe('pending'));
    expect(reloaded.payment).toMatchObject({ orderCode });
  });

  it('the element follows a payment that the page names', async () => {
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

  it('a payment that the page names has a notice while its server cannot be reached', async () => {
    const element = await place('', {
      endpoint: 'http://localhost:1/graphql',
      orderCode: 'PSA-1',
      paymentToken: 'pay-1',
    });
    await waitFor(() => expect(part(element, 'hint')?.textContent).toBe('Reconectando…'));
    expect(part(element, 'status')?.textContent).toBe('Buscando seu pagamento…');
  });

  it('an element that is mounted twice, as in strict mode, starts one payment', async () => {
    const { element, scenario } = await checkout();
    const started = element.start();
    element.remove();
    document.body.append(element);
    await started;
    element.remove();
    document.body.append(element);
    await connectionChange(element, 'live');
    await change(element, 'PAID');
    expect((await readScenario(scenario)).starts).toHaveLength(1);
  });
});

describe('events over remounts', () => {
  it('a page hears of each outcome of a payment once, however often the element is mounted', async () => {
    const heard: string[] = [];
    const listen = ({ type }: Event) => heard.push(type);
    const types = ['psa-paid', 'psa-refunded'] as const;
    for (const type of types) document.addEventListener(type, listen);
    onTestFinished(() => {
      for (const type of types) document.removeEventListener(type, listen);
    });
    const { element, scenario } = await checkout();
    await element.start();
    element.remove();
    const second = await place(scenario.token);
    await connectionChange(second, 'live');
    await change(second, 'PAID');
    for (let mount = 0; mount < 2; mount++) {
      second.remove();
      const again = await place(scenario.token);
      await waitFor(() => expect(again.phase).toBe('paid'));
      await again.refresh();
      again.remove();
    }
    const last = await place(scenario.token);
    await act(last, { silent: true, values: { status: 'REFUNDED', version: 9 } });
    await last.refresh();
    expect(heard).toEqual(['psa-paid', 'psa-refunded']);
  });
});

describe('an order that another device has paid', () => {
  it.each([
    [{ orderPaid: true, orderRefunded: false }, 'order_paid', 'Este pedido já está pago'],
    [{ orderPaid: true, orderRefunded: true }, 'order_refunded', 'Este pedido foi pago e estornado'],
  ])(
    'An open payment shows it live, without a retry and without a receipt: %o',
    async (values, phase, text) => {
      const { element } = await checkout();
      const paid = vi.fn();
      element.addEventListener('psa-paid', paid);
      await element.start();
      const changed = event(element, 'psa-phase-change', ({ detail }) => detail.phase === phase);
      await act(element, { values });
      await changed;
      await element.updateComplete;
      expect(part(element, 'status')?.textContent?.trim()).toBe(text);
      expect(element.shadowRoot!.querySelector('button, a')).toBeNull();
      expect(paid).not.toHaveBeenCalled();
      expect(element.payment).toMatchObject({ status: 'PENDING', ...values });
      // A click by the page's script starts nothing.
      await element.start();
      expect(element.phase).toBe(phase);
    },
  );

  it('A payment that had expired shows it live, in place of its retry', async () => {
    const { element } = await checkout();
    await element.start();
    await change(element, 'EXPIRED');
    expect(part(element, 'retry-button')).not.toBeNull();
    const changed = event(element, 'psa-phase-change', ({ detail }) => detail.phase === 'order_paid');
    await act(element, { values: { orderPaid: true } });
    await changed;
    await element.updateComplete;
    expect(part(element, 'status')?.textContent?.trim()).toBe('Este pedido já está pago');
    expect(element.shadowRoot!.querySelector('button, a')).toBeNull();
  });

  it('A retry that is refused because the order is paid shows it, too', async () => {
    const result = { __typename: 'PreconditionError', code: 'ORDER_PAID', message: 'no' };
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'EXPIRED');
    const body = JSON.stringify({ token: scenario.token, start: { result } });
    await fetch(`${url}/scenario`, { method: 'POST', body });
    await element.retry();
    await element.updateComplete;
    expect(element.phase).toBe('order_paid');
    expect(part(element, 'status')?.textContent?.trim()).toBe('Este pedido já está pago');
    expect(element.shadowRoot!.querySelector('button, a')).toBeNull();
  });

  it.each([
    [true, 'order_paid', 'Este pedido já está pago', 'O valor deste pagamento volta para você.'],
    [false, 'failed', 'Pagamento estornado', 'O valor volta pelo mesmo cartão, no prazo do banco.'],
  ])(
    'A payment whose money is returned says so, without a retry, where its order is paid: %o',
    async (orderPaid, phase, text, hint) => {
      const { element } = await checkout();
      const failed = vi.fn();
      element.addEventListener('psa-failed', failed);
      await element.start();
      await change(element, 'EXPIRED');
      const changed = event(element, 'psa-phase-change', ({ detail }) => detail.phase === phase);
      await act(element, { values: { status: 'FAILED', returned: true, orderPaid } });
      await changed;
      await element.updateComplete;
      expect(part(element, 'status')?.textContent?.trim()).toBe(text);
      expect(part(element, 'hint')?.textContent?.trim()).toBe(hint);
      expect(element.shadowRoot!.querySelector('button, a')).toBeNull();
      expect(failed).toHaveBeenCalledTimes(orderPaid ? 0 : 1);
    },
  );

  it.each(['card', 'pix'] as const)(
    'A payment by %s that the merchant has canceled says so, without a retry',
    async (method) => {
      const { element } = await checkout({}, { methods: 'pix card' });
      await element.start(method);
      const expired = event(element, 'psa-phase-change', ({ detail }) => detail.phase === 'expired');
      await act(element, { values: { status: 'EXPIRED', canceledAt: '2031-01-01T11:50:00.000Z' } });
      await expired;
      await element.updateComplete;
      expect(part(element, 'hint')?.textContent?.trim()).toBe('A loja cancelou este pagamento.');
      expect(element.shadowRoot!.querySelector('button, a')).toBeNull();
    },
  );

  it('An own payment of the other method that has paid the order is shown as paid, and nothing else before', async () => {
    const { element } = await checkout({}, { methods: 'pix card' });
    await element.start('card');
    const { orderCode } = element.payment as CardPayment;
    await element.start('pix');
    const phases: string[] = [];
    element.addEventListener('psa-phase-change', ({ detail }) => phases.push(detail.phase));
    const paid = event(element, 'psa-paid');
    // The update of the open payment comes first.
    await act(element, { orderCode, silent: true, values: { status: 'PAID', version: 2 } });
    await act(element, { values: { orderPaid: true } });
    expect((await paid).detail.payment.orderCode).toBe(orderCode);
    expect(phases).toEqual(['paid']);
  });

  it.each([
    ['ORDER_PAID', 'order_paid', 'Este pedido já está pago'],
    ['ORDER_REFUNDED', 'order_refunded', 'Este pedido foi pago e estornado'],
  ])('A start that is refused with %s shows it, too', async (code, phase, text) => {
    const result = { __typename: 'PreconditionError', code, message: 'no' };
    const { element } = await checkout({ start: { result } });
    const failed = event(element, 'psa-error');
    await element.start();
    expect((await failed).detail).toEqual({
      code: phase,
      reason: code,
      message: 'no',
      retryable: false,
    });
    await element.updateComplete;
    expect(element.phase).toBe(phase);
    expect(part(element, 'status')?.textContent?.trim()).toBe(text);
    expect(element.shadowRoot!.querySelector('button, a')).toBeNull();
  });
});

describe('errors', () => {
  it.each([
    ['without a network', {}, 'Não conseguimos conectar.', ['Tentar de novo', 'Voltar']],
    ['without a token', { token: undefined }, 'Este pagamento não pôde ser aberto.', ['Voltar']],
  ])(
    'a first click %s has all that its error needs, though no other file loads',
    async (_, given, hint, names) => {
      const { element } = await checkout({}, { methods: 'pix', ...given });
      vi.spyOn(Chunks.prototype, 'load').mockRejectedValue(new TypeError('Failed to fetch'));
      await element.start();
      await element.updateComplete;
      expect(element.phase).toBe('error');
      expect(part(element, 'spinner')).toBeNull();
      expect(element.shadowRoot?.querySelector('.badge path')?.getAttribute('d')).toBeTruthy();
      expect(part(element, 'hint')?.textContent).toContain(hint);
      const offered = [...element.shadowRoot!.querySelectorAll('button')];
      expect(offered.map(({ textContent }) => textContent)).toEqual(names);
      offered.at(-1)?.click();
      expect(element.phase).toBe('idle');
      vi.restoreAllMocks();
      if (!element.token) return;
      await element.start();
      expect(element.phase).toBe('pending');
    },
  );

  it.each([
    [['CARD'], 'This token has expired', 'Recarregar a página'],
    [['CARD'], 'Invalid or revoked token', 'Recarregar a página'],
    ['lost', 'This token has expired', undefined],
    [['CARD'], 'This token may not be used on this page', undefined],
  ] as const)(
    'a token of %j, refused at the click with “%s”, has the button %s',
    async (methods, message, button) => {
      vi.spyOn(console, 'error').mockImplementation(() => undefined);
      const start = { errors: [{ message, extensions: { code: 'UNAUTHENTICATED' } }] };
      const { element } = await checkout(
        { methods: methods === 'lost' ? methods : [...methods], start },
        { methods: 'pix card' },
      );
      // With one button the server has returned the token's methods.
      if (methods !== 'lost') await waitFor(() => expect(part(element, 'methods')).toBeNull());
      await element.start('card');
      await element.updateComplete;
      expect(element.error).toMatchObject({ code: 'unauthorized', retryable: false });
      expect(part(element, 'retry-button')?.textContent).toBe(button);
      expect(part(element, 'hint')?.textContent).toContain(button ? 'ficou aberta' : 'Fale com a loja');
      expect(part(element, 'cancel-button')).not.toBeNull();
    },
  );

  it.each([
    ['ValidationError', 'BAD_USER_INPUT', 'invalid_input', false],
    ['PermissionError', 'FORBIDDEN', 'unauthorized', false],
    ['NotFoundError', 'NOT_FOUND', 'not_configured', false],
    ['PreconditionError', 'CARD_PAYMENTS_NOT_CONFIGURED', 'not_configured', false],
    ['PreconditionError', 'CHECKOUT_TOKEN_USED', 'conflict', true],
    ['PreconditionError', 'CHECKOUT_TOKEN_PAUSED', 'unknown', true],
    ['IdempotencyError', 'IDEMPOTENCY_CONFLICT', 'conflict', true],
    ['RateLimitError', 'RATE_LIMITED', 'rate_limited', true],
    ['UpstreamError', 'UPSTREAM_UNAVAILABLE', 'server', true],
    ['UpstreamError', 'UPSTREAM_REFUSED', 'server', true],
    ['UpstreamError', 'BANK_REFUSED', 'server', true],
    ['UpstreamError', 'OUTCOME_UNKNOWN', 'server', true],
  ])('%s with the code %s is reported as %s', async (__typename, code, expected, retryable) => {
    const { element } = await checkout({
      start: { result: { __typename, code, message: 'no', retryAfterSeconds: 7 } },
    });
    const failed = event(element, 'psa-error');
    await element.start();
    expect((await failed).detail).toEqual({ code: expected, reason: code, message: 'no', retryable });
    expect(element.error?.reason).toBe(code);
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
  ])('the response %j is reported as %s', async (start, expected) => {
    const { element } = await checkout({ start });
    await element.start();
    expect(element.error?.code).toBe(expected);
  });

  const PAYMENT = {
    orderCode: 'PSA-1',
    status: 'PENDING',
    amountCents: 4990,
    currency: 'BRL',
    version: 1,
    checkoutUrl: `${url}/checkout/PSA-1`,
    expiresAt: '2031-01-01T12:00:00.000Z',
    expiresInSeconds: 60,
    description: null,
    paidAt: null,
    paidLate: false,
    orderPaid: false,
    orderRefunded: false,
    refundedAt: null,
    failureReason: null,
  };

  it.each([
    ['no currency', { ...PAYMENT, currency: undefined }],
    ['an invalid currency', { ...PAYMENT, currency: 'reais' }],
    ['an amount that is not a number', { ...PAYMENT, amountCents: '49,90' }],
    ['an invalid instant', { ...PAYMENT, status: 'PAID', paidAt: 'today' }],
    ['no members', null],
  ])('a payment with %s is reported as an error, and a retry pays', async (_, cardPayment) => {
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
    'an update over %s that is no payment is reported as an error',
    async (transport) => {
      const { element } = await checkout({}, { transport });
      const connected = connectionChange(element, transport === 'poll' ? 'polling' : 'live');
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

  it('an unreachable server is reported as network', async () => {
    const { element } = await checkout();
    element.endpoint = 'http://localhost:1/graphql';
    await element.start();
    expect(element.error).toMatchObject({ code: 'network', retryable: true });
  });

  it('an element without endpoint and token is not configured', async () => {
    const element = document.createElement('psa-checkout');
    document.body.append(element);
    await element.start();
    expect(element.error?.code).toBe('not_configured');
  });
});

describe('accessibility and languages', () => {
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
    it.each(shown)(`axe finds nothing when %s, ${scheme}`, async (_, bring) => {
      document.documentElement.style.colorScheme = scheme;
      document.body.style.background = scheme === 'dark' ? '#0e1014' : '#fff';
      const { element } = await checkout();
      await bring(element);
      await settledLook(element);
      const { violations } = await axe.run(element, { rules: { region: { enabled: false } } });
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([]);
    });

  it('each state is announced once in a live region, and the focus stays inside', async () => {
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

  it('the focus in the slot of a phase moves to the panel when the phase ends', async () => {
    const { element } = await checkout();
    element.insertAdjacentHTML('beforeend', '<p slot="expired"><a href="#faq">FAQ</a></p>');
    element.insertAdjacentHTML('beforeend', '<a slot="footer" href="#help">Help</a>');
    const [faq, help] = element.querySelectorAll('a');
    await element.start();
    await element.updateComplete;
    help?.focus();
    await change(element, 'EXPIRED');
    expect(document.activeElement).toBe(help);
    faq?.focus();
    expect(document.activeElement).toBe(faq);
    await change(element, 'PAID');
    expect(document.activeElement).toBe(element);
  });

  it('the phase is a custom state', async () => {
    const { element } = await checkout();
    expect(element.matches(':state(idle)')).toBe(true);
    await element.start();
    await element.updateComplete;
    expect(element.matches(':state(pending)')).toBe(true);
    expect(element.matches(':state(idle)')).toBe(false);
  });

  it('locale and labels determine the texts', async () => {
    const { element } = await checkout();
    element.locale = 'en';
    element.labels = { cancel: 'Never mind' };
    await element.start();
    await waitFor(() => expect(part(element, 'status')?.textContent).toContain('Waiting for your payment'));
    expect(part(element, 'cancel-button')?.textContent).toBe('Never mind');
  });
});
