import type { BoardAttributes } from '../board/attributes.ts';
import type { Texts } from './locales/texts.ts';
import type { SaleSort } from './operations.ts';

/** The attributes of `<psa-sales>` for typed markup. */
export interface PsaSalesAttributes extends BoardAttributes<Texts> {
  statuses?: string | undefined;
  methods?: string | undefined;
  'created-after'?: string | undefined;
  'created-before'?: string | undefined;
  'amount-cents'?: number | undefined;
  search?: string | undefined;
  sort?: SaleSort | undefined;
  'page-size'?: number | undefined;
  details?: boolean | undefined;
  actions?: string | undefined;
  export?: boolean | undefined;
}
