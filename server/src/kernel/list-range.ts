/** A range of a list, newest first: the first or the last `limit` of those behind `after` and before `before`, both places. */
export interface ListRange {
  end: 'first' | 'last';
  limit: number;
  after?: number | undefined;
  before?: number | undefined;
}

/** A range as it was read. `more`: there are others at the end that was read last. */
export interface ListedRange<Item> {
  items: Item[];
  more: boolean;
}

/** Takes off the items that were read beyond the limit, at the end that was read last. */
export function withoutExtra<Item>(
  items: Item[],
  { end, limit }: Pick<ListRange, 'end' | 'limit'>,
): ListedRange<Item> {
  const more = items.length > limit;
  return { items: end === 'last' ? items.slice(-limit) : items.slice(0, limit), more };
}
