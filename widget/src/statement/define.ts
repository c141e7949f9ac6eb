import { PsaStatement } from './psa-statement.ts';

// A page may load a second copy, and a server has no custom elements: neither is an error.
if (typeof customElements !== 'undefined' && !customElements.get('psa-statement'))
  customElements.define('psa-statement', PsaStatement);

export { PsaStatement };
