import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createRowList, pageOf, type View } from '../../widget/src/list/row-list.ts';
import type { Payout, PayoutPage, PayoutSort, PayoutStatus } from '../../widget/src/payouts/operations.ts';
import { payouts as kind } from '../../widget/src/payouts/payouts-kind.ts';

const NEWEST_FIRST: View = { chosen: [], sort: '-requested' };

/** Creates a payout; number 1 is the oldest. */
function payout(number: number, values: Partial<Payout> = {}): Payout {
  return {
    id: `p${number}`,
    withdrawalId: `w${number}`,
    code: `SAQ-${number}`,
    method: 'PIX',
    amountCents: number * 100,
    serviceFeeCents: 100,
    feeCents: 100,
    destination: 'a***@psa.example',
    status: 'PENDING',
    isFinal: false,
    deniedReason: null,
    requestedAt: new Date(Date.UTC(2026, 2, 2, 10, number)).toISOString(),
    processedAt: null,
    version: 1,
    ...values,
  };
}

function page(
  nodes: Payout[],
  values: Partial<PayoutPage['pageInfo']> = {},
  totalCount = nodes.length,
): PayoutPage {
  const pageInfo = {
    hasNextPage: false,
    hasPreviousPage: false,
    startCursor: 'start',
    endCursor: 'end',
    ...values,
  };
  return { nodes, pageInfo, totalCount };
}

function listOf(numbers: number[], view = NEWEST_FIRST, more = false, total = numbers.length) {
  const list = createRowList(kind);
  list.start(
    view,
    page(
      numbers.map((number) => payout(number)),
      { hasNextPage: more },
      total,
    ),
  );
  list.arrange(false);
  return list;
}

const ids = (list: ReturnType<typeof createRowList<Payout>>) => list.shown.map(({ id }) => id).join(' ');

describe('a list after a gap in the stream', () => {
  test.each([
    ['is not frozen', false],
    ['is frozen', true],
  ])(
    'a list after a gap shows the payouts as the server has them, and none that it lost, where it %s',
    (_, still) => {
      const list = listOf([3, 2, 1]);
      list.apply(payout(2, { version: 3, status: 'COMPLETED' }), 'PENDING');
      list.arrange(false);
      list.restart(NEWEST_FIRST, page([payout(2), payout(1)]));
      list.arrange(still);
      expect(ids(list)).toBe('p2 p1');
      expect(list.shown[0]).toMatchObject({ status: 'PENDING', version: 1 });
      expect(list.get('p3')).toBeUndefined();
    },
  );
});

describe('an update', () => {
  test('an update of a shown payout is applied in place', () => {
    const list = listOf([3, 2, 1]);
    expect(list.apply(payout(2, { version: 2, status: 'DENIED' }), 'PENDING')).toBe('changed');
    list.arrange(true);
    expect(ids(list)).toBe('p3 p2 p1');
    expect(list.shown[1]?.status).toBe('DENIED');
  });

  test.each([
    ['an older', 1],
    ['the same', 2],
  ])('an update with %s version is ignored', (_, version) => {
    const list = listOf([]);
    list.apply(payout(1, { version: 2, status: 'COMPLETED' }), 'PENDING');
    expect(list.apply(payout(1, { version, status: 'PENDING' }), null)).toBeUndefined();
    list.arrange(false);
    expect(list.shown[0]?.status).toBe('COMPLETED');
  });

  test('the newest version wins, whatever the order of updates', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 1 }), (versions) => {
        const list = listOf([1]);
        for (const version of versions) list.apply(payout(1, { version, amountCents: version }), 'PENDING');
        list.arrange(false);
        expect(list.shown[0]?.version).toBe(Math.max(1, ...versions));
      }),
    );
  });

  test('a completed payout leaves a list of pending ones once the order is not frozen', () => {
    const list = listOf([2, 1], { chosen: ['PENDING'], sort: '-requested' });
    list.apply(payout(2, { version: 2, status: 'COMPLETED' }), 'PENDING');
    list.arrange(true);
    expect(ids(list)).toBe('p2 p1');
    list.arrange(false);
    expect(ids(list)).toBe('p1');
    expect(list.total).toBe(1);
  });

  test('an update that makes a payout match the filter inserts it at its place in the server’s order', () => {
    const view: View = { chosen: ['DENIED'], sort: '-requested' };
    const list = createRowList(kind);
    const denied = { status: 'DENIED' as const };
    list.start(view, page([payout(9, denied), payout(5, denied)], { hasNextPage: true }, 7));
    list.apply(payout(7, { version: 2, ...denied }), 'PENDING');
    // The payout is after the loaded ones: a later page contains it.
    list.apply(payout(3, { version: 2, ...denied }), 'PENDING');
    list.arrange(false);
    expect(ids(list)).toBe('p9 p7 p5');
    expect(list.total).toBe(9);
    list.append(page([payout(3, { version: 2, ...denied }), payout(1, denied)], {}, 9));
    list.arrange(false);
    expect(ids(list)).toBe('p9 p7 p5 p3 p1');
  });
});

describe('a new payout', () => {
  test('a new payout is inserted at the top', () => {
    const list = listOf([2, 1]);
    expect(list.apply(payout(3), null)).toBe('new');
    list.arrange(false);
    expect(ids(list)).toBe('p3 p2 p1');
    expect(list.total).toBe(3);
  });

  test('a new payout waits while the order is frozen', () => {
    const list = listOf([2, 1]);
    list.apply(payout(3), null);
    list.apply(payout(4), null);
    list.arrange(true);
    expect([ids(list), list.waiting]).toEqual(['p2 p1', 2]);
    list.arrange(false);
    expect([ids(list), list.waiting]).toEqual(['p4 p3 p2 p1', 0]);
  });

  test('a new payout without a time is inserted at the top', () => {
    const list = listOf([2, 1]);
    list.apply(payout(3, { requestedAt: null }), null);
    list.arrange(false);
    expect(ids(list)).toBe('p3 p2 p1');
  });

  test('a new payout is appended to a list that is oldest first, after the pages that are still to load', () => {
    const view: View = { chosen: [], sort: 'requested' };
    const list = createRowList(kind);
    list.start(view, page([payout(2), payout(1)], { hasPreviousPage: true }, 4));
    list.apply(payout(5), null);
    list.arrange(true);
    expect([ids(list), list.total]).toEqual(['p1 p2', 5]);
    list.append(page([payout(4), payout(3)], {}, 5));
    list.arrange(true);
    expect([ids(list), list.waiting]).toEqual(['p1 p2 p3 p4 p5', 0]);
  });

  test('a new payout that arrives during a request for its page is not lost', () => {
    const list = listOf([2, 1]);
    list.apply(payout(3), null);
    list.start(NEWEST_FIRST, page([payout(2), payout(1)]));
    list.arrange(false);
    expect(ids(list)).toBe('p3 p2 p1');
  });
});

describe('the next page', () => {
  test('the next page is appended while the order is frozen', () => {
    const list = listOf([4, 3], NEWEST_FIRST, true, 4);
    list.apply(payout(5), null);
    list.arrange(true);
    list.append(page([payout(2), payout(1)], {}, 5));
    list.arrange(true);
    expect([ids(list), list.waiting]).toEqual(['p4 p3 p2 p1', 1]);
  });

  test('the next page is requested after the last one', () => {
    const filtered: View = { chosen: ['DENIED'], sort: '-requested' };
    expect(pageOf(filtered, 50, kind)).toEqual({ first: 50, filter: { status: ['DENIED'] } });
    expect(listOf([2, 1], filtered, true).nextPage(50)).toEqual({
      first: 50,
      after: 'end',
      filter: { status: ['DENIED'] },
    });
    const conditioned: View = { ...filtered, filter: { amountCents: 500, method: ['PIX'] } };
    expect(pageOf(conditioned, 50, kind).filter).toEqual({
      amountCents: 500,
      method: ['PIX'],
      status: ['DENIED'],
    });
    const oldest: View = { chosen: [], sort: 'requested' };
    expect(pageOf(oldest, 50, kind)).toEqual({ last: 50 });
    expect(listOf([2, 1], oldest).nextPage(20)).toEqual({ last: 20, before: 'start' });
  });
});

describe('an order that the server does not offer', () => {
  test('an order by amount sorts the loaded rows and reports that more exist', () => {
    const list = listOf([3, 9, 5], NEWEST_FIRST, true, 40);
    expect(list.sort({ chosen: [], sort: 'amount' })).toBe(true);
    list.arrange(false);
    expect(ids(list)).toBe('p3 p5 p9');
    expect([list.sortedLocally, list.complete, list.loaded, list.total]).toEqual([true, false, 3, 40]);
  });

  test('an order is that of all payouts sorted at once, after any changes, new payouts and pages', () => {
    const statuses = ['PENDING', 'PROCESSING', 'COMPLETED', 'DENIED'] as const;
    const change = fc.record({
      number: fc.integer({ min: 1, max: 24 }),
      amountCents: fc.integer({ min: 1, max: 4 }),
      status: fc.constantFrom(...statuses),
      isArranged: fc.boolean(),
      hasPage: fc.boolean(),
    });
    const views = fc.record({
      chosen: fc.subarray([...statuses]),
      sort: fc.constantFrom<PayoutSort>('-requested', 'amount', '-amount', 'status', '-status'),
    });
    fc.assert(
      fc.property(views, fc.array(change, { maxLength: 30 }), (view, changes) => {
        const list = createRowList(kind);
        const server = new Map(
          Array.from({ length: 12 }, (_, index) => [index + 1, payout(index + 1, { amountCents: 2 })]),
        );
        const matching = () =>
          [...server.values()]
            .sort((left, right) => (left.requestedAt! < right.requestedAt! ? 1 : -1))
            .filter(({ status }) => view.chosen.length === 0 || view.chosen.some((each) => each === status));
        list.start(view, page(matching()));
        for (const { number, isArranged, hasPage, ...values } of changes) {
          const before = server.get(number);
          const version = (before?.version ?? 0) + 1;
          server.set(number, payout(number, { ...values, version }));
          list.apply(server.get(number)!, before?.status ?? null);
          if (hasPage) list.append(page(matching()));
          if (isArranged) list.arrange(false);
        }
        list.arrange(false);
        const key = /amount|status/.exec(view.sort)?.[0];
        const sign = view.sort.startsWith('-') ? -1 : 1;
        const sortKeyOf = ({ amountCents, status }: Payout) =>
          key === 'amount' ? amountCents : key ? statuses.indexOf(status as 'PENDING') : 0;
        const expected = matching().sort((left, right) => sign * (sortKeyOf(left) - sortKeyOf(right)));
        expect(list.shown.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      }),
    );
  });

  test('a change of one payout among thousands sorts that one, and nothing is sorted where nothing has changed', () => {
    const read = vi.fn(() => 400_000);
    const counted = Object.defineProperty(payout(4_000), 'amountCents', { get: read });
    const list = createRowList(kind);
    list.start(
      { chosen: [], sort: 'amount' },
      page(Array.from({ length: 5_000 }, (_, index) => (index === 1_000 ? counted : payout(5_000 - index)))),
    );
    list.arrange(false);
    read.mockClear();
    list.apply(payout(4_500, { version: 2, amountCents: 7 }), 'PENDING');
    list.arrange(false);
    list.arrange(false);
    expect(list.shown[0]?.id).toBe('p4500');
    expect(read).not.toHaveBeenCalled();
  });

  test('an order by status goes from pending to denied', () => {
    const statuses: PayoutStatus[] = ['DENIED', 'PENDING', 'COMPLETED', 'PROCESSING'];
    const list = createRowList(kind);
    list.start(
      { chosen: [], sort: 'status' },
      page(statuses.map((status, index) => payout(9 - index, { status }))),
    );
    list.arrange(false);
    expect(list.shown.map(({ status }) => status)).toEqual(['PENDING', 'PROCESSING', 'COMPLETED', 'DENIED']);
  });

  test.each<[string, View]>([
    ['the oldest first', { chosen: [], sort: 'requested' }],
    ['another filter', { chosen: ['DENIED'], sort: '-requested' }],
  ])('a view with %s needs a first page of its own', (_, view) => {
    expect(listOf([2, 1]).sort(view)).toBe(false);
  });
});

test('the newest hundred payouts that can still change are polled', () => {
  const list = listOf(Array.from({ length: 150 }, (_, index) => 150 - index));
  list.apply(payout(150, { version: 2, status: 'COMPLETED', isFinal: true }), 'PENDING');
  expect(list.openIds()).toHaveLength(100);
  expect(list.openIds()).toContain('p149');
  expect(list.openIds()).not.toContain('p150');
});
