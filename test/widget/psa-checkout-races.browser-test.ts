import { describe, expect, it, vi } from 'vitest';
import '../../widget/src/define.ts';
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
  told,
  url,
} from './component.ts';
import { waitFor } from './patience.ts';

// What comes at the wrong moment: two calls at once, answers that nobody waits for any more, a page that changes its mind.
eachOnAFreshPage();

/** Holds back the next request of this kind until it is let go. */
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
  (await told(scenario as never)).starts.map(({ attemptId }) => attemptId);

describe('starting', () => {
  it('begins anew in the very moment in which it was reset', async () => {
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

  it('is tried again by a page that does so as soon as it hears of the error', async () => {
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

  it('happens once for a page that calls start() while it is told of the start', async () => {
    const { element, scenario } = await checkout();
    element.addEventListener('psa-phase-change', () => void element.start());
    await element.start();
    expect(await starts(scenario)).toHaveLength(1);
  });

  it('is remembered though it came before the element was first drawn', async () => {
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

  it('takes the token that was set just before, and not the other’s attempt', async () => {
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

  it('ends under its own token where the page has meanwhile set another', async () => {
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

  it('does not happen to a disabled one', async () => {
    const { element, scenario } = await checkout({}, { disabled: true });
    await element.start();
    part(element, 'button')?.click();
    expect(element.phase).toBe('idle');
    expect(await starts(scenario)).toHaveLength(0);
  });

  it('makes another attempt after an error where the page has changed the amount', async () => {
    const { element, scenario } = await checkout({ start: { status: 503, times: 1 } }, { amountCents: 1000 });
    await element.start();
    element.amountCents = 2000;
    await element.retry();
    const [first, second] = await starts(scenario);
    expect(second).toBe(`${first}.2`);
  });
});

describe('a late answer', () => {
  it('about the payment before does not touch this one', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'EXPIRED');
    const old = element.payment?.orderCode;
    const held = holdNext('query');
    const asked = element.refresh();
    await held.asked;
    await element.retry();
    expect(element.payment?.orderCode).not.toBe(old);
    const { reads } = await told(scenario);
    // The question about the old one is no reason not to ask about this one.
    await element.refresh();
    expect((await told(scenario)).reads).toBe(reads + 1);
    held.letGo();
    await asked;
    expect(element.phase).toBe('pending');
    expect(element.payment?.orderCode).not.toBe(old);
  });

  it('does not bring a payment back that was put back', async () => {
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

  it('is asked for once, however many ask', async () => {
    const { element, scenario } = await checkout({}, { transport: 'ws' });
    await element.start();
    const { reads } = await told(scenario);
    await Promise.all([element.refresh(), element.refresh(), element.refresh()]);
    expect((await told(scenario)).reads).toBe(reads + 1);
  });
});

describe('a page that resets at once', () => {
  it.each(['psa-phase-change', 'psa-status-change', 'psa-paid'])(
    'when it hears %s gets its button back',
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

  it('while the payment is open closes its window', async () => {
    const { element } = await checkout({}, { mode: 'popup' });
    const opened = fakeWindow();
    vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
    await element.start();
    element.reset();
    expect(opened.close).toHaveBeenCalledOnce();
  });

  it('when the payment is made closes its window', async () => {
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

describe('the end of a token', () => {
  it('of the payment’s is mended by a click: the same attempt gives another', async () => {
    const { element, scenario } = await checkout();
    const live = connection_(element, 'live');
    await element.start();
    await live;
    const { orderCode } = element.payment ?? {};
    const failed = event(element, 'psa-error');
    await act(element, { endToken: true, drop: 4403 });
    expect((await failed).detail).toMatchObject({ code: 'unauthorized', retryable: true });
    await element.updateComplete;
    part(element, 'retry-button')?.click();
    await connection_(element, 'live');
    expect(element.payment?.orderCode).toBe(orderCode);
    const [first, second] = await starts(scenario);
    expect(second).toBe(first);
    await change(element, 'PAID');
  });

  it('is final where the page has nothing to start with, and mended by another payment-token', async () => {
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

  it('is final where the page has come by another checkout token, which would start another payment', async () => {
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

  it('of the shop’s ends in an error that no click can mend', async () => {
    const { element } = await checkout();
    element.token = 'psa_ct_that_has_ended_long_ago';
    const failed = event(element, 'psa-error');
    await element.start();
    expect((await failed).detail).toMatchObject({ code: 'unauthorized', retryable: false });
  });
});

describe('the connection', () => {
  it('is let go when the page goes into the back/forward cache, and taken up when it comes out', async () => {
    const { element, scenario } = await checkout();
    const live = connection_(element, 'live');
    await element.start();
    await live;
    const idle = connection_(element, 'idle');
    dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }));
    await idle;
    const again = connection_(element, 'live');
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
    await again;
    expect((await told(scenario)).subscriptions).toHaveLength(2);
  });

  it('is opened once by a page that has just been loaded', async () => {
    const { element, scenario } = await checkout();
    const live = connection_(element, 'live');
    await element.start();
    dispatchEvent(new PageTransitionEvent('pageshow'));
    await live;
    const { subscriptions, reads } = await told(scenario);
    expect(subscriptions).toHaveLength(1);
    expect(reads).toBe(0);
  });

  it('is asked over again when the page comes into sight, and opened anew when the network is back', async () => {
    const { element, scenario } = await checkout();
    const live = connection_(element, 'live');
    await element.start();
    await live;
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    await waitFor(async () => expect((await told(scenario)).reads).toBe(1));
    const again = connection_(element, 'live');
    dispatchEvent(new Event('online'));
    await again;
    expect((await told(scenario)).subscriptions).toHaveLength(2);
  });

  it('leaves nothing behind: an element taken away asks no more', async () => {
    const { element, scenario } = await checkout();
    const live = connection_(element, 'live');
    await element.start();
    await live;
    element.remove();
    expect(element.connection).toBe('idle');
    const before = await told(scenario);
    const fetched = vi.spyOn(window, 'fetch');
    for (const type of ['online', 'pageshow', 'visibilitychange', 'offline']) dispatchEvent(new Event(type));
    // What it would ask, it would ask before this one.
    expect(await told(scenario)).toEqual(before);
    expect(fetched).toHaveBeenCalledOnce();
  });

  it('that was refused is not tried again because the element is moved', async () => {
    const { element, scenario } = await checkout();
    const live = connection_(element, 'live');
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
    expect((await told(scenario)).subscriptions).toHaveLength(1);
  });

  it('goes on over polling though a proxy answers with a page of its own', async () => {
    const { element } = await checkout({}, { transport: 'poll' });
    const real = window.fetch;
    let pages = 0;
    vi.spyOn(window, 'fetch').mockImplementation(async (input, init) => {
      if (!String(init?.body).includes('"query ') || pages++ > 0) return real(input, init);
      return new Response('<h1>404</h1>', { status: 404 });
    });
    const polling = connection_(element, 'polling');
    await element.start();
    await polling;
    expect(element.phase).toBe('pending');
  });

  it('takes every way where the page names none', async () => {
    const { element } = await checkout();
    element.setAttribute('transport', 'sse');
    element.removeAttribute('transport');
    const live = connection_(element, 'live');
    await element.start();
    expect((await live).detail.transport).toBe('ws');
  });
});

describe('moving about', () => {
  it('goes on where it stood when it is moved in the document, at any moment', async () => {
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

  it('does not take another product’s payment while its token is still to come', async () => {
    const { element, scenario } = await checkout();
    await element.start();
    await change(element, 'PAID');
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
  });

  it('shows no other payment on a page whose address names one that is not known here', async () => {
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
    expect(await thanks(`?psa_order_code=${element.payment?.orderCode}`)).toBe(element.payment?.orderCode);
    expect(await thanks('?')).toBe(element.payment?.orderCode);
    // Only this tab's storage has it, for the other is denied.
    localStorage.clear();
    expect(await thanks(`?psa_order_code=${element.payment?.orderCode}`)).toBe(element.payment?.orderCode);
  });

  it('does not call a paid payment cancelled because the address still does', async () => {
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

  it('does not watch the window of an element that was taken away', async () => {
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

  it('opens another window where the first looks closed, as one with an opener policy does', async () => {
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
    expect(second.location.replace).toHaveBeenCalledWith(element.payment?.checkoutUrl);
  });
});
