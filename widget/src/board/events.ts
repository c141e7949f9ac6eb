import type { PsaCheckoutEventMap } from '../events.ts';
import type { BoardPhase } from './board-host.ts';

/** The events of every element of a board. All bubble and are composed. */
export interface BoardEventMap {
  'psa-token-expired': CustomEvent<object>;
  'psa-connection-change': PsaCheckoutEventMap['psa-connection-change'];
  'psa-phase-change': CustomEvent<{ phase: BoardPhase; previous: BoardPhase }>;
  'psa-error': PsaCheckoutEventMap['psa-error'];
}

/** The listeners of an element itself: `psa-phase-change` has other phases than the event of `<psa-checkout>`. */
export type Listener<Events> = <Name extends keyof Events>(
  type: Name,
  listener: (event: Events[Name]) => unknown,
  options?: boolean | AddEventListenerOptions,
) => void;
