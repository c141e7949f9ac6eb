import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatFull, formatTime } from '../demo/shared/format.ts';
import { isLost, type PostResult, postJson } from '../demo/shared/post-json.ts';
import { refusalText } from '../demo/shared/refusals.ts';
import type { Api } from './api.ts';
import { timeWords } from './times.ts';
import { messageOf, postWithKey } from './write.ts';

/** A batch of payouts, as the server shows it. */
interface Batch {
  batchId: string;
  status: 'running' | 'finished' | 'canceled';
  waiting: { code: string; until: string } | null;
  createdAt: string;
  endsAt: string | null;
  cancelReason: 'merchant' | 'key_revoked' | 'restored' | null;
  count: number;
  totalCents: number;
  paid: number;
  paidCents: number;
  denied: number;
  inDoubt: number;
  refused: { row: number; amountCents: number; destination: string; refused: string; message: string }[];
}

/** The pause between two readings while the page is visible. */
const EVERY_MS = 15_000;

const WAITS: Readonly<Record<string, string>> = {
  RATE_LIMITED: 'O limite de saques por hora foi atingido. O próximo sai',
  INSUFFICIENT_FUNDS: 'O saldo não cobre o próximo saque. O lote olha de novo',
  RECORDS_BEHIND:
    'O servidor foi restaurado de um backup. O lote espera até que o operador confirme os registros, e olha de novo',
  UPSTREAM_UNAVAILABLE: 'O banco não respondeu. O lote tenta de novo',
  UPSTREAM_REFUSED:
    'O serviço de pagamentos recusou o pedido, e não por causa do saque. O lote tenta de novo',
};

const RESTORED =
  'O servidor foi restaurado de um backup. Se este lote foi cancelado depois daquele backup, cancele o resto. Se não, continue-o: o que já foi pago não é pago de novo.';

const ENDS: Readonly<Record<string, string>> = {
  key_revoked: 'A chave que o confirmou foi revogada: o resto não será pedido.',
  restored:
    'O servidor foi restaurado de um backup: o resto não será pedido, porque pode já ter sido pago. Confira a lista de saques antes de mandar o que falta em outro arquivo.',
};

/** The progress of the newest batch, with its end. */
export class ConsoleBatchProgress extends LitElement {
  static override properties = {
    api: { attribute: false },
    confirmed: { attribute: false },
    batch: { state: true },
    message: { state: true },
    busy: { state: true },
    readAt: { state: true },
    isOld: { state: true },
  };

  declare api: Api;
  /** Changes once a batch was confirmed. */
  declare confirmed: number;
  declare batch: Batch | null;
  declare message: string;
  declare busy: boolean;
  /** The instant of the last reading that was answered. */
  declare readAt: Date | null;
  /** Whether a reading after that failed. */
  declare isOld: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.confirmed = 0;
    this.batch = null;
    this.message = '';
    this.busy = false;
    this.readAt = null;
    this.isOld = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('visibilitychange', this.#read);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('visibilitychange', this.#read);
    clearTimeout(this.#timer);
  }

  protected override updated(changed: Map<string, unknown>): void {
    if (changed.has('confirmed')) void this.#read();
  }

  readonly #read = async (): Promise<void> => {
    clearTimeout(this.#timer);
    if (document.hidden || !this.isConnected) return;
    const result = await postJson<{ batch: Batch | null }>('./payouts/batches/newest');
    this.isOld = !result.ok;
    if (result.ok) [this.batch, this.readAt] = [result.body.batch, this.api.now()];
    clearTimeout(this.#timer);
    // Without an answer what is known stays.
    if (this.isConnected && (!result.ok || this.batch?.status === 'running'))
      this.#timer = setTimeout(this.#read, EVERY_MS);
  };

  readonly #cancel = (): Promise<void> =>
    this.#change((batchId) => postJson('./payouts/batches/cancel', { batchId }));

  readonly #resume = (): Promise<void> =>
    this.#change((batchId) =>
      postWithKey(
        this.api,
        'Continuar o lote',
        (confirmed) => postJson('./payouts/batches/resume', { batchId, ...confirmed }),
        true,
      ),
    );

  /** Changes the batch. The button may be gone after it: the focus then goes to the title of the batch. */
  async #change(post: (batchId: string) => Promise<PostResult<unknown> | null>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    const result = await post(this.batch!.batchId);
    this.message = '';
    if (result && !result.ok)
      this.message = isLost(result.refusal) ? 'Sem resposta: tente de novo.' : messageOf(result.refusal);
    if (result) await this.#read();
    this.busy = false;
    await this.updateComplete;
    if (result?.ok) this.querySelector<HTMLElement>('h3')?.focus();
  }

  protected override render(): TemplateResult | typeof nothing {
    const { batch } = this;
    if (!batch)
      return this.isOld
        ? html`<p class="hint" role="status">Não foi possível ler o andamento do último lote agora.</p>`
        : nothing;
    const { status, waiting, createdAt, endsAt, count, paid, paidCents, totalCents, refused, cancelReason } =
      batch;
    const { denied, inDoubt } = batch;
    const now = this.api.now();
    const ended = paid + refused.length;
    const isForetold = !waiting || waiting.code === 'RATE_LIMITED';
    return html`<section aria-label="Andamento do lote" data-batch=${status}>
      <h3 tabindex="-1">${TITLES[status]}</h3>
      <progress max=${count} value=${ended} aria-label="Saques do lote"></progress>
      <p role="status">
        ${paid} de ${count} ${count === 1 ? 'saque pedido' : 'saques pedidos'}, ${formatBrl(paidCents)} de ${formatBrl(totalCents)}.
        ${refused.length > 0 ? `${refused.length} ${refused.length === 1 ? 'recusado' : 'recusados'}.` : nothing}
        ${denied > 0 ? `Depois do pedido, ${denied} ${denied === 1 ? 'foi negado' : 'foram negados'} ou ${denied === 1 ? 'voltou' : 'voltaram'}: confira a lista.` : nothing}
        ${inDoubt > 0 ? `${inDoubt} ${inDoubt === 1 ? 'está' : 'estão'} sem confirmação do serviço: não ${inDoubt === 1 ? 'o' : 'os'} peça de novo.` : nothing}
        ${endsAt && isForetold ? `Termina por volta ${timeWords(new Date(endsAt), now, ['das', 'de'])}.` : nothing}
      </p>
      <p class="hint">
        Confirmado em ${formatFull(new Date(createdAt))}.
        ${status === 'running' ? 'O servidor pede os saques: esta página pode ser fechada.' : nothing}
        ${ENDS[cancelReason ?? ''] ?? nothing}
      </p>
      ${this.isOld ? html`<p class="warning" role="status">Não foi possível ler o andamento agora. Isto é de ${formatTime(this.readAt!, now)} (Brasília).</p>` : nothing}
      ${
        waiting
          ? html`<p>${waiting.code === 'RESTORED' ? RESTORED : html`${WAITS[waiting.code]} ${timeWords(new Date(waiting.until), now, ['às', 'em'])}.`}</p>`
          : nothing
      }
      ${refused.length > 0 ? this.#renderRefused(refused) : nothing}
      <p class="form-error" role="alert">${this.message || nothing}</p>
      ${
        status === 'running'
          ? html`<p class="buttons">
              ${waiting?.code === 'RESTORED' ? this.#renderButton('Continuar o lote', this.#resume) : nothing}
              ${this.#renderButton('Cancelar o resto', this.#cancel)}
            </p>`
          : nothing
      }
    </section>`;
  }

  #renderButton(label: string, onClick: () => void): TemplateResult {
    return html`<button type="button" class="secondary" aria-disabled=${this.busy ? 'true' : 'false'} @click=${onClick}>
      ${label}
    </button>`;
  }

  #renderRefused(refused: Batch['refused']): TemplateResult {
    return html`<details>
      <summary>Saques recusados</summary>
      <ul>
        ${refused.map(
          ({ row, destination, amountCents, refused: code }) =>
            html`<li>
              ${row}º: ${formatBrl(amountCents)} para ${destination}. ${refusalText({ status: 409, code, fields: [] })}
            </li>`,
        )}
      </ul>
    </details>`;
  }
}

const TITLES = {
  running: 'Lote em andamento',
  finished: 'Último lote: terminado',
  canceled: 'Último lote: cancelado',
};

customElements.define('console-batch-progress', ConsoleBatchProgress);
