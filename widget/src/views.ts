import type { html as Html, TemplateResult } from 'lit';
import type { CheckoutState } from './checkout-state.ts';
import type { Labels, PixTexts } from './locales/texts.ts';
import type { CheckoutMethod } from './methods.ts';
import type { CheckoutPayment } from './operations.ts';

/** Writes an amount in the language of the element. */
export type Money = (cents: number) => string;

/** The view of payments by PIX in one element. */
export interface PixView {
  /** The texts in Portuguese. */
  texts: PixTexts;
  hint(payment: CheckoutPayment): keyof Labels;
  /** The payee's name in the code; undefined without a code. */
  payee(payment: CheckoutPayment): string | undefined;
  /** Renders the code while it can be paid. */
  code(html: typeof Html, view: PanelView, money: Money): TemplateResult | undefined;
  /** Renders the money that came and was sent back. */
  returned(html: typeof Html, view: PanelView, money: Money): TemplateResult;
}

/** The state and the actions that the panel shows. */
export interface PanelView {
  state: CheckoutState;
  /** The text for the payer if the shown state may be old. */
  notice: string | undefined;
  /** The language of the shown texts; undefined until they are loaded. */
  locale: string | undefined;
  text: (name: keyof Labels) => string;
  /** Seconds until the payment expires; undefined before the server's first answer. */
  seconds: number | undefined;
  /** The address of the payment page, if it is a safe one. */
  url: string | undefined;
  target: '_top' | '_blank';
  /** The view of a payment by PIX. */
  pix: PixView | undefined;
  /** The content that a paid payment has delivered. */
  delivered: TemplateResult | undefined;
  /** The methods that the payer can choose. */
  methods: readonly CheckoutMethod[];
  /** Whether no button may start a payment. */
  disabled: boolean;
  onStart: (method: CheckoutMethod) => void;
  onLink: (event: MouseEvent) => void;
  onRetry: () => void;
  onReset: () => void;
}
