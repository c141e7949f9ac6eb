import type { MirroredResource } from '../kernel/upstream-family.ts';
import type { Observation } from './mirror.ts';

/** A webhook's claim about a resource, compared with the mirror at once and with the service later. */
export interface WebhookClaim {
  readonly resource: MirroredResource;
  /** The event's name for the resource, by which it is looked up. */
  readonly reference: string;
  readonly observation: Observation;
  /**
   * Whether the event gives only the name of the resource, so that it may follow any state. The next event
   * may have the same bytes, with another id.
   */
  readonly isNameOnly?: boolean;
  /**
   * The hash of the input of the request that made the resource, if the event shows all of it. A request in
   * doubt with this input is looked up.
   */
  readonly inputHash?: string | null;
}
