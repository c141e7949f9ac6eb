import { PsaPayouts } from './psa-payouts.ts';

// A second copy on the page, or a server without custom elements, is no reason to fail.
if (typeof customElements !== 'undefined' && !customElements.get('psa-payouts'))
  customElements.define('psa-payouts', PsaPayouts);

export { PsaPayouts };
