import type { Observation } from './mirror.ts';
import type { MirroredResource } from './mirror-store.ts';

/** What a webhook says of a resource: a claim, to be held against what is known now and against the service later. */
export interface WebhookClaim {
  readonly resource: MirroredResource;
  /** As the event calls it: what it is looked up by. */
  readonly reference: string;
  readonly observation: Observation;
  /** Of the request that has made it, where the event says all of that: an outcome that was unknown may be known now. */
  readonly inputHash?: string | null;
}
