import { PsaPayouts } from './psa-payouts.ts';

// A page may load a second copy, and a server has no custom elements: neither is an error.
if (typeof customElements !== 'undefined' && !customElements.get('psa-payouts'))
  customElements.define('psa-payouts', PsaPayouts);

export { PsaPayouts };
