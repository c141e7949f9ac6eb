import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Chunks } from '../../widget/src/chunks.ts';
import '../../widget/src/define.ts';
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
  subscriptionsOf,
  url,
} from './component.ts';
import { waitFor } from './patience.ts';

// Races: concurrent calls, late answers, and pages that change attributes during a request.
eachOnAFreshPage();

/** Holds the next request of a kind until it is released. */
function holdNext(kind: 'query' | 'mutation'): { asked: Promise<void>; letGo: () => void } {
  const real = window.fetch;
  let letGo: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    const spy = vi.spyOn(window, 'fetch').mockImplementation(async (input, init) => {
      if (!String(init?.body).includes(`"${kind} `)) return real(input, init);
      spy.mockRestore();
      resolve();
      await gate;
      return real(input, init);
    });
  });
  return { asked, letGo };
}

const starts = async (scenario: { token: string }) =>
  (await readScenario(scenario as never)).starts.map(({ attemptId }) => attemptId);

describe('start()', () => {
  it('start() begins a new attempt immediately after reset()', async () => {
    const { element, scenario } = await checkout();
    const held = holdNext('mutation');
    const errors: string[] = [];
    element.addEventListener('psa-error', ({ detail }: CustomEventInit) => errors.push(detail.code));
    const first = element.start();
    await held.asked;
    element.reset();
    const heldToo = holdNext('mutation');
    const second = element.start();
    await heldToo.asked;
    held.letGo();
    await first;
    expect(element.phase).toBe('creating');
    expect(element.start()).toBe(second);
    heldToo.letGo();
    await second;
    expect(element.phase).toBe('pending');
    expect(errors).toEqual(['aborted']);
    expect(new Set(await starts(scenario)).size).toBe(1);
    element.reset();
    await element.start();
    expect(element.phase).toBe('pending');
  });

  it('retry() in the listener of psa-error starts another request', async () => {
    const { element, scenario } = await checkout({
      start: { errors: [failure('INTERNAL_SERVER_ERROR')], times: 2 },
    });
    element.addEventListener('psa-error', () => void element.retry());
    const pending = event(element, 'psa-created');
    void element.start();
    await pending;
    expect(await starts(scenario)).toHaveLength(3);
    expect(new Set(await starts(scenario)).size).toBe(1);
  });

  it('start() in a listener of its own start has no effect', async () => {
    const { element, scenario } = await checkout();
    element.addEventListener('psa-phase-change', () => void element.start());
    await element.start();
    expect(await starts(scenario)).toHaveLength(1);
  });

  it('start() before the first render is remembered', async () => {
    const { element: other, scenario } = await checkout();
    other.remove();
    const element = document.createElement('psa-checkout');
    Object.assign(element, { endpoint: `${url}/graphql`, token: scenario.token, mode: 'redirect' });
    element.addEventListener('psa-before-redirect', (leaving) => leaving.preventDefault());
    document.body.append(element);
    await element.start();
    element.remove();
    const again = await place(scenario.token);
    expect(again.phase).toBe('pending');
    expect(again.payment?.orderCode).toBe(element.payment?.orderCode);
  });

  it('start() uses a token that was set just before, with an attempt of its own', async () => {
    const { element, scenario: first } = await checkout({ start: { status: 503 } });
    const { element: other, scenario: second } = await checkout();
    other.remove();
    await element.start();
    element.token = second.token;
    await element.start();
    expect(element.phase).toBe('pending');
    expect(await starts(second)).not.toEqual(await starts(first));
    element.remove();
    expect((await place(first.token)).phase).toBe('idle');
    expect((await place(second.token)).phase).toBe('pending');
  });

  it('start() finishes under its token although the page has set another one', async () => {
    const { element, scenario } = await checkout();
    const { element: other, scenario: second } = await checkout();
    other.remove();
    const held = holdNext('mutation');
    const started = element.start();
    await held.asked;
    element.token = second.token;
    await element.updateComplete;
    held.letGo();
    await started;
    await waitFor(() => expect(element.phase).toBe('idle'));
    expect(element.payment).toBeUndefined();
    element.token = scenario.token;
    await element.updateComplete;
    expect(element.phase).toBe('pending');
  });

  it('start() does nothing on a disabled element', async () => {
    const { element, scenario } = await checkout({}, { disabled: true });
    await element.start();
    part(element, 'button')?.click();
    expect(element.phase).toBe('idle');
    expect(await starts(scenario)).toHaveLength(0);
  });

  it('retry() makes a new attempt after the page has changed the amount', async () => {
    const { element, scenario } = await checkout({ start: { status: 503, times: 1 } }, { amountCents: 1000 });
    await element.start();
    element.amountCents = 2000;
    await element.retry();
    const [first, second] = await starts(scenario);
    expect(second).toBe(`${first}.2`);
  });
});

describe('a late answer', () => {
  it('a late answer about the previous payment does not affect the current one', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'EXPIRED');
    const old = element.payment?.orderCode;
    const held = holdNext('query');
    const asked = element.refresh();
    await held.asked;
    await element.retry();
    expect(element.payment?.orderCode).not.toBe(old);
    const { reads } = await readScenario(scenario);
    // A pending request about the old payment does not replace one about the current payment.
    await element.refresh();
    expect((await readScenario(scenario)).reads).toBe(reads + 1);
    held.letGo();
    await asked;
    expect(element.phase).toBe('pending');
    expect(element.payment?.orderCode).not.toBe(old);
  });

  it('a late answer after reset() is ignored', async () => {
    const { element } = await checkout();
    await element.start();
    const held = holdNext('query');
    const asked = element.refresh();
    await held.asked;
    element.reset();
    held.letGo();
    await asked;
    expect(element.phase).toBe('idle');
    expect(element.payment).toBeUndefined();
  });

  it('concurrent calls of refresh() send one request', async () => {
    const { element, scenario } = await checkout({}, { transport: 'ws' });
    await element.start();
    const { reads } = await readScenario(scenario);
    await Promise.all([element.refresh(), element.refresh(), element.refresh()]);
    expect((await readScenario(scenario)).reads).toBe(reads + 1);
  });
});

describe('reset() in a listener', () => {
  it.each(['psa-phase-change', 'psa-status-change', 'psa-paid'])(
    'reset() in a listener of %s returns to the button',
    async (name) => {
      const { element, scenario } = await checkout();
      await element.start();
      element.addEventListener(name, () => element.status === 'PAID' && element.reset());
      const over = event(element, 'psa-phase-change', ({ detail }) => detail.phase === 'idle');
      await act(element, { values: { status: 'PAID' } });
      await over;
      await element.start();
      expect(element.phase).toBe('pending');
      const [first, second] = await starts(scenario);
      expect(second).not.toContain(first);
    },
  );

  it('reset() in a listener of the phase creating starts nothing', async () => {
    const { element, scenario } = await checkout();
    element.addEventListener(
      'psa-phase-change',
      ({ detail }) => detail.phase === 'creating' && element.reset(),
    );
    await element.start();
    expect(element.phase).toBe('idle');
    expect(await starts(scenario)).toEqual([]);
  });

  it('reset() closes the window of a pending payment', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const opened = fakeWindow();
    vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
    await element.start();
    element.reset();
    expect(opened.close).toHaveBeenCalledOnce();
  });

  it('reset() in a listener of psa-created closes the window', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const opened = fakeWindow();
    vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
    element.addEventListener('psa-created', () => element.reset());
    await element.start();
    expect(element.phase).toBe('idle');
    expect(opened.close).toHaveBeenCalled();
    expect(opened.location.replace).not.toHaveBeenCalled();
  });
});

describe('an expired token', () => {
  it('an expired payment token is renewed by a click with the same attempt', async () => {
    const { element, scenario } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    const { orderCode } = element.payment ?? {};
    const failed = event(element, 'psa-error');
    await act(element, { endToken: true, drop: 4403 });
    expect((await failed).detail).toMatchObject({ code: 'unauthorized', retryable: true });
    await element.updateComplete;
    part(element, 'retry-button')?.click();
    await connectionChange(element, 'live');
    expect(element.payment?.orderCode).toBe(orderCode);
    const [first, second] = await starts(scenario);
    expect(second).toBe(first);
    await change(element, 'PAID');
  });

  it('a fresh payment token does not announce the same status of the same payment again', async () => {
    const { element } = await checkout();
    await element.start();
    await change(element, 'PAID');
    const { orderCode = '' } = element.payment ?? {};
    element.remove();
    const other = document.createElement('psa-checkout');
    Object.assign(other, { endpoint: `${url}/graphql`, orderCode, paymentToken: `pay-${orderCode}` });
    const changed = vi.fn();
    other.addEventListener('psa-status-change', changed);
    document.body.append(other);
    await event(other, 'psa-status-change');
    await act(other, { endToken: true });
    other.paymentToken = `pay-${orderCode}-again`;
    await other.updateComplete;
    await other.refresh();
    expect(changed).toHaveBeenCalledOnce();
  });

  it('an expired payment has no retry button where there is no checkout token', async () => {
    const { element } = await checkout();
    await element.start();
    await change(element, 'EXPIRED');
    expect(part(element, 'retry-button')).not.toBeNull();
    element.token = undefined;
    element.orderCode = element.payment?.orderCode;
    await waitFor(() => expect(element.phase).toBe('expired'));
    await element.updateComplete;
    expect(part(element, 'retry-button')).toBeNull();
  });

  it('an expired payment token without a checkout token is final until the page sets another one', async () => {
    const { element } = await checkout();
    await element.start();
    const { orderCode = '' } = element.payment ?? {};
    element.remove();
    sessionStorage.clear();
    localStorage.clear();
    await act(element, { endToken: true });
    const other = document.createElement('psa-checkout');
    Object.assign(other, { endpoint: `${url}/graphql`, orderCode, paymentToken: `pay-${orderCode}` });
    const failed = event(other, 'psa-error');
    document.body.append(other);
    expect((await failed).detail).toMatchObject({ code: 'unauthorized', retryable: false });
    other.paymentToken = `pay-${orderCode}-again`;
    await event(other, 'psa-status-change');
    expect(other.phase).toBe('pending');
  });

  it('an expired payment token is final under another checkout token, which would start another payment', async () => {
    const { element, scenario } = await checkout({}, { resumeKey: 'a cart' });
    await element.start();
    const { orderCode = '' } = element.payment ?? {};
    element.remove();
    await act(element, { endToken: true });
    const other = document.createElement('psa-checkout');
    Object.assign(other, { endpoint: `${url}/graphql`, token: `${scenario}-of-today`, resumeKey: 'a cart' });
    const failed = event(other, 'psa-error');
    document.body.append(other);
    expect((await failed).detail).toMatchObject({ code: 'unauthorized', retryable: false });
    expect(other.payment?.orderCode).toBe(orderCode);
    await other.retry();
    expect(await starts(scenario)).toHaveLength(1);
  });

  it('an expired checkout token ends in an error that is not retryable', async () => {
    const { element } = await checkout();
    element.token = 'psa_ct_that_has_ended_long_ago';
    const failed = event(element, 'psa-error');
    await element.start();
    expect((await failed).detail).toMatchObject({ code: 'unauthorized', retryable: false });
  });
});

describe('the connection', () => {
  it('the connection is closed for the back/forward cache and reopened after it', async () => {
    const { element, scenario } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    const idle = connectionChange(element, 'idle');
    dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
    await idle;
    const again = connectionChange(element, 'live');
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    await again;
    await subscriptionsOf(scenario, 2);
  });

  it('the connection is opened once on a page that has just been loaded', async () => {
    const { element, scenario } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    dispatchEvent(new PageTransitionEvent('pageshow'));
    await live;
    await subscriptionsOf(scenario, 1);
    expect((await readScenario(scenario)).reads).toBe(0);
  });

  it('the payment is read when the page becomes visible, and the connection reopened when the network is back', async () => {
    const { element, scenario } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    await waitFor(async () => expect((await readScenario(scenario)).reads).toBe(1));
    const again = connectionChange(element, 'live');
    dispatchEvent(new Event('online'));
    await again;
    await subscriptionsOf(scenario, 2);
  });

  it('a removed element sends no more requests', async () => {
    const { element, scenario } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    await subscriptionsOf(scenario, 1);
    element.remove();
    expect(element.connection).toBe('idle');
    const before = await readScenario(scenario);
    const fetched = vi.spyOn(window, 'fetch');
    for (const type of ['online', 'pageshow', 'visibilitychange', 'offline']) dispatchEvent(new Event(type));
    // Any request of the element would arrive before this one.
    expect(await readScenario(scenario)).toEqual(before);
    expect(fetched).toHaveBeenCalledOnce();
  });

  it('a refused connection is not retried because the element is moved', async () => {
    const { element, scenario } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    const failed = event(element, 'psa-error');
    await act(element, { drop: 4403 });
    await failed;
    const errors = vi.fn();
    element.addEventListener('psa-error', errors);
    document.body.append(element);
    expect(element.connection).toBe('idle');
    expect(errors).not.toHaveBeenCalled();
    await subscriptionsOf(scenario, 1);
  });

  it.each([401, 403, 404])(
    'polling continues although a proxy answers with a page of its own and %i',
    async (status) => {
      const { element } = await checkout({}, { transport: 'poll' });
      const real = window.fetch;
      let pages = 0;
      vi.spyOn(window, 'fetch').mockImplementation(async (input, init) => {
        if (!String(init?.body).includes('"query ') || pages++ > 0) return real(input, init);
        return new Response('<h1>No</h1>', { status });
      });
      const polling = connectionChange(element, 'polling');
      await element.start();
      await polling;
      expect(element.phase).toBe('pending');
    },
  );

  it('every transport is tried where the page names none', async () => {
    const { element } = await checkout();
    element.setAttribute('transport', 'sse');
    element.removeAttribute('transport');
    const live = connectionChange(element, 'live');
    await element.start();
    expect((await live).detail.transport).toBe('ws');
  });
});

describe('an element that finds a payment', () => {
  it('an element whose order-code names the payment before a retry shows the one after it', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    const { orderCode } = element.payment ?? {};
    await change(element, 'EXPIRED');
    await element.retry();
    const { payment } = element;
    expect(payment?.orderCode).not.toBe(orderCode);
    element.remove();
    const again = await place(scenario.token, { orderCode, paymentToken: `pay-${orderCode}` });
    expect(again.payment?.orderCode).toBe(payment?.orderCode);
    await waitFor(() => expect(again.connection).toBe('live'));
    await change(again, 'PAID');
  });

  it('an element whose order-code names a payment that failed shows the one after it', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    const { orderCode } = element.payment ?? {};
    await change(element, 'FAILED');
    await element.retry();
    const { payment } = element;
    const kept = () => JSON.parse(sessionStorage.getItem(`psa-checkout:${scenario.token.slice(-12)}`)!);
    await waitFor(() => expect(kept().earlier).toEqual([]));
    element.remove();
    const again = await place(scenario.token, { orderCode, paymentToken: `pay-${orderCode}` });
    expect(again.payment?.orderCode).toBe(payment?.orderCode);
  });

  it('a receipt is shown although its chunk did not load at first', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'PAID');
    element.remove();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const load = vi.spyOn(Chunks.prototype, 'load').mockRejectedValue(new Error('offline'));
    const again = await place(scenario.token);
    await waitFor(() => expect(again.connection).toBe('reconnecting'));
    await vi.advanceTimersByTimeAsync(5_000);
    await waitFor(() => expect(again.connection).toBe('reconnecting'));
    load.mockRestore();
    await vi.advanceTimersByTimeAsync(5_000);
    await waitFor(() => expect(again.shadowRoot?.querySelector('.facts')).not.toBeNull());
    expect([again.phase, again.connection]).toEqual(['paid', 'idle']);
  });

  it('refresh() after an error follows the payment again', async () => {
    const { element } = await checkout();
    const live = connectionChange(element, 'live');
    await element.start();
    await live;
    const failed = event(element, 'psa-error');
    await act(element, { drop: 4403 });
    await failed;
    const again = connectionChange(element, 'live');
    await element.refresh();
    await again;
    await change(element, 'PAID');
  });
});

describe('removed and moved elements', () => {
  it('an element that is moved in the document at any moment resumes', async () => {
    const { element, scenario } = await checkout();
    const place = () => {
      const parent = document.createElement('div');
      document.body.append(parent);
      parent.append(element);
    };
    const held = holdNext('mutation');
    const started = element.start();
    place();
    await held.asked;
    place();
    held.letGo();
    await started;
    place();
    place();
    await waitFor(() => expect(element.connection).toBe('live'));
    await change(element, 'PAID');
    place();
    expect(element.phase).toBe('paid');
    expect(await starts(scenario)).toHaveLength(1);
  });

  it.each([
    ['paid in this tab', false],
    ['that the address names', true],
  ])(
    'an element that waits for its token does not adopt the payment of another product %s',
    async (_, isNamed) => {
      const { element, scenario } = await checkout();
      await element.start();
      await change(element, 'PAID');
      if (isNamed) history.replaceState(null, '', `?psa_order_code=${element.payment?.orderCode}`);
      const { element: other, scenario: second } = await checkout();
      other.remove();
      const late = document.createElement('psa-checkout');
      late.endpoint = `${url}/graphql`;
      const phases: string[] = [];
      late.addEventListener('psa-phase-change', ({ detail }: CustomEventInit) => phases.push(detail.phase));
      document.body.append(late);
      await late.updateComplete;
      late.token = second.token;
      await late.updateComplete;
      expect(phases).toEqual([]);
      expect(scenario.token).not.toBe(second.token);
    },
  );

  it('a page whose address names an unknown payment shows no other one', async () => {
    const { element } = await checkout();
    await element.start();
    await change(element, 'PAID');
    element.remove();
    const thanks = async (address: string) => {
      history.replaceState(null, '', address);
      const late = document.createElement('psa-checkout');
      document.body.append(late);
      await late.updateComplete;
      return late.payment?.orderCode;
    };
    expect(await thanks('?psa_order_code=PSA-9999-NONE')).toBeUndefined();
    expect(await thanks('?psa_payment_id=psa_9999')).toBeUndefined();
    expect(await thanks(`?psa_order_code=${element.payment?.orderCode}`)).toBe(element.payment?.orderCode);
    expect(await thanks('?')).toBe(element.payment?.orderCode);
    // Only sessionStorage has the payment, as if localStorage were denied.
    localStorage.clear();
    expect(await thanks(`?psa_order_code=${element.payment?.orderCode}`)).toBe(element.payment?.orderCode);
  });

  it('a paid payment is not shown as cancelled although the address says so', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'PAID');
    history.replaceState(null, '', `?psa_order_code=${element.payment?.orderCode}&psa_cancelled=1`);
    element.remove();
    const held = holdNext('query');
    const again = await place(scenario.token, { labels: { cancelledHint: 'cancelled', paidHint: 'paid' } });
    await held.asked;
    await again.updateComplete;
    expect(part(again, 'hint')?.textContent?.trim()).toBe('paid');
    held.letGo();
  });

  it('the window of a removed element is not watched', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const opened = fakeWindow();
    const closed = vi.fn(() => false);
    Object.defineProperty(opened, 'closed', { get: closed });
    vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      await element.start();
      closed.mockClear();
      vi.advanceTimersByTime(1_000);
      expect(closed).toHaveBeenCalledTimes(2);
      document.body.append(element);
      vi.advanceTimersByTime(500);
      expect(closed).toHaveBeenCalledTimes(3);
      element.remove();
      vi.advanceTimersByTime(10_000);
      expect(closed).toHaveBeenCalledTimes(4);
    } finally {
      vi.useRealTimers();
    }
  });

  it('openCheckout() opens another window where the first one looks closed', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const [first, second] = [fakeWindow(), fakeWindow()];
    const open = vi.spyOn(window, 'open').mockReturnValueOnce(first as unknown as Window);
    open.mockReturnValueOnce(second as unknown as Window);
    await element.start();
    element.openCheckout();
    expect(first.focus).toHaveBeenCalledOnce();
    expect(open).toHaveBeenCalledOnce();
    const closed = event(element, 'psa-checkout-close');
    first.closed = true;
    await closed;
    expect(element.phase).toBe('pending');
    element.openCheckout();
    expect(second.location.replace).toHaveBeenCalledWith(`${element.payment?.checkoutUrl}?lang=pt-BR`);
  });
});
