import { html, LitElement, nothing, svg, type TemplateResult } from 'lit';
import { formatBrl, formatCompactBrl } from '../demo/shared/format.ts';
import { type Answer, type Api, ask } from './api.ts';
import { SALES_BY_TIME, type SalesTotals } from './operations.ts';
import { type Bar, filled, periodUntil, type Unit } from './periods.ts';
import { Reading } from './reading.ts';
import { staleNotice } from './stale.ts';

const EVERY_MS = 60_000;
const HEIGHT = 100;
/** The width of a bar, of the place of one, and the least height of an amount beside larger ones. */
const WIDTH = 0.68;
const LEAST = 1.5;

const UNITS: readonly [Unit, label: string, title: string][] = [
  ['day', 'Dia', 'Vendas pagas por dia'],
  ['week', 'Semana', 'Vendas pagas por semana'],
  ['month', 'Mês', 'Vendas pagas por mês'],
];

const dayFormat = new Intl.DateTimeFormat('pt-BR', { day: '2-digit', month: 'short', timeZone: 'UTC' });
const monthFormat = new Intl.DateTimeFormat('pt-BR', { month: 'short', year: 'numeric', timeZone: 'UTC' });

interface Shown {
  unit: Unit;
  bars: readonly Bar[];
  totals: Answer<SalesTotals>;
}

/** The chart of the sales that were paid, by days, weeks or months: bars, and the same numbers as a table. */
export class ConsoleChart extends LitElement {
  static override properties = { api: { attribute: false }, unit: { state: true } };

  declare api: Api;
  declare unit: Unit;
  readonly #sales = new Reading<Shown>(this, EVERY_MS, async () => {
    const { unit } = this;
    const { bars, variables } = periodUntil(unit, this.api.now());
    const totals = await ask<SalesTotals>(this.api, SALES_BY_TIME, variables);
    return { unit, totals, bars: filled(bars, totals.data.salesTotals?.groups ?? []) };
  });

  constructor() {
    super();
    this.unit = 'day';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  #choose(unit: Unit): void {
    this.unit = unit;
    this.#sales.again();
  }

  protected override render(): TemplateResult {
    const { data, failed } = this.#sales;
    const shown = data?.unit === this.unit ? data : null;
    const totals = shown?.totals.data.salesTotals;
    const [, , title] = UNITS.find(([unit]) => unit === this.unit)!;
    return html`
      <div class="chart-header">
        <h2 id="chart-title">${title}</h2>
        <div class="units" role="group" aria-label="Período">
          ${UNITS.map(
            ([unit, label]) => html`<button
              type="button"
              class="secondary"
              aria-pressed=${unit === this.unit ? 'true' : 'false'}
              @click=${() => this.#choose(unit)}
            >${label}</button>`,
          )}
        </div>
      </div>
      ${failed || totals === null ? html`<p class="error" role="status">Não foi possível ler as vendas agora. A página tenta de novo sozinha.</p>` : nothing}
      ${staleNotice(shown?.totals.staleSince, this.api.now())}
      ${
        shown && totals
          ? html`
              <p class="chart-sum">
                <strong>${totals.isExact ? '' : 'ao menos '}${formatBrl(totals.amountCents)}</strong>
                <span class="hint">${countText(totals.count)}, antes de tarifas e estornos</span>
              </p>
              ${totals.isExact ? nothing : html`<p class="hint">Só as vendas que este servidor conhece: pode haver outras.</p>`}
              ${renderBars(shown)} ${renderTable(shown, title)}
            `
          : failed || totals === null
            ? nothing
            : html`<p class="empty chart-empty">Lendo…</p>`
      }
    `;
  }
}

function renderBars({ bars, unit }: Shown): TemplateResult {
  const largest = Math.max(...bars.map(({ amountCents }) => amountCents));
  const heightOf = (cents: number) => (cents === 0 ? 0 : Math.max(LEAST, (cents / largest) * HEIGHT));
  return html`<figure class="chart" aria-hidden="true">
    <span class="hint">${largest > 0 ? formatCompactBrl(largest) : ''}</span>
    <svg viewBox="0 0 ${bars.length} ${HEIGHT}" preserveAspectRatio="none">
      ${bars.map((bar, index) => {
        const height = heightOf(bar.amountCents);
        return svg`<g>
          <title>${`${nameOf(bar, unit)}: ${formatBrl(bar.amountCents)}, ${countText(bar.count)}`}</title>
          <rect class="target" x=${index} y="0" width="1" height=${HEIGHT}></rect>
          <rect class="amount" x=${index + (1 - WIDTH) / 2} y=${HEIGHT - height} width=${WIDTH} height=${height}></rect>
        </g>`;
      })}
    </svg>
    <figcaption class="hint"><span>${nameOf(bars[0]!, unit)}</span><span>${nameOf(bars.at(-1)!, unit)}</span></figcaption>
  </figure>`;
}

function renderTable({ bars, unit }: Shown, title: string): TemplateResult {
  const sold = bars.filter(({ count }) => count > 0).reverse();
  return html`<details class="as-table">
    <summary>Ver como tabela</summary>
    ${
      sold.length === 0
        ? html`<p class="empty">Nenhuma venda paga neste período.</p>`
        : html`<div class="scroller"><table>
            <caption class="sr-only">${title}</caption>
            <thead><tr>
              <th scope="col">Período</th>
              <th scope="col" class="numeric">Vendas</th>
              <th scope="col" class="numeric">Valor</th>
            </tr></thead>
            <tbody>${sold.map(
              (bar) => html`<tr>
                <th scope="row">${nameOf(bar, unit)}</th>
                <td class="numeric">${bar.count.toLocaleString('pt-BR')}</td>
                <td class="numeric">${formatBrl(bar.amountCents)}</td>
              </tr>`,
            )}</tbody>
          </table></div>`
    }
  </details>`;
}

function nameOf({ from, to }: Bar, unit: Unit): string {
  const first = new Date(from);
  if (unit === 'month') return monthFormat.format(first);
  return unit === 'day'
    ? dayFormat.format(first)
    : `${dayFormat.format(first)} a ${dayFormat.format(new Date(to))}`;
}

const countText = (count: number) => `${count.toLocaleString('pt-BR')} ${count === 1 ? 'venda' : 'vendas'}`;

customElements.define('console-chart', ConsoleChart);
