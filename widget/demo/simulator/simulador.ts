import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { centavosDe, comSegundos, emLtc, emReais, haQuanto, horario, porExtenso } from '../shared/formato.ts';
import { enviar } from '../shared/pedidos.ts';
import { ROTAS } from './rotas.ts';

/** As `GET /simulator/state` answers. */
interface State {
  clock: { now: string; offsetMs: number; nextDueAt: string | null };
  accounts: { id: string; name: string }[];
  tenant: { accountId: string; environment: Ambiente };
  wallet: {
    balanceCents: number;
    withdrawableCents: number;
    pendingReleaseCents: number;
    disputeBlockedCents: number;
    cryptoBalanceLitoshi: number;
  };
  transfers: {
    id: string;
    method: string;
    destination: string;
    amountCents: number;
    status: 'in_verification' | 'queued' | 'sent';
    until: string | null;
  }[];
  cardPayments: {
    orderCode: string;
    amountCents: number;
    description: string | null;
    paidAt: string | null;
  }[];
  disputes: { id: string; amountCents: number; status: string; createdAt: string }[];
  testPayments: { id: string; valueCents: number; createdAt: string }[];
}
type Ambiente = 'live' | 'sandbox';

const METODO: Record<string, string> = { pix: 'PIX', pix_turbo: 'PIX turbo', ltc: 'LTC', usd: 'USDT' };
const SITUACAO = {
  in_verification: 'Em verificação',
  queued: 'Na fila do banco',
  sent: 'Enviada, sem resposta',
};
const LITOSHI = 100_000_000;
const DAY_SECONDS = 86_400;
const AVANCOS: [string, number][] = [
  ['+1 min', 60],
  ['+1 h', 3_600],
  ['+1 dia', DAY_SECONDS],
  ['+14 dias', 14 * DAY_SECONDS],
];
/** What a lever starts is done a moment later, by the work queue. */
const SOON_MS = 350;
const REFRESH_MS = 2_000;

/** The levers on the simulated world. */
export class SimuladorApp extends LitElement {
  static override properties = {
    estado: { state: true },
    conta: { state: true },
    ambiente: { state: true },
    aviso: { state: true },
    erros: { state: true },
    fora: { state: true },
  };

  declare estado: State | null;
  /** Null: the first. */
  declare conta: string | null;
  declare ambiente: Ambiente;
  /** What was done last, or why it was not. */
  declare aviso: { texto: string; mau: boolean };
  /** By field. */
  declare erros: Record<string, string>;
  /** The server does not answer. */
  declare fora: boolean;

  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;
  /** The server's clock, less this machine's. */
  #aheadMs = 0;
  #second: ReturnType<typeof setInterval> | undefined;

  constructor() {
    super();
    this.estado = null;
    this.conta = null;
    this.ambiente = 'live';
    this.aviso = { texto: '', mau: false };
    this.erros = {};
    this.fora = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#olhar();
    this.#second = setInterval(() => this.requestUpdate(), 1_000);
    document.addEventListener('visibilitychange', this.#voltar);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    clearInterval(this.#second);
    document.removeEventListener('visibilitychange', this.#voltar);
  }

  protected override render(): TemplateResult {
    const { estado } = this;
    return html`
      <div class="painel-topo">
        <h1>Simulador</h1>
        ${estado ? this.#renderEscolha(estado) : nothing}
      </div>
      <p class="aviso-lever" role="status" data-mau=${this.aviso.mau ? 'sim' : 'nao'}>
        ${this.fora ? 'O servidor não responde. Tentando de novo…' : this.aviso.texto}
      </p>
      ${estado ? this.#renderTudo(estado) : html`<p class="vazio">Carregando…</p>`}
    `;
  }

  #renderEscolha({ accounts, tenant }: State): TemplateResult {
    return html`
      <div class="escolha">
        <label>
          Conta
          <select @change=${(event: Event) => this.#trocar({ conta: (event.target as HTMLSelectElement).value })}>
            ${accounts.map(
              ({ id, name }) =>
                html`<option value=${id} ?selected=${id === tenant.accountId}>${name}</option>`,
            )}
          </select>
        </label>
        <label>
          Ambiente
          <select
            @change=${(event: Event) => this.#trocar({ ambiente: (event.target as HTMLSelectElement).value as Ambiente })}
          >
            <option value="live" ?selected=${tenant.environment === 'live'}>Produção (live)</option>
            <option value="sandbox" ?selected=${tenant.environment === 'sandbox'}>Sandbox</option>
          </select>
        </label>
      </div>
    `;
  }

  #renderTudo(estado: State): TemplateResult {
    const live = estado.tenant.environment === 'live';
    return html`
      <div class="alavancas">
        <div>${this.#renderRelogio(estado)} ${live ? this.#renderDisputas(estado) : nothing}</div>
        <div>
          ${this.#renderCarteira(estado, live)} ${this.#renderTransferencias(estado, live)}
          ${live ? this.#renderCartoes(estado) : this.#renderTestes(estado)}
        </div>
      </div>
      ${this.#renderRotas()}
    `;
  }

  // ── The clock ─────────────────────────────────────────────────────────────────────────────────

  #renderRelogio({ clock }: State): TemplateResult {
    const now = this.#agora();
    const next = clock.nextDueAt ? new Date(clock.nextDueAt) : null;
    return html`
      <section class="cartao relogio" aria-labelledby="titulo-relogio">
        <h2 id="titulo-relogio">Relógio</h2>
        <p class="hora">
          <time datetime=${now.toISOString()}>${comSegundos(now)}</time>
          <small>${porExtenso(now).replace(/ às .*/, '')}</small>
        </p>
        <p>${adiantado(clock.offsetMs)}</p>
        <div class="botoes">
          ${AVANCOS.map(
            ([nome, seconds]) => html`
              <button
                type="button"
                class="secundario"
                @click=${() => this.#puxar('clock', { seconds }, `Relógio adiantado: ${nome}.`)}
              >
                ${nome}
              </button>
            `,
          )}
          <button
            type="button"
            class="secundario"
            aria-disabled=${next ? 'false' : 'true'}
            @click=${() => next && this.#puxar('clock', { to: 'next' }, 'Relógio adiantado até a próxima tarefa.')}
          >
            Até a próxima tarefa${next ? html` <span class="fraco">${haQuanto(next, now)}</span>` : nothing}
          </button>
        </div>
        <p class="nota">
          O que vence no salto acontece todo de uma vez, no instante de chegada, como num servidor que dormiu. O relógio
          nunca volta: o adiantamento fica no banco de dados e vale também depois de reiniciar, para que nada do que já
          aconteceu caia no futuro. Uma pasta de dados nova (<code>PSA_DATA_DIR</code>) recomeça na hora certa. Com
          várias instâncias no mesmo PostgreSQL, as outras só o seguem ao reiniciar; sem a demonstração
          (<code>PSA_DEMO=off</code>) ele não vale.
        </p>
      </section>
    `;
  }

  // ── The wallet ────────────────────────────────────────────────────────────────────────────────

  #renderCarteira({ wallet }: State, live: boolean): TemplateResult {
    return html`
      <section class="cartao" aria-labelledby="titulo-carteira">
        <h2 id="titulo-carteira">Carteira</h2>
        <dl class="figuras">
          <div><dt>Disponível</dt><dd>${emReais(wallet.withdrawableCents)}</dd></div>
          <div><dt>Saldo</dt><dd>${emReais(wallet.balanceCents)}</dd></div>
          <div><dt>A liberar</dt><dd>${emReais(wallet.pendingReleaseCents)}</dd></div>
          <div><dt>Em disputa</dt><dd>${emReais(wallet.disputeBlockedCents)}</dd></div>
          <div><dt>Litecoin</dt><dd>${emLtc(wallet.cryptoBalanceLitoshi / LITOSHI)}</dd></div>
        </dl>
        ${
          live
            ? html`
                <div class="formularios">
                  ${this.#renderFormulario({
                    campo: 'credito',
                    rotulo: 'Creditar em reais',
                    inicial: '1.000,00',
                    botao: 'Creditar',
                    enviar: (texto) => this.#creditar(texto),
                  })}
                  ${this.#renderFormulario({
                    campo: 'ltc',
                    rotulo: 'Creditar em LTC',
                    inicial: '0,5',
                    botao: 'Creditar',
                    enviar: (texto) => this.#creditarLtc(texto),
                  })}
                </div>
              `
            : html`<p class="nota">O saldo do sandbox vem só de pagamentos de teste.</p>`
        }
      </section>
    `;
  }

  #creditar(texto: string): void {
    const amountCents = centavosDe(texto);
    if (!amountCents) {
      this.#apontar('credito', 'Escreva um valor, como 1.000,00.');
      return;
    }
    void this.#puxar('credit', { amountCents }, `Creditado: ${emReais(amountCents)}.`, {
      amountCents: 'credito',
    });
  }

  #creditarLtc(texto: string): void {
    const litoshi = Math.round(Number(texto.trim().replace(',', '.')) * LITOSHI);
    if (!(litoshi > 0) || !Number.isSafeInteger(litoshi)) {
      this.#apontar('ltc', 'Escreva uma quantia, como 0,5.');
      return;
    }
    void this.#puxar('credit', { litoshi }, `Creditado: ${emLtc(litoshi / LITOSHI)}.`, { litoshi: 'ltc' });
  }

  // ── Transfers ─────────────────────────────────────────────────────────────────────────────────

  #renderTransferencias({ transfers }: State, live: boolean): TemplateResult {
    return html`
      <section class="cartao" aria-labelledby="titulo-transferencias">
        <h2 id="titulo-transferencias">Transferências a caminho</h2>
        ${
          transfers.length === 0
            ? html`<p class="vazio">
                Nenhuma agora: um PIX comum conclui em segundos. Para ter tempo de mexer, peça no
                <a href="/demo/dashboard">painel</a> um saque para <code>demora@psa.example</code>.
              </p>`
            : html`<ul class="linhas empilhadas">
                ${transfers.map(
                  (transfer) => html`
                    <li>
                      <p>
                        <strong>${emReais(transfer.amountCents)}</strong>
                        <span>${METODO[transfer.method]} para ${transfer.destination}</span>
                        <small>
                          ${SITUACAO[transfer.status]}${
                            transfer.until
                              ? `, termina ${haQuanto(new Date(transfer.until), this.#agora())}`
                              : ''
                          }
                        </small>
                        <small><code>${transfer.id}</code></small>
                      </p>
                      <div class="botoes" role="group" aria-label=${`Transferência de ${emReais(transfer.amountCents)}`}>
                        ${this.#renderLever('Concluir', `transfers/${transfer.id}/settle`, 'Transferência concluída.')}
                        ${live ? this.#renderLever('Negar', `transfers/${transfer.id}/deny`, 'Transferência negada.') : nothing}
                        ${this.#renderLever('Adiar 10 min', `transfers/${transfer.id}/delay`, 'Transferência adiada.', { seconds: 600 })}
                      </div>
                    </li>
                  `,
                )}
              </ul>`
        }
      </section>
    `;
  }

  // ── Disputes, card payments, test payments ────────────────────────────────────────────────────

  #renderDisputas({ disputes }: State): TemplateResult {
    return html`
      <section class="cartao" aria-labelledby="titulo-disputas">
        <h2 id="titulo-disputas">Disputas</h2>
        ${this.#renderFormulario({
          campo: 'disputa',
          rotulo: 'Abrir uma, no valor de',
          inicial: '50,00',
          botao: 'Abrir',
          enviar: (texto) => {
            const amountCents = centavosDe(texto);
            if (!amountCents) {
              this.#apontar('disputa', 'Escreva um valor, como 50,00.');
              return;
            }
            void this.#puxar('disputes', { amountCents }, 'Disputa aberta; o valor ficou retido.', {
              amountCents: 'disputa',
            });
          },
        })}
        <ul class="linhas">
          ${disputes.map(({ id, amountCents, status, createdAt }) => {
            const fechar = (nome: string, outcome: string) =>
              this.#renderLever(nome, `disputes/${id}/close`, 'Disputa encerrada.', { outcome });
            return html`
              <li>
                <p>
                  <strong>${emReais(amountCents)}</strong>
                  <span>${status === 'lost' ? 'perdida, valor ainda retido' : 'aberta'}</span>
                  <small>${haQuanto(new Date(createdAt), this.#agora())}</small>
                </p>
                <div class="botoes" role="group" aria-label=${`Disputa de ${emReais(amountCents)}`}>
                  ${
                    status === 'lost'
                      ? fechar('Perdoar', 'forgiven')
                      : html`${fechar('Ganhar', 'won')} ${fechar('Perder', 'lost')}`
                  }
                </div>
              </li>
            `;
          })}
        </ul>
      </section>
    `;
  }

  #renderCartoes({ cardPayments }: State): TemplateResult {
    return html`
      <section class="cartao" aria-labelledby="titulo-cartoes">
        <h2 id="titulo-cartoes">Vendas pagas</h2>
        ${
          cardPayments.length === 0
            ? html`<p class="vazio">Nenhuma. <a href="/demo/">Compre algo na loja</a> para ter o que estornar.</p>`
            : html`<ul class="linhas">
                ${cardPayments.map(
                  ({ orderCode, amountCents, description, paidAt }) => html`
                    <li>
                      <p>
                        <strong>${emReais(amountCents)}</strong>
                        <span>${description ?? 'Sem descrição'}</span>
                        <small>
                          <code>${orderCode}</code>
                          ${paidAt ? horario(new Date(paidAt), this.#agora()) : ''}
                        </small>
                      </p>
                      <div class="botoes">
                        ${this.#renderLever('Estornar', `card-payments/${orderCode}/refund`, 'Estorno pedido.')}
                      </div>
                    </li>
                  `,
                )}
              </ul>`
        }
      </section>
    `;
  }

  #renderTestes({ testPayments }: State): TemplateResult {
    return html`
      <section class="cartao" aria-labelledby="titulo-testes">
        <h2 id="titulo-testes">Pagamentos de teste pendentes</h2>
        ${
          testPayments.length === 0
            ? html`<p class="vazio">
                Nenhum. Crie um com a mutação <code>createTestPayment</code> e <code>pending: true</code>.
              </p>`
            : html`<ul class="linhas">
                ${testPayments.map(
                  ({ id, valueCents, createdAt }) => html`
                    <li>
                      <p>
                        <strong>${emReais(valueCents)}</strong>
                        <small><code>${id}</code> ${haQuanto(new Date(createdAt), this.#agora())}</small>
                      </p>
                      <div class="botoes">
                        ${this.#renderLever('Pagar', `test-payments/${id}/settle`, 'Pagamento de teste pago.')}
                      </div>
                    </li>
                  `,
                )}
              </ul>`
        }
      </section>
    `;
  }

  // ── The routes ────────────────────────────────────────────────────────────────────────────────

  #renderRotas(): TemplateResult {
    return html`
      <details class="cartao rotas">
        <summary><h2>As mesmas alavancas, por linha de comando</h2></summary>
        <p>
          Cada <code>POST</code> leva JSON e, fora desta página, o cabeçalho <code>x-psa-action: 1</code>.
          <code>account</code> e <code>environment</code> no corpo escolhem a conta; sem eles é a primeira, em produção.
          A recusa vem como <code>{ "error", "code", "fields" }</code>: 400 nomeia o campo, 404 não achou, 409 já não
          cabe.
        </p>
        <pre
          tabindex="0"
          aria-label="Exemplo com curl"
        >curl ${location.origin}/simulator/credit -H 'content-type: application/json' -H 'x-psa-action: 1' -d '{"amountCents":100000}'</pre>
        <dl>
          ${ROTAS.map(
            ({ rota, corpo, faz }) => html`
              <div>
                <dt><code>${rota}</code></dt>
                <dd>${faz} <code class="fraco">${corpo}</code></dd>
              </div>
            `,
          )}
        </dl>
      </details>
    `;
  }

  // ── Pulling ───────────────────────────────────────────────────────────────────────────────────

  #renderLever(nome: string, path: string, feito: string, input: object = {}): TemplateResult {
    return html`
      <button type="button" class="secundario" @click=${() => this.#puxar(path, input, feito)}>${nome}</button>
    `;
  }

  #renderFormulario({
    campo,
    rotulo,
    inicial,
    botao,
    enviar: send,
  }: {
    campo: string;
    rotulo: string;
    inicial: string;
    botao: string;
    enviar: (texto: string) => void;
  }): TemplateResult {
    const erro = this.erros[campo];
    return html`
      <form
        novalidate
        class="uma-linha"
        @submit=${(event: SubmitEvent) => {
          event.preventDefault();
          send(String(new FormData(event.target as HTMLFormElement).get(campo) ?? ''));
        }}
      >
        <div class="campo">
          <label for=${campo}>${rotulo}</label>
          <input
            id=${campo}
            name=${campo}
            value=${inicial}
            inputmode="decimal"
            autocomplete="off"
            aria-invalid=${erro ? 'true' : 'false'}
            aria-describedby=${`erro-${campo}`}
          />
        </div>
        <button type="submit" class="secundario">${botao}</button>
        <p class="erro" id=${`erro-${campo}`}>${erro ?? nothing}</p>
      </form>
    `;
  }

  #apontar(campo: string, erro: string): void {
    this.erros = { [campo]: erro };
    this.querySelector<HTMLElement>(`#${campo}`)?.focus();
  }

  async #puxar(
    path: string,
    input: object,
    feito: string,
    campos: Record<string, string> = {},
  ): Promise<void> {
    this.erros = {};
    const whose =
      path === 'clock' ? {} : { environment: this.ambiente, ...(this.conta ? { account: this.conta } : {}) };
    const resposta = await enviar(`/simulator/${path}`, { ...whose, ...input });
    if (resposta.ok) this.aviso = { texto: feito, mau: false };
    else {
      const field = resposta.recusa.fields.find(({ path }) => campos[path] !== undefined);
      if (field) this.#apontar(campos[field.path]!, `Não serve: ${field.message}`);
      else this.aviso = { texto: `Não deu certo: ${resposta.recusa.error}`, mau: true };
    }
    await this.#olhar();
    this.#olharEm(SOON_MS);
  }

  #trocar(changed: { conta?: string; ambiente?: Ambiente }): void {
    Object.assign(this, changed);
    this.aviso = { texto: '', mau: false };
    void this.#olhar();
  }

  async #olhar(): Promise<void> {
    clearTimeout(this.#timer);
    this.#asked += 1;
    const asked = this.#asked;
    const query = new URLSearchParams({
      environment: this.ambiente,
      ...(this.conta ? { account: this.conta } : {}),
    });
    try {
      const response = await fetch(`/simulator/state?${query}`);
      if (!response.ok) throw new Error(String(response.status));
      const estado = (await response.json()) as State;
      // A later question has gone out meanwhile; its answer is the newer one.
      if (asked !== this.#asked) return;
      this.estado = estado;
      this.#aheadMs = Date.parse(estado.clock.now) - Date.now();
      this.fora = false;
    } catch {
      if (asked !== this.#asked) return;
      this.fora = true;
    }
    this.#olharEm(REFRESH_MS);
  }

  #olharEm(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (document.hidden ? this.#olharEm(REFRESH_MS) : void this.#olhar()), ms);
  }

  readonly #voltar = () => {
    if (!document.hidden) void this.#olhar();
  };

  #agora(): Date {
    return new Date(Date.now() + this.#aheadMs);
  }
}

function adiantado(offsetMs: number): string {
  if (offsetMs === 0) return 'Na hora certa.';
  const minutes = Math.round(offsetMs / 60_000);
  const days = Math.floor(minutes / 1_440);
  const hours = Math.floor((minutes % 1_440) / 60);
  const parts = [
    days ? `${days} ${days === 1 ? 'dia' : 'dias'}` : '',
    hours ? `${hours} h` : '',
    minutes % 60 ? `${minutes % 60} min` : '',
  ].filter((part) => part !== '');
  return `Adiantado ${parts.join(' ') || 'menos de um minuto'}.`;
}

customElements.define('simulador-app', SimuladorApp);
