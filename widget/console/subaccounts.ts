import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl } from '../demo/shared/format.ts';
import { type FilterField, initialValues, readForm } from '../src/list/filter-fields.ts';
import { controls as texts } from '../src/list/locales/pt-BR.filters.ts';
import type { ListTexts } from '../src/list/locales/texts.ts';
import { createSharedFilter } from './address.ts';
import { type Api, ask } from './api.ts';
import { PagedList, pageOf } from './paged-list.ts';
import './subaccount.ts';
import {
  SUBACCOUNTS,
  type Subaccount,
  type SubaccountFilter,
  type Subaccounts,
} from './subaccount-operations.ts';
import { timeOf } from './time.ts';

const filter = createSharedFilter(['externalId', 'createdAfter', 'createdBefore']);
const FIELDS: readonly FilterField<ListTexts>[] = [
  { name: 'externalId', label: 'search', reads: 'text' },
  { name: 'createdAfter', label: 'search', reads: 'from' },
  { name: 'createdBefore', label: 'search', reads: 'until' },
];
const FORMATS = { money: formatBrl, number: String };

/** The subaccounts of the account, newest first, by the filter of the address. */
export class ConsoleSubaccounts extends LitElement {
  static override properties = {
    api: { attribute: false },
    externalId: { attribute: false },
    createdAfter: { attribute: false },
    createdBefore: { attribute: false },
    errors: { state: true },
  };

  declare api: Api;
  declare externalId: string | undefined;
  declare createdAfter: string | undefined;
  declare createdBefore: string | undefined;
  declare errors: Partial<Record<string, string>>;
  readonly #list: PagedList<Subaccount>;

  constructor() {
    super();
    this.errors = {};
    filter.attach(this);
    this.#list = new PagedList(
      this,
      ({ subaccountId }) => subaccountId,
      async (after) => {
        const variables = { after, filter: this.#filter() };
        return pageOf(await ask<Subaccounts>(this.api, SUBACCOUNTS, variables), 'subaccounts');
      },
    );
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  #filter(): SubaccountFilter {
    const { externalId, createdAfter, createdBefore } = this;
    return {
      ...(externalId && { externalId }),
      ...(createdAfter && { createdAfter }),
      ...(createdBefore && { createdBefore }),
    };
  }

  readonly #apply = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const initial = initialValues(this, FIELDS, FORMATS);
    const { changes, errors } = readForm(form, FIELDS, initial, FORMATS);
    this.errors = Object.fromEntries(
      Object.entries(errors).map(([name, error]) => [name, error && texts[error]]),
    );
    if (Object.keys(errors).length === 0) this.#choose(changes);
  };

  readonly #clear = (): void => {
    this.errors = {};
    this.#choose({ externalId: undefined, createdAfter: undefined, createdBefore: undefined });
  };

  #choose(conditions: object): void {
    Object.assign(this, conditions);
    void filter.share(this);
    this.#list.restart();
  }

  protected override render(): TemplateResult {
    const isFiltered = Object.keys(this.#filter()).length > 0;
    const { total } = this.#list;
    return html`
      <section class="card">
        <form class="filter" novalidate @submit=${this.#apply}>
          ${this.#field('externalId', 'Seu identificador', 'text')}
          ${this.#field('createdAfter', 'Aberta desde', 'date')}
          ${this.#field('createdBefore', 'Aberta até', 'date')}
          <p class="buttons">
            <button class="secondary">Filtrar</button>
            ${isFiltered ? html`<button type="button" class="secondary" @click=${this.#clear}>Limpar</button>` : nothing}
          </p>
        </form>
      </section>
      <section class="card" aria-labelledby="subaccounts-title">
        <h2 id="subaccounts-title">
          Subcontas da conta ${total === null ? nothing : html`<small>${total === 1 ? '1 subconta' : `${total} subcontas`}</small>`}
        </h2>
        ${this.#list.render(
          {
            empty: isFiltered ? 'Nenhuma subconta com este filtro.' : 'Ainda não há subcontas.',
            absent: 'O serviço por trás deste servidor não mostra a lista das subcontas.',
          },
          this.#renderItem,
        )}
      </section>
    `;
  }

  #field(name: string, label: string, type: 'text' | 'date'): TemplateResult {
    const error = this.errors[name] ?? '';
    return html`<div class="field">
      <label for=${name}>${label}</label>
      <input
        id=${name}
        name=${name}
        type=${type}
        autocomplete="off"
        .value=${initialValues(this, FIELDS, FORMATS)[name] ?? ''}
        aria-invalid=${error ? 'true' : 'false'}
        aria-describedby="${name}-error"
      />
      <p id="${name}-error" class="form-error">${error}</p>
    </div>`;
  }

  readonly #renderItem = ({ subaccountId, name, externalId, balanceCents, createdAt }: Subaccount) => html`
    <span class="what">
      <a data-page href=${`./subaccounts?subaccountId=${encodeURIComponent(subaccountId)}`}
        ><bdi>${name ?? subaccountId}</bdi></a
      >
      <small>
        ${externalId === null ? nothing : html`<bdi>${externalId}</bdi> · `}
        ${createdAt === null ? nothing : timeOf(createdAt, this.api.now())}
      </small>
    </span>
    <strong class="numeric">${balanceCents === null ? '—' : formatBrl(balanceCents)}</strong>
  `;
}

customElements.define('console-subaccounts', ConsoleSubaccounts);

/** The subaccount of the address; without one all of them. */
export function render(api: Api): TemplateResult {
  const subaccountId = new URL(location.href).searchParams.get('subaccountId');
  return subaccountId
    ? html`<console-subaccount .api=${api} .subaccountId=${subaccountId}></console-subaccount>`
    : html`<console-subaccounts .api=${api}></console-subaccounts>`;
}
