import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl } from '../demo/shared/format.ts';
import { KeptRequest, lostOf } from '../demo/shared/kept-request.ts';
import type { PageAnswer } from '../src/board/page-request.ts';
import type { Api } from './api.ts';
import { keepFocusIn } from './keep-focus.ts';
import { addressOf, addressOfOne } from './place.ts';
import { answerTo, postWithKey } from './write.ts';

/** A refund, as the console's route takes it. */
interface Refund {
  type: 'card_payment' | 'payment' | 'charge';
  /** The code of the sale. */
  reference: string;
  amountCents: number;
}

const PREFIX = 'refund ';
const REFUSALS = {
  DISPUTE_STATE:
    'O banco de quem pagou está pedindo este valor de volta: o que está em disputa não pode ser estornado.',
  IDEMPOTENCY_CONFLICT:
    'O estorno anterior desta venda chegou: confira-o no histórico. Para estornar também este valor, peça de novo.',
};

const keptOf = ({ reference }: Refund) => new KeptRequest<Refund>(PREFIX + reference);

/**
 * Requests a refund. One of the same sale whose answer was lost, also before a reload, has its key: a sale is never refunded
 * twice for one wish.
 */
export async function requestRefund(api: Api, refund: Refund): Promise<PageAnswer> {
  const title = `Estornar ${formatBrl(refund.amountCents)}`;
  const address = addressOf('./refunds');
  const result = await postWithKey(api, title, (confirmed) =>
    keptOf(refund).post(address, refund, { ...refund, ...confirmed }),
  );
  for (const notice of document.querySelectorAll<ConsoleLostRefunds>('console-lost-refunds'))
    notice.findSettled();
  return result === null ? { message: 'O estorno não foi pedido.' } : answerTo(result, REFUSALS);
}

/** The refunds whose answers a page before has not got, of all sales or of one: they are requested again, or dropped. */
export class ConsoleLostRefunds extends LitElement {
  static override properties = {
    api: { attribute: false },
    reference: { attribute: false },
    lost: { state: true },
    message: { state: true },
    done: { state: true },
    busy: { state: true },
  };

  declare api: Api;
  /** The code of the sale; null for all. */
  declare reference: string | null;
  declare lost: readonly Refund[];
  declare message: string;
  declare done: string;
  declare busy: boolean;

  constructor() {
    super();
    this.reference = null;
    this.lost = [];
    this.message = '';
    this.done = '';
    this.busy = false;
    keepFocusIn(this);
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const isShown = ({ reference }: Refund) => this.reference === null || reference === this.reference;
    this.lost = lostOf<Refund>(PREFIX).filter(isShown);
  }

  /** Takes away the refunds whose outcome has become known. */
  findSettled(): void {
    const lost = lostOf<Refund>(PREFIX);
    this.lost = this.lost.filter(({ reference }) => lost.some((each) => each.reference === reference));
  }

  async #repeat(refund: Refund): Promise<void> {
    if (this.busy) return;
    this.#begin();
    this.busy = true;
    try {
      this.message = (await requestRefund(this.api, refund))?.message ?? '';
      if (!this.message)
        this.done = `Estorno de ${formatBrl(refund.amountCents)} pedido, uma vez: ele está no histórico da venda.`;
    } catch {
      this.message = 'Ainda sem resposta. Tente de novo: ele não é feito duas vezes.';
    }
    this.busy = false;
  }

  #drop(refund: Refund): void {
    if (this.busy) return;
    this.#begin();
    keptOf(refund).drop();
    this.findSettled();
    this.done = 'Esquecido: outro estorno desta venda é um novo.';
  }

  #begin(): void {
    this.message = '';
    this.done = '';
  }

  protected override render(): TemplateResult | typeof nothing {
    const { lost, message, done, busy } = this;
    if (lost.length === 0 && !done) return nothing;
    return html`<section class="card" aria-labelledby="lost-refunds-title">
      <h2 id="lost-refunds-title">Estornos sem resposta</h2>
      ${lost.length === 0 ? nothing : html`<p class="hint">Podem ter sido feitos: confira no histórico da venda. Pedido de novo aqui, nenhum é feito duas vezes.</p>`}
      ${lost.map(
        (refund) => html`<p data-refund=${refund.reference}>
            ${formatBrl(refund.amountCents)} da venda
            <a data-page href=${addressOfOne('sales', refund.reference)}><code>${refund.reference}</code></a>
          </p>
          <p class="buttons">
            <button type="button" class="primary" aria-disabled=${busy ? 'true' : 'false'} @click=${() => this.#repeat(refund)}>
              Pedir de novo<span class="sr-only"> o estorno da venda ${refund.reference}</span>
            </button>
            <button type="button" class="secondary" aria-disabled=${busy ? 'true' : 'false'} @click=${() => this.#drop(refund)}>
              Esquecer<span class="sr-only"> o estorno da venda ${refund.reference}</span>
            </button>
          </p>`,
      )}
      <p class="form-error" role="alert">${message}</p>
      <p class="done" role="status">${done}</p>
    </section>`;
  }
}

customElements.define('console-lost-refunds', ConsoleLostRefunds);
