import type { Page, PageVariables } from '../list/row-list.ts';

// The GraphQL documents of the statement and the types of their results; operations.check.ts fails to compile when they
// differ from schema.graphql.

/** The kinds of entries, as the filter lists them. */
export const KINDS = [
  'PAYMENT',
  'CHARGE',
  'SPLIT',
  'CARD_PAYMENT',
  'CARD_RELEASE',
  'CREDIT',
  'LTC_CREDIT',
  'PAYOUT',
  'PAYOUT_RETURN',
  'REFUND',
  'REFUND_FAILURE',
  'DISPUTE_HOLD',
  'DISPUTE_RELEASE',
  'SUBACCOUNT_TRANSFER',
  'SUBACCOUNT_PAYOUT',
  'SUBACCOUNT_PAYOUT_RETURN',
  'SUBACCOUNT_MARKUP',
  'TEST_PAYMENT',
  'OBSERVED',
] as const;

/** The reason of a movement. UNKNOWN is one of a newer server. */
export type WalletEntryKind = (typeof KINDS)[number] | 'UNKNOWN';

/** A movement of the account's money, in cents of BRL. It never changes. */
export interface WalletEntry {
  id: string;
  kind: WalletEntryKind;
  /** The signed change of the balance. */
  amountCents: number;
  /** The fee in it; below 0 for one that was given back. */
  serviceFeeCents: number | null;
  pendingReleaseDeltaCents: number;
  disputeBlockedDeltaCents: number;
  subaccountsDeltaCents: number;
  receivableDeltaCents: number;
  cryptoDeltaLtc: string;
  /** The id or the code of what moved the money. */
  reference: string | null;
  subaccountId: string | null;
  createdAt: string;
  /** The wallet right after the entry. */
  after: { balanceCents: number | null };
}

/** The payment, payout or other thing that an entry belongs to, as far as its details name it. */
export interface EntryResource {
  __typename: string;
  /** The code or the id of a sale, a refund, a dispute or a subaccount. */
  code?: string;
  /** The code of a payout. */
  payoutCode?: string | null;
  withdrawalId?: string | null;
  destination?: string;
  /** The merchant's reason of a refund. */
  reason?: string | null;
  name?: string | null;
  description?: string | null;
  orderId?: string | null;
  customer?: { name: string | null; email: string | null } | null;
  /** The sale of a refund or of a dispute. */
  of?: EntryResource | null;
}

/** A whole entry, as its details show it. */
export interface WholeEntry extends WalletEntry {
  /** Null for money that arrived by itself, and to a token that does not read it. */
  resource: EntryResource | null;
  /** In front of another service: the part of the balance that no entry explains. */
  unexplainedCents: number;
  after: {
    balanceCents: number | null;
    pendingReleaseCents: number | null;
    disputeBlockedCents: number | null;
    subaccountsBalanceCents: number | null;
    receivableCents: number | null;
    cryptoBalanceLtc: string | null;
  };
}

/** The conditions of the server’s filter that the statement takes. */
export interface WalletEntryFilter {
  kind?: WalletEntryKind[];
  createdAfter?: string;
  createdBefore?: string;
  amountCents?: number;
  reference?: string;
}

export interface StatementVariables extends PageVariables {
  filter?: WalletEntryFilter | null;
}

/** The order of the rows. */
export type StatementSort = '-created' | 'created';

/** The balances at both ends of a period. */
export interface Closing {
  opening: { balanceCents: number | null };
  closing: { balanceCents: number | null };
}

const FIELDS =
  'id kind amountCents serviceFeeCents pendingReleaseDeltaCents disputeBlockedDeltaCents subaccountsDeltaCents receivableDeltaCents cryptoDeltaLtc reference subaccountId createdAt after{balanceCents}';
const ARGUMENTS = '($first:Int,$after:String,$last:Int,$before:String,$filter:WalletEntryFilter)' as const;
const LIST =
  `wallet{statement(first:$first,after:$after,last:$last,before:$before,filter:$filter){totalCount nodes{${FIELDS}}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}` as const;

/** The first query. It reads the cursor before the list, so that no entry falls between the list and the stream. */
export const STATEMENT_START = `query StatementStart${ARGUMENTS}{updatesCursor ${LIST}}` as const;

export const STATEMENT = `query Statement${ARGUMENTS}{${LIST}}` as const;

/** The newest entries: those that are known never change. */
export const STATEMENT_POLL =
  `query StatementPoll($first:Int,$filter:WalletEntryFilter){wallet{statement(first:$first,filter:$filter){nodes{${FIELDS}}}}}` as const;

const SALE =
  '...on Sale{description orderId customer{name email}}...on CardPayment{code:orderCode}...on Payment{code:paymentId}...on Charge{code:chargeId}';
const OF = `of{__typename ${SALE}}` as const;
export const ENTRY_DETAILS =
  `query EntryDetails($id:ID!){node(id:$id){...on WalletEntry{${FIELDS} after{pendingReleaseCents disputeBlockedCents subaccountsBalanceCents receivableCents cryptoBalanceLtc}unexplainedCents resource{__typename ${SALE}...on Refund{code:refundId reason ${OF}}...on Dispute{code:disputeId ${OF}}...on Payout{payoutCode:code withdrawalId destination}...on Subaccount{code:subaccountId name}}}}}` as const;

export const CLOSING =
  `query StatementClosing($startsAt:DateTime!,$endsAt:DateTime!){wallet{closing(startsAt:$startsAt,endsAt:$endsAt){opening{balanceCents}closing{balanceCents}}}}` as const;

export interface StatementAnswer {
  wallet: { statement: Page<WalletEntry> };
}
