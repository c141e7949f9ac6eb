import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatCents, parseCents } from '../demo/shared/format.ts';
import { KeptRequest } from '../demo/shared/kept-request.ts';
import { isLost } from '../demo/shared/post-json.ts';
import type { Api } from './api.ts';
import { dropButton, FOUND, LOST } from './lost-request.ts';
import type { Subaccount } from './subaccount-operations.ts';
import { messageOf, postWithKey } from './write.ts';

export const DECLINED = 'Nada foi pedido.';
export const NO_AMOUNT = 'Escreva um valor, como 50,00.';
const REFUSALS = {
  IDEMPOTENCY_CONFLICT:
    'A transferência anterior chegou: confira o extrato. Para fazer também esta, transfira de novo.',
};

/** A transfer from the account to a subaccount. It dispatches `console-done` once one was made. */
export class ConsoleTransfer extends LitElement {
  static override properties = {
    api: { attribute: false },
    subaccount: { attribute: false },
    message: { state: true },
    done: { state: true },
    busy: { state: true },
  };

  declare api: Api;
  declare subaccount: Subaccount;
  declare message: string;
  declare done: string;
  declare busy: boolean;
  #request!: KeptRequest<number>;

  constructor() {
    super();
    this.message = '';
    this.done = '';
    this.busy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#request = new KeptRequest(`transfer ${this.subaccount.subaccountId}`);
    if (this.#request.lost) this.message = FOUND;
  }

  readonly #drop = (): void => {
    this.message = '';
  };

  readonly #submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (this.busy) return;
    const input = this.querySelector('input')!;
    const amountCents = parseCents(input.value);
    this.done = '';
    this.message = amountCents ? '' : NO_AMOUNT;
    if (!amountCents) return input.focus();
    this.busy = true;
    const { subaccountId, name } = this.subaccount;
    const title = `Transferir ${formatBrl(amountCents)} para ${name ?? subaccountId}`;
    const result = await postWithKey<{ refId: string; replayed: boolean }>(this.api, title, (confirmed) =>
      this.#request.post('./subaccounts/transfers', amountCents, { subaccountId, amountCents, ...confirmed }),
    );
    this.busy = false;
    if (!result?.ok) {
      this.message = !result ? DECLINED : isLost(result.refusal) ? LOST : messageOf(result.refusal, REFUSALS);
      return;
    }
    input.value = '';
    this.done = result.body.replayed
      ? `O pedido anterior já tinha chegado: ${formatBrl(amountCents)} foram transferidos uma vez.`
      : `${formatBrl(amountCents)} transferidos.`;
    this.dispatchEvent(new Event('console-done'));
  };

  protected override render(): TemplateResult {
    return html`
      <h2>Transferir para a subconta</h2>
      <p class="hint">Sai do saldo disponível da conta, sem tarifa.</p>
      <form class="request" novalidate @submit=${this.#submit}>
        <div class="field">
          <label for="transfer-amount">Valor em R$</label>
          <input
            id="transfer-amount"
            inputmode="decimal"
            autocomplete="off"
            placeholder="0,00"
            .defaultValue=${this.#request.lost ? formatCents(this.#request.lost) : ''}
            aria-invalid=${this.message === NO_AMOUNT ? 'true' : 'false'}
            aria-describedby="transfer-message"
          />
        </div>
        <button class="primary" aria-disabled=${this.busy ? 'true' : 'false'}>Transferir</button>
      </form>
      <p id="transfer-message" class="form-error" role="alert">${this.message}</p>
      ${this.busy ? nothing : dropButton(this, this.#request, this.#drop)}
      <p class="done" role="status">${this.done}</p>
    `;
  }
}

customElements.define('console-transfer', ConsoleTransfer);
