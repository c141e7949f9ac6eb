import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { formatBrl } from '../demo/shared/format.ts';
import { texts } from '../src/statement/locales/pt-BR.ts';
import { type Api, query } from './api.ts';
import type { Month } from './months.ts';
import { REPORT, type Report } from './operations.ts';

/** The pause between two readings of a month that goes on, while the page is visible. */
const EVERY_MS = 30_000;

/** The sums of a month by kind, between the balances at its ends. */
export class ConsoleReport extends LitElement {
  static override properties = {
    api: { attribute: false },
    month: { attribute: false },
    report: { state: true },
    failed: { state: true },
  };

  declare api: Api;
  declare month: Month;
  declare report: Report | null;
  declare failed: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.report = null;
    this.failed = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('month')) void this.#read(this.month);
  }

  async #read(month: Month): Promise<void> {
    this.report = null;
    this.failed = false;
    await this.#readAgain(month);
  }

  /** Reads the sums, and later once more if the month goes on: the list beneath them is live. */
  async #readAgain(month: Month): Promise<void> {
    clearTimeout(this.#timer);
    const { startsAt, endsAt } = month;
    try {
      const { wallet } = await query<{ wallet: { closing: Report } }>(this.api, REPORT, { startsAt, endsAt });
      if (this.month !== month) return;
      this.report = wallet?.closing ?? this.report;
    } catch {
      // What was read stays.
    }
    if (this.month !== month) return;
    this.failed = this.report === null;
    if (!this.failed && this.isConnected && this.api.now() < new Date(endsAt)) this.#wait(month);
  }

  #wait(month: Month): void {
    this.#timer = setTimeout(
      () => (document.hidden ? this.#wait(month) : void this.#readAgain(month)),
      EVERY_MS,
    );
  }

  protected override render(): TemplateResult {
    const { report, month } = this;
    if (this.failed)
      return html`<p class="error" role="alert">
        O fechamento não pôde ser lido.
        <button type="button" class="secondary" @click=${() => this.#read(month)}>Tentar de novo</button>
      </p>`;
    if (!report) return html`<p class="empty" role="status">Lendo…</p>`;
    return html`
      <div class="scroller" tabindex="0" role="region" aria-label=${`Fechamento de ${month.label}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">Lançamentos</th>
              <th scope="col" class="numeric">Quantos</th>
              <th scope="col" class="numeric">Tarifas</th>
              <th scope="col" class="numeric">Valor</th>
            </tr>
          </thead>
          <tbody>
            ${balanceRow('Saldo inicial', report.opening.balanceCents)}
            ${report.lines.map(
              ({ kind, count, serviceFeeCents, amountCents }) => html`<tr>
                <th scope="row">${labelOf(kind)}</th>
                <td class="numeric">${count}</td>
                <td class="numeric">${serviceFeeCents ? formatBrl(serviceFeeCents) : ''}</td>
                <td class="numeric">${formatBrl(amountCents)}</td>
              </tr>`,
            )}
            ${balanceRow('Saldo final', report.closing.balanceCents)}
          </tbody>
        </table>
      </div>
      ${
        report.unexplainedCents === 0
          ? nothing
          : html`<p class="hint">Sem lançamento que explique: ${formatBrl(report.unexplainedCents)}.</p>`
      }
    `;
  }
}

const labelOf = (kind: string): string => (texts as Readonly<Record<string, string>>)[kind] ?? texts.UNKNOWN;

function balanceRow(label: string, cents: number | null): TemplateResult {
  return html`<tr class="balance">
    <th scope="row">${label}</th>
    <td></td>
    <td></td>
    <td class="numeric">${cents === null ? '—' : formatBrl(cents)}</td>
  </tr>`;
}

customElements.define('console-report', ConsoleReport);
