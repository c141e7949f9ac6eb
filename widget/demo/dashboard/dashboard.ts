import { html, LitElement, nothing, type TemplateResult } from 'lit';
import '../../src/payouts/define.ts';
import '../../src/statement/define.ts';
import { STOCK_LABELS } from '../shared/content.ts';
import { ZONE } from '../shared/format.ts';
import './chart.ts';
import { DISPUTE_COLUMNS, PAYMENT_COLUMNS } from './columns.ts';
import { DashboardData, MORE_FAILED } from './dashboard-data.ts';
import type { FilteredList, PagedList } from './filtered-list.ts';
import './payout-form.ts';
import type { DisputeDialog } from './dispute-dialog.ts';
import './dispute-dialog.ts';
import './live-table.ts';
import './payment-dialog.ts';
import {
  DELIVERY_LABELS,
  DISPUTE_LABELS,
  filterOptions,
  PAYMENT_LABELS,
  SUBACCOUNT_PAYOUT_LABELS,
  SUBSCRIPTION_LABELS,
} from './labels.ts';
import { notices, stateOf } from './notices.ts';
import type { Dispute } from './operations.ts';
import type { Part } from './parts.ts';
import type { Operable, PaymentDialog } from './payment-dialog.ts';
import {
  cardPaymentRow,
  chargeRow,
  contentRow,
  deliveryRow,
  disputeRow,
  pixPaymentRow,
  storeProductRow,
  subaccountPayoutRow,
  subscriptionRow,
} from './rows.ts';
import { renderWallet } from './wallet.ts';

/** The interval at which relative times such as “há 2 min.” are drawn again. */
const TICK_MS = 15_000;

/** A merchant's dashboard, which follows the account live. */
export class DashboardApp extends LitElement {
  readonly #data = new DashboardData(this);
  #tick: ReturnType<typeof setInterval> | undefined;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#tick = setInterval(() => this.requestUpdate(), TICK_MS);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.#tick);
  }

  protected override render(): TemplateResult {
    const { phase, announcement, moreFailed } = this.#data;
    const state = stateOf(this.#data);
    return html`
      <div class="page-header">
        <div><h1>Painel</h1><small>${ZONE}</small></div>
        <p class="connection" data-connection=${state.name} role="status">${state.label}</p>
      </div>
      ${notices(this.#data)}
      ${moreFailed ? html`<p class="network-notice">${MORE_FAILED}</p>` : nothing}
      <p class="sr-only" aria-live="polite" data-announcement>${announcement.text}</p>
      ${phase === 'failed' ? this.#renderFailure() : this.#renderContent()}
    `;
  }

  /** The text of an empty list, which says nothing of one that could not be read. */
  #emptyText<Text>(part: Part, text: Text): Text | string {
    return this.#data.missing.has(part) ? 'Não foi possível ler esta lista agora.' : text;
  }

  #renderFailure(): TemplateResult {
    return html`
      <div class="failure">
        <h2>O painel não conseguiu se conectar.</h2>
        <p>O painel tenta de novo sozinho, a cada poucos segundos.</p>
        <button type="button" class="primary" @click=${() => this.#data.retry()}>Tentar agora</button>
      </div>
    `;
  }

  #renderContent(): TemplateResult {
    const { credentials, wallet, cardPayments, pixPayments, charges, disputes, subscriptions } = this.#data;
    const { subaccountPayouts, subaccountNames, deliveries, simulated, day } = this.#data;
    const open = simulated ? this.#openPayment : null;
    const now = this.#data.now();
    const loading = this.#data.phase === 'loading';
    return html`
      ${renderWallet(this.#data.wallet, this.#data.missing.has('wallet'))}
      <div class="day">
        <day-chart
          class="card"
          .movements=${day.movements}
          .now=${now}
          ?sales-partial=${!day.whole.sales}
          ?outgoing-partial=${!day.whole.outgoing}
        ></day-chart>
        ${
          simulated
            ? html`<payout-form class="card" .availableCents=${wallet?.withdrawableCents ?? null}></payout-form>`
            : nothing
        }
      </div>
      <psa-payouts
        id="payouts"
        class="card"
        .endpoint=${credentials?.endpoint}
        .token=${credentials?.token}
        .renewToken=${this.#data.renewToken}
      >
        <h2 slot="heading">Saques</h2>
        <p slot="empty">
          ${
            simulated
              ? 'Nenhum saque ainda. O primeiro que você pedir aparece aqui e muda de status sozinho.'
              : 'Nenhum saque ainda. O primeiro pedido aparece aqui e muda de status sozinho.'
          }
        </p>
      </psa-payouts>
      <psa-statement
        id="statement"
        class="card"
        export
        .endpoint=${credentials?.endpoint}
        .token=${credentials?.token}
        .renewToken=${this.#data.renewToken}
      >
        <h2 slot="heading">Extrato</h2>
      </psa-statement>
      <live-table
        id="card-payments"
        class="card"
        heading="Pagamentos no cartão"
        .columns=${PAYMENT_COLUMNS}
        .rows=${cardPayments.items.map((payment) =>
          cardPaymentRow(payment, {
            now,
            failedRefund: this.#data.failedRefunds.get(payment.orderCode) ?? null,
            disputed: this.#data.disputed(payment.orderCode),
            open,
          }),
        )}
        .filters=${filterOptions(PAYMENT_LABELS)}
        .emptyText=${this.#emptyText('cardPayments', html`Nenhuma venda ainda. <a href="/demo/">Compre algo na loja</a> e ela aparece aqui.`)}
        ?hasMore=${cardPayments.hasMore}
        ?loading=${loading}
        .filter=${cardPayments.filter}
        .filterState=${cardPayments.state}
        @filter-change=${this.#chooses(cardPayments)}
        @load-more=${() => this.#data.loadMore(cardPayments)}
      ></live-table>
      ${
        this.#data.offersPix
          ? html`<live-table
              id="pix-payments"
              class="card"
              heading="Pagamentos por PIX e LTC"
              .columns=${PAYMENT_COLUMNS}
              .rows=${pixPayments.items.map((payment) =>
                pixPaymentRow(payment, {
                  now,
                  open,
                  disputed: this.#data.disputed(payment.paymentId),
                }),
              )}
              .filters=${filterOptions(PAYMENT_LABELS)}
              .emptyText=${this.#emptyText('payments', 'Nenhum pagamento por PIX ou LTC ainda. O primeiro aparece aqui assim que for criado e muda de status sozinho.')}
              ?hasMore=${pixPayments.hasMore}
              ?loading=${loading}
              .filter=${pixPayments.filter}
              .filterState=${pixPayments.state}
              @filter-change=${this.#chooses(pixPayments)}
              @load-more=${() => this.#data.loadMore(pixPayments)}
            ></live-table>`
          : nothing
      }
      ${
        this.#data.offersCharges
          ? html`<live-table
              id="charges"
              class="card"
              heading="Cobranças por PIX"
              .columns=${PAYMENT_COLUMNS}
              .rows=${charges.items.map((charge) =>
                chargeRow(charge, {
                  now,
                  open,
                  disputed: this.#data.disputed(charge.chargeId),
                  nameOf: (id) => subaccountNames.get(id) ?? id,
                }),
              )}
              .filters=${filterOptions(PAYMENT_LABELS)}
              .emptyText=${this.#emptyText('charges', 'Nenhuma cobrança ainda. A primeira aparece aqui, com a parte de cada subconta, e muda de status sozinha.')}
              ?hasMore=${charges.hasMore}
              ?loading=${loading}
              .filter=${charges.filter}
              .filterState=${charges.state}
              @filter-change=${this.#chooses(charges)}
              @load-more=${() => this.#data.loadMore(charges)}
            ></live-table>`
          : nothing
      }
      ${
        this.#data.offersDisputes
          ? html`<live-table
              id="disputes"
              class="card"
              heading="Disputas de PIX (MED)"
              .columns=${DISPUTE_COLUMNS}
              .rows=${disputes.items.map((dispute) =>
                disputeRow(dispute, { now, open: simulated ? this.#openDispute : null }),
              )}
              .filters=${filterOptions(DISPUTE_LABELS)}
              .emptyText=${this.#emptyText('disputes', 'Nenhuma disputa (MED). A que o banco de um pagador abrir aparece aqui, com o prazo para enviar provas.')}
              ?hasMore=${disputes.hasMore}
              ?loading=${loading}
              .filter=${disputes.filter}
              .filterState=${disputes.state}
              @filter-change=${this.#chooses(disputes)}
              @load-more=${() => this.#data.loadMore(disputes)}
            ></live-table>`
          : nothing
      }
      ${simulated ? html`<dispute-dialog @evidence-submitted=${this.#announce}></dispute-dialog>` : nothing}
      ${
        this.#data.offersSubscriptions
          ? html`<live-table
              id="subscriptions"
              class="card"
              heading="Assinaturas por PIX Automático"
              .columns=${PAYMENT_COLUMNS}
              .rows=${subscriptions.items.map((each) => subscriptionRow(each, { now, open }))}
              .filters=${filterOptions(SUBSCRIPTION_LABELS)}
              .emptyText=${this.#emptyText('subscriptions', 'Nenhuma assinatura ainda. A primeira aparece aqui e muda de status sozinha.')}
              ?hasMore=${subscriptions.hasMore}
              ?loading=${loading}
              .filter=${subscriptions.filter}
              .filterState=${subscriptions.state}
              @filter-change=${this.#chooses(subscriptions)}
              @load-more=${() => this.#data.loadMore(subscriptions)}
            ></live-table>`
          : nothing
      }
      ${simulated ? html`<payment-dialog @payment-operation-done=${this.#announce}></payment-dialog>` : nothing}
      <div class="pair">
        ${
          this.#data.offersSubaccounts || subaccountPayouts.whole.items.length > 0
            ? html`<live-table
              id="subaccount-payouts"
              class="card"
              heading="Saques de subcontas"
              .columns=${[{ label: 'Status' }, { label: 'Valor', numeric: true }, { label: 'Subconta' }, { label: 'Solicitado' }]}
              .rows=${subaccountPayouts.items.map((payout) =>
                subaccountPayoutRow(payout, {
                  now,
                  name: subaccountNames.get(payout.subaccountId) ?? payout.subaccountId,
                }),
              )}
              .filters=${filterOptions(SUBACCOUNT_PAYOUT_LABELS)}
              .emptyText=${this.#emptyText('subaccounts', 'Nenhum saque de subconta ainda. O primeiro pedido aparece aqui.')}
              ?hasMore=${subaccountPayouts.hasMore}
              ?loading=${loading}
              .filter=${subaccountPayouts.filter}
              .filterState=${subaccountPayouts.state}
              @filter-change=${this.#chooses(subaccountPayouts)}
              @load-more=${() => this.#data.loadMore(subaccountPayouts)}
            ></live-table>`
            : nothing
        }
        <live-table
          id="webhooks"
          class="card"
          heading="Webhooks"
          .columns=${[{ label: 'Status' }, { label: 'Evento' }, { label: 'Tentativas' }, { label: 'Criado' }]}
          .rows=${deliveries.items.map((delivery) => deliveryRow(delivery, now))}
          .filters=${filterOptions(DELIVERY_LABELS)}
          .emptyText=${this.#emptyText(
            'webhookDeliveries',
            simulated
              ? 'Nenhum aviso enviado. Assim que a loja tiver um endereço de webhook, cada mudança é entregue lá.'
              : 'Nenhum aviso repassado ainda. Os dos pagamentos que têm um endereço de webhook são entregues lá e aparecem aqui.',
          )}
          ?hasMore=${deliveries.hasMore}
          ?loading=${loading}
          .filter=${deliveries.filter}
          .filterState=${deliveries.state}
          @filter-change=${this.#chooses(deliveries)}
          @load-more=${() => this.#data.loadMore(deliveries)}
        ></live-table>
      </div>
      ${this.#renderCatalogue(now, loading)}
    `;
  }

  #renderCatalogue(now: Date, loading: boolean): TemplateResult | typeof nothing {
    const { contents, storeProducts, offersContents, offersStore } = this.#data.catalogue;
    if (!offersContents && !offersStore) return nothing;
    return html`
      <div class="pair">
        ${
          offersContents
            ? html`<live-table
              id="contents"
              class="card"
              heading="Entregas de produtos"
              .columns=${[{ label: 'Status' }, { label: 'Produto' }, { label: 'Entregues' }, { label: 'Criado' }]}
              .rows=${contents.items.map((content) => contentRow(content, now))}
              .filters=${filterOptions(STOCK_LABELS)}
              .emptyText=${this.#emptyText('deliveries', 'Nenhum conteúdo ainda. O que você ligar a um produto é entregue a quem paga e aparece aqui.')}
              ?hasMore=${contents.hasMore}
              ?loading=${loading}
              .filter=${contents.filter}
              .filterState=${contents.state}
              @filter-change=${this.#chooses(contents)}
              @load-more=${() => this.#data.loadMore(contents)}
            ></live-table>`
            : nothing
        }
        ${
          offersStore
            ? html`<live-table
              id="store-products"
              class="card"
              heading="Produtos da loja"
              .columns=${[{ label: 'Status' }, { label: 'Produto' }, { label: 'Preço', numeric: true }]}
              .rows=${storeProducts.ordered.map(storeProductRow)}
              .filters=${[]}
              .emptyText=${this.#emptyText(
                'storeProducts',
                this.#data.simulated
                  ? html`Nenhum produto na loja ainda. <a href="/simulator/">Ponha um exemplo no simulador</a> e ele aparece aqui.`
                  : 'Nenhum produto na loja ainda. Os que você publicar aparecem aqui.',
              )}
              ?hasMore=${storeProducts.hasMore}
              ?loading=${loading}
              @load-more=${() => this.#data.loadMore(storeProducts)}
            ></live-table>`
            : nothing
        }
      </div>
    `;
  }

  #chooses<Item>(list: FilteredList<Item, PagedList<Item>>) {
    return ({ detail }: CustomEvent<string>) => this.#data.choose(list, detail);
  }

  readonly #openPayment = (payment: Operable) => {
    void this.querySelector<PaymentDialog>('payment-dialog')?.open(payment);
  };

  readonly #openDispute = (dispute: Dispute) => {
    void this.querySelector<DisputeDialog>('dispute-dialog')?.open(dispute, this.#data.now());
  };

  readonly #announce = ({ detail }: CustomEvent<string>) => {
    this.#data.announcement.say(detail);
  };
}

customElements.define('dashboard-app', DashboardApp);
