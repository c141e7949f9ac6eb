// What has no subscription: content of products, and the products of the store. Both are read again at intervals.
import { ReloadedList } from './loaded-list.ts';
import {
  type Page,
  PRODUCT_CONTENTS,
  type ProductContent,
  STORE_PRODUCTS,
  type StoreProduct,
} from './operations.ts';
import type { Part } from './parts.ts';

/** The time between two readings in front of another service, of whose requests they take. */
const EVERY_MS = 60_000;

/** Reads a page of a part alone: null where the service does not offer it, undefined where it could not be read. */
type ReadPart = <Item>(
  part: Part,
  query: string,
  variables: { after: string | null },
) => Promise<Page<Item> | null | undefined>;

export class Catalogue {
  readonly contents: ReloadedList<ProductContent>;
  readonly storeProducts: ReloadedList<StoreProduct>;
  offersContents = true;
  offersStore = true;
  #loadedAt = 0;

  constructor(read: ReadPart) {
    this.contents = new ReloadedList((after) => read('deliveries', PRODUCT_CONTENTS, { after }));
    this.storeProducts = new ReloadedList((after) => read('storeProducts', STORE_PRODUCTS, { after }));
  }

  async load(): Promise<void> {
    this.#loadedAt = Date.now();
    [this.offersContents, this.offersStore] = await Promise.all([
      this.contents.reload(),
      this.storeProducts.reload(),
    ]);
  }

  isDue({ simulated }: { simulated: boolean }): boolean {
    return simulated || Date.now() - this.#loadedAt >= EVERY_MS;
  }
}
