import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import '../../widget/src/payouts/define.ts';
import type { PayoutDetails } from '../../widget/src/payouts/operations.ts';
import type { PsaPayouts } from '../../widget/src/payouts/psa-payouts.ts';
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
  for (const element of document.querySelectorAll('psa-payouts')) element.remove();
  document.documentElement.style.colorScheme = '';
});

const OWN_REASON = 'O banco de destino recusou a transferência';
const OF_A_BANK = 'Conta encerrada pelo titular';

describe('the totals', () => {
  it('the totals by status are the server’s, follow, and say where they are not exact', async () => {
    const { element, world } = await payouts({ count: 4 });
    const summary = () => words(part(element, 'summary'));
    await shows(summary, 'Pendente (1) R$ 366,76 Concluído (2) R$ 416,76 Negado (1) R$ 208,38');
    element.statuses = 'DENIED';
    await element.updateComplete;
    // Those of the filter before stay where they are, dimmed, until the server answers.
    expect([element.totals, part(element, 'summary')!.matches('.stale')]).toEqual([undefined, true]);
    await shows(summary, 'Negado (1) R$ 208,38');
    expect(element.totals?.groups).toEqual([{ status: 'DENIED', count: 1, amountCents: 20_838 }]);
    await openWorld({ token: world.token, isExact: false });
    await act(world.token, { change: { number: 4, values: { status: 'DENIED' } } });
    await shows(summary, 'Negado (2) pelo menos R$ 575,14');
    element.token = undefined;
    await shows(summary, undefined);
  });
});

describe('the details', () => {
  it('a row opens its whole payout, which follows to its end, and gives the focus back', async () => {
    const { element, world } = await payouts({ count: 4 }, { details: true });
    const selected = event(element, 'psa-payout-select');
    await openRow(element, 'payout-4');
    expect((await selected).detail.payout.id).toBe('payout-4');
    await shows(() => details(element), expect.stringContaining('Seu número PEDIDO-4'));
    expect(details(element)).toBe(
      [
        'Saque de R$ 366,76 Pendente Forma de saque PIX Destino an***@psa.example',
        'Tipo do destino E-mail Tarifa R$ 1,00 Valor líquido R$ 365,76 Código SAQ-000004',
        'Número do saque 000000000000000000000004 Seu número PEDIDO-4',
        'Histórico (Brasília) Solicitado 2 de mar. de 2026, 07:35 Na fila',
      ].join(' '),
    );
    const [processedAt, returnedAt] = ['2026-03-02T10:36:00.000Z', '2026-03-02T12:00:00.000Z'];
    const completed = { status: 'COMPLETED', processedAt, endToEndId: 'E2E' } as const;
    await act(world.token, { change: { number: 4, values: completed } });
    await shows(() => details(element), expect.stringContaining('(E2E) E2E'));
    expect(details(element)).toContain('07:35 Concluído 2 de mar. de 2026, 07:36');
    await act(world.token, { change: { number: 4, values: { status: 'RETURNED', returnedAt } } });
    await shows(
      () => details(element),
      expect.stringMatching(/07:36 Devolvido 2 de mar\. de 2026, 09:00 O valor voltou ao saldo$/),
    );
    const asked = async () =>
      (await readWorld(world)).queries.filter(({ name }) => name === 'PayoutDetails').length;
    await shows(asked, 3);
    part(element, 'close-button')!.click();
    await shows(() => dialogOf(element).open, false);
    expect(element.shadowRoot!.activeElement?.getAttribute('data-id')).toBe('payout-4');
  });

  it.each<[string, Partial<PayoutDetails>, string]>([
    [
      'in doubt',
      { status: 'PROCESSING', code: null, inDoubt: true, knownBy: '2026-03-02T11:00:00.000Z' },
      'Até lá se sabe se foi feito 2 de mar. de 2026, 08:00',
    ],
    ['in LTC', { method: 'LTC' }, 'Debitado do saldo em LTC 0,12345678 LTC'],
    ['of an unknown kind', { destinationKind: 'UNKNOWN' }, 'Destino +55******4321 Tarifa R$ 1,00'],
  ])('a payout that is %s says so', async (_, values, text) => {
    const { element, world } = await payouts({ count: 3 }, { details: true });
    await act(world.token, { change: { number: 2, values }, silent: true });
    await openRow(element, 'payout-2');
    await shows(() => details(element), expect.stringContaining(text));
    if (values.inDoubt) expect(details(element)).toContain('Não peça outro por enquanto.');
  });

  it('without the attribute a row is only selected', async () => {
    const { element } = await payouts({ count: 1 });
    const selected = event(element, 'psa-payout-select');
    element.shadowRoot!.querySelector<HTMLElement>('tbody tr')!.click();
    await selected;
    await element.updateComplete;
    expect(dialogOf(element)).toBeNull();
  });
});

describe('the reason of a denial', () => {
  it.each([
    ['pt-BR', OWN_REASON, `Negado ${OWN_REASON}`, ''],
    ['en', OWN_REASON, 'Denied The bank of the destination refused the transfer', ''],
    ['es', OWN_REASON, 'Denegado El banco de destino rechazó la transferencia', ''],
    ['pt-BR', OF_A_BANK, `Negado ${OF_A_BANK}`, OF_A_BANK],
    ['en', OF_A_BANK, `Denied The amount is back in the balance · ${OF_A_BANK}`, OF_A_BANK],
    ['es', OF_A_BANK, `Denegado El importe volvió al saldo · ${OF_A_BANK}`, OF_A_BANK],
  ])(
    'a reader of %s gets “%s” as “%s”, and a bank’s words as Portuguese',
    async (locale, deniedReason, text, quote) => {
      const { element, world } = await payouts({ count: 2 }, { details: true, locale: locale as 'en' });
      await act(world.token, { change: { number: 1, values: { status: 'DENIED', deniedReason } } });
      const cell = () => element.shadowRoot!.querySelector('tr[data-id=payout-1] .status');
      await shows(() => words(cell()), text);
      const quoted = (node: Element) => words(node.querySelector('q[lang="pt-BR"]')) ?? '';
      expect(quoted(cell()!)).toBe(quote);
      await openRow(element, 'payout-1');
      await shows(() => quoted(dialogOf(element)), quote);
      expect(details(element)).toContain(text.replace(/^\S+ /, '').replace(` · ${quote}`, ''));
    },
  );
});

describe.each(inject('axeSchemes'))('accessibility in %s colours', (colorScheme) => {
  it.each(['pt-BR', 'en'] as const)('axe finds nothing in the panel in %s', async (locale) => {
    document.documentElement.style.colorScheme = colorScheme;
    const { element, world } = await payouts({ count: 3 }, { details: true, locale });
    const values = { status: 'DENIED', deniedReason: OF_A_BANK } as const;
    await act(world.token, { change: { number: 2, values } });
    await openRow(element, 'payout-2');
    await shows(() => details(element), expect.stringContaining('PEDIDO-2'));
    await arrived(element);
    const { violations } = await axe.run(element);
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)).toEqual([]);
  });
});

async function payouts(given: WorldRequest = {}, properties: Partial<PsaPayouts> = {}) {
  const world = await openWorld(given);
  return { element: await place('psa-payouts', world, properties), world };
}

const details = (element: PsaPayouts) => words(dialogOf(element));
