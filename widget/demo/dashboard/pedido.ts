import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { centavosDe, emReais } from '../shared/formato.ts';
import { enviar, type Recusa } from '../shared/pedidos.ts';
import { DESTINOS, type Metodo } from './destinos.ts';

const METODOS: { metodo: Metodo; nome: string; destino: string; exemplo: string }[] = [
  { metodo: 'PIX', nome: 'PIX', destino: 'Chave PIX', exemplo: 'CPF, CNPJ, celular, e-mail ou aleatória' },
  {
    metodo: 'PIX_TURBO',
    nome: 'PIX turbo',
    destino: 'Chave PIX',
    exemplo: 'CPF, CNPJ, celular, e-mail ou aleatória',
  },
  { metodo: 'LTC', nome: 'LTC', destino: 'Endereço LTC', exemplo: 'ltc1…, L… ou M…' },
  { metodo: 'USDT', nome: 'USDT', destino: 'Endereço USDT', exemplo: 'T… ou 0x…' },
];
/** As the document names them on the wire. */
const NO_FIO: Record<Metodo, string> = { PIX: 'pix', PIX_TURBO: 'pix_turbo', LTC: 'ltc', USDT: 'usd' };
const CREDITO_CENTS = 100_000;

interface Erros {
  valor?: string;
  destino?: string;
  geral?: string;
}

/** The form that requests a payout, and credits the demonstration's wallet while it has nothing. */
export class PainelPedido extends LitElement {
  static override properties = {
    disponivelCents: { type: Number },
    metodo: { state: true },
    valor: { state: true },
    destino: { state: true },
    erros: { state: true },
    feito: { state: true },
    enviando: { state: true },
  };

  /** Null while it is not known. */
  declare disponivelCents: number | null;
  declare metodo: Metodo;
  declare valor: string;
  declare destino: string;
  declare erros: Erros;
  /** What has been done, in words. */
  declare feito: string;
  declare enviando: 'nada' | 'saque' | 'credito';

  /** Kept while nobody knows whether the server got the request, so that asking again pays once. */
  #chave: string | null = null;

  constructor() {
    super();
    this.disponivelCents = null;
    this.metodo = 'PIX';
    this.valor = '';
    this.destino = '';
    this.erros = {};
    this.feito = '';
    this.enviando = 'nada';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { destino, exemplo } = METODOS.find(({ metodo }) => metodo === this.metodo)!;
    return html`
      <section aria-labelledby="titulo-pedido">
        <h2 id="titulo-pedido">Pedir um saque</h2>
        ${this.disponivelCents === 0 ? this.#renderCredito() : nothing}
        <form novalidate @submit=${this.#pedir}>
          <fieldset>
            <legend>Como sai</legend>
            ${METODOS.map(
              ({ metodo, nome }) => html`
                <label>
                  <input
                    type="radio"
                    name="metodo"
                    value=${metodo}
                    .checked=${metodo === this.metodo}
                    @change=${() => this.#escolher(metodo)}
                  /><span>${nome}</span>
                </label>
              `,
            )}
          </fieldset>
          ${this.#renderCampo({
            nome: 'valor',
            rotulo: 'Valor em reais',
            valor: this.valor,
            exemplo: '0,00',
            erro: this.erros.valor,
          })}
          ${this.#renderCampo({ nome: 'destino', rotulo: destino, valor: this.destino, exemplo, erro: this.erros.destino })}
          <div class="sugestoes" role="group" aria-label="Destinos de teste">
            <p>Destinos de teste</p>
            <ul>
              ${DESTINOS[this.metodo].map(
                ({ destination, nome, efeito }) => html`
                  <li>
                    <button
                      type="button"
                      aria-pressed=${this.destino === destination ? 'true' : 'false'}
                      @click=${() => this.#sugerir(destination)}
                    >
                      <b>${nome}</b> <span>${efeito}</span>
                    </button>
                  </li>
                `,
              )}
            </ul>
          </div>
          <button type="submit" class="principal" aria-disabled=${this.enviando === 'nada' ? 'false' : 'true'}>
            ${this.enviando === 'saque' ? 'Pedindo…' : 'Pedir saque'}
          </button>
          <p class="erro-geral" role="alert">${this.erros.geral ?? nothing}</p>
          <p class="feito" role="status">${this.feito || nothing}</p>
        </form>
      </section>
    `;
  }

  #renderCredito(): TemplateResult {
    return html`
      <div class="sem-saldo">
        <p><strong>Ainda não há o que sacar.</strong> Esta conta é de demonstração: o dinheiro dela é de mentira.</p>
        <button
          type="button"
          class="principal"
          aria-disabled=${this.enviando === 'nada' ? 'false' : 'true'}
          @click=${this.#creditar}
        >
          ${this.enviando === 'credito' ? 'Creditando…' : `Creditar ${emReais(CREDITO_CENTS)} (simulador)`}
        </button>
      </div>
    `;
  }

  #renderCampo({
    nome,
    rotulo,
    valor,
    exemplo,
    erro,
  }: {
    nome: 'valor' | 'destino';
    rotulo: string;
    valor: string;
    exemplo: string;
    erro: string | undefined;
  }): TemplateResult {
    return html`
      <div class="campo">
        <label for=${nome}>${rotulo}</label>
        <input
          id=${nome}
          name=${nome}
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          inputmode=${nome === 'valor' ? 'decimal' : 'text'}
          placeholder=${exemplo}
          .value=${valor}
          aria-invalid=${erro ? 'true' : 'false'}
          aria-describedby=${`erro-${nome}`}
          @input=${(event: Event) => this.#digitar(nome, (event.target as HTMLInputElement).value)}
        />
        <p class="erro" id=${`erro-${nome}`}>${erro ?? nothing}</p>
      </div>
    `;
  }

  #escolher(metodo: Metodo): void {
    const sugeridos = DESTINOS[this.metodo].map(({ destination }) => destination);
    const cabe = DESTINOS[metodo].some(({ destination }) => destination === this.destino);
    if (sugeridos.includes(this.destino) && !cabe) this.destino = '';
    this.metodo = metodo;
    this.#mudou({ ...this.erros, destino: '' });
  }

  #sugerir(destination: string): void {
    this.destino = destination;
    this.#mudou({ ...this.erros, destino: '' });
  }

  #digitar(nome: 'valor' | 'destino', valor: string): void {
    this[nome] = valor;
    this.#mudou({ ...this.erros, [nome]: '' });
  }

  /** Another request than the one before it. */
  #mudou(erros: Erros): void {
    this.#chave = null;
    this.feito = '';
    this.erros = { ...erros, geral: '' };
  }

  async #pedir(event: Event): Promise<void> {
    event.preventDefault();
    if (this.enviando !== 'nada') return;
    const amountCents = centavosDe(this.valor);
    const destination = this.destino.trim();
    const erros: Erros = {
      ...(amountCents === null || amountCents === 0 ? { valor: 'Escreva um valor, como 150,00.' } : {}),
      ...(destination === '' ? { destino: 'Escreva para onde vai, ou escolha um destino de teste.' } : {}),
    };
    if (Object.keys(erros).length > 0) return this.#recusar(erros);

    this.enviando = 'saque';
    this.erros = {};
    this.feito = '';
    this.#chave ??= crypto.randomUUID();
    const resposta = await enviar<{ code: string }>('/demo/dashboard/payouts', {
      method: NO_FIO[this.metodo],
      amountCents,
      destination,
      idempotencyKey: this.#chave,
    });
    this.enviando = 'nada';
    if (!resposta.ok) {
      if (resposta.recusa.status > 0 && resposta.recusa.status < 500) this.#chave = null;
      return this.#recusar(errosDe(resposta.recusa, this.metodo));
    }
    this.#chave = null;
    this.feito = `Saque ${resposta.body.code} pedido. Ele aparece na lista e muda de estado sozinho.`;
    this.valor = '';
  }

  async #creditar(): Promise<void> {
    if (this.enviando !== 'nada') return;
    this.enviando = 'credito';
    const resposta = await enviar('/simulator/credit', { amountCents: CREDITO_CENTS });
    this.enviando = 'nada';
    if (!resposta.ok) return this.#recusar({ geral: 'O simulador não creditou. Tente de novo.' });
    this.valor = '150,00';
    this.destino = DESTINOS.PIX[0]!.destination;
    this.metodo = 'PIX';
    this.#mudou({});
    this.feito = 'Creditado. Agora peça um saque e veja-o mudar de estado.';
    await this.updateComplete;
    this.querySelector<HTMLElement>('#valor')?.focus();
  }

  /** The first field that is wrong gets the focus. */
  async #recusar(erros: Erros): Promise<void> {
    this.erros = erros;
    await this.updateComplete;
    this.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }
}

function errosDe(recusa: Recusa, metodo: Metodo): Erros {
  switch (recusa.code) {
    case 'VALIDATION':
      return Object.assign({}, ...recusa.fields.map((field) => erroDe(field, metodo)));
    case 'INSUFFICIENT_FUNDS':
      if (metodo === 'LTC') return { valor: 'O saldo em LTC não cobre este valor. O simulador credita LTC.' };
      return { valor: `Só há ${emReais(recusa.withdrawableCents ?? 0)} para sacar agora.` };
    case 'RATE_LIMITED': {
      const minutes = Math.ceil((recusa.retryAfterSeconds ?? 3_600) / 60);
      return {
        geral: `Limite de saques por hora atingido. Espere ${minutes} min, ou avance o relógio no simulador.`,
      };
    }
    default:
      if (recusa.status === 0 || recusa.status >= 500)
        return {
          geral: 'Sem resposta do servidor. O pedido pode ter chegado: tente de novo, ele não sai em dobro.',
        };
      return { geral: `O saque não foi aceito: ${recusa.error}` };
  }
}

function erroDe({ path, message }: { path: string; message: string }, metodo: Metodo): Erros {
  if (path === 'destination')
    return {
      destino:
        metodo === 'PIX' || metodo === 'PIX_TURBO'
          ? 'Não é uma chave PIX: confira os dígitos do CPF ou CNPJ, o +55 do celular ou o e-mail.'
          : `Não é um endereço ${metodo} válido: confira o que foi colado.`,
    };
  if (path === 'amountCents') {
    const [, fee] = /\((R\$[^)]+)\)/.exec(message) ?? [];
    return {
      valor: fee ? `Tem de ser mais do que a tarifa, de ${fee}.` : 'Não é um valor que se possa sacar.',
    };
  }
  return { geral: `${path}: ${message}` };
}

customElements.define('painel-pedido', PainelPedido);
