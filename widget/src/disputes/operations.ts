import { DISPUTE } from '../board/updates.ts';
import type { Page, PageVariables } from '../list/row-list.ts';

// The GraphQL documents of the disputes and the types of their results; operations.check.ts fails to compile when they
// differ from schema.graphql.

/** The statuses of disputes, as the filter lists them. */
export const STATUSES = ['OPEN', 'UNDER_REVIEW', 'WON', 'LOST', 'FORGIVEN'] as const;

/** The status of a dispute. UNKNOWN is one of a newer server. */
export type DisputeStatus = (typeof STATUSES)[number] | 'UNKNOWN';

/** The reason of the payer's bank. UNKNOWN is one that the server does not know. */
export type DisputeReason = 'FRAUD' | 'OPERATIONAL_ERROR' | 'UNKNOWN';

/** The disputed sale. */
export interface DisputedSale {
  /** The orderCode, the paymentId or the chargeId. */
  reference: string;
  method: 'PIX' | 'CARD' | 'LTC' | 'UNKNOWN';
  description: string | null;
  /** The number of your order. */
  orderId: string | null;
  /** Null for a charge, which has none. */
  customer: { name: string | null } | null;
}

/** A claim of a payer's bank, as the holder of a dashboard token sees it. */
export interface Dispute {
  id: string;
  disputeId: string;
  status: DisputeStatus;
  reason: DisputeReason;
  /** The claimed amount in cents of BRL. */
  amountCents: number;
  /** The part of it that is held of the balance. */
  blockedCents: number;
  /** The time until which the dispute takes a defence; null if it is unknown. */
  evidenceDueAt: string | null;
  /** The seconds until then by the server's clock, when the row was read. */
  evidenceDueInSeconds: number | null;
  /** The submissions of the defence, oldest first. */
  evidence: { submittedAt: string | null }[];
  /** The files that were uploaded for it, oldest first. */
  files: { fileId: string; name: string; sha256: string }[];
  /** Null if it is unknown, and to a token that does not read sales of its kind. */
  of: DisputedSale | null;
  createdAt: string | null;
  /** The time of the decision. */
  closedAt: string | null;
  /** The time at which the claim was accepted, by which the dispute was lost. */
  acceptedAt: string | null;
  /** Whether the status can change no more: a lost dispute may still be forgiven. */
  isFinal: boolean;
  /** Grows with each change: of two answers the one with the larger version is newer. */
  version: number;
}

/** The conditions of the server’s filter that the list takes. */
export interface DisputeFilter {
  status?: DisputeStatus[];
  createdAfter?: string;
  createdBefore?: string;
  amountCents?: number;
  reference?: string;
}

export interface DisputeVariables extends PageVariables {
  filter?: DisputeFilter | null;
}

/** The order of the rows. The server sorts by `created`; for the other orders the loaded rows are sorted. */
export type DisputeSort =
  | '-created'
  | 'created'
  | 'due'
  | '-due'
  | '-amount'
  | 'amount'
  | 'status'
  | '-status';

export interface DisputeUpdate {
  disputeBefore: DisputeStatus | null;
  dispute: Dispute;
}

/** A submission of the defence, as it was sent. */
export interface DisputeEvidence {
  text: string | null;
  documents: { url: string; description: string | null }[];
  fileIds: string[];
  submittedAt: string | null;
}

/** A dispute with the texts of its defence. */
export interface WholeDispute extends Dispute {
  submissions: DisputeEvidence[];
}

const ARGUMENTS = '($first:Int,$after:String,$last:Int,$before:String,$filter:DisputeFilter)' as const;
const LIST =
  `disputes(first:$first,after:$after,last:$last,before:$before,filter:$filter){totalCount nodes{${DISPUTE}}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}` as const;

/** The first query. It reads the cursor before the list, so that no change falls between the list and the stream. */
export const DISPUTES_START = `query DisputesStart${ARGUMENTS}{updatesCursor ${LIST}}` as const;

export const DISPUTES = `query Disputes${ARGUMENTS}{${LIST}}` as const;

/** The polling query: the newest disputes, and the loaded ones that can still change. */
export const DISPUTES_POLL =
  `query DisputesPoll($first:Int,$ids:[ID!]!,$filter:DisputeFilter){disputes(first:$first,filter:$filter){nodes{${DISPUTE}}}nodes(ids:$ids){...on Dispute{${DISPUTE}}}}` as const;

/** The rest of one dispute, which is too large for a list. */
export const DISPUTE_DETAILS =
  `query DisputeDetails($id:ID!){node(id:$id){...on Dispute{${DISPUTE} submissions:evidence{text documents{url description}fileIds submittedAt}}}}` as const;

export interface DisputesAnswer {
  disputes: Page<Dispute>;
}
