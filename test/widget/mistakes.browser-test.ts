import { expect, it, onTestFinished, vi } from 'vitest';
import '../../widget/src/define.ts';
import '../../widget/src/payouts/define.ts';
import type { PsaPayouts } from '../../widget/src/payouts/psa-payouts.ts';
import type { PsaCheckout } from '../../widget/src/psa-checkout.ts';
import { checkout, eachOnAFreshPage, failure, part, place, url } from './component.ts';
import { waitFor } from './patience.ts';

eachOnAFreshPage();

/** Collects the later output of the console. */
function listen() {
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return {
    /** Waits for an explanation, and returns how often it was printed. */
    async times(text: string): Promise<number> {
      const count = () => error.mock.calls.filter(([line]) => String(line).includes(text)).length;
      await waitFor(() => expect(count()).toBeGreaterThan(0));
      return count();
    },
    all: () => error.mock.calls,
  };
}

/** Clicks, waits for the error, and expects the payer to read the usual text. */
async function refused(element: PsaCheckout, code: string): Promise<void> {
  await element.start();
  await element.updateComplete;
  expect(element.error?.code).toBe(code);
  expect(part(element, 'hint')?.textContent).toMatch(/Fale com a loja|Algo falhou|Não conseguimos/);
}

it.each(['ps_live_', 'ps_test_', '\tps_live_', 'Bearer ps_test_', '\n ps_live_'])(
  'a secret key that begins with %s is sent nowhere and explained',
  async (prefix) => {
    const console = listen();
    const requests = vi.spyOn(window, 'fetch');
    const element = await place(`${prefix}0123456789abcdef`, { methods: 'pix card' });
    expect(element.token).toBeUndefined();
    await refused(element, 'not_configured');
    element.token = `${prefix}0123456789abcdef`;
    await element.retry();
    expect(element.token).toBeUndefined();
    await element.updateComplete;
    expect(JSON.stringify(requests.mock.calls)).not.toContain('456789abcdef');
    expect(JSON.stringify(sessionStorage)).not.toContain('456789abcdef');
    if (prefix === 'ps_live_') expect(await console.times('secret API key')).toBe(1);
    // Both prefixes are one mistake of this page, and the missing token is no second one.
    expect(console.all().filter(([text]) => String(text).includes('no token'))).toEqual([]);
  },
);

it('a secret key in place of a payment’s token is sent nowhere', async () => {
  listen();
  const requests = vi.spyOn(window, 'fetch');
  const element = await place('', {
    token: undefined,
    orderCode: 'PSC-1',
    paymentToken: 'ps_live_0123456789abcdef',
  });
  expect([element.paymentToken, element.connection]).toEqual([undefined, 'idle']);
  expect(requests).not.toHaveBeenCalled();
});

it.each([
  ['no token', { token: undefined }, 'it has no token'],
  ['no endpoint', { endpoint: undefined }, 'it has no endpoint'],
  ['an endpoint that is no address', { endpoint: 'http://' }, 'is not an address'],
])('%s is explained once', async (_, attributes, text) => {
  const console = listen();
  for (const element of [await place('ps_checkout_1', attributes), await place('ps_checkout_1', attributes)])
    await refused(element, 'not_configured');
  expect(await console.times(text)).toBe(1);
});

it('an address that is no GraphQL endpoint is explained once', async () => {
  const console = listen();
  vi.spyOn(window, 'fetch').mockImplementation(async () => new Response('<!doctype html>', { status: 404 }));
  const element = await place('ps_checkout_1', { endpoint: `${url}/page` });
  for (let click = 0; click < 2; click += 1) {
    await refused(element, 'protocol');
    element.reset();
  }
  expect(await console.times('is not a GraphQL endpoint: it answered with HTTP 404')).toBe(1);
});

it('a server that does not let the page read its answers is explained once', async () => {
  const console = listen();
  // The browser sends a request without CORS to the server, and hides its answer.
  vi.spyOn(window, 'fetch').mockImplementation(async (_, init) => {
    if (init?.mode === 'no-cors') return Response.error();
    throw new TypeError('Failed to fetch');
  });
  const element = await place('ps_checkout_1', { endpoint: 'https://shop.example/' });
  await refused(element, 'network');
  expect(await console.times('(CORS)')).toBe(1);
});

it('a token of another origin is explained once', async () => {
  const console = listen();
  const message = 'This token may not be used on this page';
  const { element } = await checkout({ start: { errors: [{ ...failure('FORBIDDEN'), message }] } });
  await refused(element, 'unauthorized');
  expect(await console.times('allowedOrigins')).toBe(1);
});

it('a token that the server does not know, or that was revoked, is explained once, before a click', async () => {
  const console = listen();
  const refusal = { errors: [{ ...failure('UNAUTHENTICATED'), message: 'Invalid or revoked token' }] };
  vi.spyOn(window, 'fetch').mockImplementation(async () => Response.json(refusal));
  const element = await place('ps_checkout_revoked');
  expect(await console.times('does not know its token, or the token was revoked')).toBe(1);
  await place('ps_checkout_revoked');
  await refused(element, 'unauthorized');
  expect(console.all()).toHaveLength(1);
  expect(String(console.all()[0]?.[0])).toMatch(/set the attribute token[\s\S]*#mistakes$/);
});

it('methods that the token does not take are explained once, and those of another spelling or of none are not', async () => {
  const console = listen();
  for (const methods of ['PIX', undefined, 'pix card'])
    await checkout({ methods: ['PIX'] }, methods === undefined ? {} : { methods });
  for (let element = 0; element < 2; element += 1) {
    const { element: wrong } = await checkout({ methods: ['PIX'] });
    wrong.setAttribute('methods', 'card');
  }
  expect(await console.times('its methods are “card”, and its token takes “pix”')).toBe(1);
  expect(console.all()).toHaveLength(1);
});

it.each([
  ['choose an amount from 100 to 500', undefined, 'it has no amount-cents'],
  ['must lie from 100 to 500', 600, 'does not take its amount-cents, 600'],
])('an amount that the server refuses with “%s” is explained once', async (says, amountCents, text) => {
  const console = listen();
  const result = {
    __typename: 'ValidationError',
    code: 'BAD_USER_INPUT',
    message: `input.amountCents: ${says}`,
  };
  for (let element = 0; element < 2; element += 1) {
    const { element: wrong } = await checkout({ start: { result } }, { amountCents });
    await refused(wrong, 'invalid_input');
  }
  expect(await console.times(text)).toBe(1);
  expect(String(console.all()[0]?.[0])).toContain('100 to 500');
  expect(console.all()).toHaveLength(1);
});

it('an error that the page has not made is not explained', async () => {
  const console = listen();
  const loaded = await import('../../widget/src/explain.ts');
  const element = await place('ps_checkout_1');
  const errors = [
    { code: 'unauthorized', message: 'Invalid API key', retryable: false },
    { code: 'protocol', message: 'HTTP 429', retryable: true },
    { code: 'not_configured', message: 'the account takes no cards', retryable: false },
  ] as const;
  for (const error of errors) await loaded.explain(element, error);
  vi.spyOn(window, 'fetch').mockRejectedValue(new TypeError('Failed to fetch'));
  const online = vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
  const explainNetwork = async () => {
    vi.useFakeTimers();
    const explained = loaded.explain(element, {
      code: 'network',
      message: 'Failed to fetch',
      retryable: true,
    });
    await vi.runAllTimersAsync();
    await explained;
    vi.useRealTimers();
  };
  await explainNetwork();
  expect(console.all()).toEqual([]);
  // On a device with a network this failure means a wrong address, or a server that does not run.
  online.mockReturnValue(true);
  await explainNetwork();
  expect(await console.times(`${url}/graphql cannot be reached.`)).toBe(1);
});

it('an explanation ends with the address of its chapter', async () => {
  const console = listen();
  const { explain } = await import('../../widget/src/explain.ts');
  await explain(await place('ps_checkout_1'), { code: 'protocol', message: 'HTTP 404', retryable: false });
  const chapter = 'https://github.com/psa/psa/blob/main/widget/docs/psa-checkout.md#mistakes';
  expect(await console.times(chapter)).toBe(1);
});

// ── <psa-payouts> ───────────────────────────────────────────────────────────────────────────────

const SECRET = ' ps_live_0123456789abcdef';

async function placePayouts(properties: Partial<PsaPayouts>): Promise<PsaPayouts> {
  const element = document.createElement('psa-payouts');
  onTestFinished(() => element.remove());
  Object.assign(element, { endpoint: `${url}/graphql`, ...properties });
  document.body.append(element);
  await element.updateComplete;
  return element;
}

it('a secret key in the token of <psa-payouts> is sent nowhere and explained once', async () => {
  const console = listen();
  const requests = vi.spyOn(window, 'fetch');
  const element = await placePayouts({ token: SECRET });
  expect([element.token, element.phase]).toEqual([undefined, 'idle']);
  element.token = SECRET;
  element.retry();
  await element.updateComplete;
  expect([element.token, element.phase]).toEqual([undefined, 'idle']);
  expect(requests).not.toHaveBeenCalled();
  expect(await console.times('<psa-payouts>: its token is a secret API key')).toBe(1);
});

it('a secret key that the page gives <psa-payouts> later is sent nowhere', async () => {
  listen();
  const refusal = { errors: [{ message: 'expired', extensions: { code: 'UNAUTHENTICATED' } }] };
  const requests = vi.spyOn(window, 'fetch').mockImplementation(async () => Response.json(refusal));
  const renewed = await placePayouts({ renewToken: async () => SECRET });
  await waitFor(() => expect(renewed.phase).toBe('error'));
  expect([renewed.token, renewed.error?.code]).toEqual([undefined, 'network']);
  expect(JSON.stringify(requests.mock.calls)).not.toMatch(/authorization/i);

  const expired = await placePayouts({ token: 'ps_dash_1', renewToken: async () => SECRET });
  await waitFor(() => expect(expired.phase).toBe('error'));
  const replaced = await placePayouts({});
  replaced.addEventListener('psa-token-expired', () => {
    replaced.token = SECRET;
  });
  replaced.token = 'ps_dash_2';
  await waitFor(() => expect([replaced.token, replaced.phase]).toEqual([undefined, 'idle']));
  const sent = JSON.stringify(requests.mock.calls);
  expect([sent.includes('ps_dash_1'), sent.includes('ps_dash_2'), sent.includes('456789abcdef')]).toEqual([
    true,
    true,
    false,
  ]);
});

it('what <psa-payouts> lacks is explained once, and not while the page may still set it', async () => {
  const console = listen();
  vi.spyOn(window, 'fetch').mockImplementation(() => new Promise(() => undefined));
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const late = await placePayouts({});
  await placePayouts({ renewToken: () => new Promise(() => undefined) });
  await placePayouts({ endpoint: undefined, token: 'ps_dash_1' });
  (await placePayouts({})).remove();
  vi.advanceTimersByTime(2_999);
  late.token = 'ps_dash_1';
  await late.updateComplete;
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  expect(await console.times('<psa-payouts>: it has no endpoint')).toBe(1);
  expect(console.all()).toHaveLength(1);

  vi.useFakeTimers({ toFake: ['setTimeout'] });
  for (let element = 0; element < 2; element += 1) await placePayouts({});
  vi.advanceTimersByTime(3_000);
  vi.useRealTimers();
  expect(await console.times('<psa-payouts>: it has no token')).toBe(1);
});

it.each([
  [
    'an address that is no GraphQL endpoint',
    async () => new Response('<!doctype html>', { status: 404 }),
    'is not a GraphQL endpoint: it answered with HTTP 404',
  ],
  [
    'a token of another origin',
    async () =>
      Response.json({
        errors: [{ message: 'This token may not be used on this page', extensions: { code: 'FORBIDDEN' } }],
      }),
    'allowedOrigins',
  ],
  [
    'a token that was revoked',
    async () =>
      Response.json({
        errors: [{ message: 'Invalid or revoked token', extensions: { code: 'UNAUTHENTICATED' } }],
      }),
    'does not know its token, or the token was revoked',
  ],
  [
    'a server that does not let the page read its answers',
    async (_: unknown, init?: RequestInit) => {
      if (init?.mode === 'no-cors') return Response.error();
      throw new TypeError('Failed to fetch');
    },
    '(CORS)',
  ],
])('%s is explained once to the page of <psa-payouts>', async (_, answer, text) => {
  const console = listen();
  vi.spyOn(window, 'fetch').mockImplementation(answer);
  for (let element = 0; element < 2; element += 1) {
    const { shadowRoot } = await placePayouts({ endpoint: 'https://shop.example/', token: 'ps_dash_1' });
    await waitFor(() => expect(shadowRoot?.querySelector('[part=error]')).not.toBeNull());
  }
  expect(await console.times(text)).toBe(1);
  expect(console.all()).toEqual([[expect.stringMatching(/^<psa-payouts>: /), expect.anything()]]);
});
