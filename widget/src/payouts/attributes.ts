import type { BoardAttributes } from '../board/attributes.ts';
import type { Texts } from './locales/texts.ts';
import type { PayoutSort } from './operations.ts';

/** The attributes of `<psa-payouts>` for typed markup. */
export interface PsaPayoutsAttributes extends BoardAttributes<Texts> {
  statuses?: string | undefined;
  methods?: string | undefined;
  'requested-after'?: string | undefined;
  'requested-before'?: string | undefined;
  'amount-cents'?: number | undefined;
  'external-id'?: string | undefined;
  reference?: string | undefined;
  sort?: PayoutSort | undefined;
  'page-size'?: number | undefined;
  details?: boolean | undefined;
  export?: boolean | undefined;
}
