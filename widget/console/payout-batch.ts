import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatFull } from '../demo/shared/format.ts';
import { KeptRequest } from '../demo/shared/kept-request.ts';
import { PAYOUT_METHODS } from '../demo/shared/payout-methods.ts';
import { fieldError } from '../demo/shared/payout-terms.ts';
import { isLost, type PostResult, postJson, type Refusal } from '../demo/shared/post-json.ts';
import type { Api } from './api.ts';
import { decodeFile, type FileError, MAX_BYTES, type Row, readBatch } from './batch-file.ts';
import './batch-progress.ts';
import { timeWords } from './times.ts';
import { messageOf, postWithKey } from './write.ts';

/** The check of the rows, by the server. */
interface Check {
  errors: { row: number; field: string; message: string }[];
  count: number;
  totalCents: number;
  feesCents: number | null;
  duplicates: number[][];
  confirmedBefore: string | null;
  endsAt: string;
}

/** A file that was read and checked. */
interface Checked {
  /** The line of each row in the file. */
  lines: readonly number[];
  rows: readonly Row[];
  check: Check;
}

const REFUSALS: Readonly<Record<string, string>> = {
  LIMIT_REACHED:
    'Outro lote ainda está andando, ou já houve 50 lotes em 24 horas. Espere, ou cancele o resto do outro.',
  IDEMPOTENCY_CONFLICT: 'O lote anterior chegou, e já está andando. Confira-o antes de mandar outro.',
};
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
  declare busy: boolean;
  readonly #request = new KeptRequest<Omit<Checked, 'check'>>('batch');

  constructor() {
    super();
    this.errors = [];
    this.checked = null;
    this.message = '';
    this.done = 0;
    this.busy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const { lost } = this.#request;
    if (lost)
      void this.#check(
        lost,
        'O último lote ficou sem resposta, e pode ter chegado. Confirme-o de novo: ele não sai em dobro.',
      );
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

  #renderCheck({ lines, check }: Checked): TemplateResult {
    return html`
      ${this.#renderSums(check)}
      ${check.duplicates.map(
        (rows) =>
          html`<p class="warning">
            As linhas ${listOf(rows.map((row) => lines[row - 1]!))} têm a mesma forma, o mesmo destino e o mesmo valor. Cada uma é um saque.
          </p>`,
      )}
      ${
        check.confirmedBefore
          ? html`<p class="warning">
              Um lote com as mesmas linhas foi confirmado em ${formatFull(new Date(check.confirmedBefore))}. Este seria
              pago além daquele.
            </p>`
          : nothing
      }
      <p class="buttons">
        <button type="button" class="primary" aria-disabled=${this.busy ? 'true' : 'false'} @click=${this.#confirm}>
          Confirmar ${check.count === 1 ? 'um saque' : `${check.count} saques`}
        </button>
        <button type="button" class="secondary" @click=${this.#drop}>Descartar</button>
      </p>
    `;
  }

  #renderSums({ count, totalCents, feesCents, endsAt }: Check): TemplateResult {
    const now = this.api.now();
    return html`<dl class="terms">
      <div><dt>Saques</dt><dd>${count}</dd></div>
      <div><dt>Sai da carteira</dt><dd>${formatBrl(totalCents)}</dd></div>
      <div><dt>Tarifas</dt><dd>${feesCents === null ? 'conhecidas depois do pedido' : formatBrl(feesCents)}</dd></div>
      ${
        feesCents === null
          ? nothing
          : html`<div class="net"><dt>Chega aos destinos</dt><dd>${formatBrl(totalCents - feesCents)}</dd></div>`
      }
      <div><dt>Com 10 saques por hora, o último sai</dt><dd>por volta ${timeWords(new Date(endsAt), now, ['das', 'de'])}</dd></div>
    </dl>`;
  }

  readonly #open = async ({ target }: Event): Promise<void> => {
    const input = target as HTMLInputElement;
    const [file] = input.files ?? [];
    if (!file) return;
    if (file.size > MAX_BYTES) this.#refuse('O arquivo é grande demais: um lote tem até 1.000 saques.');
    else await this.#read(decodeFile(await file.arrayBuffer()));
    // The same file can be chosen again once it was corrected.
    input.value = '';
  };

  readonly #paste = (event: Event): void => {
    event.preventDefault();
    void this.#read(this.querySelector<HTMLTextAreaElement>('#batch-text')?.value ?? '');
  };

  readonly #drop = (): void => this.#refuse('');

  #refuse(message: string): void {
    this.errors = [];
    this.checked = null;
    this.message = message;
  }

  async #read(text: string): Promise<void> {
    if (this.busy) return;
    const { rows, errors, columns } = readBatch(text);
    const [lines, given] = [rows.map(({ line }) => line), rows.map(({ row }) => row)];
    this.#refuse('');
    if (given.length > 0) await this.#check({ lines, rows: given }, '', errors, columns);
    else this.errors = errors;
  }

  /** Has the server check the rows that were read. */
  async #check(
    read: Omit<Checked, 'check'>,
    message: string,
    errors: readonly FileError[] = [],
    columns: Partial<Record<string, string>> = {},
  ): Promise<void> {
    this.busy = true;
    const result = await postJson<Check>('./payouts/batches/check', { rows: read.rows });
    this.busy = false;
    if (!result.ok)
      return this.#refuse(
        wordsOf(result.refusal, 'Não foi possível conferir. Nada foi pedido: tente de novo.'),
      );
    const found = result.body.errors.map(({ row, field, message }) => ({
      line: read.lines[row - 1]!,
      column: columns[COLUMN_OF[field] ?? ''] ?? '',
      message: wordsOfMistake(read.rows[row - 1]!, field, message),
    }));
    this.errors = [...errors, ...found].sort((left, right) => left.line - right.line);
    this.checked = this.errors.length > 0 ? null : { ...read, check: result.body };
    this.message = message;
  }

  readonly #confirm = async (): Promise<void> => {
    const { checked, api } = this;
    if (!checked || this.busy) return;
    this.busy = true;
    const { lines, rows, check } = checked;
    const title = `Confirmar ${check.count === 1 ? 'um saque' : `${check.count} saques`}`;
    const result = await postWithKey(
      api,
      title,
      (confirmed) =>
        this.#request.post(
          './payouts/batches',
          { lines, rows },
          { rows, confirmedBefore: check.confirmedBefore, ...confirmed },
        ),
      true,
      this.#renderSums(check),
    );
    this.busy = false;
    if (result) await this.#finish(result, checked);
  };

  async #finish(result: PostResult<unknown>, checked: Checked): Promise<void> {
    if (!result.ok && result.refusal.fields.some(({ path }) => path === 'confirmedBefore'))
      return this.#check(
        checked,
        'Outra aba ou outra pessoa confirmou as mesmas linhas agora. Nada foi pedido aqui.',
      );
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

/** Lists the first of several numbers, and the last. */
const listOf = (numbers: readonly number[]) =>
  `${numbers.slice(0, -1).slice(0, 10).join(', ')}${numbers.length > 11 ? ' …' : ''} e ${String(numbers.at(-1))}`;

customElements.define('console-payout-batch', ConsolePayoutBatch);
