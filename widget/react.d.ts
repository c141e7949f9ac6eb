import type { CustomerInput, Labels, PsaCheckout } from '@psa/checkout';
import type { DetailedHTMLProps, HTMLAttributes } from 'react';

/** React 19 sets properties and takes `onpsa-paid` and the like as they are. */
type PsaCheckoutProps = DetailedHTMLProps<HTMLAttributes<PsaCheckout>, PsaCheckout> & {
  endpoint?: string;
  token?: string;
  mode?: 'auto' | 'popup' | 'tab' | 'redirect';
  transport?: 'auto' | 'ws' | 'sse' | 'poll';
  'amount-cents'?: number;
  'order-code'?: string;
  'payment-token'?: string;
  locale?: string;
  'resume-key'?: string;
  disabled?: boolean;
  customer?: CustomerInput;
  labels?: Partial<Labels>;
} & { [event in `onpsa-${string}`]?: (event: CustomEvent) => void };

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'psa-checkout': PsaCheckoutProps;
    }
  }
}
