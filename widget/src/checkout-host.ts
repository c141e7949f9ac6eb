import type { ReactiveControllerHost } from 'lit';
import type { Transport } from './follow/transport.ts';
import type { CustomerInput } from './operations.ts';
import type { CheckoutMode } from './payment-window.ts';

/** The element as its controller sees it. */
export interface CheckoutHost extends ReactiveControllerHost, HTMLElement {
  endpoint?: string | undefined;
  token?: string | undefined;
  methods: string;
  mode: CheckoutMode;
  transport: 'auto' | Transport;
  amountCents?: number | undefined;
  disabled: boolean;
  orderCode?: string | undefined;
  paymentToken?: string | undefined;
  resumeKey?: string | undefined;
  customer?: CustomerInput | undefined;
  /** Returns a fresh token when the old one has expired. */
  renewToken?: (() => Promise<string> | string) | undefined;
  /** The text of the empty window while the payment is created. */
  readonly openingText: string;
  /** The language that the element shows. */
  readonly language: string;
  readonly renderRoot: HTMLElement | DocumentFragment;
}
