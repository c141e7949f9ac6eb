import { expect, inject, it, onTestFinished, vi } from 'vitest';
import '../../widget/src/define.ts';
import '../../widget/src/payouts/define.ts';
import type { PsaPayouts } from '../../widget/src/payouts/psa-payouts.ts';
import {
  change,
  checkout,
  eachOnAFreshPage,
  event,
  part,
  place,
  translate,
  untranslated,
} from './component.ts';
import { waitFor } from './patience.ts';

eachOnAFreshPage();

const TITLES = {
  PENDING: 'Aguardando o pagamento',
  EXPIRED: 'O prazo para pagar terminou',
  PAID: 'Pagamento confirmado',
  REFUNDED: 'Pagamento estornado',
  FAILED: /^O (pagamento não foi aprovado|banco não gerou o código)$/,
};

it.each([
  ['card', ['EXPIRED', 'PAID']],
  ['card', ['FAILED']],
  ['pix', ['EXPIRED', 'REFUNDED']],
  ['pix', ['PAID']],
] as const)('a translated page says of a payment by %s what it is, through %j', async (methods, statuses) => {
  // The remaining time is shown in minutes.
  const { element, scenario } = await checkout(
    { expiresInSeconds: 1_830, methods: ['PIX', 'CARD'], start: { status: 503, times: 1 } },
    { methods: `${methods} ${methods === 'pix' ? 'card' : 'pix'}` },
  );
  const creating = event(element, 'psa-phase-change', ({ detail }) => detail.phase === 'creating');
  translate(element);
  const refused = element.start(methods);
  await creating;
  await element.updateComplete;
  expect(untranslated(part(element, 'status'))).toBe('Preparando o pagamento…');
  translate(element);
  await refused;
  await element.updateComplete;
  expect([element.phase, untranslated(part(element, 'status'))]).toEqual([
    'error',
    'Não foi possível continuar',
  ]);
  expect(untranslated(part(element, 'hint'))).toBe('Algo falhou do nosso lado. Tente de novo em instantes.');

  translate(element);
  await element.retry();
  const { payment } = element;
  const orderCode = payment?.__typename === 'Payment' ? payment.paymentId : payment?.orderCode;
  const twin = await place(scenario.token, {
    methods: element.methods,
    orderCode,
    paymentToken: `pay-${orderCode}`,
  });
  // The twin's remaining time is from an answer, too.
  await twin.refresh();
  for (const status of ['PENDING', ...statuses] as const) {
    if (status !== 'PENDING') await change(element, status);
    await waitFor(() => expect(part(twin, 'status')?.textContent).toMatch(TITLES[status]));
    await element.updateComplete;
    expect(untranslated(part(element, 'status'))).toMatch(TITLES[status]);
    expect(untranslated(element.shadowRoot)).toBe(untranslated(twin.shadowRoot));
    translate(element);
  }
  element.locale = 'en';
  await waitFor(() => expect(untranslated(part(element, 'status'))).not.toMatch(TITLES[statuses.at(-1)!]));
});

it('a translated button says that the code was copied, and loses it in no language', async () => {
  const { element } = await checkout({}, { methods: 'pix' });
  await element.start();
  await element.updateComplete;
  vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
  translate(element);
  part(element, 'copy-button')?.click();
  await waitFor(() => expect(untranslated(part(element, 'copy-button'))).toBe('Copiado'));
  expect(untranslated(part(element, 'pix'))).toContain('Agora abra o app do banco');
});

it('a translated table says of each payout what it is', async () => {
  const url = inject('fakePayoutsUrl');
  // A headless browser has its pointer in the corner, and rows under a pointer do not move.
  document.body.style.padding = '3rem';
  const post = async (path: string, body: object) =>
    (await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) })).json();
  const { token } = await post('/world', { count: 3 });
  const open = async (): Promise<PsaPayouts> => {
    const element = document.createElement('psa-payouts');
    onTestFinished(() => element.remove());
    Object.assign(element, { endpoint: `${url}/graphql`, token });
    document.body.append(element);
    await waitFor(() => expect([element.phase, element.connection]).toEqual(['ready', 'live']));
    return element;
  };
  const [element, twin] = [await open(), await open()];
  const announcement = () => element.shadowRoot?.querySelector('[data-announcement]');
  const words = ({ shadowRoot }: PsaPayouts) =>
    [...shadowRoot!.querySelectorAll('.toolbar, .notice, .scroller, .footer')].map(untranslated).join(' ');
  for (const [status, said] of [
    ['PROCESSING', 'Em processamento'],
    ['COMPLETED', 'Concluído'],
    ['RETURNED', 'Devolvido'],
  ] as const) {
    translate(element);
    await post('/act', {
      token,
      change: { number: 3, values: { status, amountCents: 1_000 + status.length } },
    });
    await waitFor(() =>
      expect([element.payouts[0]?.status, twin.payouts[0]?.status]).toEqual([status, status]),
    );
    // The rows are drawn once a frame.
    await waitFor(() => {
      expect(untranslated(element.shadowRoot?.querySelector('[part=status]'))).toBe(said);
      expect(words(element)).toBe(words(twin));
    });
    await waitFor(() => expect(untranslated(announcement())).toContain(said.toLowerCase()));
  }
  translate(element);
  await post('/act', { token, add: {} });
  await waitFor(() => expect([element.payouts.length, twin.payouts.length]).toEqual([4, 4]));
  await waitFor(() => expect(words(element)).toBe(words(twin)));
  translate(element);
  for (const each of [element, twin]) each.statuses = 'DENIED';
  await waitFor(() => {
    expect(words(element)).not.toContain('4 saques');
    expect(words(element)).toBe(words(twin));
  });
});
