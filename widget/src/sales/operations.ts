import { SALE } from '../board/updates.ts';
import type { Page, PageVariables } from '../list/row-list.ts';
import type { Totals } from '../list/totals.ts';

// The GraphQL documents of the sales and the types of their results; operations.check.ts fails to compile when they differ from
// schema.graphql.

/** The status of a sale. UNKNOWN is one of a newer server. */
export type SaleStatus = 'PENDING' | 'PAID' | 'EXPIRED' | 'REFUNDED' | 'FAILED' | 'UNKNOWN';

/** The method by which a sale is paid. UNKNOWN is one of a newer server. */
export type SalesMethod = 'CARD' | 'PIX' | 'LTC' | 'UNKNOWN';

/** The order of the rows. The server sorts by `created`; for the other orders the loaded rows are sorted. */
export type SaleSort = '-created' | 'created' | '-amount' | 'amount' | '-status' | 'status';

/** A card payment, a payment or a charge, as the holder of a dashboard token sees it. */
export interface Sale {
  __typename: 'CardPayment' | 'Payment' | 'Charge';
  id: string;
  /** The orderCode, the paymentId or the chargeId. */
  reference: string;
  status: SaleStatus;
  /** Whether the status changes no more. */
  isFinal: boolean;
  method: SalesMethod;
  /** The whole amount in cents of BRL. */
  amountCents: number;
  /** The amount that completed refunds have given back; null if it is not known. */
  refundedCents: number | null;
  description: string | null;
  /** Null for a charge, which has none. */
  customer: { name: string | null; email: string | null } | null;
  /** The instant at which the merchant canceled it; null if it was not canceled. */
  canceledAt: string | null;
  createdAt: string | null;
  /** Grows with each change: of two answers the one with the larger version is newer. */
  version: number;
}

export type SalePage = Page<Sale>;

/** The conditions of the server’s filter that the table takes. */
export interface SaleFilter {
  status?: SaleStatus[];
  method?: SalesMethod[];
  createdAfter?: string;
  createdBefore?: string;
  amountCents?: number;
  customer?: { email: string };
  orderId?: string;
  reference?: string;
}

export interface SalePageVariables extends PageVariables {
  filter?: SaleFilter | null;
}

/** The number and the amount of the sales of a filter, by their statuses. */
export type SalesTotals = Totals<SaleStatus>;

/** An update of a sale, or of a refund with its sale. */
export interface SaleUpdate {
  sale?: Sale;
  saleBefore?: SaleStatus | null;
  refund?: { of: Sale | null };
}

/** A whole sale, as its details show it. */
export interface SaleDetails extends Sale {
  customer: {
    name: string | null;
    email: string | null;
    externalId: string | null;
    taxId: string | null;
  } | null;
  orderId: string | null;
  serviceFeeCents: number | null;
  netAmountCents: number | null;
  /** The most that a refund may take now; null if it is not known. */
  refundableCents: number | null;
  /** The amount that was reported as paid, if it is another one. */
  otherPaidCents: number | null;
  expiresAt: string;
  paidAt: string | null;
  paidLate: boolean;
  refundedAt: string | null;
  failureReason: string | null;
  /** Whether a webhook says that it was paid, and the service behind the server does not. */
  unresolved: boolean;
  refunds: SaleRefund[] | null;
  /** Null also to a token without the scope DISPUTES. */
  disputes: SaleDispute[] | null;
  /** The instant at which the money of a card payment reached the balance. */
  releasedAt?: string | null;
  /** The bank's identifier of the PIX. */
  endToEndId?: string | null;
  /** The label of a charge. */
  externalId?: string | null;
  /** The parts of subaccounts in a charge. */
  splits?: { amountCents: number }[];
  returnedCredits?: { amountCents: number; receivedAt: string; returnedAt: string | null }[];
}

export interface SaleRefund {
  refundId: string;
  amountCents: number;
  status: 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'UNKNOWN';
  reason: string | null;
  failureReason: string | null;
  createdAt: string | null;
  completedAt: string | null;
  failedAt: string | null;
}

export interface SaleDispute {
  disputeId: string;
  amountCents: number;
  status: 'OPEN' | 'UNDER_REVIEW' | 'WON' | 'LOST' | 'FORGIVEN' | 'UNKNOWN';
  createdAt: string | null;
  closedAt: string | null;
}

const ARGUMENTS = '($first:Int,$after:String,$last:Int,$before:String,$filter:SaleFilter)' as const;
const LIST =
  `sales(first:$first,after:$after,last:$last,before:$before,filter:$filter){totalCount nodes{${SALE}}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}` as const;

/** The first query. It reads the cursor before the list, so that no update falls between the list and the stream. */
export const SALES_START = `query SalesStart${ARGUMENTS}{updatesCursor updateKinds ${LIST}}` as const;

export const SALES = `query Sales${ARGUMENTS}{${LIST}}` as const;

/** The polling query: the newest sales, and the loaded ones that can still change. */
export const SALES_POLL =
  `query SalesPoll($first:Int,$ids:[ID!]!,$filter:SaleFilter){sales(first:$first,filter:$filter){nodes{${SALE}}}nodes(ids:$ids){...on Sale{${SALE}}}}` as const;

export const SALES_TOTALS =
  'query SalesTotals($filter:SaleFilter){salesTotals(filter:$filter,groupBy:[STATUS]){isExact groups{status count amountCents}}}' as const;

const CREDITS = 'endToEndId returnedCredits{amountCents receivedAt returnedAt}';
export const SALE_DETAILS =
  `query SaleDetails($id:ID!){node(id:$id){...on Sale{${SALE} customer{externalId taxId}orderId serviceFeeCents netAmountCents refundableCents otherPaidCents expiresAt paidAt paidLate refundedAt failureReason unresolved refunds{refundId amountCents status reason failureReason createdAt completedAt failedAt}disputes{disputeId amountCents status createdAt closedAt}}...on CardPayment{releasedAt}...on Payment{${CREDITS}}...on Charge{${CREDITS} externalId splits{amountCents}}}}` as const;
