import type { html as Html, LitElement, TemplateResult } from 'lit';
import { adoptStyles as adopt } from './adopt-styles.ts';
import type { CheckoutState } from './checkout-state.ts';
import type { CheckoutPayment, Payment } from './operations.ts';
import { styles } from './panel.styles.ts';
import type { PanelView } from './views.ts';

/** Adds styles to those of an element: the panel's, or those of a further chunk. */
export const adoptStyles = (host: Pick<LitElement, 'renderRoot'>, text = styles) => adopt(host, text);

/** Renders the panel below the status line. `html` is a parameter, because this chunk must not load Lit again. */
export function panel(html: typeof Html, view: PanelView): TemplateResult {
  const { state, text, notice, pix, methods, disabled, onStart, onRetry, onReset } = view;
  const { phase, error, payment, blocked } = state;
  const mayRenew = (phase === 'expired' || phase === 'failed') && !payment?.returned && !payment?.canceledAt;
  const money = (cents: number) =>
    // The neighbors who pay in reais write `R$ 49,90`, as the payment page does; Spanish alone has `49,90 R$`.
    new Intl.NumberFormat(view.locale === 'es' ? 'es-AR' : view.locale, {
      style: 'currency',
      currency: payment?.currency ?? 'BRL',
      currencyDisplay: 'narrowSymbol',
    }).format(cents / 100);
  // Without a checkout token there is nothing to start.
  const reload = error?.mayReload;
  const retry = mayRenew ? methods[0] : error?.retryable || reload;
  return html`
    <div part="hint" class="hint" id="hint">
      ${
        blocked
          ? html`<slot name="popup-blocked" .textContent=${text('blocked')}></slot>`
          : html`<span .textContent=${hint(view)}></span>`
      }
      ${notice ? html`<p .textContent=${notice}></p>` : ''}
      ${pix?.returned(html, view, money) ?? ''}
    </div>
    ${error ? '' : (pix?.code(html, view, money) ?? '')}
    ${phase === 'paid' ? view.delivered : ''}
    <slot name=${phase}>${payment && !error ? facts(html, view, payment, money) : ''}</slot>
    <div class="actions">
      ${phase === 'paid' ? html`<slot name="next"></slot>` : ''}
      ${phase === 'pending' ? link(html, view) : ''}
      ${retry ? html`<button part="retry-button" class="button" ?disabled=${disabled && !reload} @click=${reload ? () => location.reload() : onRetry} .textContent=${text(reload ? 'reload' : pix && !error ? 'renew' : 'retry')}></button>` : ''}
      ${
        mayRenew || phase === 'pending'
          ? methods
              .filter((method) => method !== (pix ? 'pix' : 'card'))
              .map(
                (method) =>
                  html`<button part="button" class="button quiet" value=${method} ?disabled=${disabled} @click=${() => onStart(method)}
                    .textContent=${text(method === 'pix' ? 'payPix' : 'pay')}></button>`,
              )
          : ''
      }
      ${
        phase === 'pending' || error
          ? html`<button part="cancel-button" class="button quiet" @click=${onReset} .textContent=${text('cancel')}></button>`
          : ''
      }
    </div>
  `;
}

export const ICONS: Partial<Record<CheckoutState['phase'], string>> = {
  paid: 'm5.5 12.5 4.5 4.5 8.5-9.5',
  expired: 'M12 7v5l3 2M3.5 12a8.5 8.5 0 1 1 17 0 8.5 8.5 0 1 1-17 0',
  refunded: 'M8.5 5l-4 4 4 4M5 9h9.5a5 5 0 0 1 0 10H8',
  failed: 'M7 7l10 10M17 7 7 17',
};

function hint({ state, text, pix }: PanelView): string {
  const { phase, error, payment, cancelled } = state;
  if (error) {
    const { code, retryAfterSeconds = 60, mayReload } = error;
    const kind = /timeout/.test(code) ? 'network' : /unknown|aborted/.test(code) ? 'server' : 'contact';
    return text(mayReload ? 'ended' : text(code) ? code : kind).replace(
      '{seconds}',
      String(retryAfterSeconds),
    );
  }
  if (payment?.returned) return text(phase === 'failed' ? 'refundedHint' : 'returnedHint');
  if (payment?.canceledAt && phase === 'expired') return text('canceledHint');
  if (cancelled) return text('cancelledHint');
  if (pix && payment && phase === 'pending') return text(pix.hint(payment));
  return text(payment?.paidLate && phase === 'paid' ? 'paidLate' : (`${phase}Hint` as 'paidHint'));
}

/** Renders the payment's amount, order and time left; a receipt once it is paid. */
function facts(
  html: typeof Html,
  { state: { phase }, text, locale, seconds, pix }: PanelView,
  payment: CheckoutPayment,
  money: (cents: number) => string,
): TemplateResult {
  const { refundedAt, paidAt, amountCents, description } = payment;
  const at = refundedAt ?? paidAt;
  const payee = pix?.payee(payment);
  return html`
    <dl class="facts">
      <div><dt .textContent=${description || text('amount')}></dt><dd class="large" .textContent=${money(amountCents)}></dd></div>
      ${
        payee
          ? html`<div><dt .textContent=${text('payee')}></dt><dd .textContent=${payee}></dd></div>`
          : html`<div><dt .textContent=${text('order')}></dt><dd><small .textContent=${payment.orderCode ?? (payment as Payment).paymentId}></small></dd></div>`
      }
      ${at ? html`<div><dt .textContent=${text('time')}></dt><dd .textContent=${formatInstant(at, locale)}></dd></div>` : ''}
      ${
        phase === 'pending' && seconds !== undefined
          ? html`<div>
              <dt .textContent=${text('expiresIn')}></dt>
              <dd>
                <span part="timer" role="timer" .textContent=${seconds ? formatRemaining(seconds, locale) : text('checking')}></span>
              </dd>
              <dd .textContent=${text('expiresHint')}></dd>
            </div>`
          : ''
      }
    </dl>
  `;
}

function link(html: typeof Html, { state, text, url, target, onLink }: PanelView): TemplateResult | '' {
  if (!url) return '';
  const label = text(state.blocked || state.cancelled ? 'openPage' : 'openPageAgain');
  return html`<a part="link" class="button" href=${url} target=${target} rel="noopener" @click=${onLink}
    ><span .textContent=${label}></span>${target === '_top' ? '' : html`<span class="sr" .textContent=${`\xa0${text('newTab')}`}></span>`}</a
  >`;
}

/** Formats an instant in the time of Brasília, as the payment page, the bank and the shop do: one payment has one time. */
function formatInstant(instant: string, locale?: string): string {
  const format = new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'America/Sao_Paulo',
  });
  return `${format.format(new Date(instant))} (${locale === 'es' ? 'Brasilia' : 'Brasília'})`;
}

/**
 * Formats the time left, rounded down: in hours or minutes, so that nobody feels rushed, and in seconds in
 * the last minute.
 */
function formatRemaining(seconds: number, locale?: string): string {
  const [unit, length] = seconds < 60 ? ['second', 1] : seconds < 7200 ? ['minute', 60] : ['hour', 3600];
  const format = new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' });
  return format.format(Math.floor(seconds / length));
}
