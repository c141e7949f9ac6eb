import { html, type LitElement, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';
import type { CheckoutConnection, CheckoutError } from '../checkout-state.ts';
import { resolveLocale } from '../locale.ts';
import { explain, hasSecret } from '../mistakes.ts';
import { Announcer } from './announcer.ts';
import { CONDITIONS, columns, filters, news, readView } from './controls.ts';
import { DrawnRows } from './drawn-rows.ts';
import type { ListenerMethod } from './events.ts';
import { countOfPayouts, noPayouts, problem, SKELETON } from './messages.ts';
import { createMoreFilters } from './more-filters.ts';
import { narrowStyles } from './narrow.styles.ts';
import type { Payout, PayoutStatus } from './operations.ts';
import { type PayoutSort, type PayoutView, pageOf } from './payout-list.ts';
import { PayoutTexts } from './payout-texts.ts';
import { PayoutsController } from './payouts-controller.ts';
import type { PayoutsHost, PayoutsPhase } from './payouts-host.ts';
import { PayoutsProperties } from './payouts-properties.ts';
import { styles } from './psa-payouts.styles.ts';
import { RowWindow } from './row-window.ts';

export type * from './public-types.ts';

/** The number of rows left below the visible ones under which the next page is loaded. */
const PREFETCH_ROWS = 20;

/**
 * An account's payouts as a live table. Rows change in place; while the pointer or the keyboard focus is in the table, or
 * it is scrolled, no row moves, and new payouts wait behind a button.
 *
 * @tagname psa-payouts
 *
 * @attr {string} endpoint - The GraphQL endpoint.
 * @attr {string} token - A dashboard token with the scope PAYOUTS. A new token of the same account resumes where the old one expired.
 * @attr {'auto'|'ws'|'sse'|'poll'} transport - How the payouts are followed. `auto` tries them in this order.
 * @attr {string} statuses - The shown statuses, separated by spaces: PENDING, PROCESSING, COMPLETED, DENIED, RETURNED. All by default.
 * @attr {string} methods - The shown methods, separated by spaces, such as PIX and LTC. All by default.
 * @attr {string} requested-after - Shows payouts that were requested at this instant or later, as 2026-03-01T00:00:00-03:00.
 * @attr {string} requested-before - Shows payouts that were requested before this instant.
 * @attr {number} amount-cents - Shows payouts of exactly this amount.
 * @attr {string} external-id - Shows payouts with this number of yours.
 * @attr {string} reference - Shows the payout with this withdrawalId, code or endToEndId.
 * @attr {'-requested'|'requested'|'-amount'|'amount'|'-status'|'status'} sort - The order of the rows; `-` is descending. Newest first by default.
 * @attr {number} page-size - How many rows are loaded at a time, 1 to 100; 50 by default.
 * @attr {'pt-BR'|'en'|'es'} locale - The language; by default the page's.
 *
 * @fires psa-payout-update - {payout, previous}. A payout is new, or has changed; `previous` is its status before.
 * @fires psa-payout-select - {payout}. A row was clicked, or Enter pressed on it.
 * @fires psa-token-expired - The token has expired. Set `token` to a new one, or provide `renewToken`.
 * @fires psa-filter-change - {statuses, filter}. The user has changed the filter; `filter` has the conditions besides the statuses.
 * @fires psa-sort-change - {sort}. The user has changed the order.
 * @fires psa-connection-change - {connection, transport}
 * @fires psa-phase-change - {phase, previous}
 * @fires psa-error - {code, reason, message, retryable}
 *
 * @slot heading - Above the table, beside its filters.
 * @slot empty - In place of the text for an account without payouts.
 *
 * @csspart base - The whole element.
 * @csspart toolbar - Heading, filters and connection.
 * @csspart filter - One button of the filter.
 * @csspart filters-button - Opens the controls of further conditions; hide it where the page has its own.
 * @csspart filters - Those controls.
 * @csspart filter-field - One of them, with its name and what is wrong with it.
 * @csspart apply-button - Asks the server for what the controls say.
 * @csspart clear-button - Empties them.
 * @csspart new-button - Shows the new payouts that wait.
 * @csspart connection - The state of the connection.
 * @csspart error - The error, and what to do.
 * @csspart retry-button - Retries.
 * @csspart scroller - The scroll container of the rows.
 * @csspart table
 * @csspart header - The row of column names.
 * @csspart sort-button - The button in a column's name that sorts by it.
 * @csspart row - One payout.
 * @csspart status - The payout's status.
 * @csspart empty - The text where there is no payout.
 * @csspart skeleton - The placeholder while the first page is loaded.
 * @csspart footer - How many payouts there are.
 * @csspart more-button - Loads the remaining payouts, so that the order holds for all.
 *
 * @cssproperty --psa-color-primary - Buttons.
 * @cssproperty --psa-color-on-primary - Text on the primary color.
 * @cssproperty --psa-color-surface - The table.
 * @cssproperty --psa-color-text
 * @cssproperty --psa-color-muted - Less important text.
 * @cssproperty --psa-color-success
 * @cssproperty --psa-color-warning - Payouts whose money may have left.
 * @cssproperty --psa-color-danger
 * @cssproperty --psa-color-highlight - The background of a row that has just changed.
 * @cssproperty --psa-radius - Corners.
 * @cssproperty --psa-spacing - Between the parts.
 * @cssproperty --psa-padding - Around the parts.
 * @cssproperty --psa-font-family
 * @cssproperty --psa-focus-ring-color
 * @cssproperty --psa-max-block-size - The height from which the rows scroll; with `none` the page scrolls.
 *
 * @cssstate idle
 * @cssstate loading
 * @cssstate ready
 * @cssstate error
 * @cssstate empty
 */
export class PsaPayouts extends PayoutsProperties implements PayoutsHost {
  // A getter, for a static field becomes a static block, which Babel's settings of React Native refuse.
  static override get styles() {
    return [styles, narrowStyles].map((text) => unsafeCSS(text));
  }

  declare addEventListener: ListenerMethod & LitElement['addEventListener'];
  declare removeEventListener: ListenerMethod & LitElement['removeEventListener'];

  /** @internal The filter and the order, as read from `statuses` and `sort`. */
  view: PayoutView = { statuses: [], sort: '-requested' };

  #data = new PayoutsController(this);
  #internals = this.attachInternals?.();
  #texts = new PayoutTexts();
  #window = new RowWindow();
  #drawn = new DrawnRows(this, this.#texts);
  #moreFilters = createMoreFilters(this, this.#data, this.#texts);
  #announcer = new Announcer(this.#texts, () => this.requestUpdate());
  /** The ids of the rows, drawn or not. */
  #rows: readonly string[] = [];
  #pointerInside = false;
  #focusInside = false;
  /** The id of the row that the keyboard is on. */
  #activeId = '';
  #focusActiveRow = false;
  #connected: AbortController | undefined;
  #resizeObserver: ResizeObserver | undefined;

  /** The loaded payouts in the order of the table, drawn or not. */
  get payouts(): readonly Payout[] {
    return this.#data.list.shown;
  }

  /** The number of payouts that match the filter, loaded or not. */
  get totalCount(): number {
    return this.#data.list.total;
  }

  get phase(): PayoutsPhase {
    return this.#data.phase;
  }

  get connection(): CheckoutConnection {
    return this.#data.connection;
  }

  get error(): CheckoutError | undefined {
    return this.#data.error;
  }

  /** Forgets all rows and loads them again, for example after another account's token was set. */
  refresh(): void {
    this.#data.reload();
  }

  /** Retries, as the button of an error does. */
  retry(): void {
    this.#data.retry();
  }

  /** Shows the new payouts that wait, and scrolls to the top. */
  showNew(): void {
    this.#data.list.arrange(false);
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

  /** @internal Highlights a payout that is new or has changed, and announces its status. */
  onPayoutChange(kind: 'new' | 'changed', payout: Payout, statusChanged: boolean): void {
    this.#drawn.mark(payout.id);
    if (statusChanged && this.#data.list.matches(payout.status)) this.#announcer.addChange(kind, payout);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (hasSecret(this)) {
      this.token = undefined;
      explain(this, 'secret');
    }
    if (['sort', 'statuses', ...CONDITIONS].some((name) => changed.has(name as 'sort'))) {
      this.view = readView(this);
      this.sort = this.view.sort;
      if (this.hasUpdated) this.#data.setView(this.view);
    }
    if (!this.hasUpdated || changed.has('endpoint')) this.#data.reload();
    else if (changed.has('token') || changed.has('transport') || (changed.has('renewToken') && !this.token))
      this.#data.resume();
    this.#texts.use(resolveLocale(this, this.locale), this.labels, () => this.requestUpdate());
    this.#announcer.setConnection(this.#data.age.shown(this.#data.connection));
    this.#rows = this.#data.list.ids;
    this.#focusInside = Boolean(this.shadowRoot?.activeElement);
  }

  protected override updated(): void {
    const states = this.#internals?.states;
    states?.clear();
    states?.add(this.phase);
    if (this.phase === 'ready' && this.#rows.length === 0) states?.add('empty');
    if (!this.#resizeObserver) {
      this.#resizeObserver = new ResizeObserver(() => requestAnimationFrame(this.#measure));
      for (const element of [this.#scroller, this.#body]) if (element) this.#resizeObserver.observe(element);
    }
    const body = this.#body;
    if (body) this.#drawn.draw(body, this.#data.list, this.#window, this.#activeId);
    this.#drawn.flash(this.#data.list.waiting > 0);
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
    const { list, phase } = this.#data;
    // Only the server can say that no payout matches this filter.
    const waiting =
      this.#rows.length === 0 && (phase === 'loading' || phase === 'idle' || this.#data.busy === 'view');
    return html`
      <div
        part="base" class="base" lang=${this.#texts.language}
        @pointerenter=${() => (this.#pointerInside = true)}
        @pointerleave=${this.#onPointerLeave}
        @focusout=${this.#arrangeIfUnfrozen}
      >
        <div part="toolbar" class="toolbar">
          <slot name="heading"></slot>
          ${filters(this.#texts, this.view.statuses, (statuses) => this.#setStatuses(statuses), this.#moreFilters)}
          ${news(this.#texts, this.#data, () => this.showNew())}
        </div>
        ${this.#moreFilters.renderForm()}
        <div class="notice" role="status">${problem(this.#texts, this.#data)}</div>
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
            aria-label=${this.#texts.text('payouts')}
            aria-rowcount=${list.total + 1}
            aria-busy=${waiting || this.#data.busy ? 'true' : 'false'}
          >
            <thead role="rowgroup">
              <tr part="header" class="header" role="row" aria-rowindex="1">${columns(this.#texts, this.sort, (sort) => this.#setSort(sort))}</tr>
            </thead>
            <tbody role="rowgroup" class=${this.#data.busy === 'view' ? 'stale' : ''} @click=${this.#onClick}></tbody>
          </table>
          ${waiting ? SKELETON : this.#rows.length === 0 && phase === 'ready' ? noPayouts(this.#texts, Boolean(pageOf(this.view, 0).filter)) : ''}
        </div>
        <div part="footer" class="footer"><bdi>${countOfPayouts(this.#texts, this.#data, waiting)}</bdi></div>
        <div class="sr" role="status" data-announcement .textContent=${this.#announcer.sentence}></div>
      </div>
    `;
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
    if (measured.end > Math.max(0, this.#rows.length - PREFETCH_ROWS) && !this.#data.list.sortedLocally)
      this.#data.loadMore();
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
      if (this.isConnected && !this.freezeOrder) this.#data.arrange();
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
    const { ids } = this.#data.list;
    const at = Math.max(0, Math.min(index, ids.length - 1));
    this.#activeId = ids[at] ?? '';
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
    const payout = this.#data.list.get(id ?? '');
    if (!payout) return;
    this.#activeId = payout.id;
    this.requestUpdate();
    this.#data.emit('psa-payout-select', { payout });
  }

  #setStatuses(statuses: readonly PayoutStatus[]): void {
    this.statuses = statuses.join(' ');
    this.#data.emit('psa-filter-change', { statuses, filter: this.view.filter });
  }

  #setSort(sort: PayoutSort): void {
    this.sort = sort;
    this.#data.emit('psa-sort-change', { sort });
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'psa-payouts': PsaPayouts;
  }
}
