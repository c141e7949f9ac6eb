// The lists of the dashboard: pages that are read, and updates that are merged into them.
import type { Page } from './operations.ts';

interface Versioned {
  version: number;
}

const NO_PAGE: Page<unknown>['pageInfo'] = { hasNextPage: false, endCursor: null };

/** A list that is read page by page, from the newest towards the older, and updated. */
export class LoadedList<Item extends Versioned> {
  readonly #keyOf: (item: Item) => string;
  readonly #instantOf: (item: Item) => string | null;
  readonly #read: (after: string | null) => Promise<Page<Item>>;
  #items = new Map<string, Item>();
  /** The number of pages that were read, each behind the one before. */
  #pages = 0;
  #pageInfo = NO_PAGE;

  constructor({
    keyOf,
    instantOf,
    read,
  }: {
    keyOf: (item: Item) => string;
    /** Returns the instant by which the list is ordered. */
    instantOf: (item: Item) => string | null;
    /** Reads the page behind a cursor. */
    read: (after: string | null) => Promise<Page<Item>>;
  }) {
    this.#keyOf = keyOf;
    this.#instantOf = instantOf;
    this.#read = read;
  }

  get items(): Item[] {
    return [...this.#items.values()];
  }

  /** Whether the server has older items. */
  get hasMore(): boolean {
    return this.#pageInfo.hasNextPage;
  }

  /** Newest first. */
  get ordered(): Item[] {
    return newestFirst(this.items, this.#instantOf);
  }

  /** Empties the list: it was not followed, so that its items may have changed, and newer ones be missing between them. */
  clear(): void {
    this.#items = new Map();
    this.#pages = 0;
    this.#pageInfo = NO_PAGE;
  }

  /** Merges the first page, read just now. Where older ones were read, the next is behind those. */
  addFirst(page: Page<Item>): void {
    if (this.#pages === 0) this.#addPage(page);
    else this.refresh(page.nodes);
  }

  async readFirst(): Promise<void> {
    const items = this.#items;
    const page = await this.#read(null);
    if (items === this.#items) this.addFirst(page);
  }

  /** Merges items that were read just now. */
  refresh(items: readonly Item[]): void {
    mergeRead(this.#items, items, this.#keyOf);
  }

  /** Merges the item of an update, as it was at its change. */
  update(item: Item): void {
    mergeUpdated(this.#items, [item], this.#keyOf);
  }

  async loadMore(): Promise<void> {
    const items = this.#items;
    const after = this.#pageInfo.endCursor;
    const page = await this.#read(after);
    // The list was emptied meanwhile: this page is behind none that it has.
    if (items !== this.#items) return;
    if (after === this.#pageInfo.endCursor) this.#addPage(page);
    // Another reading has added this page, and perhaps further ones.
    else this.refresh(page.nodes);
  }

  #addPage({ nodes, pageInfo }: Page<Item>): void {
    this.refresh(nodes);
    this.#pages += 1;
    this.#pageInfo = pageInfo;
  }
}

/** A list without updates: it is read page by page, in the server's order, and again from its start as far as it was read. */
export class ReloadedList<Item> {
  readonly #read: ReadPage<Item>;
  #items: Item[] = [];
  #pages = 0;
  #pageInfo: Page<Item>['pageInfo'] = { hasNextPage: false, endCursor: null };
  #last: Promise<unknown> = Promise.resolve();

  /** `read` reads the page behind a cursor: null if the service offers no such list, undefined if it could not be read. */
  constructor(read: ReadPage<Item>) {
    this.#read = read;
  }

  /** In the server's order. */
  get ordered(): readonly Item[] {
    return this.#items;
  }

  /** The number of pages that were read. */
  get pages(): number {
    return this.#pages;
  }

  /** Whether the server has further items. */
  get hasMore(): boolean {
    return this.#pageInfo.hasNextPage;
  }

  async readFirst(): Promise<void> {
    await this.reload();
  }

  loadMore(): Promise<void> {
    return this.#inTurn(async () => {
      const page = await this.#read(this.#pageInfo.endCursor);
      if (!page) throw new Error('the page could not be read');
      this.#take([...this.#items, ...page.nodes], page, this.#pages + 1);
    });
  }

  /**
   * Reads the pages again that were read, at least the first. Where one could not be read, the list stays as it was. Returns
   * whether the service offers the list.
   */
  reload(): Promise<boolean> {
    return this.#inTurn(async () => {
      const items: Item[] = [];
      let page = await this.#read(null);
      for (let pages = 1; page; pages += 1) {
        items.push(...page.nodes);
        if (pages >= this.#pages || !page.pageInfo.hasNextPage) {
          this.#take(items, page, pages);
          break;
        }
        page = await this.#read(page.pageInfo.endCursor);
      }
      return page !== null;
    });
  }

  #take(items: Item[], { pageInfo }: Page<Item>, pages: number): void {
    this.#items = items;
    this.#pageInfo = pageInfo;
    this.#pages = pages;
  }

  /** Runs one reading at a time: a page that is added while the others are read again would be lost. */
  #inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
    const run = this.#last.then(work);
    this.#last = run.catch(() => undefined);
    return run;
  }
}

type ReadPage<Item> = (after: string | null) => Promise<Page<Item> | null | undefined>;

export function newestFirst<Item>(items: Item[], instantOf: (item: Item) => string | null): Item[] {
  return items.sort((left, right) => (instantOf(right) ?? '').localeCompare(instantOf(left) ?? ''));
}

/** Merges items that were read just now. Refunds change a payment's amounts without its version, so an equal one replaces. */
export function mergeRead<Item extends Versioned>(...given: Merged<Item>): void {
  merge(given, (known, read) => known.version <= read.version);
}

/** Merges items of updates, each as it was at its change: of two versions of one item the larger is kept. */
export function mergeUpdated<Item extends Versioned>(...given: Merged<Item>): void {
  merge(given, (known, updated) => known.version < updated.version);
}

type Merged<Item> = [items: Map<string, Item>, incoming: readonly Item[], keyOf: (item: Item) => string];

function merge<Item>(
  [items, incoming, keyOf]: Merged<Item>,
  replaces: (known: Item, item: Item) => boolean,
): void {
  for (const item of incoming) {
    const known = items.get(keyOf(item));
    if (!known || replaces(known, item)) items.set(keyOf(item), item);
  }
}
