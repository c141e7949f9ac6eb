import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { formatBrl } from '../../demo/shared/format.ts';
import type { Api } from '../api.ts';
import { keepFocusIn } from '../keep-focus.ts';
import { Polling } from '../polling.ts';
import { staleNotice } from '../stale.ts';
import { STOCK_LABELS } from './content.ts';
import { type Delivery, LOW_STOCKS, PRODUCTS, type Product } from './operations.ts';
import './product.ts';
import './product-form.ts';
import { readAll } from './read-all.ts';

/** The pause between two reads: no event announces a stock that changes. */
const EVERY_MS = 30_000;

const STOCKS = ['LOW', 'EMPTY'] as const;
type LowStock = (typeof STOCKS)[number];

/** The products of an account, each with its content and stocks. An account has some hundred at most, so all are read. */
export class ConsoleProducts extends LitElement {
  static override properties = {
    api: { attribute: false },
    stock: { attribute: false },
    search: { attribute: false },
    products: { state: true },
    lowStocks: { state: true },
    state: { state: true },
    staleSince: { state: true },
    open: { state: true },
  };

  declare api: Api;
  /** The stock by which the list is filtered; another text filters nothing. */
  declare stock: string;
  /** The part of a name by which the list is filtered. */
  declare search: string;
  /** Null until they are read. */
  declare products: readonly Product[] | null;
  /** The lowest stock of each product that has a low one, by its id; null if the service does not say. */
  declare lowStocks: ReadonlyMap<string, LowStock> | null;
  declare state: 'read' | 'failed' | 'not-offered';
  declare staleSince: Date | null;
  /** The ids of the products that are opened. */
  declare open: ReadonlySet<string>;
  readonly #polling = new Polling(this, () => this.#read(), EVERY_MS);

  constructor() {
    super();
    this.stock = '';
    this.search = '';
    this.products = null;
    this.lowStocks = null;
    this.state = 'read';
    this.staleSince = null;
    this.open = new Set();
    keepFocusIn(this);
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  async #read(): Promise<void> {
    try {
      const [products, lowStocks] = await Promise.all([
        readAll<Product>(this.api, PRODUCTS, 'products'),
        readAll<Delivery>(this.api, LOW_STOCKS, 'deliveries'),
      ]);
      this.products = products.items ?? this.products;
      if (lowStocks.items) this.lowStocks = lowestOf(lowStocks.items);
      else if (lowStocks.code === 'NOT_OFFERED') this.lowStocks = null;
      this.state = products.items ? 'read' : products.code === 'NOT_OFFERED' ? 'not-offered' : 'failed';
      this.staleSince = products.staleSince ?? lowStocks.staleSince;
    } catch {
      this.state = 'failed';
    }
  }

  #choose(values: Partial<Pick<ConsoleProducts, 'stock' | 'search'>>): void {
    Object.assign(this, values);
    this.dispatchEvent(new CustomEvent('filter-change'));
  }

  readonly #onChange = () => void this.#polling.now();

  protected override render(): TemplateResult {
    if (this.state === 'not-offered')
      return html`<section class="card"><p class="empty">O serviço desta conta não oferece produtos.</p></section>`;
    return html`
      ${
        this.api.mayWrite
          ? html`<details class="card new-product">
              <summary>Novo produto</summary>
              <console-product-form @product-change=${this.#onChange}></console-product-form>
            </details>`
          : nothing
      }
      <section class="card" aria-labelledby="products-title">
        <h2 id="products-title">Produtos da conta</h2>
        ${this.#renderFilter()}
        ${this.state === 'failed' ? html`<p class="error" role="status">Não foi possível ler agora. A página tenta de novo sozinha.</p>` : staleNotice(this.staleSince, this.api.now())}
        ${this.#renderList()}
      </section>
    `;
  }

  #renderFilter(): TemplateResult {
    const { stock, search, lowStocks } = this;
    const chosen = isLow(stock) ? stock : '';
    const button = (value: string, label: string) =>
      html`<button type="button" class="secondary" aria-pressed=${value === chosen ? 'true' : 'false'} @click=${() => this.#choose({ stock: value })}>
        ${label}
      </button>`;
    return html`<div class="product-filter">
      <input
        type="search"
        aria-label="Buscar pelo nome"
        placeholder="Buscar pelo nome"
        autocomplete="off"
        maxlength="200"
        .value=${search}
        @input=${({ target }: Event) => this.#choose({ search: (target as HTMLInputElement).value })}
      />
      ${
        lowStocks
          ? html`<div class="buttons" role="group" aria-label="Filtrar pelo estoque">
              ${button('', 'Todos')}${STOCKS.map((value) => button(value, STOCK_LABELS[value].label))}
            </div>`
          : nothing
      }
    </div>`;
  }

  #renderList(): TemplateResult | typeof nothing {
    const { products } = this;
    if (!products) return this.state === 'failed' ? nothing : html`<p class="empty">Lendo…</p>`;
    if (products.length === 0)
      return html`<p class="empty">Nenhum produto ainda. Um produto tem um preço fixo, e entrega textos, links ou códigos a quem paga.</p>`;
    const shown = products.filter((product) => this.#isShown(product));
    const count = shown.length === 1 ? '1 produto' : `${shown.length.toLocaleString('pt-BR')} produtos`;
    return html`
      <div class="products">
        ${repeat(
          shown,
          ({ productId }) => productId,
          (product) => this.#renderProduct(product),
        )}
      </div>
      <p class="hint" role="status">${shown.length === 0 ? 'Nenhum produto com este filtro.' : count}</p>
    `;
  }

  #isShown({ productId, name }: Product): boolean {
    const hasStock = !this.lowStocks || !isLow(this.stock) || this.lowStocks.get(productId) === this.stock;
    return hasStock && plain(name ?? '').includes(plain(this.search));
  }

  #renderProduct(product: Product): TemplateResult {
    const { productId, name, priceCents } = product;
    const stock = this.lowStocks?.get(productId);
    return html`<details class="product" data-product=${productId} @toggle=${this.#onToggle}>
      <summary>
        <span class="name">${name ?? 'Sem nome'}</span>
        ${stock ? html`<span class="stock ${STOCK_LABELS[stock].tone}">${STOCK_LABELS[stock].label}</span>` : nothing}
        <span class="numeric">${priceCents === null ? '—' : formatBrl(priceCents)}</span>
      </summary>
      ${
        this.open.has(productId)
          ? html`<console-product .api=${this.api} .product=${product} @product-change=${this.#onChange}></console-product>`
          : nothing
      }
    </details>`;
  }

  readonly #onToggle = ({ currentTarget }: Event): void => {
    const { open, dataset } = currentTarget as HTMLDetailsElement;
    const ids = new Set(this.open);
    if (open) ids.add(dataset.product!);
    else ids.delete(dataset.product!);
    this.open = ids;
  };
}

const isLow = (text: string): text is LowStock => (STOCKS as readonly string[]).includes(text);

/** A text without accents and case, for comparisons. */
const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim();

/** The lowest stock of each product. */
function lowestOf(deliveries: readonly Delivery[]): Map<string, LowStock> {
  const lowest = new Map<string, LowStock>();
  for (const { productId, stock } of deliveries)
    if (productId !== null && isLow(stock) && lowest.get(productId) !== 'EMPTY') lowest.set(productId, stock);
  return lowest;
}

customElements.define('console-products', ConsoleProducts);
