import { PsaWallet as Element } from '../wallet/define.ts';
import { createComponent } from './component.ts';

/** `<psa-wallet>` as a component of React, for pages that a server renders too. */
export const PsaWallet = createComponent('psa-wallet', Element);
