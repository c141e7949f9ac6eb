import { html, LitElement, nothing, type PropertyValues, render, type TemplateResult, unsafeCSS } from 'lit';
import type { CheckoutConnection, CheckoutError, CheckoutErrorCode } from '../checkout-state.ts';
import type { Transport } from '../follow/transport.ts';
import { importAgain } from '../import-again.ts';
import type { PsaPayoutsAttributes } from './attributes.ts';
import type { PsaPayoutsEventMap } from './events.ts';
import { texts as portuguese } from './locales/pt-BR.ts';
import type { Texts } from './locales/texts.ts';
import { METHOD_LABELS, type PayoutMethod } from './methods.ts';
import type { Payout, PayoutStatus } from './operations.ts';
import type { PayoutSort, PayoutView } from './payout-list.ts';
import { MAX_ROWS, PayoutsController, type PayoutsHost, type PayoutsPhase } from './payouts-controller.ts';
import { styles } from './psa-payouts.styles.ts';

export type {
  CheckoutConnection as PayoutsConnection,
  CheckoutError as PayoutsError,
  CheckoutErrorCode as PayoutsErrorCode,
  Payout,
  PayoutMethod,
  PayoutSort,
  PayoutStatus,
  PayoutsPhase,
  PsaPayoutsAttributes,
  PsaPayoutsEventMap,
  Transport,
};

type Locale = 'pt-BR' | 'en' | 'es';

/** The element's texts. */
export type PayoutsLabels = Texts;

const LOCALES: Partial<Record<Locale, () => Promise<{ texts: Texts }>>> = {
  en: () => import('./locales/en.ts'),
  es: () => import('./locales/es.ts'),
};

/** The statuses of the filter, without UNKNOWN, which stands for those of a newer server. */
const STATUSES: PayoutStatus[] = ['PENDING', 'PROCESSING', 'COMPLETED', 'DENIED'];
const COLUMNS = ['status', 'amount', 'destination', 'code', 'requested'] as const;
const SORTS: PayoutSort[] = ['-requested', 'requested', '-amount', 'amount', 'status', '-status'];
/** Rows drawn above and below the visible ones, and the step in which the drawn window moves. */
const OVERSCAN = 8;
const STEP = 4;
const MIN_ROWS = 12;
/** The number of rows left below the visible ones under which the next page is loaded. */
const PREFETCH_ROWS = 20;
/** Changes within this time are announced in one sentence. */
const ANNOUNCE_MS = 1_000;
const FLASH_MS = 1_600;

/**
 * An account's payouts as a live table. Rows change in place; while the pointer or the keyboard focus is in the table, or
 * it is scrolled, no row moves, and new payouts wait behind a button.
 *
 * @tagname psa-payouts
 *
 * @attr {string} endpoint - The GraphQL endpoint.
 * @attr {string} token - A dashboard token with the scope PAYOUTS. A new token of the same account resumes where the old one expired.
 * @attr {'auto'|'ws'|'sse'|'poll'} transport - How the payouts are followed. `auto` tries them in this order.
 * @attr {string} statuses - The shown statuses, separated by spaces: PENDING, PROCESSING, COMPLETED, DENIED. All by default.
 * @attr {'-requested'|'requested'|'-amount'|'amount'|'-status'|'status'} sort - The order of the rows; `-` is descending. Newest first by default.
 * @attr {number} page-size - How many rows are loaded at a time, 1 to 100; 50 by default.
 * @attr {'pt-BR'|'en'|'es'} locale - The language; by default the page's.
 *
 * @fires psa-payout-update - {payout, previous}. A payout is new, or has changed; `previous` is its status before.
 * @fires psa-payout-select - {payout}. A row was clicked, or Enter pressed on it.
 * @fires psa-token-expired - The token has expired. Set `token` to a new one, or provide `renewToken`.
 * @fires psa-filter-change - {statuses}. The user has changed the filter.
 * @fires psa-sort-change - {sort}. The user has changed the order.
 * @fires psa-connection-change - {connection, transport}
 * @fires psa-phase-change - {phase, previous}
 * @fires psa-error - {code, message, retryable}
 *
 * @slot heading - Above the table, beside its filters.
 * @slot empty - In place of the text for an account without payouts.
 *
 * @csspart base - The whole element.
 * @csspart toolbar - Heading, filters and connection.
 * @csspart filter - One button of the filter.
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
 * @cssproperty --psa-color-on-primary - Text on the primary colour.
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
export class PsaPayouts extends LitElement implements PayoutsHost {
  static override styles = unsafeCSS(styles);

  static override properties = {
    endpoint: {},
    token: {},
    transport: {},
    statuses: {},
    sort: {},
    pageSize: { attribute: 'page-size', type: Number },
    locale: {},
    labels: { attribute: false },
    renewToken: { attribute: false },
  };

  declare endpoint: string | undefined;
  declare token: string | undefined;
  declare transport: 'auto' | Transport;
  /** The shown statuses, separated by spaces. */
  declare statuses: string;
  declare sort: PayoutSort;
  declare pageSize: number;
  declare locale: string | undefined;
  /** Texts that replace those of the locale, by name. */
  declare labels: Partial<Texts> | undefined;
  /** Returns a new token when the old one has expired. */
  declare renewToken: (() => Promise<string> | string) | undefined;

  /** @internal The filter and the order, as read from `statuses` and `sort`. */
  view: PayoutView = { statuses: [], sort: '-requested' };

  #data = new PayoutsController(this);
  #internals = this.attachInternals?.();
  #locale: Locale = 'pt-BR';
  #texts: Partial<Record<Locale, Texts>> = { 'pt-BR': portuguese };
  #rows: readonly Payout[] = [];
  /** The window of rows that are drawn. */
  #firstRow = 0;
  #lastRow = MIN_ROWS;
  /** The index of the first visible row. */
  #topRow = 0;
  #rowPx = 60;
  #drawnRows = new Map<string, { row: HTMLTableRowElement; payout?: Payout }>();
  #drawnTexts: unknown[] = [];
  #pointerInside = false;
  #focusInside = false;
  /** The id of the row that the keyboard is on. */
  #activeId = '';
  #focusActiveRow = false;
  #unannounced = new Map<string, { kind: 'new' | 'changed'; payout: Payout }>();
  #flashIds = new Set<string>();
  #announceTimer: ReturnType<typeof setTimeout> | undefined;
  #announcement = '';
  #announcedConnection: CheckoutConnection = 'live';
  #connected: AbortController | undefined;
  #resizeObserver: ResizeObserver | undefined;
  #formats: Formats | undefined;

  constructor() {
    super();
    this.transport = 'auto';
    this.statuses = '';
    this.sort = '-requested';
    this.pageSize = 50;
  }

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
    clearTimeout(this.#announceTimer);
    this.#announceTimer = undefined;
    this.#pointerInside = false;
  }

  /** @internal Whether the rows must not move: the pointer or the focus is in the table, or it is scrolled. */
  get freezeOrder(): boolean {
    return (
      this.#pointerInside ||
      this.#topRow > 0 ||
      Boolean(this.shadowRoot?.activeElement?.matches(':focus-visible'))
    );
  }

  /** @internal Highlights a payout that is new or has changed, and announces its status. */
  onPayoutChange(kind: 'new' | 'changed', payout: Payout, statusChanged: boolean): void {
    this.#flashIds.add(payout.id);
    if (!statusChanged || !this.#data.list.matches(payout.status)) return;
    const before = this.#unannounced.get(payout.id);
    this.#unannounced.set(payout.id, { kind: before?.kind ?? kind, payout });
    this.#scheduleAnnouncement();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('sort') || changed.has('statuses')) {
      if (!SORTS.includes(this.sort)) this.sort = '-requested';
      // A removed attribute makes the property null.
      const statuses = STATUSES.filter((status) => this.statuses?.includes(status));
      this.view = { statuses, sort: this.sort };
      if (this.hasUpdated) this.#data.setView(this.view);
    }
    if (!this.hasUpdated || changed.has('endpoint')) this.#data.reload();
    else if (changed.has('token') || changed.has('transport')) this.#data.resume();
    const locale = this.#resolveLocale();
    this.#locale = locale;
    const load = LOCALES[locale];
    if (load && !this.#texts[locale])
      importAgain(load).then(
        ({ texts }) => {
          this.#texts[locale] = texts;
          this.requestUpdate();
        },
        // Without the texts of its language the element shows Portuguese.
        () => undefined,
      );
    if (this.#formats?.locale !== locale) this.#formats = createFormats(locale);
    if (this.#data.connection !== this.#announcedConnection) this.#scheduleAnnouncement();
    this.#rows = this.#data.list.shown;
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
    const [first, last] = this.#drawnWindow;
    const body = this.#body;
    if (body) {
      this.#drawRows(body, first, last);
      // Set through the object model, because a strict policy forbids style attributes.
      body.style.paddingBlock = `${first * this.#rowPx}px ${(this.#rows.length - last) * this.#rowPx}px`;
    }
    this.#flashRows();
    if (this.#focusActiveRow) {
      this.#focusActiveRow = false;
      const row = body?.querySelector<HTMLElement>('[tabindex="0"]');
      row?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: 'nearest' });
    }
    // Where the focused row was scrolled away or filtered out, the focus stays in the table.
    else if (this.#focusInside && !this.shadowRoot?.activeElement)
      this.#scroller?.focus({ preventScroll: true });
    queueMicrotask(this.#measure);
  }

  protected override render(): TemplateResult {
    const { list, phase, connection } = this.#data;
    const waiting = this.#rows.length === 0 && (phase === 'loading' || phase === 'idle');
    return html`
      <div
        part="base"
        class="base"
        @pointerenter=${this.#onPointerEnter}
        @pointerleave=${this.#onPointerLeave}
        @focusout=${this.#arrangeIfUnfrozen}
      >
        <div part="toolbar" class="toolbar">
          <slot name="heading"></slot>
          ${this.#renderFilters()}
          <div class="news">
            <button part="new-button" class="new" ?disabled=${list.waiting === 0} @click=${this.showNew}>
              ${/* Reserves room for two digits. */ this.#countText('new', list.waiting || 10)}
            </button>
            <span part="connection" class="connection ${connection}">${
              connection === 'idle' ? '' : this.#text(connection)
            }</span>
          </div>
        </div>
        <div class="notice" role="status">${this.#renderError()}</div>
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
            aria-label=${this.#text('payouts')}
            aria-rowcount=${list.total + 1}
            aria-busy=${waiting || this.#data.busy ? 'true' : 'false'}
          >
            <thead role="rowgroup">
              <tr part="header" class="header" role="row" aria-rowindex="1">${COLUMNS.map((column) => this.#renderColumn(column))}</tr>
            </thead>
            <tbody role="rowgroup" class=${this.#data.busy === 'view' ? 'stale' : ''} @click=${this.#onClick}></tbody>
          </table>
          ${waiting ? SKELETON : this.#rows.length === 0 && phase === 'ready' ? this.#renderEmpty() : ''}
        </div>
        <div part="footer" class="footer"><bdi>${this.#renderFooter(waiting)}</bdi></div>
        <div class="sr" role="status" data-announcement>${this.#announcement}</div>
      </div>
    `;
  }

  #renderFilters(): TemplateResult {
    const { statuses } = this.view;
    const button = (name: 'all' | PayoutStatus, pressed: boolean, next: readonly PayoutStatus[]) => html`
      <button
        part="filter"
        class="filter"
        aria-pressed=${pressed ? 'true' : 'false'}
        @click=${() => this.#setStatuses(next)}
      >${this.#text(name as 'all')}</button>
    `;
    return html`
      <div class="filters" role="group" aria-label=${this.#text('filter')}>
        ${button('all', statuses.length === 0, [])}
        ${STATUSES.map((status) =>
          statuses.includes(status)
            ? button(
                status,
                true,
                statuses.filter((other) => other !== status),
              )
            : button(status, false, [...statuses, status]),
        )}
      </div>
    `;
  }

  #renderColumn(column: (typeof COLUMNS)[number]): TemplateResult {
    const sorts = SORTS.filter((sort) => sort.endsWith(column));
    const current = sorts.indexOf(this.sort);
    const isDescending = this.sort.startsWith('-');
    return html`
      <th
        role="columnheader"
        class=${column}
        aria-sort=${current < 0 ? nothing : isDescending ? 'descending' : 'ascending'}
      >${
        sorts.length > 0
          ? html`<button part="sort-button" class="sort" @click=${() => this.#setSort(sorts[current === 0 ? 1 : 0]!)}>
              ${this.#text(column)}<svg viewBox="0 0 12 12" aria-hidden="true"><path d=${current < 0 ? UNSORTED : isDescending ? DOWN : UP} /></svg>
            </button>`
          : html`<span>${this.#text(column)}</span>`
      }</th>
    `;
  }

  /** Draws the rows of the window. A row that stays is not touched, so it keeps focus and selection. */
  #drawRows(body: HTMLElement, first: number, last: number): void {
    const payouts = this.#rows.slice(first, last);
    const ids = new Set(payouts.map(({ id }) => id));
    for (const [id, { row }] of this.#drawnRows)
      if (!ids.has(id)) {
        row.remove();
        this.#drawnRows.delete(id);
      }
    const active = payouts.findIndex(({ id }) => id === this.#activeId);
    const tabStop = active < 0 ? Math.max(0, this.#topRow - first) : active;
    const texts = [this.#texts[this.#locale], this.labels];
    const textsChanged = texts.some((text, index) => text !== this.#drawnTexts[index]);
    this.#drawnTexts = texts;
    payouts.forEach((payout, index) => {
      let drawn = this.#drawnRows.get(payout.id);
      if (!drawn) {
        drawn = { row: document.createElement('tr') };
        this.#drawnRows.set(payout.id, drawn);
        drawn.row.dataset.id = payout.id;
        drawn.row.setAttribute('part', 'row');
        drawn.row.setAttribute('role', 'row');
      }
      const { row } = drawn;
      if (drawn.payout !== payout || textsChanged) render(this.#renderCells(payout), row, { host: this });
      drawn.payout = payout;
      row.setAttribute('aria-rowindex', String(first + index + 2));
      row.tabIndex = index === tabStop ? 0 : -1;
      if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
    });
  }

  #renderCells(payout: Payout): TemplateResult {
    const { status, amountCents, feeCents, method, destination, code, requestedAt } = payout;
    const { money } = this.#formats!;
    const hint = this.#hintText(payout);
    return html`
      <td role="gridcell" class="status ${status}">
        <span part="status" class="state">${this.#text(status)}</span>
        <small title=${hint}><bdi>${hint}</bdi></small>
      </td>
      <td role="gridcell" class="amount">
        <b>${money(amountCents)}</b>
        ${feeCents === null ? nothing : html`<small>${this.#text('fee', { amount: money(feeCents) })}</small>`}
      </td>
      <td role="gridcell" class="destination">
        <span>${METHOD_LABELS[method] ?? '—'}</span>
        <small title=${destination}><bdi>${destination}</bdi></small>
      </td>
      <td role="gridcell" class="code"><span>${code ?? '—'}</span></td>
      <td role="gridcell" class="requested">${this.#renderTime(requestedAt)}</td>
    `;
  }

  /** Renders date and time in full: the device's clock may be wrong, so nothing is “2 minutes ago”. */
  #renderTime(instant: string | null): unknown {
    if (!instant) return '—';
    const { day, hour } = this.#formats!;
    const at = new Date(instant);
    return html`<time datetime=${instant}><span>${day(at)}</span> <small><bdi>${hour(at)}</bdi></small></time>`;
  }

  /** Explains what the status means for the money. */
  #hintText({ status, deniedReason, requestedAt, processedAt }: Payout): string {
    if (status === 'DENIED') return deniedReason ?? this.#text('deniedHint');
    if (status === 'COMPLETED' && processedAt) {
      const { day, hour } = this.#formats!;
      const at = new Date(processedAt);
      const sameDay = requestedAt && day(new Date(requestedAt)) === day(at);
      return sameDay ? hour(at) : `${day(at)} ${hour(at)}`;
    }
    return status === 'PENDING' || status === 'PROCESSING'
      ? this.#text(`${status.toLowerCase()}Hint` as 'pendingHint')
      : '';
  }

  #renderEmpty(): TemplateResult {
    return html`<div part="empty" class="empty">${
      this.statuses.length > 0
        ? this.#text('emptyFiltered')
        : html`<slot name="empty">${this.#text('empty')}</slot>`
    }</div>`;
  }

  #renderError(): TemplateResult | '' {
    const { error } = this.#data;
    if (!error) return '';
    const { code, retryAfterSeconds } = error;
    const name = /timeout|network/.test(code)
      ? 'network'
      : /server|unknown|aborted/.test(code)
        ? 'server'
        : /unau|rate/.test(code)
          ? (code as 'unauthorized')
          : 'contact';
    return html`
      <div part="error" class="problem">
        <span>${this.#text(name, { seconds: retryAfterSeconds ?? 60 })}</span>
        <button part="retry-button" class="quiet" @click=${this.retry}>${this.#text('retry')}</button>
      </div>
    `;
  }

  #renderFooter(waiting: boolean): unknown {
    const { list, busy, moreError, phase } = this.#data;
    if (waiting || busy === 'more') return this.#text('loading');
    if (moreError)
      return html`${this.#text('moreFailed')}
        <button part="retry-button" class="quiet" @click=${() => this.#data.retryPage()}>${this.#text('retry')}</button>`;
    if (list.total === 0 || (phase !== 'ready' && this.#rows.length === 0)) return '';
    if (list.complete) return this.#countText('count', list.total);
    const { number } = this.#formats!;
    const values = { loaded: number(list.loaded), total: number(list.total) };
    if (busy === 'all') return `${this.#text('loading')} ${this.#text('countOf', values)}`;
    if (!list.sortedLocally) return this.#text('countOf', values);
    return html`${this.#text('sortedOf', values)} ${
      list.loaded < MAX_ROWS
        ? html`<button part="more-button" class="quiet" @click=${() => this.#data.loadAll()}>${this.#text('loadAll')}</button>`
        : ''
    }`;
  }

  // ── The window of drawn rows ──────────────────────────────────────────────────────────────────

  /** The first row to draw, and the one after the last. */
  get #drawnWindow(): [number, number] {
    const count = this.#rows.length;
    const first = Math.max(0, Math.min(this.#firstRow, count - MIN_ROWS));
    return [first, Math.min(count, Math.max(this.#lastRow, first + MIN_ROWS))];
  }

  /** Measures which rows are visible, and decides which are drawn and whether to load more. */
  #measure = (): void => {
    const scroller = this.#scroller;
    const body = this.#body;
    if (!scroller || !body || !this.isConnected) return;
    const row = body.firstElementChild?.getBoundingClientRect();
    const box = scroller.getBoundingClientRect();
    if (box.height === 0) return;
    const rowPx = row?.height || this.#rowPx;
    const start = body.getBoundingClientRect().top;
    const from = Math.max(body.offsetTop + box.top, 0) - start;
    const to = Math.min(box.bottom, innerHeight) - start;
    const step = (index: number) => Math.max(0, Math.floor(index / STEP) * STEP);
    const first = step(from / rowPx - OVERSCAN);
    const last = step(to / rowPx + OVERSCAN + STEP);
    const top = Math.max(0, Math.floor(from / rowPx + 0.5));
    const moved = first !== this.#firstRow || last !== this.#lastRow || rowPx !== this.#rowPx;
    this.#firstRow = first;
    this.#lastRow = last;
    this.#rowPx = rowPx;
    const wasDown = this.#topRow > 0;
    this.#topRow = top;
    if (wasDown && top === 0) this.#arrangeIfUnfrozen();
    if (moved) this.requestUpdate();
    const isSeen = to > 0 && from < to;
    if (isSeen && last > this.#rows.length - PREFETCH_ROWS && !this.#data.list.sortedLocally)
      this.#data.loadMore();
  };

  get #scroller(): HTMLElement | null | undefined {
    return this.renderRoot?.querySelector<HTMLElement>('.scroller');
  }

  get #body(): HTMLElement | null | undefined {
    return this.renderRoot?.querySelector<HTMLElement>('tbody');
  }

  /** Highlights the rows that have just changed; with reduced motion without a fade. */
  #flashRows(): void {
    if (this.#flashIds.size === 0) return;
    const easing = matchMedia('(prefers-reduced-motion)').matches ? 'step-end' : 'ease-out';
    for (const id of this.#flashIds) {
      const row = this.#drawnRows.get(id)?.row;
      if (row && this.#flashIds.delete(id))
        row.animate([{ backgroundColor: 'var(--_flash)' }, {}], { duration: FLASH_MS, easing });
    }
    // Rows that wait are highlighted when they are shown.
    if (this.#data.list.waiting === 0) this.#flashIds.clear();
  }

  // ── Pointer and keyboard ──────────────────────────────────────────────────────────────────────

  #onPointerEnter(): void {
    this.#pointerInside = true;
  }

  #onPointerLeave(): void {
    this.#pointerInside = false;
    this.#arrangeIfUnfrozen();
  }

  /** Shows the rows that wait, if nothing freezes the order any more. */
  #arrangeIfUnfrozen(): void {
    queueMicrotask(() => {
      if (this.isConnected && !this.freezeOrder) this.#data.arrange();
    });
  }

  #onKeydown(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || (event.target as Element).matches('button')) return;
    const active = this.#rows.findIndex(({ id }) => id === this.#activeId);
    const current = active < 0 ? this.#topRow : active;
    const page = Math.max(1, Math.floor((this.#scroller?.clientHeight ?? 0) / this.#rowPx) - 2);
    const targets: Partial<Record<string, number>> = {
      ArrowDown: active < 0 && !this.#isOnRow ? current : current + 1,
      ArrowUp: current - 1,
      PageDown: current + page,
      PageUp: current - page,
      Home: 0,
      End: this.#rows.length - 1,
    };
    const index = targets[event.key];
    if (index !== undefined) this.#moveToRow(index);
    else if (event.key !== 'Enter' && event.key !== ' ') return;
    else this.#select(event.target as Element);
    event.preventDefault();
  }

  get #isOnRow(): boolean {
    return Boolean(this.shadowRoot?.activeElement?.matches('tbody tr'));
  }

  #moveToRow(index: number): void {
    const at = Math.max(0, Math.min(index, this.#data.list.shown.length - 1));
    this.#activeId = this.#data.list.shown[at]?.id ?? '';
    // The row must be drawn to be focused; focusing scrolls it into view, and the window follows.
    this.#firstRow = Math.max(0, at - OVERSCAN);
    this.#lastRow = at + OVERSCAN;
    this.#focusActiveRow = true;
    this.requestUpdate();
  }

  #onClick(event: Event): void {
    // Selecting text, such as a code to copy, selects no row.
    if (getSelection()?.type !== 'Range') this.#select(event.target as Element);
  }

  #select(target: Element): void {
    const id = target.closest<HTMLElement>('tr')?.dataset.id;
    const payout = this.#rows.find((row) => row.id === id);
    if (!payout) return;
    this.#activeId = payout.id;
    this.requestUpdate();
    this.#data.emit('psa-payout-select', { payout });
  }

  #setStatuses(statuses: readonly PayoutStatus[]): void {
    this.statuses = statuses.join(' ');
    this.#data.emit('psa-filter-change', { statuses });
  }

  #setSort(sort: PayoutSort): void {
    this.sort = sort;
    this.#data.emit('psa-sort-change', { sort });
  }

  // ── Announcements and texts ───────────────────────────────────────────────────────────────────

  #scheduleAnnouncement(): void {
    this.#announceTimer ??= setTimeout(() => {
      this.#announceTimer = undefined;
      this.#announce();
    }, ANNOUNCE_MS);
  }

  #announce(): void {
    const changes = [...this.#unannounced.values()];
    this.#unannounced.clear();
    const { connection } = this.#data;
    const sentences: string[] = [];
    // A socket that was replaced is live again by now: it is not announced.
    if (
      ['live', 'offline', 'reconnecting'].includes(connection) &&
      connection !== this.#announcedConnection
    ) {
      sentences.push(this.#text(connection as 'live'));
      this.#announcedConnection = connection;
    }
    const [one] = changes;
    if (one && changes.length === 1) {
      const { amountCents, status } = one.payout;
      const values = { amount: this.#formats!.money(amountCents), status: this.#text(status).toLowerCase() };
      sentences.push(this.#text(one.kind === 'new' ? 'announceNew' : 'announceChange', values));
    } else if (one) {
      const added = changes.filter(({ kind }) => kind === 'new').length;
      sentences.push(this.#text('announceMany', { added, changed: changes.length - added }));
    }
    if (sentences.length === 0) return;
    this.#announcement = sentences.join(' ');
    this.requestUpdate();
  }

  #resolveLocale(): Locale {
    const nearest = this.closest<HTMLElement>('[lang]')?.lang || document.documentElement.lang;
    const language = (this.locale || nearest || navigator.language).toLowerCase();
    return language.startsWith('en') ? 'en' : language.startsWith('es') ? 'es' : 'pt-BR';
  }

  #text(name: keyof Texts, values: Record<string, string | number> = {}): string {
    const text = this.labels?.[name] ?? (this.#texts[this.#locale] ?? portuguese)[name];
    return text.replace(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''));
  }

  #countText(name: 'new' | 'count', count: number): string {
    const values = { count: this.#formats!.number(count), total: this.#formats!.number(count) };
    if (name === 'new') return this.#text(count === 1 ? 'newOne' : 'newMany', values);
    return this.#text(count === 1 ? 'countOne' : 'count', values);
  }
}

interface Formats {
  locale: Locale;
  money: (cents: number) => string;
  number: (value: number) => string;
  day: (at: Date) => string;
  hour: (at: Date) => string;
}

function createFormats(locale: Locale): Formats {
  const money = new Intl.NumberFormat(locale, { style: 'currency', currency: 'BRL' });
  const { format: number } = new Intl.NumberFormat(locale);
  const { format: day } = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const { format: hour } = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
  return { locale, money: (cents) => money.format(cents / 100), number, day, hour };
}

const UP = 'M6 2.5 2.5 6.5h7zM6 2.5v7.5';
const DOWN = 'M6 9.5 9.5 5.5h-7z';
const UNSORTED = 'M6 1.5 3.5 4.5h5zM6 10.5 8.5 7.5h-5z';
const SKELETON = html`<div part="skeleton" class="skeleton" aria-hidden="true">${[1, 2, 3, 4, 5, 6].map(
  () => html`<i></i>`,
)}</div>`;

declare global {
  interface HTMLElementTagNameMap {
    'psa-payouts': PsaPayouts;
  }
}
