import type { Props } from '@psa/checkout/react';
import type {
  PsaStatementAttributes,
  PsaStatementEventMap,
  PsaStatement as Statement,
} from '@psa/checkout/statement';
import type { ReactElement } from 'react';

/** `<psa-statement>` as a component, for pages that a server renders too; it registers the element. */
export declare function PsaStatement(
  props: Props<Statement, PsaStatementAttributes, PsaStatementEventMap>,
): ReactElement;
