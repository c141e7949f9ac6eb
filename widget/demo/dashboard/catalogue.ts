// What has no subscription: content of products, and the products of the store. Both are read again at intervals.
import { FilteredList } from './filtered-list.ts';
import { ReloadedList } from './loaded-list.ts';
import { PRODUCT_CONTENTS, type ProductContent, STORE_PRODUCTS, type StoreProduct } from './operations.ts';
import type { Part, ReadPart } from './parts.ts';

/** The time between two readings in front of another service, of whose requests they take. */
const EVERY_MS = 60_000;

/** Creates a list without updates. `argument`: the one that its filter is in the query. */
export function reloadedList<Item>(
  read: ReadPart,
  {
    part,
    query,
    argument,
    filterOf,
  }: { part: Part; query: string; argument: string; filterOf: (item: Item) => string },
): FilteredList<Item, ReloadedList<Item>> {
  return new FilteredList({
    filterOf,
    create: (filter) =>
      new ReloadedList((after) => read(part, query, { after, ...(filter && { [argument]: [filter] }) })),
  });
}

export class Catalogue {
  readonly contents: FilteredList<ProductContent, ReloadedList<ProductContent>>;
  readonly storeProducts: ReloadedList<StoreProduct>;
  offersContents = true;
  offersStore = true;
  #loadedAt = 0;

  constructor(read: ReadPart) {
    this.contents = reloadedList<ProductContent>(read, {
      ...{ part: 'deliveries', query: PRODUCT_CONTENTS, argument: 'stock' },
      filterOf: ({ stock }) => stock,
    });
    this.storeProducts = new ReloadedList((after) => read('storeProducts', STORE_PRODUCTS, { after }));
  }

  async load(): Promise<void> {
    this.#loadedAt = Date.now();
    [this.offersContents, this.offersStore] = await Promise.all([
      this.contents.whole.reload(),
      this.storeProducts.reload(),
      this.contents.reread(),
    ]);
  }

  isDue({ simulated }: { simulated: boolean }): boolean {
    return simulated || Date.now() - this.#loadedAt >= EVERY_MS;
  }
}
