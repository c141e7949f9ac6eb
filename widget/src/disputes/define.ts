import { PsaDisputes } from './psa-disputes.ts';

// A page may load a second copy, and a server has no custom elements: neither is an error.
if (typeof customElements !== 'undefined' && !customElements.get('psa-disputes'))
  customElements.define('psa-disputes', PsaDisputes);

export { PsaDisputes };
