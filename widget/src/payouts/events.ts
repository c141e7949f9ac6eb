import type { PsaCheckoutEventMap } from '../events.ts';
import type { Payout, PayoutFilter, PayoutStatus } from './operations.ts';
import type { PayoutSort } from './payout-list.ts';
import type { PayoutsPhase } from './payouts-host.ts';

/** The events of `<psa-payouts>`. All bubble and are composed. */
export interface PsaPayoutsEventMap {
  'psa-payout-update': CustomEvent<{ payout: Payout; previous: PayoutStatus | undefined }>;
  'psa-payout-select': CustomEvent<{ payout: Payout }>;
  'psa-token-expired': CustomEvent<object>;
  'psa-filter-change': CustomEvent<{
    statuses: readonly PayoutStatus[];
    filter: PayoutFilter | undefined;
  }>;
  'psa-sort-change': CustomEvent<{ sort: PayoutSort }>;
  'psa-connection-change': PsaCheckoutEventMap['psa-connection-change'];
  'psa-phase-change': CustomEvent<{ phase: PayoutsPhase; previous: PayoutsPhase }>;
  'psa-error': PsaCheckoutEventMap['psa-error'];
}

/** The listeners of the element itself: `psa-phase-change` has other phases than the event of `<psa-checkout>`. */
export type ListenerMethod = <Name extends keyof PsaPayoutsEventMap>(
  type: Name,
  listener: (event: PsaPayoutsEventMap[Name]) => unknown,
  options?: boolean | AddEventListenerOptions,
) => void;

declare global {
  // They bubble, so that any element may listen. Events of both elements are declared with the other one.
  interface HTMLElementEventMap extends Omit<PsaPayoutsEventMap, keyof PsaCheckoutEventMap> {}
}
