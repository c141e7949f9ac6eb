import type {
  PsaDisputes as Disputes,
  PsaDisputesAttributes,
  PsaDisputesEventMap,
} from '@psa/checkout/disputes';
import type { Props } from '@psa/checkout/react';
import type { ReactElement } from 'react';

/** `<psa-disputes>` as a component, for pages that a server renders too; it registers the element. */
export declare function PsaDisputes(
  props: Props<Disputes, PsaDisputesAttributes, PsaDisputesEventMap>,
): ReactElement;
