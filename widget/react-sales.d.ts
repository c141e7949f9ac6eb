import type { Props } from '@psa/checkout/react';
import type { PsaSalesAttributes, PsaSalesEventMap, PsaSales as Sales } from '@psa/checkout/sales';
import type { ReactElement } from 'react';

/** `<psa-sales>` as a component, for pages that a server renders too; it registers the element. */
export declare function PsaSales(props: Props<Sales, PsaSalesAttributes, PsaSalesEventMap>): ReactElement;
