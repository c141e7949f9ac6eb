import type { MirroredResource } from '../kernel/upstream-family.ts';
import type { Observation } from './mirror.ts';

/** A webhook's claim about a resource, compared with the mirror at once and with the service later. */
export interface WebhookClaim {
  readonly resource: MirroredResource;
  /** The event's name for the resource, by which it is looked up. */
  readonly reference: string;
  readonly observation: Observation;
  /** Whether the event names the resource alone, so that it may contradict any state. The next one has the same bytes, and another id. */
  readonly isNameOnly?: boolean;
  /**
   * The hash of the input of the request that made the resource, where the event gives all of it: a request in doubt
   * with this input is looked up.
   */
  readonly inputHash?: string | null;
}
