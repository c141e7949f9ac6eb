import { describe, expect, test } from 'vitest';
import { readPagesUntil } from '../../server/src/upstream/read-until.ts';

interface Item {
  id: number;
  date: Date | null;
}

const NOW = Date.UTC(2026, 2, 2, 12);
const MINUTE = 60_000;
const SINCE = new Date(NOW - 10.5 * MINUTE);

/** A list of `count` items a minute apart, newest first. */
const minutes = (count: number): Item[] =>
  Array.from({ length: count }, (_, id) => ({ id, date: new Date(NOW - id * MINUTE) }));

/** Reads this list from a service that returns at most `most` items at once, and its total if it `counts`. */
async function read(list: readonly Item[], { most = 100, counts = true, ignores = false } = {}) {
  const asked: string[] = [];
  const newest = await readPagesUntil<Item>({
    async fetchPage(page) {
      asked.push(page);
      const [limit, offset] = [...page.matchAll(/\d+/g)].map(Number) as [number, number];
      const from = ignores ? 0 : offset;
      const items = list.slice(from, from + Math.min(limit, most));
      return { items, length: items.length, total: counts ? list.length : null };
    },
    idOf: ({ id }) => String(id),
    dateOf: ({ date }) => date,
    since: () => SINCE,
  });
  return { ids: newest!.items.map(({ id }) => id), reachesBack: newest!.complete, asked: asked.length };
}

const ids = (count: number) => minutes(count).map(({ id }) => id);

describe('reading a list back to a date', () => {
  test('a list is read to where it is older', async () => {
    expect(await read(minutes(250))).toEqual({ ids: ids(100), reachesBack: true, asked: 1 });
  });

  test('a short list is complete when it is read to its end, whether it gives its total or not', async () => {
    expect(await read(minutes(5))).toEqual({ ids: ids(5), reachesBack: true, asked: 1 });
    expect(await read(minutes(5), { counts: false })).toEqual({ ids: ids(5), reachesBack: true, asked: 2 });
    expect(await read([], { counts: false })).toEqual({ ids: [], reachesBack: true, asked: 1 });
  });

  test('a list is read further where the service gives smaller pages than requested', async () => {
    for (const counts of [true, false])
      expect(await read(minutes(20), { most: 4, counts })).toMatchObject({ ids: ids(12), reachesBack: true });
  });

  test.each<[string, (items: Item[]) => Item[]]>([
    ['begins with the oldest', (items) => items.reverse()],
    ['has an older one in front', ([first, second, ...rest]) => [first!, rest.pop()!, second!, ...rest]],
    ['shows no dates', (items) => items.map((item) => ({ ...item, date: null }))],
    [
      'shows some without a date',
      (items) => items.map((item) => (item.id === 3 ? { ...item, date: null } : item)),
    ],
  ])('a list that %s is complete only when it is read whole', async (_, change) => {
    const list = change(minutes(250));
    expect(await read(list)).toEqual({ ids: list.map(({ id }) => id), reachesBack: true, asked: 3 });
    const long = change(minutes(1_100));
    expect(await read(long)).toMatchObject({ reachesBack: false, asked: 10 });
  });

  test('a list that repeats its page, or gives none of the items that it counts, is not complete', async () => {
    const young = Array.from({ length: 150 }, (_, id) => ({ id, date: new Date(NOW) }));
    expect(await read(young, { ignores: true })).toMatchObject({ reachesBack: false, asked: 2 });
    expect(await read(young, { most: 0 })).toMatchObject({ ids: [], reachesBack: false, asked: 1 });
  });

  test('a list whose first hundred items have one date is not complete by it', async () => {
    const old = Array.from({ length: 100 }, (_, id) => ({ id, date: new Date(NOW - 60 * MINUTE) }));
    const list = [...old, { id: 100, date: new Date(NOW) }];
    expect(await read(list)).toEqual({ ids: list.map(({ id }) => id), reachesBack: true, asked: 2 });
  });

  test('a list that repeats its page whatever the offset is not complete', async () => {
    const list = minutes(8);
    expect(await read(list, { ignores: true, counts: false })).toEqual({
      ids: ids(8),
      reachesBack: false,
      asked: 2,
    });
  });
});
