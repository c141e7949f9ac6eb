import { STREAM } from '../../src/board/updates.ts';
import type { Page, PageVariables } from '../../src/list/row-list.ts';

// The GraphQL documents of the subscriptions and the types of their results; operations.check.ts fails to compile when they
// differ from schema.graphql.

/** The statuses of subscriptions, as the filter lists them. */
export const STATUSES = ['PENDING', 'ACTIVE', 'PAST_DUE', 'CANCELED', 'COMPLETED', 'EXPIRED'] as const;
export type SubscriptionStatus = (typeof STATUSES)[number] | 'UNKNOWN';

export type Interval = 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'SEMIANNUAL' | 'YEARLY' | 'UNKNOWN';

/** A recurring PIX, as the table shows it. */
export interface Subscription {
  id: string;
  subscriptionId: string;
  status: SubscriptionStatus;
  /** The amount of each cycle. */
  amountCents: number;
  interval: Interval;
  description: string | null;
  customer: { name: string | null; email: string | null } | null;
  nextDueAt: string | null;
  cancelReason: 'MERCHANT' | 'PAYER' | 'UNPAID' | 'UNKNOWN' | null;
  createdAt: string | null;
  isFinal: boolean;
  version: number;
}

/** One debit of a subscription. */
export interface Cycle {
  number: number;
  status: 'SCHEDULED' | 'RETRYING' | 'PAID' | 'FAILED' | 'CANCELED' | 'UNKNOWN';
  amountCents: number;
  dueAt: string | null;
  attempts: number;
  nextAttemptAt: string | null;
  failureReason: string | null;
  paidAt: string | null;
  /** The payment of the cycle; null to a token that reads no payments. */
  payment: { paymentId: string; refundedCents: number | null } | null;
}

/** A whole subscription, as its details show it. */
export interface WholeSubscription extends Subscription {
  customer: {
    name: string | null;
    email: string | null;
    externalId: string | null;
    taxId: string | null;
  } | null;
  endsAfterCycles: number | null;
  expiresAt: string | null;
  canceledAt: string | null;
  checkoutUrl: string | null;
  returnedCredits: { amountCents: number; receivedAt: string; returnedAt: string | null }[];
  /** The newest of them. */
  cycles: { totalCount: number; nodes: Cycle[] };
}

/** The conditions of the server’s filter that the list takes. */
export interface SubscriptionFilter {
  status?: SubscriptionStatus[];
  reference?: string;
  customer?: { email: string } | { externalId: string };
  amountCents?: number;
  createdAfter?: string;
  createdBefore?: string;
}

export interface SubscriptionVariables extends PageVariables {
  filter?: SubscriptionFilter | null;
}

export interface SubscriptionsAnswer {
  subscriptions: Page<Subscription>;
}

export interface SubscriptionUpdate {
  subscriptionBefore: SubscriptionStatus | null;
  subscription: Subscription;
}

const FIELDS =
  'id subscriptionId status amountCents interval description customer{name email}nextDueAt cancelReason createdAt isFinal version' as const;
const ARGUMENTS =
  '($first:Int,$after:String,$last:Int,$before:String,$filter:PixSubscriptionFilter)' as const;
const LIST =
  `subscriptions(first:$first,after:$after,last:$last,before:$before,filter:$filter){totalCount nodes{${FIELDS}}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}` as const;

/** The first query. It reads the cursor before the list, so that no change falls between the list and the stream. */
export const SUBSCRIPTIONS_START =
  `query ConsoleSubscriptionsStart${ARGUMENTS}{updatesCursor ${LIST}}` as const;

export const SUBSCRIPTIONS = `query ConsoleSubscriptions${ARGUMENTS}{${LIST}}` as const;

/** The polling query: the newest subscriptions, and the loaded ones that can still change. */
export const SUBSCRIPTIONS_POLL =
  `query ConsoleSubscriptionsPoll($first:Int,$ids:[ID!]!,$filter:PixSubscriptionFilter){subscriptions(first:$first,filter:$filter){nodes{${FIELDS}}}nodes(ids:$ids){...on PixSubscription{${FIELDS}}}}` as const;

/** The rest of one subscription, with its last hundred cycles. */
export const SUBSCRIPTION_DETAILS =
  `query ConsoleSubscription($id:ID!){node(id:$id){...on PixSubscription{${FIELDS} customer{externalId taxId}endsAfterCycles expiresAt canceledAt checkoutUrl returnedCredits{amountCents receivedAt returnedAt}cycles(first:100){totalCount nodes{number status amountCents dueAt attempts nextAttemptAt failureReason paidAt payment{paymentId refundedCents}}}}}}` as const;

/** The changes of subscriptions and of their cycles in the stream of the account. */
export const SUBSCRIPTION_UPDATES =
  `${STREAM}...on PixSubscriptionUpdate{subscriptionBefore:previousStatus subscription{${FIELDS}}}}}` as const;
