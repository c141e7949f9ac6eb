import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatFull } from '../../demo/shared/format.ts';
import { postJson } from '../../demo/shared/post-json.ts';
import { type Api, ask } from '../api.ts';
import { keepFocusIn } from '../keep-focus.ts';
import { Polling } from '../polling.ts';
import { staleNotice } from '../stale.ts';
import { requestWithKey } from '../write.ts';
import { CONTENT_LABELS, STOCK_LABELS } from './content.ts';
import './content-form.ts';
import { DELIVERIES, type Delivery, type Page, type Product } from './operations.ts';
import { refusalWords } from './refusal-words.ts';

const EVERY_MS = 30_000;
const LOST = 'Sem resposta. Tente de novo.';

/** A deletion that the user has not confirmed yet. */
interface Deletion {
  id: string;
  path: string;
  input: object;
  title: string;
  /** The price of the deletion: what is lost by it, in words. */
  price: string;
}

/**
 * One product with its content and stocks. The content is hidden until it is asked for.
 * @fires product-change - The product or its content has changed.
 */
export class ConsoleProduct extends LitElement {
  static override properties = {
    api: { attribute: false },
    product: { attribute: false },
    deliveries: { state: true },
    state: { state: true },
    staleSince: { state: true },
    shown: { state: true },
    deletion: { state: true },
    problem: { state: true },
    busy: { state: true },
  };

  declare api: Api;
  declare product: Product;
  /** Null until they are read. */
  declare deliveries: readonly Delivery[] | null;
  declare state: 'read' | 'failed' | 'not-offered';
  declare staleSince: Date | null;
  /** The content that was asked for, by the ids of its deliveries. */
  declare shown: Readonly<Record<string, string>>;
  declare deletion: Deletion | null;
  declare problem: string;
  declare busy: boolean;
  readonly #polling = new Polling(this, () => this.#read(), EVERY_MS);

  constructor() {
    super();
    this.deliveries = null;
    this.state = 'read';
    this.staleSince = null;
    this.shown = {};
    this.deletion = null;
    this.problem = '';
    this.busy = false;
    keepFocusIn(this);
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  async #read(): Promise<void> {
    const { productId } = this.product;
    try {
      const answer = await ask<{ deliveries: Page<Delivery> }>(this.api, DELIVERIES, { productId });
      const { data, codes } = answer;
      this.staleSince = answer.staleSince;
      this.deliveries = data.deliveries?.nodes ?? this.deliveries;
      this.state = data.deliveries ? 'read' : codes.deliveries === 'NOT_OFFERED' ? 'not-offered' : 'failed';
    } catch {
      this.state = 'failed';
    }
  }

  readonly #onChange = (): void => {
    void this.#polling.now();
    this.dispatchEvent(new CustomEvent('product-change'));
  };

  /** Shows the content of a delivery, or hides it again. */
  async #toggleContent({ deliveryId }: Delivery): Promise<void> {
    const { [deliveryId]: content, ...others } = this.shown;
    if (content !== undefined) {
      this.shown = others;
      return;
    }
    if (this.busy) return;
    this.busy = true;
    const result = await postJson<{ content: string | null }>('./deliveries/content', { deliveryId });
    this.busy = false;
    this.problem = refusalWords(result, { lost: LOST });
    if (result.ok) this.shown = { ...this.shown, [deliveryId]: result.body.content ?? '' };
  }

  readonly #delete = async (): Promise<void> => {
    const { deletion, api } = this;
    if (!deletion || this.busy) return;
    this.busy = true;
    const { path, input, title } = deletion;
    try {
      const words = { title, declined: 'Nada foi excluído.' };
      this.problem = (await requestWithKey(api, path, input, words))?.message ?? '';
    } catch {
      this.problem = LOST;
    }
    this.busy = false;
    if (this.problem) return;
    this.deletion = null;
    this.#onChange();
  };

  #ask(deletion: Deletion | null): void {
    const id = deletion?.id ?? this.deletion?.id;
    this.deletion = deletion;
    this.problem = '';
    void this.updateComplete.then(() =>
      this.querySelector<HTMLElement>(deletion ? '[data-keep]' : `[data-delete="${id}"]`)?.focus(),
    );
  }

  /** Whether the service lets content be created and deleted. */
  get #mayChange(): boolean {
    return this.api.actions.includes('content');
  }

  protected override render(): TemplateResult {
    const { description, productId, createdAt, name } = this.product;
    const { mayWrite } = this.api;
    return html`
      ${description ? html`<p class="description">${description}</p>` : nothing}
      <p class="hint">
        <code>${productId}</code>
        ${createdAt ? html`<time datetime=${createdAt}>Criado em ${formatFull(new Date(createdAt))}</time>` : nothing}
      </p>
      ${this.#renderDeliveries()}
      <p class="form-error" role="alert">${this.problem}</p>
      ${
        this.#mayChange && this.state !== 'not-offered'
          ? html`<console-content-form .productId=${productId} @product-change=${this.#onChange}></console-content-form>`
          : nothing
      }
      ${
        mayWrite
          ? this.#renderDeletion('Excluir o produto', {
              id: productId,
              path: './products/delete',
              input: { productId },
              title: `Excluir ${name ?? 'o produto'}`,
              price:
                'O produto não é mais vendido: um link de pagamento dele não começa mais nenhum. Quem já pagou continua com o que recebeu. Não é possível desfazer.',
            })
          : nothing
      }
    `;
  }

  #renderDeliveries(): TemplateResult | typeof nothing {
    const { state, deliveries } = this;
    if (state === 'not-offered') return nothing;
    const age =
      state === 'failed'
        ? html`<p class="error" role="status">Não foi possível ler o conteúdo agora. A página tenta de novo sozinha.</p>`
        : staleNotice(this.staleSince, this.api.now());
    if (!deliveries) return state === 'failed' ? html`${age}` : html`<p class="empty">Lendo…</p>`;
    if (deliveries.length === 0)
      return html`${age}<p class="empty">Sem conteúdo: quem paga este produto não recebe nada por aqui.</p>`;
    return html`${age}
      <ul class="contents">${deliveries.map((delivery) => this.#renderDelivery(delivery))}</ul>`;
  }

  #renderDelivery(delivery: Delivery): TemplateResult {
    const { deliveryId, kind, stock, deliveredCount, remainingCount } = delivery;
    const { label, tone } = STOCK_LABELS[stock];
    const content = this.shown[deliveryId];
    const words = [
      deliveredCount === null ? '' : countText(deliveredCount, 'entrega', 'entregas'),
      remainingCount === null ? '' : `${countText(remainingCount, 'código', 'códigos')} em estoque`,
    ];
    return html`<li data-delivery=${deliveryId}>
      <p>
        <strong>${CONTENT_LABELS[kind]}</strong> <span>${words.filter(Boolean).join(' · ')}</span>
        ${remainingCount === null ? nothing : html`<span class="stock ${tone}">${label}</span>`}
      </p>
      ${
        this.api.mayWrite
          ? html`<div class="buttons">
              ${
                kind === 'TEXT' || kind === 'LINK'
                  ? html`<button
                      type="button"
                      class="secondary"
                      aria-expanded=${content === undefined ? 'false' : 'true'}
                      @click=${() => this.#toggleContent(delivery)}
                    >
                      ${content === undefined ? 'Mostrar o conteúdo' : 'Esconder o conteúdo'}
                    </button>`
                  : nothing
              }
              ${
                this.#mayChange
                  ? this.#renderDeletion('Excluir', {
                      id: deliveryId,
                      path: './deliveries/delete',
                      input: { deliveryId },
                      title: `Excluir ${kind === 'CODES' ? 'os códigos' : 'o conteúdo'}`,
                      price: `${kind === 'CODES' ? 'Os códigos em estoque são perdidos.' : 'Quem pagar a partir de agora não o recebe.'} O que já foi entregue continua com quem pagou. Não é possível desfazer.`,
                    })
                  : nothing
              }
            </div>`
          : nothing
      }
      ${content === undefined ? nothing : html`<pre class="content" tabindex="0">${content}</pre>`}
    </li>`;
  }

  #renderDeletion(label: string, deletion: Deletion): TemplateResult {
    if (this.deletion?.id !== deletion.id)
      return html`<button
        type="button"
        class="secondary"
        data-delete=${deletion.id}
        @click=${() => this.#ask(deletion)}
      >
        ${label}
      </button>`;
    return html`<div class="confirmation">
      <p id="price-${deletion.id}">${deletion.price}</p>
      <p class="buttons">
        <button
          type="button"
          class="primary"
          aria-describedby="price-${deletion.id}"
          aria-disabled=${this.busy ? 'true' : 'false'}
          @click=${this.#delete}
        >
          ${deletion.title}
        </button>
        <button type="button" class="secondary" data-keep @click=${() => this.#ask(null)}>Voltar</button>
      </p>
    </div>`;
  }
}

const countText = (count: number, one: string, many: string) =>
  `${count.toLocaleString('pt-BR')} ${count === 1 ? one : many}`;

customElements.define('console-product', ConsoleProduct);
