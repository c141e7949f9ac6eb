import { html, type LitElement, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';
import { boardStyles } from '../board/board.styles.ts';
import { BoardTexts } from '../board/board-texts.ts';
import type { Listener } from '../board/events.ts';
import { line } from '../board/messages.ts';
import { propertiesOf } from '../list/controls.ts';
import { Figures } from '../list/figures.ts';
import { listStyles } from '../list/list.styles.ts';
import { ListElement } from '../list/list-element.ts';
import { narrowStyles } from '../list/narrow.styles.ts';
import { dayCells, dayOf, otherMoves, signed } from './entry-cells.ts';
import type { PsaStatementEventMap } from './events.ts';
import { texts } from './locales/pt-BR.ts';
import type { Texts } from './locales/texts.ts';
import { CLOSING, type Closing, type StatementSort, type WalletEntry } from './operations.ts';
import { styles } from './psa-statement.styles.ts';
import type { StatementHost } from './statement-host.ts';
import { statement } from './statement-kind.ts';

export type * from './public-types.ts';

const catalog = {
  name: 'statement',
  // Its chunks add the texts of the filter's controls and of the details.
  portuguese: { ...texts } as Partial<Texts>,
  languages: { en: () => import('./locales/en.ts'), es: () => import('./locales/es.ts') },
};

/**
 * An account's statement: every entry of its wallet with the balance after it, under the heading of its day. New entries
 * appear while the table is at rest, and wait behind a button otherwise.
 *
 * @tagname psa-statement
 *
 * @attr {string} endpoint - The GraphQL endpoint.
 * @attr {string} token - A dashboard token with the scope WALLET. A new token of the same account resumes where the old one expired.
 * @attr {'auto'|'ws'|'sse'|'poll'} transport - How the wallet is followed. `auto` tries them in this order.
 * @attr {string} kinds - The shown kinds of entries, separated by spaces, such as PAYMENT and PAYOUT. All by default.
 * @attr {string} created-after - Shows entries of this instant or later, as 2026-03-01T00:00:00-03:00; with it alone, or with `created-before`, the balances at both ends are shown.
 * @attr {string} created-before - Shows entries before this instant.
 * @attr {number} amount-cents - Shows entries of exactly this amount, in or out.
 * @attr {string} reference - Shows entries of the payment, payout, refund, dispute or transfer with this id or code.
 * @attr {'-created'|'created'} sort - The order of the rows; newest first by default.
 * @attr {number} page-size - How many rows are loaded at a time, 1 to 100; 50 by default.
 * @attr {boolean} details - Whether a row that is clicked opens a panel with the whole entry, what it belongs to, and the wallet after it.
 * @attr {boolean} export - Whether there is a button that downloads the entries of the filter as a file.
 * @attr {'pt-BR'|'en'|'es'} locale - The language; by default the page's.
 *
 * @fires psa-entry-update - {entry}. An entry is new.
 * @fires psa-entry-select - {entry}. A row was clicked, or Enter pressed on it.
 * @fires psa-token-expired - The token has expired. Set `token` to a new one, or provide `renewToken`.
 * @fires psa-filter-change - {kinds, filter}. The user has changed the filter; `filter` has the conditions besides the kinds.
 * @fires psa-sort-change - {sort}. The user has changed the order.
 * @fires psa-connection-change - {connection, transport}
 * @fires psa-phase-change - {phase, previous}
 * @fires psa-error - {code, reason, message, retryable}
 *
 * @slot heading - Above the table, beside its filters.
 * @slot empty - In place of the text for an account without entries.
 * @slot details - In the panel of a row, under its title.
 *
 * @csspart base - The whole element.
 * @csspart toolbar - Heading, filters and connection.
 * @csspart filters-button - Opens the controls of the conditions; hide it where the page has its own.
 * @csspart filters - Those controls.
 * @csspart filter-field - One of them, with its name and what is wrong with it.
 * @csspart apply-button - Asks the server for what the controls say.
 * @csspart clear-button - Empties them.
 * @csspart new-button - Shows the new entries that wait.
 * @csspart connection - The state of the connection.
 * @csspart summary - The balances at both ends of the period.
 * @csspart export-button - Downloads the entries.
 * @csspart error - The error, and what to do.
 * @csspart retry-button - Retries.
 * @csspart scroller - The scroll container of the rows.
 * @csspart table
 * @csspart header - The row of column names.
 * @csspart sort-button - The button in a column's name that sorts by it.
 * @csspart row - One entry.
 * @csspart empty - The text where there is no entry.
 * @csspart skeleton - The placeholder while the first page is loaded.
 * @csspart footer - How many entries there are.
 * @csspart details - The panel of an entry.
 * @csspart close-button - Closes it.
 *
 * @cssproperty --psa-color-primary - Buttons.
 * @cssproperty --psa-color-on-primary - Text on the primary color.
 * @cssproperty --psa-color-surface - The table.
 * @cssproperty --psa-color-text
 * @cssproperty --psa-color-muted - Less important text.
 * @cssproperty --psa-color-success - Money that came in.
 * @cssproperty --psa-color-warning
 * @cssproperty --psa-color-danger
 * @cssproperty --psa-color-highlight - The background of a row that is new.
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
 * @cssstate forbidden - The token is valid, and does not read the wallet.
 */
export class PsaStatement extends ListElement<WalletEntry, Texts> implements StatementHost {
  // A getter, for a static field becomes a static block, which Babel's settings of React Native refuse.
  static override get styles() {
    return [boardStyles, listStyles, styles, narrowStyles].map((text) => unsafeCSS(text));
  }

  static override get properties() {
    return { ...ListElement.properties, ...propertiesOf(statement) };
  }

  /** The shown kinds of entries, separated by spaces. */
  declare kinds: string | undefined;
  declare createdAfter: string | undefined;
  declare createdBefore: string | undefined;
  declare amountCents: number | undefined;
  declare reference: string | undefined;
  declare sort: StatementSort;

  declare addEventListener: Listener<PsaStatementEventMap> & LitElement['addEventListener'];
  declare removeEventListener: Listener<PsaStatementEventMap> & LitElement['removeEventListener'];

  /** The first shown entry of each day, by the id of the day's heading. */
  #days = new Map<string, WalletEntry>();
  /** The rows with their headings, and the ids for which they were arranged: a table that scrolls reads them often. */
  #arranged: { ids: readonly string[]; rows: readonly string[] } = { ids: [], rows: [] };
  protected override readonly figures = new Figures<Closing>(
    () => this.#readClosing(),
    () => this.requestUpdate(),
  );

  constructor() {
    super(statement, new BoardTexts<Texts>(catalog));
  }

  /** The loaded entries in the order of the table, drawn or not. */
  get entries(): readonly WalletEntry[] {
    return this.data.list.shown;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const period = this.#period;
    if (this.phase === 'ready') this.figures.follow(period);
    // The balances of another period, or of an account whose entries are gone, do not stay.
    else if (this.isEmpty || period !== this.figures.key) this.figures.follow('');
  }

  /** Puts the heading of each day above its first entry. */
  protected override arrangedRows(): readonly string[] {
    const { ids } = this.data.list;
    if (ids === this.#arranged.ids) return this.#arranged.rows;
    const rows: string[] = [];
    this.#days.clear();
    for (const entry of this.entries) {
      const day = dayOf(entry);
      if (!this.#days.has(day)) {
        this.#days.set(day, entry);
        rows.push(day);
      }
      rows.push(entry.id);
    }
    this.#arranged = { ids, rows };
    return rows;
  }

  protected override shownAs(id: string): object {
    return this.#days.get(id) ?? super.shownAs(id);
  }

  protected override cellsOf(id: string, value: object): TemplateResult {
    return this.#days.has(id) ? dayCells(value as WalletEntry, this.texts) : super.cellsOf(id, value);
  }

  protected override renderSummary(): TemplateResult | '' {
    const words = this.texts;
    const { opening, closing } = this.figures.value ?? {};
    const first = opening?.balanceCents;
    const last = closing?.balanceCents;
    if (typeof first !== 'number' || typeof last !== 'number') return '';
    const figure = (name: 'opening' | 'difference' | 'closing', text: string) =>
      html`<div><dt>${line(words.text(name))}</dt><dd>${line(text)}</dd></div>`;
    return html`<dl part="summary" class="summary ${this.figures.isOld ? 'stale' : ''}">
      ${figure('opening', words.formats.money(first))}
      ${figure('difference', signed(last - first, words))}
      ${figure('closing', words.formats.money(last))}
    </dl>`;
  }

  // ── The parts of the details, whose chunk must not import them ────────────────────────────────

  /** @internal */
  amountOf({ amountCents }: WalletEntry): string {
    return signed(amountCents, this.texts);
  }

  /** @internal */
  movesOf(entry: WalletEntry): string {
    return otherMoves(entry, this.texts);
  }

  /** The period whose balances are shown: none if the list is of some entries of it alone. */
  get #period(): string {
    const { chosen, filter } = this.view;
    const isWhole = !chosen[0] && Object.keys(filter ?? {}).every((name) => name.startsWith('created'));
    return isWhole && this.createdAfter ? `${this.createdAfter} ${this.createdBefore ?? ''}` : '';
  }

  /** Reads the balances. A period of more than a year has none here. */
  async #readClosing(): Promise<Closing> {
    const { createdAfter: startsAt, createdBefore } = this;
    // The device's clock may be behind.
    const now = Math.max(
      Date.now(),
      ...this.entries.slice(0, 1).map(({ createdAt }) => Date.parse(createdAt) + 1),
    );
    const endsAt = createdBefore ?? new Date(now).toISOString();
    const { wallet } = await this.data.request<{ wallet: { closing: Closing } }>(
      CLOSING,
      { startsAt, endsAt },
      this.data.connectedSignal,
    );
    return wallet.closing;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'psa-statement': PsaStatement;
  }
}
