import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { EarliestTimer } from '../../../widget/demo/dashboard/earliest-timer.ts';
import { LoadedList } from '../../../widget/demo/dashboard/loaded-list.ts';
import { deferred } from '../../support/deferred.ts';

interface Item {
  at: number;
  version: number;
}

/**
 * A list in pages of two, newest first, at a server whose items the test changes. An item is its creation time in
 * milliseconds.
 */
function listOf(items: number[]) {
  const server = {
    items,
    asked: [] as (string | null)[],
    /** Called before the page after a cursor is returned. */
    answers: () => Promise.resolve(),
    page(after: string | null) {
      const rest = server.items.filter((at) => at < Number(after ?? Number.POSITIVE_INFINITY));
      const nodes = rest.slice(0, 2).map((at) => ({ at, version: 1 }));
      return {
        nodes,
        pageInfo: { hasNextPage: rest.length > 2, endCursor: nodes.at(-1)?.at.toString() ?? null },
      };
    },
  };
  const list = new LoadedList<Item>({
    keyOf: ({ at }) => String(at),
    instantOf: ({ at }) => new Date(at).toISOString(),
    async read(after) {
      server.asked.push(after);
      await server.answers();
      return server.page(after);
    },
  });
  return { server, list, shown: () => list.ordered.map(({ at }) => at) };
}

test('A list whose first page is read again keeps the older pages and its place behind them', async () => {
  const { server, list, shown } = listOf([6, 5, 4, 3, 2, 1]);
  list.addFirst(server.page(null));
  await list.loadMore();
  list.addFirst(server.page(null));
  await list.loadMore();
  expect([shown(), list.hasMore, server.asked]).toEqual([[6, 5, 4, 3, 2, 1], false, ['5', '3']]);
});

test('A list that is emptied has nothing of before, and no gap in what is new', async () => {
  const { server, list, shown } = listOf([4, 3, 2, 1]);
  list.addFirst(server.page(null));
  await list.loadMore();
  // The server has another database: one of the former items is missing, and more than a page is new.
  server.items = [9, 8, 7, 6, 5, 4, 2, 1];
  list.clear();
  expect([shown(), list.hasMore]).toEqual([[], false]);
  list.addFirst(server.page(null));
  for (let page = 1; page < 4; page += 1) await list.loadMore();
  expect(shown()).toEqual([9, 8, 7, 6, 5, 4, 2, 1]);
});

test('A page that comes after its list was emptied is not added', async () => {
  const { server, list, shown } = listOf([6, 5, 4, 3, 2, 1]);
  list.addFirst(server.page(null));
  const answer = deferred();
  server.answers = () => answer.promise;
  const added = list.loadMore();
  list.clear();
  server.items = [9, 8, 7, 6];
  list.addFirst(server.page(null));
  answer.resolve();
  await added;
  expect(shown()).toEqual([9, 8]);
});

test('Two readings of one page at once add it once, and the next page is behind it', async () => {
  const { server, list, shown } = listOf([8, 7, 6, 5, 4, 3, 2, 1]);
  list.addFirst(server.page(null));
  const late = deferred();
  server.answers = () => late.promise;
  const behind = list.loadMore();
  server.answers = () => Promise.resolve();
  await list.loadMore();
  await list.loadMore();
  late.resolve();
  await behind;
  await list.loadMore();
  expect([shown(), list.hasMore, server.asked]).toEqual([
    [8, 7, 6, 5, 4, 3, 2, 1],
    false,
    ['7', '7', '5', '3'],
  ]);
});

describe('the timer of the next poll', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test('A timer that is set again and again is due when it was to be at first', () => {
    const work = vi.fn();
    const timer = new EarliestTimer(work);
    for (let time = 0; time < 12; time += 1) {
      timer.set(1_200);
      vi.advanceTimersByTime(110);
    }
    expect(work).toHaveBeenCalledTimes(1);
    timer.set(20_000);
    timer.set(500);
    vi.advanceTimersByTime(500);
    expect(work).toHaveBeenCalledTimes(2);
    timer.set(500);
    timer.clear();
    vi.advanceTimersByTime(30_000);
    expect(work).toHaveBeenCalledTimes(2);
  });
});
