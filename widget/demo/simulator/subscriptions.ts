import { html, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatRelative } from '../shared/format.ts';
import type { Page } from './page.ts';
import type { Snapshot, Subscription } from './snapshot.ts';

const INTERVALS: Record<string, string> = {
  weekly: 'semanal',
  monthly: 'mensal',
  quarterly: 'trimestral',
  semiannual: 'semestral',
  yearly: 'anual',
};
const STATUS_LABELS: Record<Subscription['status'], string> = {
  pending: 'Aguardando autorização',
  active: 'Ativa',
  past_due: 'Em atraso',
  canceled: 'Cancelada',
  completed: 'Concluída',
  expired: 'Expirada',
};

/** The bank of the payer of recurring PIX: it authorises, rejects and cancels, and decides the attempt that is next. */
export function renderSubscriptions({ subscriptions }: Snapshot, page: Page): TemplateResult {
  return html`
    <section class="card" aria-labelledby="subscriptions-title">
      <h2 id="subscriptions-title">PIX Automático</h2>
      ${
        subscriptions.length === 0
          ? html`<p class="empty">
              Nenhuma assinatura ainda. A primeira que a loja criar aparece aqui para ser autorizada.
            </p>`
          : html`<ul class="rows stacked">${subscriptions.map((each) => renderSubscription(each, page))}</ul>`
      }
    </section>
  `;
}

function renderSubscription(subscription: Subscription, page: Page): TemplateResult {
  const { id, status, amountCents, interval, description, payer, cycle } = subscription;
  const now = page.now();
  const when =
    status === 'pending'
      ? `expira ${formatRelative(new Date(subscription.expiresAt), now)}`
      : `criada ${formatRelative(new Date(subscription.createdAt), now)}`;
  return html`
    <li>
      <p>
        <strong>${formatBrl(amountCents)}</strong>
        <span>${INTERVALS[interval]}, ${description ?? 'sem descrição'}${payer ? `, ${payer}` : ''}</span>
        <small>${STATUS_LABELS[status]}, ${when}</small>
        ${
          cycle?.nextAttemptAt
            ? html`<small>
                Ciclo ${cycle.number}, tentativa ${cycle.attempts + 1}: ${formatRelative(new Date(cycle.nextAttemptAt), now)}
              </small>`
            : nothing
        }
        <small><code>${id}</code></small>
      </p>
      ${renderButtons(subscription, page)}
    </li>
  `;
}

function renderButtons(
  { id, amountCents, status, isAuthorisable }: Subscription,
  page: Page,
): TemplateResult | typeof nothing {
  const step = (label: string, name: string, done: string) =>
    page.renderButton(label, `subscriptions/${id}/${name}`, done);
  const isLive = status === 'active' || status === 'past_due';
  if (!isAuthorisable && !isLive) return nothing;
  return html`
    <div class="buttons" role="group" aria-label=${`Assinatura de ${formatBrl(amountCents)}`}>
      ${
        isLive
          ? html`
              ${step('Debitar agora', 'debit', 'A próxima cobrança foi paga.')}
              ${step('Recusar cobrança', 'fail', 'O banco recusou a cobrança.')}
              ${step('Cancelar no banco', 'cancel', 'O pagador cancelou no banco dele.')}
            `
          : html`
              ${step('Autorizar', 'authorise', 'Assinatura autorizada, e o primeiro ciclo pago.')}
              ${step('Rejeitar', 'reject', 'O pagador rejeitou a assinatura.')}
            `
      }
    </div>
  `;
}
