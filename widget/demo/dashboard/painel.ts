import { html, LitElement, nothing, type TemplateResult } from 'lit';
import '../../src/payouts/define.ts';
import { emLtc, emReais, haQuanto, horario, porExtenso } from '../shared/formato.ts';
import './grafico.ts';
import type { Movimento } from './grafico.ts';
import type { CardPayment, SubaccountPayout, WebhookDelivery } from './operations.ts';
import { type Ligacao, PainelDados } from './painel-dados.ts';
import './pedido.ts';
import './tabela.ts';
import type { Linha } from './tabela.ts';

type Tom = 'espera' | 'bom' | 'mau' | 'neutro' | 'atento';
type Estados<Status extends string> = Record<Status, { nome: string; tom: Tom }>;

const REPASSE: Estados<SubaccountPayout['status']> = {
  PROCESSING: { nome: 'Em processamento', tom: 'atento' },
  COMPLETED: { nome: 'Concluído', tom: 'bom' },
  FAILED: { nome: 'Falhou', tom: 'mau' },
  UNKNOWN: { nome: 'Desconhecido', tom: 'neutro' },
};
const CARTAO: Estados<CardPayment['status']> = {
  PENDING: { nome: 'Aguardando', tom: 'espera' },
  PAID: { nome: 'Pago', tom: 'bom' },
  EXPIRED: { nome: 'Expirado', tom: 'neutro' },
  REFUNDED: { nome: 'Estornado', tom: 'atento' },
  FAILED: { nome: 'Recusado', tom: 'mau' },
  UNKNOWN: { nome: 'Desconhecido', tom: 'neutro' },
};
const ENTREGA: Estados<WebhookDelivery['status']> = {
  PENDING: { nome: 'Tentando', tom: 'espera' },
  DELIVERED: { nome: 'Entregue', tom: 'bom' },
  EXHAUSTED: { nome: 'Desistiu', tom: 'mau' },
};
const LIGACAO: Record<Ligacao, string> = {
  ligando: 'Conectando…',
  'ao-vivo': 'Ao vivo',
  religando: 'Reconectando…',
  'sem-rede': 'Sem rede',
};
/** “há 2 min.” moves on. */
const TICK_MS = 15_000;

/** A merchant's dashboard: what is shown follows the account live. */
export class PainelApp extends LitElement {
  readonly #dados = new PainelDados(this);
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
    const { fase, ligacao, anuncio } = this.#dados;
    return html`
      <div class="painel-topo">
        <h1>Painel</h1>
        <p class="ligacao" data-ligacao=${ligacao} role="status">${LIGACAO[ligacao]}</p>
      </div>
      ${this.#renderAviso()}
      <p class="so-leitor" aria-live="polite" data-anuncio>${anuncio}</p>
      ${fase === 'falhou' ? this.#renderFalha() : this.#renderTudo()}
    `;
  }

  #renderAviso(): TemplateResult | typeof nothing {
    const { fase, ligacao } = this.#dados;
    if (fase !== 'pronto' || ligacao === 'ao-vivo' || ligacao === 'ligando') return nothing;
    return html`
      <p class="aviso-rede">
        ${
          ligacao === 'sem-rede'
            ? 'Você está sem rede. Os números são os últimos recebidos; nada se perde, o painel alcança quando ela voltar.'
            : 'Conexão perdida. Reconectando; o que mudar enquanto isso chega em seguida.'
        }
      </p>
    `;
  }

  #renderFalha(): TemplateResult {
    return html`
      <div class="falha">
        <h2>O servidor não respondeu.</h2>
        <p>O painel tenta de novo sozinho, a cada poucos segundos.</p>
        <button type="button" class="principal" @click=${() => this.#dados.tentarDeNovo()}>Tentar agora</button>
      </div>
    `;
  }

  #renderTudo(): TemplateResult {
    const { acesso, carteira, cartoes, repasses, entregas, fase, simulado } = this.#dados;
    const now = this.#dados.agora();
    const carregando = fase === 'carregando';
    return html`
      ${this.#renderCarteira()}
      <div class="dia">
        <painel-grafico class="cartao" .movimentos=${this.#movimentos()} .agora=${now}></painel-grafico>
        ${
          simulado
            ? html`<painel-pedido class="cartao" .disponivelCents=${carteira?.withdrawableCents ?? null}></painel-pedido>`
            : nothing
        }
      </div>
      <psa-payouts
        id="saques"
        class="cartao"
        .endpoint=${acesso?.endpoint}
        .token=${acesso?.token}
        .renewToken=${this.#dados.renovar}
      >
        <h2 slot="heading">Saques</h2>
        <p slot="empty">
          ${
            simulado
              ? 'Nenhum saque ainda. O primeiro que você pedir aparece aqui e muda de estado sozinho.'
              : 'Nenhum saque ainda. O primeiro que a API pedir, com requestPayout, aparece aqui e muda de estado sozinho.'
          }
        </p>
      </psa-payouts>
      <painel-tabela
        id="cartoes"
        class="cartao"
        titulo="Pagamentos no cartão"
        .colunas=${[{ nome: 'Estado' }, { nome: 'Valor', numero: true }, { nome: 'Venda' }, { nome: 'Código' }, { nome: 'Criado' }]}
        .linhas=${recentes([...cartoes.itens.values()], ({ createdAt }) => createdAt).map((payment) => linhaDeCartao(payment, now))}
        .filtros=${filtros(CARTAO)}
        .vazio=${html`Nenhuma venda ainda. <a href="/demo/">Compre algo na loja</a> e ela aparece aqui.`}
        ?haMais=${cartoes.mais.hasNextPage}
        ?carregando=${carregando}
        @carregar-mais=${() => this.#dados.carregarMais()}
      ></painel-tabela>
      <div class="par">
        <painel-tabela
          id="repasses"
          class="cartao"
          titulo="Saques de subcontas"
          .colunas=${[{ nome: 'Estado' }, { nome: 'Valor', numero: true }, { nome: 'Subconta' }, { nome: 'Pedido' }]}
          .linhas=${recentes([...repasses.values()], ({ createdAt }) => createdAt).map((payout) => this.#linhaDeRepasse(payout, now))}
          .filtros=${filtros(REPASSE)}
          .vazio=${'Nenhum saque de subconta. Eles são pedidos pela API, com requestSubaccountPayout.'}
          ?carregando=${carregando}
        ></painel-tabela>
        <painel-tabela
          id="webhooks"
          class="cartao"
          titulo="Webhooks"
          .colunas=${[{ nome: 'Estado' }, { nome: 'Evento' }, { nome: 'Tentativas' }, { nome: 'Criado' }]}
          .linhas=${entregas.map((delivery) => linhaDeEntrega(delivery, now))}
          .filtros=${filtros(ENTREGA)}
          .vazio=${
            simulado
              ? 'Nenhum aviso enviado. Configure um endereço com configureWebhook e cada mudança é entregue lá.'
              : 'Nenhum aviso repassado. Os de um pagamento com callbackUrl são entregues lá, como o serviço os assinou.'
          }
          ?carregando=${carregando}
        ></painel-tabela>
      </div>
    `;
  }

  #renderCarteira(): TemplateResult {
    const carteira = this.#dados.carteira;
    const valor = <V>(value: V | null | undefined, emTexto: (value: V) => string) =>
      value === undefined ? html`<i class="traco"></i>` : value === null ? '—' : emTexto(value);
    return html`
      <section class="carteira" aria-label="Carteira" aria-busy=${carteira ? 'false' : 'true'}>
        <dl>
          <div class="principal-valor">
            <dt>Disponível para saque</dt>
            <dd data-valor="disponivel">${valor(carteira?.withdrawableCents, emReais)}</dd>
          </div>
          <div><dt>Saldo</dt><dd data-valor="saldo">${valor(carteira?.balanceCents, emReais)}</dd></div>
          <div><dt>A liberar</dt><dd data-valor="a-liberar">${valor(carteira?.pendingReleaseCents, emReais)}</dd></div>
          <div><dt>Em disputa</dt><dd data-valor="disputas">${valor(carteira?.disputeBlockedCents, emReais)}</dd></div>
          <div><dt>Em subcontas</dt><dd data-valor="subcontas">${valor(carteira?.subaccountsBalanceCents, emReais)}</dd></div>
          <div>
            <dt>Litecoin</dt>
            <dd data-valor="ltc">${valor(carteira?.cryptoBalanceLtc, emLtc)}</dd>
          </div>
        </dl>
      </section>
    `;
  }

  #linhaDeRepasse(payout: SubaccountPayout, now: Date): Linha {
    return {
      chave: payout.id,
      estado: payout.status,
      versao: payout.version,
      celulas: [
        estado(REPASSE[payout.status], payout.reversed ? 'valor devolvido' : payout.failureReason),
        html`${emReais(payout.amountCents)}`,
        html`<span class="forte">${this.#dados.subcontas.get(payout.subaccountId) ?? payout.subaccountId}</span>
          <small>${payout.recipientName ?? payout.pixKey ?? ''}</small>`,
        quando(payout.createdAt, now),
      ],
    };
  }

  /** What the chart of the day is made of. */
  #movimentos(): Movimento[] {
    const { saques, cartoes, repasses } = this.#dados;
    const at = (instant: string | null, cents: number): Movimento[] =>
      instant === null ? [] : [{ at: new Date(instant), cents }];
    return [
      ...[...cartoes.itens.values()].flatMap(({ paidAt, refundedAt, amountCents }) => [
        ...at(paidAt, amountCents),
        ...at(refundedAt, -amountCents),
      ]),
      ...[...saques.itens.values()]
        .filter(({ status }) => status === 'COMPLETED')
        .flatMap(({ processedAt, amountCents }) => at(processedAt, -amountCents)),
      ...[...repasses.values()]
        .filter(({ status }) => status === 'COMPLETED')
        .flatMap(({ completedAt, amountCents }) => at(completedAt, -amountCents)),
    ];
  }
}

function linhaDeCartao(payment: CardPayment, now: Date): Linha {
  return {
    chave: payment.orderCode,
    estado: payment.status,
    versao: payment.version,
    celulas: [
      estado(CARTAO[payment.status], payment.failureReason),
      html`${emReais(payment.amountCents)}`,
      html`<span class="forte">${payment.description ?? 'Sem descrição'}</span>
        <small>${payment.customer?.name ?? ''}</small>`,
      html`<code>${payment.orderCode}</code>`,
      quando(payment.createdAt, now),
    ],
  };
}

function linhaDeEntrega(delivery: WebhookDelivery, now: Date): Linha {
  const last = delivery.attempts.at(-1);
  const next = delivery.nextAttemptAt;
  return {
    chave: delivery.webhookId,
    estado: delivery.status,
    versao: `${delivery.status} ${delivery.attempts.length}`,
    celulas: [
      estado(
        ENTREGA[delivery.status],
        delivery.status === 'PENDING' && next
          ? `${last ? 'de novo ' : ''}${haQuanto(new Date(next), now)}`
          : null,
      ),
      html`<span class="forte">${delivery.event}</span>
        <small class="destino" title=${delivery.url}>${delivery.url}</small>`,
      html`${delivery.attempts.length}<span class="so-estreito"> ${delivery.attempts.length === 1 ? 'tentativa' : 'tentativas'}</span>
        <small>${last ? (last.responseStatus ?? last.error ?? 'sem resposta') : 'nenhuma ainda'}</small>`,
      quando(delivery.createdAt, now),
    ],
  };
}

function estado({ nome, tom }: { nome: string; tom: Tom }, porque: string | null): TemplateResult {
  return html`<span class="estado" data-tom=${tom}>${nome}</span>
    ${porque ? html`<small class="porque">${porque}</small>` : nothing}`;
}

function quando(instant: string | null, now: Date): TemplateResult {
  if (instant === null) return html`—`;
  const at = new Date(instant);
  return html`<time datetime=${instant} title=${porExtenso(at)}>
    <span>${haQuanto(at, now)}</span><small>${horario(at, now)}</small>
  </time>`;
}

/** UNKNOWN is what a newer server may say, and nothing to look for. */
function filtros(estados: Estados<string>): { estado: string; nome: string }[] {
  return Object.entries(estados)
    .filter(([status]) => status !== 'UNKNOWN')
    .map(([status, { nome }]) => ({ estado: status, nome }));
}

function recentes<Item>(itens: Item[], instant: (item: Item) => string | null): Item[] {
  return itens.sort((left, right) => (instant(right) ?? '').localeCompare(instant(left) ?? ''));
}

customElements.define('painel-app', PainelApp);
