import type { PsaCheckout, PsaCheckoutAttributes, PsaCheckoutEventMap } from '@psa/checkout';
import type { PsaDisputes, PsaDisputesAttributes, PsaDisputesEventMap } from '@psa/checkout/disputes';
import type { PsaPayouts, PsaPayoutsAttributes, PsaPayoutsEventMap } from '@psa/checkout/payouts';
import type { PsaSales, PsaSalesAttributes, PsaSalesEventMap } from '@psa/checkout/sales';
import type { PsaStatement, PsaStatementAttributes, PsaStatementEventMap } from '@psa/checkout/statement';
import type { PsaWallet, PsaWalletAttributes, PsaWalletEventMap } from '@psa/checkout/wallet';
import type { HTMLAttributes, PublicProps } from 'vue';

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

type Listeners<Events> = {
  [Name in keyof Events & string as `on${Capitalize<Camel<Name>>}`]?: (event: Events[Name]) => void;
};

type Props<Attributes, Events> = {
  [Name in keyof Attributes & string as Camel<Name>]?: Attributes[Name];
} & Listeners<Events> &
  Omit<HTMLAttributes, keyof Listeners<Events>> &
  PublicProps;

declare module 'vue' {
  interface GlobalComponents {
    // The shape that template type checking requires; a `ref` is the element itself.
    'psa-checkout': new () => PsaCheckout & { $props: Props<PsaCheckoutAttributes, PsaCheckoutEventMap> };
    'psa-disputes': new () => PsaDisputes & { $props: Props<PsaDisputesAttributes, PsaDisputesEventMap> };
    'psa-payouts': new () => PsaPayouts & { $props: Props<PsaPayoutsAttributes, PsaPayoutsEventMap> };
    'psa-sales': new () => PsaSales & { $props: Props<PsaSalesAttributes, PsaSalesEventMap> };
    'psa-statement': new () => PsaStatement & { $props: Props<PsaStatementAttributes, PsaStatementEventMap> };
    'psa-wallet': new () => PsaWallet & { $props: Props<PsaWalletAttributes, PsaWalletEventMap> };
  }
}
