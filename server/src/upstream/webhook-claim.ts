import type { Observation } from './mirror.ts';
import type { MirroredResource } from './mirror-store.ts';

/** A webhook's claim about a resource, compared with the mirror at once and with the service later. */
export interface WebhookClaim {
  readonly resource: MirroredResource;
  /** The event's name for the resource, by which it is looked up. */
  readonly reference: string;
  readonly observation: Observation;
  /**
   * The input of the request that has made it, where the event gives all of it: an unknown outcome may be known now.
   */
  readonly inputHash?: string | null;
}
