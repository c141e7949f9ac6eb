import { PsaPayouts as Element } from '../payouts/define.ts';
import { createComponent } from './component.ts';

/** `<psa-payouts>` as a component of React, for pages that a server renders too. */
export const PsaPayouts = createComponent('psa-payouts', Element);
