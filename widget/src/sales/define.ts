import { PsaSales } from './psa-sales.ts';

// A page may load a second copy, and a server has no custom elements: neither is an error.
if (typeof customElements !== 'undefined' && !customElements.get('psa-sales'))
  customElements.define('psa-sales', PsaSales);

export { PsaSales };
