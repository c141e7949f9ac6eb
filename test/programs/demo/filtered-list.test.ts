import { describe, expect, test } from 'vitest';
import { NOT_OFFERED, RefusedError } from '../../../widget/demo/dashboard/api.ts';
import { FilteredList } from '../../../widget/demo/dashboard/filtered-list.ts';
import { LiveTable } from '../../../widget/demo/dashboard/live-table.ts';
import { LoadedList } from '../../../widget/demo/dashboard/loaded-list.ts';
import type { Subaccount, SubaccountPayout } from '../../../widget/demo/dashboard/operations.ts';
import { SubaccountPayoutList } from '../../../widget/demo/dashboard/subaccount-payouts.ts';
import { textOf } from '../../support/lit.ts';

interface Item {
  at: number;
  status: string;
  version: number;
}

/** The page of `size` items after a cursor, which is the number of items before the page. */
function pageOf<Of>(items: readonly Of[], after: string | null, size: number) {
  const end = Number(after ?? 0) + size;
  const pageInfo = { hasNextPage: items.length > end, endCursor: String(end) };
  return { nodes: items.slice(end - size, end), pageInfo };
}

/** A list in pages of two, newest first: the newest are paid, and the last four are refunded. */
function listOf() {
  const server = {
    items: Array.from({ length: 12 }, (_, index): Item => {
      return { at: 12 - index, status: index < 8 ? 'PAID' : 'REFUNDED', version: 1 };
    }),
    asked: [] as string[],
    failure: null as Error | null,
  };
  const list = new FilteredList<Item, LoadedList<Item>>({
    filterOf: ({ status }) => status,
    create: (filter) =>
      new LoadedList({
        keyOf: ({ at }) => String(at),
        instantOf: ({ at }) => new Date(at).toISOString(),
        async read(after) {
          server.asked.push(`${filter ?? 'all'} ${after}`);
          if (server.failure) throw server.failure;
          return pageOf(
            server.items.filter(({ status }) => filter === null || status === filter),
            after,
            2,
          );
        },
      }),
  });
  return { server, list, shown: () => list.items.map(({ at }) => at) };
}

test('A filter is asked of the server, which pages what it selects to its end', async () => {
  const { server, list, shown } = listOf();
  await list.whole.readFirst();
  expect([shown(), list.hasMore]).toEqual([[12, 11], true]);
  const chosen = list.choose('REFUNDED');
  expect([list.filter, list.state, shown()]).toEqual(['REFUNDED', 'reading', []]);
  await chosen;
  expect([list.state, shown(), list.hasMore]).toEqual(['read', [4, 3], true]);
  await list.loadMore();
  expect([shown(), list.hasMore]).toEqual([[4, 3, 2, 1], false]);
  expect(server.asked).toEqual(['all null', 'REFUNDED null', 'REFUNDED 2']);
  await list.choose('FAILED');
  expect([list.state, shown(), list.hasMore]).toEqual(['read', [], false]);
  // The unfiltered list continues where it was.
  await list.choose('');
  await list.loadMore();
  expect([list.state, shown()]).toEqual(['read', [12, 11, 10, 9]]);
});

test('An update takes an item into what a filter selects, and out of it', async () => {
  const { list, shown } = listOf();
  await list.whole.readFirst();
  await list.choose('REFUNDED');
  list.each((each) => each.update({ at: 12, status: 'REFUNDED', version: 2 }));
  list.each((each) => each.update({ at: 13, status: 'PENDING', version: 1 }));
  expect(shown()).toEqual([12, 4, 3]);
  list.each((each) => each.update({ at: 4, status: 'PAID', version: 2 }));
  expect(shown()).toEqual([12, 3]);
  await list.choose('');
  expect(shown()).toEqual([13, 12, 11, 4]);
});

test('An answer for a filter that was chosen before shows nothing under the next one', async () => {
  const { list, shown } = listOf();
  const first = list.choose('REFUNDED');
  await list.choose('PAID');
  await first;
  expect([list.filter, shown()]).toEqual(['PAID', [12, 11]]);
});

test('A filter whose answer failed says so and is asked again, and one that is not offered is not', async () => {
  const { server, list, shown } = listOf();
  server.failure = new RefusedError('Too many requests', 'RATE_LIMITED');
  await list.choose('REFUNDED');
  expect([list.state, shown(), list.hasMore]).toEqual(['failed', [], false]);
  await expect(list.loadMore()).rejects.toThrow();
  server.failure = null;
  await list.loadMore();
  expect([list.state, shown()]).toEqual(['read', [4, 3]]);
  server.failure = new RefusedError('no', NOT_OFFERED);
  await list.choose('PAID');
  expect(list.state).toBe('not-offered');
});

test('A table says that nothing matches only where the server has said it', () => {
  const shown = (changed: Partial<LiveTable>) => {
    const table = new (class extends LiveTable {
      readonly text = () => {
        this.willUpdate(new Map() as never);
        return textOf(this.render());
      };
    })();
    const filters = [{ status: 'EXHAUSTED', label: 'Esgotado' }];
    return Object.assign(table, { filters, filter: 'EXHAUSTED', emptyText: 'Nada ainda', ...changed }).text();
  };
  const none = 'Nenhum com este status.';
  expect(shown({})).toContain(none);
  expect(shown({})).toContain('Esgotado');
  expect(shown({ filter: '' })).toContain('Nada ainda');
  for (const [state, text] of [
    ['reading', 'Carregando'],
    ['failed', 'Não foi possível ler esta lista agora.'],
    ['not-offered', 'O serviço não oferece este filtro.'],
  ] as const) {
    expect(shown({ filterState: state }), state).toContain(text);
    expect(shown({ filterState: state }), state).not.toContain(none);
  }
  expect(shown({ filterState: 'failed' })).toContain('Tentar de novo');
  expect(shown({ hasMore: true })).toContain('Nenhum com este status até aqui.');
  // Several lists share this button.
  for (const changed of [{ hasMore: true }, { filterState: 'failed' as const }])
    expect(shown({ ...changed, heading: 'Webhooks' })).toContain('em Webhooks');
});

describe('payouts of subaccounts', () => {
  /** Accounts with payouts at these instants, newest first: in pages of two, and in pages of one payout. */
  function payoutsOf(accounts: readonly number[][]) {
    const payoutsIn = (index: number) =>
      accounts[index]!.map((at) => {
        const createdAt = new Date(at).toISOString();
        return { id: String(at), createdAt, version: 1 } as unknown as SubaccountPayout;
      });
    const subaccounts = accounts.map((_, index): Subaccount => {
      return { subaccountId: String(index), name: null, payouts: pageOf(payoutsIn(index), null, 1) };
    });
    return new SubaccountPayoutList({
      readSubaccounts: async (after) => pageOf(subaccounts, after, 2),
      readPayouts: async (subaccountId, after) => pageOf(payoutsIn(Number(subaccountId)), after, 1),
    });
  }
  const shown = (list: SubaccountPayoutList) => list.ordered.map(({ id }) => Number(id));

  test('The payouts of every subaccount are read to the last one', async () => {
    const list = payoutsOf([[9, 5, 1], [8], [], [7, 3], [2]]);
    await list.readFirst();
    expect([shown(list), list.hasMore]).toEqual([[9, 8], true]);
    const steps = [];
    while (list.hasMore) {
      await list.loadMore();
      steps.push(shown(list).length);
    }
    expect(steps).toEqual([3, 4, 5, 6, 7]);
    expect(shown(list)).toEqual([9, 8, 7, 5, 3, 2, 1]);
  });

  test('Subaccounts without any are passed over, until one has a payout or none is left', async () => {
    const list = payoutsOf([[], [], [], [], [], [4]]);
    await list.readFirst();
    expect([shown(list), list.hasMore]).toEqual([[4], false]);
    const none = payoutsOf([[], [], []]);
    await none.readFirst();
    expect([shown(none), none.hasMore]).toEqual([[], false]);
  });

  test('A list that is emptied starts from the first subaccount', async () => {
    const list = payoutsOf([[9, 5], [8], [7]]);
    await list.readFirst();
    await list.loadMore();
    list.clear();
    expect([shown(list), list.hasMore]).toEqual([[], false]);
    await list.readFirst();
    expect([shown(list), list.hasMore]).toEqual([[9, 8], true]);
  });
});
