import { type LitElement, unsafeCSS } from 'lit';
import { boardStyles } from '../board/board.styles.ts';
import { BoardTexts } from '../board/board-texts.ts';
import type { Listener } from '../board/events.ts';
import { propertiesOf } from '../list/controls.ts';
import { listStyles } from '../list/list.styles.ts';
import { narrowStyles } from '../list/narrow.styles.ts';
import { TotalsElement } from '../list/totals-element.ts';
import type { PsaSalesEventMap } from './events.ts';
import { texts } from './locales/pt-BR.ts';
import type { Texts } from './locales/texts.ts';
import type { Sale, SaleSort, SaleStatus } from './operations.ts';
import { styles } from './psa-sales.styles.ts';
import { sales } from './sales-kind.ts';

export type * from './public-types.ts';

const catalog = {
  name: 'sales',
  // Its chunks add the texts of the filter's controls and of the details.
  portuguese: { ...texts } as Partial<Texts>,
  languages: { en: () => import('./locales/en.ts'), es: () => import('./locales/es.ts') },
};

/**
 * An account's sales as a live table: card payments, payments by PIX and LTC, and charges, with the totals of the filter. Rows
 * change in place; while the pointer or the keyboard focus is in the table, or it is scrolled, no row moves, and new sales wait
 * behind a button.
 *
 * @tagname psa-sales
 *
 * @attr {string} endpoint - The GraphQL endpoint.
 * @attr {string} token - A dashboard token with the scope CARD_PAYMENTS, PAYMENTS or both: it shows the sales that the token may read. A new token of the same account resumes where the old one expired.
 * @attr {'auto'|'ws'|'sse'|'poll'} transport - How the sales are followed. `auto` tries them in this order.
 * @attr {string} statuses - The shown statuses, separated by spaces: PENDING, PAID, EXPIRED, REFUNDED, FAILED. All by default.
 * @attr {string} methods - The shown methods, separated by spaces: CARD, PIX, LTC. All by default.
 * @attr {string} created-after - Shows sales that were created at this instant or later, as 2026-03-01T00:00:00-03:00.
 * @attr {string} created-before - Shows sales that were created before this instant.
 * @attr {number} amount-cents - Shows sales of exactly this amount.
 * @attr {string} search - Shows the sales of a customer's whole e-mail address, of the number of an order, or with an orderCode, paymentId, chargeId or endToEndId.
 * @attr {'-created'|'created'|'-amount'|'amount'|'-status'|'status'} sort - The order of the rows; `-` is descending. Newest first by default.
 * @attr {number} page-size - How many rows are loaded at a time, 1 to 100; 50 by default.
 * @attr {boolean} details - Whether a row that is clicked opens a panel with the whole sale and its history.
 * @attr {string} actions - `refund` for a form in the panel that requests a refund from the page by `psa-refund-request`.
 * @attr {boolean} export - Whether there is a button that downloads the sales of the filter as a file.
 * @attr {'pt-BR'|'en'|'es'} locale - The language; by default the page's.
 *
 * @fires psa-sale-update - {sale, previous}. A sale is new, or has changed; `previous` is its status before.
 * @fires psa-sale-select - {sale}. A row was clicked, or Enter pressed on it.
 * @fires psa-refund-request - {sale, amountCents, maxCents, idempotencyKey, respondWith}. The user wants a refund, which the page's server requests.
 * @fires psa-token-expired - The token has expired. Set `token` to a new one, or provide `renewToken`.
 * @fires psa-filter-change - {statuses, filter}. The user has changed the filter; `filter` has the conditions besides the statuses.
 * @fires psa-sort-change - {sort}. The user has changed the order.
 * @fires psa-connection-change - {connection, transport}
 * @fires psa-phase-change - {phase, previous}
 * @fires psa-error - {code, reason, message, retryable}
 *
 * @slot heading - Above the table, beside its filters.
 * @slot empty - In place of the text for an account without sales.
 * @slot details - In the panel of a row, under its title.
 *
 * @csspart base - The whole element.
 * @csspart toolbar - Heading, filters, search and connection.
 * @csspart filter - One button of the filter.
 * @csspart filters-button - Opens the controls of further conditions; hide it where the page has its own.
 * @csspart filters - Those controls.
 * @csspart filter-field - One of them, with its name and what is wrong with it.
 * @csspart apply-button - Asks the server for what the controls say.
 * @csspart clear-button - Empties them.
 * @csspart search - The field of the search.
 * @csspart export-button - Downloads the sales.
 * @csspart new-button - Shows the new sales that wait.
 * @csspart connection - The state of the connection.
 * @csspart summary - The totals by status.
 * @csspart error - The error, and what to do.
 * @csspart retry-button - Retries.
 * @csspart scroller - The scroll container of the rows.
 * @csspart table
 * @csspart header - The row of column names.
 * @csspart sort-button - The button in a column's name that sorts by it.
 * @csspart row - One sale.
 * @csspart status - The sale's status.
 * @csspart empty - The text where there is no sale.
 * @csspart skeleton - The placeholder while the first page is loaded.
 * @csspart footer - How many sales there are.
 * @csspart more-button - Loads the remaining sales, so that the order holds for all.
 * @csspart details - The panel of a sale.
 * @csspart close-button - Closes it.
 * @csspart refund-button - Opens the form of a refund.
 * @csspart refund-send-button - Requests the refund.
 *
 * @cssproperty --psa-color-primary - Buttons.
 * @cssproperty --psa-color-on-primary - Text on the primary color.
 * @cssproperty --psa-color-surface - The table.
 * @cssproperty --psa-color-text
 * @cssproperty --psa-color-muted - Less important text.
 * @cssproperty --psa-color-success - Paid sales.
 * @cssproperty --psa-color-warning - Refunded sales.
 * @cssproperty --psa-color-danger - Failed sales.
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
 * @cssstate forbidden - The token is valid, and reads no sales.
 */
export class PsaSales extends TotalsElement<Sale, Texts, SaleStatus> {
  // A getter, for a static field becomes a static block, which Babel's settings of React Native refuse.
  static override get styles() {
    return [boardStyles, listStyles, styles, narrowStyles].map((text) => unsafeCSS(text));
  }

  static override get properties() {
    return { ...TotalsElement.properties, ...propertiesOf(sales), actions: {} };
  }

  /** The shown statuses, separated by spaces. */
  declare statuses: string;
  /** The shown methods, separated by spaces. */
  declare methods: string | undefined;
  declare createdAfter: string | undefined;
  declare createdBefore: string | undefined;
  declare amountCents: number | undefined;
  declare search: string | undefined;
  declare sort: SaleSort;
  /** The requests that the details offer, separated by spaces. */
  declare actions: string | undefined;

  declare addEventListener: Listener<PsaSalesEventMap> & LitElement['addEventListener'];
  declare removeEventListener: Listener<PsaSalesEventMap> & LitElement['removeEventListener'];

  constructor() {
    super(sales, new BoardTexts<Texts>(catalog));
    this.statuses = '';
  }

  /** The loaded sales in the order of the table, drawn or not. */
  get sales(): readonly Sale[] {
    return this.data.list.shown;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'psa-sales': PsaSales;
  }
}
