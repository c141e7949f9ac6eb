import { PAYOUT } from '../board/updates.ts';
import type { Page, PageVariables } from '../list/row-list.ts';
import type { Totals } from '../list/totals.ts';
import type { PayoutMethod } from './methods.ts';

// The table's GraphQL documents and the types of their results. The interfaces are written by hand so that the published
// types need no GraphQL library; operations.check.ts fails to compile when they differ from schema.graphql.

/** The status of a payout. UNKNOWN is an upstream status that the server does not know. */
export type PayoutStatus = 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'DENIED' | 'RETURNED' | 'UNKNOWN';

/** The order of the rows. The server sorts by `requested`; for the other orders the loaded rows are sorted. */
export type PayoutSort = '-requested' | 'requested' | '-amount' | 'amount' | '-status' | 'status';

/** A payout, as the holder of a dashboard token sees it. */
export interface Payout {
  id: string;
  /** Null while it is unknown whether the service has created the payout. */
  withdrawalId: string | null;
  /** The code SAQ-…, which support asks for; null while it is unknown. */
  code: string | null;
  method: PayoutMethod;
  /** The debited amount in cents of BRL, fee included. */
  amountCents: number;
  /** The fee in cents; null if it is unknown. */
  serviceFeeCents: number | null;
  /** @deprecated Use `serviceFeeCents`, which is the same. */
  feeCents: number | null;
  /** PIX key (masked), LTC address or USDT address. */
  destination: string;
  status: PayoutStatus;
  /** Whether the status is COMPLETED, DENIED or RETURNED and no longer changes, unless a COMPLETED payout comes back. */
  isFinal: boolean;
  deniedReason: string | null;
  requestedAt: string | null;
  /** The instant at which the payout was completed or denied. */
  processedAt: string | null;
  /** Grows with each change: of two answers the one with the larger version is newer. */
  version: number;
}

export type PayoutPage = Page<Payout>;

export interface PayoutPageVariables extends PageVariables {
  filter?: PayoutFilter | null;
}

/** The conditions of the server’s filter that the table takes. */
export interface PayoutFilter {
  status?: PayoutStatus[];
  method?: PayoutMethod[];
  requestedAfter?: string;
  requestedBefore?: string;
  amountCents?: number;
  externalId?: string;
  reference?: string;
}

/** The number and the amount of the payouts of a filter, by their statuses. */
export type PayoutTotals = Totals<PayoutStatus>;

/** The kind of a destination. UNKNOWN is one of a newer server. */
export type DestinationKind =
  | 'CPF'
  | 'CNPJ'
  | 'EMAIL'
  | 'PHONE'
  | 'RANDOM'
  | 'LTC_ADDRESS'
  | 'TRON_ADDRESS'
  | 'ERC20_ADDRESS'
  | 'UNKNOWN';

/** A whole payout, as its details show it. */
export interface PayoutDetails extends Payout {
  destinationKind: DestinationKind | null;
  /** The amount that the destination receives; null if the fee is unknown. */
  netAmountCents: number | null;
  /** The amount that was debited from the LTC balance; null if reais were. */
  amountLtc: string | null;
  externalId: string | null;
  /** The bank's identifier of the PIX. */
  endToEndId: string | null;
  returnedAt: string | null;
  /** Whether it is unknown if the service has made this payout. */
  inDoubt: boolean;
  /** The time by which that is known. */
  knownBy: string | null;
}

export interface PayoutUpdate {
  /** The position of this update in the stream, for `after`. */
  cursor: string;
  previousStatus: PayoutStatus | null;
  payout: Payout;
}

const PAGE =
  `totalCount nodes{${PAYOUT}}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}` as const;
const ARGUMENTS = '($first:Int,$after:String,$last:Int,$before:String,$filter:PayoutFilter)' as const;
const LIST = `payouts(first:$first,after:$after,last:$last,before:$before,filter:$filter){${PAGE}}` as const;

/** The first query. It reads the cursor before the list, so that no update falls between the list and the stream. */
export const START = `query PayoutsStart${ARGUMENTS}{updatesCursor ${LIST}}` as const;

export const PAYOUTS = `query Payouts${ARGUMENTS}{${LIST}}` as const;

/** The polling query: the newest payouts, and the loaded ones that can still change. */
export const POLL =
  `query PayoutsPoll($first:Int,$ids:[ID!]!,$filter:PayoutFilter){payouts(first:$first,filter:$filter){nodes{${PAYOUT}}}nodes(ids:$ids){...on Payout{${PAYOUT}}}}` as const;

export const PAYOUT_TOTALS =
  'query PayoutTotals($filter:PayoutFilter){payoutTotals(filter:$filter,groupBy:[STATUS]){isExact groups{status count amountCents}}}' as const;

export const PAYOUT_DETAILS =
  `query PayoutDetails($id:ID!){node(id:$id){...on Payout{${PAYOUT} destinationKind netAmountCents amountLtc externalId endToEndId returnedAt inDoubt knownBy}}}` as const;
