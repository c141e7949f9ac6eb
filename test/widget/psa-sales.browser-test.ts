import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import '../../widget/src/sales/define.ts';
import type { RefundRequest } from '../../widget/src/sales/events.ts';
import type { PsaSales } from '../../widget/src/sales/psa-sales.ts';
import { type Deferred, deferred } from '../support/deferred.ts';
import {
  act,
  arrived,
  dialogOf as dialog,
  event,
  openRow as open,
  openWorld,
  part,
  place,
  readWorld,
  shows,
  words,
} from './board.ts';
import type { WorldRequest } from './fake-payouts.ts';
import { refundOf } from './fake-sales.ts';

beforeEach(() => {
  document.documentElement.lang = 'pt-BR';
  // A headless browser has its pointer in the corner, and rows under a pointer do not move.
  document.body.style.padding = '3rem';
});

afterEach(() => {
  for (const element of document.querySelectorAll('psa-sales')) element.remove();
  vi.restoreAllMocks();
  document.documentElement.style.colorScheme = '';
});

describe('the sales', () => {
  it('card payments, payments and charges are in one list, newest first', async () => {
    const { element } = await sales({ saleCount: 4 });
    expect(rows(element)).toEqual([
      'Aguardando Cartão R$ 366,76 Ana 4 ana4@psa.example · Caneca 4 PSC-00000000000000000000000000000004 2 de mar. de 2026 07:35',
      'Estornada LTC R$ 287,57 ana3@psa.example psa_00000000000000000000000000000003 2 de mar. de 2026 07:34',
      'Expirada PIX R$ 208,38 Caneca 2 psc_00000000000000000000000000000002 2 de mar. de 2026 07:33',
      'Paga PIX R$ 129,19 ana1@psa.example Caneca 1 psa_00000000000000000000000000000001 2 de mar. de 2026 07:32',
    ]);
    expect(words(part(element, 'footer'))).toBe('4 vendas');
  });

  it('a sale changes in place, and a partial refund shows without a new version', async () => {
    const { element, world } = await sales({ saleCount: 4 });
    const heard = event(element, 'psa-sale-update');
    await act(world.token, { changeSale: { number: 4, values: { status: 'PAID' } } });
    expect((await heard).detail).toMatchObject({ previous: 'PENDING', sale: { status: 'PAID' } });
    await shows(() => rows(element)[0], expect.stringContaining('Paga Cartão R$ 366,76'));
    await act(world.token, { changeSale: { number: 4, values: { refundedCents: 1_000 }, refund: true } });
    await shows(() => rows(element)[0], expect.stringContaining('R$ 366,76 estorno de R$ 10,00'));
    await act(world.token, { addSale: { description: 'Bule' } });
    await shows(() => rows(element)[0], expect.stringContaining('Bule'));
  });

  it('the totals by status are the server’s, follow, and say where they are not exact', async () => {
    const { element, world } = await sales({ saleCount: 4 });
    const summary = () => words(part(element, 'summary'));
    await shows(
      summary,
      'Aguardando (1) R$ 366,76 Paga (1) R$ 129,19 Expirada (1) R$ 208,38 Estornada (1) R$ 287,57',
    );
    element.statuses = 'PAID';
    await element.updateComplete;
    // Those of the filter before stay where they are, dimmed, until the server answers.
    expect([element.totals, part(element, 'summary')!.matches('.stale')]).toEqual([undefined, true]);
    await shows(summary, 'Paga (1) R$ 129,19');
    expect(part(element, 'summary')!.matches('.stale')).toBe(false);
    expect(element.totals?.groups).toEqual([{ status: 'PAID', count: 1, amountCents: 12_919 }]);
    await openWorld({ token: world.token, isExact: false });
    await act(world.token, { changeSale: { number: 4, values: { status: 'PAID' } } });
    await shows(summary, 'Paga (2) pelo menos R$ 495,95');
    element.token = undefined;
    await shows(summary, undefined);
  });
});

describe('a filter', () => {
  it.each([
    ['ana2@psa.example', { customer: { email: 'ana2@psa.example' } }, 0],
    ['ANA3@psa.example', { customer: { email: 'ANA3@psa.example' } }, 1],
    ['  PEDIDO-1\u200b ', { orderId: 'PEDIDO-1' }, 1],
    ['psc-4', { reference: 'PSC-4' }, 0],
    ['psa_00000000000000000000000000000001', { reference: 'psa_00000000000000000000000000000001' }, 1],
    ['E1234567820260302103012345678901', { reference: 'E1234567820260302103012345678901' }, 0],
  ])('the search asks the server for what %s is', async (text, filter, count) => {
    const { element, world } = await sales({ saleCount: 4 });
    const field = part(element, 'search') as HTMLInputElement;
    const heard = event(element, 'psa-filter-change');
    field.value = text;
    field.dispatchEvent(new Event('change'));
    expect((await heard).detail).toEqual({ statuses: [], filter });
    await shows(() => element.totalCount, count);
    const { queries } = await readWorld(world);
    const asked = queries.findLast(({ name }) => name === 'SalesStart');
    expect(asked?.variables.filter).toEqual(filter);
    // The cross in the field empties it, without a change of the field yet.
    field.value = '';
    field.dispatchEvent(new Event('input'));
    await shows(() => element.totalCount, 4);
  });

  it('the controls ask for methods, days and amount, which the attributes have', async () => {
    const { element } = await sales({ saleCount: 8 });
    part(element, 'filters-button')!.click();
    await shows(() => part(element, 'filters') !== null, true);
    part(element, 'filters')!.querySelector<HTMLInputElement>('[value=LTC]')!.click();
    part(element, 'filters')!.querySelector<HTMLInputElement>('#amountCents')!.value = '287,57';
    part(element, 'apply-button')!.click();
    await shows(() => element.totalCount, 1);
    expect([element.methods, element.amountCents]).toEqual(['LTC', 28_757]);
  });

  it('the export has the filter, in the words of its file', async () => {
    const given = { export: true, statuses: 'PAID REFUNDED', methods: 'CARD', search: 'ana@psa.example' };
    const { element } = await sales({}, given);
    const asked = vi.spyOn(window, 'fetch').mockResolvedValue(new Response('a;b'));
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
    part(element, 'export-button')!.click();
    await shows(
      () => saved.mock.contexts.map((link) => (link as HTMLAnchorElement).download),
      ['vendas.csv'],
    );
    const { pathname, searchParams } = new URL(String(asked.mock.calls.at(-1)![0]));
    expect([pathname, Object.fromEntries(searchParams)]).toEqual([
      '/exports/payments.csv',
      { excel: 'pt-BR', customerEmail: 'ana@psa.example', method: 'card', status: 'paid,refunded' },
    ]);
  });
});

describe('the details', () => {
  it('a row opens its whole sale, which follows, and gives the focus back', async () => {
    const { element, world } = await sales({ saleCount: 7 }, { details: true });
    const opened = event(element, 'psa-sale-select');
    await open(element, 'sale-7');
    expect((await opened).detail.sale.id).toBe('sale-7');
    await shows(() => details(element), expect.stringContaining('Tarifa R$ 0,80'));
    expect(details(element)).toContain(
      'Histórico (Brasília) Criada 2 de mar. de 2026, 07:35 Paga 2 de mar. de 2026, 07:37',
    );
    const at = '2026-03-02T10:40:00.000Z';
    const values = { refundedCents: 1_000, refunds: [refundOf(1_000, at, at)] };
    await act(world.token, { changeSale: { number: 7, values, refund: true } });
    await shows(() => details(element), expect.stringContaining('Estorno de R$ 10,00 concluído'));
    part(element, 'close-button')!.click();
    await shows(() => dialog(element).open, false);
    expect(element.shadowRoot!.activeElement?.getAttribute('data-id')).toBe('sale-7');
  });

  it('the panel has what the page says of the row', async () => {
    const { element } = await sales({ saleCount: 7 }, { details: true });
    const link = Object.assign(document.createElement('a'), { slot: 'details', textContent: 'Página' });
    element.append(link);
    expect(link.checkVisibility()).toBe(false);
    await open(element, 'sale-7');
    await shows(() => link.checkVisibility(), true);
  });

  it('it is read once for a change, and with the totals after a gap', async () => {
    const { element, world } = await sales({ saleCount: 7 }, { details: true });
    await shows(() => element.totals?.groups.length, 5);
    await open(element, 'sale-6');
    await shows(() => details(element), expect.stringContaining('Ainda pode ser estornado R$ 525,14'));
    const asked = async () =>
      (await readWorld(world)).queries.filter(({ name }) => name === 'SaleDetails').length;
    await shows(asked, 1);
    await act(world.token, { changeSale: { number: 6, values: { endToEndId: 'E2E' } } });
    await shows(() => details(element), expect.stringContaining('(E2E) E2E'));
    await shows(asked, 2);
    await act(world.token, { changeSale: { number: 4, values: { status: 'FAILED' } }, silent: true });
    const values = { refundedCents: 1_000, refundableCents: 51_514 };
    await act(world.token, { changeSale: { number: 6, values, refund: true }, silent: true });
    await openWorld({ token: world.token, forgotten: true });
    await act(world.token, { drop: true });
    await shows(() => details(element), expect.stringContaining('Ainda pode ser estornado R$ 515,14'));
    await openWorld({ token: world.token, forgotten: false });
    const failed = () => element.totals?.groups.find(({ status }) => status === 'FAILED')?.count;
    await shows(failed, 2);
  });

  it('a sale whose rest could not be read shows what is known, and is read again', async () => {
    const { element, world } = await sales({ saleCount: 3 }, { details: true });
    await openWorld({ token: world.token, fail: { status: 502, times: 1 }, failOnly: 'SaleDetails' });
    await open(element, 'sale-3');
    await shows(() => details(element), expect.stringContaining('Algo falhou do nosso lado. Tentar de novo'));
    expect(details(element)).toContain('Venda de R$ 287,57');
    dialog(element).querySelector<HTMLElement>('.quiet')!.click();
    await shows(() => details(element), expect.stringContaining('Estorno de R$ 287,57 concluído'));
  });

  it('its steps say what became of money that came, and a failure of the server what it is', async () => {
    const { element, world } = await sales({ saleCount: 7 }, { details: true });
    const [receivedAt, returnedAt] = ['2026-03-02T10:40:00.000Z', '2026-03-02T10:41:00.000Z'];
    const returnedCredits = [
      { amountCents: 100, receivedAt, returnedAt },
      { amountCents: 200, receivedAt, returnedAt: null },
    ];
    // Unannounced: the panel alone reads it, and no reading of it is under way when a reading fails below.
    await act(world.token, {
      changeSale: {
        number: 5,
        values: { failureReason: 'underpaid', returnedCredits },
      },
      silent: true,
    });
    await open(element, 'sale-5');
    await shows(() => details(element), expect.stringContaining('Recusada Valor menor que o da venda'));
    // It is the service’s reason, and no quotation of a bank.
    expect(dialog(element).querySelector('q')).toBeNull();
    expect(details(element)).toContain('R$ 1,00 devolvidos 2 de mar. de 2026, 07:41');
    expect(details(element)).toContain('R$ 2,00 sendo devolvidos');
    // A selection that ends beside the panel leaves it open, and a press beside it does not.
    const press = (target: Element) => target.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    press(dialog(element).querySelector('h2')!);
    dialog(element).click();
    expect(dialog(element).open).toBe(true);
    press(dialog(element));
    dialog(element).click();
    expect(dialog(element).open).toBe(false);
    await openWorld({ token: world.token, fail: { code: 'FORBIDDEN', times: 1 }, failOnly: 'SaleDetails' });
    await open(element, 'sale-4');
    await shows(() => details(element), expect.stringContaining('Este acesso não mostra vendas.'));
    vi.spyOn(window, 'fetch').mockImplementation(async () => Response.json({ data: { node: null } }));
    dialog(element).querySelector<HTMLElement>('.quiet')!.click();
    await shows(() => /Carregando|acesso/.test(details(element)!), false);
    vi.restoreAllMocks();
  });

  it('an element that is removed while it opens a row opens it after that', async () => {
    const { element } = await sales({ saleCount: 3 }, { details: true });
    const failed = vi.fn((event: Event) => event.preventDefault());
    addEventListener('unhandledrejection', failed);
    element.shadowRoot!.querySelector<HTMLElement>('tr[data-id=sale-3]')!.click();
    element.remove();
    await shows(() => element.shadowRoot!.querySelector('dialog') !== null, true);
    await new Promise((resolve) => setTimeout(resolve));
    document.body.append(element);
    await open(element, 'sale-3');
    removeEventListener('unhandledrejection', failed);
    expect(failed).not.toHaveBeenCalled();
  });

  it('nothing of it stays when the token is gone', async () => {
    const { element } = await sales({ saleCount: 3 }, { details: true });
    await open(element, 'sale-3');
    element.token = undefined;
    await shows(() => [dialog(element).open, details(element)], [false, '']);
  });

  it('without the attribute a row is only selected', async () => {
    const { element } = await sales({ saleCount: 1 });
    const selected = event(element, 'psa-sale-select');
    element.shadowRoot!.querySelector<HTMLElement>('tbody tr')!.click();
    await selected;
    await element.updateComplete;
    expect(element.shadowRoot!.querySelector('dialog')).toBeNull();
  });
});

describe('a refund', () => {
  const given = { details: true, actions: 'refund' };

  it('the page is asked for it, and what it answers is shown; a retry has the key of the first', async () => {
    const { element } = await sales({ saleCount: 7 }, given);
    const answers = [
      async () => Promise.reject(new Error('lost')),
      async () => ({ message: 'Saldo insuficiente.' }),
      async () => undefined,
    ];
    const asked: RefundRequest[] = [];
    element.addEventListener('psa-refund-request', ({ detail }) => {
      asked.push(detail);
      detail.respondWith(answers.shift()!());
      expect(() => detail.respondWith(undefined)).toThrow('takes one answer');
    });
    await open(element, 'sale-6');
    await shows(() => part(element, 'refund-button') !== null, true);
    part(element, 'refund-button')!.click();
    const field = () => dialog(element).querySelector<HTMLInputElement>('#refund-amount')!;
    const send = async (amount: string, said: string) => {
      field().value = amount;
      part(element, 'refund-send-button')!.click();
      await shows(() => words(dialog(element).querySelector('#refund-problem')), said);
    };
    await send('525,15', 'Escreva um valor até R$ 525,14.');
    expect([asked.length, field() === element.shadowRoot!.activeElement]).toEqual([0, true]);
    await send('20', 'Sem resposta. Tente de novo: o estorno não sai em dobro.');
    await send('20', 'Saldo insuficiente.');
    await send('30,00', 'Estorno pedido.');
    const [first, second, third] = asked;
    expect(first).toMatchObject({ sale: { id: 'sale-6' }, amountCents: 2_000, maxCents: 52_514 });
    expect(second?.idempotencyKey).toBe(first?.idempotencyKey);
    expect(third?.idempotencyKey).not.toBe(first?.idempotencyKey);
  });

  it('a retry has the key of its amount, after another amount, a closed panel, and where nothing is left to refund', async () => {
    const { element, world } = await sales({ saleCount: 7 }, given);
    const asked: RefundRequest[] = [];
    const answers: Deferred<undefined>[] = [];
    element.addEventListener('psa-refund-request', ({ detail }) => {
      asked.push(detail);
      answers.push(deferred());
      detail.respondWith(answers.at(-1)!.promise);
    });
    const field = () => dialog(element).querySelector<HTMLInputElement>('#refund-amount')!;
    const reopen = async () => {
      part(element, 'close-button')!.click();
      await shows(() => field(), null);
      await open(element, 'sale-6');
      // The form of an attempt is there before the rest of the sale is.
      await shows(() => details(element), expect.stringContaining('Até R$ 525,14.'));
    };
    const send = async (amount: string) => {
      field().value = amount;
      part(element, 'refund-send-button')!.click();
      await element.updateComplete;
    };
    const isLost = () => shows(() => details(element), expect.stringContaining('Sem resposta.'));
    await open(element, 'sale-6');
    await shows(() => part(element, 'refund-send-button') !== null, true);
    await send('500');
    // The page has not answered yet: it is the same attempt.
    await reopen();
    await send('500');
    expect(asked.length).toBe(1);
    answers[0]!.resolve(Promise.reject(new Error('lost')) as never);
    await isLost();
    await reopen();
    await isLost();
    expect(field().value).toBe('500,00');
    await send('20');
    answers[1]!.resolve(Promise.reject(new Error('lost')) as never);
    await isLost();
    // Both were done: less is left than what is tried again, and then nothing.
    await act(world.token, {
      changeSale: { number: 6, values: { refundedCents: 52_000, refundableCents: 514 }, refund: true },
    });
    await shows(() => details(element), expect.stringContaining('Até R$ 5,14.'));
    await send('500');
    answers[2]!.resolve(Promise.reject(new Error('lost')) as never);
    await isLost();
    await act(world.token, {
      changeSale: { number: 6, values: { status: 'REFUNDED', refundedCents: 52_514, refundableCents: 0 } },
    });
    await shows(() => field()?.readOnly, true);
    part(element, 'refund-send-button')!.click();
    answers[3]!.resolve(undefined);
    await shows(() => details(element), expect.stringContaining('Estorno pedido.'));
    expect(asked.map(({ amountCents }) => amountCents)).toEqual([50_000, 2_000, 50_000, 50_000]);
    const keys = asked.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys).toEqual([keys[0], keys[1], keys[0], keys[0]]);
    expect(keys[1]).not.toBe(keys[0]);
  });

  it('a service that does not report what is left takes what no refund has given back', async () => {
    const { element, world } = await sales({ saleCount: 7 }, given);
    const values = { refundableCents: null, refundedCents: 2_514 };
    await act(world.token, { changeSale: { number: 6, values } });
    await open(element, 'sale-6');
    await shows(() => details(element), expect.stringContaining('Até R$ 500,00.'));
  });

  it('a page without an answer has taken it over, and its later answer is refused', async () => {
    const { element } = await sales({ saleCount: 7 }, given);
    const heard = event(element, 'psa-refund-request');
    await open(element, 'sale-6');
    await shows(() => part(element, 'refund-send-button') !== null, true);
    part(element, 'refund-send-button')!.click();
    const { detail } = await heard;
    expect(detail.amountCents).toBe(52_514);
    expect(() => detail.respondWith(undefined)).toThrow('in the turn of the event');
    expect(words(dialog(element).querySelector('#refund-problem'))).toBe('');
  });

  it('a refund that follows one that the page has taken over, or another that it has done, has the right key', async () => {
    const { element, world } = await sales({ saleCount: 7 }, given);
    const asked: RefundRequest[] = [];
    const answers: (Promise<undefined> | undefined)[] = [];
    element.addEventListener('psa-refund-request', ({ detail }) => {
      asked.push(detail);
      const answer = answers.shift();
      if (answer) detail.respondWith(answer);
    });
    const send = async (amount: string) => {
      const count = asked.length;
      dialog(element).querySelector<HTMLInputElement>('#refund-amount')!.value = amount;
      part(element, 'refund-send-button')!.click();
      await shows(() => asked.length, count + 1);
    };
    await open(element, 'sale-6');
    await shows(() => details(element), expect.stringContaining('Até R$ 525,14.'));
    await send('20');
    // It has failed: as much is left as before.
    const at = '2026-03-02T10:40:00.000Z';
    const failed = { ...refundOf(2_000, at, at), status: 'FAILED' as const, completedAt: null, failedAt: at };
    await act(world.token, { changeSale: { number: 6, values: { refunds: [failed] }, refund: true } });
    await shows(() => details(element), expect.stringContaining('Estorno de R$ 20,00'));
    answers.push(Promise.reject(new Error('lost')), Promise.resolve(undefined));
    await send('20');
    await shows(() => details(element), expect.stringContaining('Sem resposta.'));
    await send('30');
    await shows(() => details(element), expect.stringContaining('Estorno pedido.'));
    await send('20');
    const keys = asked.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys[1]).not.toBe(keys[0]);
    expect(keys[3]).toBe(keys[1]);
  });

  it.each([
    ['sale-7', given],
    ['sale-6', { details: true }],
  ])('%s with %j has no form of it', async (id, properties) => {
    const { element } = await sales({ saleCount: 7 }, properties);
    await open(element, id);
    await shows(() => details(element), expect.stringContaining('Histórico'));
    expect(part(element, 'refund-button')).toBeNull();
  });
});

it.each([
  ['en', 'No sales yet.'],
  ['es', 'Todavía no hay ventas.'],
  ['pt-BR', 'Nenhuma venda ainda.'],
])('an account without sales says so in the language %s', async (locale, text) => {
  const { element } = await sales({}, { locale });
  await shows(() => words(part(element, 'empty')), text);
});

describe.each(inject('axeSchemes'))('accessibility in %s colours', (colorScheme) => {
  it.each([
    ['ready', { saleCount: 60 }, { export: true }, 'ready', ''],
    ['open', { saleCount: 7 }, { details: true, actions: 'refund' }, 'ready', 'sale-6'],
    ['empty', {}, {}, 'ready', ''],
    ['refused', {}, { token: 'wrong' }, 'error', ''],
  ] as const)('axe finds nothing in sales that are %s', async (_, world, properties, phase, opened) => {
    document.documentElement.style.colorScheme = colorScheme;
    const element = await place('psa-sales', await openWorld(world), properties, phase);
    if (opened) {
      await open(element, opened);
      await shows(() => part(element, 'refund-button') !== null, true);
      part(element, 'refund-button')!.click();
      await arrived(element);
    }
    const { violations } = await axe.run(element);
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)).toEqual([]);
  });
});

async function sales(given: WorldRequest = {}, properties: Partial<PsaSales> = {}) {
  const world = await openWorld(given);
  return { element: await place('psa-sales', world, properties), world };
}

const details = (element: PsaSales) => words(dialog(element));
const rows = (element: PsaSales) =>
  [...element.shadowRoot!.querySelectorAll('tbody tr')].map((row) => words(row));
