import type { BoardAttributes } from '../board/attributes.ts';
import type { Texts } from './locales/texts.ts';
import type { StatementSort } from './operations.ts';

/** The attributes of `<psa-statement>` for typed markup. */
export interface PsaStatementAttributes extends BoardAttributes<Texts> {
  kinds?: string | undefined;
  'created-after'?: string | undefined;
  'created-before'?: string | undefined;
  'amount-cents'?: number | undefined;
  reference?: string | undefined;
  sort?: StatementSort | undefined;
  'page-size'?: number | undefined;
  details?: boolean | undefined;
  export?: boolean | undefined;
}
