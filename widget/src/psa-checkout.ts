import { html, LitElement, nothing, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';
import { CheckoutController } from './checkout-controller.ts';
import type { CheckoutHost } from './checkout-host.ts';
import type { CheckoutConnection, CheckoutError, CheckoutPhase } from './checkout-state.ts';
import type { Transport } from './follow/transport.ts';
import { importAgain } from './import-again.ts';
import { type Language, LOCALES } from './languages.ts';
import { type Locale, resolveLocale } from './locale.ts';
import { first } from './locales/pt-BR.first.ts';
import type { Labels } from './locales/texts.ts';
import { ERROR, icon, LOCK, methodButtons } from './method-buttons.ts';
import type { CheckoutMethod } from './methods.ts';
import { explain, hasSecret } from './mistakes.ts';
import type { CardPaymentStatus, CheckoutPayment, CustomerInput } from './operations.ts';
import type { CheckoutMode } from './payment-window.ts';
import { styles } from './psa-checkout.styles.ts';

export type * from './public-types.ts';

/**
 * A button that starts a payment and follows it to its end. It contains no card field: the payer types the card on the
 * hosted page. A PIX is paid in the page itself, by its code or its QR code. It trusts the server's status alone; a closed window, a message or the return to the shop is a reason to
 * read the status again, never a result.
 *
 * @tagname psa-checkout
 *
 * @attr {string} endpoint - The GraphQL endpoint. On the page at successUrl it may be left out.
 * @attr {string} token - A checkout token, which determines what may be paid.
 * @attr {'card'|'pix'|'pix card'|'card pix'} methods - How the payer can pay, in the order shown, as far as the token takes it; what it takes where that is none of them.
 * @attr {'auto'|'popup'|'tab'|'redirect'} mode - Where the payment page opens. `auto` is a popup, or a redirect in the browser inside another app.
 * @attr {'auto'|'ws'|'sse'|'poll'} transport - How the payment is followed. `auto` tries them in this order.
 * @attr {number} amount-cents - The amount, for a token that allows a range.
 * @attr {string} order-code - Follows a payment that exists, together with payment-token.
 * @attr {string} payment-token - The token that reads the payment of order-code.
 * @attr {'pt-BR'|'en'|'es'} locale - The language; by default the page's.
 * @attr {string} resume-key - The name under which this tab stores the payment; by default derived from the token.
 * @attr {boolean} disabled - The button cannot be pressed.
 *
 * @fires psa-before-start - {method}. Before anything happens; `preventDefault()` stops it.
 * @fires psa-method-change - {method}. The payer has chosen `pix` or `card`, of both.
 * @fires psa-before-redirect - {url, payment, method}. Before the page is left; `preventDefault()` keeps it.
 * @fires psa-created - {payment, method}. The server has created, or found, the payment of this click.
 * @fires psa-checkout-open - {payment, method}. The payment page was opened.
 * @fires psa-checkout-close - {payment, method}. Its window looks closed. A hint only: it may be open still, and never means canceled.
 * @fires psa-popup-blocked - {url, payment, method}. The browser opened no window; the element shows a link.
 * @fires psa-pix-copied - {payment, method}. The PIX code is in the clipboard.
 * @fires psa-status-change - {payment, method, status, previous}. `previous` is undefined for the first one of an element.
 * @fires psa-paid - {payment, method}. Once on each page that sees the payment paid.
 * @fires psa-expired - {payment, method}. The payment is still followed: it may be paid late.
 * @fires psa-refunded - {payment, method}
 * @fires psa-failed - {payment, method}
 * @fires psa-connection-change - {connection, transport}
 * @fires psa-phase-change - {phase, previous}
 * @fires psa-error - {code, reason, message, retryable}
 *
 * @slot - The button's label; of two buttons the name of their group, for screen readers.
 * @slot icon - In front of the label of a lone button.
 * @slot footer - Below everything.
 * @slot idle - Below the button.
 * @slot creating - Below the button while the payment is created.
 * @slot pending - In place of the amount and the countdown.
 * @slot paid - In place of the receipt.
 * @slot next - Below the receipt, for what the page offers once it is paid.
 * @slot expired - In place of the payment's details.
 * @slot refunded - In place of the payment's details.
 * @slot failed - In place of the payment's details.
 * @slot error - Below the explanation.
 * @slot popup-blocked - In place of the hint that the popup was blocked.
 *
 * @csspart base - The whole element.
 * @csspart panel - The same, while it shows a payment.
 * @csspart methods - The group of two buttons, one for each method.
 * @csspart button - A button that starts a payment; its `value` is the method.
 * @csspart label - The button's text.
 * @csspart spinner - The spinner of a request in progress.
 * @csspart status - The line that names the state; a live region.
 * @csspart hint - The line that tells the payer what to do.
 * @csspart timer - The countdown.
 * @csspart link - The link to the payment page.
 * @csspart pix - The PIX that can be paid: its code and its QR code.
 * @csspart qr - The QR code.
 * @csspart code - The field with the code.
 * @csspart copy-button - Copies the code, or what was delivered.
 * @csspart delivered - What a paid payment has delivered: texts, codes, links.
 * @csspart retry-button - Starts a new attempt.
 * @csspart cancel-button - Returns to the button.
 * @csspart skeleton - The placeholder while a payment is looked up.
 *
 * @cssproperty --psa-color-primary - Buttons and the spinner.
 * @cssproperty --psa-color-on-primary - Text on the primary color.
 * @cssproperty --psa-color-surface - The panel.
 * @cssproperty --psa-color-text
 * @cssproperty --psa-color-muted - Less important text.
 * @cssproperty --psa-color-success
 * @cssproperty --psa-color-danger
 * @cssproperty --psa-radius - Corners of the panel and the button.
 * @cssproperty --psa-spacing - Between the parts of the panel.
 * @cssproperty --psa-padding - Inside the panel.
 * @cssproperty --psa-font-family
 * @cssproperty --psa-focus-ring-color
 * @cssproperty --psa-popup-width - In pixels.
 * @cssproperty --psa-popup-height - In pixels.
 *
 * @cssstate idle
 * @cssstate creating
 * @cssstate pending
 * @cssstate paid
 * @cssstate expired
 * @cssstate refunded
 * @cssstate failed
 * @cssstate error
 * @cssstate pix - Besides the others, while the payment is one by PIX.
 */
export class PsaCheckout extends LitElement implements CheckoutHost {
  // Getters, for a static field becomes a static block, which Babel's settings of React Native refuse.
  static override get styles() {
    return unsafeCSS(styles);
  }

  static override get properties() {
    return {
      endpoint: {},
      token: {},
      methods: {},
      mode: {},
      transport: {},
      amountCents: { attribute: 'amount-cents', type: Number },
      orderCode: { attribute: 'order-code' },
      paymentToken: { attribute: 'payment-token' },
      locale: {},
      resumeKey: { attribute: 'resume-key' },
      disabled: { type: Boolean, reflect: true },
      customer: { attribute: false },
      labels: { attribute: false },
      renewToken: { attribute: false },
    };
  }

  declare endpoint: string | undefined;
  declare token: string | undefined;
  declare methods: string;
  declare mode: CheckoutMode;
  declare transport: 'auto' | Transport;
  declare amountCents: number | undefined;
  declare orderCode: string | undefined;
  declare paymentToken: string | undefined;
  declare locale: string | undefined;
  declare resumeKey: string | undefined;
  declare disabled: boolean;
  /** The payer, as far as the shop knows; sent with the payment. */
  declare customer: CustomerInput | undefined;
  /** Replaces single texts. */
  declare labels: Partial<Labels> | undefined;
  /** Returns a fresh token when the old one has expired: for the same order or product. */
  declare renewToken: (() => Promise<string> | string) | undefined;

  #checkout = new CheckoutController(this);
  #internals = this.attachInternals?.();
  /** The language that was requested last. The shown one follows it once its texts are loaded. */
  #requestedLocale: Locale | undefined;
  #language: ({ locale: Locale } & { [Name in keyof Language]?: Language[Name] | undefined }) | undefined;
  /** The focused element, in this one or in a slot of it. */
  #focused: Element | null | undefined;
  /** Renders the element again when the page changes its language, or the label of the button. */
  #pageObserver = new MutationObserver(() => this.requestUpdate());

  constructor() {
    super();
    this.methods = 'card';
    this.mode = 'auto';
    this.transport = 'auto';
    this.disabled = false;
  }

  /** The payment of the server's last answer. */
  get payment(): CheckoutPayment | undefined {
    return this.#checkout.state.payment;
  }

  get status(): CardPaymentStatus | undefined {
    return this.payment?.status;
  }

  /** The method of the payment, or of the one that is being created. */
  get method(): CheckoutMethod | undefined {
    return this.#checkout.method;
  }

  get phase(): CheckoutPhase {
    return this.#checkout.state.phase;
  }

  get connection(): CheckoutConnection {
    return this.#checkout.connection;
  }

  get error(): CheckoutError | undefined {
    return this.#checkout.state.error;
  }

  /** The instant at which the payment expires, ISO 8601 by the server's clock. */
  get expiresAt(): string | undefined {
    return this.payment?.expiresAt;
  }

  /** Does what a click on the button of a method does, by default the first. Call it in a click, or the browser blocks the popup. */
  start(method?: CheckoutMethod): Promise<void> {
    // Applies attributes that were set just before.
    this.performUpdate();
    return this.#checkout.start(method);
  }

  /** Shows the payment page again. */
  openCheckout(): void {
    this.#checkout.page.focus();
  }

  /** Reads the payment from the server now. */
  refresh(): Promise<void> {
    return this.#checkout.refresh();
  }

  /** Starts a new attempt after an expiry or a failure, and repeats the same one after an error. */
  retry(): Promise<void> {
    this.performUpdate();
    return this.#checkout.retry();
  }

  /** Returns to the button, which allows another payment after a paid one. */
  reset(): void {
    this.#checkout.reset();
  }

  override focus(options?: FocusOptions): void {
    const target = this.renderRoot?.querySelector<HTMLElement>('.button') ?? this.#base;
    target?.focus(options);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // It may have been moved to a place of another language.
    this.requestUpdate();
    this.#pageObserver.observe(document, { subtree: true, attributeFilter: ['lang'] });
    this.#pageObserver.observe(this, { subtree: true, childList: true, characterData: true });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#pageObserver.disconnect();
  }

  /** @internal The language that the payment page shows too. */
  get language(): Locale {
    return resolveLocale(this, this.locale);
  }

  /** @internal The text of the empty window while the payment is created. */
  get openingText(): string {
    return this.#text('creating');
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const keys = ['endpoint', 'token', 'methods', 'orderCode', 'paymentToken', 'resumeKey'] as const;
    if (hasSecret(this)) {
      this.token = this.paymentToken = undefined;
      explain(this, 'secret');
    }
    if (!this.hasUpdated || keys.some((name) => changed.has(name))) {
      this.#checkout.restore();
      void this.#checkout.readMethods();
    }
    const locale = this.language;
    if (locale !== this.#requestedLocale) {
      this.#requestedLocale = locale;
      const load = LOCALES[locale];
      if (load)
        void importAgain(`checkout.${locale}`, load)
          .then(
            (language) => {
              if (locale === this.#requestedLocale) this.#language = { ...language, locale };
            },
            // Keeps the previous language; without one it shows Portuguese.
            () => {
              this.#language ??= { locale: 'pt-BR' };
            },
          )
          .then(() => this.requestUpdate());
      else this.#language = { locale };
    }
    this.#focused = this.shadowRoot?.activeElement ?? this.querySelector(':focus-within');
  }

  protected override updated(): void {
    this.#internals?.states.clear();
    this.#internals?.states.add(this.phase);
    if (this.method === 'pix') this.#internals?.states.add('pix');
    // After the focused control was removed, the focus stays in the element, but not on another button.
    if (this.#focused?.checkVisibility() === false) this.#base?.focus({ preventScroll: true });
  }

  protected override render(): TemplateResult {
    const { phase, payment } = this;
    const { chunks, resuming, method } = this.#checkout;
    // The payment's money goes back to the payer, as that of a refund does.
    const title = phase === 'failed' && payment?.returned ? 'refunded' : (phase as 'paid');
    // An order looks as the payment that has paid it.
    const look = title.replace('order_', '') as CheckoutPhase;
    const { payment: chunk, pix } = chunks;
    const busy = phase === 'creating';
    const shown = resuming || !(busy || phase === 'idle');
    const { returned } = this.#checkout;
    if (returned && !shown) return this.#renderReturned(returned);
    const waiting = resuming || (!(chunk && (pix || method !== 'pix')) && phase !== 'error');
    return html`
      <div
        part=${shown ? 'base panel' : 'base'}
        class=${look}
        role=${shown ? 'group' : nothing}
        aria-labelledby="status"
        aria-describedby="hint"
        lang=${this.#language?.locale ?? nothing}
        tabindex="-1"
      >
        ${shown ? html`<span class="badge">${icon(waiting ? '' : phase === 'error' ? ERROR : chunk?.ICONS[look])}</span>` : this.#renderButtons()}
        <div part="status" class=${shown ? 'status' : 'sr'} id="status" role="status"
          .textContent=${phase === 'idle' && !resuming ? '' : this.#text(waiting && !busy ? 'loading' : title)}></div>
        ${shown ? (waiting ? this.#renderWaiting() : this.#renderPanel()) : html`<slot name=${phase}></slot>`}
        <slot name="footer"></slot>
      </div>
    `;
  }

  /** Renders the page at successUrl if no storage has the payment, as after a frame of another site. */
  #renderReturned(orderCode: string): TemplateResult {
    return html`
      <div part="base panel" role="group" aria-labelledby="status" lang=${this.#language?.locale ?? nothing} tabindex="-1">
        <span class="badge">${icon(LOCK)}</span>
        <div part="status" class="status" id="status" role="status" .textContent=${this.#text('shopConfirms')}></div>
        <div part="hint" class="hint" .textContent=${orderCode}></div>
        <slot name="footer"></slot>
      </div>
    `;
  }

  #renderButtons(): TemplateResult | '' {
    // The page at successUrl has no product to sell, and may have no payment to follow.
    if (!this.token && !this.endpoint) return '';
    return methodButtons(this, this.#checkout, this.#text);
  }

  #renderWaiting(): TemplateResult {
    const notice = this.#notice;
    return notice
      ? html`<div part="hint" class="hint" .textContent=${notice}></div>`
      : html`<div part="skeleton" class="skeleton"></div>`;
  }

  /** The text of a lost connection, or the age of the state if the service behind the server gives nothing newer. */
  get #notice(): string | undefined {
    const { connection, state } = this.#checkout;
    if (connection === 'offline' || connection === 'reconnecting') return this.#text(connection);
    const since = state.phase === 'pending' && state.payment?.staleSince;
    if (!since) return undefined;
    const age = new Intl.RelativeTimeFormat(this.#language?.locale, { style: 'short' });
    const minutes = Math.max(1, Math.round((Date.now() - since) / 60_000));
    return this.#text('stale').replace('{age}', age.format(-minutes, 'minute'));
  }

  #renderPanel(): TemplateResult {
    const { chunks, content, state, countdown, page, method, methods } = this.#checkout;
    const { payment: chunk, pix, delivered } = chunks;
    const disabled = this.disabled && !this.#checkout.canReadAgain;
    const onRetry = () => this.retry();
    const onReset = () => this.reset();
    if (!chunk) {
      const { code = 'contact', retryable } = state.error ?? {};
      // The error came before the chunk, or because the chunk did not load: its texts are in this file.
      this.#checkout.load().catch(() => undefined);
      return html`
        <div part="hint" class="hint" id="hint" .textContent=${this.#text(code) || this.#text('contact')}></div>
        <div class="actions">
          ${retryable ? html`          <button part="retry-button" class="button" ?disabled=${disabled} @click=${onRetry} .textContent=${this.#text('retry')}></button>` : ''}
          <button part="cancel-button" class="button outline" @click=${onReset} .textContent=${this.#text('cancel')}></button>
        </div>
      `;
    }
    return chunk.panel(html, {
      state,
      notice: this.#notice,
      locale: this.#language?.locale,
      text: this.#text,
      seconds: countdown.seconds(),
      url: page.safe(),
      pix: method === 'pix' ? pix : undefined,
      delivered: content[0] && delivered?.render(html, content, this.#text),
      methods: this.token ? methods : [],
      disabled,
      onStart: (method) => this.start(method),
      target: page.target(),
      onLink: page.onLink,
      onRetry,
      onReset,
    });
  }

  get #base(): HTMLElement | null | undefined {
    return this.renderRoot?.querySelector<HTMLElement>('[part]');
  }

  #text = (name: keyof Labels): string => {
    const { chunks, method } = this.#checkout;
    const { payment: chunk, pix, delivered } = chunks;
    const language = this.#language;
    const texts: Partial<Labels> = {
      ...(language && (language.texts ?? { ...first, ...chunk?.texts })),
      ...(language && method === 'pix' && (language.pix ?? pix?.texts)),
      ...(language && (language.delivered ?? delivered?.texts)),
      ...this.labels,
    };
    return texts[name] ?? '';
  };
}

declare global {
  interface HTMLElementTagNameMap {
    'psa-checkout': PsaCheckout;
  }
}
