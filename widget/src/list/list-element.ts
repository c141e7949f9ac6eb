import { html, type PropertyValues, type TemplateResult } from 'lit';
import { BoardElement } from '../board/board-element.ts';
import type { BoardTexts } from '../board/board-texts.ts';
import { problem } from '../board/messages.ts';
import { Announcer } from './announcer.ts';
import { columns, filters, news, readView } from './controls.ts';
import { DrawnRows } from './drawn-rows.ts';
import { createExportButton } from './export-button.ts';
import type { Figures } from './figures.ts';
import { ListController, type ListHost } from './list-controller.ts';
import type { ListKind } from './list-kind.ts';
import type { ListTexts } from './locales/texts.ts';
import { countOfRows, noRows, SKELETON } from './messages.ts';
import { createMoreFilters, type MoreFilters } from './more-filters.ts';
import { createRowDetails, type RowDetails } from './row-details.ts';
import { pageOf, type Row, type Sort, type View } from './row-list.ts';
import { RowWindow } from './row-window.ts';

/** The next page is loaded when fewer rows than this are left below the visible ones. */
const PREFETCH_ROWS = 20;

/**
 * A list of an account as a live table. Rows change in place; while the pointer or the keyboard focus is in the table, or
 * it is scrolled, no row moves, and new rows wait behind a button. A class that extends it adds its kind, its texts, its
 * styles and the properties of its conditions.
 */
export abstract class ListElement<R extends Row, T extends ListTexts>
  extends BoardElement<T>
  implements ListHost<R>
{
  static override get properties() {
    return {
      ...BoardElement.properties,
      sort: {},
      pageSize: { attribute: 'page-size', type: Number },
      export: { type: Boolean },
      details: { type: Boolean },
    };
  }

  declare sort: Sort;
  declare pageSize: number;
  /** Whether there is a button that downloads the rows of the filter. */
  declare export: boolean;
  /** Whether a row that is selected opens its details. */
  declare details: boolean;

  /** @internal The filter and the order, as read from the properties. */
  view: View;

  /** The figures above the table; not every list has them. */
  declare protected readonly figures?: Figures<unknown>;
  protected readonly data: ListController<R, T>;
  protected readonly rowDetails: RowDetails;
  protected readonly texts: BoardTexts<T>;
  readonly #kind: ListKind<R, T>;
  readonly #moreFilters: MoreFilters;
  readonly #renderExport: () => TemplateResult;
  readonly #announcer: Announcer<R, T>;
  #window = new RowWindow();
  #drawn = new DrawnRows(this, (id, value) => this.cellsOf(id, value));
  #rows: readonly string[] = [];
  #pointerInside = false;
  #focusInside = false;
  /** The id of the row that the keyboard is on. */
  #activeId = '';
  #focusActiveRow = false;
  #connected: AbortController | undefined;
  #resizeObserver: ResizeObserver | undefined;

  constructor(kind: ListKind<R, T>, texts: BoardTexts<T>) {
    super();
    this.#kind = kind;
    this.texts = texts;
    this.sort = `-${kind.time}`;
    this.pageSize = 50;
    this.export = false;
    this.details = false;
    this.view = { chosen: [], sort: this.sort };
    this.data = new ListController(this, kind);
    this.#moreFilters = createMoreFilters(kind, { host: this, data: this.data, texts });
    this.#renderExport = createExportButton(kind, this, { data: this.data, texts });
    this.rowDetails = createRowDetails(kind, { host: this, data: this.data, texts });
    this.#announcer = new Announcer(texts, kind, () => this.requestUpdate());
  }

  /** The number of rows that match the filter, loaded or not. */
  get totalCount(): number {
    return this.data.list.total;
  }

  /** Shows the new rows that wait, and scrolls to the top. */
  showNew(): void {
    this.data.list.arrange(false);
    this.#rows = this.arrangedRows();
    this.#scroller?.scrollTo({ top: 0 });
    this.#moveToRow(0);
  }

  override focus(options?: FocusOptions): void {
    this.renderRoot?.querySelector<HTMLElement>('[tabindex="0"],button')?.focus(options);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    // The page may scroll, or any element around the table.
    document.addEventListener('scroll', this.#measure, { capture: true, passive: true, signal });
    addEventListener('resize', this.#measure, { signal });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#connected?.abort();
    this.#announcer.stop();
    this.figures?.follow('');
    this.renderRoot?.querySelector('dialog')?.close();
    this.#pointerInside = false;
  }

  /** @internal Whether the rows must not move: the pointer or the focus is in the table, or it is scrolled. */
  get freezeOrder(): boolean {
    return (
      this.#pointerInside ||
      this.#window.top > 0 ||
      Boolean(this.shadowRoot?.activeElement?.matches(':focus-visible'))
    );
  }

  /** @internal Highlights a row that is new or has changed, and announces it. */
  onRowChange(kind: 'new' | 'changed', row: R, groupChanged: boolean): void {
    this.#drawn.mark(row.id);
    if (groupChanged && this.data.list.matches(this.#kind.groupOf(row))) this.#announcer.addChange(kind, row);
  }

  /** @internal Reads the figures again, and the details of a row if they are open; without an id those of any row. */
  onRow(id?: string): void {
    this.rowDetails.onRow(id);
    this.figures?.expire();
  }

  protected override get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const { property, conditions } = this.#kind;
    if (['sort', property, ...conditions].some((name) => changed.has(name as 'sort'))) {
      this.view = readView(this, this.#kind);
      this.sort = this.view.sort;
      if (this.hasUpdated) this.data.setView(this.view);
    }
    super.willUpdate(changed);
    this.#announcer.setConnection(this.data.age.shown(this.data.connection));
    this.#rows = this.arrangedRows();
    this.#focusInside = Boolean(this.shadowRoot?.activeElement);
  }

  protected override updated(): void {
    super.updated();
    if (!this.#resizeObserver) {
      this.#resizeObserver = new ResizeObserver(() => requestAnimationFrame(this.#measure));
      for (const element of [this.#scroller, this.#body]) if (element) this.#resizeObserver.observe(element);
    }
    const body = this.#body;
    if (body)
      this.#drawn.draw(
        body,
        { ids: this.#rows, get: (id) => this.shownAs(id), sources: this.sources },
        this.#window,
        this.#activeId,
      );
    this.#drawn.flash(this.data.list.waiting > 0);
    if (this.#focusActiveRow) {
      this.#focusActiveRow = false;
      const row = body?.querySelector<HTMLElement>('[tabindex="0"]');
      row?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: 'nearest' });
    }
    // If the focused row was scrolled away or filtered out, the focus stays in the table.
    else if (this.#focusInside && !this.shadowRoot?.activeElement)
      this.#scroller?.focus({ preventScroll: true });
    queueMicrotask(this.#measure);
  }

  protected override render(): TemplateResult {
    const { list, phase } = this.data;
    // Only the server can say that nothing matches this filter.
    const waiting =
      this.#rows.length === 0 && (phase === 'loading' || phase === 'idle' || this.data.busy === 'view');
    return html`
      <div
        part="base" class="base" lang=${this.texts.language}
        @pointerenter=${() => (this.#pointerInside = true)}
        @pointerleave=${this.#onPointerLeave}
        @focusout=${this.#arrangeIfUnfrozen}
      >
        <div part="toolbar" class="toolbar">
          <slot name="heading"></slot>
          ${filters(
            this.texts,
            this.#kind,
            this.view.chosen,
            (chosen) => this.#choose(chosen),
            this.#moreFilters,
            () => (this.export ? this.#renderExport() : ''),
          )}
          ${this.#kind.search?.render(this, this.texts, () => this.data.emitFilter()) ?? ''}
          ${news(this.texts, this.data, () => this.showNew())}
        </div>
        ${this.#moreFilters.renderForm()}
        ${this.renderSummary()}
        <div class="notice" role="status">${problem(this.texts, this.data)}</div>
        <div
          part="scroller"
          class="scroller"
          tabindex="-1"
          @scroll=${this.#measure}
          @keydown=${this.#onKeydown}
        >
          <table
            part="table"
            role="grid"
            aria-label=${this.texts.text(this.#kind.title)}
            aria-rowcount=${list.total + this.#rows.length - list.ids.length + 1}
            aria-busy=${waiting || this.data.busy ? 'true' : 'false'}
          >
            <thead role="rowgroup">
              <tr part="header" class="header" role="row" aria-rowindex="1">${columns(this.texts, this.#kind, this.sort, (sort) => this.#setSort(sort))}</tr>
            </thead>
            <tbody role="rowgroup" class=${`${this.data.busy === 'view' ? 'stale' : ''} ${this.details ? 'opens' : ''}`} @click=${this.#onClick}></tbody>
          </table>
          ${waiting ? SKELETON : this.#rows.length === 0 && phase === 'ready' ? noRows(this.texts, Boolean(pageOf(this.view, 0, this.#kind).filter)) : ''}
        </div>
        <div part="footer" class="footer"><bdi>${countOfRows(this.texts, this.data, waiting)}</bdi></div>
        ${this.rowDetails.render()}
        <div class="sr" role="status" data-announcement .textContent=${this.#announcer.sentence}></div>
      </div>
    `;
  }

  /** Renders what stands above the table. */
  protected renderSummary(): TemplateResult | '' {
    return '';
  }

  // ── The rows and their headings ───────────────────────────────────────────────────────────────

  /** The ids of the rows, drawn or not. A list with headings has theirs among them. */
  protected arrangedRows(): readonly string[] {
    return this.data.list.ids;
  }

  /** The value that a row shows. */
  protected shownAs(id: string): object {
    return this.data.list.get(id)!;
  }

  protected cellsOf(_: string, value: object): TemplateResult {
    return this.#kind.cells(value as R, this.texts);
  }

  /** The objects and values that rows show besides their own. The rows are drawn again when one of these changes. */
  protected get sources(): readonly unknown[] {
    return this.texts.sources;
  }

  // ── The window of drawn rows ──────────────────────────────────────────────────────────────────

  /** Measures which rows are visible, and decides which are drawn and whether to load more. */
  #measure = (): void => {
    const scroller = this.#scroller;
    const body = this.#body;
    if (!scroller || !body || !this.isConnected) return;
    const wasDown = this.#window.top > 0;
    const measured = this.#window.measure(scroller, body);
    if (!measured) return;
    if (wasDown && this.#window.top === 0) this.#arrangeIfUnfrozen();
    if (measured.moved) this.requestUpdate();
    if (measured.end > Math.max(0, this.#rows.length - PREFETCH_ROWS) && !this.data.list.sortedLocally)
      this.data.loadMore();
  };

  get #scroller(): HTMLElement | null | undefined {
    return this.renderRoot?.querySelector<HTMLElement>('.scroller');
  }

  get #body(): HTMLElement | null | undefined {
    return this.renderRoot?.querySelector<HTMLElement>('tbody');
  }

  // ── Pointer and keyboard ──────────────────────────────────────────────────────────────────────

  #onPointerLeave(): void {
    this.#pointerInside = false;
    this.#arrangeIfUnfrozen();
  }

  /** Shows the waiting rows, unless something still freezes the order. */
  #arrangeIfUnfrozen(): void {
    queueMicrotask(() => {
      if (this.isConnected && !this.freezeOrder) this.data.arrange();
    });
  }

  #onKeydown(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || (event.target as Element).matches('button')) return;
    const active = this.#rows.indexOf(this.#activeId);
    const index = this.#window.rowOfKey(event.key, {
      active,
      isOnRow: active >= 0 || Boolean(this.shadowRoot?.activeElement?.matches('tbody tr')),
      heightPx: this.#scroller?.clientHeight ?? 0,
      count: this.#rows.length,
    });
    if (index !== undefined) this.#moveToRow(index);
    else if (event.key !== 'Enter' && event.key !== ' ') return;
    else this.#select(event.target as Element);
    event.preventDefault();
  }

  #moveToRow(index: number): void {
    const at = Math.max(0, Math.min(index, this.#rows.length - 1));
    this.#activeId = this.#rows[at] ?? '';
    // The row must be drawn to be focused; focusing scrolls it into view, and the window follows.
    this.#window.reveal(at);
    this.#focusActiveRow = true;
    this.requestUpdate();
  }

  #onClick(event: Event): void {
    // A selection of text, such as a code to copy, selects no row.
    if (getSelection()?.type !== 'Range') this.#select(event.target as Element);
  }

  #select(target: Element): void {
    const id = target.closest<HTMLElement>('tr')?.dataset.id;
    const row = this.data.list.get(id ?? '');
    if (!row) return;
    this.#activeId = row.id;
    this.requestUpdate();
    const { name } = this.#kind;
    this.data.emit(`psa-${name}-select`, { [name]: row });
    if (this.details) void this.rowDetails.open(row.id);
  }

  #choose(chosen: readonly string[]): void {
    const { property } = this.#kind;
    Object.assign(this, { [property]: chosen.join(' ') });
    this.data.emitFilter(chosen);
  }

  #setSort(sort: Sort): void {
    this.sort = sort;
    this.data.emit('psa-sort-change', { sort });
  }
}
