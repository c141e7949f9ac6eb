import { BoardController } from '../board/board-controller.ts';
import type { BoardHost } from '../board/board-host.ts';
import { onceAFrame } from '../board/once-a-frame.ts';
import type { Topic } from '../board/updates.ts';
import type { CheckoutError } from '../checkout-state.ts';
import { pause } from '../follow/pause.ts';
import type { ListKind } from './list-kind.ts';
import type { ListTexts } from './locales/texts.ts';
import { createRowList, type Page, pageOf, type Row, type RowList, type View } from './row-list.ts';

/** The largest number of rows that are loaded for sorting: without a click, and by a click. */
const AUTO_LOAD_ROWS = 1_000;
export const MAX_ROWS = 10_000;
const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 100;
/** The shortest time between two readings of new rows that updates have announced. */
const READ_EVERY_MS = 2_000;

export interface ListHost<R extends Row> extends BoardHost {
  pageSize: number;
  readonly view: View;
  /** Whether the shown rows must keep their order. */
  readonly freezeOrder: boolean;
  onRowChange(kind: 'new' | 'changed', row: R, groupChanged: boolean): void;
  /** Called for a row that may have changed, loaded or not; without an id after a gap, in which any may have. */
  onRow(id?: string): void;
}

/** Loads a list page by page, and follows its rows. */
export class ListController<R extends Row, T extends ListTexts> extends BoardController<ListHost<R>> {
  list: RowList<R>;
  /** The request in progress besides the stream: another view, the next page, or all remaining pages. */
  busy: '' | 'view' | 'more' | 'all' = '';
  /** The error of the next page. */
  moreError: CheckoutError | undefined;
  readonly kind: ListKind<R, T>;
  #loading: AbortController | undefined;
  /** Whether the list was not polled since its first page. */
  #isFirstPoll = true;
  /** The kinds that the token may follow; undefined if it may follow all of the list. */
  #allowed: readonly string[] | undefined;
  /** The token with which they were read. */
  #allowedTo: string | undefined;
  /** The filter of the list, as text. */
  #filter: string | undefined;
  /** Whether updates have announced rows since the last reading of new rows began. */
  #isAnnounced = false;
  /** The signal of the loop that reads them. */
  #reading: AbortSignal | undefined;
  /** The time of the last reading of new rows, in milliseconds. */
  #readAt = 0;
  readonly #arrangeInFrame = onceAFrame(() => this.arrange());

  constructor(host: ListHost<R>, kind: ListKind<R, T>) {
    super(host);
    this.kind = kind;
    this.list = createRowList(kind);
  }

  get topic(): Topic {
    const { topic } = this.kind;
    return { ...topic, kinds: topic.kinds.filter((kind) => this.#allowed?.includes(kind) ?? true) };
  }

  override hostDisconnected(): void {
    super.hostDisconnected();
    // A view or new rows that were being read are read again when the element is inserted again.
    if (this.busy === 'view' || this.#reading) this.cursor = undefined;
    this.#loading?.abort();
  }

  override resume(): void {
    // Another token may read more kinds, and follow them.
    const isPart = this.topic.kinds.length < this.kind.topic.kinds.length;
    if (isPart && this.#allowedTo !== this.host.token) {
      this.#allowed = undefined;
      this.restart();
    } else super.resume();
  }

  override restart(): void {
    this.#loading?.abort();
    this.#loading = undefined;
    super.restart();
  }

  protected forget(): void {
    this.#loading?.abort();
    this.list = createRowList(this.kind);
  }

  /** Shows another filter or another order. */
  setView(view: View): void {
    // Rows of another filter may be unknown.
    if (this.phase !== 'ready' || JSON.stringify(view.filter) !== this.#filter) {
      if (this.phase !== 'idle') this.restart();
      return;
    }
    this.#loading?.abort();
    if (this.list.sort(view)) {
      this.arrange(false);
      this.#loadAllIfFew();
      return;
    }
    void this.#load('view', async (fetchPage) => {
      this.list.start(view, await fetchPage(this.#pageOf(view)));
      this.arrange(false);
    }).then(() => this.#loadAllIfFew());
  }

  /** Loads the next page. */
  loadMore(): void {
    if (this.busy || this.moreError || this.list.complete || this.phase !== 'ready') return;
    void this.#load('more', async (fetchPage) => {
      this.list.append(await fetchPage(this.list.nextPage(pageSizeOf(this.host))));
      this.arrange();
    });
  }

  /** Loads pages until `maxRows` rows are loaded, or all, and then sorts them at once. */
  loadAll(maxRows = MAX_ROWS, keep = false): void {
    void this.#load('all', async (fetchPage) => {
      while (!this.list.complete && this.list.loaded < maxRows) {
        this.list.append(
          await fetchPage(this.list.nextPage(Math.min(MAX_PAGE_SIZE, maxRows - this.list.loaded))),
        );
        this.host.requestUpdate();
      }
      this.arrange(keep);
    });
  }

  /** Retries the page that failed. */
  retryPage(): void {
    this.moreError = undefined;
    if (this.list.sortedLocally) this.loadAll();
    else this.loadMore();
  }

  /** Updates the rows on the screen; a frozen order is kept, unless `keep` is false. */
  arrange(keep = true): void {
    this.list.arrange(keep && this.host.freezeOrder);
    this.host.requestUpdate();
  }

  // ── The first page and the changes ────────────────────────────────────────────────────────────

  protected async load(signal: AbortSignal): Promise<string> {
    const { view } = this.host;
    const filter = JSON.stringify(view.filter);
    const isOther = filter !== this.#filter || this.busy === 'view';
    if (isOther) this.busy = 'view';
    this.#filter = filter;
    const answer = await this.request<{ updatesCursor: string; updateKinds?: string[] }>(
      this.kind.documents.start,
      this.#pageOf(view),
      signal,
    ).finally(() => {
      // A later run has its own view.
      signal.throwIfAborted();
      this.busy = '';
      if (isOther) this.#filter = '';
    });
    this.#filter = filter;
    this.#allowed = answer.updateKinds;
    this.#allowedTo = this.host.token;
    this.#isFirstPoll = true;
    this.#loading?.abort();
    // The rows of another filter do not stay, even if the pointer is in the table.
    const keep = !isOther && !!this.list.ids[0];
    this.list.restart(view, this.kind.listOf(answer));
    this.arrange(keep);
    this.host.onRow();
    // The view has changed during the request.
    if (view !== this.host.view) this.setView(this.host.view);
    else this.#loadAllIfFew(keep);
    return answer.updatesCursor;
  }

  protected probe(signal: AbortSignal): Promise<unknown> {
    return this.#poll({ first: 1, ids: [] }, signal);
  }

  #poll(page: object, signal: AbortSignal): Promise<{ nodes?: (R | null)[] }> {
    return this.request(this.kind.documents.poll, { filter: this.host.view.filter, ...page }, signal);
  }

  async poll(signal: AbortSignal, page: object = { ids: this.list.openIds() }): Promise<() => void> {
    const size = pageSizeOf(this.host);
    const { list } = this;
    const { view } = this.host;
    const answer = await this.#poll({ first: size, ...page }, signal);
    return () => {
      // Another account, or another filter.
      if (list !== this.list || JSON.stringify(view.filter) !== this.#filter) return;
      const { nodes: newest } = this.kind.listOf(answer);
      const { chosen, sort } = view;
      // At the first poll, an unlisted row is not new under a filter, or if an oldest-first list is incomplete.
      const isSilent = this.#isFirstPoll && (chosen[0] || (sort === this.kind.time && !this.list.complete));
      // There are more than a page of new rows since the last poll, so some in between may be missing.
      if (!isSilent && newest.length === size && !newest.some(({ id }) => this.list.get(id)))
        queueMicrotask(() => this.endStream());
      const others = (answer.nodes ?? []).filter((node) => node !== null);
      for (const row of [...others, ...newest].reverse())
        if (isSilent && !this.list.get(row.id)) this.list.apply(row, this.kind.groupOf(row));
        else if (this.#apply(row, undefined)) this.host.onRow(row.id);
      this.#isFirstPoll = false;
      this.#arrangeInFrame();
    };
  }

  onUpdate(update: object): void {
    const changed = this.kind.rowOf(update);
    const { row, previous, isOfRow } = changed ?? {};
    if (row) this.host.onRow(row.id);
    // The stream has the rows of every filter: the server says which of them are new ones of this.
    if (row && (this.list.get(row.id) || !(isOfRow || this.host.view.filter))) {
      this.#apply(row, previous);
      this.#arrangeInFrame();
    } else if (row !== null && !isOfRow) void this.#readNew();
  }

  /** Reads the newest rows, once for many updates. */
  async #readNew(): Promise<void> {
    this.#isAnnounced = true;
    const signal = this.connectedSignal;
    if (this.#reading === signal) return;
    this.#reading = signal;
    while (this.#isAnnounced) {
      await pause(Math.max(0, this.#readAt + READ_EVERY_MS - Date.now()), signal);
      if (signal.aborted) break;
      this.#readAt = Date.now();
      this.#isAnnounced = this.#isFirstPoll = false;
      const { filter } = pageOf(this.host.view, 0, this.kind);
      try {
        (await this.poll(signal, { filter, ids: [] }))();
      } catch {
        // The state is read instead, and again until that succeeds: no later update may come.
        this.endStream();
      }
    }
    this.#reading = undefined;
  }

  /** Returns whether the row was new or another one. */
  #apply(row: R, previousGroup: string | null | undefined): boolean {
    const { groupOf, name } = this.kind;
    const known = this.list.get(row.id);
    const previous = (known ? groupOf(known) : previousGroup) ?? undefined;
    const kind = this.list.apply(row, previousGroup);
    if (!kind) return false;
    this.emit(`psa-${name}-update`, { [name]: row, previous });
    this.host.onRowChange(kind, row, previous !== groupOf(row));
    return true;
  }

  /** Tells the page which filter the user has set. */
  emitFilter(chosen: readonly string[] = this.host.view.chosen): void {
    const { property } = this.kind;
    this.emit('psa-filter-change', { [property]: chosen, filter: this.host.view.filter });
  }

  #pageOf(view: View): object {
    return pageOf(view, pageSizeOf(this.host), this.kind);
  }

  /** Loads all rows of a view that is sorted here, if they are few: only all of them can be sorted. */
  #loadAllIfFew(keep = false): void {
    const { sortedLocally, complete, total } = this.list;
    if (sortedLocally && !complete && total <= AUTO_LOAD_ROWS && this.phase !== 'error')
      this.loadAll(AUTO_LOAD_ROWS, keep);
  }

  async #load(
    busy: 'view' | 'more' | 'all',
    work: (fetchPage: (variables: object) => Promise<Page<R>>) => Promise<void>,
  ): Promise<void> {
    this.#loading?.abort();
    const loading = new AbortController();
    this.#loading = loading;
    const { signal } = loading;
    this.busy = busy;
    this.moreError = undefined;
    this.host.requestUpdate();
    try {
      await work(async (variables) => {
        const answer = await this.request<object>(this.kind.documents.page, variables, signal);
        // A later request has replaced this one.
        if (signal.aborted) throw signal.reason;
        return this.kind.listOf(answer);
      });
    } catch (thrown) {
      if (signal.aborted) return;
      // A next page can be retried; without its first page a view has nothing to show.
      if (busy === 'view') this.restart();
      else this.moreError = thrown as CheckoutError;
    } finally {
      if (this.#loading === loading) this.busy = '';
      this.host.requestUpdate();
    }
  }
}

function pageSizeOf({ pageSize }: { pageSize: number }): number {
  return Math.min(MAX_PAGE_SIZE, Math.max(1, Math.floor(pageSize) || DEFAULT_PAGE_SIZE));
}
