import type { PsaCheckout, PsaCheckoutAttributes, PsaCheckoutEventMap } from '@psa/checkout';
import type { DetailedHTMLProps, HTMLAttributes } from 'react';

/** React 19 sets what the element has as a property, the rest as attributes, and listens to `onpsa-paid` and the like. */
type PsaCheckoutProps = DetailedHTMLProps<HTMLAttributes<PsaCheckout>, PsaCheckout> &
  PsaCheckoutAttributes & {
    [Name in keyof PsaCheckoutEventMap as `on${Name}`]?: (event: PsaCheckoutEventMap[Name]) => void;
  };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'psa-checkout': PsaCheckoutProps;
    }
  }
}
