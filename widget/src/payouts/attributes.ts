import type { Texts } from './locales/texts.ts';
import type { PayoutSort } from './payout-list.ts';
import type { PayoutsHost } from './payouts-host.ts';

/** The attributes of `<psa-payouts>` for typed markup; the last two are properties without an attribute. */
export interface PsaPayoutsAttributes {
  endpoint?: string | undefined;
  token?: string | undefined;
  transport?: PayoutsHost['transport'] | undefined;
  statuses?: string | undefined;
  methods?: string | undefined;
  'requested-after'?: string | undefined;
  'requested-before'?: string | undefined;
  'amount-cents'?: number | undefined;
  'external-id'?: string | undefined;
  reference?: string | undefined;
  sort?: PayoutSort | undefined;
  'page-size'?: number | undefined;
  locale?: string | undefined;
  labels?: Partial<Texts> | undefined;
  renewToken?: PayoutsHost['renewToken'];
}
