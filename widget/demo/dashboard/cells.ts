// The cells that tables of the dashboard share.
import { html, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatFull, formatRelative, formatTime } from '../shared/format.ts';
import { OPERATION_LABELS, type Tone } from './labels.ts';
import { type Operable, operationOf } from './payment-dialog.ts';

/** Opens the dialog of a payment. Null if money would be real: then the page only reads. */
export type OpenPayment = ((payment: Operable) => void) | null;

export function saleCell(title: string | null, details: string): TemplateResult {
  return html`<span class="strong">${title ?? 'Sem descrição'}</span>
    <small>${details}</small>`;
}

/** The code of a payment, with the button of what can be done with it. */
export function codeCell(payment: Operable, open: OpenPayment): TemplateResult {
  const operation = open && operationOf(payment);
  return html`<code>${payment.id}</code>
    ${
      operation
        ? html`<button
            type="button"
            class="secondary operation"
            aria-label=${`${OPERATION_LABELS[operation]} ${rowName(payment.description ?? payment.id, payment)}`}
            @click=${() => open?.(payment)}
          >
            ${OPERATION_LABELS[operation]}
          </button>`
        : nothing
    }`;
}

/** The name of a row for those who do not see it: what was sold, for how much, and to whom. */
function rowName(
  sold: string,
  { amountCents, payer }: { amountCents: number; payer: string | null | undefined },
): string {
  return [sold, formatBrl(amountCents), payer].filter(Boolean).join(', ');
}

export function statusCell(
  { label, tone }: { label: string; tone: Tone },
  ...reasons: (string | null)[]
): TemplateResult {
  return html`<span class="status" data-tone=${tone}>${label}</span>
    ${reasons.filter(Boolean).map((reason) => html`<small class="reason">${reason}</small>`)}`;
}

export function timeCell(instant: string | null, now: Date): TemplateResult {
  if (instant === null) return html`—`;
  const at = new Date(instant);
  return html`<time datetime=${instant} title=${formatFull(at)}>
    <span>${formatRelative(at, now)}</span><small>${formatTime(at, now)}</small>
  </time>`;
}
