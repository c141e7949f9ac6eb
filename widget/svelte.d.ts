import type { PsaCheckout, PsaCheckoutAttributes, PsaCheckoutEventMap } from '@psa/checkout';
import type { HTMLAttributes } from 'svelte/elements';

declare module 'svelte/elements' {
  interface SvelteHTMLElements {
    'psa-checkout': HTMLAttributes<PsaCheckout> &
      PsaCheckoutAttributes & {
        [Name in keyof PsaCheckoutEventMap as `on${Name}`]?: (event: PsaCheckoutEventMap[Name]) => void;
      };
  }
}
