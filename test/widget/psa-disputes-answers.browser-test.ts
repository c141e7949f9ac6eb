import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PageAnswer } from '../../widget/src/board/page-request.ts';
import '../../widget/src/disputes/define.ts';
import type { DefenceRequest } from '../../widget/src/disputes/events.ts';
import { act, event, part, shows, words } from './board.ts';
import {
  answering,
  attach,
  choose,
  chosen,
  close,
  disputes,
  hint,
  named,
  names,
  open,
  PDF,
  PNG,
  problem,
  rows,
  story,
  uploads,
  write,
} from './disputes-page.ts';
import { NOW } from './fake-disputes.ts';

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
    [
      'a fourth place',
      [PDF, PNG, named('a.pdf'), named('b.pdf')],
      'b.pdf não cabe: a disputa tem até 3 arquivos.',
    ],
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

  it('the same file is chosen once, and two choices at a time have the same three places', async () => {
    const { element } = await answering();
    choose(element, PDF, PNG);
    choose(element, PDF, named('a.pdf'), named('b.pdf'));
    // Which one is left over depends on the order in which the browser reads them.
    await shows(() => problem(element), expect.stringContaining('não cabe: a disputa tem até 3 arquivos.'));
    expect([names(element).length, new Set(names(element)).size]).toEqual([3, 3]);
  });

  it('the answer leaves once another file is chosen', async () => {
    const { element } = await answering();
    write(element, 'Foi entregue.');
    element.addEventListener('psa-defence-request', ({ detail }) => detail.respondWith(Promise.resolve()));
    part(element, 'defence-button')!.click();
    await shows(() => problem(element), 'Defesa enviada');
    await attach(element, PDF);
    await shows(() => problem(element), '');
  });

  it('the files of a submission that failed count once, and another one fits', async () => {
    const { element, world } = await answering();
    await attach(element, PDF, PNG);
    const asked = vi.fn();
    const uploaded = { files: await uploads(PDF, PNG) };
    element.addEventListener('psa-defence-request', ({ detail }) => {
      asked(detail.files.length, detail.fileIds);
      detail.respondWith(
        act(world.token, { dispute: { number: 1, values: uploaded } }).then<PageAnswer>(() => ({
          message: 'Não.',
        })),
      );
    });
    part(element, 'defence-button')!.click();
    await shows(() => hint(element), 'Até 1 em PDF, PNG ou JPEG, de até 5 MB cada.');
    await shows(() => problem(element), 'Não.');
    expect(names(element)).toEqual(['entrega.pdf', 'tela.png']);
    choose(element, named('a.pdf'));
    await shows(() => names(element), ['entrega.pdf', 'tela.png', 'a.pdf']);
    part(element, 'defence-button')!.click();
    expect(asked.mock.calls).toEqual([
      [2, []],
      [3, []],
    ]);
  });

  it('uploaded files that no submission has are sent with the next one, unless they are removed', async () => {
    const { element, world } = await disputes({ disputeCount: 1 }, { details: true, actions: 'defence' });
    const values = {
      files: await uploads(named('a.pdf'), named('b.pdf'), named('c.pdf')),
      submissions: [{ text: null, documents: [], fileIds: ['dsf_a.pdf'], submittedAt: null }],
    };
    await act(world.token, { dispute: { number: 1, values } });
    await open(element, 'dispute-1');
    await shows(() => names(element), ['b.pdf', 'c.pdf']);
    element.shadowRoot!.querySelector<HTMLElement>('[aria-label="Remover b.pdf"]')!.click();
    await shows(() => names(element), ['c.pdf']);
    const heard = event(element, 'psa-defence-request');
    part(element, 'defence-button')!.click();
    expect((await heard).detail).toMatchObject({ text: '', files: [], fileIds: ['dsf_c.pdf'] });
  });

  it('a chosen file is another one than an uploaded file of its name, and the same bytes are one by any name', async () => {
    const { element, world } = await disputes({ disputeCount: 1 }, { details: true, actions: 'defence' });
    await act(world.token, {
      dispute: { number: 1, values: { files: await uploads(named(PDF.name), PNG) } },
    });
    await open(element, 'dispute-1');
    await shows(() => names(element), [PDF.name, PNG.name]);
    choose(element, PDF, new File([PNG], 'outra.png'));
    await shows(() => names(element), [PDF.name, PDF.name, 'outra.png']);
    expect(hint(element)).toBe('A disputa tem os 3 arquivos que pode ter.');
    const heard = event(element, 'psa-defence-request');
    part(element, 'defence-button')!.click();
    expect((await heard).detail.fileIds).toEqual([`dsf_${PDF.name}`]);
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

it('an acceptance that is done is not in the colour of a mistake', async () => {
  const { element } = await answering();
  element.addEventListener('psa-accept-request', ({ detail }) => detail.respondWith(Promise.resolve()));
  part(element, 'accept-button')!.click();
  await shows(() => part(element, 'confirm-button') !== null, true);
  part(element, 'confirm-button')!.click();
  const answer = () => element.shadowRoot!.querySelector('.acceptance [role=status]');
  await shows(() => words(answer()), 'Reclamação aceita por você');
  expect(answer()!.className).toBe('hint');
});
