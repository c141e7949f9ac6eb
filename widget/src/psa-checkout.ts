import { html, LitElement, nothing, type PropertyValues, svg, type TemplateResult } from 'lit';
import { CheckoutController, type CheckoutHost } from './checkout-controller.ts';
import type { CheckoutConnection, CheckoutError, CheckoutErrorCode, CheckoutPhase } from './checkout-state.ts';
import type { Transport } from './follow/transport.ts';
import { importAgain } from './import-again.ts';
import { type Labels, ptBR } from './locales/pt-BR.ts';
import type { CardPayment, CardPaymentStatus, CustomerInput } from './operations.ts';
import type { CheckoutMode } from './payment-window.ts';
import { styles } from './psa-checkout.styles.ts';

export type {
  CardPayment,
  CardPaymentStatus,
  CheckoutConnection,
  CheckoutError,
  CheckoutErrorCode,
  CheckoutMode,
  CheckoutPhase,
  CustomerInput,
  Labels,
  Transport,
};

type Locale = 'pt-BR' | 'en' | 'es';

/** The texts of the other languages; pt-BR is there from the start, so that there is always something to say. */
const LOCALES: Partial<Record<Locale, () => Promise<{ labels: Labels }>>> = {
  en: () => import('./locales/en.ts'),
  es: () => import('./locales/es.ts'),
};

const PHASES: readonly CheckoutPhase[] = [
  'idle',
  'creating',
  'pending',
  'paid',
  'expired',
  'refunded',
  'failed',
  'error',
];

/**
 * A button that becomes a payment that is followed to its end. It holds no card field: the payer types the card on
 * the hosted page. It believes the server's status alone; a closed window, a message or the way back to the shop is
 * a reason to ask again, never a result.
 *
 * @tagname psa-checkout
 *
 * @attr {string} endpoint - The GraphQL endpoint. On the page at successUrl it may be left out.
 * @attr {string} token - A checkout token; it says what may be paid.
 * @attr {'auto'|'popup'|'tab'|'redirect'} mode - Where the payment page opens. `auto` is a popup, or a redirect in the browser inside another app.
 * @attr {'auto'|'ws'|'sse'|'poll'} transport - How the payment is followed. `auto` tries them in this order.
 * @attr {number} amount-cents - The amount, for a token that allows a range.
 * @attr {string} order-code - Follows a payment that exists, together with payment-token.
 * @attr {string} payment-token - What reads the payment of order-code.
 * @attr {'pt-BR'|'en'|'es'} locale - The language; by default the page's.
 * @attr {string} resume-key - Under which name this tab remembers the payment; by default one made from the token.
 * @attr {boolean} disabled - The button cannot be pressed.
 *
 * @fires psa-before-start - Before anything happens; `preventDefault()` stops it.
 * @fires psa-before-redirect - {url, payment}. Before the page is left; `preventDefault()` keeps it.
 * @fires psa-created - {payment}. The server has made, or found, the payment of this click.
 * @fires psa-checkout-open - {payment}. The payment page was opened.
 * @fires psa-checkout-close - {payment}. Its window looks closed. A hint only: it may be open still, and never means cancelled.
 * @fires psa-popup-blocked - {url, payment}. The browser opened no window; the element shows a link.
 * @fires psa-status-change - {payment, status, previous}. `previous` is undefined for the first one on this page.
 * @fires psa-paid - {payment}. Once for each page on which the payment is seen paid.
 * @fires psa-expired - {payment}. It is still listened to: it may be paid late.
 * @fires psa-refunded - {payment}
 * @fires psa-failed - {payment}
 * @fires psa-connection-change - {connection, transport}
 * @fires psa-phase-change - {phase, previous}
 * @fires psa-error - {code, message, retryable}
 *
 * @slot - The button's label.
 * @slot icon - In front of the label.
 * @slot footer - Below everything.
 * @slot idle - Below the button.
 * @slot creating - Below the button while the payment is created.
 * @slot pending - In place of the amount and the countdown.
 * @slot paid - In place of the receipt.
 * @slot expired - In place of the payment's details.
 * @slot refunded - In place of the payment's details.
 * @slot failed - In place of the payment's details.
 * @slot error - Below the explanation.
 * @slot popup-blocked - In place of the line that says so.
 *
 * @csspart base - All of it.
 * @csspart button - The button that starts the payment.
 * @csspart label - The button's text.
 * @csspart spinner - What turns while something is awaited.
 * @csspart status - The line that names the state; a live region.
 * @csspart hint - What the payer can do now.
 * @csspart timer - The countdown.
 * @csspart link - To the payment page.
 * @csspart retry-button - A new attempt.
 * @csspart cancel-button - Back to the button.
 * @csspart skeleton - While a payment is looked up.
 *
 * @cssproperty --psa-color-primary - Buttons and what turns.
 * @cssproperty --psa-color-on-primary - Text on it.
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
 */
export class PsaCheckout extends LitElement implements CheckoutHost {
  static override styles = styles;

  static override properties = {
    endpoint: {},
    token: {},
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
  };

  declare endpoint: string | undefined;
  declare token: string | undefined;
  declare mode: CheckoutMode;
  declare transport: 'auto' | Transport;
  declare amountCents: number | undefined;
  declare orderCode: string | undefined;
  declare paymentToken: string | undefined;
  declare locale: string | undefined;
  declare resumeKey: string | undefined;
  declare disabled: boolean;
  /** Who pays, as far as the shop knows; sent along with the payment. */
  declare customer: CustomerInput | undefined;
  /** Overrides of single texts. */
  declare labels: Partial<Labels> | undefined;

  #checkout = new CheckoutController(this);
  #internals = this.attachInternals?.();
  #loaded: Partial<Record<string, Labels>> = { 'pt-BR': ptBR };
  #focusInside = false;

  constructor() {
    super();
    this.mode = 'auto';
    this.transport = 'auto';
    this.disabled = false;
  }

  /** The payment as the server told it last. */
  get payment(): CardPayment | undefined {
    return this.#checkout.state.payment;
  }

  get status(): CardPaymentStatus | undefined {
    return this.payment?.status;
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

  /** When the payment expires, ISO 8601 by the server's clock. */
  get expiresAt(): string | undefined {
    return this.payment?.expiresAt;
  }

  /** What a click on the button does. Call it in a click, or the browser will block the popup. */
  start(): Promise<void> {
    return this.disabled ? Promise.resolve() : this.#checkout.start();
  }

  /** Shows the payment page again. */
  openCheckout(): void {
    this.#checkout.openCheckout();
  }

  /** Asks the server now. */
  refresh(): Promise<void> {
    return this.#checkout.refresh();
  }

  /** A new attempt after an expiry or a failure, the same one again after an error. */
  retry(): Promise<void> {
    return this.#checkout.retry();
  }

  /** Back to the button. After a payment this is what allows another one. */
  reset(): void {
    this.#checkout.reset();
  }

  override focus(options?: FocusOptions): void {
    const target = this.renderRoot?.querySelector<HTMLElement>('.button') ?? this.#base;
    target?.focus(options);
  }

  /** @internal */
  get openingText(): string {
    return this.#text('opening');
  }

  /** @internal */
  get popupSize(): { width: number; height: number } {
    const style = getComputedStyle(this);
    const read = (name: string, otherwise: number) =>
      Number.parseInt(style.getPropertyValue(`--psa-popup-${name}`), 10) || otherwise;
    return { width: read('width', 480), height: read('height', 720) };
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const found = ['endpoint', 'token', 'orderCode', 'paymentToken', 'resumeKey'] as const;
    if (!this.hasUpdated || found.some((name) => changed.has(name))) this.#checkout.restore();
    const locale = this.#locale;
    const load = LOCALES[locale];
    if (load && !this.#loaded[locale]) {
      importAgain(load).then(
        ({ labels }) => {
          this.#loaded[locale] = labels;
          this.requestUpdate();
        },
        // Without its texts the element speaks Portuguese rather than nothing.
        () => undefined,
      );
    }
    this.#focusInside = Boolean(this.shadowRoot?.activeElement);
  }

  protected override updated(): void {
    const states = this.#internals?.states;
    for (const phase of PHASES) {
      try {
        if (phase === this.phase) states?.add(phase);
        else states?.delete(phase);
      } catch {
        // Older engines allow no custom state without dashes; the events tell the phase as well.
      }
    }
    // What had the focus is gone: keep the payer's place, without putting a finger on the next button.
    if (this.#focusInside && !this.shadowRoot?.activeElement) this.#base?.focus({ preventScroll: true });
  }

  protected override render(): TemplateResult {
    const { phase } = this;
    const { resuming } = this.#checkout;
    const busy = phase === 'creating';
    const panel = resuming || (phase !== 'idle' && !busy);
    return html`
      <div
        part="base"
        class="base ${phase} ${panel ? 'panel' : ''}"
        role=${panel ? 'group' : nothing}
        aria-labelledby=${panel ? 'status' : nothing}
        tabindex=${panel ? '-1' : nothing}
      >
        ${panel || !this.#checkout.configured ? nothing : this.#button(busy)}
        <div class=${panel ? 'head' : 'head sr'}>
          ${panel ? html`<span class="badge" aria-hidden="true">${this.#icon(resuming)}</span>` : nothing}
          <div class="text">
            <div part="status" class="status" id="status" role="status">${this.#status(resuming)}</div>
            ${panel && !resuming ? this.#hint() : nothing}
          </div>
        </div>
        ${
          resuming
            ? html`<div part="skeleton" class="skeleton" aria-hidden="true"><i></i><i></i></div>`
            : html`<slot name=${phase}>${panel && phase !== 'error' ? this.#facts() : nothing}</slot>`
        }
        ${panel ? this.#connectionLine() : nothing} ${panel ? this.#actions() : nothing}
        <slot name="footer"></slot>
      </div>
    `;
  }

  #button(busy: boolean): TemplateResult {
    return html`
      <button
        part="button"
        class="button main"
        type="button"
        ?disabled=${this.disabled}
        aria-disabled=${busy ? 'true' : nothing}
        aria-busy=${busy ? 'true' : nothing}
        @click=${this.start}
      >
        ${busy ? SPINNER : html`<slot name="icon">${icon(LOCK)}</slot>`}
        <span part="label" class="label">${busy ? this.#text('creating') : html`<slot>${this.#text('pay')}</slot>`}</span>
      </button>
    `;
  }

  #icon(resuming: boolean): TemplateResult {
    const path = resuming ? undefined : ICONS[this.phase];
    return path ? icon(path) : SPINNER;
  }

  #status(resuming: boolean): string | typeof nothing {
    if (resuming) return this.#text('loading');
    return this.phase === 'idle' ? nothing : this.#text(this.phase);
  }

  #hint(): TemplateResult {
    const { phase, error, payment } = this;
    const { blocked, cancelled } = this.#checkout.state;
    if (phase === 'pending' && blocked)
      return html`<div part="hint" class="hint"><slot name="popup-blocked">${this.#text('blocked')}</slot></div>`;
    let text = this.#text(cancelled ? 'cancelledHint' : 'pendingHint');
    if (phase === 'error')
      text = this.#text(error?.code ?? 'unknown').replace('{seconds}', String(error?.retryAfterSeconds ?? 60));
    else if (phase === 'paid') text = this.#text(payment?.paidLate ? 'paidLate' : 'paidHint');
    else if (phase !== 'pending') text = this.#text(`${phase}Hint` as keyof Labels);
    return html`<p part="hint" class="hint">${text}</p>`;
  }

  /** What was, or is to be, paid: a receipt once it is. */
  #facts(): TemplateResult | typeof nothing {
    const { payment, phase } = this;
    if (!payment) return nothing;
    const { orderCode, refundedAt, paidAt, amountCents, currency } = payment;
    const seconds = this.#checkout.remainingSeconds;
    const at = refundedAt ?? paidAt;
    const amount = new Intl.NumberFormat(this.#locale, { style: 'currency', currency });
    return html`
      <dl class="facts">
        ${fact(this.#text('amount'), amount.format(amountCents / 100), 'large')}
        ${fact(this.#text('order'), orderCode, 'code')}
        ${at && phase !== 'pending' ? fact(this.#text('time'), this.#date(at), '') : nothing}
        ${
          phase === 'pending' && seconds !== undefined
            ? html`<div>
                <dt>${this.#text('expiresIn')}</dt>
                <dd part="timer" class="timer ${seconds < 60 ? 'low' : ''}" role="timer">
                  ${seconds > 0 ? clock(seconds) : this.#text('checking')}
                </dd>
              </div>`
            : nothing
        }
      </dl>
    `;
  }

  #connectionLine(): TemplateResult | typeof nothing {
    const { connection } = this;
    return connection === 'offline' || connection === 'reconnecting'
      ? html`<p class="connection">${this.#text(connection)}</p>`
      : nothing;
  }

  #actions(): TemplateResult | typeof nothing {
    const { phase, error } = this;
    const { checkoutUrl, state, resuming } = this.#checkout;
    if (resuming || phase === 'paid' || phase === 'refunded') return nothing;
    if (phase !== 'pending')
      return phase === 'error' && !error?.retryable
        ? nothing
        : html`<div class="actions">
            <button part="retry-button" class="button" type="button" @click=${this.retry}>${this.#text('retry')}</button>
          </div>`;
    const again = !state.blocked && !state.cancelled;
    return html`
      <div class="actions">
        ${
          checkoutUrl
            ? html`<a
                part="link"
                class="button"
                href=${checkoutUrl}
                target=${this.mode === 'redirect' ? '_self' : '_blank'}
                rel="noopener"
                @click=${this.#onLink}
                >${this.#text(again ? 'openPageAgain' : 'openPage')}${
                  this.mode === 'redirect' ? nothing : html` <span class="sr">${this.#text('newTab')}</span>`
                }</a
              >`
            : nothing
        }
        <button part="cancel-button" class="button quiet" type="button" @click=${this.reset}>
          ${this.#text('cancel')}
        </button>
      </div>
    `;
  }

  /** The link is a real one, so that no blocker can take it; a popup that is still open is only brought forward. */
  #onLink(event: Event): void {
    if (this.#checkout.focusWindow()) event.preventDefault();
    else this.#checkout.linkTaken();
  }

  get #base(): HTMLElement | null | undefined {
    return this.renderRoot?.querySelector<HTMLElement>('.base');
  }

  get #locale(): Locale {
    const nearest = this.closest<HTMLElement>('[lang]')?.lang || document.documentElement.lang;
    const wanted = (this.locale || nearest || navigator.language).toLowerCase();
    return wanted.startsWith('en') ? 'en' : wanted.startsWith('es') ? 'es' : 'pt-BR';
  }

  #text(name: keyof Labels): string {
    return this.labels?.[name] ?? (this.#loaded[this.#locale] ?? ptBR)[name];
  }

  #date(instant: string): string {
    return new Intl.DateTimeFormat(this.#locale, { dateStyle: 'short', timeStyle: 'short' }).format(
      new Date(instant),
    );
  }
}

function fact(name: string, value: string, kind: string): TemplateResult {
  return html`<div><dt>${name}</dt><dd class=${kind}>${value}</dd></div>`;
}

function clock(seconds: number): string {
  const pad = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
}

function icon(paths: TemplateResult): TemplateResult {
  return html`<svg viewBox="0 0 24 24" aria-hidden="true">${paths}</svg>`;
}

const LOCK = svg`<rect x="5" y="11" width="14" height="9.5" rx="2.5"/><path d="M8 11V8a4 4 0 0 1 8 0v3"/>`;
const CROSS = svg`<path d="M7 7l10 10M17 7 7 17"/>`;
const ICONS: Partial<Record<CheckoutPhase, TemplateResult>> = {
  paid: svg`<path class="tick" d="m5.5 12.5 4.5 4.5 8.5-9.5"/>`,
  expired: svg`<circle cx="12" cy="12" r="8.5"/><path d="M12 7.5V12l3 2"/>`,
  refunded: svg`<path d="M8.5 5 4.5 9l4 4M5 9h9.5a5 5 0 0 1 0 10H8"/>`,
  failed: CROSS,
  error: svg`<path d="M12 7v6M12 16.8v.2"/><circle cx="12" cy="12" r="8.5"/>`,
};
const SPINNER = html`<svg part="spinner" class="spinner" viewBox="0 0 24 24" aria-hidden="true">
  <circle cx="12" cy="12" r="9" /><path d="M21 12a9 9 0 0 0-9-9" />
</svg>`;

declare global {
  interface HTMLElementTagNameMap {
    'psa-checkout': PsaCheckout;
  }
}
