import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import '../../widget/src/payouts/define.ts';
import type { PsaPayouts } from '../../widget/src/payouts/psa-payouts.ts';
import type { PayoutsAct, PayoutsWorld } from './fake-payouts.ts';
import { waitFor } from './patience.ts';

const url = inject('fakePayoutsUrl');

beforeEach(() => {
  document.documentElement.lang = 'pt-BR';
  // A headless browser has its pointer in the corner, and rows under a pointer do not move.
  document.body.style.padding = '3rem';
});

afterEach(() => {
  for (const element of document.querySelectorAll('psa-payouts')) element.remove();
  vi.restoreAllMocks();
  document.documentElement.style.colorScheme = '';
  document.documentElement.dir = '';
});

describe('the first page', () => {
  it('the first page shows the newest payouts on top, and the stream follows from its cursor', async () => {
    const { element, world } = await table({ count: 120 });
    expect(codes(element).slice(0, 3)).toEqual(['SAQ-000120', 'SAQ-000119', 'SAQ-000118']);
    expect(element.payouts).toHaveLength(50);
    expect(text(element, 'footer')).toBe('50 de 120 saques');
    expect((await readWorld(world)).queries).toEqual([{ name: 'PayoutsStart', variables: { first: 50 } }]);
    await waitFor(async () =>
      expect((await readWorld(world)).subscriptions).toMatchObject([{ transport: 'ws', after: 'u0' }]),
    );
  });

  it('the table is a grid with row count, row indexes and sort order', async () => {
    const { element } = await table({ count: 120 });
    const grid = element.shadowRoot!.querySelector('table')!;
    expect(grid.getAttribute('role')).toBe('grid');
    expect(grid.getAttribute('aria-rowcount')).toBe('121');
    expect(rows(element)[0]?.getAttribute('aria-rowindex')).toBe('2');
    expect(part(element, 'header')?.getAttribute('aria-rowindex')).toBe('1');
    expect(grid.querySelector('[aria-sort]')?.textContent?.trim()).toBe('Solicitado (Brasília)');
    expect(grid.querySelector('[aria-sort]')?.getAttribute('aria-sort')).toBe('descending');
  });

  it('each status is shown with its meaning for the money', async () => {
    const { element } = await table({ count: 6 });
    const says = rows(element).map((row) => words(row.querySelector('.status')));
    expect(says.slice(0, 3)).toEqual([
      'Pendente Na fila',
      expect.stringMatching(/^Concluído \d\d:\d\d$/),
      'Em processamento O banco ainda não confirmou',
    ]);
    expect(says[4]).toBe('Negado O banco de destino recusou');
  });

  it('an unknown fee is not shown', async () => {
    const { element } = await table({ count: 2 });
    const fee = (index: number) => rows(element)[index]?.querySelector('.amount small')?.textContent ?? null;
    expect(fee(0)).toContain('1,00');
    await act(element, {
      change: {
        number: 2,
        values: { serviceFeeCents: null, feeCents: null, status: 'COMPLETED', version: 2 },
      },
    });
    await shows(() => fee(0), null);
    expect(fee(1)).toContain('1,00');
  });

  it('an account without payouts shows a text, which the page can replace', async () => {
    const { element } = await table({ count: 0 });
    expect(text(element, 'empty')).toBe('Nenhum saque ainda.');
    expect(element.matches(':state(empty)')).toBe(true);
    expect(element.shadowRoot?.querySelector('slot[name=empty]')).not.toBeNull();
    await act(element, { add: {} });
    await shows(() => codes(element), ['SAQ-000001']);
  });

  it('a skeleton is shown until the first page is loaded', async () => {
    const { element } = await table({ fail: { times: 1, hold: true } }, {}, 'loading');
    expect(part(element, 'skeleton')).not.toBeNull();
    expect(text(element, 'footer')).toBe('Carregando…');
    expect(element.shadowRoot?.querySelector('table')?.getAttribute('aria-busy')).toBe('true');
  });
});

describe('an update', () => {
  it('an update changes the row in place, highlights it and is announced', async () => {
    const { element } = await table({ count: 5 });
    const heard = event(element, 'psa-payout-update');
    await act(element, { change: { number: 5, values: { status: 'COMPLETED' } } });
    const { payout, previous } = (await heard).detail;
    expect([payout.status, previous]).toEqual(['COMPLETED', 'PENDING']);
    await shows(() => rows(element)[0]?.querySelector('.state')?.textContent, 'Concluído');
    expect(rows(element)[0]?.getAnimations()).toHaveLength(1);
    await shows(() => announced(element), expect.stringMatching(/^Saque de R\$\s[\d,]+: concluído\.$/));
  });

  it('a row that changes again has one highlight, which starts again', async () => {
    const { element } = await table({ count: 5 });
    const [row] = rows(element);
    for (const [status, word] of [
      ['PROCESSING', 'Em processamento'],
      ['COMPLETED', 'Concluído'],
    ] as const) {
      await act(element, { change: { number: 5, values: { status } } });
      await shows(() => row?.querySelector('.state')?.textContent, word);
    }
    expect(row?.getAnimations()).toHaveLength(1);
  });

  it('the highlight does not fade with reduced motion', async () => {
    const { element } = await table({ count: 5 });
    vi.spyOn(window, 'matchMedia').mockReturnValue({ matches: true } as MediaQueryList);
    await act(element, { change: { number: 5, values: { status: 'COMPLETED' } } });
    await shows(() => rows(element)[0]?.getAnimations()[0]?.effect?.getTiming().easing, 'steps(1)');
  });

  it('an older version is ignored', async () => {
    const { element } = await table({ count: 5 });
    await act(element, { change: { number: 5, values: { status: 'COMPLETED', version: 7 } } });
    await act(element, { change: { number: 5, values: { status: 'PROCESSING', version: 6 } } });
    await act(element, { change: { number: 4, values: { status: 'DENIED' } } });
    await shows(() => rows(element)[1]?.querySelector('.state')?.textContent, 'Negado');
    expect(rows(element)[0]?.querySelector('.state')?.textContent).toBe('Concluído');
  });

  it('updates of many payouts are announced in one sentence', async () => {
    const { element } = await table({ count: 9 });
    await act(element, { add: {} });
    await act(element, { add: {} });
    for (const number of [6, 8, 9]) await act(element, { change: { number, values: { status: 'DENIED' } } });
    await shows(() => announced(element), 'Saques novos: 2. Mudaram de status: 3.');
  });
});

describe('a new payout', () => {
  it('a new payout appears at the top', async () => {
    const { element } = await table({ count: 5 });
    await act(element, { add: {} });
    await shows(() => codes(element)[0], 'SAQ-000006');
    expect(text(element, 'footer')).toBe('6 saques');
  });

  it('a new payout waits while the pointer is over the table', async () => {
    const { element } = await table({ count: 5 });
    point(element, 'pointerenter');
    await act(element, { add: {} });
    await act(element, { add: {} });
    await shows(() => text(element, 'new-button'), '2 novos');
    expect(codes(element)[0]).toBe('SAQ-000005');
    point(element, 'pointerleave');
    await shows(() => codes(element)[0], 'SAQ-000007');
    expect(button(element, 'new-button').disabled).toBe(true);
  });

  it('a new payout waits while the rows are scrolled, and its button scrolls to the top', async () => {
    const { element } = await table({ count: 120 });
    scroll(element, 900);
    await shows(() => codes(element).includes('SAQ-000101'), true);
    const standing = topOf(element, 'SAQ-000105');
    await act(element, { add: {} });
    await shows(() => text(element, 'new-button'), '1 novo');
    expect(topOf(element, 'SAQ-000105')).toBeCloseTo(standing!, 0);
    button(element, 'new-button').click();
    await shows(() => codes(element)[0], 'SAQ-000121');
    expect(scroller(element).scrollTop).toBe(0);
    expect(element.shadowRoot?.activeElement?.getAttribute('aria-rowindex')).toBe('2');
  });

  it('a new payout waits while the keyboard is on a row', async () => {
    const { element } = await table({ count: 5 });
    press('ArrowDown', await focused(element));
    await act(element, { add: {} });
    await shows(() => text(element, 'new-button'), '1 novo');
    expect(codes(element)[0]).toBe('SAQ-000005');
  });
});

describe('many payouts', () => {
  it('pages are loaded as the table is scrolled', async () => {
    const { element, world } = await table({ count: 130 }, { pageSize: 40 });
    for (const loaded of [80, 120, 130]) {
      scroll(element, 1e6);
      await shows(() => element.payouts.length, loaded);
    }
    expect(text(element, 'footer')).toBe('130 saques');
    const { queries } = await readWorld(world);
    expect(queries.map(({ variables }) => variables)).toEqual([
      { first: 40 },
      { first: 40, after: '91' },
      { first: 40, after: '51' },
      { first: 40, after: '11' },
    ]);
  });

  it('only the visible rows of 10,000 are in the document', async () => {
    const { element } = await table({ count: 100_000 }, { sort: 'amount' });
    expect(text(element, 'footer')).toMatch(/^Em ordem entre os 50 carregados, de 100\.000\./);
    const most = { rows: 0, nodes: 0 };
    const count = () => {
      most.rows = Math.max(most.rows, rows(element).length);
      most.nodes = Math.max(most.nodes, element.shadowRoot!.querySelectorAll('*').length);
    };
    button(element, 'more-button').click();
    await waitFor(() => {
      count();
      expect(element.payouts).toHaveLength(10_000);
    });
    expect(text(element, 'footer')).toBe('Em ordem entre os 10.000 carregados, de 100.000.');
    const amounts = element.payouts.map(({ amountCents }) => amountCents);
    expect(amounts).toEqual([...amounts].sort((left, right) => left - right));
    for (let step = 0; step <= 40; step++) {
      scroll(element, (step / 40) * scroller(element).scrollHeight);
      await frame();
      await element.updateComplete;
      count();
      // All visible rows are drawn: the drawn rows cover the whole scroll container.
      const box = scroller(element).getBoundingClientRect();
      const boxes = rows(element).map((row) => row.getBoundingClientRect());
      expect(Math.min(...boxes.map(({ top }) => top))).toBeLessThanOrEqual(box.top + 60);
      expect(Math.max(...boxes.map(({ bottom }) => bottom))).toBeGreaterThanOrEqual(box.bottom - 1);
    }
    expect(rows(element).at(-1)?.getAttribute('aria-rowindex')).toBe('10001');
    expect(most.rows).toBeLessThanOrEqual(40);
    expect(most.nodes).toBeLessThanOrEqual(700);
  });

  it('ten thousand rows by amount take a burst of changes in their order, and none moves under the pointer', async () => {
    const { element } = await table({ count: 10_000 }, { sort: '-amount', pageSize: 100 });
    button(element, 'more-button').click();
    await waitFor(() => expect(element.payouts).toHaveLength(10_000));
    await shows(() => text(element, 'footer'), '10.000 saques');
    point(element, 'pointerenter');
    const shown = codes(element);
    let heard = 0;
    element.addEventListener('psa-payout-update', () => {
      heard += 1;
    });
    const { amounts } = await post<{ amounts: number[] }>('/act', { token: element.token, burst: 12_000 });
    await waitFor(() => expect(heard).toBe(12_000));
    await frame();
    await element.updateComplete;
    expect(codes(element)).toEqual(shown);
    const amountOf = (code: string | null) => amounts[Number(code!.slice(4)) - 1];
    expect(element.payouts.filter(({ code, amountCents }) => amountCents !== amountOf(code))).toEqual([]);
    point(element, 'pointerleave');
    const sorted = [...amounts].sort((left, right) => right - left);
    await shows(() => element.payouts.slice(0, 3).map(({ amountCents }) => amountCents), sorted.slice(0, 3));
    expect(element.payouts.map(({ amountCents }) => amountCents)).toEqual(sorted);
  });

  it('a page that did not load can be retried', async () => {
    const { element } = await table({
      count: 130,
      fail: { code: 'INTERNAL_SERVER_ERROR', times: 1 },
      failOnly: 'Payouts',
    });
    scroll(element, 1e6);
    await shows(() => text(element, 'footer'), 'Não foi possível carregar mais. Tentar de novo');
    part(element, 'footer')?.querySelector('button')?.click();
    await shows(() => element.payouts.length, 100);
  });
});

describe('the order of the rows', () => {
  it('an order by time is the server’s, in both directions', async () => {
    const { element, world } = await table({ count: 130 });
    const heard = event(element, 'psa-sort-change');
    sortBy(element, 'Solicitado (Brasília)');
    expect((await heard).detail).toEqual({ sort: 'requested' });
    await shows(() => codes(element)[0], 'SAQ-000001');
    expect((await readWorld(world)).queries.at(-1)?.variables).toEqual({ last: 50 });
    expect(element.shadowRoot?.querySelector('[aria-sort]')?.getAttribute('aria-sort')).toBe('ascending');
    scroll(element, 1e6);
    await shows(() => element.payouts.length, 100);
    expect(element.payouts.at(-1)?.code).toBe('SAQ-000100');
  });

  it('an order by amount loads the remaining pages of a short list', async () => {
    const { element } = await table({ count: 230 });
    sortBy(element, 'Valor');
    await shows(() => element.payouts.length, 230);
    await shows(() => text(element, 'footer'), '230 saques');
    const amounts = element.payouts.map(({ amountCents }) => amountCents);
    expect(amounts).toEqual([...amounts].sort((left, right) => right - left));
  });
});

describe('a filter', () => {
  it('a filter is applied by the server and to later updates', async () => {
    const { element, world } = await table({ count: 100 });
    const heard = event(element, 'psa-filter-change');
    filter(element, 'Negado');
    expect((await heard).detail).toEqual({ statuses: ['DENIED'] });
    await shows(() => text(element, 'footer'), '20 saques');
    filter(element, 'Pendente');
    await shows(() => text(element, 'footer'), '21 saques');
    expect((await readWorld(world)).queries.at(-1)?.variables).toEqual({
      first: 50,
      filter: { status: ['PENDING', 'DENIED'] },
    });
    expect(codes(element)[0]).toBe('SAQ-000100');
    await act(element, { change: { number: 100, values: { status: 'COMPLETED' } } });
    await shows(() => codes(element)[0], 'SAQ-000097');
    filter(element, 'Todos');
    await shows(() => codes(element)[0], 'SAQ-000100');
    expect(element.statuses).toBe('');
  });

  it('a filter that was chosen before the element was removed applies when it is back', async () => {
    const { element } = await table({ count: 10 });
    filter(element, 'Negado');
    await element.updateComplete;
    element.remove();
    document.body.append(element);
    await shows(() => codes(element), ['SAQ-000007', 'SAQ-000002']);
  });

  it('a filter is an attribute too, and shows a text where it matches nothing', async () => {
    const { element } = await table({ count: 1 }, { statuses: 'DENIED COMPLETED' });
    expect(text(element, 'empty')).toBe('Nenhum saque com este filtro.');
    const pressed = [...element.shadowRoot!.querySelectorAll('[part=filter][aria-pressed=true]')];
    expect(pressed.map((each) => each.textContent?.trim())).toEqual(['Concluído', 'Negado']);
  });

  it('the other conditions are attributes, which the server checks of the list and of every new row', async () => {
    const { element, world } = await table({ count: 100 }, { methods: 'LTC' });
    await shows(() => text(element, 'footer'), '25 saques');
    const [before] = element.payouts;
    await act(element, { add: { method: 'PIX', code: 'SAQ-PIX' } });
    await act(element, { add: { method: 'LTC', code: 'SAQ-LTC' } });
    await shows(() => codes(element)[0], 'SAQ-LTC');
    expect(codes(element)[1]).toBe(before!.code);
    element.setAttribute('amount-cents', String(before!.amountCents));
    element.setAttribute('requested-after', before!.requestedAt!);
    await shows(() => codes(element), [before!.code]);
    const filter = {
      method: ['LTC'],
      requestedAfter: before!.requestedAt,
      amountCents: before!.amountCents,
    };
    const { queries } = await readWorld(world);
    expect(queries.at(-1)).toMatchObject({ name: 'PayoutsStart', variables: { filter } });
    element.amountCents = 1;
    await shows(() => text(element, 'empty'), 'Nenhum saque com este filtro.');
    for (const name of ['methods', 'amount-cents', 'requested-after']) element.removeAttribute(name);
    element.amountCents = undefined;
    element.methods = undefined;
    await shows(() => text(element, 'footer'), '50 de 102 saques');
  });

  it.each([
    ['its attribute is removed', (element: PsaPayouts) => element.removeAttribute('statuses')],
    ['its property is undefined', (element: PsaPayouts) => Object.assign(element, { statuses: undefined })],
  ])('a filter ends where %s', async (_, remove) => {
    const { element } = await table({ count: 0 });
    element.setAttribute('statuses', 'DENIED');
    await shows(() => text(element, 'empty'), 'Nenhum saque com este filtro.');
    remove(element);
    await element.updateComplete;
    await shows(() => text(element, 'empty'), 'Nenhum saque ainda.');
  });
});

describe('the controls of the conditions', () => {
  it('the controls ask the server, whose list they page to the end, and whose updates come and go by them', async () => {
    const { element, world } = await table({ count: 300 }, { statuses: 'PENDING COMPLETED' });
    await opened(element);
    expect(control(element, 'PIX').checked).toBe(false);
    control(element, 'LTC').click();
    control(element, 'PIX turbo').click();
    const heard = event(element, 'psa-filter-change');
    // The pointer is on the button, so the rows of the other filter do not stay.
    point(element, 'pointerenter');
    button(element, 'apply-button').click();
    const filter = { method: ['PIX_TURBO', 'LTC'] };
    expect((await heard).detail).toEqual({ statuses: ['PENDING', 'COMPLETED'], filter });
    await shows(() => text(element, 'filters-button'), 'Mais filtros (1)');
    await shows(() => text(element, 'footer'), '50 de 90 saques');
    expect(element.methods).toBe('PIX_TURBO LTC');
    expect(result(element)).toBe('90 saques');
    expect(new Set(element.payouts.map(({ method }) => method))).toEqual(new Set(filter.method));
    expect(codes(element)[0]).toBe('SAQ-000295');
    expect(button(element, 'new-button').disabled).toBe(true);
    scroll(element, 1e6);
    await shows(() => text(element, 'footer'), '90 saques');
    const asked = { ...filter, status: ['PENDING', 'COMPLETED'] };
    const { queries } = await readWorld(world);
    expect(queries.slice(1).map(({ variables }) => variables.filter)).toEqual([asked, asked]);
    point(element, 'pointerleave');
    scroll(element, 0);
    await act(element, { add: { method: 'PIX', code: 'SAQ-PIX' } });
    await act(element, { add: { method: 'LTC', code: 'SAQ-LTC' } });
    await shows(() => codes(element).slice(0, 2), ['SAQ-LTC', 'SAQ-000295']);
    await act(element, { change: { number: 302, values: { status: 'PROCESSING' } } });
    await shows(() => codes(element)[0], 'SAQ-000295');
    expect(text(element, 'footer')).toBe('90 saques');
  });

  const at = (day: number) => `2026-03-0${day}T03:00:00.000Z`;
  it.each([
    ['Busca', ' saq-000007 ', { reference: 'SAQ-000007' }, 1],
    ['Busca', '00000000000000000000000a', { reference: '00000000000000000000000a' }, 1],
    ['Seu número', 'PEDIDO-9', { externalId: 'PEDIDO-9' }, 1],
    ['Valor (R$)', 'R$ 129,19', { amountCents: 12_919 }, 1],
    ['Valor (R$)', '129.19', { amountCents: 12_919 }, 1],
    ['Solicitado desde (Brasília)', '2026-03-02', { requestedAfter: at(2) }, 100],
    ['Solicitado até (Brasília)', '2026-03-01', { requestedBefore: at(2) }, 0],
  ])('the server is asked for “%s” with %j', async (label, value, filter, count) => {
    const { element, world } = await table({ count: 100 });
    await opened(element);
    fill(element, label, value);
    button(element, 'apply-button').click();
    await waitFor(async () =>
      expect((await readWorld(world)).queries.at(-1)?.variables.filter).toEqual(filter),
    );
    await shows(() => element.totalCount, count);
    await shows(
      () => result(element),
      count === 0 ? 'Nenhum saque com este filtro.' : count === 1 ? '1 saque' : `${count} saques`,
    );
  });

  it.each([
    ['Busca', 'SAQ 12', 'Escreva um código inteiro, sem espaços nem acentos.'],
    ['Seu número', 'x'.repeat(101), 'Escreva até 100 caracteres, sem caracteres invisíveis.'],
    ['Valor (R$)', 'muito', 'Escreva um valor, como R$ 1.234,56.'],
    ['Valor (R$)', '0', 'Escreva um valor, como R$ 1.234,56.'],
    ['Valor (R$)', '1,234', 'Escreva um valor, como R$ 1.234,56.'],
    ['Solicitado até (Brasília)', '2026-02-28', 'O último dia vem antes do primeiro.'],
    ['Solicitado desde (Brasília)', '0026-03-01', 'Escreva a data inteira: dia, mês e ano.'],
  ])(
    'a control that says “%s” of %j names what is wrong, and asks for nothing',
    async (label, value, error) => {
      const { element, world } = await table({ count: 3 }, { requestedAfter: '2026-03-01T15:00:00Z' });
      const { queries } = await readWorld(world);
      await opened(element);
      fill(element, label, value);
      button(element, 'apply-button').click();
      const input = control(element, label);
      await shows(() => element.shadowRoot?.activeElement, input);
      expect(input.getAttribute('aria-invalid')).toBe('true');
      const [described = ''] = input.getAttribute('aria-describedby')!.split(' ');
      expect(words(element.shadowRoot!.getElementById(described))).toBe(error);
      expect((await readWorld(world)).queries).toEqual(queries);
      expect(codes(element)).toHaveLength(3);
      // A corrected value is requested.
      fill(element, label, '');
      button(element, 'apply-button').click();
      await shows(() => result(element), '3 saques');
      expect(element.shadowRoot!.querySelector('[aria-invalid=true]')).toBeNull();
    },
  );

  it('the controls show the conditions that the page has set, keep an instant that nobody has touched, and empty all', async () => {
    const { element, world } = await table(
      { count: 100 },
      {
        methods: 'LTC',
        amountCents: 123_456,
        reference: 'SAQ-000001',
        requestedAfter: '2026-03-01T15:30:00Z',
        requestedBefore: at(4),
      },
    );
    await opened(element);
    expect(text(element, 'filters-button')).toBe('Mais filtros (5)');
    const shown = [
      'Busca',
      'Seu número',
      'Valor (R$)',
      'Solicitado desde (Brasília)',
      'Solicitado até (Brasília)',
    ];
    expect(shown.map((label) => control(element, label).value)).toEqual([
      'SAQ-000001',
      '',
      '1.234,56',
      '2026-03-01',
      '2026-03-03',
    ]);
    expect(control(element, 'LTC').checked).toBe(true);
    fill(element, 'Busca', '');
    button(element, 'apply-button').click();
    await shows(async () => (await readWorld(world)).queries.at(-1)?.variables.filter, {
      method: ['LTC'],
      amountCents: 123_456,
      requestedAfter: '2026-03-01T15:30:00Z',
      requestedBefore: at(4),
    });
    element.amountCents = 5_000;
    await shows(() => control(element, 'Valor (R$)').value, '50,00');
    // A text that was typed and not requested is cleared, too.
    fill(element, 'Seu número', 'PEDIDO-1');
    button(element, 'clear-button').click();
    await shows(() => text(element, 'footer'), '50 de 100 saques');
    expect(shown.map((label) => control(element, label).value)).toEqual(['', '', '', '', '']);
    expect(control(element, 'LTC').checked).toBe(false);
    expect([element.methods, element.amountCents, element.requestedAfter]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('until the server has answered nothing says that there is none', async () => {
    const { element, world } = await table({ count: 100 }, { externalId: 'PEDIDO-0' });
    await opened(element);
    expect(text(element, 'empty')).toBe('Nenhum saque com este filtro.');
    await post('/world', { token: world.token, fail: { times: 1, hold: true }, failOnly: 'PayoutsStart' });
    fill(element, 'Seu número', 'PEDIDO-1');
    button(element, 'apply-button').click();
    await shows(() => part(element, 'empty'), null);
    expect(part(element, 'skeleton')).not.toBeNull();
    expect([text(element, 'footer'), result(element)]).toEqual(['Carregando…', '']);
    await shows(async () => (await readWorld(world)).fail?.times, 0);
    element.refresh();
    await shows(() => codes(element), ['SAQ-000001']);
    await shows(() => result(element), '1 saque');
  });

  it('a condition that the server does not take is said, and can be taken back', async () => {
    const { element, world } = await table({ count: 3 });
    await opened(element);
    await post('/world', {
      token: world.token,
      fail: { code: 'NOT_OFFERED', times: 1 },
      failOnly: 'PayoutsStart',
    });
    fill(element, 'Seu número', 'PEDIDO-1');
    button(element, 'apply-button').click();
    await shows(() => result(element), 'Este filtro não está disponível aqui.');
    button(element, 'clear-button').click();
    await shows(() => result(element), '3 saques');
    expect(element.phase).toBe('ready');
  });

  it.each([
    ['en', 'Amount (R$)', '1,234.56', 'Apply', /^Write an amount, such as .*1,234\.56/],
    ['es', 'Importe (R$)', '1234,56', 'Filtrar', /^Escribe un importe, como .*1\.?234,56/],
  ])('the controls are in the language %s', async (locale, label, amount, apply, error) => {
    const { element } = await table({ count: 3 }, { locale });
    await shows(() => part(element, 'base')?.lang, locale);
    await opened(element);
    expect(text(element, 'apply-button')).toBe(apply);
    fill(element, label, 'x');
    button(element, 'apply-button').click();
    await shows(
      () => words(part(element, 'filters')?.querySelector('#amountCents-error')),
      expect.stringMatching(error),
    );
    fill(element, label, amount);
    button(element, 'apply-button').click();
    await shows(() => element.amountCents, 123_456);
  });
});

describe('the keyboard', () => {
  it('the keyboard moves by rows, pages and to both ends, and selects', async () => {
    const { element } = await table({ count: 60 });
    const at = () => element.shadowRoot?.activeElement?.querySelector('.code')?.textContent;
    let target = await focused(element);
    for (const [key, code] of [
      ['ArrowDown', 'SAQ-000059'],
      ['ArrowDown', 'SAQ-000058'],
      ['ArrowUp', 'SAQ-000059'],
      ['End', 'SAQ-000011'],
      ['Home', 'SAQ-000060'],
      ['PageDown', 'SAQ-000057'],
    ] as const) {
      press(key, target);
      await shows(at, code);
      target = element.shadowRoot!.activeElement!;
      const row = target.getBoundingClientRect();
      const box = scroller(element).getBoundingClientRect();
      // A list scrolls by whole pixels of the screen, and a row may end within one.
      expect(row.top).toBeGreaterThan(box.top - 1);
      expect(row.bottom).toBeLessThan(box.bottom + 1);
    }
    const heard = event(element, 'psa-payout-select');
    press('Enter', target);
    expect((await heard).detail.payout.code).toBe('SAQ-000057');
    expect([...element.shadowRoot!.querySelectorAll('tbody [tabindex="0"]')]).toEqual([target]);
  });

  it('the keyboard keeps its place when its row is scrolled away', async () => {
    const { element } = await table({ count: 120 });
    press('ArrowDown', await focused(element));
    await shows(() => element.shadowRoot?.activeElement?.getAttribute('aria-rowindex'), '3');
    scroll(element, 2_400);
    await shows(() => element.shadowRoot?.activeElement, scroller(element));
    press('ArrowDown', scroller(element));
    await shows(() => element.shadowRoot?.activeElement?.getAttribute('aria-rowindex'), '4');
  });

  it('the table sorts and filters by buttons', async () => {
    const { element } = await table({ count: 3 });
    const names = [...element.shadowRoot!.querySelectorAll('button:not(:disabled)')].map((each) =>
      each.textContent?.trim(),
    );
    expect(names).toEqual([
      'Todos',
      'Pendente',
      'Em processamento',
      'Concluído',
      'Negado',
      'Mais filtros',
      'Status',
      'Valor',
      'Solicitado (Brasília)',
    ]);
  });

  it('a click selects a row', async () => {
    const { element } = await table({ count: 3 });
    const heard = event(element, 'psa-payout-select');
    rows(element)[1]?.querySelector('b')?.click();
    expect((await heard).detail.payout.code).toBe('SAQ-000002');
  });
});

describe('the connection', () => {
  it.each([
    ['an event stream', { ws: 'refuse' }, 'live', 'sse'],
    ['polling', { ws: 'refuse', sse: 'refuse' }, 'polling', undefined],
  ] as const)(
    'the table follows over %s where nothing better is available',
    async (_, behaviour, connection, transport) => {
      const { element, world } = await table({ count: 60, ...behaviour });
      await shows(() => element.connection, connection);
      if (transport)
        await shows(async () => (await readWorld(world)).subscriptions.at(-1)?.transport, transport);
      await act(element, { change: { number: 20, values: { status: 'DENIED' } } });
      await act(element, { add: {} });
      await shows(() => codes(element)[0], 'SAQ-000061');
      await shows(() => element.payouts.find(({ code }) => code === 'SAQ-000020')?.status, 'DENIED');
      expect(element.totalCount).toBe(61);
    },
  );

  it('a table that polls loads the list again where more than a page came while it was away', async () => {
    const { element } = await table({ count: 3, ws: 'refuse', sse: 'refuse' }, { pageSize: 2 });
    element.remove();
    for (let count = 0; count < 5; count++) await act(element, { add: {} });
    document.body.append(element);
    await shows(() => element.totalCount, 8);
    await shows(() => codes(element).slice(0, 2).join(), 'SAQ-000008,SAQ-000007');
  });

  it('a table that polls with the oldest on top counts no payout that was there as new', async () => {
    const { element } = await table({ count: 60, ws: 'refuse', sse: 'refuse' }, { sort: 'requested' });
    expect(element.totalCount).toBe(60);
    await act(element, { add: {} });
    await shows(() => element.totalCount, 61);
  });

  it('a table that has all payouts, the oldest on top, counts a new one that its first poll brings', async () => {
    const { element, world } = await table({ count: 3 }, { sort: 'requested' });
    await post('/world', { token: world.token, ws: 'refuse', sse: 'refuse' });
    await act(element, { add: {}, silent: true });
    await act(element, { drop: true });
    await shows(() => element.totalCount, 4);
    await shows(() => codes(element).at(-1), 'SAQ-000004');
  });

  it('a lost connection is reopened with the cursor of the last update', async () => {
    const { element, world } = await table({ count: 3 });
    await act(element, { change: { number: 3, values: { status: 'PROCESSING' } } });
    await shows(() => rows(element)[0]?.querySelector('.state')?.textContent, 'Em processamento');
    await act(element, { drop: true });
    await act(element, { change: { number: 3, values: { status: 'COMPLETED' } } });
    await shows(() => rows(element)[0]?.querySelector('.state')?.textContent, 'Concluído');
    expect((await readWorld(world)).subscriptions.map(({ after }) => after)).toEqual(['u0', 'u1']);
  });

  it('the list is loaded again where the cursor has expired', async () => {
    const { element, world } = await table({ count: 3 });
    await post('/world', { token: world.token, forgotten: true });
    await act(element, { add: {}, silent: true });
    await act(element, { drop: true });
    await waitFor(async () => expect((await readWorld(world)).queries.length).toBeGreaterThan(1));
    await post('/world', { token: world.token, forgotten: false });
    await shows(() => codes(element)[0], 'SAQ-000004');
    await shows(() => element.connection, 'live');
  });

  it('a lost connection is shown, and the rows stay', async () => {
    const { element } = await table({ count: 3 });
    dispatchEvent(new Event('offline'));
    await shows(() => text(element, 'connection'), 'Sem conexão');
    expect(codes(element)).toHaveLength(3);
    await shows(() => announced(element), 'Sem conexão');
    dispatchEvent(new Event('online'));
    await shows(() => text(element, 'connection'), 'Ao vivo');
  });

  it('an idle element that is moved has the language of its new place', async () => {
    const { element } = await table({}, { token: undefined }, 'idle');
    const place = document.createElement('div');
    place.lang = 'en';
    document.body.append(place);
    place.append(element);
    await shows(() => part(element, 'table')?.getAttribute('aria-label'), 'Payouts');
    place.remove();
  });

  it('an element that is moved in the document resumes', async () => {
    const { element } = await table({ count: 3 });
    const home = document.createElement('div');
    document.body.append(home);
    home.append(element);
    await act(element, { add: {} });
    await shows(() => codes(element)[0], 'SAQ-000004');
    home.remove();
    expect(element.connection).toBe('idle');
  });
});

describe('a token', () => {
  it('what the page sets while the element is in no document applies when it is back', async () => {
    const { element, world } = await table({ count: 3 });
    element.token = undefined;
    await element.updateComplete;
    expect(element.phase).toBe('idle');
    element.remove();
    element.token = world.token;
    await element.updateComplete;
    document.body.append(element);
    await shows(() => rows(element).length, 3);
  });

  it('its texts are marked with their language', async () => {
    const { element } = await table({ count: 1 }, { locale: 'es' });
    await shows(() => part(element, 'base')?.lang, 'es');
    expect(part(element, 'base')?.querySelector('[part=footer]')?.textContent).toContain('retiro');
  });

  it('the table starts with renewToken alone, which is called once', async () => {
    const { token } = await post<PayoutsWorld>('/world', { count: 3 });
    const renewToken = vi.fn(async () => token);
    const { element } = await table({}, { token: undefined, renewToken });
    expect(renewToken).toHaveBeenCalledOnce();
    expect([element.token, element.payouts.length]).toEqual([token, 3]);
  });

  it('a first token that is on its way is not asked for again when the page is shown', async () => {
    const { token } = await post<PayoutsWorld>('/world', { count: 3 });
    const late = lateToken();
    const renewToken = vi.fn(late.renewToken);
    const { element } = await table({}, { token: undefined, renewToken }, 'loading');
    await late.asked;
    dispatchEvent(new PageTransitionEvent('pageshow'));
    late.give(token);
    await shows(() => codes(element).length, 3);
    await shows(() => element.connection, 'live');
    expect(renewToken).toHaveBeenCalledOnce();
  });

  it('a first token that the page cannot get is asked for again', async () => {
    const { token } = await post<PayoutsWorld>('/world', { count: 1 });
    const renewToken = vi
      .fn(async () => token)
      .mockRejectedValueOnce(new Error('the server of the page is down'));
    const { element } = await table({}, { token: undefined, renewToken }, 'error');
    expect(element.error).toMatchObject({ code: 'network', retryable: true });
    element.retry();
    await shows(() => element.phase, 'ready');
    expect(renewToken).toHaveBeenCalledTimes(2);
  });

  it('a late first token does not replace one that the page has set meanwhile', async () => {
    const first = await post<PayoutsWorld>('/world', { count: 3 });
    const other = await post<PayoutsWorld>('/world', { count: 1 });
    const late = lateToken();
    const { element } = await table({}, { token: undefined, renewToken: late.renewToken }, 'loading');
    await late.asked;
    element.token = other.token;
    await shows(() => element.connection, 'live');
    late.give(first.token);
    await frame();
    await element.updateComplete;
    expect(element.token).toBe(other.token);
    expect(codes(element)).toEqual(['SAQ-000001']);
  });

  it('a late first token does not sign a user in who has signed out meanwhile', async () => {
    const first = await post<PayoutsWorld>('/world', { count: 3 });
    const late = lateToken();
    const { element } = await table({}, { token: undefined, renewToken: late.renewToken }, 'loading');
    await late.asked;
    element.renewToken = undefined;
    await shows(() => element.phase, 'idle');
    const next = lateToken();
    element.renewToken = next.renewToken;
    await next.asked;
    late.give(first.token);
    await frame();
    expect(element.token).toBeUndefined();
    const other = await post<PayoutsWorld>('/world', { count: 1 });
    next.give(other.token);
    await shows(() => codes(element), ['SAQ-000001']);
    expect((await readWorld(first)).queries).toHaveLength(0);
  });

  it('an expired token is renewed by renewToken, and the stream resumes', async () => {
    const { element, world } = await table({ count: 3 });
    const { token } = await post<PayoutsWorld>('/world', { token: world.token, renew: true });
    element.renewToken = vi.fn(async () => token);
    await act(element, { expire: true });
    await waitFor(async () =>
      expect((await readWorld({ ...world, token })).subscriptions.at(-1)).toMatchObject({
        token,
        after: 'u0',
      }),
    );
    expect(element.renewToken).toHaveBeenCalledOnce();
    expect(element.token).toBe(token);
    await act(element, { add: {} });
    await shows(() => codes(element)[0], 'SAQ-000004');
    expect((await readWorld({ ...world, token })).queries).toHaveLength(1);
  });

  it('a listener of psa-token-expired can set another token', async () => {
    const { element, world } = await table({ count: 3 });
    const { token } = await post<PayoutsWorld>('/world', { token: world.token, renew: true });
    element.addEventListener('psa-token-expired', () => {
      element.token = token;
    });
    await act(element, { expire: true });
    await shows(() => element.token, token);
    await shows(() => element.connection, 'live');
  });

  it('a token of another account shows no row of the previous one', async () => {
    const { element } = await table({ count: 3 });
    const { token } = await post<PayoutsWorld>('/world', { count: 1 });
    element.token = token;
    element.refresh();
    await shows(() => codes(element), ['SAQ-000001']);
    await shows(() => element.connection, 'live');
    expect(element.payouts).toHaveLength(1);
  });

  it('an element whose token is removed shows no rows', async () => {
    const { element } = await table({ count: 3 });
    element.token = undefined;
    await shows(() => element.phase, 'idle');
    expect(element.payouts).toHaveLength(0);
    expect(codes(element)).toHaveLength(0);
  });

  it('a late renewal does not replace a token that the page has set meanwhile', async () => {
    const { element, world } = await table({ count: 3 });
    const late = await post<PayoutsWorld>('/world', { token: world.token, renew: true });
    const other = await post<PayoutsWorld>('/world', { count: 1 });
    let give: ((token: string) => void) | undefined;
    const asked = new Promise<void>((resolve) => {
      element.renewToken = () => {
        resolve();
        return new Promise<string>((renewed) => {
          give = renewed;
        });
      };
    });
    await act(element, { expire: true });
    await asked;
    element.token = other.token;
    element.refresh();
    await shows(() => codes(element), ['SAQ-000001']);
    give?.(late.token);
    await shows(() => element.connection, 'live');
    expect(element.token).toBe(other.token);
    expect(codes(element)).toEqual(['SAQ-000001']);
  });

  it('an expired token that is not renewed is reported, and the rows stay', async () => {
    const { element, world } = await table({ count: 3 });
    const { token } = await post<PayoutsWorld>('/world', { token: world.token, renew: true });
    const heard = event(element, 'psa-error');
    await act(element, { expire: true });
    expect((await heard).detail).toMatchObject({ code: 'unauthorized', retryable: false });
    await shows(
      () => text(element, 'error'),
      'O acesso a estes saques terminou. Entre de novo para continuar. Tentar de novo',
    );
    expect(codes(element)).toHaveLength(3);
    element.token = token;
    await shows(() => element.phase, 'ready');
    expect(part(element, 'error')).toBeNull();
  });

  it('a renewed token that is refused is not renewed again', async () => {
    const renewToken = vi.fn(async () => `wrong-${Math.random()}`);
    const { element } = await table({}, { token: 'wrong', renewToken }, 'error');
    expect(renewToken).toHaveBeenCalledOnce();
    button(element, 'retry-button').click();
    await waitFor(() => expect(renewToken).toHaveBeenCalledTimes(2));
  });
});

describe('an error', () => {
  it('an error at the start is shown, and the table loads by itself after it', async () => {
    const { element } = await table({ fail: { code: 'INTERNAL_SERVER_ERROR', times: 1 } }, {}, 'error');
    expect(text(element, 'error')).toContain('Algo falhou do nosso lado.');
    expect(element.matches(':state(error)')).toBe(true);
    await shows(() => element.phase, 'ready');
    expect(codes(element)).toHaveLength(3);
  });

  it('a rate limit is waited out', async () => {
    const { element } = await table({
      count: 130,
      fail: { code: 'RATE_LIMITED', times: 1, retryAfterSeconds: 1 },
      failOnly: 'Payouts',
    });
    scroll(element, 1e6);
    await shows(() => element.payouts.length, 100);
  });

  it.each([
    ['the seconds that the server names', 1_000, 1_000_000],
    ['two and a half hours at most', 2_592_000, 9_000_000],
  ])(
    'a first page that is refused by a rate limit is asked for again after %s',
    async (_, retryAfterSeconds, ms) => {
      const waits = vi.spyOn(window, 'setTimeout');
      await table({ fail: { code: 'RATE_LIMITED', times: 1, retryAfterSeconds } }, {}, 'error');
      await waitFor(() => expect(waits).toHaveBeenCalledWith(expect.anything(), ms));
    },
  );

  it('an element without an endpoint is idle', async () => {
    const element = document.createElement('psa-payouts');
    document.body.append(element);
    await element.updateComplete;
    expect([element.phase, element.connection]).toEqual(['idle', 'idle']);
  });
});

describe('a service behind the server', () => {
  const connection = (element: PsaPayouts) => text(element, 'connection');
  /** Advances half a minute for the table's own reads alone. */
  const passHalfMinute = () => vi.advanceTimersByTimeAsync(30_000);
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  it('a table whose stream is open says that the service gives nothing newer, with the age of its rows, and takes it back', async () => {
    const { element, world } = await table({ upstream: { ageSeconds: 1, stale: false } });
    expect(connection(element)).toBe('Ao vivo');
    await post('/world', { token: world.token, upstream: { ageSeconds: 78, stale: true } });
    await passHalfMinute();
    await shows(() => connection(element), 'Sem contato com o serviço, de há 1 min.');
    expect(element.connection).toBe('live');
    expect(getComputedStyle(part(element, 'connection')!).opacity).toBe('1');
    // No text is cut off on a phone.
    element.style.inlineSize = '340px';
    await frame();
    const { right } = part(element, 'connection')!.getBoundingClientRect();
    expect(right).toBeLessThanOrEqual(element.getBoundingClientRect().right);
    await shows(() => announced(element), 'Sem contato com o serviço');
    await post('/world', { token: world.token, upstream: { ageSeconds: 9_000, stale: true } });
    await passHalfMinute();
    await shows(() => connection(element), 'Sem contato com o serviço, de há 3 h');
    await post('/world', { token: world.token, upstream: { ageSeconds: 1, stale: false } });
    await passHalfMinute();
    await shows(() => connection(element), 'Ao vivo');
    const { queries } = await readWorld(world);
    expect(queries.filter(({ name }) => name === 'PayoutsPoll')).toEqual(
      Array(3).fill({ name: 'PayoutsPoll', variables: { first: 1, ids: [] } }),
    );
  });

  it('a read that the service refuses leaves the rows, and their age', async () => {
    const { element, world } = await table({ upstream: { ageSeconds: 100, stale: false } });
    await post('/world', {
      token: world.token,
      fail: { code: 'UPSTREAM_UNAVAILABLE', times: 1 },
      failOnly: 'PayoutsPoll',
    });
    await passHalfMinute();
    await shows(() => connection(element), 'Sem contato com o serviço, de há 2 min.');
    expect(codes(element)).toHaveLength(3);
    expect(element.phase).toBe('ready');
  });

  it.each([
    ['en', 'No contact with the service, as of 1 min. ago'],
    ['es', 'Sin contacto con el servicio, de hace 1 min'],
  ])('the age is in the language %s', async (locale, words) => {
    const { element } = await table({ upstream: { ageSeconds: 60, stale: true } }, { locale });
    await shows(() => connection(element), words);
  });

  it('a table that polls says the age of its rows while the service gives none', async () => {
    const { element, world } = await table(
      { upstream: { ageSeconds: 100, stale: false } },
      { transport: 'poll' },
    );
    await shows(() => connection(element), 'Atualizando');
    await post('/world', {
      token: world.token,
      fail: { code: 'UPSTREAM_UNAVAILABLE', times: 1_000 },
      failOnly: 'PayoutsPoll',
    });
    await shows(() => connection(element), 'Reconectando…');
    await passHalfMinute();
    await shows(() => connection(element), 'Sem contato com o serviço, de há 2 min.');
    expect(element.connection).toBe('reconnecting');
  });

  it('a table that has lost its server for a minute says the age of its rows', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    const { element, world } = await table({}, { transport: 'poll' });
    await shows(() => connection(element), 'Atualizando');
    await post('/world', {
      token: world.token,
      fail: { code: 'INTERNAL_SERVER_ERROR', times: 1_000 },
      failOnly: 'PayoutsPoll',
    });
    await shows(() => connection(element), 'Reconectando…');
    await passHalfMinute();
    expect(connection(element)).toBe('Reconectando…');
    await vi.advanceTimersByTimeAsync(90_000);
    await shows(() => connection(element), 'Reconectando, de há 2 min.');
  });

  it('a key that the service refuses is named', async () => {
    const upstream = { ageSeconds: 60, stale: true, keyRefused: true };
    const { element } = await table({ upstream });
    await shows(() => connection(element), 'O serviço recusou a chave, de há 1 min.');
  });

  it('a refused key is named where no row is read from the service, until it is accepted', async () => {
    const unread = { ageSeconds: null, stale: false };
    const { element, world } = await table({ upstream: { ...unread, keyRefused: true } });
    await shows(() => connection(element), 'O serviço recusou a chave');
    await post('/world', { token: world.token, upstream: unread });
    await passHalfMinute();
    await shows(() => connection(element), 'Ao vivo');
  });

  it('a server that has no other behind it is asked for nothing', async () => {
    const { element, world } = await table();
    await passHalfMinute();
    expect(connection(element)).toBe('Ao vivo');
    expect((await readWorld(world)).queries.map(({ name }) => name)).toEqual(['PayoutsStart']);
  });
});

describe('texts', () => {
  it.each([
    ['pt-BR', 'Solicitado (Brasília)', /^50 de 1\.200 saques$/, /^R\$\s[\d.]+,\d\d$/],
    ['en', 'Requested (Brasília)', /^50 of 1,200 payouts$/, /^R\$[\d,]+\.\d\d$/],
    ['es', 'Solicitado (Brasilia)', /^50 de 1200 retiros$/, /^R\$\s[\d.]+,\d\d$/],
  ])(
    'texts, numbers, and amounts as neighbors write them, are in the language %s',
    async (locale, column, footer, amount) => {
      const { element } = await table({ count: 1_200 }, { locale });
      await shows(() => text(element, 'header')?.includes(column), true);
      await shows(() => text(element, 'footer'), expect.stringMatching(footer));
      expect(rows(element)[0]?.querySelector('.amount b')?.textContent).toMatch(amount);
    },
  );

  it('labels replace single texts', async () => {
    const { element } = await table(
      { count: 1 },
      { labels: { payouts: 'Transferências', PENDING: 'A caminho' } },
    );
    expect(element.shadowRoot?.querySelector('table')?.getAttribute('aria-label')).toBe('Transferências');
    expect(rows(element)[0]?.querySelector('.state')?.textContent).toBe('A caminho');
  });
});

describe.each(inject('axeSchemes'))('accessibility in %s colours', (colorScheme) => {
  it.each([
    ['ready', { count: 120 }, {}, 'ready'],
    ['empty', { count: 0 }, {}, 'ready'],
    ['loading', { fail: { times: 1, hold: true } }, {}, 'loading'],
    ['refused', {}, { token: 'wrong' }, 'error'],
    ['sorted, from right to left', { count: 1_200 }, { sort: '-amount', locale: 'en', dir: 'rtl' }, 'ready'],
  ] as const)('axe finds nothing in a table that is %s', async (_, world, properties, phase) => {
    document.documentElement.style.colorScheme = colorScheme;
    const { element } = await table(world, properties, phase);
    point(element, 'pointerenter');
    if (phase === 'ready') await act(element, { add: {} });
    await element.updateComplete;
    const { violations } = await axe.run(element);
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)).toEqual([]);
  });
});

it.each(inject('axeSchemes'))('axe finds nothing in the controls in %s colours', async (colorScheme) => {
  document.documentElement.style.colorScheme = colorScheme;
  const { element } = await table({ count: 3 });
  await opened(element);
  fill(element, 'Valor (R$)', 'muito');
  button(element, 'apply-button').click();
  await shows(() => element.shadowRoot?.activeElement, control(element, 'Valor (R$)'));
  const { violations } = await axe.run(element);
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)).toEqual([]);
});

async function table(
  given: Partial<PayoutsWorld> = {},
  properties: Partial<PsaPayouts> = {},
  phase: PsaPayouts['phase'] = 'ready',
): Promise<{ element: PsaPayouts; world: PayoutsWorld }> {
  const world = await post<PayoutsWorld>('/world', given);
  const element = document.createElement('psa-payouts');
  Object.assign(element, { endpoint: `${url}/graphql`, token: world.token, ...properties });
  document.body.append(element);
  await shows(() => element.phase, phase);
  if (phase === 'ready') await shows(() => /live|polling/.test(element.connection), true);
  await element.updateComplete;
  await frame();
  return { element, world };
}

/** A token that the page requests, and that the test then gives. */
function lateToken() {
  let give: (token: string) => void = () => undefined;
  let ask: () => void = () => undefined;
  const token = new Promise<string>((resolve) => {
    give = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const renewToken = () => {
    ask();
    return token;
  };
  return { renewToken, asked, give };
}

function act(element: PsaPayouts, what: Omit<PayoutsAct, 'token'>): Promise<unknown> {
  return post('/act', { token: element.token, ...what });
}

function readWorld({ token }: PayoutsWorld): Promise<PayoutsWorld> {
  return post('/world', { token });
}

async function post<Answer = unknown>(path: string, body: object): Promise<Answer> {
  const response = await fetch(`${url}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

function shows(look: () => unknown, what: unknown): Promise<void> {
  return waitFor(async () => expect(await look()).toEqual(what));
}

function event(element: PsaPayouts, name: string): Promise<CustomEvent> {
  return new Promise((resolve) =>
    element.addEventListener(name, (heard) => resolve(heard as CustomEvent), { once: true }),
  );
}

const part = (element: PsaPayouts, name: string) =>
  element.shadowRoot!.querySelector<HTMLElement>(`[part=${name}]`);
const button = (element: PsaPayouts, name: string) => part(element, name) as HTMLButtonElement;
const text = (element: PsaPayouts, name: string) => words(part(element, name));

/** The text of a node as a reader sees it, with a space between elements. */
function words(node: Node | null | undefined): string | undefined {
  const read = (child: Node): string => {
    if (child instanceof Element) return ` ${[...child.childNodes].map(read).join('')} `;
    return child instanceof Text ? child.data : '';
  };
  return node ? read(node).replace(/\s+/g, ' ').trim() : undefined;
}
const scroller = (element: PsaPayouts) => part(element, 'scroller')!;
const rows = (element: PsaPayouts) => [...element.shadowRoot!.querySelectorAll<HTMLElement>('tbody tr')];
const codes = (element: PsaPayouts) => rows(element).map((row) => row.querySelector('.code')?.textContent);
const announced = (element: PsaPayouts) =>
  element.shadowRoot!.querySelector('[data-announcement]')?.textContent;
const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

function topOf(element: PsaPayouts, code: string): number | undefined {
  const row = rows(element).find((each) => each.textContent?.includes(code));
  return row?.getBoundingClientRect().top;
}

function scroll(element: PsaPayouts, top: number): void {
  scroller(element).scrollTop = top;
}

function point(element: PsaPayouts, type: 'pointerenter' | 'pointerleave'): void {
  part(element, 'base')?.dispatchEvent(new PointerEvent(type));
}

/** Focuses the row that Tab reaches. */
async function focused(element: PsaPayouts): Promise<Element> {
  const row = element.shadowRoot!.querySelector<HTMLElement>('tbody [tabindex="0"]')!;
  row.focus();
  await shows(() => element.shadowRoot?.activeElement, row);
  return row;
}

function press(key: string, target: Element): void {
  target.dispatchEvent(
    new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true }),
  );
}

/** Opens the controls of the conditions, whose chunk loads. */
async function opened(element: PsaPayouts): Promise<void> {
  button(element, 'filters-button').click();
  await waitFor(() => expect(part(element, 'filters')).not.toBeNull());
  expect(part(element, 'filters-button')?.getAttribute('aria-expanded')).toBe('true');
}

/** The control with this label. */
function control(element: PsaPayouts, label: string): HTMLInputElement {
  const labels = [...part(element, 'filters')!.querySelectorAll('label')];
  return labels.find((each) => words(each) === label)!.control as HTMLInputElement;
}

function fill(element: PsaPayouts, label: string, value: string): void {
  control(element, label).value = value;
}

/** The text of the controls about the result. */
const result = (element: PsaPayouts) => words(part(element, 'filters')?.querySelector('[role=status]'));

function sortBy(element: PsaPayouts, name: string): void {
  const all = [...element.shadowRoot!.querySelectorAll<HTMLButtonElement>('[part=sort-button]')];
  all.find((each) => each.textContent?.trim() === name)?.click();
}

function filter(element: PsaPayouts, name: string): void {
  const all = [...element.shadowRoot!.querySelectorAll<HTMLButtonElement>('[part=filter]')];
  all.find((each) => each.textContent?.trim() === name)?.click();
}
