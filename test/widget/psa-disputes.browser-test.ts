import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import '../../widget/src/disputes/define.ts';
import type { DefenceRequest } from '../../widget/src/disputes/events.ts';
import type { PsaDisputes } from '../../widget/src/disputes/psa-disputes.ts';
import { act, event, openWorld, part, place, readWorld, shows, words } from './board.ts';
import { NOW } from './fake-disputes.ts';
import type { WorldRequest } from './fake-payouts.ts';

const PDF = new File(['%PDF-1.7 …'], 'entrega.pdf', { type: 'application/pdf' });
const PNG = new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 1])], 'tela.png', { type: 'image/png' });

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
    vi.useFakeTimers({ toFake: ['Date'] });
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

describe('a defence', () => {
  it('the page gets the text and the files, and the form waits for its answer', async () => {
    const { element } = await answering();
    write(element, '  Foi entregue. ');
    await attach(element, PDF, PNG);
    const answer = Promise.withResolvers<void>();
    const asked = new Promise<DefenceRequest>((resolve) =>
      element.addEventListener('psa-defence-request', ({ detail }) => {
        detail.respondWith(answer.promise);
        resolve(detail);
      }),
    );
    part(element, 'defence-button')!.click();
    const { disputeId, text, files } = await asked;
    expect({ disputeId, text }).toEqual({ disputeId: 'dsp_000000000000000000000001', text: 'Foi entregue.' });
    expect(files.map(({ name }) => name)).toEqual(['entrega.pdf', 'tela.png']);
    await shows(() => words(part(element, 'defence-button')), 'Enviando…');
    expect(part(element, 'defence-button')!.matches(':disabled')).toBe(true);
    answer.resolve();
    await shows(() => problem(element), 'Defesa enviada');
    expect(story(element).value).toBe('');
    expect(chosen(element)).toBe(0);
  });

  it.each([
    ['with the page’s words', () => Promise.resolve({ message: 'O prazo acabou.' }), 'O prazo acabou.'],
    ['as a failure', () => Promise.reject(new Error('502')), 'A defesa não foi enviada. Tente de novo.'],
  ])('a refusal is shown %s, and what was written stays', async (_, answer, shown) => {
    const { element } = await answering();
    write(element, 'Foi entregue.');
    element.addEventListener('psa-defence-request', ({ detail }) => detail.respondWith(answer()));
    part(element, 'defence-button')!.click();
    await shows(() => problem(element), shown);
    expect(story(element).value).toBe('Foi entregue.');
  });

  it.each([
    [
      'a type that banks do not read',
      [new File(['GIF89a'], 'a.gif', { type: 'image/gif' })],
      'a.gif não é um PDF, PNG ou JPEG.',
    ],
    [
      'a name that lies',
      [new File(['GIF89a'], 'a.png', { type: 'image/png' })],
      'a.png não é um PDF, PNG ou JPEG.',
    ],
    [
      'nothing in it',
      [new File([], 'a.pdf', { type: 'application/pdf' })],
      'a.pdf não é um PDF, PNG ou JPEG.',
    ],
    [
      'more than 5 MB',
      [new File([new Uint8Array(5 * 1024 ** 2 + 1)], 'a.pdf', { type: 'application/pdf' })],
      'a.pdf tem mais de 5 MB.',
    ],
    ['a fourth place', [PDF, PNG, PDF, PNG], 'tela.png não cabe: a disputa tem até 3 arquivos.'],
  ])('a file with %s is refused in the page', async (_, files, shown) => {
    const { element } = await answering();
    choose(element, ...files);
    await shows(() => problem(element), shown);
    expect(chosen(element)).toBe(files.length - 1);
  });

  it('a defence without a text and a file is no request, and one of a file alone is', async () => {
    const { element } = await answering();
    const asked = vi.fn();
    element.addEventListener('psa-defence-request', ({ detail }) => asked(detail.text, detail.files.length));
    part(element, 'defence-button')!.click();
    await shows(() => problem(element), 'Escreva o que aconteceu, ou escolha um arquivo.');
    await attach(element, PDF);
    part(element, 'defence-button')!.click();
    expect(asked.mock.calls).toEqual([['', 1]]);
  });

  it('what was written stays with its dispute while the details are closed', async () => {
    const { element } = await answering({ disputeCount: 2 });
    write(element, 'Foi entregue.');
    await close(element);
    await open(element, 'dispute-2');
    await shows(() => story(element).value, '');
    await close(element);
    await open(element, 'dispute-1');
    await shows(() => story(element).value, 'Foi entregue.');
  });
});

it('accepting a claim says what it costs before it asks the page, and leaves with the answer', async () => {
  const { element, world } = await answering();
  const asked = vi.fn();
  element.addEventListener('psa-accept-request', ({ detail }) => {
    asked(detail.disputeId);
    detail.respondWith(
      act(world.token, {
        dispute: { number: 1, values: { status: 'LOST', closedAt: new Date(NOW).toISOString() } },
      }).then<undefined>(() => undefined),
    );
  });
  part(element, 'accept-button')!.click();
  await shows(
    () => words(element.shadowRoot!.querySelector('#price')),
    expect.stringMatching(/^Aceitar custa R\$ 128,19: /),
  );
  expect(asked).not.toHaveBeenCalled();
  await shows(() => element.shadowRoot!.activeElement?.id, 'keep');
  part(element, 'confirm-button')!.click();
  expect(asked.mock.calls).toEqual([['dsp_000000000000000000000001']]);
  await shows(() => part(element, 'details')!.querySelector('form'), null);
  await shows(() => rows(element)[0], expect.stringContaining('Perdida'));
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
  const { violations: found } = await axe.run(element);
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`);
}

/** Places disputes; `leftSeconds` is the time that is left of the first one. */
async function disputes(
  given: WorldRequest = {},
  properties: Partial<PsaDisputes> = {},
  leftSeconds?: number,
) {
  const world = await openWorld(given);
  if (leftSeconds)
    await act(world.token, {
      dispute: {
        number: 1,
        values: {
          evidenceDueAt: new Date(NOW + leftSeconds * 1_000).toISOString(),
          evidenceDueInSeconds: leftSeconds,
        },
      },
    });
  return { element: await place('psa-disputes', world, properties), world };
}

/** Opens the first of some disputes on a page that answers requests. */
async function answering(given: WorldRequest = { disputeCount: 1 }) {
  const placed = await disputes(given, { details: true, actions: 'defence accept' });
  await open(placed.element, 'dispute-1');
  return placed;
}

async function open(element: PsaDisputes, id: string): Promise<void> {
  element.shadowRoot!.querySelector<HTMLElement>(`tr[data-id="${id}"] td`)!.click();
  await shows(() => part(element, 'details')?.matches('[open]'), true);
}

const story = (element: PsaDisputes) => element.shadowRoot!.querySelector<HTMLTextAreaElement>('#story')!;
const problem = (element: PsaDisputes) => words(element.shadowRoot!.querySelector('#answer'));
const dueCell = (element: PsaDisputes) => element.shadowRoot!.querySelector('td.due');

function write(element: PsaDisputes, text: string): void {
  story(element).value = text;
  story(element).dispatchEvent(new Event('input'));
}

function choose(element: PsaDisputes, ...files: File[]): void {
  const input = element.shadowRoot!.querySelector<HTMLInputElement>('input[type=file]')!;
  const transfer = new DataTransfer();
  for (const file of files) transfer.items.add(file);
  input.files = transfer.files;
  input.dispatchEvent(new Event('change'));
}

/** Chooses files that the dispute takes. */
async function attach(element: PsaDisputes, ...files: File[]): Promise<void> {
  choose(element, ...files);
  await shows(() => chosen(element), files.length);
}

const chosen = (element: PsaDisputes) => element.shadowRoot!.querySelectorAll('.file').length;

async function close(element: PsaDisputes): Promise<void> {
  const closed = event(part(element, 'details')!, 'close');
  part(element, 'close-button')!.click();
  await closed;
}

const button = (element: PsaDisputes, text: string) =>
  [...element.shadowRoot!.querySelectorAll<HTMLElement>('[part=filter]')].find(
    (each) => words(each) === text,
  )!;

const rows = (element: PsaDisputes) =>
  [...element.shadowRoot!.querySelectorAll('tbody tr')].map((row) => words(row));
