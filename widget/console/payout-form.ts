import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { parseCents } from '../demo/shared/format.ts';
import { KeptRequest } from '../demo/shared/kept-request.ts';
import { PAYOUT_METHODS, type PayableMethod } from '../demo/shared/payout-methods.ts';
import {
  errorsOf,
  type FormErrors,
  KEY_TYPES,
  type KeyType,
  type PayoutAnswer,
  PLACEHOLDERS,
  payoutDone,
  recordOf,
  renderTerms,
} from '../demo/shared/payout-terms.ts';
import { isLost, postJson, type Refusal } from '../demo/shared/post-json.ts';
import type { Api } from './api.ts';
import { type PaidRow, renderPayout } from './batch-check.ts';
import { dropButton } from './lost-request.ts';
import { timeWords } from './times.ts';
import { knownRefusal, postWithKey } from './write.ts';

/** The terms of a payout, by the server. */
interface ServerTerms {
  feeCents: number | null;
  destination: string;
  destinationKind: string | null;
  hourly: { most: number; left: number | null; mostOfMethod: number | null };
  paidBefore: PaidRow | null;
  possibleAt: string;
}

interface Draft {
  method: PayableMethod;
  amount: string;
  destination: string;
  keyType: KeyType | '';
  externalId: string;
}

const EMPTY: Draft = { method: 'PIX', amount: '', destination: '', keyType: '', externalId: '' };
const REPEATED =
  'O pedido anterior chegou, e já está na lista. Para pedir também este, confirme-o de novo: será outro saque.';

/** The form that requests a payout, once its terms were confirmed with the key of the session. */
export class ConsolePayoutForm extends LitElement {
  static override properties = {
    api: { attribute: false },
    draft: { state: true },
    errors: { state: true },
    done: { state: true },
    busy: { state: true },
  };

  declare api: Api;
  declare draft: Draft;
  declare errors: FormErrors;
  declare done: string;
  declare busy: boolean;
  readonly #request = new KeptRequest<Draft>('payout');

  constructor() {
    super();
    this.draft = EMPTY;
    this.errors = {};
    this.done = '';
    this.busy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const { lost } = this.#request;
    if (!lost) return;
    this.draft = { ...EMPTY, ...lost };
    this.errors = {
      form: 'O último pedido ficou sem resposta, e pode ter chegado. Repita-o como está: ele não sai em dobro.',
    };
  }

  protected override render(): TemplateResult {
    const { draft, errors } = this;
    const { label, isAddress } = recordOf(draft.method);
    return html`
      <h2>Pedir um saque</h2>
      <form novalidate @submit=${this.#submit}>
        <fieldset>
          <legend>Forma de saque</legend>
          ${PAYOUT_METHODS.map(
            ({ method, label }) => html`<label
              ><input
                type="radio"
                name="method"
                .checked=${method === draft.method}
                @change=${() => this.#set({ method })}
              /><span>${label}</span></label
            >`,
          )}
        </fieldset>
        ${this.#renderField('amount', 'Valor em reais', errors.amount, '0,00')}
        ${this.#renderField(
          'destination',
          isAddress ? `Endereço ${label}` : 'Chave PIX',
          errors.destination,
          PLACEHOLDERS[draft.method] ?? '',
        )}
        ${isAddress ? nothing : this.#renderKeyType()}
        ${this.#renderField('externalId', 'Sua referência (opcional)', errors.externalId, 'Pedido 1042')}
        <p class="form-error" role="alert">${errors.form ?? nothing}</p>
        ${this.busy ? nothing : dropButton(this, this.#request, () => this.#set({}))}
        <button class="primary" aria-disabled=${this.busy ? 'true' : 'false'}>
          ${this.busy ? 'Pedindo…' : 'Ver tarifa e confirmar'}
        </button>
        <p class="done" role="status">${this.done || nothing}</p>
      </form>
    `;
  }

  #renderField(
    name: 'amount' | 'destination' | 'externalId',
    label: string,
    error: string | undefined,
    placeholder: string,
  ): TemplateResult {
    return html`<div class="field">
      <label for=${`payout-${name}`}>${label}</label>
      <input
        id=${`payout-${name}`}
        autocomplete="off"
        autocapitalize="off"
        spellcheck="false"
        inputmode=${name === 'amount' ? 'decimal' : 'text'}
        placeholder=${placeholder}
        .value=${this.draft[name]}
        aria-invalid=${error ? 'true' : 'false'}
        aria-describedby=${`payout-${name}-error`}
        @input=${(event: Event) => this.#set({ [name]: (event.target as HTMLInputElement).value })}
      />
      <p class="error" id=${`payout-${name}-error`}>${error ?? nothing}</p>
    </div>`;
  }

  #renderKeyType(): TemplateResult {
    const choose = ({ target }: Event) =>
      this.#set({ keyType: (target as HTMLSelectElement).value as KeyType });
    return html`<div class="field">
      <label for="payout-key-type">Tipo da chave</label>
      <select id="payout-key-type" @change=${choose}>
        <option value="" .selected=${this.draft.keyType === ''}>Automático</option>
        ${Object.entries(KEY_TYPES).map(
          ([value, label]) =>
            html`<option value=${value} .selected=${this.draft.keyType === value}>${label}</option>`,
        )}
      </select>
    </div>`;
  }

  #set(change: Partial<Draft>): void {
    this.draft = { ...this.draft, ...change };
    this.done = '';
    const { destination, ...errors } = this.errors;
    const keepsDestination = !('method' in change || 'destination' in change || 'keyType' in change);
    this.errors = {
      ...errors,
      ...(keepsDestination && destination ? { destination } : {}),
      ...('amount' in change ? { amount: '' } : {}),
      ...('externalId' in change ? { externalId: '' } : {}),
      form: '',
    };
  }

  readonly #submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (this.busy) return;
    const { draft } = this;
    const amountCents = parseCents(draft.amount);
    const errors: FormErrors = {
      ...(amountCents ? {} : { amount: 'Escreva um valor, como 150,00.' }),
      ...(draft.destination.trim() ? {} : { destination: 'Escreva para onde vai.' }),
    };
    if (!amountCents || errors.destination) return this.#showErrors(errors);
    this.busy = true;
    this.done = '';
    this.errors = {};
    const found = await this.#confirm(draft, amountCents);
    this.busy = false;
    if (found) await this.#showErrors(found);
  };

  /** Shows the terms, and requests the payout once they are confirmed. Returns the errors; null if there are none. */
  async #confirm(draft: Draft, amountCents: number): Promise<FormErrors | null> {
    const { method, keyType } = draft;
    const { wireName, isAddress } = recordOf(method);
    const externalId = draft.externalId.trim();
    const input = {
      ...{ method: wireName, amountCents, destination: draft.destination.trim() },
      ...(keyType && !isAddress && { pixKeyType: keyType }),
      ...(externalId && { externalId }),
    };
    const terms = await postJson<ServerTerms>('./payouts/terms', input);
    if (!terms.ok) return this.#errorsOf(terms.refusal, method, 'terms');
    const { hourly, paidBefore, possibleAt, ...shown } = terms.body;
    const { lost } = this.#request;
    const isRepetition = lost !== null && JSON.stringify(lost) === JSON.stringify(draft);
    // A request that may have been made is repeated all the same.
    const now = this.api.now();
    if (!isRepetition && new Date(possibleAt) > now)
      return {
        form: `O limite é de ${limitOf(hourly)}. Este pode ser pedido ${timeWords(new Date(possibleAt), now, ['às', 'em'])}.`,
      };
    const limit = html`<div><dt>Limite por hora</dt><dd>${hourly.left === null ? 'até' : `restam ${hourly.left} de`} ${hourly.most} saques</dd></div>`;
    // What was paid before may be the request that is repeated.
    const repeated = isRepetition ? null : paidBefore;
    const details = html`
      ${renderTerms({ ...shown, method, amountCents }, limit)}
      ${repeated ? html`<p class="warning">Um saque igual foi pedido nos últimos 7 dias: ${renderPayout(repeated)}. Este seria pago além daquele.</p>` : nothing}
    `;
    const result = await postWithKey(
      this.api,
      'Confirmar o saque',
      (confirmed) => this.#request.post<PayoutAnswer>('./payouts', draft, { ...input, ...confirmed }),
      true,
      details,
    );
    if (!result) return null;
    if (!result.ok) return this.#errorsOf(result.refusal, method, 'payout');
    this.done = payoutDone(result.body);
    this.draft = { ...EMPTY, method };
    return null;
  }

  #errorsOf(refusal: Refusal, method: PayableMethod, of: 'terms' | 'payout'): FormErrors {
    const known = knownRefusal(refusal);
    if (known) return { form: known };
    if (of === 'terms' && isLost(refusal))
      return { form: 'Não foi possível saber a tarifa. Nada foi pedido: tente de novo.' };
    if (refusal.code === 'IDEMPOTENCY_CONFLICT') return { form: REPEATED };
    return errorsOf(refusal, method);
  }

  async #showErrors(errors: FormErrors): Promise<void> {
    this.errors = errors;
    await this.updateComplete;
    this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }
}

const limitOf = ({ most, mostOfMethod }: ServerTerms['hourly']) =>
  `${most} saques por hora${mostOfMethod === null ? '' : `, ${mostOfMethod} desta forma`}`;

customElements.define('console-payout-form', ConsolePayoutForm);
