import { PsaCheckout } from './psa-checkout.ts';

// A second copy on the page, or a server without custom elements, is no reason to fail.
if (typeof customElements !== 'undefined' && !customElements.get('psa-checkout'))
  customElements.define('psa-checkout', PsaCheckout);

export { PsaCheckout };
