import type { Transport } from './follow/transport.ts';
import type { Labels } from './locales/texts.ts';
import type { CustomerInput } from './operations.ts';
import type { CheckoutMode } from './payment-window.ts';

/** The attributes of `<psa-checkout>` for typed markup; the last three are properties without an attribute. */
export interface PsaCheckoutAttributes {
  endpoint?: string | undefined;
  token?: string | undefined;
  methods?: 'card' | 'pix' | 'pix card' | 'card pix' | undefined;
  mode?: CheckoutMode | undefined;
  transport?: 'auto' | Transport | undefined;
  'amount-cents'?: number | undefined;
  'order-code'?: string | undefined;
  'payment-token'?: string | undefined;
  locale?: string | undefined;
  'resume-key'?: string | undefined;
  disabled?: boolean | undefined;
  customer?: CustomerInput | undefined;
  labels?: Partial<Labels> | undefined;
  renewToken?: (() => Promise<string> | string) | undefined;
}
