import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatCents, parseCents } from '../demo/shared/format.ts';
import { KeptRequest } from '../demo/shared/kept-request.ts';
import { isLost, postJson, type Refusal } from '../demo/shared/post-json.ts';
import type { Api } from './api.ts';
import { dropButton, FOUND, LOST } from './lost-request.ts';
import type { Subaccount } from './subaccount-operations.ts';
import { DECLINED, NO_AMOUNT } from './subaccount-transfer.ts';
import { messageOf, postWithKey } from './write.ts';

const KEY_TYPES = [
  ['', 'Reconhecer'],
  ['cpf', 'CPF'],
  ['cnpj', 'CNPJ'],
  ['phone', 'Celular'],
  ['email', 'E-mail'],
  ['random', 'Aleatória'],
] as const;

/** The fields of the form as the server names them. */
type Field = 'amountCents' | 'pixKey';
const WRONG: Record<Field, string> = {
  amountCents: 'Este valor não cobre as tarifas, ou passa do limite.',
  pixKey: 'Esta não é uma chave PIX do tipo escolhido.',
};

const REFUSALS = {
  IDEMPOTENCY_CONFLICT:
    'O saque anterior chegou: confira a lista. Para pedir também este, confirme-o de novo.',
};

interface Draft {
  subaccountId: string;
  amountCents: number;
  pixKey: string;
  pixKeyType?: string;
}

/** A payout that the user is asked to confirm. */
interface Terms {
  draft: Draft;
  /** The PIX key in its normal form. */
  pixKey: string;
  /** Null in front of another service, which does not show them. */
  fees: { markupCents: number; serviceFeeCents: number } | null;
}

/** A payout of a subaccount, whose fee and net are shown before it is confirmed. It dispatches `console-done` once one was made. */
export class ConsoleSubaccountPayout extends LitElement {
  static override properties = {
    api: { attribute: false },
    subaccount: { attribute: false },
    terms: { state: true },
    errors: { state: true },
    message: { state: true },
    done: { state: true },
    busy: { state: true },
  };

  declare api: Api;
  declare subaccount: Subaccount;
  declare terms: Terms | null;
  declare errors: Partial<Record<Field, string>>;
  declare message: string;
  declare done: string;
  declare busy: boolean;
  #request!: KeptRequest<Draft>;

  constructor() {
    super();
    this.terms = null;
    this.errors = {};
    this.message = '';
    this.done = '';
    this.busy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#request = new KeptRequest(`subaccount payout ${this.subaccount.subaccountId}`);
    if (this.#request.lost) this.message = FOUND;
  }

  readonly #ask = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (this.busy) return;
    const data = new FormData(event.target as HTMLFormElement);
    const [pixKey, pixKeyType] = ['pixKey', 'pixKeyType'].map((name) => String(data.get(name) ?? '').trim());
    const amountCents = parseCents(String(data.get('amount') ?? ''));
    this.#begin();
    this.errors = {
      ...(!amountCents && { amountCents: NO_AMOUNT }),
      ...(!pixKey && { pixKey: 'Escreva a chave PIX.' }),
    };
    if (!amountCents || !pixKey) return this.#focusFirstError();
    const { subaccountId } = this.subaccount;
    const draft: Draft = { subaccountId, amountCents, pixKey, ...(pixKeyType && { pixKeyType }) };
    this.busy = true;
    const result = await postJson<Omit<Terms, 'draft'>>('./subaccounts/payout-terms', draft);
    this.busy = false;
    if (!result.ok) return this.#refuse(result.refusal, messageOf(result.refusal));
    const { fees } = result.body;
    if (fees && amountCents <= fees.markupCents + fees.serviceFeeCents) {
      this.errors = {
        amountCents: `As tarifas somam ${formatBrl(fees.markupCents + fees.serviceFeeCents)}: peça mais.`,
      };
      return this.#focusFirstError();
    }
    this.terms = { draft, ...result.body };
    void this.#focus('h2');
  };

  readonly #confirm = async (): Promise<void> => {
    if (this.busy || !this.terms) return;
    const { draft } = this.terms;
    this.#begin();
    this.busy = true;
    const title = `Sacar ${formatBrl(draft.amountCents)} da subconta`;
    const result = await postWithKey<{ payoutId: string; replayed: boolean }>(this.api, title, (confirmed) =>
      this.#request.post('./subaccounts/payouts', draft, { ...draft, ...confirmed }),
    );
    this.busy = false;
    if (!result) this.message = DECLINED;
    else if (result.ok) {
      this.terms = null;
      this.querySelector('form')?.reset();
      this.done = result.body.replayed
        ? 'O pedido anterior já tinha chegado: o saque foi feito uma vez.'
        : 'Saque pedido.';
      this.dispatchEvent(new Event('console-done'));
    } else if (isLost(result.refusal)) this.message = LOST;
    else this.#refuse(result.refusal, messageOf(result.refusal, REFUSALS));
  };

  readonly #goBack = (): void => {
    this.#begin();
    this.terms = null;
    void this.#focus('input');
  };

  #begin(): void {
    this.errors = {};
    this.message = '';
    this.done = '';
  }

  /** Shows a refusal at its field, to which the form goes back. */
  #refuse({ fields }: Refusal, message: string): void {
    const field = (['amountCents', 'pixKey'] as const).find((name) =>
      fields.some(({ path }) => path === name),
    );
    const isKeyType = fields.some(({ path }) => path === 'pixKeyType');
    const named = field ?? (isKeyType ? 'pixKey' : undefined);
    if (!named) {
      this.message = message;
      return;
    }
    this.terms = null;
    this.errors = { [named]: WRONG[named] };
    this.#focusFirstError();
  }

  #focusFirstError(): void {
    void this.#focus('[aria-invalid=true]');
  }

  async #focus(selector: string): Promise<void> {
    await this.updateComplete;
    this.querySelector<HTMLElement>(selector)?.focus();
  }

  protected override render(): TemplateResult {
    const { lost } = this.#request;
    return html`
      <h2 tabindex="-1">${this.terms ? 'Confirmar o saque' : 'Sacar da subconta por PIX'}</h2>
      ${this.terms ? this.#renderTerms(this.terms) : nothing}
      <form class="request" novalidate ?hidden=${this.terms !== null} @submit=${this.#ask}>
        ${this.#renderField('amountCents', 'amount', 'Valor em R$', '0,00', lost ? formatCents(lost.amountCents) : '')}
        ${this.#renderField('pixKey', 'pixKey', 'Chave PIX', '', lost?.pixKey ?? '')}
        <div class="field">
          <label for="payout-pixKeyType">Tipo da chave</label>
          <select id="payout-pixKeyType" name="pixKeyType">
            ${KEY_TYPES.map(([value, label]) => html`<option value=${value} ?selected=${value === (lost?.pixKeyType ?? '')}>${label}</option>`)}
          </select>
        </div>
        <button class="primary" aria-disabled=${this.busy ? 'true' : 'false'}>Continuar</button>
      </form>
      <p class="form-error" role="alert">${this.message}</p>
      ${this.busy ? nothing : dropButton(this, this.#request, this.#goBack)}
      <p class="done" role="status">${this.done}</p>
    `;
  }

  #renderField(
    field: Field,
    name: string,
    label: string,
    placeholder: string,
    found: string,
  ): TemplateResult {
    const error = this.errors[field] ?? '';
    return html`<div class="field">
      <label for=${`payout-${name}`}>${label}</label>
      <input
        id=${`payout-${name}`}
        name=${name}
        inputmode=${name === 'amount' ? 'decimal' : 'text'}
        autocomplete="off"
        spellcheck="false"
        maxlength="100"
        placeholder=${placeholder}
        .defaultValue=${found}
        aria-invalid=${error ? 'true' : 'false'}
        aria-describedby=${`payout-${name}-error`}
      />
      <p id=${`payout-${name}-error`} class="form-error">${error}</p>
    </div>`;
  }

  #renderTerms({ draft, pixKey, fees }: Terms): TemplateResult {
    const { amountCents } = draft;
    return html`
      <dl class="terms">
        <div><dt>Sai da subconta</dt><dd>${formatBrl(amountCents)}</dd></div>
        ${
          fees
            ? html`<div><dt>Fica com a sua conta</dt><dd>${formatBrl(fees.markupCents)}</dd></div>
                <div><dt>Tarifa do serviço</dt><dd>${formatBrl(fees.serviceFeeCents)}</dd></div>
                <div><dt>Quem recebe fica com</dt><dd><strong>${formatBrl(amountCents - fees.markupCents - fees.serviceFeeCents)}</strong></dd></div>`
            : html`<div><dt>Tarifas</dt><dd>As do serviço por trás deste servidor, que ele mostra depois do pedido.</dd></div>`
        }
        <div><dt>Chave PIX</dt><dd><bdi>${pixKey}</bdi></dd></div>
      </dl>
      <p class="buttons">
        <button type="button" class="primary" aria-disabled=${this.busy ? 'true' : 'false'} @click=${this.#confirm}>Confirmar saque</button>
        <button type="button" class="secondary" @click=${this.#goBack}>Voltar</button>
      </p>
    `;
  }
}

customElements.define('console-subaccount-payout', ConsoleSubaccountPayout);
