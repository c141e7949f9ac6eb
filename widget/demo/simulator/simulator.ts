import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { loadAccount } from '../shared/account.ts';
import {
  formatBrl,
  formatClock,
  formatFull,
  formatLtc,
  formatRelative,
  parseCents,
  parseLitoshi,
  ZONE,
} from '../shared/format.ts';
import { postJson } from '../shared/post-json.ts';
import { clockOffsetText } from './clock-offset.ts';
import type { Done, FieldOfError, Page } from './page.ts';
import { renderPixBank } from './pix-bank.ts';
import { controlRefusalText } from './refusals.ts';
import {
  renderCardPayments,
  renderDisputes,
  renderReturnable,
  renderRoutes,
  renderStore,
  renderTestPayments,
  renderTransfers,
} from './sections.ts';
import type { Environment, Snapshot } from './snapshot.ts';
import { renderSubscriptions } from './subscriptions.ts';

const LITOSHI = 100_000_000;
const DAY_SECONDS = 86_400;
const CLOCK_STEPS: [string, number][] = [
  ['+1 min', 60],
  ['+1 h', 3_600],
  ['+1 dia', DAY_SECONDS],
  ['+14 dias', 14 * DAY_SECONDS],
];
/** The pause after a control before the state is read again: the work queue runs the tasks that the control has started. */
const SOON_MS = 350;
const REFRESH_MS = 2_000;
/** The time to wait for the state: an answer that is lost must not stop the page. */
const ANSWER_MS = 10_000;

const TOO_MUCH = 'É mais do que o simulador credita de uma vez.';

/** The controls of the simulated bank, acquirer and clock. */
export class SimulatorApp extends LitElement implements Page {
  static override properties = {
    snapshot: { state: true },
    account: { state: true },
    environment: { state: true },
    outcome: { state: true },
    errors: { state: true },
    unreachable: { state: true },
  };

  declare snapshot: Snapshot | null;
  /** Null for the first account. */
  declare account: string | null;
  declare environment: Environment;
  /** The outcome of the last control. */
  declare outcome: { text: string; failed: boolean };
  /** Error messages by field. */
  declare errors: Record<string, string>;
  /** Whether the server does not answer. */
  declare unreachable: boolean;

  #timer: ReturnType<typeof setTimeout> | undefined;
  #latestRequest = 0;
  /** The server's clock minus this machine's. */
  #aheadMs = 0;
  #tick: ReturnType<typeof setInterval> | undefined;
  /** The controls that wait for an answer. */
  readonly #pressed = new Set<string>();

  constructor() {
    super();
    this.snapshot = null;
    this.account = null;
    this.environment = 'live';
    this.outcome = { text: '', failed: false };
    this.errors = {};
    this.unreachable = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#refresh();
    this.#tick = setInterval(() => this.requestUpdate(), 1_000);
    document.addEventListener('visibilitychange', this.#onVisible);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.#timer);
    clearInterval(this.#tick);
    document.removeEventListener('visibilitychange', this.#onVisible);
  }

  protected override render(): TemplateResult {
    const { snapshot } = this;
    return html`
      <div class="page-header">
        <div><h1>Simulador</h1><small>${ZONE}</small></div>
        ${snapshot ? this.#renderTenantPicker(snapshot) : nothing}
      </div>
      <p class="outcome" role="status" data-failed=${this.outcome.failed ? 'true' : 'false'}>
        ${this.unreachable ? 'O simulador não responde. Tentando de novo…' : this.outcome.text}
      </p>
      ${snapshot ? this.#renderControls(snapshot) : html`<p class="empty">Carregando…</p>`}
    `;
  }

  #renderTenantPicker({ accounts, tenant }: Snapshot): TemplateResult {
    return html`
      <div class="tenant-picker">
        <label>
          Conta
          <select @change=${(event: Event) => this.#selectTenant({ account: (event.target as HTMLSelectElement).value })}>
            ${accounts.map(
              ({ id, name }) =>
                html`<option value=${id} ?selected=${id === tenant.accountId}>${name}</option>`,
            )}
          </select>
        </label>
        <label>
          Ambiente
          <select
            @change=${(event: Event) => this.#selectTenant({ environment: (event.target as HTMLSelectElement).value as Environment })}
          >
            <option value="live" ?selected=${tenant.environment === 'live'}>Produção (live)</option>
            <option value="sandbox" ?selected=${tenant.environment === 'sandbox'}>Sandbox</option>
          </select>
        </label>
      </div>
    `;
  }

  #renderControls(snapshot: Snapshot): TemplateResult {
    const live = snapshot.tenant.environment === 'live';
    return html`
      <div class="controls">
        <div>
          ${this.#renderClock(snapshot)} ${renderTransfers(snapshot, this, live)}
          ${live ? renderReturnable(snapshot, this) : nothing}
          ${live ? renderDisputes(snapshot, this) : nothing} ${renderStore(snapshot, this)}
        </div>
        <div>
          ${this.#renderWallet(snapshot, live)} ${renderPixBank(snapshot, this)} ${renderSubscriptions(snapshot, this)}
          ${live ? renderCardPayments(snapshot, this) : renderTestPayments(snapshot, this)}
        </div>
      </div>
      ${renderRoutes()}
    `;
  }

  // ── The clock ─────────────────────────────────────────────────────────────────────────────────

  #renderClock({ clock }: Snapshot): TemplateResult {
    const now = this.now();
    const next = clock.nextDueAt ? new Date(clock.nextDueAt) : null;
    return html`
      <section class="card" aria-labelledby="clock-title">
        <h2 id="clock-title">Relógio</h2>
        <p class="time">
          <time datetime=${now.toISOString()}>${formatClock(now)}</time>
          <small>${formatFull(now).replace(/ às .*/, '')}</small>
        </p>
        <p>${clockOffsetText(clock.offsetMs)}</p>
        <div class="buttons">
          ${CLOCK_STEPS.map(
            ([label, seconds]) => html`
              <button
                type="button"
                class="secondary"
                @click=${() => this.run('clock', { seconds }, `Relógio adiantado: ${label}.`)}
              >
                ${label}
              </button>
            `,
          )}
          <button
            type="button"
            class="secondary"
            aria-disabled=${next ? 'false' : 'true'}
            @click=${() => next && this.run('clock', { to: 'next' }, 'Relógio adiantado até a próxima tarefa.')}
          >
            Até a próxima tarefa${next ? html` <span class="faint">${formatRelative(next, now)}</span>` : nothing}
          </button>
        </div>
        <p class="note">
          O que vence no salto acontece todo de uma vez, no instante de chegada, como num servidor que dormiu. O relógio
          nunca volta: o adiantamento fica no banco de dados e vale também depois de reiniciar, para que nada do que já
          aconteceu caia no futuro. Uma pasta de dados nova (<code>PSA_DATA_DIR</code>) recomeça na hora certa. Com
          várias instâncias no mesmo PostgreSQL, as outras o seguem na hora; sem a demonstração (<code>PSA_DEMO=off</code>)
          ele não vale.
        </p>
      </section>
    `;
  }

  // ── The wallet ────────────────────────────────────────────────────────────────────────────────

  #renderWallet({ wallet }: Snapshot, live: boolean): TemplateResult {
    return html`
      <section class="card" aria-labelledby="wallet-title">
        <h2 id="wallet-title">Carteira</h2>
        <dl class="figures">
          <div><dt>Disponível</dt><dd>${formatBrl(wallet.withdrawableCents)}</dd></div>
          <div><dt>Saldo</dt><dd>${formatBrl(wallet.balanceCents)}</dd></div>
          <div><dt>A liberar</dt><dd>${formatBrl(wallet.pendingReleaseCents)}</dd></div>
          ${wallet.receivableCents > 0 ? html`<div><dt>A descontar</dt><dd>${formatBrl(wallet.receivableCents)}</dd></div>` : null}
          <div><dt>Em disputa</dt><dd>${formatBrl(wallet.disputeBlockedCents)}</dd></div>
          <div><dt>Litecoin</dt><dd>${formatLtc(wallet.cryptoBalanceLitoshi / LITOSHI)}</dd></div>
        </dl>
        ${
          live
            ? html`
                <div class="forms">
                  ${this.renderForm({
                    field: 'credit',
                    label: 'Creditar em reais',
                    initial: '1.000,00',
                    button: 'Creditar',
                    submit: (text) => this.#creditBrl(text),
                  })}
                  ${this.renderForm({
                    field: 'ltc',
                    label: 'Creditar em LTC',
                    initial: '0,5',
                    button: 'Creditar',
                    submit: (text) => this.#creditLtc(text),
                  })}
                </div>
              `
            : html`<p class="note">O saldo do sandbox vem só de pagamentos de teste.</p>`
        }
      </section>
    `;
  }

  #creditBrl(text: string): void {
    const amountCents = parseCents(text);
    if (!amountCents) {
      this.showError('credit', 'Escreva um valor, como 1.000,00.');
      return;
    }
    void this.run('credit', { amountCents }, `Creditado: ${formatBrl(amountCents)}.`, {
      amountCents: { field: 'credit', error: TOO_MUCH },
    });
  }

  #creditLtc(text: string): void {
    const litoshi = parseLitoshi(text);
    if (!litoshi) {
      this.showError('ltc', 'Escreva uma quantia, como 0,5.');
      return;
    }
    void this.run('credit', { litoshi }, `Creditado: ${formatLtc(litoshi / LITOSHI)}.`, {
      litoshi: { field: 'ltc', error: TOO_MUCH },
    });
  }

  // ── Running a control ─────────────────────────────────────────────────────────────────────────

  renderButton(label: string, path: string, done: Done, input: object = {}): TemplateResult {
    return html`
      <button type="button" class="secondary" @click=${() => this.run(path, input, done)}>${label}</button>
    `;
  }

  renderForm({
    field,
    label,
    initial,
    button,
    submit,
  }: {
    field: string;
    label: string;
    initial: string;
    button: string;
    submit: (text: string) => void;
  }): TemplateResult {
    const error = this.errors[field];
    return html`
      <form
        novalidate
        class="inline-form"
        @submit=${(event: SubmitEvent) => {
          event.preventDefault();
          submit(String(new FormData(event.target as HTMLFormElement).get(field) ?? ''));
        }}
      >
        <div class="field">
          <label for=${field}>${label}</label>
          <input
            id=${field}
            name=${field}
            value=${initial}
            inputmode="decimal"
            autocomplete="off"
            aria-invalid=${error ? 'true' : 'false'}
            aria-describedby=${`${field}-error`}
          />
        </div>
        <button type="submit" class="secondary">${button}</button>
        <p class="error" id=${`${field}-error`}>${error ?? nothing}</p>
      </form>
    `;
  }

  showError(field: string, error: string): void {
    this.errors = { [field]: error };
    this.querySelector<HTMLElement>(`#${field}`)?.focus();
  }

  async run(
    path: string,
    input: object,
    done: Done,
    errors: Record<string, FieldOfError> = {},
  ): Promise<boolean> {
    // A double click is one press.
    const press = JSON.stringify([path, input]);
    if (this.#pressed.has(press)) return false;
    this.#pressed.add(press);
    this.errors = {};
    const tenant =
      path === 'clock'
        ? {}
        : { environment: this.environment, ...(this.account ? { account: this.account } : {}) };
    const result = await postJson(`/simulator/${path}`, { ...tenant, ...input });
    this.#pressed.delete(press);
    // A live region is emptied first: a screen reader does not say a text again that is unchanged.
    this.outcome = { text: '', failed: false };
    await this.updateComplete;
    if (result.ok)
      this.outcome = { text: typeof done === 'string' ? done : done(result.body), failed: false };
    else {
      const wrong = result.refusal.fields.find(({ path }) => errors[path] !== undefined);
      const shown = wrong && errors[wrong.path];
      if (shown) this.showError(shown.field, shown.error);
      else this.outcome = { text: controlRefusalText(path, result.refusal), failed: true };
    }
    await this.#refresh();
    this.#scheduleRefresh(SOON_MS);
    return result.ok;
  }

  #selectTenant(changed: { account?: string; environment?: Environment }): void {
    Object.assign(this, changed);
    this.outcome = { text: '', failed: false };
    void this.#refresh();
  }

  async #refresh(): Promise<void> {
    clearTimeout(this.#timer);
    this.#latestRequest += 1;
    const request = this.#latestRequest;
    const query = new URLSearchParams({
      environment: this.environment,
      ...(this.account ? { account: this.account } : {}),
    });
    try {
      const response = await fetch(`/simulator/state?${query}`, { signal: AbortSignal.timeout(ANSWER_MS) });
      if (!response.ok) throw new Error(String(response.status));
      const snapshot = (await response.json()) as Snapshot;
      // Superseded by a later request, whose answer is newer.
      if (request !== this.#latestRequest) return;
      this.snapshot = snapshot;
      this.#aheadMs = Date.parse(snapshot.clock.now) - Date.now();
      this.unreachable = false;
    } catch {
      if (request !== this.#latestRequest) return;
      this.unreachable = true;
    }
    this.#scheduleRefresh(REFRESH_MS);
  }

  #scheduleRefresh(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => (document.hidden ? this.#scheduleRefresh(REFRESH_MS) : void this.#refresh()),
      ms,
    );
  }

  readonly #onVisible = () => {
    if (!document.hidden) void this.#refresh();
  };

  now(): Date {
    return new Date(Date.now() + this.#aheadMs);
  }
}

customElements.define('simulator-app', SimulatorApp);
void loadAccount();
