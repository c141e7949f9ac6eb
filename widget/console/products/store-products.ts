import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl } from '../../demo/shared/format.ts';
import type { Api } from '../api.ts';
import { Polling } from '../polling.ts';
import { STORE_PRODUCTS, type StoreProduct } from './operations.ts';
import { readAll } from './read-all.ts';

/** The store is changed by hand, and elsewhere. */
const EVERY_MS = 300_000;

/** The products of the chat platform's store, which are changed there alone. Without such a store there is nothing. */
export class ConsoleStoreProducts extends LitElement {
  static override properties = { api: { attribute: false }, products: { state: true } };

  declare api: Api;
  declare products: readonly StoreProduct[];

  constructor() {
    super();
    this.products = [];
    new Polling(this, () => this.#read(), EVERY_MS);
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  async #read(): Promise<void> {
    try {
      const { items } = await readAll<StoreProduct>(this.api, STORE_PRODUCTS, 'storeProducts');
      this.products = items ?? this.products;
    } catch {
      // What was read stays.
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.products.length === 0) return nothing;
    return html`<section class="card" aria-labelledby="store-title">
      <h2 id="store-title">Produtos da loja</h2>
      <p class="hint">São mudados na loja do chat.</p>
      <div class="scroller" tabindex="0" role="region" aria-labelledby="store-title">
        <table>
          <thead>
            <tr>
              <th scope="col">Produto</th>
              <th scope="col">Situação</th>
              <th scope="col" class="numeric">Preço</th>
            </tr>
          </thead>
          <tbody>
            ${this.products.map(
              ({ storeProductId, name, price, priceCents, available }) => html`<tr>
                <th scope="row">${name ?? storeProductId}</th>
                <td>${available === null ? '—' : available ? 'À venda' : 'Indisponível'}</td>
                <td class="numeric">${priceCents === null ? (price ?? '—') : formatBrl(priceCents)}</td>
              </tr>`,
            )}
          </tbody>
        </table>
      </div>
    </section>`;
  }
}

customElements.define('console-store-products', ConsoleStoreProducts);
