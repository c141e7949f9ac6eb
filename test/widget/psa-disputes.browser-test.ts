import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import '../../widget/src/disputes/define.ts';
import { act, event, openWorld, part, place, readWorld, shows, words } from './board.ts';
import { answering, button, choose, disputes, dueCell, open, PDF, rows } from './disputes-page.ts';

beforeEach(() => {
  document.documentElement.lang = 'pt-BR';
  // A headless browser has its pointer in the corner, and rows under a pointer do not move.
  document.body.style.padding = '3rem';
});

afterEach(() => {
  for (const element of document.querySelectorAll('psa-disputes')) element.remove();
  vi.restoreAllMocks();
  vi.useRealTimers();
  document.documentElement.style.colorScheme = '';
});

describe('the list', () => {
  it('each dispute has its status, amount, deadline with the time that is left, and sale', async () => {
    const { element } = await disputes({ disputeCount: 18 });
    expect(rows(element).slice(0, 3)).toEqual([
      'Em análise Fraude R$ 574,42 bloqueado 7 de mar. de 2026 07:15 · ainda 4 dias 23 h · defesa enviada Ana Souza Chargeback · ref-18 2 de mar. de 2026 07:15',
      'Aberta R$ 495,23 bloqueado 6 de mar. de 2026 21:15 · ainda 4 dias 13 h Curso de cerâmica MED · ref-17 1 de mar. de 2026 21:15',
      'Aberta Erro do banco R$ 416,04 bloqueado 6 de mar. de 2026 11:15 · ainda 4 dias 3 h Caneca Chargeback · PEDIDO-16 1 de mar. de 2026 11:15',
    ]);
    expect(words(part(element, 'footer'))).toBe('18 disputas');
  });

  it('a new dispute appears by itself, is an event, and is announced', async () => {
    const { element, world } = await disputes({ disputeCount: 2 });
    const heard = event(element, 'psa-dispute-update');
    await act(world.token, { dispute: { values: { amountCents: 12_300 } } });
    expect((await heard).detail).toMatchObject({ dispute: { amountCents: 12_300 }, previous: undefined });
    await shows(() => rows(element)[0], expect.stringContaining('R$ 123,00'));
    await shows(
      () => words(element.shadowRoot!.querySelector('[data-announcement]')),
      expect.stringMatching(/^Nova disputa de R\$ 123,00: /),
    );
  });

  it('the buttons of the statuses ask the server, and an event names them', async () => {
    const { element, world } = await disputes({ disputeCount: 18 });
    const heard = event(element, 'psa-filter-change');
    button(element, 'Aberta').click();
    expect((await heard).detail).toEqual({ statuses: ['OPEN'], filter: undefined });
    await shows(() => element.totalCount, 8);
    expect(element.disputes.every(({ status }) => status === 'OPEN')).toBe(true);
    const { queries } = await readWorld(world);
    expect(queries.at(-1)?.variables.filter).toEqual({ status: ['OPEN'] });
  });

  it.each([
    ['a code with a space in it', 'dsp_0000 00000000000000000002', 'dsp_000000000000000000000002', 1],
    ['words', 'pedido de João', 'pedidodeJoo', 0],
    ['no sign of an id', '—', '-', 0],
    ['too long a text', 'a'.repeat(254), 'a'.repeat(128), 0],
  ])('a search for %s is a filter that the server takes', async (_, text, reference, found) => {
    const { element, world } = await disputes({ disputeCount: 3 });
    const heard = event(element, 'psa-filter-change');
    const input = part(element, 'search') as HTMLInputElement;
    input.value = text;
    input.dispatchEvent(new Event('change'));
    expect((await heard).detail.filter).toEqual({ reference });
    await shows(() => element.totalCount, found);
    expect((await readWorld(world)).queries.at(-1)?.variables.filter).toEqual({ reference });
  });

  it('a filter that the server refuses leaves the error, and nothing that loads', async () => {
    const { element, world } = await disputes({ disputeCount: 3 });
    await openWorld({ token: world.token, fail: { code: 'BAD_USER_INPUT', times: 9 } });
    element.amountCents = 7;
    await shows(() => element.phase, 'error');
    await element.updateComplete;
    expect(words(part(element, 'footer'))).not.toContain('Carregando');
    expect(element.shadowRoot!.querySelector('tbody')!.className).not.toContain('stale');
  });

  it('the order by deadline has the next one first, and what is decided last', async () => {
    const { element } = await disputes({ disputeCount: 18 }, { sort: 'due' });
    await shows(() => element.disputes.length, 18);
    const open = element.disputes.map(({ closedAt, evidenceDueAt }) => (closedAt ? null : evidenceDueAt));
    const ahead = open.filter((due) => due !== null);
    expect(open).toEqual([...ahead.toSorted(), ...Array(18 - ahead.length).fill(null)]);
  });
});

describe('the time that is left', () => {
  it('it follows the server’s clock, in minutes, in the last hour in seconds, and ends', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    vi.setSystemTime('2001-01-01T00:00:00Z');
    const { element } = await disputes({ disputeCount: 1 }, {}, 62 * 60);
    const left = () => /ainda .*|prazo encerrado/.exec(words(dueCell(element)) ?? '')?.[0];
    await shows(left, 'ainda 1 h 2 min');
    vi.advanceTimersByTime(3 * 60_000);
    await shows(left, expect.stringMatching(/^ainda 5[89] min( \d+ s)?$/));
    vi.advanceTimersByTime(58 * 60_000);
    await shows(left, expect.stringMatching(/^ainda (1 min|\d+ s)$/));
    expect(element.shadowRoot!.querySelector('.urgent')).not.toBeNull();
    vi.advanceTimersByTime(2 * 60_000);
    await shows(left, 'prazo encerrado');
  });

  it('a date that is set meanwhile ends no deadline: the disputes are read again', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const { element, world } = await disputes({ disputeCount: 1 }, {}, 20 * 3_600);
    const reads = async () =>
      (await readWorld(world)).queries.filter(({ name }) => name === 'DisputesStart').length;
    const before = await reads();
    vi.setSystemTime(Date.now() + 24 * 3_600_000);
    await shows(async () => (await reads()) > before, true);
    await shows(() => words(dueCell(element)), expect.stringContaining('ainda 20 h'));
  });

  it('a draw looks at no deadline but those of new rows', async () => {
    const { element } = await disputes({ disputeCount: 40 });
    await shows(() => element.disputes.length, 40);
    await element.updateComplete;
    const parsed = vi.spyOn(Date, 'parse');
    element.requestUpdate();
    await element.updateComplete;
    expect(parsed).not.toHaveBeenCalled();
  });

  it('a page in the background draws nothing, and draws it once it is seen again', async () => {
    const { element } = await disputes({ disputeCount: 1 }, {}, 30 * 60);
    const hidden = vi.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    document.dispatchEvent(new Event('visibilitychange'));
    await element.updateComplete;
    const drawn = vi.spyOn(element, 'requestUpdate');
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    expect(drawn).not.toHaveBeenCalled();
    hidden.mockReturnValue(false);
    document.dispatchEvent(new Event('visibilitychange'));
    expect(drawn).toHaveBeenCalled();
  });
});

describe('the details', () => {
  it('a row opens its facts, the texts of its defence, and no form that the page does not allow', async () => {
    const { element } = await disputes({ disputeCount: 18 }, { details: true });
    await open(element, 'dispute-18');
    await shows(() => words(part(element, 'details')), expect.stringContaining('O pedido foi entregue.'));
    const shown = words(part(element, 'details'));
    expect(shown).toContain('Entrega: https://loja.example/entrega.pdf entrega.pdf');
    expect(shown).toContain('dsp_000000000000000000000012');
    expect(part(element, 'details')!.querySelector('form')).toBeNull();
  });

  it('a dispute that is decided takes no answer', async () => {
    const { element } = await disputes(
      { disputeCount: 30 },
      { details: true, actions: 'defence accept', statuses: 'WON' },
    );
    await open(element, 'dispute-16');
    await shows(() => words(part(element, 'details')), expect.stringContaining('Ganha'));
    expect(part(element, 'details')!.querySelector('form, [part=accept-button]')).toBeNull();
  });
});

it.each([
  ['en', 'No disputes yet.'],
  ['es', 'Todavía no hay disputas.'],
  ['pt-BR', 'Nenhuma disputa ainda.'],
])('an account without disputes says so in the language %s', async (locale, text) => {
  const { element } = await disputes({}, { locale });
  await shows(() => words(part(element, 'empty')), text);
});

describe.each(inject('axeSchemes'))('accessibility in %s colours', (colorScheme) => {
  it.each([
    ['ready', { disputeCount: 40 }, {}, 'ready'],
    ['empty', {}, {}, 'ready'],
    ['refused', {}, { token: 'wrong' }, 'error'],
  ] as const)('axe finds nothing in disputes that are %s', async (_, world, properties, phase) => {
    document.documentElement.style.colorScheme = colorScheme;
    const element = await place('psa-disputes', await openWorld(world), properties, phase);
    expect(await violations(element)).toEqual([]);
  });

  it('axe finds nothing in the details with their forms', async () => {
    document.documentElement.style.colorScheme = colorScheme;
    const { element } = await answering();
    part(element, 'accept-button')!.click();
    choose(element, PDF, new File(['?'], 'a.txt'));
    await shows(() => element.shadowRoot!.querySelector('#price') !== null, true);
    expect(await violations(element)).toEqual([]);
  });
});

async function violations(element: Element): Promise<string[]> {
  // A panel that arrives is half transparent.
  await Promise.all(element.shadowRoot!.getAnimations().map(({ finished }) => finished));
  const { violations: found } = await axe.run(element);
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`);
}
