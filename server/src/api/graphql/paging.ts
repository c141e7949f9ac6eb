import type { ArgBuilder } from '@pothos/core';
import type { Cursors } from '../../kernel/cursor.ts';
import { ValidationError } from '../../kernel/errors.ts';
import type { ListedRange, ListRange } from '../../kernel/list-range.ts';
import type { Types } from './mutations.ts';

export const DEFAULT_PAGE = 50;
export const LARGEST_PAGE = 100;

/** Checks a page size (the document's section 2.1.6): 1 to 100, 50 where left out. @throws ValidationError naming the argument */
function pageSize(requested: number | null | undefined, argument: 'first' | 'last' = 'first'): number {
  const size = requested ?? DEFAULT_PAGE;
  if (size < 1 || size > LARGEST_PAGE)
    throw new ValidationError([{ path: argument, message: `must lie from 1 to ${LARGEST_PAGE}` }]);
  return size;
}

/** Decodes the position in a list from `after` or `before`. @throws ValidationError naming the argument */
function placeArgument(
  cursors: Cursors,
  cursor: string | null | undefined,
  argument: 'after' | 'before' = 'after',
): number | undefined {
  if (cursor == null) return undefined;
  const position = cursors.decode(cursor);
  if (position === null)
    throw new ValidationError([{ path: argument, message: 'is not a cursor of this list' }]);
  return position;
}

/** The end of the description of a connection that is newest first. */
export const BOTH_WAYS = '`first` and `after` read towards the older, `last` and `before` towards the newer.';

/** The arguments of a connection in the schema. */
export function connectionArguments(arg: ArgBuilder<Types>) {
  return {
    first: arg.int({
      description:
        'The most items to return, counted from `after` or from the start of the list: 1 to 100; 50 if neither it nor `last` is given.',
    }),
    after: arg.string({ description: 'A cursor of this list; the page has the items after it.' }),
    last: arg.int({
      description:
        'The most items to return, counted back from `before` or from the end of the list: 1 to 100. Not allowed with `first`.',
    }),
    before: arg.string({ description: 'A cursor of this list; the page has the items before it.' }),
  };
}

/** The values of those arguments. */
interface RangeArguments {
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}

/**
 * Checks the arguments of a list that is read in both directions: `first` and `after` read towards the older, `last` and
 * `before` towards the newer.
 * @throws ValidationError naming the argument
 */
export function rangeOf(cursors: Cursors, { first, after, last, before }: RangeArguments) {
  if (first != null && last != null)
    throw new ValidationError([{ path: 'last', message: 'not together with first' }]);
  const end = last == null ? ('first' as const) : ('last' as const);
  return {
    end,
    after: placeArgument(cursors, after, 'after'),
    before: placeArgument(cursors, before, 'before'),
    limit: pageSize(last ?? first, end),
  };
}

/**
 * Reads the range of the arguments as a connection; `node` takes the node from an item.
 * @throws ValidationError naming the argument, errors of `list`
 */
export async function readConnection<Item extends { position: number }, Node>(
  cursors: Cursors,
  args: RangeArguments,
  {
    list,
    node,
    total,
  }: {
    list: (range: ListRange) => Promise<ListedRange<Item>>;
    node: (item: Item) => Node;
    total: () => Promise<number>;
  },
) {
  const range = rangeOf(cursors, args);
  const { items, more } = await list(range);
  const nodes = items.map((item) => ({ position: item.position, node: node(item) }));
  return connectionOf(cursors, nodes, { ...pagesBeside(range, more), total });
}

/** Whether a page has others on either side; `more`: at the end that was read last. */
export function pagesBeside({ end, after, before }: ReturnType<typeof rangeOf>, more: boolean) {
  return {
    hasNextPage: end === 'first' ? more : before !== undefined,
    hasPreviousPage: end === 'last' ? more : after !== undefined,
  };
}

/** A page of a list as a connection, each node with the cursor of its position; `total` is counted only if it is selected. */
export function connectionOf<Node>(
  cursors: Cursors,
  items: readonly { position: number; node: Node }[],
  {
    total,
    ...more
  }: { hasNextPage: boolean; hasPreviousPage: boolean; total: () => number | Promise<number> },
) {
  const edges = items.map(({ position, node }) => new Edge(cursors, position, node));
  const pageInfo = { __proto__: PAGE_INFO, ...more, edges };
  return { edges, pageInfo, total } as unknown as {
    edges: { cursor: string; node: Node }[];
    pageInfo: typeof more & { startCursor: string | null; endCursor: string | null };
    total: typeof total;
  };
}

// A cursor is a block of AES, which most operations do not select, so a getter makes it. All edges share the getter: a getter
// for each edge would give each a hidden class, which V8 keeps until a full collection.
class Edge<Node> {
  readonly cursors: Cursors;
  readonly position: number;
  readonly node: Node;
  constructor(cursors: Cursors, position: number, node: Node) {
    this.cursors = cursors;
    this.position = position;
    this.node = node;
  }
  get cursor(): string {
    return this.cursors.encode(this.position);
  }
}

const PAGE_INFO: object = {
  get startCursor() {
    return (this as unknown as { edges: Edge<unknown>[] }).edges[0]?.cursor ?? null;
  },
  get endCursor() {
    return (this as unknown as { edges: Edge<unknown>[] }).edges.at(-1)?.cursor ?? null;
  },
};

/** The total of a connection of `connectionOf`: the relay plugin's type of a connection does not have it. */
export function totalOf(connection: object): number | Promise<number> {
  return (connection as ReturnType<typeof connectionOf>).total();
}
