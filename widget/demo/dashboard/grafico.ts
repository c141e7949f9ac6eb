import { html, LitElement, nothing, svg, type TemplateResult } from 'lit';
import { emPoucosReais, emReais } from '../shared/formato.ts';

/** Money in or out at an instant. */
export interface Movimento {
  at: Date;
  /** Positive: in. Negative: out. */
  cents: number;
}

interface Hora {
  hora: number;
  entrou: number;
  saiu: number;
}

const HEIGHT = 160;
const BAR = 0.62;

/** Money in and out by hour of one day: bars up and down, and the same as a table. */
export class PainelGrafico extends LitElement {
  static override properties = {
    movimentos: { attribute: false },
    agora: { attribute: false },
  };

  declare movimentos: Movimento[];
  declare agora: Date;

  constructor() {
    super();
    this.movimentos = [];
    this.agora = new Date();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const horas = porHora(this.movimentos, this.agora);
    const total = (key: 'entrou' | 'saiu') => horas.reduce((sum, hora) => sum + hora[key], 0);
    const entrou = total('entrou');
    const saiu = total('saiu');
    return html`
      <section aria-labelledby="titulo-dia">
        <div class="dia-topo">
          <h2 id="titulo-dia">Hoje, hora a hora</h2>
          <dl class="legenda">
            <div class="entrou"><dt>Vendas no cartão</dt><dd>${emReais(entrou)}</dd></div>
            <div class="saiu"><dt>Saques e estornos</dt><dd>${emReais(saiu)}</dd></div>
          </dl>
        </div>
        ${this.#renderBarras(horas, entrou, saiu)} ${this.#renderComoTabela(horas)}
      </section>
    `;
  }

  #renderBarras(horas: Hora[], entrou: number, saiu: number): TemplateResult {
    const maisAlto = arredondar(Math.max(...horas.map((hora) => hora.entrou)));
    const maisBaixo = arredondar(Math.max(...horas.map((hora) => hora.saiu)));
    const whole = maisAlto + maisBaixo || 1;
    // An empty half still gets a little room, so that the line of zero never lies on the edge.
    const share = maisAlto + maisBaixo === 0 ? 0.5 : maisAlto / whole;
    const zero = Math.min(HEIGHT - 12, Math.max(12, share * HEIGHT));
    const up = (cents: number) => (maisAlto === 0 ? 0 : (cents / maisAlto) * (zero - 2));
    const down = (cents: number) => (maisBaixo === 0 ? 0 : (cents / maisBaixo) * (HEIGHT - zero - 2));
    const now = this.agora.getHours() + this.agora.getMinutes() / 60;
    const resumo =
      entrou + saiu === 0
        ? 'Nenhum movimento hoje.'
        : `Entraram ${emReais(entrou)} e saíram ${emReais(saiu)} hoje.`;
    return html`
      <div class="grafico">
        <div class="escala" aria-hidden="true">
          <span>${maisAlto === 0 ? nothing : emPoucosReais(maisAlto)}</span>
          <span>${maisBaixo === 0 ? nothing : emPoucosReais(-maisBaixo)}</span>
        </div>
        <svg viewBox="0 0 24 ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${resumo}>
          <rect class="depois" x=${now} y="0" width=${Math.max(0, 24 - now)} height=${HEIGHT}></rect>
          ${horas.map(
            ({ hora, entrou, saiu }) => svg`
              <g>
                <title>${`${faixa(hora)}: entrou ${emReais(entrou)}, saiu ${emReais(saiu)}`}</title>
                <rect class="alvo" x=${hora} y="0" width="1" height=${HEIGHT}></rect>
                <rect class="barra-entrou" x=${hora + (1 - BAR) / 2} y=${zero - up(entrou)} width=${BAR} height=${up(entrou)}></rect>
                <rect class="barra-saiu" x=${hora + (1 - BAR) / 2} y=${zero} width=${BAR} height=${down(saiu)}></rect>
              </g>`,
          )}
          <line class="zero" x1="0" x2="24" y1=${zero} y2=${zero}></line>
        </svg>
        <div class="horas" aria-hidden="true">
          ${[0, 6, 12, 18].map((hora) => html`<span>${hora}h</span>`)}
        </div>
        ${
          entrou + saiu === 0
            ? html`<p class="grafico-vazio" aria-hidden="true">O dia ainda não teve movimento.</p>`
            : nothing
        }
      </div>
    `;
  }

  #renderComoTabela(horas: Hora[]): TemplateResult {
    const moved = horas.filter(({ entrou, saiu }) => entrou + saiu > 0);
    return html`
      <details class="como-tabela">
        <summary>Ver como tabela</summary>
        ${
          moved.length === 0
            ? html`<p class="vazio">Nenhum movimento hoje.</p>`
            : html`
                <table>
                  <caption class="so-leitor">Entradas e saídas de hoje por hora</caption>
                  <thead>
                    <tr>
                      <th scope="col">Hora</th>
                      <th scope="col" class="numero">Entrou</th>
                      <th scope="col" class="numero">Saiu</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${moved.map(
                      ({ hora, entrou, saiu }) => html`
                        <tr>
                          <th scope="row">${faixa(hora)}</th>
                          <td class="numero">${emReais(entrou)}</td>
                          <td class="numero">${emReais(saiu)}</td>
                        </tr>
                      `,
                    )}
                  </tbody>
                </table>
              `
        }
      </details>
    `;
  }
}

function porHora(movimentos: readonly Movimento[], agora: Date): Hora[] {
  const horas: Hora[] = Array.from({ length: 24 }, (_, hora) => ({ hora, entrou: 0, saiu: 0 }));
  for (const { at, cents } of movimentos) {
    const hora = horas[at.getHours()];
    if (!hora || at.toDateString() !== agora.toDateString()) continue;
    if (cents > 0) hora.entrou += cents;
    else hora.saiu -= cents;
  }
  return horas;
}

/** Up to 1, 2 or 5 of its power of ten, so that the scale does not tremble with each sale. */
function arredondar(cents: number): number {
  if (cents <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(cents));
  return ([1, 2, 5, 10].find((step) => step * power >= cents) ?? 10) * power;
}

function faixa(hora: number): string {
  return `${String(hora).padStart(2, '0')}h às ${String((hora + 1) % 24).padStart(2, '0')}h`;
}

customElements.define('painel-grafico', PainelGrafico);
