import { live } from '../live/live.ts';
import { waitBefore } from '../live/protocol.ts';
import { PsaError, type PsaServerOptions, request } from './request.ts';

/** The root field of each topic, the default selection of its resource, and what else its updates tell. */
const TOPICS = {
  cardPayments: [
    'allCardPaymentUpdates',
    'cardPayment',
    'orderCode externalId metadata status amountCents version',
  ],
  payments: ['allPaymentUpdates', 'payment', 'paymentId externalId metadata status amountCents version'],
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

type TopicFields = readonly [field: string, resource: string, selection: string, change?: string];

export type Topic = keyof typeof TOPICS;

/** One change. `resource` has the fields that were selected; of an id the larger `version` is the newer. */
export interface FollowedUpdate<Resource = Record<string, unknown>> {
  cursor: string;
  occurredAt: string;
  /** Null in the first event of a resource; undefined for subaccounts, which have no status. */
  previousStatus?: string | null;
  /** The new entry of a subaccount's statement; null in the update that reports the opening. Only subaccounts have it. */
  entry?: FollowedEntry | null;
  resource: Resource;
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

export interface FollowOptions<Resource> extends PsaServerOptions {
  /** Reads the cursor that `save` has stored last; null before the first. */
  load(): string | null | Promise<string | null>;
  /** Stores the cursor: all before it is handled. */
  save(cursor: string): unknown;
  /** Handles an update. Once its promise is resolved, the cursor is saved and the next update is read. */
  onUpdate(update: FollowedUpdate<Resource>): unknown;
  /**
   * Called at the first start, and where the log no longer goes on from the stored cursor: compare your records with the
   * server's lists. Updates from the beginning of this call on come after it.
   */
  reconcile(reason: 'first' | 'expired'): unknown;
  /** Fields of the resource, in place of the usual ones: `orderCode status customer { email }`. */
  fields?: string | undefined;
  /** Ends it. */
  signal?: AbortSignal | undefined;
  /** Called before each further attempt, with what has ended the last one. */
  onRetry?: ((cause: unknown) => void) | undefined;
  /** Waits between attempts, in place of a timer. */
  wait?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

export const TOPIC_NAMES = Object.keys(TOPICS) as Topic[];

/** The subscription of a topic. */
export function documentOf(topic: Topic, fields?: string): string {
  const [field, resource, selection, change = 'previousStatus']: TopicFields = TOPICS[topic];
  return `subscription($after:String){${field}(after:$after){cursor occurredAt ${change} resource:${resource}{${fields ?? selection}}}}`;
}

/**
 * Follows all resources of a topic from where the last run has ended: over cuts, restarts of either side and expired
 * cursors. Each update is handled at least once: again after a crash before `save`. To handle it exactly once, store
 * `update.cursor` in the transaction of `onUpdate`. Ends at an abort; rejects where `onUpdate`, or the `save` after it, does,
 * and where the server refuses for good. Without a cursor it asks for one, and calls `reconcile` and `save`: where one of the
 * three fails with a retryable `PsaError`, all are repeated; any other error rejects.
 */
export async function follow<Resource = Record<string, unknown>>(
  topic: Topic,
  { load, save, onUpdate, reconcile, fields, signal, onRetry, wait, ...server }: FollowOptions<Resource>,
): Promise<void> {
  const never = new AbortController().signal;

  /** Takes the cursor before the records are compared, so that nothing falls between. */
  async function begin(reason: 'first' | 'expired'): Promise<string | null> {
    for (let attempt = 0; !signal?.aborted; attempt += 1) {
      try {
        const cursor = await request<string>(server, '{updatesCursor}');
        await reconcile(reason);
        await save(cursor);
        return cursor;
      } catch (error) {
        if (!(error instanceof PsaError && error.isRetryable)) throw error;
        onRetry?.(error);
        await (wait ?? pause)(waitBefore(attempt, 0), signal ?? never);
      }
    }
    return null;
  }

  const after = (await load()) ?? (await begin('first'));
  if (after === null || signal?.aborted) return;
  const updates = live<FollowedUpdate<Resource>>({
    endpoint: server.endpoint,
    getToken: () => server.key,
    query: documentOf(topic, fields),
    after,
    signal,
    onGap: () => begin('expired'),
    onRetry,
    wait,
    fetch: server.fetch,
  });
  for await (const update of updates) {
    if (signal?.aborted) return;
    await onUpdate(update);
    await save(update.cursor);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
