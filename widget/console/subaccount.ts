import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl } from '../demo/shared/format.ts';
import { type Api, ask } from './api.ts';
import { PagedList, pageOf } from './paged-list.ts';
import './subaccount-payout.ts';
import './subaccount-transfer.ts';
import {
  type Entry,
  type OneSubaccount,
  PAYOUTS,
  type Payout,
  type Payouts,
  STATEMENT,
  type Statement,
  SUBACCOUNT,
  type Subaccount,
} from './subaccount-operations.ts';
import { timeOf } from './time.ts';

const ENTRIES: Record<Entry['kind'], string> = {
  TRANSFER_IN: 'Transferência da conta',
  PAYOUT: 'Saque',
  PAYOUT_REVERSAL: 'Saque devolvido',
  SPLIT_IN: 'Parte de uma cobrança',
  SPLIT_REVERSAL: 'Estorno de uma cobrança',
  UNKNOWN: 'Outro lançamento',
};
const STATUSES: Record<Payout['status'], string> = {
  PROCESSING: 'Em processamento',
  COMPLETED: 'Concluído',
  FAILED: 'Falhou',
  UNKNOWN: 'Desconhecido',
};

/** A subaccount with its balance, its statement and its payouts, and what can be requested of it. */
export class ConsoleSubaccount extends LitElement {
  static override properties = { api: { attribute: false }, subaccountId: { attribute: false } };

  declare api: Api;
  declare subaccountId: string;
  readonly #found: PagedList<Subaccount>;
  readonly #statement: PagedList<Entry>;
  readonly #payouts: PagedList<Payout>;

  constructor() {
    super();
    // A list of one: it is read again, and grows old, as the other two.
    this.#found = new PagedList(
      this,
      ({ subaccountId }) => subaccountId,
      async () => {
        const { data, codes, staleSince } = await ask<OneSubaccount>(this.api, SUBACCOUNT, this.#variables());
        if (codes.subaccount && codes.subaccount !== 'BAD_USER_INPUT')
          throw new Error('The subaccount could not be read');
        return { items: data.subaccount ? [data.subaccount] : [], total: null, next: null, staleSince };
      },
    );
    this.#statement = new PagedList(
      this,
      ({ kind, refId }) => `${kind} ${refId}`,
      async (after) => {
        const answer = await ask<Statement>(this.api, STATEMENT, { ...this.#variables(), after });
        return pageOf(answer, 'subaccount', ({ statement }) => statement);
      },
    );
    this.#payouts = new PagedList(
      this,
      ({ payoutId, createdAt }) => payoutId ?? createdAt,
      async (after) => {
        const answer = await ask<Payouts>(this.api, PAYOUTS, { ...this.#variables(), after });
        return pageOf(answer, 'subaccount', ({ payouts }) => payouts);
      },
    );
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  #variables() {
    return { id: this.subaccountId };
  }

  readonly #reload = () => {
    for (const list of [this.#found, this.#statement, this.#payouts]) void list.reload();
  };

  protected override render(): TemplateResult {
    const [subaccount] = this.#found.items;
    return html`
      <p><a data-page href="./subaccounts">‹ Todas as subcontas</a></p>
      <section class="card facts">
        ${this.#found.render({ empty: 'Esta subconta não existe nesta conta.', absent: '' }, this.#renderFacts)}
      </section>
      ${
        subaccount && this.api.mayPaySubaccounts
          ? html`<console-transfer class="card" .api=${this.api} .subaccount=${subaccount} @console-done=${this.#reload}></console-transfer>
              <console-subaccount-payout class="card" .api=${this.api} .subaccount=${subaccount} @console-done=${this.#reload}></console-subaccount-payout>`
          : nothing
      }
      ${
        subaccount
          ? html`<section class="card" aria-labelledby="payouts-title">
                <h2 id="payouts-title">Saques da subconta</h2>
                ${this.#payouts.render(
                  {
                    empty: 'Ainda não há saques desta subconta.',
                    absent: 'O serviço por trás deste servidor não mostra estes saques.',
                  },
                  this.#renderPayout,
                )}
              </section>
              <section class="card" aria-labelledby="statement-title">
                <h2 id="statement-title">Extrato da subconta</h2>
                ${this.#statement.render(
                  {
                    empty: 'Ainda não há lançamentos.',
                    absent: 'O serviço por trás deste servidor não mostra este extrato.',
                  },
                  this.#renderEntry,
                )}
              </section>`
          : nothing
      }
    `;
  }

  readonly #renderFacts = ({ subaccountId, name, externalId, balanceCents, createdAt }: Subaccount) => html`
    <span class="what">
      <strong><bdi>${name ?? 'Subconta'}</bdi></strong>
      <small
        ><code>${subaccountId}</code>${externalId === null ? nothing : html` · <bdi>${externalId}</bdi>`}${createdAt === null ? nothing : html` · aberta ${timeOf(createdAt, this.api.now())}`}</small
      >
    </span>
    <span class="numeric"><small>Saldo</small><strong>${balanceCents === null ? '—' : formatBrl(balanceCents)}</strong></span>
  `;

  readonly #renderPayout = (payout: Payout) => html`
    <span class="what">
      <strong>${stateOf(payout)}</strong>
      <small>
        <code>${payout.code ?? payout.payoutId ?? '—'}</code> · ${timeOf(payout.createdAt, this.api.now())}
        ${[payout.pixKey, payout.recipientName].map((text) => (text === null ? nothing : html` · <bdi>${text}</bdi>`))}
        ${payout.failureReason === null ? nothing : html` · <bdi>${payout.failureReason}</bdi>`}
      </small>
    </span>
    <span class="numeric">
      <strong>${formatBrl(payout.amountCents)}</strong>
      <small>${payout.netAmountCents === null ? nothing : `recebe ${formatBrl(payout.netAmountCents)}`}</small>
    </span>
  `;

  readonly #renderEntry = ({ kind, refId, amountCents, balanceAfterCents, createdAt }: Entry) => html`
    <span class="what">
      <strong>${ENTRIES[kind] ?? ENTRIES.UNKNOWN}</strong>
      <small><code>${refId}</code> · ${timeOf(createdAt, this.api.now())}</small>
    </span>
    <span class="numeric">
      <strong>${formatBrl(amountCents)}</strong>
      <small>${balanceAfterCents === null ? nothing : `saldo ${formatBrl(balanceAfterCents)}`}</small>
    </span>
  `;
}

function stateOf({ status, reversed, inDoubt }: Payout): string {
  if (inDoubt) return 'Ainda sem resposta';
  if (reversed) return 'Devolvido à subconta';
  return STATUSES[status] ?? STATUSES.UNKNOWN;
}

customElements.define('console-subaccount', ConsoleSubaccount);
