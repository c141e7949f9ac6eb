// The topics of follow.ts: what each subscription selects, and the types of what comes.

/** The root field of each topic, its resource with the fields that are selected, and what else its updates report. */
export const TOPICS = {
  cardPayments: [
    'allCardPaymentUpdates',
    'cardPayment',
    'orderCode orderId externalId:orderId metadata status amountCents version',
  ],
  payments: [
    'allPaymentUpdates',
    'payment',
    'paymentId orderId externalId:orderId metadata status amountCents version',
  ],
  charges: ['allChargeUpdates', 'charge', 'chargeId status amountCents version'],
  refunds: ['allRefundUpdates', 'refund', 'refundId status amountCents'],
  payouts: ['allPayoutUpdates', 'payout', 'id withdrawalId code status amountCents version'],
  subaccountPayouts: ['allSubaccountPayoutUpdates', 'subaccountPayout', 'code status amountCents'],
  subscriptions: ['allSubscriptionUpdates', 'subscription', 'subscriptionId status amountCents version'],
  disputes: ['allDisputeUpdates', 'dispute', 'disputeId status amountCents'],
  subaccounts: [
    'allSubaccountUpdates',
    'subaccount',
    'subaccountId externalId balanceCents',
    'entry{id kind amountCents balanceAfterCents refId createdAt}',
  ],
  webhookDeliveries: ['allWebhookDeliveryUpdates', 'delivery', 'webhookId event url status nextAttemptAt'],
} as const satisfies Record<string, TopicFields>;

export type TopicFields = readonly [field: string, resource: string, selection: string, change?: string];

/** A kind of resource to follow. */
export type Topic = keyof typeof TOPICS;

type PaymentStatus = 'PENDING' | 'PAID' | 'EXPIRED' | 'FAILED' | 'REFUNDED' | 'UNKNOWN';
type MoneyOutStatus = 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'UNKNOWN';

/** A resource with its status and amount, and the number that grows with each change of it. */
interface Versioned<Status> {
  status: Status;
  amountCents: number;
  version: number;
}

/** The numbers that the merchant has given a payment. */
interface Numbered {
  orderId: string | null;
  /** @deprecated Use `orderId`, which is the same. */
  externalId: string | null;
  metadata: string | null;
}

/** The resource of each topic, with the fields that are selected where `fields` names no others. */
export interface FollowedResources {
  cardPayments: Versioned<PaymentStatus> & Numbered & { orderCode: string };
  payments: Versioned<PaymentStatus> & Numbered & { paymentId: string };
  charges: Versioned<PaymentStatus> & { chargeId: string };
  refunds: Omit<Versioned<MoneyOutStatus>, 'version'> & { refundId: string };
  payouts: Versioned<'PENDING' | 'PROCESSING' | 'COMPLETED' | 'DENIED' | 'RETURNED' | 'UNKNOWN'> & {
    id: string;
    withdrawalId: string | null;
    code: string | null;
  };
  subaccountPayouts: Omit<Versioned<MoneyOutStatus>, 'version'> & { code: string | null };
  subscriptions: Versioned<
    'PENDING' | 'ACTIVE' | 'PAST_DUE' | 'CANCELED' | 'COMPLETED' | 'EXPIRED' | 'UNKNOWN'
  > & { subscriptionId: string };
  disputes: Omit<Versioned<'OPEN' | 'UNDER_REVIEW' | 'WON' | 'LOST' | 'FORGIVEN' | 'UNKNOWN'>, 'version'> & {
    disputeId: string;
  };
  subaccounts: { subaccountId: string; externalId: string | null; balanceCents: number | null };
  webhookDeliveries: {
    webhookId: string;
    event: string;
    url: string;
    status: 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'HELD' | 'CANCELED';
    nextAttemptAt: string | null;
  };
}

/** An entry of a subaccount's statement. */
export interface FollowedEntry {
  id: string;
  kind: string;
  amountCents: number;
  balanceAfterCents: number | null;
  refId: string;
  createdAt: string;
}

/** One change. `resource` has the fields that were selected; of an id the larger `version` is the newer. */
export interface FollowedUpdate<Resource = Record<string, unknown>> {
  cursor: string;
  occurredAt: string;
  /**
   * Null in the first event of a resource; undefined for resources without a status: subaccounts, the wallet and
   * tokens.
   */
  previousStatus?: string | null;
  /** The new entry of a subaccount's statement; null in the update that reports the opening. Only subaccounts have it. */
  entry?: FollowedEntry | null;
  resource: Resource;
}

/** The kinds of `accountUpdates`: the type of the update, and the topic, or the resource and its fields. */
const KINDS = {
  CARD_PAYMENT: ['CardPaymentUpdate', TOPICS.cardPayments],
  PAYMENT: ['PaymentUpdate', TOPICS.payments],
  CHARGE: ['ChargeUpdate', TOPICS.charges],
  REFUND: ['RefundUpdate', TOPICS.refunds],
  PAYOUT: ['PayoutUpdate', TOPICS.payouts],
  SUBACCOUNT_PAYOUT: ['SubaccountPayoutUpdate', TOPICS.subaccountPayouts],
  SUBSCRIPTION: ['PixSubscriptionUpdate', TOPICS.subscriptions],
  DISPUTE: ['DisputeUpdate', TOPICS.disputes],
  SUBACCOUNT: ['SubaccountUpdate', TOPICS.subaccounts],
  WEBHOOK_DELIVERY: ['WebhookDeliveryUpdate', TOPICS.webhookDeliveries],
  WALLET: ['WalletUpdate', ['', 'wallet', 'balanceCents withdrawableCents pendingReleaseCents', '']],
  CHECKOUT_TOKEN: ['CheckoutTokenUpdate', ['', '', 'tokenId pause{reason pausedAt pausedUntil}', '']],
} as const satisfies Record<string, readonly [type: string, fields: TopicFields]>;

/** A kind of what an account has. */
export type AccountKind = keyof typeof KINDS;

/** The resource of each kind, with the fields that are selected where `fields` names no others for it. */
export interface AccountResources {
  CARD_PAYMENT: FollowedResources['cardPayments'];
  PAYMENT: FollowedResources['payments'];
  CHARGE: FollowedResources['charges'];
  REFUND: FollowedResources['refunds'];
  PAYOUT: FollowedResources['payouts'];
  SUBACCOUNT_PAYOUT: FollowedResources['subaccountPayouts'];
  SUBSCRIPTION: FollowedResources['subscriptions'];
  DISPUTE: FollowedResources['disputes'];
  SUBACCOUNT: FollowedResources['subaccounts'];
  WEBHOOK_DELIVERY: FollowedResources['webhookDeliveries'];
  WALLET: {
    balanceCents: number | null;
    withdrawableCents: number | null;
    pendingReleaseCents: number | null;
  };
  /** `pause` is null if the token takes payments again. */
  CHECKOUT_TOKEN: {
    tokenId: string;
    pause: { reason: string; pausedAt: string; pausedUntil: string | null } | null;
  };
}

/** One change of anything that an account has. `kind` tells TypeScript which members `resource` has. */
export type AccountUpdate<Kind extends AccountKind = AccountKind> = {
  [Name in Kind]: FollowedUpdate<AccountResources[Name]> & { kind: Name };
}[Kind];

export const TOPIC_NAMES = Object.keys(TOPICS) as Topic[];
const KIND_NAMES = Object.keys(KINDS) as AccountKind[];

/** The subscription of a topic. */
export function documentOf(topic: Topic, fields?: string): string {
  const [field, resource, selection, change = 'previousStatus']: TopicFields = TOPICS[topic];
  return `subscription($after:String){${field}(after:$after){cursor occurredAt ${change} resource:${resource}{${fields ?? selection}}}}`;
}

/**
 * The subscription to everything. Each kind has field names of its own, because in GraphQL one name cannot mean two
 * enumerations.
 */
export function accountDocument(
  kinds?: readonly AccountKind[],
  fields: Partial<Record<AccountKind, string>> = {},
): string {
  const selections = (kinds ?? KIND_NAMES).map((kind) => {
    const [type, [, resource, selection, change = `${kind}_WAS:previousStatus`]]: readonly [
      string,
      TopicFields,
    ] = KINDS[kind];
    const selected = fields[kind] ?? selection;
    return `...on ${type}{${change} ${resource ? `${kind}:${resource}{${selected}}` : selected}}`;
  });
  const chosen = kinds ? `,kinds:[${kinds.join()}]` : '';
  return `subscription($after:String){accountUpdates(after:$after${chosen}){cursor occurredAt __typename ${selections.join('')}}}`;
}

/** An update as the subscription of everything gives it, under the names of its kind. */
export type RawAccountUpdate = { cursor: string; occurredAt: string; __typename: string } & Record<
  string,
  unknown
>;

/** The update without the names of its kind; null for a kind of a newer server. */
export function readAccountUpdate(raw: RawAccountUpdate): AccountUpdate | null {
  const kind = KIND_NAMES.find((name) => KINDS[name][0] === raw.__typename);
  if (!kind) return null;
  const { cursor, occurredAt, __typename, entry, [kind]: resource, [`${kind}_WAS`]: was, ...own } = raw;
  return {
    kind,
    cursor,
    occurredAt,
    ...(was !== undefined && { previousStatus: was }),
    ...(entry !== undefined && { entry }),
    resource: resource ?? own,
  } as AccountUpdate;
}
