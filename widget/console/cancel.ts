import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { postJson } from '../demo/shared/post-json.ts';
import type { Sale } from '../src/sales/operations.ts';
import type { Api } from './api.ts';
import { keepFocusIn } from './keep-focus.ts';
import { addressOf } from './place.ts';
import { answerTo } from './write.ts';

/** The words of the console's routes for the kinds of sales. */
export const TYPES = { CardPayment: 'card_payment', Payment: 'payment', Charge: 'charge' } as const;

const REFUSALS = { NOT_CANCELABLE: 'Esta venda já foi paga, ou já terminou.' };
const LOST = 'Sem resposta. Tente de novo: cancelar duas vezes não muda nada.';

/** The button that cancels a sale which is not paid, in two steps. */
export class ConsoleCancel extends LitElement {
  static override properties = {
    api: { attribute: false },
    sale: { attribute: false },
    isAsking: { state: true },
    busy: { state: true },
    done: { state: true },
    message: { state: true },
  };

  declare api: Api;
  declare sale: Sale | undefined;
  declare isAsking: boolean;
  declare busy: boolean;
  /** The reference of the sale that was canceled here. */
  declare done: string;
  declare message: string;

  constructor() {
    super();
    this.isAsking = false;
    this.busy = false;
    this.done = '';
    keepFocusIn(this);
    this.message = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  async #ask(isAsking: boolean): Promise<void> {
    this.isAsking = isAsking;
    this.message = '';
    await this.updateComplete;
    this.querySelector<HTMLElement>(isAsking ? '.keep' : 'button')?.focus();
  }

  async #cancel({ __typename, reference }: Sale): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    const input = { type: TYPES[__typename], reference };
    const result = await postJson(addressOf('./cancellations'), input);
    this.busy = false;
    try {
      this.message = answerTo(result, REFUSALS)?.message ?? '';
      if (this.message) return;
      this.isAsking = false;
      this.done = reference;
    } catch {
      this.message = LOST;
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { sale, busy } = this;
    if (this.done && sale?.reference === this.done) return html`<p class="done">Venda cancelada.</p>`;
    if (sale?.status !== 'PENDING' || !this.api.actions.includes('cancel')) return nothing;
    if (!this.isAsking)
      return html`<button type="button" class="secondary" @click=${() => this.#ask(true)}>Cancelar a venda</button>`;
    return html`
      <p id="cancel-price">Ninguém poderá mais pagá-la. PIX que chegar depois volta a quem pagou; LTC espera pelo operador.</p>
      <p class="buttons">
        <button type="button" class="primary" aria-describedby="cancel-price" aria-disabled=${busy ? 'true' : 'false'}
          @click=${() => this.#cancel(sale)}>${busy ? 'Cancelando…' : 'Cancelar agora'}</button>
        <button type="button" class="secondary keep" @click=${() => this.#ask(false)}>Manter a venda</button>
      </p>
      <p class="form-error" role="alert">${this.message}</p>
    `;
  }
}

customElements.define('console-cancel', ConsoleCancel);
