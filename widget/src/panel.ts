import type { html as Html, TemplateResult } from 'lit';
import type { CheckoutConnection, CheckoutState } from './checkout-state.ts';
import type { Labels } from './psa-checkout.ts';

export interface PanelView {
  state: CheckoutState;
  connection: CheckoutConnection;
  locale: string;
  text: (name: keyof Labels) => string;
  /** Until the payment expires; undefined while the server has not told. */
  seconds: number | undefined;
  /** Where the link to the payment page leads, if there is a safe one. */
  url: string | undefined;
  target: '_top' | '_blank';
  onLink: (event: Event) => void;
  onRetry: () => void;
  onReset: () => void;
}

/** What stands below the line that names the state. `html` is handed in: this chunk must not load Lit again. */
export function panel(html: typeof Html, view: PanelView): TemplateResult {
  const { state, text, connection, onRetry } = view;
  const { phase, error, payment, blocked } = state;
  const retry = phase === 'expired' || phase === 'failed' || error?.retryable;
  return html`
    <div part="hint" class="hint">
      ${blocked ? html`<slot name="popup-blocked">${text('blocked')}</slot>` : hint(view)}
    </div>
    <slot name=${phase}>${payment && !error ? facts(html, view) : ''}</slot>
    ${/ff|re/.test(connection) ? html`<div class="hint">${text(connection as 'offline')}</div>` : ''}
    ${phase === 'pending' ? actions(html, view) : ''}
    ${retry ? html`<button part="retry-button" class="button" @click=${onRetry}>${text('retry')}</button>` : ''}
  `;
}

export const ICONS: Partial<Record<CheckoutState['phase'], string>> = {
  paid: 'm5.5 12.5 4.5 4.5 8.5-9.5',
  expired: 'M12 7v5l3 2M3.5 12a8.5 8.5 0 1 1 17 0 8.5 8.5 0 1 1-17 0',
  refunded: 'M8.5 5l-4 4 4 4M5 9h9.5a5 5 0 0 1 0 10H8',
  failed: 'M7 7l10 10M17 7 7 17',
  error: 'M12 7v6m0 3.8v.2M3.5 12a8.5 8.5 0 1 1 17 0 8.5 8.5 0 1 1-17 0',
};

function hint({ state, text }: PanelView): string {
  const { phase, error, payment, cancelled } = state;
  if (error) return text(error.code).replace('{seconds}', String(error.retryAfterSeconds ?? 60));
  if (cancelled) return text('cancelledHint');
  return text(payment?.paidLate && phase === 'paid' ? 'paidLate' : (`${phase}Hint` as 'paidHint'));
}

/** What was, or is to be, paid: a receipt once it is. */
function facts(html: typeof Html, { state, text, locale, seconds }: PanelView): TemplateResult | '' {
  const { phase, payment } = state;
  if (!payment) return '';
  const { orderCode, refundedAt, paidAt, amountCents, currency } = payment;
  const at = refundedAt ?? paidAt;
  const amount = new Intl.NumberFormat(locale, { style: 'currency', currency });
  const date = new Intl.DateTimeFormat(locale, { dateStyle: 'short', timeStyle: 'short' });
  return html`
    <dl class="facts">
      <div><dt>${text('amount')}</dt><dd class="large">${amount.format(amountCents / 100)}</dd></div>
      <div><dt>${text('order')}</dt><dd><small>${orderCode}</small></dd></div>
      ${at ? html`<div><dt>${text('time')}</dt><dd>${date.format(new Date(at))}</dd></div>` : ''}
      ${
        phase === 'pending' && seconds !== undefined
          ? html`<div>
              <dt>${text('expiresIn')}</dt>
              <dd class=${seconds < 60 ? 'low' : ''}>
                <span part="timer" role="timer">${seconds ? clock(seconds) : text('checking')}</span>
              </dd>
            </div>`
          : ''
      }
    </dl>
  `;
}

function actions(
  html: typeof Html,
  { state, text, url, target, onLink, onReset }: PanelView,
): TemplateResult {
  const label = text(state.blocked || state.cancelled ? 'openPage' : 'openPageAgain');
  return html`
    ${
      url
        ? html`<a part="link" class="button" href=${url} target=${target} rel="noopener" @click=${onLink}
            ><span>${label}${
              target === '_top' ? '' : html`<span class="sr">&nbsp;${text('newTab')}</span>`
            }</span></a
          >`
        : ''
    }
    <button part="cancel-button" class="button quiet" @click=${onReset}>${text('cancel')}</button>
  `;
}

function clock(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const pad = (value: number) => String(value).padStart(2, '0');
  return hours ? `${hours}:${pad(minutes)}:${pad(rest)}` : `${minutes}:${pad(rest)}`;
}
