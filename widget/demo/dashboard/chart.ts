import { html, LitElement, nothing, svg, type TemplateResult } from 'lit';
import { formatBrl, formatCompactBrl } from '../shared/format.ts';
import { type HourTotals, hoursOfDay, type MoneyMovement, totalsByHour } from './chart-hours.ts';
import { chartScale, HEIGHT } from './chart-scale.ts';

const BAR = 0.62;

/** The chart of one day's money in and out by hour: bars up and down on one scale, and the same numbers as a table. */
export class DayChart extends LitElement {
  static override properties = {
    movements: { attribute: false },
    now: { attribute: false },
    salesPartial: { type: Boolean, attribute: 'sales-partial' },
    outgoingPartial: { type: Boolean, attribute: 'outgoing-partial' },
  };

  declare movements: MoneyMovement[];
  declare now: Date;
  /** Whether there may be sales of the day that are in no sum. */
  declare salesPartial: boolean;
  /** Whether there may be payouts or refunds of the day that are in no sum. */
  declare outgoingPartial: boolean;

  constructor() {
    super();
    this.movements = [];
    this.now = new Date();
    this.salesPartial = false;
    this.outgoingPartial = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const hours = totalsByHour(this.movements, this.now);
    const total = (key: 'inCents' | 'outCents') => hours.reduce((sum, hour) => sum + hour[key], 0);
    const inCents = total('inCents');
    const outCents = total('outCents');
    const inText = formatTotal(inCents, this.salesPartial);
    const outText = formatTotal(outCents, this.outgoingPartial);
    const isCut = this.salesPartial || this.outgoingPartial;
    const empty = isCut ? 'Nenhum movimento conhecido hoje.' : 'Nenhum movimento hoje.';
    const summary = inCents + outCents === 0 ? empty : `Entraram ${inText} e saíram ${outText} hoje.`;
    return html`
      <section aria-labelledby="day-title">
        <div class="day-header">
          <h2 id="day-title">Hoje, hora a hora</h2>
          <dl class="legend">
            <div class="in"><dt>Vendas</dt><dd>${inText}</dd></div>
            <div class="out"><dt>Saques e estornos</dt><dd>${outText}</dd></div>
          </dl>
        </div>
        ${this.#renderBars(hours, summary, inCents + outCents === 0 ? empty : null)} ${this.#renderTable(hours, empty)}
      </section>
    `;
  }

  /** `empty` is shown in the place of bars. */
  #renderBars(hours: HourTotals[], summary: string, empty: string | null): TemplateResult {
    const { zero, heightOf, topCents, bottomCents } = chartScale(
      Math.max(...hours.map((hour) => hour.inCents)),
      Math.max(...hours.map((hour) => hour.outCents)),
    );
    const nowHours = hoursOfDay(this.now);
    return html`
      <div class="chart">
        <div class="scale" aria-hidden="true">
          <span>${topCents === null ? nothing : formatCompactBrl(topCents)}</span>
          <span>${bottomCents === null ? nothing : formatCompactBrl(-bottomCents)}</span>
        </div>
        <svg viewBox="0 0 24 ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${summary}>
          <rect class="future" x=${nowHours} y="0" width=${Math.max(0, 24 - nowHours)} height=${HEIGHT}></rect>
          ${hours.map(
            ({ hour, inCents, outCents }) => svg`
              <g>
                <title>${`${hourRange(hour)}: entrou ${formatBrl(inCents)}, saiu ${formatBrl(outCents)}`}</title>
                <rect class="target" x=${hour} y="0" width="1" height=${HEIGHT}></rect>
                <rect class="bar-in" x=${hour + (1 - BAR) / 2} y=${zero - heightOf(inCents)} width=${BAR} height=${heightOf(inCents)}></rect>
                <rect class="bar-out" x=${hour + (1 - BAR) / 2} y=${zero} width=${BAR} height=${heightOf(outCents)}></rect>
              </g>`,
          )}
          <line class="zero" x1="0" x2="24" y1=${zero} y2=${zero}></line>
        </svg>
        <div class="hours" aria-hidden="true">
          ${[0, 6, 12, 18].map((hour) => html`<span>${hour}h</span>`)}
        </div>
        ${empty === null ? nothing : html`<p class="chart-empty" aria-hidden="true">${empty}</p>`}
      </div>
    `;
  }

  #renderTable(hours: HourTotals[], empty: string): TemplateResult {
    const moved = hours.filter(({ inCents, outCents }) => inCents + outCents > 0);
    return html`
      <details class="as-table">
        <summary>Ver como tabela</summary>
        ${
          moved.length === 0
            ? html`<p class="empty">${empty}</p>`
            : html`
                <table>
                  <caption class="sr-only">Entradas e saídas de hoje por hora</caption>
                  <thead>
                    <tr>
                      <th scope="col">Hora</th>
                      <th scope="col" class="numeric">Entrou</th>
                      <th scope="col" class="numeric">Saiu</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${moved.map(
                      ({ hour, inCents, outCents }) => html`
                        <tr>
                          <th scope="row">${hourRange(hour)}</th>
                          <td class="numeric">${formatBrl(inCents)}</td>
                          <td class="numeric">${formatBrl(outCents)}</td>
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

function formatTotal(cents: number, isPartial: boolean): string {
  return `${isPartial ? 'ao menos ' : ''}${formatBrl(cents)}`;
}

function hourRange(hour: number): string {
  return `${String(hour).padStart(2, '0')}h às ${String((hour + 1) % 24).padStart(2, '0')}h`;
}

customElements.define('day-chart', DayChart);
