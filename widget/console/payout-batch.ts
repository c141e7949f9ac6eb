import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { KeptRequest } from '../demo/shared/kept-request.ts';
import { PAYOUT_METHODS } from '../demo/shared/payout-methods.ts';
import { fieldError } from '../demo/shared/payout-terms.ts';
import { isLost, type PostResult, postJson, type Refusal } from '../demo/shared/post-json.ts';
import type { Api } from './api.ts';
import {
  type Check,
  type Checked,
  renderDestinations,
  renderPaid,
  renderSums,
  renderWarnings,
} from './batch-check.ts';
import { decodeFile, type FileError, MAX_BYTES, type Row, readBatch } from './batch-file.ts';
import './batch-progress.ts';
import { keepFocusIn } from './keep-focus.ts';
import { messageOf, postWithKey } from './write.ts';

/** A batch that was sent: what is repeated is repeated as it was. */
interface Sent extends Pick<Checked, 'lines' | 'rows'> {
  confirmedBefore: string | null;
  paidBefore: readonly string[];
}

const REFUSALS: Readonly<Record<string, string>> = {
  LIMIT_REACHED:
    'Outro lote ainda está andando, ou já houve 50 lotes em 24 horas. Espere, ou cancele o resto do outro.',
  IDEMPOTENCY_CONFLICT: 'O lote anterior chegou, e já está andando. Confira-o antes de mandar outro.',
};
const REPEAT =
  'O último lote ficou sem resposta, e pode ter chegado. Confirme-o de novo: ele não sai em dobro.';
const WAIT = 'Espere a resposta ao lote que foi confirmado, e escolha o arquivo de novo.';
/** The most mistakes that are shown at once. */
const SHOWN_ERRORS = 50;

/** A batch of payouts from a file: it is checked whole, confirmed once, and then requested by the server. */
export class ConsolePayoutBatch extends LitElement {
  static override properties = {
    api: { attribute: false },
    errors: { state: true },
    checked: { state: true },
    message: { state: true },
    done: { state: true },
    busy: { state: true },
  };

  declare api: Api;
  declare errors: readonly FileError[];
  declare checked: Checked | null;
  declare message: string;
  declare done: number;
  declare busy: '' | 'checking' | 'confirming';
  readonly #request = new KeptRequest<Sent>('batch');
  /** The batch that was sent before this page, and had no answer. */
  #lost: Sent | null = null;
  /** Counts what was read: of two files the newer is shown, however long the other takes. */
  #turn = 0;

  constructor() {
    super();
    this.errors = [];
    this.checked = null;
    this.message = '';
    this.done = 0;
    this.busy = '';
    keepFocusIn(this);
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#lost = this.#request.lost;
    if (this.#lost) void this.#check(this.#lost, { message: REPEAT, isRepetition: true });
  }

  protected override render(): TemplateResult {
    return html`
      <h2>Saques em lote</h2>
      <p class="hint">
        Um arquivo CSV com uma linha por saque. A primeira linha tem os nomes das colunas: <code>valor</code> e
        <code>destino</code>, e se preciso <code>forma</code> (PIX, PIX turbo, LTC, USDT), <code>tipo</code> da chave e
        <code>referência</code>. Vale o CSV do Excel em português.
      </p>
      <div class="field">
        <label for="batch-file">Arquivo CSV</label>
        <input id="batch-file" type="file" accept=".csv,.txt,text/csv,text/plain" @change=${this.#open} />
      </div>
      <details>
        <summary>Colar o texto</summary>
        <form class="paste" @submit=${this.#paste}>
          <div class="field">
            <label for="batch-text">Texto do arquivo</label>
            <textarea
              id="batch-text"
              rows="6"
              spellcheck="false"
              placeholder=${'valor;destino;referência\n150,00;ana@example.com;Pedido 1042'}
            ></textarea>
          </div>
          <button class="secondary">Conferir o texto</button>
        </form>
      </details>
      <p class="form-error" role="alert">${this.message || nothing}</p>
      ${this.busy ? html`<p class="hint" role="status">Um momento…</p>` : nothing}
      ${this.errors.length > 0 ? this.#renderErrors() : nothing} ${this.checked ? this.#renderCheck(this.checked) : nothing}
      <console-batch-progress .api=${this.api} .confirmed=${this.done}></console-batch-progress>
    `;
  }

  #renderErrors(): TemplateResult {
    const { errors } = this;
    return html`
      <p role="alert">
        ${errors.length === 1 ? 'Há um erro' : `Há ${errors.length} erros`} no arquivo. Nada foi pedido: corrija e escolha o arquivo de novo.
      </p>
      <div class="scroller" tabindex="0" role="region" aria-label="Erros do arquivo">
        <table>
          <thead>
            <tr>
              <th scope="col" class="numeric">Linha</th>
              <th scope="col">Coluna</th>
              <th scope="col">Erro</th>
            </tr>
          </thead>
          <tbody>
            ${errors.slice(0, SHOWN_ERRORS).map(
              ({ line, column, message }) =>
                html`<tr>
                  <td class="numeric">${line}</td>
                  <td>${column || '—'}</td>
                  <td>${message}</td>
                </tr>`,
            )}
          </tbody>
        </table>
      </div>
      ${errors.length > SHOWN_ERRORS ? html`<p class="hint">São mostrados os primeiros ${SHOWN_ERRORS}.</p>` : nothing}
    `;
  }

  #renderCheck(checked: Checked): TemplateResult {
    const { check, paysAgain, isRepetition } = checked;
    const isAsked = check.paidBefore.length > 0 && !isRepetition;
    return html`
      ${renderSums(check, this.api.now())} ${renderDestinations(checked)} ${renderWarnings(checked)}
      ${isAsked ? renderPaid(checked) : nothing}
      <p class="buttons">
        ${
          isAsked && !paysAgain
            ? html`<button type="button" class="primary" @click=${this.#leaveOut}>Deixar de fora as linhas já pagas</button>
                <button type="button" class="secondary" @click=${this.#payAgain}>Pagar também, de novo</button>`
            : html`<button type="button" class="primary" aria-disabled=${this.busy ? 'true' : 'false'} @click=${this.#confirm}>
                ${titleOf(checked)}
              </button>`
        }
        <button type="button" class="secondary" aria-disabled=${this.busy ? 'true' : 'false'} @click=${this.#drop}>Descartar</button>
      </p>
    `;
  }

  readonly #open = async ({ target }: Event): Promise<void> => {
    const input = target as HTMLInputElement;
    const [file] = input.files ?? [];
    if (!file) return;
    if (this.busy === 'confirming') this.message = WAIT;
    else {
      const turn = this.#begin();
      if (file.size > MAX_BYTES) this.#refuse('O arquivo é grande demais: um lote tem até 1.000 saques.');
      else {
        const text = decodeFile(await file.arrayBuffer());
        if (turn === this.#turn) await this.#read(text);
      }
    }
    // The same file can be chosen again once it was corrected.
    input.value = '';
  };

  readonly #paste = (event: Event): void => {
    event.preventDefault();
    void this.#read(this.querySelector<HTMLTextAreaElement>('#batch-text')?.value ?? '');
  };

  /** Drops what is shown. A batch that is on its way cannot be discarded, nor one that may have arrived. */
  readonly #drop = (): void => {
    if (this.busy) return;
    this.#refuse(
      this.#request.lost
        ? 'O lote que ficou sem resposta pode ter chegado: confira o andamento antes de mandar outro.'
        : '',
    );
  };

  readonly #leaveOut = (): void => {
    const { lines, rows, check } = this.checked!;
    const paid = new Set(check.paidBefore.map(({ row }) => row - 1));
    const isLeft = (_: unknown, place: number) => !paid.has(place);
    const left = { lines: lines.filter(isLeft), rows: rows.filter(isLeft) };
    if (left.rows.length === 0) this.#refuse('Todas as linhas já foram pagas. Nada foi pedido.');
    else void this.#check(left);
  };

  readonly #payAgain = async (): Promise<void> => {
    this.checked = { ...this.checked!, paysAgain: true };
    await this.updateComplete;
    this.querySelector<HTMLElement>('.buttons .primary')?.focus();
  };

  /** Begins another reading or check, by its number: what an older one finds is shown no more. */
  #begin(): number {
    this.busy = '';
    this.#turn += 1;
    return this.#turn;
  }

  #refuse(message: string): void {
    this.errors = [];
    this.checked = null;
    this.message = message;
  }

  async #read(text: string): Promise<void> {
    if (this.busy === 'confirming') {
      this.message = WAIT;
      return;
    }
    this.#begin();
    const { rows, errors, columns } = readBatch(text);
    const [lines, given] = [rows.map(({ line }) => line), rows.map(({ row }) => row)];
    this.#refuse('');
    if (given.length > 0) await this.#check({ lines, rows: given }, { errors, columns });
    else this.errors = errors;
  }

  /** Has the server check the rows that were read. `errors`: the mistakes that were found in them before. */
  async #check(
    { lines, rows }: Pick<Checked, 'lines' | 'rows'>,
    {
      message = '',
      errors = [],
      columns = {},
      isRepetition = false,
    }: {
      message?: string;
      errors?: readonly FileError[];
      columns?: Partial<Record<string, string>>;
      isRepetition?: boolean;
    } = {},
  ): Promise<void> {
    const turn = this.#begin();
    this.busy = 'checking';
    const result = await postJson<Check>('./payouts/batches/check', { rows });
    if (turn !== this.#turn) return;
    this.busy = '';
    if (!result.ok) {
      const lost = isRepetition
        ? 'Não foi possível conferir agora. O último lote pode ter chegado: recarregue a página.'
        : 'Não foi possível conferir. Nada foi pedido: tente de novo.';
      this.#refuse(wordsOf(result.refusal, lost));
      this.errors = errors;
      return;
    }
    const isKnown = new Set(errors.map(({ line, column }) => `${line} ${column}`));
    const found = result.body.errors
      .map(({ row, field, message }) => ({
        line: lines[row - 1]!,
        column: columns[COLUMN_OF[field] ?? ''] ?? '',
        message: wordsOfMistake(rows[row - 1]!, field, message),
      }))
      .filter(({ line, column }) => !isKnown.has(`${line} ${column}`));
    // What is repeated may have arrived: a row that has become wrong since is no mistake in the file.
    this.errors = isRepetition ? [] : [...errors, ...found].sort((left, right) => left.line - right.line);
    this.checked =
      this.errors.length > 0 ? null : { lines, rows, check: result.body, isRepetition, paysAgain: false };
    this.message = message;
  }

  readonly #confirm = async (): Promise<void> => {
    const { checked, api } = this;
    if (!checked || this.busy) return;
    this.busy = 'confirming';
    const { lines, rows, check, paysAgain, isRepetition } = checked;
    const { confirmedBefore, paidBefore } =
      isRepetition && this.#lost
        ? this.#lost
        : { ...check, paidBefore: paysAgain ? check.paidBefore.map(({ payoutId }) => payoutId) : [] };
    const sent = { lines, rows, confirmedBefore, paidBefore };
    const result = await postWithKey(
      api,
      titleOf(checked),
      (confirmed) =>
        this.#request.post('./payouts/batches', sent, { rows, confirmedBefore, paidBefore, ...confirmed }),
      true,
      renderSums(check, api.now()),
    );
    this.busy = '';
    if (result) await this.#finish(result, checked);
  };

  async #finish(result: PostResult<unknown>, checked: Checked): Promise<void> {
    const isOfBefore = ({ path }: { path: string }) => path === 'confirmedBefore' || path === 'paidBefore';
    if (!result.ok && result.refusal.fields.some(isOfBefore))
      return this.#check(checked, {
        message: 'Entretanto foram pedidos saques como estes. Nada foi pedido aqui: confira as linhas.',
      });
    if (!result.ok) {
      this.message = wordsOf(
        result.refusal,
        'Sem resposta. O lote pode ter chegado: confirme de novo, ele não sai em dobro.',
      );
      return;
    }
    this.#refuse('');
    this.done += 1;
  }
}

/** The words for the confirmation of a batch. */
function titleOf({ check: { count, paidBefore }, isRepetition }: Checked): string {
  const again = isRepetition ? 0 : paidBefore.length;
  const words = `Confirmar ${count === 1 ? 'um saque' : `${count} saques`}`;
  return again === 0 ? words : `${words}, ${again === 1 ? 'um' : again} de novo`;
}

/** The column of a field in which the server has found a mistake. */
const COLUMN_OF: Readonly<Record<string, string>> = {
  amountCents: 'amount',
  destination: 'destination',
  method: 'method',
  pixKeyType: 'keyType',
  externalId: 'externalId',
};

function wordsOfMistake({ method }: Row, field: string, message: string): string {
  const record = PAYOUT_METHODS.find(({ wireName }) => wireName === method) ?? PAYOUT_METHODS[0];
  const words = fieldError({ path: field, message }, record.method);
  return words.amount ?? words.destination ?? words.externalId ?? words.form!;
}

const wordsOf = (refusal: Refusal, lost: string) => (isLost(refusal) ? lost : messageOf(refusal, REFUSALS));

customElements.define('console-payout-batch', ConsolePayoutBatch);
