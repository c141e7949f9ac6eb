import { type LitElement, unsafeCSS } from 'lit';
import { boardStyles } from '../board/board.styles.ts';
import { BoardTexts } from '../board/board-texts.ts';
import type { Listener } from '../board/events.ts';
import { propertiesOf } from '../list/controls.ts';
import { listStyles } from '../list/list.styles.ts';
import { narrowStyles } from '../list/narrow.styles.ts';
import { TotalsElement } from '../list/totals-element.ts';
import type { PsaPayoutsEventMap } from './events.ts';
import { texts } from './locales/pt-BR.ts';
import type { Texts } from './locales/texts.ts';
import type { Payout, PayoutSort, PayoutStatus } from './operations.ts';
import { type DenialReason, methodText, reasonOf } from './payout-cells.ts';
import type { PayoutsHost } from './payouts-host.ts';
import { payouts } from './payouts-kind.ts';
import { styles } from './psa-payouts.styles.ts';

export type * from './public-types.ts';

const catalog = {
  name: 'payouts',
  // Its chunks add the texts of the filter's controls and of the details.
  portuguese: { ...texts } as Partial<Texts>,
  languages: { en: () => import('./locales/en.ts'), es: () => import('./locales/es.ts') },
};

/**
 * An account's payouts as a live table, with the totals of the filter. Rows change in place; while the pointer or the keyboard
 * focus is in the table, or it is scrolled, no row moves, and new payouts wait behind a button.
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
 * @attr {boolean} details - Whether a row that is clicked opens a panel with the whole payout and its history.
 * @attr {boolean} export - Whether there is a button that downloads the payouts of the filter as a file.
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
 * @slot details - In the panel of a row, under its title.
 *
 * @csspart base - The whole element.
 * @csspart toolbar - Heading, filters and connection.
 * @csspart filter - One button of the filter.
 * @csspart filters-button - Opens the controls of further conditions; hide it where the page has its own.
 * @csspart filters - Those controls.
 * @csspart filter-field - One of them, with its name and what is wrong with it.
 * @csspart apply-button - Asks the server for what the controls say.
 * @csspart clear-button - Empties them.
 * @csspart export-button - Downloads the payouts.
 * @csspart new-button - Shows the new payouts that wait.
 * @csspart connection - The state of the connection.
 * @csspart summary - The totals by status.
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
 * @csspart details - The panel of a payout.
 * @csspart close-button - Closes it.
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
 * @cssstate forbidden - The token is valid, and does not read payouts.
 */
export class PsaPayouts extends TotalsElement<Payout, Texts, PayoutStatus> implements PayoutsHost {
  // A getter, for a static field becomes a static block, which Babel's settings of React Native refuse.
  static override get styles() {
    return [boardStyles, listStyles, styles, narrowStyles].map((text) => unsafeCSS(text));
  }

  static override get properties() {
    return { ...TotalsElement.properties, ...propertiesOf(payouts) };
  }

  /** The shown statuses, separated by spaces. */
  declare statuses: string;
  /** The shown methods, separated by spaces. */
  declare methods: string | undefined;
  declare requestedAfter: string | undefined;
  declare requestedBefore: string | undefined;
  declare amountCents: number | undefined;
  declare externalId: string | undefined;
  declare reference: string | undefined;
  declare sort: PayoutSort;

  declare addEventListener: Listener<PsaPayoutsEventMap> & LitElement['addEventListener'];
  declare removeEventListener: Listener<PsaPayoutsEventMap> & LitElement['removeEventListener'];

  constructor() {
    super(payouts, new BoardTexts<Texts>(catalog));
    this.statuses = '';
  }

  /** The loaded payouts in the order of the table, drawn or not. */
  get payouts(): readonly Payout[] {
    return this.data.list.shown;
  }

  // ── The parts of the details, whose chunk must not import them ────────────────────────────────

  /** @internal */
  methodOf({ method }: Payout): string {
    return methodText(method);
  }

  /** @internal */
  reasonOf(payout: Payout): DenialReason {
    return reasonOf(payout, this.texts);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'psa-payouts': PsaPayouts;
  }
}
