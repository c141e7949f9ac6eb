import { expect, test } from 'vitest';
import { ReloadedList } from '../../../widget/demo/dashboard/loaded-list.ts';
import { deferred } from '../../support/deferred.ts';

/** A list of numbers in pages of two, at a server whose items the test changes. A cursor is the last number of a page. */
function listOf(items: number[]) {
  const server = {
    items,
    asked: [] as (string | null)[],
    /** Called before the page after a cursor is returned; false if the page cannot be read. */
    answers: async (_after: string | null) => true,
  };
  const list = new ReloadedList<number>(async (after) => {
    server.asked.push(after);
    if (!(await server.answers(after))) return undefined;
    const rest = server.items.filter((item) => item > Number(after ?? -1));
    const nodes = rest.slice(0, 2);
    return { nodes, pageInfo: { hasNextPage: rest.length > 2, endCursor: nodes.at(-1)?.toString() ?? null } };
  });
  return { server, list };
}

test('A list without updates is read page by page, and again as far as it was read', async () => {
  const { server, list } = listOf([1, 2, 3, 4, 5]);
  expect(await list.reload()).toBe(true);
  expect([list.ordered, list.hasMore]).toEqual([[1, 2], true]);
  await list.loadMore();
  expect([list.ordered, list.hasMore]).toEqual([[1, 2, 3, 4], true]);
  // Items that the server has removed are removed here, and new ones are in their place.
  server.items = [2, 3, 5, 6, 7];
  server.asked = [];
  await list.reload();
  expect([list.ordered, list.hasMore, server.asked]).toEqual([[2, 3, 5, 6], true, [null, '3']]);
  server.items = [2];
  await list.reload();
  expect([list.ordered, list.hasMore]).toEqual([[2], false]);
});

test('A list with a page that could not be read stays as it was, until it can be read', async () => {
  const { server, list } = listOf([1, 2, 3, 4]);
  await list.reload();
  await list.loadMore();
  server.items = [5, 6, 7];
  server.answers = async (after) => after === null;
  expect(await list.reload()).toBe(true);
  expect(list.ordered).toEqual([1, 2, 3, 4]);
  await expect(list.loadMore()).rejects.toThrow('could not be read');
  server.answers = async () => true;
  await list.reload();
  expect(list.ordered).toEqual([5, 6, 7]);
});

test('A list that the service does not offer says so', async () => {
  const list = new ReloadedList(async () => null);
  expect(await list.reload()).toBe(false);
});

test('A list that is read again while a page is added has no gap', async () => {
  const { server, list } = listOf([1, 2, 3, 4]);
  await list.reload();
  const answer = deferred();
  server.answers = async (after) => {
    if (after === '2') await answer.promise;
    return true;
  };
  const [added, again] = [list.loadMore(), list.reload()];
  server.items = [0, 1, 2, 3, 4];
  answer.resolve();
  await Promise.all([added, again]);
  expect(list.ordered).toEqual([0, 1, 2, 3]);
});
