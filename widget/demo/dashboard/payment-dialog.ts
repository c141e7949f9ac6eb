import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatCents, parseCents } from '../shared/format.ts';
import { postOnce } from '../shared/kept-request.ts';
import { postJson, type Refusal } from '../shared/post-json.ts';
import { refusalText, UNFIT } from '../shared/refusals.ts';
import type { CardPaymentStatus } from './operations.ts';
import { type Replayable, refundDone } from './outcomes.ts';

/** A payment as the dialog needs it. `id` is a card payment's order code, or the id of the rest. A subscription that can be canceled is PENDING. */
export interface Operable {
  method: 'card' | 'pix' | 'charge' | 'subscription';
  id: string;
  status: CardPaymentStatus;
  amountCents: number;
  description: string | null;
  /** The payer's name, or its address; null: unknown. */
  payer: string | null;
  refundableCents: number | null;
}

/** The member of a request that names a payment. */
const ID_OF = {
  card: 'orderCode',
  pix: 'paymentId',
  charge: 'chargeId',
  subscription: 'subscriptionId',
} as const;

/** The operations on a payment, by its status. Other statuses have none. */
export type PaymentOperation = 'refund' | 'cancel';

/** Returns what can be done with a payment; null: nothing. A PIX code stays payable until it expires. */
export function operationOf({ method, status, refundableCents }: Operable): PaymentOperation | null {
  if (status === 'PENDING') return method === 'card' || method === 'subscription' ? 'cancel' : null;
  return status === 'PAID' && refundableCents ? 'refund' : null;
}

/**
 * Asks before a payment is refunded or canceled, and then requests it from the merchant's server.
 * @fires payment-operation-done - Its detail says in words what was requested.
 */
export class PaymentDialog extends LitElement {
  static override properties = {
    payment: { attribute: false },
    amount: { state: true },
    error: { state: true },
    sending: { state: true },
  };

  /** Null while the dialog is closed. */
  declare payment: Operable | null;
  declare amount: string;
  declare error: string;
  declare sending: boolean;

  #operation: PaymentOperation = 'refund';

  constructor() {
    super();
    this.payment = null;
    this.amount = '';
    this.error = '';
    this.sending = false;
  }

  /** Opens the dialog over the page, for the operation that the payment's status allows. */
  async open(payment: Operable): Promise<void> {
    const operation = operationOf(payment);
    if (!operation || this.sending) return;
    this.payment = payment;
    this.#operation = operation;
    this.amount = formatCents(payment.refundableCents ?? 0);
    this.error = '';
    await this.updateComplete;
    this.querySelector('dialog')?.showModal();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { payment } = this;
    return html`
      <dialog aria-labelledby="payment-dialog-title" @cancel=${this.#onCancel} @close=${this.#onClose}>
        ${
          payment === null
            ? nothing
            : html`
          <form novalidate method="dialog" @submit=${this.#submit}>
            ${this.#operation === 'refund' ? this.#renderRefund(payment) : this.#renderCancellation(payment)}
            <p class="form-error" role="alert">${this.#operation === 'cancel' && this.error ? this.error : nothing}</p>
            <div class="dialog-buttons">
              <button type="button" class="secondary" aria-disabled=${this.sending ? 'true' : 'false'} @click=${this.#close}>Voltar</button>
              <button type="submit" class="primary" aria-disabled=${this.sending ? 'true' : 'false'}>
                ${this.sending ? 'Pedindo…' : this.#operation === 'refund' ? 'Estornar' : payment.method === 'card' ? 'Cancelar o pagamento' : 'Cancelar a assinatura'}
              </button>
            </div>
          </form>`
        }
      </dialog>
    `;
  }

  #renderRefund({ method, id, description, refundableCents }: Operable): TemplateResult {
    return html`
      <h2 id="payment-dialog-title">Estornar ${description ?? 'este pagamento'}</h2>
      <code>${id}</code>
      <div class="field">
        <label for="refund-amount">Valor em reais</label>
        <input
          id="refund-amount"
          autocomplete="off"
          inputmode="decimal"
          .value=${this.amount}
          aria-invalid=${this.error ? 'true' : 'false'}
          aria-describedby="refund-amount-hint refund-amount-error"
          @input=${this.#onInput}
        />
        <small id="refund-amount-hint">Até ${formatBrl(refundableCents ?? 0)}. Volta para ${method === 'card' ? 'o cartão' : 'a conta'} de quem pagou.</small>
        <p class="error" id="refund-amount-error">${this.error || nothing}</p>
      </div>
    `;
  }

  #renderCancellation({ method, id, description, amountCents }: Operable): TemplateResult {
    if (method === 'subscription')
      return html`
        <h2 id="payment-dialog-title">Cancelar ${description ?? 'esta assinatura'}?</h2>
        <code>${id}</code>
        <p>
          Nenhuma outra cobrança de ${formatBrl(amountCents)} é feita, a não ser a de hoje ou de amanhã que o banco já não
          pode recolher. O que foi pago fica pago.
        </p>
      `;
    return html`
      <h2 id="payment-dialog-title">Cancelar ${description ?? 'este pagamento'}?</h2>
      <code>${id}</code>
      <p>
        Ninguém pagou os ${formatBrl(amountCents)} ainda. A página de pagamento deixa de aceitar cartão; se o banco
        aprovar um que já estava em análise, o valor é devolvido sozinho.
      </p>
    `;
  }

  #onInput(event: Event): void {
    this.amount = (event.target as HTMLInputElement).value;
    this.error = '';
  }

  #close(): void {
    if (!this.sending) this.querySelector('dialog')?.close();
  }

  /** Stays open until the answer, which may be a refusal. */
  #onCancel(event: Event): void {
    if (this.sending) event.preventDefault();
  }

  #onClose(): void {
    // Browsers let nobody keep a dialog open for ever: a second Escape closes it without asking.
    if (this.sending) this.querySelector('dialog')?.showModal();
    else this.payment = null;
  }

  async #submit(event: Event): Promise<void> {
    event.preventDefault();
    const { payment } = this;
    if (!payment || this.sending) return;
    const { method, id } = payment;
    const operation = this.#operation;
    const amountCents = parseCents(this.amount) ?? 0;
    if (operation === 'refund' && amountCents === 0) return this.#showError('Escreva um valor, como 20,00.');
    const target = { [ID_OF[method]]: id };
    this.sending = true;
    this.error = '';
    const result = await (operation === 'refund'
      ? postOnce<Partial<Replayable>>('/demo/dashboard/refunds', { ...target, amountCents })
      : postJson<Partial<Replayable>>(
          '/demo/dashboard/cancellations',
          method === 'card' ? target : { subscriptionId: id },
        ));
    this.sending = false;
    if (!result.ok) return this.#showError(errorOf(result.refusal, method));
    this.#close();
    const detail =
      operation === 'refund'
        ? refundDone(amountCents, result.body)
        : method === 'card'
          ? 'Pagamento cancelado.'
          : 'Assinatura cancelada.';
    this.dispatchEvent(new CustomEvent('payment-operation-done', { detail }));
  }

  async #showError(error: string): Promise<void> {
    this.error = error;
    await this.updateComplete;
    this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }
}

function errorOf(refusal: Refusal, method: Operable['method']): string {
  const { status, code, fields, withdrawableCents } = refusal;
  switch (code) {
    case 'BAD_USER_INPUT':
      return fields.some(({ path }) => path.endsWith('amountCents'))
        ? 'É mais do que ainda pode ser estornado.'
        : UNFIT;
    case 'INSUFFICIENT_FUNDS':
      return `${method === 'card' ? 'A venda já foi liberada, e só' : 'Só'} há ${formatBrl(withdrawableCents ?? 0)} para estornar agora.`;
    case 'NOT_REFUNDABLE':
      return 'Este pagamento não pode mais ser estornado.';
    case 'DISPUTE_STATE':
      return 'O banco de quem pagou está pedindo este valor de volta: o que está em disputa não pode ser estornado.';
    case 'NOT_CANCELABLE':
      return 'Este pagamento não espera mais por ninguém: alguém pagou, ou o prazo acabou.';
    default:
      if (status === 0 || status >= 500)
        return 'Sem resposta. O pedido pode ter chegado: tente de novo, ele não sai em dobro.';
      return refusalText(refusal);
  }
}

customElements.define('payment-dialog', PaymentDialog);
