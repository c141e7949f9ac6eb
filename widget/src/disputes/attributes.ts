import type { BoardAttributes } from '../board/attributes.ts';
import type { Texts } from './locales/texts.ts';
import type { DisputeSort } from './operations.ts';

/** The attributes of `<psa-disputes>` for typed markup. */
export interface PsaDisputesAttributes extends BoardAttributes<Texts> {
  statuses?: string | undefined;
  'created-after'?: string | undefined;
  'created-before'?: string | undefined;
  'amount-cents'?: number | undefined;
  reference?: string | undefined;
  sort?: DisputeSort | undefined;
  'page-size'?: number | undefined;
  export?: boolean | undefined;
  details?: boolean | undefined;
  actions?: string | undefined;
}
