import { describe, expect, test } from 'vitest';
import { RateLimitError } from '../../server/src/kernel/errors.ts';
import { createStableOffsetList, type StableRange } from '../../server/src/upstream/stable-list.ts';

interface Item {
  id: number;
  final: boolean;
}

/** A list of the service, in the order of its growth; item 1 is the oldest. */
function service(count: number, { isFinal = () => true }: { isFinal?: (id: number) => boolean } = {}) {
  const items: Item[] = Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    final: isFinal(index + 1),
  }));
  const asked: { limit: number; offset: number }[] = [];
  const faults = { wrongTotal: 0, largestPage: 100, unreadable: new Set<number>(), hasTotal: true };
  let now = 0;
  let before: () => void = () => undefined;
  const ranked = createStableOffsetList<null, Item>({
    keyOf: () => 'all',
    idOf: ({ id }) => String(id),
    isCacheable: ({ final }) => final,
    async fetchPage(_, { limit, offset }) {
      before();
      asked.push({ limit, offset });
      now += 1;
      const page = [...items].reverse().slice(offset, offset + Math.min(limit, faults.largestPage));
      return {
        items: page.map((item) => (faults.unreadable.has(item.id) ? null : { ...item })),
        total: items.length + faults.wrongTotal,
        isTotalKnown: faults.hasTotal || page.length < limit,
        at: new Date(now),
      };
    },
  });
  return {
    items,
    asked,
    faults,
    ranked,
    beforeEach: (task: () => void) => {
      before = task;
    },
    add: (...ids: number[]) => items.push(...ids.map((id) => ({ id, final: true }))),
    async list(range: Partial<StableRange<Item>> = {}) {
      const { items, more } = await ranked.list(null, { end: 'first', limit: 10, ...range });
      return {
        ids: items.map(({ item }) => item.id),
        positions: items.map(({ position }) => position),
        more,
      };
    },
  };
}

describe('a list by rank', () => {
  test('the end of a list whose length the service does not tell is read where a page shows it', async () => {
    const short = service(3);
    short.faults.hasTotal = false;
    expect(await short.list({ end: 'last', limit: 2 })).toMatchObject({ ids: [2, 1], more: true });
    const long = service(150);
    long.faults.hasTotal = false;
    expect(await long.list({ end: 'last', limit: 2 })).toMatchObject({ ids: [2, 1], more: true });
    expect(await long.list({ end: 'last', limit: 2, before: 140 })).toMatchObject({ ids: [142, 141] });
    expect(await long.ranked.count(null, {})).toBe(150);
    const longest = service(1_100);
    longest.faults.hasTotal = false;
    await expect(longest.list({ end: 'last', limit: 2 })).rejects.toMatchObject({
      fields: [{ path: 'last', message: expect.stringContaining('needs `before` here') }],
    });
    expect(longest.asked).toHaveLength(10);
    // Its newest items are shown. The positions of older ones change at each call, so none is cached.
    const newest = await longest.list({ limit: 2 });
    expect(newest).toMatchObject({ ids: [1_100, 1_099], more: true });
    await expect(longest.list({ limit: 2, after: newest.positions.at(-1) })).rejects.toMatchObject({
      fields: [{ path: 'after', message: expect.stringContaining('does not report where the list ends') }],
    });
    await expect(longest.ranked.count(null, {})).rejects.toThrow('cannot be counted');
    const find = { wants: ({ id }: Item) => id === 1, limit: 1, pages: 10 };
    expect(await longest.ranked.find(null, find)).toMatchObject({ items: [], complete: false });
  });

  test.each([10, 100])(
    'a list whose length the service does not tell is read to its end, %i at a time, each item once, also where it grows',
    async (limit) => {
      for (const isFinal of [() => true, () => false]) {
        const { list, add, faults, beforeEach: beforePage } = service(230, { isFinal });
        faults.hasTotal = false;
        let added = 1_000;
        beforePage(() => {
          added += 1;
          add(added);
        });
        const ids: number[] = [];
        let after: number | undefined;
        for (let more = true; more; ) {
          const page = await list({ after, limit });
          ids.push(...page.ids);
          after = page.positions.at(-1);
          more = page.more;
        }
        expect(ids.filter((id) => id <= 230)).toEqual(Array.from({ length: 230 }, (_, index) => 230 - index));
        expect(new Set(ids).size).toBe(ids.length);
      }
    },
  );

  test('a list without a length, of a service that ignores the offset, is its one page', async () => {
    const ranked = createStableOffsetList<null, number>({
      keyOf: () => 'all',
      idOf: String,
      isCacheable: () => false,
      fetchPage: async () => ({
        items: Array.from({ length: 100 }, (_, index) => 100 - index),
        total: 100,
        isTotalKnown: false,
        at: new Date(1),
      }),
    });
    const { items, more } = await ranked.list(null, { end: 'first', limit: 150 });
    expect([items.length, more]).toEqual([100, false]);
  });

  test('a list begins with the newest item, and its positions count from the oldest', async () => {
    const { list, asked } = service(250);
    expect(await list({ limit: 3 })).toEqual({
      ids: [250, 249, 248],
      positions: [250, 249, 248],
      more: true,
    });
    expect(asked).toEqual([{ limit: 100, offset: 0 }]);
  });

  test('a list is read to its end, each item once, also where it grows between the pages', async () => {
    const { list, add } = service(230);
    const ids: number[] = [];
    let after: number | undefined;
    for (let page = 0; page < 30; page += 1) {
      const { ids: found, positions, more } = await list({ after });
      ids.push(...found);
      after = positions.at(-1);
      add(1_000 + page);
      if (!more) break;
    }
    expect(ids).toEqual(Array.from({ length: 230 }, (_, index) => 230 - index));
  });

  test('an item that was not found is missing only where the whole list can be read', async () => {
    const { ranked, faults } = service(250, { isFinal: () => false });
    const find = (id: number) => ranked.find(null, { wants: (item) => item.id === id, limit: 1, pages: 10 });
    expect(await find(0)).toEqual({ items: [], complete: true, readable: true });
    faults.unreadable.add(7);
    expect(await find(0)).toEqual({ items: [], complete: false, readable: false });
    expect(await find(3)).toMatchObject({ items: [{ id: 3 }], complete: true });
    faults.unreadable.clear();
    faults.wrongTotal = 5;
    expect(await find(0)).toEqual({ items: [], complete: false, readable: false });
  });

  test('a list is read upwards from a position, and from its end', async () => {
    const { list } = service(250);
    expect(await list({ end: 'last', before: 5, limit: 3 })).toMatchObject({ ids: [8, 7, 6], more: true });
    expect(await list({ end: 'last', limit: 2 })).toMatchObject({ ids: [2, 1], more: true });
    expect(await list({ end: 'last', before: 248, limit: 3 })).toMatchObject({
      ids: [250, 249],
      more: false,
    });
    expect(await list({ before: 247, limit: 2 })).toMatchObject({ ids: [250, 249], more: true });
    expect(await list({ after: 8, before: 5, limit: 5 })).toMatchObject({ ids: [7, 6], more: false });
    expect(await list({ after: 1 })).toMatchObject({ ids: [], more: false });
    expect(await list({ after: 999, limit: 1 })).toMatchObject({ ids: [250] });
  });

  test('an item that a growing list pushes into the next page is dropped', async () => {
    const { list, add, beforeEach } = service(150, { isFinal: () => false });
    await list();
    beforeEach(() => add(1_001, 1_002, 1_003));
    expect(await list({ after: 141 })).toMatchObject({
      ids: [140, 139, 138, 137, 136, 135, 134, 133, 132, 131],
    });
  });

  test('a position is found also behind more than a page of new items', async () => {
    const { list, add } = service(20, { isFinal: () => false });
    await list();
    add(...Array.from({ length: 300 }, (_, index) => 1_000 + index));
    expect(await list({ after: 11, limit: 3 })).toMatchObject({ ids: [10, 9, 8] });
  });

  test('an item that is final is read once', async () => {
    const { list, asked } = service(250);
    await list();
    const before = asked.length;
    expect(await list({ after: 240, limit: 50 })).toMatchObject({ ids: expect.arrayContaining([239, 190]) });
    expect(asked).toHaveLength(before);
    await list({ after: 140, limit: 50 });
    expect(asked).toHaveLength(before + 1);
  });

  test('an item that is not final is read again', async () => {
    const { list, items, asked } = service(50, { isFinal: (id) => id !== 45 });
    await list();
    items[44] = { id: 45, final: true };
    await list({ after: 47, limit: 5 });
    expect(asked).toHaveLength(2);
    await list({ after: 47, limit: 5 });
    expect(asked).toHaveLength(2);
  });

  test('a filtered list knows whether there are more of the wanted items', async () => {
    const { list } = service(350);
    const wants = ({ id }: Item) => id % 100 === 0;
    expect(await list({ wants, limit: 2 })).toEqual({ ids: [300, 200], positions: [300, 200], more: true });
    expect(await list({ wants, limit: 3 })).toMatchObject({ ids: [300, 200, 100], more: false });
    expect(await list({ wants, end: 'last', limit: 2 })).toMatchObject({ ids: [200, 100], more: true });
  });

  test('a list is read no further than to where nothing older is wanted', async () => {
    const { list, asked } = service(2_000);
    const wants = ({ id }: Item) => id > 1_950;
    expect(await list({ wants, isBeyond: ({ id }) => id < 1_900, limit: 60 })).toMatchObject({
      ids: expect.objectContaining({ length: 50 }),
      more: false,
    });
    expect(asked).toHaveLength(2);
  });

  test('more than ten pages for one answer are refused, and a repeated call gets further', async () => {
    const { list, ranked, asked } = service(2_500);
    const wants = ({ id }: Item) => id <= 3;
    const refused = list({ wants });
    await expect(refused).rejects.toBeInstanceOf(RateLimitError);
    await expect(refused).rejects.toThrow('what was read is kept, so ask again');
    await expect(list({ wants })).rejects.toBeInstanceOf(RateLimitError);
    expect(await list({ wants })).toMatchObject({ ids: [3, 2, 1], more: false });
    expect(asked.length).toBeLessThanOrEqual(10 + 10 + 10);
    expect(await ranked.count(null, { wants })).toBe(3);
  });

  test('a full page is given where only the items after it would cost too much', async () => {
    const { list } = service(2_500);
    expect(await list({ wants: ({ id }) => id > 2_490 })).toMatchObject({
      ids: expect.objectContaining({ length: 10 }),
      more: true,
    });
  });

  test('all items are counted by the total, and wanted ones by reading', async () => {
    const { ranked, asked } = service(150);
    expect(await ranked.count(null, {})).toBe(150);
    expect(asked).toHaveLength(1);
    expect(await ranked.count(null, { wants: ({ id }) => id % 2 === 0 })).toBe(75);
  });

  test('a list ends where the service has no more, whatever its total says', async () => {
    const { list, faults, asked } = service(5);
    faults.wrongTotal = 100;
    expect(await list()).toMatchObject({ ids: [5, 4, 3, 2, 1], more: false });
    faults.wrongTotal = -3;
    expect((await list()).ids).toEqual([5, 4, 3, 2, 1]);
    expect(asked.length).toBeLessThan(8);
  });

  test('a list is read from smaller pages than requested', async () => {
    const { list, faults } = service(60);
    faults.largestPage = 7;
    expect((await list({ limit: 30 })).ids).toHaveLength(30);
    expect(await list({ end: 'last', limit: 3 })).toMatchObject({ ids: [3, 2, 1] });
  });

  test('an item that cannot be read is left out, and its position stays', async () => {
    const { list, faults } = service(10);
    faults.unreadable.add(9);
    expect(await list({ limit: 3 })).toEqual({ ids: [10, 8, 7], positions: [10, 8, 7], more: true });
  });

  test('a list that turned out to be another is forgotten', async () => {
    const { list, items } = service(120);
    await list();
    items.splice(0, items.length, ...[500, 501, 502].map((id) => ({ id, final: true })));
    expect(await list()).toMatchObject({ ids: [502, 501, 500], positions: [3, 2, 1], more: false });
    expect(await list({ after: 3 })).toMatchObject({ ids: [501, 500] });
  });

  test('an empty list is empty', async () => {
    const { list, ranked } = service(0);
    expect(await list()).toEqual({ ids: [], positions: [], more: false });
    expect(await list({ end: 'last' })).toEqual({ ids: [], positions: [], more: false });
    expect(await ranked.count(null, { wants: () => true })).toBe(0);
  });

  test('a list keeps no more items than it may', async () => {
    let asked = 0;
    const ranked = createStableOffsetList<null, number>({
      keyOf: () => 'all',
      idOf: String,
      isCacheable: () => true,
      // Ten items of about 210 bytes fit.
      itemsBytes: 2_150,
      async fetchPage(_, { offset }) {
        asked += 1;
        return {
          items: Array.from({ length: 100 - offset }, (_, index) => 100 - offset - index),
          total: 100,
          at: new Date(asked),
        };
      },
    });
    await ranked.list(null, { end: 'first', limit: 1 });
    await ranked.list(null, { end: 'first', limit: 5, after: 6 });
    expect(asked).toBe(1);
    await ranked.list(null, { end: 'first', limit: 5, after: 50 });
    expect(asked).toBe(2);
  });
});
