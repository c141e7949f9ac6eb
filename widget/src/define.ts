import { PsaCheckout } from './psa-checkout.ts';

// A page may load a second copy, and a server has no custom elements: neither is an error.
if (typeof customElements !== 'undefined' && !customElements.get('psa-checkout'))
  customElements.define('psa-checkout', PsaCheckout);

export { PsaCheckout };
