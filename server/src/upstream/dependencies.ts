import type { Committer } from '../commit/commit.ts';
import type { Database } from '../db/database.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Requester } from '../kernel/requester.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { Intents, RequestKind } from './intents/operations.ts';
import type { Correction } from './mirror.ts';
import type { MirroredResource } from './mirror-store.ts';
import type { Poll } from './poller.ts';
import type { Reads } from './reads.ts';
import type { RequestOptions, Upstream } from './upstream.ts';
import type { WebhookClaim } from './webhook-claim.ts';

/** What every slice's remote side stands on. */
export interface UpstreamDependencies {
  readonly database: Database;
  readonly committer: Committer;
  readonly clock: Clock;
  readonly upstream: Upstream;
  readonly reads: Reads;
  readonly intents: Intents;
  /** Something has begun or changed: it is looked at now, if somebody follows it. */
  pollNow(tenant: Tenant, resource: MirroredResource): void;
  onFault(fault: unknown): void;
  /** For the log and the metrics. */
  onCorrection(correction: Correction): void;
}

/** A slice whose resources are mirrored: its port over HTTP, and how its mirror is kept new. */
export interface RemoteSlice<Service> {
  serviceFor(requester: Requester): Service;
  poll: Poll;
  /** Asks for these, by what a sighting called them or by our own ids. @throws RateLimitError, UpstreamFault, PaymentError */
  refresh(tenant: Tenant, references: readonly string[], requestOptions: RequestOptions): Promise<void>;
  /** What a webhook says, where it speaks of one of them. */
  readWebhook(payload: unknown): WebhookClaim | null;
  /** The kinds of requests that must not be made twice, by name. */
  requests: Readonly<Record<string, RequestKind>>;
}

/** A query of a person comes before one of a payer, whose share is capped. */
export function requestOptionsFor({ priority, subject }: Requester): RequestOptions {
  return priority === 'payer' ? { priority: 'payer', subject } : { priority: 'query' };
}
