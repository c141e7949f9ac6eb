import type { PsaCheckout, PsaCheckoutAttributes, PsaCheckoutEventMap } from '@psa/checkout';
import type { PsaDisputes, PsaDisputesAttributes, PsaDisputesEventMap } from '@psa/checkout/disputes';
import type { PsaPayouts, PsaPayoutsAttributes, PsaPayoutsEventMap } from '@psa/checkout/payouts';
import type { PsaSales, PsaSalesAttributes, PsaSalesEventMap } from '@psa/checkout/sales';
import type { PsaStatement, PsaStatementAttributes, PsaStatementEventMap } from '@psa/checkout/statement';
import type { PsaWallet, PsaWalletAttributes, PsaWalletEventMap } from '@psa/checkout/wallet';
import type { HTMLAttributes } from 'svelte/elements';

type Props<Element extends EventTarget, Attributes, Events> = HTMLAttributes<Element> &
  Attributes & { [Name in keyof Events & string as `on${Name}`]?: (event: Events[Name]) => void };

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'psa-checkout': Props<PsaCheckout, PsaCheckoutAttributes, PsaCheckoutEventMap>;
    'psa-disputes': Props<PsaDisputes, PsaDisputesAttributes, PsaDisputesEventMap>;
    'psa-payouts': Props<PsaPayouts, PsaPayoutsAttributes, PsaPayoutsEventMap>;
    'psa-sales': Props<PsaSales, PsaSalesAttributes, PsaSalesEventMap>;
    'psa-statement': Props<PsaStatement, PsaStatementAttributes, PsaStatementEventMap>;
    'psa-wallet': Props<PsaWallet, PsaWalletAttributes, PsaWalletEventMap>;
  }
}
