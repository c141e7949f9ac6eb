import type { PsaCheckout, PsaCheckoutAttributes, PsaCheckoutEventMap } from '@psa/checkout';
import type { PsaPayouts, PsaPayoutsAttributes, PsaPayoutsEventMap } from '@psa/checkout/payouts';
import type { DetailedHTMLProps, HTMLAttributes } from 'react';

/** Props for React 19, which sets properties that the element has and attributes otherwise, and listens by `onpsa-paid` etc. */
type Props<Element, Attributes, Events> = DetailedHTMLProps<HTMLAttributes<Element>, Element> &
  Attributes & { [Name in keyof Events & string as `on${Name}`]?: (event: Events[Name]) => void };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'psa-checkout': Props<PsaCheckout, PsaCheckoutAttributes, PsaCheckoutEventMap>;
      'psa-payouts': Props<PsaPayouts, PsaPayoutsAttributes, PsaPayoutsEventMap>;
    }
  }
}
