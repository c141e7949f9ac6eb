import { PsaCheckout as Element } from '../define.ts';
import { createComponent } from './component.ts';

/** `<psa-checkout>` as a component of React, for pages that a server renders too. */
export const PsaCheckout = createComponent('psa-checkout', Element);
