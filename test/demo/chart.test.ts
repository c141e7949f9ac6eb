import { expect, test } from 'vitest';
import { DayChart } from '../../widget/demo/dashboard/chart.ts';
import { wholeSums } from '../../widget/demo/dashboard/lists.ts';
import type { Part } from '../../widget/demo/dashboard/parts.ts';
import { textOf } from '../support/lit.ts';

const PARTS = ['payouts', 'cardPayments', 'payments', 'charges'] as const;

/** Returns which sums are whole where some lists do not reach the day, and some parts could not be read. */
function wholeWith({ cut = [], missing = [], subaccountsReachedMs = 0 }: Lacks = {}) {
  const lists = PARTS.map((part) => [part, { reaches: () => !cut.includes(part) }] as const);
  return wholeSums(lists, { sinceMs: 1_000, missing: new Set(missing), subaccountsReachedMs });
}
interface Lacks {
  cut?: Part[];
  missing?: Part[];
  subaccountsReachedMs?: number;
}

test('A sum of the day is whole where every list that it counts was read, and reaches the day', () => {
  expect(wholeWith()).toEqual({ sales: true, outgoing: true });
  expect(wholeWith({ missing: ['disputes', 'wallet'] })).toEqual({ sales: true, outgoing: true });
  for (const part of ['cardPayments', 'payments', 'charges'] as const)
    for (const lacks of [{ cut: [part] }, { missing: [part] }])
      expect(wholeWith(lacks), part).toEqual({ sales: false, outgoing: false });
});

test('Payouts that are not loaded make the sum of sales no less whole', () => {
  for (const lacks of [
    { cut: ['payouts' as const] },
    { missing: ['payouts' as const] },
    { missing: ['subaccounts' as const] },
    { subaccountsReachedMs: 1_000 },
    { subaccountsReachedMs: Number.POSITIVE_INFINITY },
  ])
    expect(wholeWith(lacks), JSON.stringify(lacks)).toEqual({ sales: true, outgoing: false });
});

test('A day without movements that is not wholly loaded is not said to have none', () => {
  const shown = (changed: Partial<DayChart>) => {
    const chart = new (class extends DayChart {
      readonly text = () => textOf(this.render()).replaceAll('\u00a0', ' ');
    })();
    return Object.assign(chart, { now: new Date('2026-03-02T15:00:00Z'), ...changed }).text();
  };
  expect(shown({}).split('Nenhum movimento hoje.')).toHaveLength(4);
  for (const cut of [{ salesPartial: true }, { outgoingPartial: true }]) {
    expect(shown(cut).split('Nenhum movimento entre os carregados.')).toHaveLength(4);
    expect(shown(cut)).not.toContain('Nenhum movimento hoje');
  }
  const movements = [{ at: new Date('2026-03-02T14:00:00Z'), cents: 5_000 }];
  expect(shown({ movements, outgoingPartial: true })).toContain(
    'Entraram R$ 50,00 e saíram ao menos R$ 0,00 hoje.',
  );
});
