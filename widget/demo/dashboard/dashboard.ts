import { html, LitElement, nothing, type TemplateResult } from 'lit';
import '../../src/payouts/define.ts';
import { formatBrl, formatFull, formatLtc, formatRelative, formatTime } from '../shared/format.ts';
import './chart.ts';
import type { MoneyMovement } from './chart.ts';
import { type ConnectionState, DashboardData } from './dashboard-data.ts';
import type { CardPayment, SubaccountPayout, WebhookDelivery } from './operations.ts';
import './payout-form.ts';
import './live-table.ts';
import './payment-dialog.ts';
import type { TableRow } from './live-table.ts';
import { operationOf, type PaymentDialog } from './payment-dialog.ts';

type Tone = 'waiting' | 'good' | 'bad' | 'neutral' | 'warning';
type StatusLabels<Status extends string> = Record<Status, { label: string; tone: Tone }>;

const SUBACCOUNT_PAYOUT_LABELS: StatusLabels<SubaccountPayout['status']> = {
  PROCESSING: { label: 'Em processamento', tone: 'warning' },
  COMPLETED: { label: 'Concluído', tone: 'good' },
  FAILED: { label: 'Falhou', tone: 'bad' },
  UNKNOWN: { label: 'Desconhecido', tone: 'neutral' },
};
const CARD_PAYMENT_LABELS: StatusLabels<CardPayment['status']> = {
  PENDING: { label: 'Aguardando', tone: 'waiting' },
  PAID: { label: 'Pago', tone: 'good' },
  EXPIRED: { label: 'Expirado', tone: 'neutral' },
  REFUNDED: { label: 'Estornado', tone: 'warning' },
  FAILED: { label: 'Recusado', tone: 'bad' },
  UNKNOWN: { label: 'Desconhecido', tone: 'neutral' },
};
const CANCELED_LABEL = { label: 'Cancelado', tone: 'neutral' } as const;
const OPERATION_LABELS = { refund: 'Estornar', cancel: 'Cancelar' } as const;
const DELIVERY_LABELS: StatusLabels<WebhookDelivery['status']> = {
  PENDING: { label: 'Tentando', tone: 'waiting' },
  DELIVERED: { label: 'Entregue', tone: 'good' },
  EXHAUSTED: { label: 'Desistiu', tone: 'bad' },
};
const CONNECTION_LABELS: Record<ConnectionState, string> = {
  connecting: 'Conectando…',
  live: 'Ao vivo',
  reconnecting: 'Reconectando…',
  offline: 'Sem rede',
};
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
    const { phase, connection, announcement } = this.#data;
    return html`
      <div class="page-header">
        <h1>Painel</h1>
        <p class="connection" data-connection=${connection} role="status">${CONNECTION_LABELS[connection]}</p>
      </div>
      ${this.#renderNetworkNotice()}
      <p class="sr-only" aria-live="polite" data-announcement>${announcement}</p>
      ${phase === 'failed' ? this.#renderFailure() : this.#renderContent()}
    `;
  }

  #renderNetworkNotice(): TemplateResult | typeof nothing {
    const { phase, connection } = this.#data;
    if (phase !== 'ready' || connection === 'live' || connection === 'connecting') return nothing;
    return html`
      <p class="network-notice">
        ${
          connection === 'offline'
            ? 'Você está sem rede. Os números são os últimos recebidos; nada se perde, o painel alcança quando ela voltar.'
            : 'Conexão perdida. Reconectando; o que mudar enquanto isso chega em seguida.'
        }
      </p>
    `;
  }

  #renderFailure(): TemplateResult {
    return html`
      <div class="failure">
        <h2>O servidor não respondeu.</h2>
        <p>O painel tenta de novo sozinho, a cada poucos segundos.</p>
        <button type="button" class="primary" @click=${() => this.#data.retry()}>Tentar agora</button>
      </div>
    `;
  }

  #renderContent(): TemplateResult {
    const { credentials, wallet, cardPayments, subaccountPayouts, deliveries, phase, simulated } = this.#data;
    const now = this.#data.now();
    const loading = phase === 'loading';
    return html`
      ${this.#renderWallet()}
      <div class="day">
        <day-chart class="card" .movements=${this.#movements()} .now=${now}></day-chart>
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
              ? 'Nenhum saque ainda. O primeiro que você pedir aparece aqui e muda de estado sozinho.'
              : 'Nenhum saque ainda. O primeiro que a API pedir, com requestPayout, aparece aqui e muda de estado sozinho.'
          }
        </p>
      </psa-payouts>
      <live-table
        id="card-payments"
        class="card"
        heading="Pagamentos no cartão"
        .columns=${[{ label: 'Estado' }, { label: 'Valor', numeric: true }, { label: 'Venda' }, { label: 'Código' }, { label: 'Criado' }]}
        .rows=${newestFirst([...cardPayments.items.values()], ({ createdAt }) => createdAt).map((payment) => this.#cardPaymentRow(payment, now))}
        .filters=${filterOptions(CARD_PAYMENT_LABELS)}
        .emptyText=${html`Nenhuma venda ainda. <a href="/demo/">Compre algo na loja</a> e ela aparece aqui.`}
        ?hasMore=${cardPayments.pageInfo.hasNextPage}
        ?loading=${loading}
        @load-more=${() => this.#data.loadMoreCardPayments()}
      ></live-table>
      ${simulated ? html`<payment-dialog @payment-operation-done=${this.#announce}></payment-dialog>` : nothing}
      <div class="pair">
        <live-table
          id="subaccount-payouts"
          class="card"
          heading="Saques de subcontas"
          .columns=${[{ label: 'Estado' }, { label: 'Valor', numeric: true }, { label: 'Subconta' }, { label: 'Pedido' }]}
          .rows=${newestFirst([...subaccountPayouts.values()], ({ createdAt }) => createdAt).map((payout) => this.#subaccountPayoutRow(payout, now))}
          .filters=${filterOptions(SUBACCOUNT_PAYOUT_LABELS)}
          .emptyText=${'Nenhum saque de subconta. Eles são pedidos pela API, com requestSubaccountPayout.'}
          ?loading=${loading}
        ></live-table>
        <live-table
          id="webhooks"
          class="card"
          heading="Webhooks"
          .columns=${[{ label: 'Estado' }, { label: 'Evento' }, { label: 'Tentativas' }, { label: 'Criado' }]}
          .rows=${deliveries.map((delivery) => deliveryRow(delivery, now))}
          .filters=${filterOptions(DELIVERY_LABELS)}
          .emptyText=${
            simulated
              ? 'Nenhum aviso enviado. Configure um endereço com configureWebhook e cada mudança é entregue lá.'
              : 'Nenhum aviso repassado. Os de um pagamento com callbackUrl são entregues lá, como o serviço os assinou.'
          }
          ?loading=${loading}
        ></live-table>
      </div>
    `;
  }

  #renderWallet(): TemplateResult {
    const wallet = this.#data.wallet;
    const figure = <V>(value: V | null | undefined, format: (value: V) => string) =>
      value === undefined ? html`<i class="placeholder"></i>` : value === null ? '—' : format(value);
    return html`
      <section class="wallet" aria-label="Carteira" aria-busy=${wallet ? 'false' : 'true'}>
        <dl>
          <div class="main-figure">
            <dt>Disponível para saque</dt>
            <dd data-figure="available">${figure(wallet?.withdrawableCents, formatBrl)}</dd>
          </div>
          <div><dt>Saldo</dt><dd data-figure="balance">${figure(wallet?.balanceCents, formatBrl)}</dd></div>
          <div><dt>A liberar</dt><dd data-figure="pending-release">${figure(wallet?.pendingReleaseCents, formatBrl)}</dd></div>
          ${
            wallet?.receivableCents
              ? html`<div><dt>A descontar</dt><dd data-figure="receivable">${formatBrl(wallet.receivableCents)}</dd></div>`
              : null
          }
          <div><dt>Em disputa</dt><dd data-figure="disputes">${figure(wallet?.disputeBlockedCents, formatBrl)}</dd></div>
          <div><dt>Em subcontas</dt><dd data-figure="subaccounts">${figure(wallet?.subaccountsBalanceCents, formatBrl)}</dd></div>
          <div>
            <dt>Litecoin</dt>
            <dd data-figure="ltc">${figure(wallet?.cryptoBalanceLtc, formatLtc)}</dd>
          </div>
        </dl>
      </section>
    `;
  }

  #subaccountPayoutRow(payout: SubaccountPayout, now: Date): TableRow {
    return {
      key: payout.id,
      status: payout.status,
      version: payout.version,
      cells: [
        statusCell(
          SUBACCOUNT_PAYOUT_LABELS[payout.status],
          payout.reversed ? 'valor devolvido' : payout.failureReason,
        ),
        html`${formatBrl(payout.amountCents)}`,
        html`<span class="strong">${this.#data.subaccountNames.get(payout.subaccountId) ?? payout.subaccountId}</span>
          <small>${payout.recipientName ?? payout.pixKey ?? ''}</small>`,
        timeCell(payout.createdAt, now),
      ],
    };
  }

  #cardPaymentRow(payment: CardPayment, now: Date): TableRow {
    const { orderCode, status, version, refundedCents, refundableCents } = payment;
    const operation = this.#data.simulated ? operationOf(payment) : null;
    const failedRefund = this.#data.failedRefunds.get(orderCode) ?? null;
    return {
      key: orderCode,
      status,
      version: `${version} ${refundedCents} ${refundableCents} ${failedRefund}`,
      cells: [
        statusCell(
          payment.canceledAt && status === 'EXPIRED' ? CANCELED_LABEL : CARD_PAYMENT_LABELS[status],
          payment.failureReason ?? refundSummary(payment, failedRefund),
        ),
        html`${formatBrl(payment.amountCents)}`,
        html`<span class="strong">${payment.description ?? 'Sem descrição'}</span>
          <small>${payment.customer?.name ?? ''}</small>`,
        html`<code>${orderCode}</code>
          ${
            operation
              ? html`<button
                  type="button"
                  class="secondary operation"
                  aria-label=${`${OPERATION_LABELS[operation]} ${payment.description ?? orderCode}`}
                  @click=${() => this.querySelector<PaymentDialog>('payment-dialog')?.open(payment)}
                >
                  ${OPERATION_LABELS[operation]}
                </button>`
              : nothing
          }`,
        timeCell(payment.createdAt, now),
      ],
    };
  }

  readonly #announce = ({ detail }: CustomEvent<string>) => {
    this.#data.announcement = detail;
    this.requestUpdate();
  };

  /** The money movements that the chart of the day shows. */
  #movements(): MoneyMovement[] {
    const { payouts, cardPayments, subaccountPayouts } = this.#data;
    const at = (instant: string | null, cents: number): MoneyMovement[] =>
      instant === null ? [] : [{ at: new Date(instant), cents }];
    return [
      ...[...cardPayments.items.values()].flatMap(({ paidAt, refundedAt, amountCents }) => [
        ...at(paidAt, amountCents),
        ...at(refundedAt, -amountCents),
      ]),
      ...[...payouts.items.values()]
        .filter(({ status }) => status === 'COMPLETED')
        .flatMap(({ processedAt, amountCents }) => at(processedAt, -amountCents)),
      ...[...subaccountPayouts.values()]
        .filter(({ status }) => status === 'COMPLETED')
        .flatMap(({ completedAt, amountCents }) => at(completedAt, -amountCents)),
    ];
  }
}

/** Says how much of a paid payment was given back or is on its way, and why its last refund failed; null: nothing. */
function refundSummary(
  { status, amountCents, refundedCents, refundableCents }: CardPayment,
  failedRefund: string | null,
): string | null {
  if (status !== 'PAID' || refundedCents === null || refundableCents === null) return null;
  const onTheWay = amountCents - refundedCents - refundableCents;
  const parts = [
    refundedCents > 0 ? `${formatBrl(refundedCents)} estornados` : '',
    onTheWay > 0 ? `${formatBrl(onTheWay)} a caminho de volta` : '',
    failedRefund ? `estorno recusado: ${failedRefund}` : '',
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(', ') : null;
}

function deliveryRow(delivery: WebhookDelivery, now: Date): TableRow {
  const last = delivery.attempts.at(-1);
  const next = delivery.nextAttemptAt;
  return {
    key: delivery.webhookId,
    status: delivery.status,
    version: `${delivery.status} ${delivery.attempts.length}`,
    cells: [
      statusCell(
        DELIVERY_LABELS[delivery.status],
        delivery.status === 'PENDING' && next
          ? `${last ? 'de novo ' : ''}${formatRelative(new Date(next), now)}`
          : null,
      ),
      html`<span class="strong">${delivery.event}</span>
        <small class="target-url" title=${delivery.url}>${delivery.url}</small>`,
      html`${delivery.attempts.length}<span class="narrow-only"> ${delivery.attempts.length === 1 ? 'tentativa' : 'tentativas'}</span>
        <small>${last ? (last.responseStatus ?? last.error ?? 'sem resposta') : 'nenhuma ainda'}</small>`,
      timeCell(delivery.createdAt, now),
    ],
  };
}

function statusCell({ label, tone }: { label: string; tone: Tone }, reason: string | null): TemplateResult {
  return html`<span class="status" data-tone=${tone}>${label}</span>
    ${reason ? html`<small class="reason">${reason}</small>` : nothing}`;
}

function timeCell(instant: string | null, now: Date): TemplateResult {
  if (instant === null) return html`—`;
  const at = new Date(instant);
  return html`<time datetime=${instant} title=${formatFull(at)}>
    <span>${formatRelative(at, now)}</span><small>${formatTime(at, now)}</small>
  </time>`;
}

/** The choices of a table's filter. UNKNOWN, the status of a newer server, is none of them. */
function filterOptions(labels: StatusLabels<string>): { status: string; label: string }[] {
  return Object.entries(labels)
    .filter(([status]) => status !== 'UNKNOWN')
    .map(([status, { label }]) => ({ status, label }));
}

function newestFirst<Item>(items: Item[], instant: (item: Item) => string | null): Item[] {
  return items.sort((left, right) => (instant(right) ?? '').localeCompare(instant(left) ?? ''));
}

customElements.define('dashboard-app', DashboardApp);
