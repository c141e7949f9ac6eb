import { html, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatRelative, parseCents } from '../shared/format.ts';
import { renderLtcWallet } from './ltc-wallet.ts';
import { disputed, type Page } from './page.ts';
import { PAYERS } from './payers.ts';
import { causeText, returnTexts } from './returns.ts';
import type { PaidPix, PixPayment, Snapshot } from './snapshot.ts';

const STATUS_LABELS: Record<PixPayment['status'], string> = {
  pending: 'Aguardando',
  paid: 'Pago',
  expired: 'Expirado',
  refunded: 'Estornado',
  failed: 'Recusado pelo banco',
};
/** The time by which a late PIX comes after the expiry. */
const LATE_SECONDS = 60;

/** The fields of the form, which show the errors of their input. */
const ERRORS = {
  copyPaste: {
    field: 'pix-code',
    error: 'Não é um código deste banco, ou falta um pedaço: o CRC não confere.',
  },
  amountCents: { field: 'pix-amount', error: 'É mais do que um PIX pode ter.' },
};

/** The bank of the payer: it pays any code of this server, also where a payer should not. */
export function renderPixBank({ pixPayments, ltcPayments }: Snapshot, page: Page): TemplateResult {
  return html`
    <section class="card pix-bank" aria-labelledby="pix-title">
      <h2 id="pix-title">Banco do pagador</h2>
      ${renderOrder(page)}
      ${
        pixPayments.length === 0
          ? html`<p class="empty">
              Nenhum PIX ainda. <a href="/demo/">Escolha o PIX na loja</a> e ele aparece aqui para ser pago.
            </p>`
          : html`<ul class="rows stacked">${pixPayments.map((payment) => renderPayment(payment, page))}</ul>`
      }
      ${renderLtcWallet(ltcPayments, page)}
      <details class="payers">
        <summary>Pagadores que agem sozinhos</summary>
        <p class="note">Pelo <code>email</code> do <code>customer</code> do pagamento. No sandbox também, menos os que contestam:</p>
        <dl>
          ${PAYERS.map(({ email, effect }) => html`<div><dt><code>${email}</code></dt><dd>${effect}</dd></div>`)}
        </dl>
      </details>
    </section>
  `;
}

/** The form that pays a pasted code. */
function renderOrder(page: Page): TemplateResult {
  const field = (id: string, label: string, input: TemplateResult) => html`
    <div class="field">
      <label for=${id}>${label}</label>
      ${input}
      <p class="error" id=${`${id}-error`}>${page.errors[id] ?? nothing}</p>
    </div>
  `;
  const isInvalid = (id: string) => (page.errors[id] ? 'true' : 'false');
  return html`
    <form novalidate class="order-form" @submit=${(event: SubmitEvent) => submitOrder(event, page)}>
      ${field(
        'pix-code',
        'PIX Copia e Cola',
        html`<input
          id="pix-code"
          name="pix-code"
          autocomplete="off"
          spellcheck="false"
          placeholder="000201…"
          aria-invalid=${isInvalid('pix-code')}
          aria-describedby="pix-code-error"
        />`,
      )}
      ${field(
        'pix-amount',
        'Valor, se for outro',
        html`<input
          id="pix-amount"
          name="pix-amount"
          autocomplete="off"
          inputmode="decimal"
          placeholder="o do código"
          aria-invalid=${isInvalid('pix-amount')}
          aria-describedby="pix-amount-error"
        />`,
      )}
      <button type="submit" class="secondary">Pagar</button>
    </form>
  `;
}

async function submitOrder(event: SubmitEvent, page: Page): Promise<void> {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const text = (name: string) => String(new FormData(form).get(name) ?? '').trim();
  if (!text('pix-code')) return page.showError('pix-code', 'Cole um código, ou escolha um pagamento abaixo.');
  const amountCents = text('pix-amount') ? parseCents(text('pix-amount')) : undefined;
  if (amountCents === null || amountCents === 0)
    return page.showError('pix-amount', 'Escreva um valor, como 49,90.');
  const input = { copyPaste: text('pix-code'), amountCents };
  if (await page.run('pix/pay', input, paidText, ERRORS)) form.reset();
}

function renderPayment(payment: PixPayment, page: Page): TemplateResult {
  const { id, status, amountCents, description, payer, copyPaste, paidLate, refundedCents, refusesReturns } =
    payment;
  const now = page.now();
  const notes = [
    status === 'paid' && refundedCents > 0 ? `${formatBrl(refundedCents)} estornados` : '',
    ...returnTexts(payment.returnedCredits),
    refusesReturns ? 'o banco recusa devolver' : '',
  ].filter(Boolean);
  const state = [
    paidLate ? `${STATUS_LABELS[status]}, depois do prazo` : STATUS_LABELS[status],
    status === 'pending'
      ? copyPaste
        ? `expira ${formatRelative(new Date(payment.expiresAt), now)}`
        : 'o banco ainda não deu o código'
      : formatRelative(new Date(payment.paidAt ?? payment.createdAt), now),
  ].join(', ');
  return html`
    <li>
      <p>
        <strong>${formatBrl(amountCents)}</strong>
        <span>${description ?? 'Sem descrição'}${payer ? `, ${payer}` : ''}</span>
        <small>${state}</small>
        ${notes.map((note) => html`<small>${note}</small>`)}
        <small><code>${id}</code></small>
      </p>
      ${copyPaste ? renderButtons(payment, page) : nothing}
    </li>
  `;
}

function renderButtons(payment: PixPayment, page: Page): TemplateResult {
  const { id, status, amountCents, description, payer, refusesReturns } = payment;
  const name = [formatBrl(amountCents), payer, description].filter(Boolean).join(', ');
  const wasPaid = status === 'paid' || status === 'refunded';
  const pay = (label: string) => page.renderButton(label, 'pix/pay', paidText, { id });
  return html`
    <div class="buttons" role="group" aria-label=${`Pagamento de ${name}`}>
      ${wasPaid ? pay('Pagar de novo') : status === 'expired' ? pay('Pagar atrasado') : pay('Pagar')}
      ${
        status === 'pending'
          ? html`<button
              type="button"
              class="secondary"
              title="Adianta o relógio até um minuto depois do prazo, e então paga"
              @click=${() => payLate(payment, page)}
            >
              Pagar atrasado
            </button>`
          : nothing
      }
      <button type="button" class="secondary" @click=${(event: Event) => chooseAmount(event, payment)}>
        Outro valor…
      </button>
      ${
        status === 'paid'
          ? page.renderButton('Contestar', 'disputes', disputed, {
              id,
              amountCents,
            })
          : nothing
      }
      ${page.renderButton(
        refusesReturns ? 'Aceitar devoluções' : 'Recusar devoluções',
        'pix/returns',
        refusesReturns ? 'O banco volta a devolver.' : 'O banco recusa devolver o dinheiro deste pagamento.',
        { id, returns: refusesReturns ? 'accepted' : 'refused' },
      )}
    </div>
  `;
}

/** Advances the clock beyond the expiry, and pays then. */
async function payLate({ id, expiresAt }: PixPayment, page: Page): Promise<void> {
  const seconds = Math.ceil((Date.parse(expiresAt) - page.now().getTime()) / 1_000) + LATE_SECONDS;
  if (seconds > 0 && !(await page.run('clock', { seconds }, 'Relógio adiantado até depois do prazo.')))
    return;
  await page.run('pix/pay', { id }, (paid: PaidPix) => `Relógio adiantado. ${paidText(paid)}`);
}

/** Puts the code of a payment into the form, where the amount is missing. */
function chooseAmount(event: Event, { copyPaste }: PixPayment): void {
  const section = (event.target as Element).closest('section')!;
  section.querySelector<HTMLInputElement>('#pix-code')!.value = copyPaste!;
  section.querySelector<HTMLInputElement>('#pix-amount')!.focus();
}

function paidText({ amountCents, cause }: PaidPix): string {
  return cause === null
    ? `PIX de ${formatBrl(amountCents)} pago.`
    : `PIX de ${formatBrl(amountCents)} enviado, e o serviço devolve: ${causeText(cause)}.`;
}
