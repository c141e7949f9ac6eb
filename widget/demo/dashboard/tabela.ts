import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

export interface Linha {
  chave: string;
  /** What the filter goes by. */
  estado: string;
  /** Changes with every change of the row: it is then lit up for a moment. */
  versao: string | number;
  celulas: (TemplateResult | string | typeof nothing)[];
}

export interface Coluna {
  nome: string;
  numero?: boolean;
}

const FIRST_ROWS = 8;
const MORE_ROWS = 10;

/**
 * A live table that keeps still under the pointer: while somebody is in it, rows change where they stand, and new
 * ones wait behind a button.
 * @fires carregar-mais - The rows that are known are all shown, and older ones are asked for.
 */
export class PainelTabela extends LitElement {
  static override properties = {
    titulo: {},
    colunas: { attribute: false },
    linhas: { attribute: false },
    filtros: { attribute: false },
    vazio: { attribute: false },
    haMais: { type: Boolean },
    carregando: { type: Boolean },
    filtro: { state: true },
    limite: { state: true },
  };

  declare titulo: string;
  declare colunas: Coluna[];
  /** Newest first. */
  declare linhas: Linha[];
  declare filtros: { estado: string; nome: string }[];
  declare vazio: TemplateResult | string;
  /** The server has older ones. */
  declare haMais: boolean;
  declare carregando: boolean;
  declare filtro: string;
  declare limite: number;

  /** Keys in the order in which they are shown. */
  #ordem: string[] = [];
  #versoes = new Map<string, { versao: string | number; vezes: number }>();
  #dentro = false;
  #esperando = 0;

  constructor() {
    super();
    this.titulo = '';
    this.colunas = [];
    this.linhas = [];
    this.filtros = [];
    this.vazio = '';
    this.haMais = false;
    this.carregando = false;
    this.filtro = '';
    this.limite = FIRST_ROWS;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    const wanted = this.linhas
      .filter(({ estado }) => this.filtro === '' || estado === this.filtro)
      .map(({ chave }) => chave);
    const asked = changed.has('filtro') || changed.has('limite');
    if (!this.#dentro || asked || this.#ordem.length === 0) this.#ordem = wanted;
    const shown = new Set(this.#ordem);
    this.#esperando = wanted.filter((chave) => !shown.has(chave)).length;
    for (const { chave, versao } of this.linhas) {
      const known = this.#versoes.get(chave);
      if (!known) this.#versoes.set(chave, { versao, vezes: this.hasUpdated && !this.carregando ? 1 : 0 });
      else if (known.versao !== versao) this.#versoes.set(chave, { versao, vezes: known.vezes + 1 });
    }
  }

  protected override render(): TemplateResult {
    const known = new Map(this.linhas.map((linha) => [linha.chave, linha]));
    const rows = this.#ordem.map((chave) => known.get(chave)).filter((linha) => linha !== undefined);
    const shown = rows.slice(0, this.limite);
    const id = `titulo-${this.id}`;
    return html`
      <section aria-labelledby=${id} @pointerenter=${this.#entrar} @pointerleave=${this.#sair}>
        <div class="tabela-topo">
          <h2 id=${id}>${this.titulo}</h2>
          <button type="button" class="novos" ?hidden=${this.#esperando === 0} @click=${this.#mostrarNovos}>
            ${this.#esperando === 1 ? '1 novo' : `${this.#esperando} novos`}
          </button>
          ${this.filtros.length === 0 || this.linhas.length === 0 ? nothing : this.#renderFiltro()}
        </div>
        ${
          this.carregando
            ? this.#renderEspera()
            : shown.length === 0
              ? html`<p class="vazio">${this.linhas.length === 0 ? this.vazio : 'Nenhum com este estado.'}</p>`
              : this.#renderTabela(shown, id)
        }
        ${
          rows.length > this.limite || this.haMais
            ? html`<button type="button" class="mais" @click=${this.#mostrarMais}>Mostrar mais</button>`
            : nothing
        }
      </section>
    `;
  }

  #renderFiltro(): TemplateResult {
    return html`
      <label class="filtro">
        <span class="so-leitor">Mostrar em ${this.titulo}</span>
        <select @change=${this.#filtrar}>
          <option value="">Todos</option>
          ${this.filtros.map(({ estado, nome }) => html`<option value=${estado}>${nome}</option>`)}
        </select>
      </label>
    `;
  }

  // The roles stay where the narrow layout makes blocks of the rows.
  #renderTabela(linhas: Linha[], id: string): TemplateResult {
    return html`
      <table role="table" aria-labelledby=${id}>
        <thead role="rowgroup">
          <tr role="row">
            ${this.colunas.map(
              ({ nome, numero }) =>
                html`<th role="columnheader" scope="col" class=${numero ? 'numero' : ''}>${nome}</th>`,
            )}
          </tr>
        </thead>
        <tbody role="rowgroup">
          ${repeat(
            linhas,
            ({ chave }) => chave,
            ({ chave, celulas }) => html`
              <tr role="row" data-mudou=${this.#lampejo(chave)}>
                ${celulas.map(
                  (celula, index) => html`
                    <td role="cell" class=${this.colunas[index]?.numero ? 'numero' : ''} data-coluna=${index}>
                      ${celula}
                    </td>
                  `,
                )}
              </tr>
            `,
          )}
        </tbody>
      </table>
    `;
  }

  #renderEspera(): TemplateResult {
    return html`
      <div class="espera" role="status">
        <span class="so-leitor">Carregando</span>
        <i></i><i></i><i></i>
      </div>
    `;
  }

  /** Two names in turn, so that the animation starts again. */
  #lampejo(chave: string): string {
    const vezes = this.#versoes.get(chave)?.vezes ?? 0;
    return vezes === 0 ? '' : vezes % 2 === 0 ? 'par' : 'impar';
  }

  #filtrar(event: Event): void {
    this.filtro = (event.target as HTMLSelectElement).value;
    this.limite = FIRST_ROWS;
  }

  #mostrarNovos(): void {
    this.#ordem = [];
    this.requestUpdate();
  }

  #mostrarMais(): void {
    this.limite += MORE_ROWS;
    if (this.haMais && this.limite > this.#ordem.length) this.dispatchEvent(new Event('carregar-mais'));
  }

  // A finger does not rest on a row as a mouse does.
  #entrar(event: PointerEvent): void {
    if (event.pointerType === 'mouse') this.#dentro = true;
  }

  #sair(): void {
    this.#dentro = false;
    this.requestUpdate();
  }
}

customElements.define('painel-tabela', PainelTabela);
