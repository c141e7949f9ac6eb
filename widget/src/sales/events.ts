import type { BoardEventMap } from '../board/events.ts';
import type { Answerable } from '../board/page-request.ts';
import type { Sale, SaleFilter, SaleSort, SaleStatus } from './operations.ts';

/** A refund that the user wants, which the page's server requests. */
export interface RefundRequest extends Answerable {
  sale: Sale;
  amountCents: number;
  /** The most that could be refunded when the form was sent. */
  maxCents: number;
  /** The same for every attempt at this refund: as the key of the mutation it lets none happen twice. */
  idempotencyKey: string;
}

/** The events of `<psa-sales>`. All bubble and are composed. */
export interface PsaSalesEventMap extends BoardEventMap {
  'psa-sale-update': CustomEvent<{ sale: Sale; previous: SaleStatus | undefined }>;
  'psa-sale-select': CustomEvent<{ sale: Sale }>;
  'psa-refund-request': CustomEvent<RefundRequest>;
  'psa-filter-change': CustomEvent<{
    statuses: readonly SaleStatus[];
    filter: SaleFilter | undefined;
  }>;
  'psa-sort-change': CustomEvent<{ sort: SaleSort }>;
}

declare global {
  // The others are declared with the elements that have them, too.
  interface HTMLElementEventMap
    extends Pick<PsaSalesEventMap, 'psa-sale-update' | 'psa-sale-select' | 'psa-refund-request'> {}
}
