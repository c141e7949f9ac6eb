import axe from 'axe-core';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import '../../widget/src/wallet/define.ts';
import type { PsaWallet } from '../../widget/src/wallet/psa-wallet.ts';
import { linePath } from '../../widget/src/wallet/sparkline.ts';
import { act, event, openWorld, part, place, readWorld, shows, words } from './board.ts';

beforeEach(() => {
  document.documentElement.lang = 'pt-BR';
});

afterEach(() => {
  for (const element of document.querySelectorAll('psa-wallet')) element.remove();
  document.documentElement.style.colorScheme = '';
});

describe('the figures', () => {
  it('the wallet is shown with each of its figures, and the line of its history in words', async () => {
    const { element, world } = await wallet();
    expect(figures(element)).toEqual([
      'Disponível para saque R$ 9.000,00',
      'Saldo R$ 10.000,00',
      'A liberar R$ 2.500,50',
      'Em disputa R$ 400,00',
      'Em subcontas R$ 600,00',
      'Litecoin 1,25 LTC',
    ]);
    expect(words(part(element, 'history'))).toBe(
      'Saldo dos últimos 30 dias: de R$ 9.800,00 a R$ 10.000,00, entre R$ 9.800,00 e R$ 10.200,00.',
    );
    const { queries } = await readWorld(world);
    expect(queries).toMatchObject([
      { name: 'WalletStart', variables: { interval: 'DAY', withHistory: true } },
    ]);
  });

  it('a change is shown in place, is an event, and is announced', async () => {
    const { element, world } = await wallet();
    const heard = event(element, 'psa-wallet-update');
    await act(world.token, { move: { amountCents: -950_000 } });
    const { detail } = await heard;
    expect([detail.wallet.balanceCents, detail.previous.balanceCents]).toEqual([50_000, 1_000_000]);
    await shows(() => figures(element)[0], 'Disponível para saque -R$ 500,00');
    expect(element.shadowRoot!.querySelector('.negative')).not.toBeNull();
    expect(words(part(element, 'history'))).toContain('a R$ 500,00, entre R$ 500,00 e R$ 10.200,00.');
  });

  it('the page chooses figures and the days of the history', async () => {
    const { element, world } = await wallet({ figures: 'ltc balance colour', history: '2d' });
    expect(figures(element)).toEqual(['Saldo R$ 10.000,00', 'Litecoin 1,25 LTC']);
    expect(words(part(element, 'history'))).toContain('Saldo das últimas 48 horas');
    element.history = '0d';
    await shows(() => part(element, 'history'), null);
    expect((await readWorld(world)).queries.at(-1)?.variables).toMatchObject({ withHistory: false });
    element.setAttribute('figures', 'nothing');
    await element.updateComplete;
    expect(figures(element)).toHaveLength(6);
  });

  it.each([
    ['en', 'Available for payouts'],
    ['es', 'Disponible para retiros'],
  ])('its texts are those of the language %s', async (locale, text) => {
    const { element } = await wallet({ locale });
    await shows(() => words(element.shadowRoot!.querySelector('dt')), text);
    expect(part(element, 'base')?.lang).toBe(locale);
  });

  it('an element whose token is removed shows no figure', async () => {
    const { element } = await wallet();
    element.token = undefined;
    await shows(() => element.phase, 'idle');
    expect(figures(element)).toEqual([]);
    expect(element.wallet).toBeUndefined();
  });
});

it.each([
  ['values at both edges', [0, 10], 'M0 30L120 2'],
  ['equal values', [5, 5, 5], 'M0 16L60 16L120 16'],
])('the line goes through %s', (_, values, path) => {
  expect(linePath(values)).toBe(path);
});

describe.each(inject('axeSchemes'))('accessibility in %s colours', (colorScheme) => {
  it.each([
    ['ready', {}, {}, 'ready'],
    ['loading', { fail: { times: 1, hold: true } }, {}, 'loading'],
    ['refused', {}, { token: 'wrong' }, 'error'],
  ] as const)('axe finds nothing in a wallet that is %s', async (_, given, properties, phase) => {
    document.documentElement.style.colorScheme = colorScheme;
    const element = await place('psa-wallet', await openWorld(given), properties, phase);
    const { violations } = await axe.run(element);
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)).toEqual([]);
  });
});

it.each([320, 1_440])('a wallet of large amounts fits into %d px', async (width) => {
  const world = await openWorld();
  await act(world.token, { move: { amountCents: 9_998_000_000 } });
  const frame = document.createElement('div');
  frame.style.inlineSize = `${width}px`;
  document.body.append(frame);
  const element = await place('psa-wallet', world);
  frame.append(element);
  await shows(() => element.connection, 'live');
  const base = part(element, 'base')!;
  expect(base.scrollWidth).toBeLessThanOrEqual(base.clientWidth);
  frame.remove();
});

async function wallet(properties: Partial<PsaWallet> = {}) {
  const world = await openWorld();
  return { element: await place('psa-wallet', world, properties), world };
}

const figures = (element: PsaWallet) =>
  [...element.shadowRoot!.querySelectorAll('[part=figure]')].map((each) => words(each));
