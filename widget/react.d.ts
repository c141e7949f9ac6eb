import type { PsaCheckout as Checkout, PsaCheckoutAttributes, PsaCheckoutEventMap } from '@psa/checkout';
import type { PsaDisputes, PsaDisputesAttributes, PsaDisputesEventMap } from '@psa/checkout/disputes';
import type { PsaPayouts, PsaPayoutsAttributes, PsaPayoutsEventMap } from '@psa/checkout/payouts';
import type { PsaSales, PsaSalesAttributes, PsaSalesEventMap } from '@psa/checkout/sales';
import type { PsaStatement, PsaStatementAttributes, PsaStatementEventMap } from '@psa/checkout/statement';
import type { PsaWallet, PsaWalletAttributes, PsaWalletEventMap } from '@psa/checkout/wallet';
import type { DetailedHTMLProps, HTMLAttributes, ReactElement } from 'react';

type Camel<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** The properties of the attributes that have a dash in their names: `amountCents` beside `amount-cents`. */
type Properties<Attributes> = { [Name in keyof Attributes & string as Camel<Name>]?: Attributes[Name] };

/** Props for React 19, which sets properties that the element has and attributes otherwise, and listens by `onpsa-paid` etc. */
export type Props<Element, Attributes, Events> = DetailedHTMLProps<HTMLAttributes<Element>, Element> &
  Attributes &
  Properties<Attributes> & { [Name in keyof Events & string as `on${Name}`]?: (event: Events[Name]) => void };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'psa-checkout': Props<Checkout, PsaCheckoutAttributes, PsaCheckoutEventMap>;
      'psa-disputes': Props<PsaDisputes, PsaDisputesAttributes, PsaDisputesEventMap>;
      'psa-payouts': Props<PsaPayouts, PsaPayoutsAttributes, PsaPayoutsEventMap>;
      'psa-sales': Props<PsaSales, PsaSalesAttributes, PsaSalesEventMap>;
      'psa-statement': Props<PsaStatement, PsaStatementAttributes, PsaStatementEventMap>;
      'psa-wallet': Props<PsaWallet, PsaWalletAttributes, PsaWalletEventMap>;
    }
  }
}

/** `<psa-checkout>` as a component, for pages that a server renders too; it registers the element. */
export declare function PsaCheckout(
  props: Props<Checkout, PsaCheckoutAttributes, PsaCheckoutEventMap>,
): ReactElement;
