import { html, LitElement, nothing, type PropertyValues, render, type TemplateResult, unsafeCSS } from 'lit';
import type { CheckoutConnection, CheckoutError, CheckoutErrorCode } from '../checkout-state.ts';
import type { Transport } from '../follow/transport.ts';
import { importAgain } from '../import-again.ts';
import type { PsaPayoutsAttributes } from './attributes.ts';
import type { PsaPayoutsEventMap } from './events.ts';
import { texts as portuguese } from './locales/pt-BR.ts';
import type { Texts } from './locales/texts.ts';
import type { Payout, PayoutMethod, PayoutStatus } from './operations.ts';
import type { PayoutSort, PayoutView } from './payout-list.ts';
import { MOST_ROWS, PayoutsController, type PayoutsHost, type PayoutsPhase } from './payouts-controller.ts';
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

/** Any text of the element's. */
export type PayoutsLabels = Texts;

const LOCALES: Partial<Record<Locale, () => Promise<{ texts: Texts }>>> = {
  en: () => import('./locales/en.ts'),
  es: () => import('./locales/es.ts'),
};

/** UNKNOWN is what a newer server may say, and nothing to look for. */
const STATUSES: PayoutStatus[] = ['PENDING', 'PROCESSING', 'COMPLETED', 'DENIED'];
const COLUMNS = ['status', 'amount', 'destination', 'code', 'requested'] as const;
const SORTS: PayoutSort[] = ['-requested', 'requested', '-amount', 'amount', 'status', '-status'];
const METHODS: Record<PayoutMethod, string> = {
  PIX: 'PIX',
  PIX_TURBO: 'PIX turbo',
  LTC: 'LTC',
  USDT: 'USDT',
  UNKNOWN: '—',
};
/** Rows above and below what can be seen, and by how many the window moves on. */
const BEYOND = 8;
const STEP = 4;
const FEWEST = 12;
/** The next page is asked for when so few rows are left below. */
const NEAR = 20;
/** What comes within this time is told in one sentence. */
const TELL_MS = 1_000;
const FLASH_MS = 1_600;

/**
 * An account's payouts as a live table. Rows change where they stand; while somebody points at the table, is in it by
 * keyboard or has scrolled, nothing moves, and new payouts wait behind a button.
 *
 * @tagname psa-payouts
 *
 * @attr {string} endpoint - The GraphQL endpoint.
 * @attr {string} token - A dashboard token with the scope PAYOUTS. A new one for the same account goes on where the old one ended.
 * @attr {'auto'|'ws'|'sse'|'poll'} transport - How the payouts are followed. `auto` tries them in this order.
 * @attr {string} statuses - Only payouts in these, separated by spaces: PENDING, PROCESSING, COMPLETED, DENIED. All by default.
 * @attr {'-requested'|'requested'|'-amount'|'amount'|'-status'|'status'} sort - By what the rows are sorted; `-` is downwards. Newest first by default.
 * @attr {number} page-size - How many rows are asked for at a time, 1 to 100; 50 by default.
 * @attr {'pt-BR'|'en'|'es'} locale - The language; by default the page's.
 *
 * @fires psa-payout-update - {payout, previous}. A payout is new, or has changed; `previous` is its status before.
 * @fires psa-payout-select - {payout}. A row was clicked, or Enter pressed on it.
 * @fires psa-token-expired - The token reads no more. Set `token` to a new one, or have given `renewToken`.
 * @fires psa-filter-change - {statuses}. By the person in front of it.
 * @fires psa-sort-change - {sort}. By the person in front of it.
 * @fires psa-connection-change - {connection, transport}
 * @fires psa-phase-change - {phase, previous}
 * @fires psa-error - {code, message, retryable}
 *
 * @slot heading - Above the table, beside its filters.
 * @slot empty - In place of the line that there is no payout yet.
 *
 * @csspart base - All of it.
 * @csspart toolbar - Heading, filters and connection.
 * @csspart filter - One button of the filter.
 * @csspart new-button - Shows the payouts that wait.
 * @csspart connection - Whether it is live.
 * @csspart error - What went wrong, and what to do.
 * @csspart retry-button - Tries again.
 * @csspart scroller - What scrolls.
 * @csspart table
 * @csspart header - The row of column names.
 * @csspart sort-button - One that sorts, in a column's name.
 * @csspart row - One payout.
 * @csspart status - Its status.
 * @csspart empty - Where there is no payout.
 * @csspart skeleton - While the first page is on its way.
 * @csspart footer - How many there are.
 * @csspart more-button - Loads more to sort.
 *
 * @cssproperty --psa-color-primary - What can be pressed.
 * @cssproperty --psa-color-on-primary - Text on it.
 * @cssproperty --psa-color-surface - The table.
 * @cssproperty --psa-color-text
 * @cssproperty --psa-color-muted - Less important text.
 * @cssproperty --psa-color-success
 * @cssproperty --psa-color-warning - Payouts that may have left.
 * @cssproperty --psa-color-danger
 * @cssproperty --psa-color-highlight - Behind a row that has just changed.
 * @cssproperty --psa-radius - Corners.
 * @cssproperty --psa-spacing - Between the parts.
 * @cssproperty --psa-padding - Around them.
 * @cssproperty --psa-font-family
 * @cssproperty --psa-focus-ring-color
 * @cssproperty --psa-max-block-size - How high the rows may stand before they scroll; `none` lets the page scroll.
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
  /** Separated by spaces. */
  declare statuses: string;
  declare sort: PayoutSort;
  declare pageSize: number;
  declare locale: string | undefined;
  /** Overrides of single texts. */
  declare labels: Partial<Texts> | undefined;
  /** Gives a new token when the old one has ended. */
  declare renewToken: (() => Promise<string> | string) | undefined;

  /** @internal What is asked for, by the attributes. */
  view: PayoutView = { statuses: [], sort: '-requested' };

  #data = new PayoutsController(this);
  #internals = this.attachInternals?.();
  #locale: Locale = 'pt-BR';
  #texts: Partial<Record<Locale, Texts>> = { 'pt-BR': portuguese };
  #rows: readonly Payout[] = [];
  /** The rows that are in the document, of those that are shown. */
  #first = 0;
  #last = FEWEST;
  /** The first that can be seen. */
  #top = 0;
  #rowPx = 60;
  #drawn = new Map<string, { row: HTMLTableRowElement; payout?: Payout }>();
  #words: unknown[] = [];
  #inside = false;
  #focusInside = false;
  /** The row that the keyboard is on, by id. */
  #active = '';
  #goTo = false;
  #news = new Map<string, { kind: 'new' | 'changed'; payout: Payout }>();
  #flashing = new Set<string>();
  #telling: ReturnType<typeof setTimeout> | undefined;
  #told = '';
  #toldConnection: CheckoutConnection = 'live';
  #connected: AbortController | undefined;
  #sizes: ResizeObserver | undefined;
  #formats: Formats | undefined;

  constructor() {
    super();
    this.transport = 'auto';
    this.statuses = '';
    this.sort = '-requested';
    this.pageSize = 50;
  }

  /** The rows that are shown, loaded or not in the document. */
  get payouts(): readonly Payout[] {
    return this.#data.list.shown;
  }

  /** How many there are for the filter, loaded or not. */
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

  /** Forgets everything and reads it anew: after another account's token, for one. */
  refresh(): void {
    this.#data.begin();
  }

  /** What the button of an error does. */
  retry(): void {
    this.#data.retry();
  }

  /** Shows the new payouts that wait, from the top. */
  showNew(): void {
    this.#data.list.arrange(false);
    this.#scroller?.scrollTo({ top: 0 });
    this.#goToRow(0);
  }

  override focus(options?: FocusOptions): void {
    this.renderRoot?.querySelector<HTMLElement>('[tabindex="0"],button')?.focus(options);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#connected = new AbortController();
    const { signal } = this.#connected;
    // The page may be what scrolls, or anything between it and the table.
    document.addEventListener('scroll', this.#look, { capture: true, passive: true, signal });
    addEventListener('resize', this.#look, { signal });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#connected?.abort();
    clearTimeout(this.#telling);
    this.#telling = undefined;
    this.#inside = false;
  }

  /** @internal Whether a row that moved now would move under somebody's pointer, finger or focus, or out of sight. */
  get still(): boolean {
    return (
      this.#inside || this.#top > 0 || Boolean(this.shadowRoot?.activeElement?.matches(':focus-visible'))
    );
  }

  /** @internal */
  told(kind: 'new' | 'changed', payout: Payout, isNews: boolean): void {
    this.#flashing.add(payout.id);
    if (!isNews || !this.#data.list.matches(payout.status)) return;
    const before = this.#news.get(payout.id);
    this.#news.set(payout.id, { kind: before?.kind ?? kind, payout });
    this.#tellSoon();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('sort') || changed.has('statuses')) {
      if (!SORTS.includes(this.sort)) this.sort = '-requested';
      this.view = { statuses: statusesIn(this.statuses), sort: this.sort };
      if (this.hasUpdated) this.#data.show(this.view);
    }
    if (!this.hasUpdated || changed.has('endpoint')) this.#data.begin();
    else if (changed.has('token') || changed.has('transport')) this.#data.resume();
    const locale = this.#localeNow();
    this.#locale = locale;
    const load = LOCALES[locale];
    if (load && !this.#texts[locale])
      importAgain(load).then(
        ({ texts }) => {
          this.#texts[locale] = texts;
          this.requestUpdate();
        },
        // Without its texts the element speaks Portuguese rather than nothing.
        () => undefined,
      );
    if (this.#formats?.locale !== locale) this.#formats = formatsOf(locale);
    if (this.#data.connection !== this.#toldConnection) this.#tellSoon();
    this.#rows = this.#data.list.shown;
    this.#focusInside = Boolean(this.shadowRoot?.activeElement);
  }

  protected override updated(): void {
    const states = this.#internals?.states;
    states?.clear();
    states?.add(this.phase);
    if (this.phase === 'ready' && this.#rows.length === 0) states?.add('empty');
    if (!this.#sizes) {
      this.#sizes = new ResizeObserver(() => requestAnimationFrame(this.#look));
      for (const element of [this.#scroller, this.#body]) if (element) this.#sizes.observe(element);
    }
    const [first, last] = this.#window;
    const body = this.#body;
    if (body) this.#draw(body, first, last);
    // By the object model: a style attribute is what a strict policy forbids.
    if (body)
      body.style.paddingBlock = `${first * this.#rowPx}px ${(this.#rows.length - last) * this.#rowPx}px`;
    this.#flash();
    if (this.#goTo) {
      this.#goTo = false;
      const row = body?.querySelector<HTMLElement>('[tabindex="0"]');
      row?.focus({ preventScroll: true });
      row?.scrollIntoView({ block: 'nearest' });
    }
    // What had the focus is gone, by scrolling or by itself: keep the place.
    else if (this.#focusInside && !this.shadowRoot?.activeElement)
      this.#scroller?.focus({ preventScroll: true });
    queueMicrotask(this.#look);
  }

  protected override render(): TemplateResult {
    const { list, phase, connection } = this.#data;
    const waiting = this.#rows.length === 0 && (phase === 'loading' || phase === 'idle');
    return html`
      <div
        part="base"
        class="base"
        @pointerenter=${this.#enter}
        @pointerleave=${this.#leave}
        @focusout=${this.#settle}
      >
        <div part="toolbar" class="toolbar">
          <slot name="heading"></slot>
          ${this.#filters()}
          <div class="news">
            <button part="new-button" class="new" ?disabled=${list.waiting === 0} @click=${this.showNew}>
              ${/* Room for two digits is kept. */ this.#count('new', list.waiting || 10)}
            </button>
            <span part="connection" class="connection ${connection}">${
              connection === 'idle' ? '' : this.#text(connection)
            }</span>
          </div>
        </div>
        <div class="notice" role="status">${this.#problem()}</div>
        <div
          part="scroller"
          class="scroller"
          tabindex="-1"
          @scroll=${this.#look}
          @keydown=${this.#press}
        >
          <table
            part="table"
            role="grid"
            aria-label=${this.#text('payouts')}
            aria-rowcount=${list.total + 1}
            aria-busy=${waiting || this.#data.busy ? 'true' : 'false'}
          >
            <thead role="rowgroup">
              <tr part="header" class="header" role="row" aria-rowindex="1">${COLUMNS.map((column) => this.#column(column))}</tr>
            </thead>
            <tbody role="rowgroup" class=${this.#data.busy === 'view' ? 'stale' : ''} @click=${this.#click}></tbody>
          </table>
          ${waiting ? SKELETON : this.#rows.length === 0 && phase === 'ready' ? this.#empty() : ''}
        </div>
        <div part="footer" class="footer"><bdi>${this.#footer(waiting)}</bdi></div>
        <div class="sr" role="status" data-told>${this.#told}</div>
      </div>
    `;
  }

  #filters(): TemplateResult {
    const { statuses } = this.view;
    const button = (name: 'all' | PayoutStatus, pressed: boolean, next: readonly PayoutStatus[]) => html`
      <button
        part="filter"
        class="filter"
        aria-pressed=${pressed ? 'true' : 'false'}
        @click=${() => this.#choose(next)}
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

  #column(column: (typeof COLUMNS)[number]): TemplateResult {
    const sorts = SORTS.filter((sort) => sort.endsWith(column));
    const at = sorts.indexOf(this.sort);
    const down = this.sort.startsWith('-');
    return html`
      <th
        role="columnheader"
        class=${column}
        aria-sort=${at < 0 ? nothing : down ? 'descending' : 'ascending'}
      >${
        sorts.length > 0
          ? html`<button part="sort-button" class="sort" @click=${() => this.#sortBy(sorts[at === 0 ? 1 : 0]!)}>
              ${this.#text(column)}<svg viewBox="0 0 12 12" aria-hidden="true"><path d=${at < 0 ? UNSORTED : down ? DOWN : UP} /></svg>
            </button>`
          : html`<span>${this.#text(column)}</span>`
      }</th>
    `;
  }

  /** Puts the rows of the window into the document. A row that stays is not touched, so it keeps focus and selection. */
  #draw(body: HTMLElement, first: number, last: number): void {
    const payouts = this.#rows.slice(first, last);
    const ids = new Set(payouts.map(({ id }) => id));
    for (const [id, { row }] of this.#drawn)
      if (!ids.has(id)) {
        row.remove();
        this.#drawn.delete(id);
      }
    const active = payouts.findIndex(({ id }) => id === this.#active);
    const stop = active < 0 ? Math.max(0, this.#top - first) : active;
    const words = [this.#texts[this.#locale], this.labels];
    const anew = words.some((each, index) => each !== this.#words[index]);
    this.#words = words;
    payouts.forEach((payout, index) => {
      let drawn = this.#drawn.get(payout.id);
      if (!drawn) {
        drawn = { row: document.createElement('tr') };
        this.#drawn.set(payout.id, drawn);
        drawn.row.dataset.id = payout.id;
        drawn.row.setAttribute('part', 'row');
        drawn.row.setAttribute('role', 'row');
      }
      const { row } = drawn;
      if (drawn.payout !== payout || anew) render(this.#cells(payout), row, { host: this });
      drawn.payout = payout;
      row.setAttribute('aria-rowindex', String(first + index + 2));
      row.tabIndex = index === stop ? 0 : -1;
      if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
    });
  }

  #cells(payout: Payout): TemplateResult {
    const { status, amountCents, feeCents, method, destination, code, requestedAt } = payout;
    const { money } = this.#formats!;
    const hint = this.#hint(payout);
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
        <span>${METHODS[method] ?? '—'}</span>
        <small title=${destination}><bdi>${destination}</bdi></small>
      </td>
      <td role="gridcell" class="code"><span>${code ?? '—'}</span></td>
      <td role="gridcell" class="requested">${this.#time(requestedAt)}</td>
    `;
  }

  /** The day and the hour, in full: the device's clock may be wrong, so nothing is “2 minutes ago”. */
  #time(instant: string | null): unknown {
    if (!instant) return '—';
    const { day, hour } = this.#formats!;
    const at = new Date(instant);
    return html`<time datetime=${instant}><span>${day(at)}</span> <small><bdi>${hour(at)}</bdi></small></time>`;
  }

  /** What the status means for the money. */
  #hint({ status, deniedReason, requestedAt, processedAt }: Payout): string {
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

  #empty(): TemplateResult {
    return html`<div part="empty" class="empty">${
      this.statuses.length > 0
        ? this.#text('emptyFiltered')
        : html`<slot name="empty">${this.#text('empty')}</slot>`
    }</div>`;
  }

  #problem(): TemplateResult | '' {
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

  #footer(waiting: boolean): unknown {
    const { list, busy, moreError, phase } = this.#data;
    if (waiting || busy === 'more') return this.#text('loading');
    if (moreError)
      return html`${this.#text('moreFailed')}
        <button part="retry-button" class="quiet" @click=${() => this.#data.again()}>${this.#text('retry')}</button>`;
    if (list.total === 0 || (phase !== 'ready' && this.#rows.length === 0)) return '';
    if (list.complete) return this.#count('count', list.total);
    const { number } = this.#formats!;
    const values = { loaded: number(list.loaded), total: number(list.total) };
    if (busy === 'all') return `${this.#text('loading')} ${this.#text('countOf', values)}`;
    if (!list.sortedHere) return this.#text('countOf', values);
    return html`${this.#text('sortedOf', values)} ${
      list.loaded < MOST_ROWS
        ? html`<button part="more-button" class="quiet" @click=${() => this.#data.all()}>${this.#text('loadAll')}</button>`
        : ''
    }`;
  }

  // ── What is in the document ───────────────────────────────────────────────────────────────────

  get #window(): [number, number] {
    const count = this.#rows.length;
    const first = Math.max(0, Math.min(this.#first, count - FEWEST));
    return [first, Math.min(count, Math.max(this.#last, first + FEWEST))];
  }

  /** Which rows can be seen, and with it which have to be there. */
  #look = (): void => {
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
    const first = step(from / rowPx - BEYOND);
    const last = step(to / rowPx + BEYOND + STEP);
    const top = Math.max(0, Math.floor(from / rowPx + 0.5));
    const moved = first !== this.#first || last !== this.#last || rowPx !== this.#rowPx;
    this.#first = first;
    this.#last = last;
    this.#rowPx = rowPx;
    const wasDown = this.#top > 0;
    this.#top = top;
    if (wasDown && top === 0) this.#settle();
    if (moved) this.requestUpdate();
    const isSeen = to > 0 && from < to;
    if (isSeen && last > this.#rows.length - NEAR && !this.#data.list.sortedHere) this.#data.more();
  };

  get #scroller(): HTMLElement | null | undefined {
    return this.renderRoot?.querySelector<HTMLElement>('.scroller');
  }

  get #body(): HTMLElement | null | undefined {
    return this.renderRoot?.querySelector<HTMLElement>('tbody');
  }

  /** Lights up the rows that have just changed, where motion is not wanted without a fade. */
  #flash(): void {
    if (this.#flashing.size === 0) return;
    const easing = matchMedia('(prefers-reduced-motion)').matches ? 'step-end' : 'ease-out';
    for (const id of this.#flashing) {
      const row = this.#drawn.get(id)?.row;
      if (row && this.#flashing.delete(id))
        row.animate([{ backgroundColor: 'var(--_flash)' }, {}], { duration: FLASH_MS, easing });
    }
    // Those that wait light up when they come.
    if (this.#data.list.waiting === 0) this.#flashing.clear();
  }

  // ── Pointer and keyboard ──────────────────────────────────────────────────────────────────────

  #enter(): void {
    this.#inside = true;
  }

  #leave(): void {
    this.#inside = false;
    this.#settle();
  }

  /** Nobody is in the way any more: what waits may come. */
  #settle(): void {
    queueMicrotask(() => {
      if (this.isConnected && !this.still) this.#data.arrange();
    });
  }

  #press(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || (event.target as Element).matches('button')) return;
    const at = this.#rows.findIndex(({ id }) => id === this.#active);
    const now = at < 0 ? this.#top : at;
    const page = Math.max(1, Math.floor((this.#scroller?.clientHeight ?? 0) / this.#rowPx) - 2);
    const to: Partial<Record<string, number>> = {
      ArrowDown: at < 0 && !this.#isOnRow ? now : now + 1,
      ArrowUp: now - 1,
      PageDown: now + page,
      PageUp: now - page,
      Home: 0,
      End: this.#rows.length - 1,
    };
    const index = to[event.key];
    if (index !== undefined) this.#goToRow(index);
    else if (event.key !== 'Enter' && event.key !== ' ') return;
    else this.#select(event.target as Element);
    event.preventDefault();
  }

  get #isOnRow(): boolean {
    return Boolean(this.shadowRoot?.activeElement?.matches('tbody tr'));
  }

  #goToRow(index: number): void {
    const at = Math.max(0, Math.min(index, this.#data.list.shown.length - 1));
    this.#active = this.#data.list.shown[at]?.id ?? '';
    // It has to be there to be gone to; where it stands is then in sight, and the window follows.
    this.#first = Math.max(0, at - BEYOND);
    this.#last = at + BEYOND;
    this.#goTo = true;
    this.requestUpdate();
  }

  #click(event: Event): void {
    // Whoever marks a code to copy it, selects no row.
    if (getSelection()?.type !== 'Range') this.#select(event.target as Element);
  }

  #select(target: Element): void {
    const id = target.closest<HTMLElement>('tr')?.dataset.id;
    const payout = this.#rows.find((row) => row.id === id);
    if (!payout) return;
    this.#active = payout.id;
    this.requestUpdate();
    this.#data.emit('psa-payout-select', { payout });
  }

  #choose(statuses: readonly PayoutStatus[]): void {
    this.statuses = statuses.join(' ');
    this.#data.emit('psa-filter-change', { statuses });
  }

  #sortBy(sort: PayoutSort): void {
    this.sort = sort;
    this.#data.emit('psa-sort-change', { sort });
  }

  // ── What is said ──────────────────────────────────────────────────────────────────────────────

  #tellSoon(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      this.#tell();
    }, TELL_MS);
  }

  #tell(): void {
    const news = [...this.#news.values()];
    this.#news.clear();
    const { connection } = this.#data;
    const said: string[] = [];
    // A socket that was changed for another is back by now, and no news.
    if (['live', 'offline', 'reconnecting'].includes(connection) && connection !== this.#toldConnection) {
      said.push(this.#text(connection as 'live'));
      this.#toldConnection = connection;
    }
    const [one] = news;
    if (one && news.length === 1) {
      const { amountCents, status } = one.payout;
      const values = { amount: this.#formats!.money(amountCents), status: this.#text(status).toLowerCase() };
      said.push(this.#text(one.kind === 'new' ? 'announceNew' : 'announceChange', values));
    } else if (one) {
      const added = news.filter(({ kind }) => kind === 'new').length;
      said.push(this.#text('announceMany', { added, changed: news.length - added }));
    }
    if (said.length === 0) return;
    this.#told = said.join(' ');
    this.requestUpdate();
  }

  #localeNow(): Locale {
    const nearest = this.closest<HTMLElement>('[lang]')?.lang || document.documentElement.lang;
    const wanted = (this.locale || nearest || navigator.language).toLowerCase();
    return wanted.startsWith('en') ? 'en' : wanted.startsWith('es') ? 'es' : 'pt-BR';
  }

  #text(name: keyof Texts, values: Record<string, string | number> = {}): string {
    const text = this.labels?.[name] ?? (this.#texts[this.#locale] ?? portuguese)[name];
    return text.replace(/\{(\w+)\}/g, (_, key: string) => String(values[key] ?? ''));
  }

  #count(name: 'new' | 'count', count: number): string {
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

function formatsOf(locale: Locale): Formats {
  const money = new Intl.NumberFormat(locale, { style: 'currency', currency: 'BRL' });
  const { format: number } = new Intl.NumberFormat(locale);
  const { format: day } = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const { format: hour } = new Intl.DateTimeFormat(locale, { timeStyle: 'short' });
  return { locale, money: (cents) => money.format(cents / 100), number, day, hour };
}

function statusesIn(list: string | null): PayoutStatus[] {
  return STATUSES.filter((status) => list?.includes(status));
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
