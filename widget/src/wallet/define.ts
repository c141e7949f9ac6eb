import { PsaWallet } from './psa-wallet.ts';

// A page may load a second copy, and a server has no custom elements: neither is an error.
if (typeof customElements !== 'undefined' && !customElements.get('psa-wallet'))
  customElements.define('psa-wallet', PsaWallet);

export { PsaWallet };
