import type { Texts } from './locales/texts.ts';
import type { PayoutSort } from './payout-list.ts';
import type { PsaPayouts } from './psa-payouts.ts';

/** What markup can give `<psa-payouts>`, by the names of markup; the last two are properties that have no attribute. */
export interface PsaPayoutsAttributes {
  endpoint?: string | undefined;
  token?: string | undefined;
  transport?: PsaPayouts['transport'] | undefined;
  statuses?: string | undefined;
  sort?: PayoutSort | undefined;
  'page-size'?: number | undefined;
  locale?: string | undefined;
  labels?: Partial<Texts> | undefined;
  renewToken?: PsaPayouts['renewToken'];
}
