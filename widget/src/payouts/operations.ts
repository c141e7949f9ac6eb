// The table's documents, and what they answer with. The interfaces are written by hand so that the published types
// need no GraphQL library; operations.check.ts fails to compile when they part from schema.graphql.

/** UNKNOWN is a status that the server itself does not know yet. */
export type PayoutStatus = 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'DENIED' | 'UNKNOWN';
export type PayoutMethod = 'PIX' | 'PIX_TURBO' | 'LTC' | 'USDT' | 'UNKNOWN';

/** One payout, as the server tells it to the holder of a dashboard token. */
export interface Payout {
  id: string;
  /** Null while nobody knows whether the service has made the payout. */
  withdrawalId: string | null;
  /** SAQ-… ; what support asks for. Null where it is not known yet. */
  code: string | null;
  method: PayoutMethod;
  /** What it takes from the merchant, the fee included. In cents of BRL. */
  amountCents: number;
  /** Null where it is unknown. */
  feeCents: number | null;
  /** PIX key (masked), LTC address or USDT address. */
  destination: string;
  status: PayoutStatus;
  /** COMPLETED or DENIED, and no later status can come. */
  final: boolean;
  deniedReason: string | null;
  requestedAt: string | null;
  /** When it was completed or denied. */
  processedAt: string | null;
  /** Grows with each change: of two answers the larger is the newer. */
  version: number;
}

export interface PayoutPage {
  totalCount: number;
  nodes: Payout[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

export interface PayoutPageVariables {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  filter?: { status: PayoutStatus[] } | null;
}

export interface PayoutUpdate {
  /** Where this update stands in the stream; `after` it comes the next one. */
  cursor: string;
  previousStatus: PayoutStatus | null;
  payout: Payout;
}

const FIELDS =
  'id withdrawalId code method amountCents feeCents destination status final deniedReason requestedAt processedAt version';
const PAGE =
  `totalCount nodes{${FIELDS}}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}` as const;
const ARGUMENTS = '($first:Int,$after:String,$last:Int,$before:String,$filter:PayoutFilter)' as const;
const LIST = `payouts(first:$first,after:$after,last:$last,before:$before,filter:$filter){${PAGE}}` as const;

/** The cursor comes first: it is read before the list, so that nothing falls between the list and the stream. */
export const START = `query PayoutsStart${ARGUMENTS}{updatesCursor ${LIST}}` as const;

export const PAYOUTS = `query Payouts${ARGUMENTS}{${LIST}}` as const;

/** What polling asks: the newest, and those of the loaded that can still change. */
export const POLL =
  `query PayoutsPoll($first:Int,$ids:[ID!]!){payouts(first:$first){nodes{${FIELDS}}}nodes(ids:$ids){...on Payout{${FIELDS}}}}` as const;

export const PAYOUT_UPDATES =
  `subscription PayoutUpdates($after:String){allPayoutUpdates(after:$after){cursor previousStatus payout{${FIELDS}}}}` as const;
