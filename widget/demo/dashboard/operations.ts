// The dashboard's GraphQL documents and the types of their results; operations.check.ts checks both against schema.graphql.

export interface Wallet {
  balanceCents: number | null;
  disputeBlockedCents: number | null;
  withdrawableCents: number | null;
  pendingReleaseCents: number | null;
  receivableCents: number | null;
  subaccountsBalanceCents: number | null;
  cryptoBalanceLtc: string | null;
}

export type SubaccountPayoutStatus = 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'UNKNOWN';

export interface SubaccountPayout {
  id: string;
  code: string | null;
  subaccountId: string;
  status: SubaccountPayoutStatus;
  reversed: boolean;
  amountCents: number;
  netAmountCents: number | null;
  pixKey: string | null;
  recipientName: string | null;
  failureReason: string | null;
  createdAt: string;
  completedAt: string | null;
  version: number;
}

export type CardPaymentStatus = 'PENDING' | 'PAID' | 'EXPIRED' | 'REFUNDED' | 'FAILED' | 'UNKNOWN';

export interface CardPayment {
  orderCode: string;
  status: CardPaymentStatus;
  amountCents: number;
  description: string | null;
  customer: { name: string | null } | null;
  createdAt: string | null;
  paidAt: string | null;
  refundedAt: string | null;
  canceledAt: string | null;
  /** Null if the service does not report it. */
  refundedCents: number | null;
  refundableCents: number | null;
  failureReason: string | null;
  /** Oldest first. Null if the service does not report them. */
  refunds: CompletedRefund[] | null;
  version: number;
}

/** A refund, as far as the row of its payment needs it. */
export type CompletedRefund = Pick<RefundOfPix, 'status' | 'amountCents' | 'completedAt'>;

/** The words of a card payment's status. */
export type PixPaymentStatus = CardPaymentStatus;

/** A payment or a charge by PIX. */
export interface PaidByPix {
  status: PixPaymentStatus;
  amountCents: number;
  description: string | null;
  createdAt: string | null;
  paidAt: string | null;
  paidLate: boolean;
  refundedAt: string | null;
  /** Null if the service does not report it. */
  refundedCents: number | null;
  refundableCents: number | null;
  failureReason: string | null;
  returnedCredits: { amountCents: number; cause: string; returnedAt: string | null }[];
  /** Oldest first. Null if the service does not report them. */
  refunds: RefundOfPix[] | null;
  version: number;
}

/** A payment by PIX or LTC. */
export interface PixPayment extends PaidByPix {
  paymentId: string;
  method: 'CARD' | 'PIX' | 'LTC' | 'UNKNOWN';
  ltc: { amountLtc: string; confirmations: number; requiredConfirmations: number | null } | null;
  customer: { name: string | null; email: string | null } | null;
}

export interface Charge extends PaidByPix {
  chargeId: string;
  splits: { subaccountId: string; amountCents: number; refundedCents: number }[];
}

export type SubscriptionStatus =
  | 'PENDING'
  | 'ACTIVE'
  | 'PAST_DUE'
  | 'CANCELED'
  | 'COMPLETED'
  | 'EXPIRED'
  | 'UNKNOWN';

export interface Subscription {
  subscriptionId: string;
  status: SubscriptionStatus;
  amountCents: number;
  interval: string;
  description: string | null;
  customer: { name: string | null; email: string | null } | null;
  createdAt: string | null;
  nextDueAt: string | null;
  cancelReason: string | null;
  /** The newest, newest first. */
  cycles: {
    totalCount: number;
    nodes: { number: number; status: string; attempts: number; failureReason: string | null }[];
  };
  isFinal: boolean;
  version: number;
}

export interface RefundOfPix {
  refundId: string;
  status: Refund['status'];
  amountCents: number;
  failureReason: string | null;
  completedAt: string | null;
}

export interface Refund {
  status: 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'UNKNOWN';
  failureReason: string | null;
  of: ({ __typename: 'CardPayment' } & CardPayment) | { __typename: 'Payment' | 'Charge' } | null;
}

export type DisputeStatus = 'OPEN' | 'UNDER_REVIEW' | 'WON' | 'LOST' | 'FORGIVEN' | 'UNKNOWN';

export interface Dispute {
  disputeId: string;
  status: DisputeStatus;
  reason: 'FRAUD' | 'OPERATIONAL_ERROR' | 'UNKNOWN';
  amountCents: number;
  blockedCents: number;
  evidence: {
    text: string | null;
    documents: { url: string; description: string | null }[];
    fileIds: string[];
    submittedAt: string | null;
  }[];
  files: { fileId: string; name: string }[];
  evidenceDueAt: string | null;
  createdAt: string | null;
  closedAt: string | null;
  version: number;
  of:
    | ({ __typename: 'CardPayment' } & CardPayment)
    | {
        __typename: 'Payment';
        paymentId: string;
        description: string | null;
        customer: { name: string | null } | null;
      }
    | { __typename: 'Charge'; chargeId: string; description: string | null }
    | null;
}

/** The id of a disputed payment. */
export function idOfDisputed(of: NonNullable<Dispute['of']>): string {
  if (of.__typename === 'Payment') return of.paymentId;
  return of.__typename === 'Charge' ? of.chargeId : of.orderCode;
}

export type WebhookDeliveryStatus = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'HELD' | 'CANCELED';

export interface WebhookDelivery {
  webhookId: string;
  event: string;
  url: string;
  status: WebhookDeliveryStatus;
  attempts: { at: string; responseStatus: number | null; error: string | null; durationMs: number }[];
  nextAttemptAt: string | null;
  createdAt: string;
}

/** Content that the payers of a product are given. A dashboard's token does not see the content itself. */
export interface ProductContent {
  deliveryId: string;
  kind: 'TEXT' | 'LINK' | 'CODES' | 'UNKNOWN';
  product: { name: string | null } | null;
  productId: string | null;
  deliveredCount: number | null;
  remainingCount: number | null;
  /** Whether it can be delivered at this moment. */
  stock: 'READY' | 'LOW' | 'EMPTY';
  createdAt: string | null;
}

export interface StoreProduct {
  storeProductId: string;
  name: string | null;
  price: string | null;
  priceCents: number | null;
  available: boolean | null;
}

export interface Page<Item> {
  nodes: Item[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

export interface Subaccount {
  subaccountId: string;
  name: string | null;
  payouts: Page<SubaccountPayout>;
}

const WALLET =
  'balanceCents disputeBlockedCents withdrawableCents pendingReleaseCents receivableCents subaccountsBalanceCents cryptoBalanceLtc' as const;
const SUBACCOUNT_PAYOUT =
  'id code subaccountId status reversed amountCents netAmountCents pixKey recipientName failureReason createdAt completedAt version' as const;
const CARD_PAYMENT =
  'orderCode status amountCents description customer{name} createdAt paidAt refundedAt canceledAt refundedCents refundableCents failureReason refunds{status amountCents completedAt} version' as const;
const PAID_BY_PIX =
  'status amountCents description createdAt paidAt paidLate refundedAt refundedCents refundableCents failureReason returnedCredits{amountCents cause returnedAt} refunds{refundId status amountCents failureReason completedAt} version' as const;
const PIX_PAYMENT =
  `paymentId method ltc{amountLtc confirmations requiredConfirmations} customer{name email} ${PAID_BY_PIX}` as const;
const SUBSCRIPTION =
  'subscriptionId status amountCents interval description customer{name email} createdAt nextDueAt cancelReason cycles(first:3){totalCount nodes{number status attempts failureReason}} isFinal version' as const;
const CHARGE = `chargeId splits{subaccountId amountCents refundedCents} ${PAID_BY_PIX}` as const;
const DISPUTE =
  `disputeId status reason amountCents blockedCents evidence{text documents{url description}fileIds submittedAt}files{fileId name}evidenceDueAt createdAt closedAt version of{__typename ...on CardPayment{${CARD_PAYMENT}}...on Payment{paymentId description customer{name}}...on Charge{chargeId description}}` as const;
const DELIVERY =
  'webhookId event url status attempts{at responseStatus error durationMs} nextAttemptAt createdAt' as const;
const PAGE_INFO = 'pageInfo{hasNextPage endCursor}' as const;

/** The first query. It reads the cursor before the lists, so that no update falls between them and the streams. */
export const START =
  `query Start{updatesCursor wallet{${WALLET}}cardPayments(first:50){nodes{${CARD_PAYMENT}}${PAGE_INFO}}subaccounts(first:20){nodes{subaccountId name payouts(first:10){nodes{${SUBACCOUNT_PAYOUT}}${PAGE_INFO}}}${PAGE_INFO}}}` as const;

export const MORE_CARD_PAYMENTS =
  `query MoreCardPayments($after:String,$status:[PaymentStatus!]){cardPayments(first:50,after:$after,filter:{status:$status}){nodes{${CARD_PAYMENT}}${PAGE_INFO}}}` as const;
/** A query of its own: a service that offers no PIX payments refuses it, and nothing else. */
export const PIX_PAYMENTS =
  `query PixPayments($after:String,$status:[PaymentStatus!]){payments(first:50,after:$after,filter:{status:$status}){nodes{${PIX_PAYMENT}}${PAGE_INFO}}}` as const;
export const CHARGES =
  `query Charges($after:String,$status:[PaymentStatus!]){charges(first:50,after:$after,filter:{status:$status}){nodes{${CHARGE}}${PAGE_INFO}}}` as const;
/** A query of its own: a service that offers no disputes refuses it, and nothing else. */
export const DISPUTES =
  `query Disputes($after:String,$status:[DisputeStatus!]){disputes(first:50,after:$after,filter:{status:$status}){nodes{${DISPUTE}}${PAGE_INFO}}}` as const;
/** Shows whether the service offers refunds: those of a payment are read with it. */
export const REFUNDS = 'query Refunds{refunds(first:1){nodes{refundId}}}' as const;
/** Queries of their own, as that of PIX payments. */
export const PRODUCT_CONTENTS =
  `query ProductContents($after:String,$stock:[DeliveryStock!]){deliveries(first:50,after:$after,filter:{stock:$stock}){nodes{deliveryId kind product{name} productId deliveredCount remainingCount stock createdAt}${PAGE_INFO}}}` as const;
export const STORE_PRODUCTS =
  `query StoreProducts($after:String){storeProducts(first:50,after:$after){nodes{storeProductId name price priceCents available}${PAGE_INFO}}}` as const;
/** The same for subscriptions. */
export const SUBSCRIPTIONS =
  `query Subscriptions($after:String,$status:[PixSubscriptionStatus!]){subscriptions(first:50,after:$after,filter:{status:$status}){nodes{${SUBSCRIPTION}}${PAGE_INFO}}}` as const;
export const WEBHOOK_DELIVERIES =
  `query WebhookDeliveries($after:String,$status:[WebhookDeliveryStatus!]){webhookDeliveries(first:50,after:$after,filter:{status:$status}){nodes{${DELIVERY}}${PAGE_INFO}}}` as const;
export const MORE_SUBACCOUNTS =
  `query MoreSubaccounts($after:String,$status:[SubaccountPayoutStatus!]){subaccounts(first:20,after:$after){nodes{subaccountId name payouts(first:10,filter:{status:$status}){nodes{${SUBACCOUNT_PAYOUT}}${PAGE_INFO}}}${PAGE_INFO}}}` as const;
export const MORE_SUBACCOUNT_PAYOUTS =
  `query MoreSubaccountPayouts($subaccountId:String!,$after:String,$status:[SubaccountPayoutStatus!]){subaccount(subaccountId:$subaccountId){payouts(first:50,after:$after,filter:{status:$status}){nodes{${SUBACCOUNT_PAYOUT}}${PAGE_INFO}}}}` as const;
/** Shows by its age whether a service still answers. */
export const WALLET_ALONE = `query Wallet{wallet{${WALLET}}}` as const;
const OF_HOURS = 'isExact groups{hour amountCents}' as const;
const OF_METHODS = 'isExact groups{hour method amountCents}' as const;
/** The sums of each hour of a day, in and out. */
export const DAY_TOTALS =
  `query DayTotals($from:DateTime!,$before:DateTime!){cardPaymentTotals(filter:{paidAfter:$from,paidBefore:$before},groupBy:[HOUR]){${OF_HOURS}}paymentTotals(filter:{paidAfter:$from,paidBefore:$before},groupBy:[HOUR,METHOD]){${OF_METHODS}}chargeTotals(filter:{paidAfter:$from,paidBefore:$before},groupBy:[HOUR]){${OF_HOURS}}payoutTotals(filter:{processedAfter:$from,processedBefore:$before,status:[COMPLETED]},groupBy:[HOUR,METHOD]){${OF_METHODS}}subaccountPayoutTotals(filter:{completedAfter:$from,completedBefore:$before,status:[COMPLETED]},groupBy:[HOUR]){${OF_HOURS}}refundTotals(filter:{completedAfter:$from,completedBefore:$before,status:[COMPLETED]},groupBy:[HOUR]){${OF_HOURS}}}` as const;
/** The sums of payments that were refunded whole, by the hours of a day. */
export const REFUNDED_TOTALS =
  `query RefundedTotals($from:DateTime!,$before:DateTime!){cardPaymentTotals(filter:{refundedAfter:$from,refundedBefore:$before},groupBy:[HOUR]){${OF_HOURS}}paymentTotals(filter:{refundedAfter:$from,refundedBefore:$before},groupBy:[HOUR,METHOD]){${OF_METHODS}}chargeTotals(filter:{refundedAfter:$from,refundedBefore:$before},groupBy:[HOUR]){${OF_HOURS}}}` as const;
export const SUBACCOUNT_NAMES =
  'query SubaccountNames{subaccounts(first:20){nodes{subaccountId name}}}' as const;

export const WALLET_UPDATES =
  `subscription WalletUpdates($after:String){walletUpdates(after:$after){cursor occurredAt wallet{${WALLET}}}}` as const;
/** Payouts change the sums of the day alone: their table follows them by itself. */
export const PAYOUT_UPDATES =
  'subscription PayoutUpdates($after:String){allPayoutUpdates(after:$after){cursor occurredAt payout{id}}}' as const;
export const SUBACCOUNT_PAYOUT_UPDATES =
  `subscription SubaccountPayoutUpdates($after:String){allSubaccountPayoutUpdates(after:$after){cursor occurredAt subaccountPayout{${SUBACCOUNT_PAYOUT}}}}` as const;
export const CARD_PAYMENT_UPDATES =
  `subscription CardPaymentUpdates($after:String){allCardPaymentUpdates(after:$after){cursor occurredAt cardPayment{${CARD_PAYMENT}}}}` as const;

/** Each refund changes its payment, so that its state is in these updates. */
export const PIX_PAYMENT_UPDATES =
  `subscription PixPaymentUpdates($after:String){allPaymentUpdates(after:$after){cursor occurredAt payment{${PIX_PAYMENT}}}}` as const;

export const CHARGE_UPDATES =
  `subscription ChargeUpdates($after:String){allChargeUpdates(after:$after){cursor occurredAt charge{${CHARGE}}}}` as const;

/** A dispute of a card payment changes what can be refunded of it, without an update of the card payment. */
export const DISPUTE_UPDATES =
  `subscription DisputeUpdates($after:String){allDisputeUpdates(after:$after){cursor occurredAt dispute{${DISPUTE}}}}` as const;

/** Each cycle changes its subscription. */
export const SUBSCRIPTION_UPDATES =
  `subscription SubscriptionUpdates($after:String){allSubscriptionUpdates(after:$after){cursor occurredAt subscription{${SUBSCRIPTION}}}}` as const;

/** A refund of a part changes its card payment's amounts without an update of the card payment. */
export const REFUND_UPDATES =
  `subscription RefundUpdates($after:String){allRefundUpdates(after:$after){cursor occurredAt refund{status failureReason of{__typename ...on CardPayment{${CARD_PAYMENT}}}}}}` as const;

export interface TotalsOfHours {
  /** Whether everything is in the sums. */
  isExact: boolean;
  groups: { hour: string | null; method?: string | null; amountCents: number }[];
}

export type DayTotalsData = Record<
  | 'cardPaymentTotals'
  | 'paymentTotals'
  | 'chargeTotals'
  | 'payoutTotals'
  | 'subaccountPayoutTotals'
  | 'refundTotals',
  TotalsOfHours
>;

export interface SubaccountNames {
  subaccounts: { nodes: Pick<Subaccount, 'subaccountId' | 'name'>[] };
}

export interface StartData {
  updatesCursor: string;
  wallet: Wallet;
  cardPayments: Page<CardPayment>;
  subaccounts: Page<Subaccount>;
}
