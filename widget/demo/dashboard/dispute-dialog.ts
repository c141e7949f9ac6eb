import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatBrl, formatFull } from '../shared/format.ts';
import { postOnce } from '../shared/kept-request.ts';
import type { Refusal } from '../shared/post-json.ts';
import { refusalText } from '../shared/refusals.ts';
import type { Dispute } from './operations.ts';
import { evidenceDone, type Replayable } from './outcomes.ts';

/** Whether the dashboard offers to submit evidence. */
export function takesEvidence({ status, evidence, evidenceDueAt }: Dispute, now: Date): boolean {
  const isUndecided = status === 'OPEN' || status === 'UNDER_REVIEW';
  return (
    isUndecided && evidence.length < 10 && evidenceDueAt !== null && Date.parse(evidenceDueAt) > now.getTime()
  );
}

/**
 * Shows a dispute with the evidence so far, and submits more by the merchant's server.
 * @fires evidence-submitted - Its detail says in words what was submitted.
 */
export class DisputeDialog extends LitElement {
  static override properties = {
    dispute: { attribute: false },
    takes: { state: true },
    text: { state: true },
    links: { state: true },
    error: { state: true },
    sending: { state: true },
  };

  /** Null while the dialog is closed. */
  declare dispute: Dispute | null;
  declare takes: boolean;
  declare text: string;
  declare links: string;
  declare error: string;
  declare sending: boolean;

  /** The id of the dispute that the typed text is of; it outlives the closed dialog. */
  #textOf = '';

  constructor() {
    super();
    this.dispute = null;
    this.takes = false;
    this.text = '';
    this.links = '';
    this.error = '';
    this.sending = false;
  }

  async open(dispute: Dispute, now: Date): Promise<void> {
    if (this.sending) return;
    if (this.#textOf !== dispute.disputeId) {
      this.text = '';
      this.links = '';
    }
    this.#textOf = dispute.disputeId;
    this.dispute = dispute;
    this.takes = takesEvidence(dispute, now);
    this.error = '';
    await this.updateComplete;
    this.querySelector('dialog')?.showModal();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const { dispute, takes, error, sending } = this;
    return html`
      <dialog aria-labelledby="dispute-dialog-title" @cancel=${this.#onCancel} @close=${this.#onClose}>
        ${
          dispute === null
            ? nothing
            : html`
          <form novalidate method="dialog" @submit=${this.#submit}>
            <h2 id="dispute-dialog-title">Disputa de ${formatBrl(dispute.amountCents)}</h2>
            <code>${dispute.disputeId}</code>
            ${this.#renderEvidence(dispute)}
            ${takes ? this.#renderFields(dispute) : nothing}
            <p class="form-error" role="alert">${error || nothing}</p>
            <div class="dialog-buttons">
              <button type="button" class="secondary" aria-disabled=${sending ? 'true' : 'false'} @click=${this.#close}>Voltar</button>
              ${
                takes
                  ? html`<button type="submit" class="primary" aria-disabled=${sending ? 'true' : 'false'}>
                      ${sending ? 'Enviando…' : 'Enviar defesa'}
                    </button>`
                  : nothing
              }
            </div>
          </form>`
        }
      </dialog>
    `;
  }

  #renderEvidence({ evidence, files }: Dispute): TemplateResult {
    if (evidence.length === 0) return html`<p>Nenhuma prova enviada ainda.</p>`;
    return html`
      <ol class="evidence">
        ${evidence.map(
          ({ text, documents, fileIds, submittedAt }) => html`
            <li>
              ${text ? html`<p>${text}</p>` : nothing}
              ${documents.map(
                ({ url, description }) =>
                  html`<a href=${url} target="_blank" rel="noreferrer noopener">${description ?? url}</a>`,
              )}
              ${files
                .filter(({ fileId }) => fileIds.includes(fileId))
                .map(({ name }) => html`<p>Arquivo: ${name}</p>`)}
              ${submittedAt ? html`<small>${formatFull(new Date(submittedAt))}</small>` : nothing}
            </li>
          `,
        )}
      </ol>
    `;
  }

  #renderFields({ evidenceDueAt }: Dispute): TemplateResult {
    return html`
      <div class="field">
        <label for="evidence-text">O que aconteceu</label>
        <textarea
          id="evidence-text"
          rows="4"
          maxlength="4000"
          .value=${this.text}
          @input=${this.#onText}
        ></textarea>
      </div>
      <div class="field">
        <label for="evidence-links">Documentos</label>
        <textarea
          id="evidence-links"
          rows="2"
          inputmode="url"
          spellcheck="false"
          .value=${this.links}
          aria-describedby="evidence-links-hint"
          @input=${this.#onLinks}
        ></textarea>
        <small id="evidence-links-hint">Um endereço https público por linha; ninguém aqui os abre. O prazo acaba em ${formatFull(new Date(evidenceDueAt!))}.</small>
      </div>
    `;
  }

  #onText(event: Event): void {
    this.text = (event.target as HTMLTextAreaElement).value;
    this.error = '';
  }

  #onLinks(event: Event): void {
    this.links = (event.target as HTMLTextAreaElement).value;
    this.error = '';
  }

  #close(): void {
    if (!this.sending) this.querySelector('dialog')?.close();
  }

  /** Stays open until the answer, which may be a refusal. */
  #onCancel(event: Event): void {
    if (this.sending) event.preventDefault();
  }

  #onClose(): void {
    // Browsers let nobody keep a dialog open for ever: a second Escape closes it without asking.
    if (this.sending) this.querySelector('dialog')?.showModal();
    else this.dispute = null;
  }

  async #submit(event: Event): Promise<void> {
    event.preventDefault();
    const { dispute } = this;
    if (!dispute || this.sending) return;
    const text = this.text.trim();
    const urls = this.links.split(/\s+/).filter((url) => url !== '');
    if (text === '' && urls.length === 0) {
      this.error = 'Escreva o que aconteceu, ou dê o endereço de um documento.';
      return;
    }
    const { disputeId } = dispute;
    const body = { disputeId, ...(text && { text }), documents: urls.map((url) => ({ url })) };
    this.sending = true;
    this.error = '';
    const result = await postOnce<Replayable>('/demo/dashboard/evidence', body);
    this.sending = false;
    if (!result.ok) {
      this.error = errorOf(result.refusal);
      return;
    }
    this.text = '';
    this.links = '';
    this.#close();
    this.dispatchEvent(new CustomEvent('evidence-submitted', { detail: evidenceDone(result.body) }));
  }
}

function errorOf(refusal: Refusal): string {
  const { status, code, fields } = refusal;
  if (code === 'BAD_USER_INPUT' && fields.some(({ path }) => path.includes('documents')))
    return 'Cada documento precisa de um endereço https público, como https://loja.example/nota.pdf; no máximo dez.';
  if (code === 'DISPUTE_STATE')
    return 'Esta disputa não aceita mais provas: foi decidida, ou o prazo acabou.';
  if (status === 0 || status >= 500)
    return 'Sem resposta. As provas podem ter chegado: tente de novo, elas não saem em dobro.';
  return refusalText(refusal);
}

customElements.define('dispute-dialog', DisputeDialog);
