import { expect, test } from 'vitest';
import { type DashboardApi, type Parts, RefusedError } from '../../../widget/demo/dashboard/api.ts';
import { DayChart } from '../../../widget/demo/dashboard/chart.ts';
import { DayTotals } from '../../../widget/demo/dashboard/day-totals.ts';
import {
  DAY_TOTALS,
  type DayTotalsData,
  type TotalsOfHours,
} from '../../../widget/demo/dashboard/operations.ts';
import { textOf } from '../../support/lit.ts';

const NONE = { isExact: true, groups: [] };
const ALL = {
  ...{ cardPaymentTotals: NONE, paymentTotals: NONE, chargeTotals: NONE },
  ...{ payoutTotals: NONE, subaccountPayoutTotals: NONE, refundTotals: NONE },
};
const HOUR = '2026-03-02T14:00:00.000Z';
const inHour = (amountCents: number, more: object = {}): TotalsOfHours => ({
  isExact: true,
  groups: [{ hour: HOUR, amountCents, ...more }],
});
const at = (cents: number) => ({ at: new Date(HOUR), cents });

/** The sums of a day at a server with these totals, which does not offer some of them. */
async function sumsOf(parts: Partial<Parts<DayTotalsData>>, notOffered: (keyof DayTotalsData)[] = []) {
  const asked: [name: string | undefined, variables: unknown][] = [];
  const api = {
    now: () => new Date('2026-03-02T15:30:00Z'),
    async requestParts(query: string, variables: unknown) {
      const isDay = query === DAY_TOTALS;
      asked.push([/^query (\w+)/.exec(query)?.[1], variables]);
      const { cardPaymentTotals, paymentTotals, chargeTotals } = { ...ALL, ...REFUNDED };
      return isDay
        ? { parts: { ...ALL, ...parts }, notOffered: new Set(notOffered) }
        : { parts: { cardPaymentTotals, paymentTotals, chargeTotals }, notOffered: new Set() };
    },
  } as unknown as DashboardApi;
  const day = new DayTotals(
    () => api,
    () => undefined,
  );
  await day.read();
  return { day, asked };
}
const REFUNDED = { cardPaymentTotals: inHour(4_000) };

test('The sums of the day are those of the server, of the day of Brasília, without LTC', async () => {
  const { day, asked } = await sumsOf({
    cardPaymentTotals: inHour(5_000),
    paymentTotals: {
      isExact: true,
      groups: [...inHour(700, { method: 'PIX' }).groups, ...inHour(99_999, { method: 'LTC' }).groups],
    },
    payoutTotals: inHour(300, { method: 'PIX' }),
    refundTotals: inHour(200),
  });
  expect(day.movements).toEqual([at(5_000), at(700), at(-300), at(-200)]);
  expect(day.whole).toEqual({ sales: true, outgoing: true });
  const variables = { from: '2026-03-02T03:00:00.000Z', before: '2026-03-03T03:00:00.000Z' };
  expect(asked).toEqual([['DayTotals', variables]]);
});

test('A sum is whole where each of its parts is exact, or is offered by no service', async () => {
  const cut = { ...inHour(1), isExact: false };
  const wholeOf = async (...of: Parameters<typeof sumsOf>) => (await sumsOf(...of)).day.whole;
  for (const name of ['cardPaymentTotals', 'paymentTotals', 'chargeTotals'] as const)
    for (const part of [cut, null])
      expect(await wholeOf({ [name]: part }), name).toEqual({ sales: false, outgoing: true });
  for (const name of ['payoutTotals', 'subaccountPayoutTotals', 'refundTotals'] as const)
    expect(await wholeOf({ [name]: cut }), name).toEqual({ sales: true, outgoing: false });
  expect(
    await wholeOf({ chargeTotals: null, subaccountPayoutTotals: null }, [
      'chargeTotals',
      'subaccountPayoutTotals',
    ]),
  ).toEqual({
    ...{ sales: true, outgoing: true },
  });
});

test('In front of a service without refunds, payments that were refunded whole are money out, and there may be more', async () => {
  const { day, asked } = await sumsOf({ refundTotals: null }, ['refundTotals']);
  expect(asked.map(([name]) => name)).toEqual(['DayTotals', 'RefundedTotals']);
  expect(day.movements).toEqual([at(-4_000)]);
  expect(day.whole).toEqual({ sales: true, outgoing: false });
});

test('Sums that are refused stay as they were, and are not called whole', async () => {
  const { day } = await sumsOf({ cardPaymentTotals: inHour(5_000) });
  const { movements } = day;
  const refused = new DayTotals(
    () =>
      ({
        now: () => new Date(HOUR),
        requestParts: () => Promise.reject(new RefusedError('Too many requests', 'RATE_LIMITED')),
      }) as unknown as DashboardApi,
    () => undefined,
  );
  refused.movements = movements;
  await refused.read();
  expect([refused.movements, refused.whole]).toEqual([movements, { sales: false, outgoing: false }]);
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
    expect(shown(cut).split('Nenhum movimento conhecido hoje.')).toHaveLength(4);
    expect(shown(cut)).not.toContain('Nenhum movimento hoje');
  }
  const movements = [{ at: new Date('2026-03-02T14:00:00Z'), cents: 5_000 }];
  expect(shown({ movements, outgoingPartial: true })).toContain(
    'Entraram R$ 50,00 e saíram ao menos R$ 0,00 hoje.',
  );
});
