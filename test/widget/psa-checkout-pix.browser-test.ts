import axe from 'axe-core';
import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import code from '../../widget/demo/gallery/pix-code.json' with { type: 'json' };
import '../../widget/src/define.ts';
import type { Payment, PsaCheckout } from '../../widget/src/psa-checkout.ts';
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
  settledLook,
  url,
} from './component.ts';
import type { Scenario } from './fake-server.ts';
import { waitFor } from './patience.ts';

eachOnAFreshPage();
afterEach(() => vi.useRealTimers());

const BOTH = { methods: 'pix card' };

const pixCheckout = (scenario: Partial<Scenario> = {}, attributes: object = {}) =>
  checkout(scenario, { ...BOTH, ...attributes });

/** Starts a PIX and waits until its code is shown. */
async function open(scenario: Partial<Scenario> = {}, attributes: object = {}) {
  const opened = await pixCheckout(scenario, attributes);
  await opened.element.start('pix');
  await waitFor(() => expect(part(opened.element, 'pix')).not.toBeNull());
  return opened;
}

const buttons = ({ shadowRoot }: PsaCheckout) => [
  ...(shadowRoot?.querySelectorAll<HTMLButtonElement>('[part=button]') ?? []),
];
const offered = (element: PsaCheckout) =>
  buttons(element).map(({ textContent, value }) => [value, textContent?.trim()]);
const buttonOf = (element: PsaCheckout, method: string) =>
  buttons(element).find(({ value }) => value === method)!;
const paymentIdOf = ({ payment }: PsaCheckout) => (payment as Payment).paymentId;
const field = (element: PsaCheckout) => part(element, 'code') as HTMLTextAreaElement;
const said = ({ shadowRoot }: PsaCheckout) =>
  [...(shadowRoot?.querySelectorAll('[role=status]') ?? [])]
    .map(({ textContent }) => textContent?.trim())
    .join('|');
const hint = (element: PsaCheckout) => part(element, 'hint')?.textContent?.replace(/\s+/g, ' ') ?? '';

function methodChanges(element: PsaCheckout): string[] {
  const methods: string[] = [];
  element.addEventListener('psa-method-change', ({ detail }) => methods.push(detail.method));
  return methods;
}

describe('the methods', () => {
  it.each([
    [
      'pix card',
      ['PIX', 'CARD'],
      [
        ['pix', 'Pagar com PIX'],
        ['card', 'Cartão'],
      ],
    ],
    [
      'card pix',
      ['PIX', 'CARD'],
      [
        ['card', 'Pagar com cartão'],
        ['pix', 'PIX'],
      ],
    ],
    ['pix card', ['CARD'], [['card', 'Pagar com cartão']]],
    ['pix card', ['PIX'], [['pix', 'Pagar com PIX']]],
    ['pix', ['PIX', 'CARD'], [['pix', 'Pagar com PIX']]],
    [
      'pix card',
      null,
      [
        ['pix', 'Pagar com PIX'],
        ['card', 'Cartão'],
      ],
    ],
    [
      'pix card',
      'lost',
      [
        ['pix', 'Pagar com PIX'],
        ['card', 'Cartão'],
      ],
    ],
  ] as [string, Scenario['methods'], string[][]][])(
    'methods="%s" with a token of %s',
    async (named, methods, expected) => {
      const asked = vi.spyOn(globalThis, 'fetch');
      const { element } = await checkout({ methods }, { methods: named });
      // The page has no label of its own.
      element.replaceChildren();
      await Promise.allSettled(asked.mock.results.map(({ value }) => value));
      await waitFor(() => expect(offered(element)).toEqual(expected));
    },
  );

  it.each([null, undefined, ''])('methods that are %j offer the card', async (methods) => {
    const { element } = await checkout({}, { methods });
    expect(buttons(element).map(({ value }) => value)).toEqual(['card']);
  });

  it('the label of the page is that of a lone button, and the name of a group of two', async () => {
    const { element } = await checkout({}, { methods: 'pix' });
    expect(part(element, 'label')?.querySelector('slot')).not.toBeNull();
    const { element: both } = await pixCheckout();
    const { violations } = await axe.run(both, { runOnly: ['aria-allowed-role', 'button-name'] });
    expect(violations).toEqual([]);
    expect(part(both, 'methods')?.getAttribute('aria-labelledby')).toBe('label');
    expect(both.shadowRoot?.querySelector('#label slot')).not.toBeNull();
  });

  it.each([
    ['PIX', ['PIX'], 'pix'],
    ['Card PIX', ['PIX'], 'pix'],
    [undefined, ['PIX'], 'pix'],
    [undefined, ['CARD', 'PIX'], 'card'],
    ['pix', ['CARD'], 'card'],
    ['boleto', ['PIX'], 'pix'],
    ['card', ['PIX', 'LTC'], 'pix'],
  ])('methods="%s" with a token of %j pays by %s', async (methods, taken, method) => {
    const attributes = methods === undefined ? {} : { methods };
    const { element, scenario } = await checkout({ methods: taken }, attributes);
    await waitFor(() => expect(buttons(element).map(({ value }) => value)).toEqual([method]));
    await element.start();
    expect([element.phase, element.method]).toEqual(['pending', method]);
    const [start] = (await readScenario(scenario)).starts;
    expect(start?.method ?? 'card').toBe(method);
  });

  it('a new token is asked for its own methods', async () => {
    const { scenario: other } = await checkout({ methods: ['PIX'] });
    const { element } = await pixCheckout({ methods: ['CARD'] });
    await waitFor(() => expect(buttons(element).map(({ value }) => value)).toEqual(['card']));
    element.token = other.token;
    await waitFor(() => expect(buttons(element).map(({ value }) => value)).toEqual(['pix']));
  });

  it.each(['PAYMENTS_NOT_CONFIGURED', 'NOT_OFFERED'])(
    'a PIX refused with %s is not configured',
    async (refused) => {
      const { element } = await pixCheckout({ start: { result: { code: refused, message: 'no' } } });
      await element.start();
      expect(element.error?.code).toBe('not_configured');
    },
  );
});

describe('a PIX', () => {
  it('is paid in the page, with its code and its QR code', async () => {
    const openWindow = vi.spyOn(window, 'open');
    const { element, scenario } = await pixCheckout({}, { mode: 'popup' });
    const changes = methodChanges(element);
    const created = event(element, 'psa-created');
    buttonOf(element, 'pix').click();
    const { payment, method } = (await created).detail;
    expect([payment.__typename, method]).toEqual(['Payment', 'pix']);
    await waitFor(() => expect(part(element, 'qr')).not.toBeNull());
    expect(openWindow).not.toHaveBeenCalled();
    expect(changes).toEqual(['pix']);
    expect(element.matches(':state(pix):state(pending)')).toBe(true);
    expect((await readScenario(scenario)).starts).toMatchObject([{ method: 'pix' }]);
    const qr = part(element, 'qr') as unknown as SVGSVGElement;
    expect(qr.getAttribute('role')).toBe('img');
    expect(qr.getAttribute('aria-label')?.replace(/\s/g, ' ')).toBe('QR code do PIX: R$ 49,90 para Varanda');
    expect(qr.querySelector('path')?.getAttribute('d')).toBe(code.qr.path);
    expect(qr.getAttribute('viewBox')).toBe(`-4 -4 ${code.qr.size + 8} ${code.qr.size + 8}`);
    const { inlineSize, backgroundColor, fill, forcedColorAdjust } = getComputedStyle(qr);
    expect([backgroundColor, fill, forcedColorAdjust]).toEqual([
      'rgb(255, 255, 255)',
      'rgb(0, 0, 0)',
      'none',
    ]);
    expect((Number.parseFloat(inlineSize) * code.qr.size) / (code.qr.size + 8)).toBeGreaterThan(200);
    expect(field(element).value).toBe(code.copyPaste);
    expect(field(element).readOnly).toBe(true);
    expect(element.shadowRoot?.textContent).toContain('Varanda');
    expect(part(element, 'link')).toBeNull();
  });

  it('on a phone the code comes first, and the QR code is folded away', async () => {
    const matches = window.matchMedia;
    vi.spyOn(window, 'matchMedia').mockImplementation((query) =>
      query.includes('coarse') ? ({ matches: true } as MediaQueryList) : matches(query),
    );
    const { element } = await open();
    expect(part(element, 'pix')?.firstElementChild?.firstElementChild).toBe(part(element, 'copy-button'));
    expect(part(element, 'qr')?.closest('details')?.open).toBe(false);
    expect(hint(element)).toContain('Copia e Cola');
    expect(hint(element)).not.toContain('QR');
  });

  it.each(['ws', 'sse', 'poll'] as const)('is paid live over %s', async (transport) => {
    const { element } = await pixCheckout({}, { transport });
    const connected = connectionChange(element, transport === 'poll' ? 'polling' : 'live');
    await element.start();
    await connected;
    const paid = event(element, 'psa-paid');
    await act(element, { values: { status: 'PAID', pix: null, paidAt: '2026-03-14T17:42:00.000Z' } });
    expect((await paid).detail).toMatchObject({ method: 'pix', payment: { status: 'PAID', version: 2 } });
    await element.updateComplete;
    expect(part(element, 'status')?.textContent?.trim()).toBe('Pagamento confirmado');
    expect(part(element, 'pix')).toBeNull();
    expect(element.connection).toBe('idle');
  });

  it('is read again as soon as the payer is back from the app of the bank', async () => {
    const { element } = await open({ ws: 'hang', sse: 'hang' });
    await act(element, { silent: true, values: { status: 'PAID', version: 2 } });
    const paid = event(element, 'psa-paid');
    dispatchEvent(new Event('visibilitychange'));
    await paid;
  });

  it('waits for a code that the bank has not given yet', async () => {
    const { element } = await pixCheckout({ withoutCode: true });
    await element.start();
    await waitFor(() => expect(hint(element)).toContain('O banco está gerando o código'));
    expect(part(element, 'copy-button')).toBeNull();
    await act(element, { values: { pix: code } });
    await waitFor(() => expect(field(element)?.value).toBe(code.copyPaste));
    await act(element, { values: { pix: { copyPaste: code.copyPaste, qr: null } } });
    await waitFor(() => expect(part(element, 'qr')).toBeNull());
    expect(part(element, 'copy-button')).not.toBeNull();
  });

  it('its code that is no text is reported as an error', async () => {
    const { element } = await open();
    const failed = event(element, 'psa-error');
    await act(element, { values: { pix: { copyPaste: 7 } } });
    expect((await failed).detail).toMatchObject({ code: 'protocol', retryable: true });
  });

  it('its countdown is spoken at five minutes, at one, and at the end, where the server is asked', async () => {
    const { element, scenario } = await open({ expiresInSeconds: 302 });
    const spoken: string[] = [];
    for (const expiresInSeconds of [301, 300, 61, 60, 1]) {
      await act(element, { silent: true, values: { expiresInSeconds } });
      await element.refresh();
      await element.updateComplete;
      const now = said(element).split('|').at(-1) ?? '';
      if (now !== spoken.at(-1)) spoken.push(now);
    }
    expect(spoken).toEqual(['', 'Menos de 5 minutos para pagar.', 'Menos de 1 minuto para pagar.']);
    const { reads } = await readScenario(scenario);
    await act(element, { silent: true, values: { expiresInSeconds: 0 } });
    await element.refresh();
    await waitFor(async () => expect((await readScenario(scenario)).reads).toBeGreaterThan(reads + 1));
    expect(said(element)).toContain('Conferindo');
  });

  it('tells of money that was sent back, before and after it is paid', async () => {
    const { element } = await open();
    const credit = { amountCents: 5000, returnedAt: null };
    await act(element, { values: { returnedCredits: [credit] } });
    await waitFor(() => expect(said(element)).toMatch(/Recebemos R\$.50,00 e estamos devolvendo\./));
    const returnedCredits = [{ ...credit, returnedAt: '2026-03-14T17:42:00.000Z' }];
    await act(element, { values: { returnedCredits } });
    await waitFor(() => expect(said(element)).toMatch(/Recebemos R\$.50,00 e devolvemos\./));
    await change(element, 'PAID');
    await act(element, {
      silent: true,
      values: { version: 9, returnedCredits: [...returnedCredits, credit] },
    });
    await element.refresh();
    await element.updateComplete;
    expect(element.phase).toBe('paid');
    expect(said(element)).toMatch(/devolvemos.*estamos devolvendo/s);
  });

  it('that has failed says so, and a new code is the next attempt', async () => {
    const { element, scenario } = await open();
    await change(element, 'FAILED');
    expect(part(element, 'status')?.textContent?.trim()).toBe('O banco não gerou o código');
    part(element, 'retry-button')!.click();
    await waitFor(() => expect(element.phase).toBe('pending'));
    const { starts } = await readScenario(scenario);
    expect(starts).toMatchObject([
      { method: 'pix' },
      { attemptId: `${starts[0]?.attemptId}.2`, method: 'pix' },
    ]);
  });

  it('whose start fails is tried again by the same method and attempt', async () => {
    const { element, scenario } = await pixCheckout({
      start: { errors: [failure('INTERNAL_SERVER_ERROR')], times: 1 },
    });
    await element.start('pix');
    expect(element.error?.code).toBe('server');
    await element.retry();
    const { starts } = await readScenario(scenario);
    expect(starts[1]).toMatchObject({ attemptId: starts[0]?.attemptId, method: 'pix' });
  });
});

describe('copying the code', () => {
  it('the button says so for four seconds, and what comes next', async () => {
    const { element } = await open();
    const write = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const copied = event(element, 'psa-pix-copied');
    part(element, 'copy-button')!.click();
    expect((await copied).detail).toMatchObject({ method: 'pix', payment: { __typename: 'Payment' } });
    expect(write).toHaveBeenCalledWith(code.copyPaste);
    await element.updateComplete;
    expect(part(element, 'copy-button')?.textContent?.trim()).toBe('Copiado');
    expect(said(element)).toContain('Agora abra o app do banco');
    vi.advanceTimersByTime(4_000);
    await element.updateComplete;
    expect(part(element, 'copy-button')?.textContent?.trim()).toBe('Copiar código');
  });

  it('without a clipboard the code is selected, and a copy by hand counts', async () => {
    const { element } = await open();
    vi.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(
      new DOMException('denied', 'NotAllowedError'),
    );
    let copies = 0;
    element.addEventListener('psa-pix-copied', () => copies++);
    part(element, 'copy-button')!.click();
    await waitFor(() => expect(said(element)).toContain('O código está selecionado'));
    const { selectionStart, selectionEnd } = field(element);
    expect([selectionStart, selectionEnd]).toEqual([0, code.copyPaste.length]);
    expect(element.shadowRoot?.activeElement).toBe(field(element));
    expect(copies).toBe(0);
    field(element).setSelectionRange(0, 5);
    field(element).dispatchEvent(new Event('copy'));
    expect(copies).toBe(0);
    field(element).select();
    field(element).dispatchEvent(new Event('copy'));
    expect(copies).toBe(1);
    await element.updateComplete;
    expect(said(element)).toContain('Agora abra o app do banco');
  });
});

describe('several payments of one attempt', () => {
  it('an expired code is forgotten, and a payment of it still recognized behind the new one', async () => {
    const { element, scenario } = await open();
    const first = paymentIdOf(element);
    await change(element, 'EXPIRED');
    await act(element, { silent: true, values: { pix: null } });
    await waitFor(() => expect(part(element, 'retry-button')?.textContent).toBe('Gerar novo código'));
    expect(part(element, 'pix')).toBeNull();
    expect(hint(element)).toContain('Se você acabou de pagar, o pagamento ainda é reconhecido aqui');
    await element.retry();
    const { starts } = await readScenario(scenario);
    expect(starts.map(({ attemptId }) => attemptId)).toEqual([
      starts[0]?.attemptId,
      `${starts[0]?.attemptId}.2`,
    ]);
    expect(paymentIdOf(element)).not.toBe(first);
    const paid = event(element, 'psa-paid');
    await act(element, { orderCode: first, values: { status: 'PAID', paidLate: true } });
    expect((await paid).detail.payment.paymentId).toBe(first);
    await element.updateComplete;
    expect(hint(element)).toContain('Confirmado depois do prazo');
  });

  it('the payer may switch to the card and back within the attempt, and the first payment wins', async () => {
    const { element, scenario } = await open({}, { mode: 'popup' });
    const changes = methodChanges(element);
    const opened = fakeWindow();
    vi.spyOn(window, 'open').mockReturnValue(opened as unknown as Window);
    const pix = paymentIdOf(element);
    buttonOf(element, 'card').click();
    await waitFor(() => expect(element.payment?.__typename).toBe('CardPayment'));
    await waitFor(() => expect(opened.location.replace).toHaveBeenCalledTimes(1));
    expect(element.matches(':state(pix)')).toBe(false);
    buttonOf(element, 'pix').click();
    await waitFor(() => expect(element.payment?.__typename).toBe('Payment'));
    expect(paymentIdOf(element)).toBe(pix);
    await element.start('card');
    const { starts } = await readScenario(scenario);
    expect(new Set(starts.map(({ attemptId }) => attemptId)).size).toBe(1);
    expect(changes).toEqual(['card', 'pix', 'card']);

    const paid = event(element, 'psa-paid');
    await act(element, { orderCode: pix, values: { status: 'PAID' } });
    expect((await paid).detail).toMatchObject({ method: 'pix', payment: { paymentId: pix } });
    expect([element.phase, element.method, changes.at(-1)]).toEqual(['paid', 'pix', 'pix']);
    // After a reload the shop's page sees the payment that counts.
    element.remove();
    const again = await place(scenario.token, BOTH);
    await waitFor(() => expect(again.phase).toBe('paid'));
    expect(paymentIdOf(again)).toBe(pix);
  });

  it('after the way back to the buttons both methods still find their payments', async () => {
    const { element, scenario } = await open();
    const pix = paymentIdOf(element);
    element.reset();
    await element.updateComplete;
    expect(offered(element)).toHaveLength(2);
    await element.start('card');
    const { starts } = await readScenario(scenario);
    expect(starts[1]?.attemptId).toBe(starts[0]?.attemptId);
    const paid = event(element, 'psa-paid');
    await act(element, { orderCode: pix, values: { status: 'PAID' } });
    expect((await paid).detail.payment.paymentId).toBe(pix);
  });

  it('a PIX chosen after a cancelled card is found again, although the address names the card', async () => {
    const { element, scenario } = await pixCheckout();
    await element.start('card');
    history.replaceState(null, '', `?psa_order_code=${element.payment?.orderCode}&psa_cancelled=1`);
    await element.start('pix');
    const id = paymentIdOf(element);
    element.remove();
    const again = await place(scenario.token, { methods: 'pix card' });
    await waitFor(() => expect(again.phase).toBe('pending'));
    expect(paymentIdOf(again)).toBe(id);
  });

  it.each([
    ['another method', 'card'],
    ['a new code', 'pix'],
  ] as const)('a refused start of %s does not lose the payment before', async (_, method) => {
    const { element, scenario } = await pixCheckout();
    await element.start('pix');
    const orderCode = paymentIdOf(element);
    if (method === 'pix') await change(element, 'EXPIRED');
    const body = JSON.stringify({ token: scenario.token, start: { status: 503 } });
    await fetch(`${url}/scenario`, { method: 'POST', body });
    await element.start(method);
    expect([element.phase, element.error?.code]).toEqual(['error', 'server']);
    const paid = event(element, 'psa-paid');
    await act(element, { orderCode, values: { status: 'PAID' } });
    expect((await paid).detail.payment.paymentId).toBe(orderCode);
  });

  it('a reload finds the PIX again, and follows it', async () => {
    const { element, scenario } = await open();
    const id = paymentIdOf(element);
    element.remove();
    const again = await place(scenario.token, BOTH);
    await waitFor(() => expect(part(again, 'qr')).not.toBeNull());
    expect([paymentIdOf(again), again.method, again.phase]).toEqual([id, 'pix', 'pending']);
    const paid = event(again, 'psa-paid');
    await act(again, { values: { status: 'PAID' } });
    await paid;
    expect((await readScenario(scenario)).starts).toHaveLength(1);
  });
});

describe('accessibility of a PIX', () => {
  const shown: [string, (element: PsaCheckout) => Promise<unknown>][] = [
    ['both methods', async () => undefined],
    ['pending', (element) => element.start()],
    ['paid', (element) => element.start().then(() => change(element, 'PAID'))],
    ['expired', (element) => element.start().then(() => change(element, 'EXPIRED'))],
    ['failed', (element) => element.start().then(() => change(element, 'FAILED'))],
  ];
  for (const scheme of inject('axeSchemes'))
    it.each(shown)(`axe finds nothing when %s, ${scheme}, at 320 px`, async (_, bring) => {
      document.documentElement.style.colorScheme = scheme;
      document.body.style.background = scheme === 'dark' ? '#0e1014' : '#fff';
      const { element } = await pixCheckout({}, { style: 'max-inline-size: 288px' });
      await bring(element);
      await settledLook(element);
      const { violations } = await axe.run(element, { rules: { region: { enabled: false } } });
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`)).toEqual([]);
      const base = element.shadowRoot?.querySelector('[part~=base]');
      expect(base?.scrollWidth).toBeLessThanOrEqual(element.clientWidth);
    });

  it.each([
    ['en', 'Copy the code', 'Pay by card'],
    ['es', 'Copiar el código', 'Pagar con tarjeta'],
  ])('the texts of a PIX are there in %s', async (locale, copy, card) => {
    const { element } = await open({}, { locale });
    await waitFor(() => expect(part(element, 'copy-button')?.textContent?.trim()).toBe(copy));
    expect(offered(element)).toEqual([['card', card]]);
    element.labels = { copy: 'Now!' };
    await element.updateComplete;
    expect(part(element, 'copy-button')?.textContent?.trim()).toBe('Now!');
  });
});
