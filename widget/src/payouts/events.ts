import type { BoardEventMap } from '../board/events.ts';
import type { PsaCheckoutEventMap } from '../events.ts';
import type { Payout, PayoutFilter, PayoutSort, PayoutStatus } from './operations.ts';

/** The events of `<psa-payouts>`. All bubble and are composed. */
export interface PsaPayoutsEventMap extends BoardEventMap {
  'psa-payout-update': CustomEvent<{ payout: Payout; previous: PayoutStatus | undefined }>;
  'psa-payout-select': CustomEvent<{ payout: Payout }>;
  'psa-filter-change': CustomEvent<{
    statuses: readonly PayoutStatus[];
    filter: PayoutFilter | undefined;
  }>;
  'psa-sort-change': CustomEvent<{ sort: PayoutSort }>;
}

declare global {
  // They bubble, so that any element may listen. Events of both elements are declared with the other one.
  interface HTMLElementEventMap extends Omit<PsaPayoutsEventMap, keyof PsaCheckoutEventMap> {}
}
