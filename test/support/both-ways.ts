import { expect } from 'vitest';
import type { ListedRange, ListRange } from '../../server/src/kernel/list-range.ts';

/**
 * Expects that a list shows these items, newest first, in pages of two from either end, and between the first and the
 * last. `list` reads a range of it.
 */
export async function expectBothWays<Item extends { position: number }>(
  list: (range: ListRange) => Promise<ListedRange<Item>>,
  idOf: (item: Item) => string,
  ids: readonly string[],
): Promise<void> {
  const idsOf = ({ items }: ListedRange<Item>) => items.map(idOf);
  for (const end of ['first', 'last'] as const) {
    const pages: string[][] = [];
    let bound: Pick<ListRange, 'after' | 'before'> = {};
    for (let more = true; more; ) {
      const page = await list({ end, limit: 2, ...bound });
      more = page.more;
      if (end === 'first') {
        pages.push(idsOf(page));
        bound = { after: page.items.at(-1)!.position };
      } else {
        pages.unshift(idsOf(page));
        bound = { before: page.items[0]!.position };
      }
    }
    expect(pages.flat()).toEqual(ids);
    expect(pages).toHaveLength(Math.ceil(ids.length / 2));
  }
  const { items } = await list({ end: 'first', limit: 100 });
  const between = { after: items[0]!.position, before: items.at(-1)!.position };
  const inner = ids.slice(1, -1);
  expect(idsOf(await list({ end: 'first', limit: 1, ...between }))).toEqual(inner.slice(0, 1));
  expect(await list({ end: 'last', limit: 1, ...between })).toMatchObject({ more: inner.length > 1 });
  expect(idsOf(await list({ end: 'last', limit: 1, ...between }))).toEqual(inner.slice(-1));
  expect(idsOf(await list({ end: 'last', limit: 100, ...between }))).toEqual(inner);
}
