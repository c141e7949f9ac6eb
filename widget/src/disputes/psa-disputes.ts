import { type LitElement, type PropertyValues, unsafeCSS } from 'lit';
import { boardStyles } from '../board/board.styles.ts';
import { BoardTexts } from '../board/board-texts.ts';
import type { Listener } from '../board/events.ts';
import { propertiesOf } from '../list/controls.ts';
import { listStyles } from '../list/list.styles.ts';
import { ListElement } from '../list/list-element.ts';
import { narrowStyles } from '../list/narrow.styles.ts';
import {
  followDeadlines,
  hasLostTime,
  isUndecided,
  msUntilDue,
  serverNow,
  takesDefence,
} from './deadlines.ts';
import { HOUR_MS, leftText, saleText } from './dispute-cells.ts';
import type { DisputesHost } from './disputes-host.ts';
import { disputes } from './disputes-kind.ts';
import type { PsaDisputesEventMap } from './events.ts';
import { texts } from './locales/pt-BR.ts';
import type { Texts } from './locales/texts.ts';
import type { Dispute, DisputeSort } from './operations.ts';
import { styles } from './psa-disputes.styles.ts';

export type * from './public-types.ts';

const catalog = {
  name: 'disputes',
  // Its chunks add the texts of the filter's controls and of the details.
  portuguese: { ...texts } as Partial<Texts>,
  languages: { en: () => import('./locales/en.ts'), es: () => import('./locales/es.ts') },
};

const MINUTE_MS = 60_000;

/**
 * An account's disputes as a live table: claims of payers' banks (MED) and of cards, each with its deadline and the time
 * that is left. A row opens its details, with a form for the defence. The element holds no credential that writes: what is
 * sent is an event, and the page does it.
 *
 * @tagname psa-disputes
 *
 * @attr {string} endpoint - The GraphQL endpoint.
 * @attr {string} token - A dashboard token with the scope DISPUTES, and those of the sales if they are to be named. A new token of the same account resumes where the old one expired.
 * @attr {'auto'|'ws'|'sse'|'poll'} transport - How the disputes are followed. `auto` tries them in this order.
 * @attr {string} statuses - The shown statuses, separated by spaces: OPEN, UNDER_REVIEW, WON, LOST, FORGIVEN. All by default.
 * @attr {string} created-after - Shows disputes that were opened at this instant or later, as 2026-03-01T00:00:00-03:00.
 * @attr {string} created-before - Shows disputes that were opened before this instant.
 * @attr {number} amount-cents - Shows disputes of exactly this amount.
 * @attr {string} reference - Shows the dispute with this disputeId.
 * @attr {'-created'|'created'|'due'|'-due'|'-amount'|'amount'|'status'|'-status'} sort - The order of the rows; `-` is descending. Newest first by default.
 * @attr {number} page-size - How many rows are loaded at a time, 1 to 100; 50 by default.
 * @attr {boolean} export - Whether there is a button that downloads the disputes of the filter as a file.
 * @attr {boolean} details - Whether a row that is selected opens its details.
 * @attr {string} actions - The requests that the page answers, separated by spaces: `defence`, `accept`. None by default. They are in the details.
 * @attr {'pt-BR'|'en'|'es'} locale - The language; by default the page's.
 *
 * @fires psa-dispute-update - {dispute, previous}. A dispute is new, or has changed; `previous` is its status before.
 * @fires psa-dispute-select - {dispute}. A row was clicked, or Enter pressed on it.
 * @fires psa-defence-request - {disputeId, text, files, fileIds, idempotencyKey, respondWith}. The user sends a defence; the page uploads the files and submits it with them and those of `fileIds`, and answers by `respondWith(promise)`.
 * @fires psa-accept-request - {disputeId, respondWith}. The user accepts the claim, and has confirmed its price.
 * @fires psa-token-expired - The token has expired. Set `token` to a new one, or provide `renewToken`.
 * @fires psa-filter-change - {statuses, filter}. The user has changed the filter; `filter` has the conditions besides the statuses.
 * @fires psa-sort-change - {sort}. The user has changed the order.
 * @fires psa-connection-change - {connection, transport}
 * @fires psa-phase-change - {phase, previous}
 * @fires psa-error - {code, reason, message, retryable}
 *
 * @slot heading - Above the table, beside its filters.
 * @slot empty - In place of the text for an account without disputes.
 * @slot details - In the panel of a row, under its title.
 *
 * @csspart base - The whole element.
 * @csspart toolbar - Heading, filters and connection.
 * @csspart search - Finds a dispute by its number; hide it where the page has its own.
 * @csspart filter - One button of the filter.
 * @csspart filters-button - Opens the controls of further conditions; hide it where the page has its own.
 * @csspart filters - Those controls.
 * @csspart filter-field - One of them, with its name and what is wrong with it.
 * @csspart apply-button - Asks the server for what the controls say.
 * @csspart clear-button - Empties them.
 * @csspart export-button - Downloads the disputes.
 * @csspart new-button - Shows the new disputes that wait.
 * @csspart connection - The state of the connection.
 * @csspart error - The error, and what to do.
 * @csspart retry-button - Retries.
 * @csspart scroller - The scroll container of the rows.
 * @csspart table
 * @csspart header - The row of column names.
 * @csspart sort-button - The button in a column's name that sorts by it.
 * @csspart row - One dispute.
 * @csspart status - The dispute's status.
 * @csspart details - The dialog with the details of a dispute.
 * @csspart close-button - Closes it.
 * @csspart defence-button - Sends the defence.
 * @csspart accept-button - Shows the price of accepting the claim.
 * @csspart confirm-button - Accepts it.
 * @csspart empty - The text where there is no dispute.
 * @csspart skeleton - The placeholder while the first page is loaded.
 * @csspart footer - How many disputes there are.
 * @csspart more-button - Loads the remaining disputes, so that the order holds for all.
 *
 * @cssproperty --psa-color-primary - Buttons.
 * @cssproperty --psa-color-on-primary - Text on the primary color.
 * @cssproperty --psa-color-surface - The table.
 * @cssproperty --psa-color-text
 * @cssproperty --psa-color-muted - Less important text.
 * @cssproperty --psa-color-success
 * @cssproperty --psa-color-warning - Open disputes.
 * @cssproperty --psa-color-danger - Lost disputes, and a deadline of less than a day.
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
 * @cssstate forbidden - The token is valid, and does not read disputes.
 */
export class PsaDisputes extends ListElement<Dispute, Texts> implements DisputesHost {
  // A getter, for a static field becomes a static block, which Babel's settings of React Native refuse.
  static override get styles() {
    return [boardStyles, listStyles, styles, narrowStyles].map((text) => unsafeCSS(text));
  }

  static override get properties() {
    return { ...ListElement.properties, ...propertiesOf(disputes), actions: {} };
  }

  /** The shown statuses, separated by spaces. */
  declare statuses: string;
  declare createdAfter: string | undefined;
  declare createdBefore: string | undefined;
  declare amountCents: number | undefined;
  declare reference: string | undefined;
  declare sort: DisputeSort;
  /** The requests that the page answers, separated by spaces: `defence`, `accept`. */
  declare actions: string | undefined;

  declare addEventListener: Listener<PsaDisputesEventMap> & LitElement['addEventListener'];
  declare removeEventListener: Listener<PsaDisputesEventMap> & LitElement['removeEventListener'];

  /** The rows, and the next deadline of them by the server's time. */
  #dated: readonly Dispute[] = [];
  #nextDueMs = Number.POSITIVE_INFINITY;
  /** The minute of the server's time for which the rows are drawn, or in the last hour before a deadline the second. */
  #moment = 0;
  #connection: AbortController | undefined;

  constructor() {
    super(disputes, new BoardTexts<Texts>(catalog));
    this.statuses = '';
  }

  /** The loaded disputes in the order of the table, drawn or not. */
  get disputes(): readonly Dispute[] {
    return this.data.list.shown;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#connection = new AbortController();
    followDeadlines(() => this.#tick(), this.#connection.signal);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#connection?.abort();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const now = serverNow();
    if (this.#dated === this.disputes && this.#nextDueMs > now) return;
    this.#dated = this.disputes;
    this.#nextDueMs = Number.POSITIVE_INFINITY;
    for (const dispute of this.#dated) {
      const dueMs = isUndecided(dispute) ? now + msUntilDue(dispute) : 0;
      if (dueMs > now) this.#nextDueMs = Math.min(this.#nextDueMs, dueMs);
    }
  }

  /** The time that is left is a part of what a row shows. */
  protected override get sources(): readonly unknown[] {
    return [...super.sources, this.#moment];
  }

  /** Draws the time that is left again, where its words have changed. */
  #tick(): void {
    if (hasLostTime()) this.data.restart();
    const now = serverNow();
    const moment = Math.floor(now / (this.#nextDueMs - now < HOUR_MS ? 1_000 : MINUTE_MS));
    if (moment === this.#moment) return;
    this.#moment = moment;
    this.requestUpdate();
  }

  // ── The parts of the details, whose chunk must not import them ────────────────────────────────

  /** @internal */
  offers(action: 'defence' | 'accept', dispute: Dispute): boolean {
    const isAllowed = `${this.actions ?? ''}`.split(/\s+/).includes(action);
    return isAllowed && (action === 'accept' ? isUndecided(dispute) : takesDefence(dispute));
  }

  /** @internal */
  leftOf(dispute: Dispute): string {
    return isUndecided(dispute) ? leftText(dispute, this.texts) : '';
  }

  /** @internal */
  saleOf({ of }: Dispute): string {
    return saleText(of, this.texts);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'psa-disputes': PsaDisputes;
  }
}
