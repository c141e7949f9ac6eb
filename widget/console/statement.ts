import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { createRef, ref } from 'lit/directives/ref.js';
import '../src/statement/define.ts';
import type { PsaStatement } from '../src/statement/psa-statement.ts';
import { createSharedFilter } from './address.ts';
import type { Api } from './api.ts';
import { type Month, monthsUntil } from './months.ts';
import './report.ts';

const filter = createSharedFilter('kinds createdAfter createdBefore amountCents reference sort'.split(' '));

/** The statement of the account: the sums of a month, and the entries. */
export class ConsoleStatement extends LitElement {
  static override properties = { api: { attribute: false }, month: { state: true } };

  declare api: Api;
  /** The month to which the list is bounded; null for another period. */
  declare month: Month | null;
  #months: readonly Month[] = [];
  readonly #list = createRef<PsaStatement>();

  constructor() {
    super();
    this.month = null;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#months = monthsUntil(this.api.now());
  }

  protected override firstUpdated(): void {
    filter.attach(this.#list.value);
    this.#findMonth();
  }

  #findMonth(): void {
    const { createdAfter, createdBefore } = this.#list.value ?? {};
    const isShown = ({ startsAt, endsAt }: Month) => startsAt === createdAfter && endsAt === createdBefore;
    this.month = this.#months.find(isShown) ?? null;
  }

  readonly #share = async (): Promise<void> => {
    if (this.#list.value) await filter.share(this.#list.value);
    this.#findMonth();
  };

  readonly #choose = async ({ target }: Event): Promise<void> => {
    const list = this.#list.value;
    if (!list) return;
    const { value } = target as HTMLSelectElement;
    this.month = this.#months.find(({ name }) => name === value) ?? null;
    list.createdAfter = this.month?.startsAt;
    list.createdBefore = this.month?.endsAt;
    await filter.share(list);
  };

  protected override render(): TemplateResult {
    const { month, api } = this;
    return html`
      <section class="card period">
        <div class="field">
          <label for="month">Fechamento do mês</label>
          <select id="month" @change=${this.#choose}>
            <option value="" .selected=${!month}>Escolha um mês</option>
            ${this.#months.map(
              ({ name, label }) =>
                html`<option value=${name} .selected=${name === month?.name}>${label}</option>`,
            )}
          </select>
        </div>
        ${month ? html`<console-report .api=${api} .month=${month}></console-report>` : nothing}
      </section>
      <psa-statement
        class="card"
        details
        export
        .endpoint=${api.endpoint}
        .token=${api.token}
        .renewToken=${api.renewToken}
        @psa-filter-change=${this.#share}
        @psa-sort-change=${this.#share}
        ${ref(this.#list)}
        ><h2 slot="heading">Lançamentos</h2></psa-statement
      >
    `;
  }
}

customElements.define('console-statement', ConsoleStatement);

export const render = (api: Api): TemplateResult => html`<console-statement .api=${api}></console-statement>`;
