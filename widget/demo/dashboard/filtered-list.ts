// The filters of the lists. The server is asked for each: the rows that are loaded do not say what the others hold.
import { NOT_OFFERED, RefusedError } from './api.ts';

/** A list that is read page by page. */
export interface PagedList<Item> {
  /** In the order of the rows. */
  readonly ordered: readonly Item[];
  /** Whether the server has further items. */
  readonly hasMore: boolean;
  loadMore(): Promise<void>;
  /** Reads the start of the list, or reads it again. */
  readFirst(): Promise<void>;
}

/** Whether the server has answered for the chosen filter; without a filter, `read`. */
export type FilterState = 'reading' | 'read' | 'failed' | 'not-offered';

interface Part<List> {
  filter: string;
  list: List;
  state: FilterState;
}

/** A list, and the part of it that the chosen filter selects, which has pages of its own. */
export class FilteredList<Item, List extends PagedList<Item>> {
  /** The list without a filter. */
  readonly whole: List;
  readonly #create: (filter: string) => List;
  readonly #filterOf: (item: Item) => string;
  #part: Part<List> | null = null;

  constructor({
    create,
    filterOf,
  }: {
    /** Creates the empty list of a filter; of none where it is null. */
    create: (filter: string | null) => List;
    /** Returns the filter that selects an item: an update may have taken it out of the part. */
    filterOf: (item: Item) => string;
  }) {
    this.whole = create(null);
    this.#create = create;
    this.#filterOf = filterOf;
  }

  /** The chosen filter; empty if none is. */
  get filter(): string {
    return this.#part?.filter ?? '';
  }

  get state(): FilterState {
    return this.#part?.state ?? 'read';
  }

  /** The list whose pages are shown. */
  get shown(): List {
    return this.#part?.list ?? this.whole;
  }

  /** The loaded items that the filter selects. */
  get items(): readonly Item[] {
    const { filter } = this;
    const { ordered } = this.shown;
    return filter === '' ? ordered : ordered.filter((item) => this.#filterOf(item) === filter);
  }

  get hasMore(): boolean {
    return this.shown.hasMore;
  }

  /** Chooses a filter, and reads what it selects. Never rejects. */
  async choose(filter: string): Promise<void> {
    this.#part = filter === '' ? null : { filter, list: this.#create(filter), state: 'reading' };
    await this.reread();
  }

  /** Reads the start of the chosen part again. Never rejects. */
  async reread(): Promise<void> {
    const part = this.#part;
    if (!part) return;
    if (part.state !== 'read') part.state = 'reading';
    part.state = await part.list.readFirst().then(
      () => 'read' as const,
      (error: unknown) =>
        error instanceof RefusedError && error.code === NOT_OFFERED ? 'not-offered' : 'failed',
    );
  }

  /** Loads the next page, or the first again where it could not be read. */
  async loadMore(): Promise<void> {
    if (this.state !== 'failed') return this.shown.loadMore();
    await this.reread();
    if (this.state === 'failed') throw new Error('the page could not be read');
  }

  /** Writes something into the whole list and into the chosen part. */
  each(write: (list: List) => void): void {
    write(this.whole);
    if (this.#part) write(this.#part.list);
  }
}
