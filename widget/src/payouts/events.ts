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
  // The events bubble, so that any element may listen. Those that `<psa-checkout>` has, too, are declared there.
  interface HTMLElementEventMap extends Omit<PsaPayoutsEventMap, keyof PsaCheckoutEventMap> {}
}
