import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import '../../widget/src/statement/define.ts';
import type { PsaStatement } from '../../widget/src/statement/psa-statement.ts';
import {
  act,
  arrived,
  dialogOf,
  event,
  openRow,
  openWorld,
  part,
  place,
  readWorld,
  shows,
  words,
} from './board.ts';
import type { WorldRequest } from './fake-payouts.ts';

beforeEach(() => {
  document.documentElement.lang = 'pt-BR';
  // A headless browser has its pointer in the corner, and rows under a pointer do not move.
  document.body.style.padding = '3rem';
});

afterEach(() => {
  for (const element of document.querySelectorAll('psa-statement')) element.remove();
  vi.restoreAllMocks();
  document.documentElement.style.colorScheme = '';
});

describe('the entries', () => {
  it('entries are shown newest first, under their days, with the balance after each', async () => {
    const { element } = await statement({ entryCount: 4 });
    // The fourth is of the morning of the next day in Brasília.
    expect(rows(element)).toEqual(
      [
        '2 de mar. de 2026',
        'Estorno ref-4 -R$ 15,00 R$ 10.070,00 04:35',
        'Saque ref-3 -R$ 15,00 tarifa R$ 1,00 R$ 10.085,00 22:35',
        'Liberação de venda no cartão ref-2 +R$ 50,00 a liberar -R$ 50,00 R$ 10.100,00 16:35',
        'Pagamento por PIX ou LTC ref-1 +R$ 50,00 R$ 10.050,00 10:35',
      ].toSpliced(2, 0, '1 de mar. de 2026'),
    );
    expect(words(part(element, 'footer'))).toBe('4 lançamentos');
    expect(part(element, 'table')?.getAttribute('aria-rowcount')).toBe('7');
  });

  it('a new entry appears by itself, and is an event', async () => {
    const { element, world } = await statement({ entryCount: 2 });
    const heard = event(element, 'psa-entry-update');
    await act(world.token, { move: { amountCents: -700, kind: 'PAYOUT' } });
    expect((await heard).detail.entry).toMatchObject({ kind: 'PAYOUT', amountCents: -700 });
    await shows(() => rows(element)[1], expect.stringContaining('Saque ref-3 -R$ 7,00'));
    expect(words(part(element, 'footer'))).toBe('3 lançamentos');
  });

  it('many new entries are read once', async () => {
    const { element, world } = await statement({ entryCount: 1 });
    for (let number = 0; number < 20; number++) await act(world.token, { move: { amountCents: 100 } });
    await shows(() => element.totalCount, 21);
    const polls = (await readWorld(world)).queries.filter(({ name }) => name === 'StatementPoll');
    expect(polls.length).toBeLessThan(5);
  });

  it('a new entry appears even if the first reading of it fails', async () => {
    const { element, world } = await statement({ entryCount: 1 });
    await openWorld({ token: world.token, fail: { status: 502, times: 1 }, failOnly: 'StatementPoll' });
    await act(world.token, { move: { amountCents: 100 } });
    await shows(() => element.totalCount, 2);
  });

  it('a new entry appears even if the element is moved while it is read', async () => {
    const { element, world } = await statement({ entryCount: 1 });
    await openWorld({ token: world.token, fail: { times: 1, hold: true }, failOnly: 'StatementPoll' });
    await act(world.token, { move: { amountCents: 100 } });
    await shows(async () => (await readWorld(world)).fail?.times, 0);
    document.body.append(element);
    await shows(() => element.totalCount, 2);
  });

  it('older pages are loaded as the table is scrolled, and days have one heading each', async () => {
    const { element } = await statement({ entryCount: 130 }, { pageSize: 60 });
    for (const loaded of [120, 130]) {
      part(element, 'scroller')!.scrollTop = 1e6;
      await shows(() => element.entries.length, loaded);
    }
    expect(words(part(element, 'footer'))).toBe('130 lançamentos');
  });

  it('the keyboard goes over days and entries, and selects entries alone', async () => {
    const { element } = await statement({ entryCount: 2 });
    const selected = vi.fn();
    element.addEventListener('psa-entry-select', ({ detail }) => selected(detail.entry.id));
    const press = (key: string) =>
      (element.shadowRoot!.activeElement ?? part(element, 'scroller')!).dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true, composed: true, cancelable: true }),
      );
    element.shadowRoot!.querySelector<HTMLElement>('tbody [tabindex="0"]')!.focus();
    press('Enter');
    expect(selected).not.toHaveBeenCalled();
    press('End');
    await shows(() => words(element.shadowRoot!.activeElement), expect.stringContaining('ref-1'));
    press('Enter');
    expect(selected).toHaveBeenCalledWith('entry-1');
  });
});

describe('a filter', () => {
  it('the controls ask the server for kinds and days, which the attributes have, and an event names them', async () => {
    const { element, world } = await statement({ entryCount: 8 });
    part(element, 'filters-button')!.click();
    await shows(() => part(element, 'filters') !== null, true);
    const labels = [...part(element, 'filters')!.querySelectorAll('label')];
    labels
      .find((each) => words(each) === 'Saque')!
      .querySelector('input')!
      .click();
    const heard = event(element, 'psa-filter-change');
    part(element, 'apply-button')!.click();
    expect((await heard).detail).toEqual({ kinds: ['PAYOUT'], filter: undefined });
    await shows(() => element.totalCount, 2);
    expect(element.kinds).toBe('PAYOUT');
    // A kind that is chosen has a button, which removes it.
    expect(words(element.shadowRoot!.querySelector('[part=filter][aria-pressed=true]'))).toBe('Saque');
    await act(world.token, { move: { amountCents: 1 } });
    await act(world.token, { move: { amountCents: -2, kind: 'PAYOUT' } });
    await shows(() => element.entries.map(({ kind }) => kind), ['PAYOUT', 'PAYOUT', 'PAYOUT']);
    expect(element.totalCount).toBe(3);
  });

  it('the balances at both ends of a period are shown, and follow', async () => {
    const period = { createdAfter: '2026-03-01T15:00:00.000Z' };
    const { element, world } = await statement({ entryCount: 3 }, period);
    await shows(
      () => words(part(element, 'summary')),
      'Saldo inicial R$ 10.050,00 Diferença +R$ 35,00 Saldo final R$ 10.085,00',
    );
    await act(world.token, { move: { amountCents: 500 } });
    await shows(() => words(part(element, 'summary')), expect.stringContaining('Saldo final R$ 10.090,00'));
    element.reference = 'ref-2';
    await shows(() => part(element, 'summary'), null);
    element.reference = undefined;
    await shows(() => part(element, 'summary') !== null, true);
    element.token = undefined;
    await shows(() => part(element, 'summary'), null);
  });
});

describe('the details', () => {
  const WALLET =
    'Carteira depois do lançamento A liberar R$ 2.500,50 Em disputa R$ 400,00 Em subcontas R$ 600,00 Litecoin 1,25 LTC';

  it.each([
    [
      'entry-4',
      'Estorno Hora (Brasília) 2 de mar. de 2026, 04:35 Valor -R$ 15,00 Saldo R$ 10.070,00 Código ref-4',
      'Estorno Código ref_1 Motivo Veio quebrada Código da venda psa_1 Descrição Caneca Pedido PEDIDO-1 Cliente Ana Souza E-mail ana@psa.example',
    ],
    [
      'entry-3',
      'Saque Hora (Brasília) 1 de mar. de 2026, 22:35 Valor -R$ 15,00 Tarifa R$ 1,00 Saldo R$ 10.085,00 Código ref-3',
      'Saque Código SAQ-000003 Número do saque 000000000000000000000003 Destino an***@psa.example',
    ],
    [
      'entry-2',
      'Liberação de venda no cartão Hora (Brasília) 1 de mar. de 2026, 16:35 Valor +R$ 50,00 Também mudou a liberar -R$ 50,00 Saldo R$ 10.100,00 Código ref-2',
      '',
    ],
    [
      'entry-1',
      'Pagamento por PIX ou LTC Hora (Brasília) 1 de mar. de 2026, 10:35 Valor +R$ 50,00 Saldo R$ 10.050,00',
      'Venda Código ref-1 Descrição Caneca Pedido PEDIDO-1 Cliente Ana Souza E-mail ana@psa.example',
    ],
  ])('%s opens with its fee, the balance after it, and what it belongs to', async (id, entry, resource) => {
    const { element } = await statement({ entryCount: 4 }, { details: true });
    await openRow(element, id);
    await shows(() => words(dialogOf(element)), [entry, resource, WALLET].filter(Boolean).join(' '));
  });

  it('the heading of a day opens nothing', async () => {
    const { element } = await statement({ entryCount: 1 }, { details: true });
    element.shadowRoot!.querySelector<HTMLElement>('tbody tr')!.click();
    await element.updateComplete;
    expect(dialogOf(element)).toBeNull();
  });

  it.each(['en', 'es'] as const)('the panel is in the language %s', async (locale) => {
    const { element } = await statement({ entryCount: 4 }, { details: true, locale });
    await openRow(element, 'entry-4');
    const name = { en: 'Wallet after the entry', es: 'Billetera después del movimiento' }[locale];
    await shows(() => words(dialogOf(element)), expect.stringContaining(name));
    expect(words(dialogOf(element))).not.toMatch(/Estorno|Carteira/);
  });
});

describe('the export', () => {
  it('the entries of the filter are downloaded with the token in a header', async () => {
    const { element } = await statement({}, { export: true, kinds: 'PAYOUT REFUND' });
    const asked = vi.spyOn(window, 'fetch').mockResolvedValue(new Response('a;b'));
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
    part(element, 'export-button')!.click();
    await shows(() => saved.mock.calls.length, 1);
    const [address, init] = asked.mock.calls.at(-1)!;
    const { pathname, searchParams } = new URL(String(address));
    expect([pathname, Object.fromEntries(searchParams)]).toEqual([
      '/exports/statement.csv',
      { excel: 'pt-BR', kind: 'payout,refund' },
    ]);
    expect(init?.headers).toEqual({ authorization: `Bearer ${element.token}` });
  });

  it('an export whose token has expired is requested once more with the renewed one', async () => {
    const world = await openWorld();
    const renewed = await openWorld({ token: world.token, renew: true });
    const renewToken = vi.fn(async () => renewed.token);
    const element = await place('psa-statement', world, { export: true, renewToken });
    const { fetch } = window;
    const sent: unknown[] = [];
    vi.spyOn(window, 'fetch').mockImplementation(async (input, init) => {
      if (!String(input).includes('/exports/')) return fetch(input, init);
      sent.push(init?.headers);
      return sent.length === 1 ? new Response('', { status: 401 }) : new Response('a;b');
    });
    const saved = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue();
    part(element, 'export-button')!.click();
    await shows(() => saved.mock.calls.length, 1);
    expect(sent).toEqual([world.token, renewed.token].map((token) => ({ authorization: `Bearer ${token}` })));
    expect(renewToken).toHaveBeenCalledOnce();
  });

  it('an export that is refused is said, and can be tried again', async () => {
    const { element } = await statement({}, { export: true });
    vi.spyOn(window, 'fetch').mockResolvedValue(new Response('', { status: 429 }));
    part(element, 'export-button')!.click();
    await shows(
      () => words(part(element, 'export-button')!.parentElement),
      'Exportar Não foi possível exportar. Tente de novo em um minuto.',
    );
  });
});

it.each([
  ['en', 'No entries yet.'],
  ['es', 'Todavía no hay movimientos.'],
  ['pt-BR', 'Nenhum lançamento ainda.'],
])('an empty statement says so in the language %s', async (locale, text) => {
  const { element } = await statement({}, { locale });
  await shows(() => words(part(element, 'empty')), text);
  expect(element.matches(':state(empty)')).toBe(true);
});

describe.each(inject('axeSchemes'))('accessibility in %s colours', (colorScheme) => {
  it.each([
    ['ready', { entryCount: 60 }, { createdAfter: '2026-03-01T00:00:00-03:00', export: true }, 'ready', ''],
    ['open', { entryCount: 4 }, { details: true }, 'ready', 'entry-4'],
    ['empty', {}, {}, 'ready', ''],
    ['refused', {}, { token: 'wrong' }, 'error', ''],
  ] as const)('axe finds nothing in a statement that is %s', async (_, world, properties, phase, opened) => {
    document.documentElement.style.colorScheme = colorScheme;
    const element = await place('psa-statement', await openWorld(world), properties, phase);
    if (opened) {
      await openRow(element, opened);
      await shows(() => words(dialogOf(element)), expect.stringContaining('Carteira depois'));
      await arrived(element);
    }
    const { violations } = await axe.run(element);
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)).toEqual([]);
  });
});

async function statement(given: WorldRequest = {}, properties: Partial<PsaStatement> = {}) {
  const world = await openWorld(given);
  return { element: await place('psa-statement', world, properties), world };
}

const rows = (element: PsaStatement) =>
  [...element.shadowRoot!.querySelectorAll('tbody tr')].map((row) => words(row));
