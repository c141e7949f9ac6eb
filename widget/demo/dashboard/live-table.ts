import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { FilterState } from './filtered-list.ts';

export interface TableRow {
  key: string;
  /** A row whose version changes is highlighted for a moment. */
  version: string | number;
  cells: (TemplateResult | string | typeof nothing)[];
}

export interface TableColumn {
  label: string;
  numeric?: boolean;
}

const FIRST_ROWS = 8;
const MORE_ROWS = 10;

/**
 * A live table whose rows keep their places under the pointer: while the mouse is over it, rows change in place, and new
 * rows wait behind a button.
 * @fires load-more - All loaded rows are shown, and the reader wants older ones.
 * @fires filter-change - The reader has chosen a filter, which is the detail; empty: none. The rows are then what it selects.
 */
export class LiveTable extends LitElement {
  static override properties = {
    heading: {},
    columns: { attribute: false },
    rows: { attribute: false },
    filters: { attribute: false },
    emptyText: { attribute: false },
    hasMore: { type: Boolean },
    loading: { type: Boolean },
    filter: {},
    filterState: { attribute: false },
    limit: { state: true },
  };

  declare heading: string;
  declare columns: TableColumn[];
  /** Newest first. */
  declare rows: TableRow[];
  declare filters: { status: string; label: string }[];
  declare emptyText: TemplateResult | string;
  /** Whether the server has older rows. */
  declare hasMore: boolean;
  declare loading: boolean;
  /** The chosen filter; empty: none. */
  declare filter: string;
  declare filterState: FilterState;
  declare limit: number;

  /** Keys of the rows in display order. */
  #order: string[] = [];
  #versions = new Map<string, { version: string | number; changes: number }>();
  #pointerInside = false;
  #waiting = 0;

  constructor() {
    super();
    this.heading = '';
    this.columns = [];
    this.rows = [];
    this.filters = [];
    this.emptyText = '';
    this.hasMore = false;
    this.loading = false;
    this.filter = '';
    this.filterState = 'read';
    this.limit = FIRST_ROWS;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('filter')) this.limit = FIRST_ROWS;
    const wanted = this.rows.map(({ key }) => key);
    const asked = changed.has('filter') || changed.has('filterState') || changed.has('limit');
    const isRead = !this.loading && !changed.has('loading') && !changed.has('filterState');
    if (!this.#pointerInside || asked || this.#order.length === 0) this.#order = wanted;
    else {
      // Those behind the last one, as of a page that was asked for, move no other row.
      const present = new Set(wanted);
      const last = wanted.indexOf(this.#order.findLast((key) => present.has(key)) ?? '');
      this.#order = [...new Set([...this.#order, ...wanted.slice(last + 1)])];
    }
    const shown = new Set(this.#order);
    this.#waiting = wanted.filter((key) => !shown.has(key)).length;
    for (const { key, version } of this.rows) {
      const known = this.#versions.get(key);
      if (!known) this.#versions.set(key, { version, changes: this.hasUpdated && isRead ? 1 : 0 });
      else if (known.version !== version) this.#versions.set(key, { version, changes: known.changes + 1 });
    }
  }

  protected override render(): TemplateResult {
    const known = new Map(this.rows.map((row) => [row.key, row]));
    const rows = this.#order.map((key) => known.get(key)).filter((row) => row !== undefined);
    const shown = rows.slice(0, this.limit);
    const id = `${this.id}-title`;
    return html`
      <section aria-labelledby=${id} @pointerenter=${this.#onPointerEnter} @pointerleave=${this.#onPointerLeave}>
        <div class="table-header">
          <h2 id=${id}>${this.heading}</h2>
          <button type="button" class="new-rows" ?hidden=${this.#waiting === 0} @click=${this.#showNew}>
            ${this.#waiting === 1 ? '1 novo' : `${this.#waiting} novos`}${this.#ofThisList()}
          </button>
          ${this.filters.length === 0 || (this.rows.length === 0 && this.filter === '') ? nothing : this.#renderFilter()}
        </div>
        ${
          shown.length > 0 && !this.loading
            ? this.#renderTable(shown, id)
            : this.loading || this.filterState === 'reading'
              ? this.#renderSkeleton()
              : html`<p class="empty">${this.#emptyText()}</p>`
        }
        ${
          rows.length > this.limit || this.hasMore || this.filterState === 'failed'
            ? html`<button type="button" class="more" @click=${this.#showMore}>
                ${this.filterState === 'failed' ? 'Tentar de novo' : 'Mostrar mais'}${this.#ofThisList()}
              </button>`
            : nothing
        }
      </section>
    `;
  }

  /** The text in the place of rows: that there are none is the server's word. */
  #emptyText(): TemplateResult | string {
    if (this.filter === '') return this.emptyText;
    if (this.filterState === 'failed') return 'Não foi possível ler esta lista agora.';
    if (this.filterState === 'not-offered') return 'O serviço não oferece este filtro.';
    return this.hasMore ? 'Nenhum com este status até aqui.' : 'Nenhum com este status.';
  }

  /** The rest of a button's name: several lists have the same button. */
  #ofThisList(): TemplateResult {
    return html`<span class="sr-only"> em ${this.heading}</span>`;
  }

  #renderFilter(): TemplateResult {
    return html`
      <label class="filter">
        <span class="sr-only">Mostrar em ${this.heading}</span>
        <select @change=${this.#applyFilter}>
          <option value="">Todos</option>
          ${this.filters.map(
            ({ status, label }) =>
              html`<option value=${status} ?selected=${status === this.filter}>${label}</option>`,
          )}
        </select>
      </label>
    `;
  }

  // The narrow layout displays the rows as blocks, which drops their implicit roles.
  #renderTable(rows: TableRow[], id: string): TemplateResult {
    return html`
      <table role="table" aria-labelledby=${id}>
        <thead role="rowgroup">
          <tr role="row">
            ${this.columns.map(
              ({ label, numeric }) =>
                html`<th role="columnheader" scope="col" class=${numeric ? 'numeric' : ''}>${label}</th>`,
            )}
          </tr>
        </thead>
        <tbody role="rowgroup">
          ${repeat(
            rows,
            ({ key }) => key,
            ({ key, cells }) => html`
              <tr role="row" data-flash=${this.#flashName(key)}>
                ${cells.map(
                  (cell, index) => html`
                    <td role="cell" class=${this.columns[index]?.numeric ? 'numeric' : ''}>
                      ${cell}
                    </td>
                  `,
                )}
              </tr>
            `,
          )}
        </tbody>
      </table>
    `;
  }

  #renderSkeleton(): TemplateResult {
    return html`
      <div class="skeleton" role="status">
        <span class="sr-only">Carregando</span>
        <i></i><i></i><i></i>
      </div>
    `;
  }

  /** Alternates between two animation names, so that a second change restarts the animation. */
  #flashName(key: string): string {
    const changes = this.#versions.get(key)?.changes ?? 0;
    return changes === 0 ? '' : changes % 2 === 0 ? 'even' : 'odd';
  }

  #applyFilter(event: Event): void {
    const detail = (event.target as HTMLSelectElement).value;
    this.dispatchEvent(new CustomEvent('filter-change', { detail }));
  }

  #showNew(): void {
    this.#order = [];
    this.requestUpdate();
  }

  #showMore(): void {
    if (this.filterState !== 'failed') this.limit += MORE_ROWS;
    if (this.filterState === 'failed' || (this.hasMore && this.limit > this.#order.length))
      this.dispatchEvent(new Event('load-more'));
  }

  // Touch is ignored: a finger does not rest on a row as a mouse does.
  #onPointerEnter(event: PointerEvent): void {
    if (event.pointerType === 'mouse') this.#pointerInside = true;
  }

  #onPointerLeave(): void {
    this.#pointerInside = false;
    this.requestUpdate();
  }
}

customElements.define('live-table', LiveTable);
