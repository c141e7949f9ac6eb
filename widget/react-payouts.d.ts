import type { PsaPayouts as Payouts, PsaPayoutsAttributes, PsaPayoutsEventMap } from '@psa/checkout/payouts';
import type { Props } from '@psa/checkout/react';
import type { ReactElement } from 'react';

/** `<psa-payouts>` as a component, for pages that a server renders too; it registers the element. */
export declare function PsaPayouts(
  props: Props<Payouts, PsaPayoutsAttributes, PsaPayoutsEventMap>,
): ReactElement;
