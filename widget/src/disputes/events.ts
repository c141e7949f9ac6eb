import type { BoardEventMap } from '../board/events.ts';
import type { Answerable } from '../board/page-request.ts';
import type { Dispute, DisputeFilter, DisputeSort, DisputeStatus } from './operations.ts';

/** A defence that the page submits: it uploads the files, and submits the text with their ids. */
export interface DefenceRequest extends Answerable {
  disputeId: string;
  /** At most 4,000 characters; empty if there are only files. */
  text: string;
  /** At most three with those that the dispute has: PDF, PNG or JPEG of at most 5 MB each, with the type and the ending of their bytes. */
  files: readonly File[];
  /** The files that were uploaded before and that no submission has: it is submitted with these, too. */
  fileIds: readonly string[];
  /** The same for a repetition of the same text and files. */
  idempotencyKey: string;
}

/** A claim that the page accepts, by which the dispute is lost at once. */
export interface AcceptRequest extends Answerable {
  disputeId: string;
}

/** The events of `<psa-disputes>`. All bubble and are composed. */
export interface PsaDisputesEventMap extends BoardEventMap {
  'psa-dispute-update': CustomEvent<{ dispute: Dispute; previous: DisputeStatus | undefined }>;
  'psa-dispute-select': CustomEvent<{ dispute: Dispute }>;
  'psa-defence-request': CustomEvent<DefenceRequest>;
  'psa-accept-request': CustomEvent<AcceptRequest>;
  'psa-filter-change': CustomEvent<{
    statuses: readonly DisputeStatus[];
    filter: DisputeFilter | undefined;
  }>;
  'psa-sort-change': CustomEvent<{ sort: DisputeSort }>;
}

declare global {
  // The others are declared with the elements that have them, too.
  interface HTMLElementEventMap
    extends Pick<
      PsaDisputesEventMap,
      'psa-dispute-update' | 'psa-dispute-select' | 'psa-defence-request' | 'psa-accept-request'
    > {}
}
