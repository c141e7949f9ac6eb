import type { Clock } from '../kernel/clock.ts';
import type { Requester } from '../kernel/requester.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { MirroredResource, UpstreamFamily } from '../kernel/upstream-family.ts';
import type { Committer } from '../state/commit/commit.ts';
import type { Database } from '../state/db/database.ts';
import type { Records } from '../state/db/records.ts';
import type { Intents, RequestKind } from './intents/operations.ts';
import type { MirrorWriter } from './mirror-writer.ts';
import type { Poll } from './poller.ts';
import type { Reads } from './reads.ts';
import type { ServiceClock } from './service-clock.ts';
import type { RequestOptions, Upstream } from './upstream.ts';
import type { WebhookClaim } from './webhook-claim.ts';

/** The dependencies of every slice's remote side. */
export interface UpstreamDependencies {
  /** The database, whose single statements wait until all that was shown is written. */
  readonly database: Database;
  readonly committer: Committer;
  readonly mirrorWriter: MirrorWriter;
  /** The mark of records that were set back: they lack the service's statements since then. */
  readonly records: Pick<Records, 'behind' | 'lastKnown'>;
  readonly clock: Clock;
  readonly upstream: Upstream;
  /** The service's clock, by which it dates its resources. */
  readonly serviceClock: ServiceClock;
  readonly reads: Reads;
  readonly intents: Intents;
  /**
   * The families whose requests the service accepts, as the operator has configured; requests of other
   * families are not sent.
   */
  readonly families: ReadonlySet<UpstreamFamily>;
  /** Polls a resource now if it is followed, because a request or a webhook has changed its known state. */
  pollNow(tenant: Tenant, resource: MirroredResource): void;
  /** Reports a fault that no caller sees, for the log. */
  onFault(fault: unknown): void;
}

/** A slice whose resources are mirrored: its port over HTTP, and how its mirror is refreshed. */
export interface RemoteSlice<Service> {
  serviceFor(requester: Requester): Service;
  poll: Poll;
  /**
   * Reads these resources from the service, by the names in webhooks or by our own ids.
   * @throws RateLimitError, UpstreamFault, PaymentError
   */
  refresh(tenant: Tenant, references: readonly string[], requestOptions: RequestOptions): Promise<void>;
  /** Reads a webhook; null if it is about another slice's resource. */
  readWebhook(payload: unknown): WebhookClaim | null;
  /** The kinds of requests that must not be made twice, by name. */
  requests: Readonly<Record<string, RequestKind>>;
}

/**
 * The options of a caller's query. A merchant's query precedes a payer's, whose share of the budget is
 * capped.
 */
export function requestOptionsFor({ priority, subject }: Requester): RequestOptions {
  return priority === 'payer' ? { priority: 'payer', subject } : { priority: 'query' };
}
