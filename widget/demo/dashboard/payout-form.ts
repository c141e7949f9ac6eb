import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl, parseCents } from '../shared/format.ts';
import { postOnce } from '../shared/kept-request.ts';
import { PAYOUT_METHODS, type PayableMethod } from '../shared/payout-methods.ts';
import {
  errorsOf,
  type FormErrors,
  KEY_TYPES,
  type KeyType,
  PLACEHOLDERS,
  recordOf,
  renderTerms,
  type Terms,
} from '../shared/payout-terms.ts';
import { postJson, type Refusal } from '../shared/post-json.ts';
import { TEST_DESTINATIONS } from './destinations.ts';
import { payoutDone } from './outcomes.ts';

const CREDIT_CENTS = 100_000;

/** A payout that the reader is asked to confirm, with the destination as it was written. */
interface Confirmation {
  terms: Terms;
  written: string;
  pixKeyType: KeyType | '';
}

/** The form that requests a payout once the reader has confirmed its fee and what arrives, and offers to credit the demo's wallet while that is empty. */
export class PayoutForm extends LitElement {
  static override properties = {
    availableCents: { type: Number },
    method: { state: true },
    amount: { state: true },
    destination: { state: true },
    keyType: { state: true },
    errors: { state: true },
    done: { state: true },
    confirmation: { state: true },
    sending: { state: true },
  };

  /** Null until the wallet is loaded. */
  declare availableCents: number | null;
  declare method: PayableMethod;
  declare amount: string;
  declare destination: string;
  /** The type of the PIX key, as the reader names it; empty if the server is to recognise it. */
  declare keyType: KeyType | '';
  declare errors: FormErrors;
  /** The confirmation after a successful request. */
  declare done: string;
  /** Null while nothing is to be confirmed. */
  declare confirmation: Confirmation | null;
  declare sending: 'none' | 'fees' | 'payout' | 'credit';

  constructor() {
    super();
    this.availableCents = null;
    this.method = 'PIX';
    this.amount = '';
    this.destination = '';
    this.keyType = '';
    this.errors = {};
    this.done = '';
    this.confirmation = null;
    this.sending = 'none';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { label, isAddress } = recordOf(this.method);
    return html`
      <section aria-labelledby="payout-form-title">
        <h2 id="payout-form-title">Pedir um saque</h2>
        ${this.availableCents === 0 ? this.#renderCreditOffer() : nothing}
        <form novalidate @submit=${this.#submit}>
          <fieldset>
            <legend>Forma de saque</legend>
            ${PAYOUT_METHODS.map(
              ({ method, label }) => html`
                <label>
                  <input
                    type="radio"
                    name="method"
                    value=${method}
                    .checked=${method === this.method}
                    @change=${() => this.#chooseMethod(method)}
                  /><span>${label}</span>
                </label>
              `,
            )}
          </fieldset>
          ${this.#renderField({
            name: 'amount',
            label: 'Valor em reais',
            value: this.amount,
            placeholder: '0,00',
            error: this.errors.amount,
          })}
          ${this.#renderField({
            name: 'destination',
            label: isAddress ? `Endereço ${label}` : 'Chave PIX',
            value: this.destination,
            placeholder: PLACEHOLDERS[this.method] ?? '',
            error: this.errors.destination,
          })}
          ${isAddress ? nothing : this.#renderKeyType()}
          <div class="suggestions" role="group" aria-label="Destinos de teste">
            <p>Destinos de teste</p>
            <ul>
              ${testDestinationsOf(this.method).map(
                ({ destination, label, effect }) => html`
                  <li>
                    <button
                      type="button"
                      aria-pressed=${this.destination === destination ? 'true' : 'false'}
                      @click=${() => this.#useDestination(destination)}
                    >
                      <b>${label}</b> <span>${effect}</span>
                    </button>
                  </li>
                `,
              )}
            </ul>
          </div>
          <button type="submit" class="primary" aria-disabled=${this.sending === 'none' ? 'false' : 'true'}>
            ${this.sending === 'payout' || this.sending === 'fees' ? 'Pedindo…' : 'Pedir saque'}
          </button>
          <p class="form-error" role="alert">${this.errors.form ?? nothing}</p>
          <p class="done" role="status">${this.done || nothing}</p>
        </form>
        ${this.#renderConfirmation()}
      </section>
    `;
  }

  #renderKeyType(): TemplateResult {
    return html`
      <div class="field">
        <label for="key-type">Tipo da chave</label>
        <select
          id="key-type"
          @change=${(event: Event) => {
            this.keyType = (event.target as HTMLSelectElement).value as KeyType | '';
            this.#beginNewRequest({ ...this.errors, destination: '' });
          }}
        >
          <option value="" ?selected=${this.keyType === ''}>Automático</option>
          ${Object.entries(KEY_TYPES).map(
            ([value, label]) =>
              html`<option value=${value} ?selected=${this.keyType === value}>${label}</option>`,
          )}
        </select>
      </div>
    `;
  }

  #renderConfirmation(): TemplateResult {
    const { confirmation } = this;
    return html`
      <dialog aria-labelledby="payout-dialog-title" @close=${this.#onClose}>
        ${confirmation === null ? nothing : this.#renderConfirmed(confirmation)}
      </dialog>
    `;
  }

  #renderConfirmed({ terms }: Confirmation): TemplateResult {
    return html`
      <form novalidate method="dialog" @submit=${this.#confirm}>
        <h2 id="payout-dialog-title">Confirmar o saque</h2>
        ${renderTerms(terms)}
        <div class="dialog-buttons">
          <button type="button" class="secondary" @click=${this.#close}>Voltar</button>
          <button type="submit" class="primary">Confirmar saque</button>
        </div>
      </form>
    `;
  }

  #renderCreditOffer(): TemplateResult {
    return html`
      <div class="no-balance">
        <p><strong>Ainda não há o que sacar.</strong> Esta conta é de demonstração: o dinheiro dela é de mentira.</p>
        <button
          type="button"
          class="primary"
          aria-disabled=${this.sending === 'none' ? 'false' : 'true'}
          @click=${this.#credit}
        >
          ${this.sending === 'credit' ? 'Creditando…' : `Creditar ${formatBrl(CREDIT_CENTS)} (simulador)`}
        </button>
      </div>
    `;
  }

  #renderField({
    name,
    label,
    value,
    placeholder,
    error,
  }: {
    name: 'amount' | 'destination';
    label: string;
    value: string;
    placeholder: string;
    error: string | undefined;
  }): TemplateResult {
    return html`
      <div class="field">
        <label for=${name}>${label}</label>
        <input
          id=${name}
          name=${name}
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          inputmode=${name === 'amount' ? 'decimal' : 'text'}
          placeholder=${placeholder}
          .value=${value}
          aria-invalid=${error ? 'true' : 'false'}
          aria-describedby=${`${name}-error`}
          @input=${(event: Event) => this.#setField(name, (event.target as HTMLInputElement).value)}
        />
        <p class="error" id=${`${name}-error`}>${error ?? nothing}</p>
      </div>
    `;
  }

  #chooseMethod(method: PayableMethod): void {
    const suggested = testDestinationsOf(this.method).map(({ destination }) => destination);
    const stillFits = testDestinationsOf(method).some(({ destination }) => destination === this.destination);
    if (suggested.includes(this.destination) && !stillFits) this.destination = '';
    this.method = method;
    this.#beginNewRequest({ ...this.errors, destination: '' });
  }

  #useDestination(destination: string): void {
    this.destination = destination;
    this.#beginNewRequest({ ...this.errors, destination: '' });
  }

  #setField(name: 'amount' | 'destination', value: string): void {
    this[name] = value;
    this.#beginNewRequest({ ...this.errors, [name]: '' });
  }

  /** Takes away what was said of the request before. */
  #beginNewRequest(errors: FormErrors): void {
    this.done = '';
    this.errors = { ...errors, form: '' };
  }

  async #submit(event: Event): Promise<void> {
    event.preventDefault();
    if (this.sending !== 'none') return;
    const amountCents = parseCents(this.amount);
    const destination = this.destination.trim();
    const errors: FormErrors = {
      ...(amountCents === null || amountCents === 0 ? { amount: 'Escreva um valor, como 150,00.' } : {}),
      ...(destination === ''
        ? { destination: 'Escreva para onde vai, ou escolha um destino de teste.' }
        : {}),
    };
    if (Object.keys(errors).length > 0) return this.#showErrors(errors);

    const { method } = this;
    this.sending = 'fees';
    this.errors = {};
    this.done = '';
    const pixKeyType = recordOf(method).isAddress ? '' : this.keyType;
    const result = await postJson<Pick<Terms, 'destination' | 'destinationKind'> & { feeCents: number }>(
      '/demo/dashboard/payout-terms',
      {
        method: recordOf(method).wireName,
        amountCents,
        destination,
        ...(pixKeyType && { pixKeyType }),
      },
    );
    this.sending = 'none';
    if (!result.ok)
      return this.#showErrors(
        result.refusal.code === 'BAD_USER_INPUT'
          ? errorsOf(result.refusal, method)
          : { form: 'Não foi possível saber a tarifa. Nada foi pedido: tente de novo.' },
      );
    const { feeCents } = result.body;
    if (amountCents! <= feeCents)
      return this.#showErrors({ amount: `Tem de ser mais do que a tarifa, de ${formatBrl(feeCents)}.` });
    const terms = { ...result.body, method, amountCents: amountCents! };
    this.confirmation = { terms, written: destination, pixKeyType };
    await this.updateComplete;
    this.querySelector('dialog')?.showModal();
  }

  #close(): void {
    this.querySelector('dialog')?.close();
  }

  #onClose(): void {
    this.confirmation = null;
  }

  /** Requests the payout that was confirmed; the dialog closes by itself. */
  async #confirm(): Promise<void> {
    if (this.confirmation === null || this.sending !== 'none') return;
    const { terms, written, pixKeyType } = this.confirmation;
    const { method, amountCents } = terms;
    this.sending = 'payout';
    const result = await postOnce<{ code: string; replayed: boolean }>('/demo/dashboard/payouts', {
      method: recordOf(method).wireName,
      amountCents,
      destination: written,
      ...(pixKeyType && { pixKeyType }),
    });
    this.sending = 'none';
    if (!result.ok) return this.#showErrors(demoErrorsOf(result.refusal, method));
    this.done = payoutDone(result.body);
    this.amount = '';
  }

  async #credit(): Promise<void> {
    if (this.sending !== 'none') return;
    this.sending = 'credit';
    const result = await postJson('/simulator/credit', { amountCents: CREDIT_CENTS });
    this.sending = 'none';
    if (!result.ok) return this.#showErrors({ form: 'O simulador não creditou. Tente de novo.' });
    this.amount = '150,00';
    this.destination = testDestinationsOf('PIX')[0]!.destination;
    this.method = 'PIX';
    this.#beginNewRequest({});
    this.done = 'Creditado. Agora peça um saque e veja-o mudar de status.';
    await this.updateComplete;
    this.querySelector<HTMLElement>('#amount')?.focus();
  }

  /** Shows the errors and focuses the first invalid field. */
  async #showErrors(errors: FormErrors): Promise<void> {
    this.errors = errors;
    await this.updateComplete;
    this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }
}

function testDestinationsOf(method: PayableMethod) {
  return TEST_DESTINATIONS[method] ?? [];
}

/** The words for a refusal, with what the simulator can do about it. */
function demoErrorsOf(refusal: Refusal, method: PayableMethod): FormErrors {
  if (refusal.code === 'RATE_LIMITED') {
    const minutes = Math.ceil((refusal.retryAfterSeconds ?? 3_600) / 60);
    return {
      form: `Limite de saques por hora atingido. Espere ${minutes} min, ou avance o relógio no simulador.`,
    };
  }
  if (refusal.code === 'INSUFFICIENT_FUNDS' && method === 'LTC')
    return { amount: 'O saldo em LTC não cobre este valor. O simulador credita LTC.' };
  return errorsOf(refusal, method);
}

customElements.define('payout-form', PayoutForm);
