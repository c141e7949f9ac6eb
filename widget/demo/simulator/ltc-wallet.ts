import { html, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatConfirmations, formatRelative } from '../shared/format.ts';
import type { Page } from './page.ts';
import type { LtcAtAddress, LtcPayment } from './snapshot.ts';

const LITOSHI_PER_LTC = 100_000_000;
const STATUS_LABELS: Record<LtcPayment['status'], string> = {
  pending: 'Aguardando',
  paid: 'Pago',
  expired: 'Expirado',
  refunded: 'Estornado',
  failed: 'Não concluído',
};

/** The wallet of the payer, and the miners of its network. */
export function renderLtcWallet(
  payments: readonly LtcPayment[],
  page: Page,
): TemplateResult | typeof nothing {
  if (payments.length === 0) return nothing;
  return html`
    <h3>Carteira LTC do pagador</h3>
    <ul class="rows stacked">
      ${payments.map((payment) => renderPayment(payment, page))}
    </ul>
  `;
}

function renderPayment(payment: LtcPayment, page: Page): TemplateResult {
  const { id, status, amountCents, description, address, litoshi, receivedLitoshi, paidLate } = payment;
  const now = page.now();
  const state = [
    paidLate ? `${STATUS_LABELS[status]}, depois do prazo` : STATUS_LABELS[status],
    status === 'pending'
      ? `expira ${formatRelative(new Date(payment.expiresAt), now)}`
      : formatRelative(new Date(payment.paidAt ?? payment.createdAt), now),
  ].join(', ');
  return html`
    <li>
      <p>
        <strong>${formatBrl(amountCents)}</strong>
        <span>${ltcText(litoshi)}${description ? `, ${description}` : ''}</span>
        <small>${state}</small>
        ${
          receivedLitoshi > 0
            ? html`<small>
                chegaram ${ltcText(receivedLitoshi)}, ${payment.confirmations} de ${payment.requiredConfirmations}
                confirmações
              </small>`
            : nothing
        }
        <small><code>${address ?? 'a rede ainda não deu o endereço'}</code></small>
        <small><code>${id}</code></small>
      </p>
      ${address === null ? nothing : renderButtons(payment, address, page)}
    </li>
  `;
}

function renderButtons(
  { amountCents, litoshi, receivedLitoshi, outputs }: LtcPayment,
  address: string,
  page: Page,
): TemplateResult {
  const path = `ltc/${address}`;
  const last = outputs.at(-1);
  const half = Math.max(1, Math.floor(litoshi / 2));
  return html`
    <div class="buttons" role="group" aria-label=${`Pagamento por LTC de ${formatBrl(amountCents)}`}>
      ${page.renderButton(receivedLitoshi >= litoshi ? 'Enviar de novo' : 'Enviar', path, seenText)}
      ${page.renderButton('Enviar metade', path, seenText, { litoshi: half })}
      ${
        last
          ? html`${page.renderButton('Minerar um bloco', path, seenText, { blocks: 1 })}
            ${page.renderButton('Tirar a última saída', path, seenText, { reorganise: last.txid })}`
          : nothing
      }
    </div>
  `;
}

function seenText({ status, receivedLitoshi, confirmations }: LtcAtAddress): string {
  return `${STATUS_LABELS[status]}: a rede vê ${ltcText(receivedLitoshi)}, com ${formatConfirmations(confirmations)}.`;
}

function ltcText(litoshi: number): string {
  return `${(litoshi / LITOSHI_PER_LTC).toLocaleString('pt-BR', { minimumFractionDigits: 8 })} LTC`;
}
