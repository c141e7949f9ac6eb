// The changes of an account, which all elements of a page follow in one stream, and the rows in them, which the documents of the
// lists have, too. updates.check.ts fails to compile when the subscriptions differ from schema.graphql.

/** The changes that an element follows. */
export interface Topic {
  /** The kinds in `accountUpdates`. */
  kinds: readonly string[];
  /** The subscription where every element of the stream has this one. */
  alone: () => string;
  /**
   * The subscription where others have another one: to the changes of every element, and `kinds` selects. The payouts go without
   * it, for each other element has it, and so does a list that is alone on its page.
   */
  among?: () => string;
}

export const PAYOUT =
  'id withdrawalId code method amountCents serviceFeeCents feeCents:serviceFeeCents destination status isFinal deniedReason requestedAt processedAt version';

export const DISPUTE =
  'id disputeId status reason amountCents blockedCents evidenceDueAt evidenceDueInSeconds evidence{submittedAt}files{fileId name sha256}of{method description orderId customer{name}...on CardPayment{reference:orderCode}...on Payment{reference:paymentId}...on Charge{reference:chargeId}}createdAt closedAt acceptedAt isFinal version';

const ANY_SALE =
  '__typename id status isFinal method amountCents refundedCents description customer{name email} canceledAt createdAt version';
export const SALE =
  `${ANY_SALE} ...on CardPayment{reference:orderCode}...on Payment{reference:paymentId}...on Charge{reference:chargeId}` as const;

export const WALLET_FIGURES =
  'balanceCents withdrawableCents pendingReleaseCents disputeBlockedCents subaccountsBalanceCents receivableCents cryptoBalanceLtc sandbox';

/** The beginning of a subscription to what an element shows, which two braces end. */
export const STREAM =
  'subscription BoardUpdates($after:String,$kinds:[AccountUpdateKind!]){accountUpdates(after:$after,kinds:$kinds){cursor ';

// A `previousStatus` has the name of its type, where two types of it meet.
const payout = () => `...on PayoutUpdate{previousStatus payout{${PAYOUT}}}` as const;
const dispute = () => `...on DisputeUpdate{disputeBefore:previousStatus dispute{${DISPUTE}}}` as const;
const sale = () =>
  `...on CardPaymentUpdate{saleBefore:previousStatus sale:cardPayment{${ANY_SALE} reference:orderCode}}...on PaymentUpdate{saleBefore:previousStatus sale:payment{${ANY_SALE} reference:paymentId}}...on ChargeUpdate{saleBefore:previousStatus sale:charge{${ANY_SALE} reference:chargeId}}...on RefundUpdate{refund{of{${SALE}}}}` as const;
const wallet = () => `...on WalletUpdate{occurredAt wallet{${WALLET_FIGURES}}}` as const;

// They are functions, so that a bundle has only those that it calls.
export const payoutUpdates = () => `${STREAM}${payout()}}}` as const;
export const disputeUpdates = () => `${STREAM}${dispute()}}}` as const;
export const saleUpdates = () => `${STREAM}${sale()}}}` as const;
export const walletUpdates = () => `${STREAM}${wallet()}}}` as const;
/** Each change of the wallet has written entries. */
export const statementUpdates = () => `${STREAM}...on WalletUpdate{occurredAt}}}` as const;

/** The subscription of a page with several elements. What is not in its `kinds` is neither read nor sent. */
export const boardUpdates = () => `${STREAM}${payout()}${dispute()}${sale()}${wallet()}}}` as const;
