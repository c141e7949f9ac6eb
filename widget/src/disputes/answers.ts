// The merchant's answers to a claim in the details of a dispute: a defence, or the acceptance. The page does what they ask for.
import type { TemplateResult } from 'lit';
import { PageRequest } from '../board/page-request.ts';
import type { DetailsParts } from '../list/details.ts';
import type { DisputesHost } from './disputes-host.ts';
import type { AcceptRequest, DefenceRequest } from './events.ts';
import { MAX_FILES, MEDIA_TYPES, problemOf } from './files.ts';
import type { Texts } from './locales/texts.ts';
import type { Dispute } from './operations.ts';

const MAX_TEXT = 4_000;
const EMPTY = { text: '', files: [], idempotencyKey: '' };

/** The merchant's answer to one dispute, as far as it is written. It stays while the page does. */
interface Draft {
  text: string;
  files: File[];
  /** The key of its next submission; empty where it has changed since the last one. */
  idempotencyKey: string;
  /** The mistake in it, in words. */
  problem: string;
  defence: PageRequest;
  acceptance: PageRequest;
  /** Whether the chosen files are being looked at. */
  isReading: boolean;
  /** Whether the price of the acceptance is shown. */
  isAsking: boolean;
}

/**
 * Creates the function that renders the forms of a dispute: none if it takes no answer, or the page allows none. `onSent`:
 * called when the page has done what was asked for.
 */
export function createAnswers(
  { html, host, texts }: DetailsParts<Dispute, Texts> & { host: DisputesHost },
  onSent: (id: string) => void,
): (dispute: Dispute) => TemplateResult | '' {
  const drafts = new Map<string, Draft>();

  function draftOf({ disputeId }: Dispute): Draft {
    const known = drafts.get(disputeId);
    if (known) return known;
    const requests = { defence: new PageRequest(host), acceptance: new PageRequest(host) };
    const draft: Draft = { ...EMPTY, problem: '', isReading: false, isAsking: false, ...requests };
    drafts.set(disputeId, draft);
    return draft;
  }

  function change(draft: Draft, values: Partial<Draft>): void {
    Object.assign(draft, { problem: '' }, values);
    host.requestUpdate();
  }

  /** Adds the chosen files that the dispute takes, and names the first mistake. */
  async function addFiles(draft: Draft, dispute: Dispute, input: HTMLInputElement): Promise<void> {
    const chosen = [...(input.files ?? [])];
    // The same file may be chosen again after it was removed.
    input.value = '';
    const problems: string[] = [];
    change(draft, { isReading: true });
    for (const file of chosen) {
      const isFull = dispute.files.length + draft.files.length >= MAX_FILES;
      const problem = isFull ? 'tooMany' : await problemOf(file);
      if (problem) problems.push(texts.text(problem, { name: file.name }));
      else change(draft, { files: [...draft.files, file], idempotencyKey: '' });
    }
    change(draft, { problem: problems[0] ?? '', isReading: false });
  }

  async function submit(draft: Draft, { id, disputeId }: Dispute): Promise<void> {
    const { files, defence } = draft;
    const text = draft.text.trim();
    if (!text && files.length === 0) {
      change(draft, { problem: texts.text('nothingWritten') });
      return focus('story');
    }
    change(draft, { idempotencyKey: draft.idempotencyKey || crypto.randomUUID() });
    const { idempotencyKey } = draft;
    const detail: Omit<DefenceRequest, 'respondWith'> = { disputeId, text, files, idempotencyKey };
    await defence.send('psa-defence-request', detail);
    if (defence.state !== 'done') return;
    change(draft, EMPTY);
    onSent(id);
  }

  /** Moves the focus to an element once it is drawn. */
  async function focus(id: string): Promise<void> {
    await host.updateComplete;
    host.renderRoot.querySelector<HTMLElement>(`#${id}`)?.focus();
  }

  /** The words of the page's answer. */
  function answerText({ state, message }: PageRequest, failed: keyof Texts, done: keyof Texts): string {
    return state === 'refused'
      ? message
      : state === 'failed'
        ? texts.text(failed)
        : state === 'done'
          ? texts.text(done)
          : '';
  }

  function defenceForm(dispute: Dispute, draft: Draft): TemplateResult {
    const { text, files, problem, defence } = draft;
    const room = MAX_FILES - dispute.files.length - files.length;
    const isSending = defence.state === 'sending';
    const answer = answerText(defence, 'submitFailed', 'submitted');
    const isWrong = problem || /^[rf]/.test(defence.state);
    return html`<form class="defence" novalidate @submit=${(event: Event) => {
      event.preventDefault();
      void submit(draft, dispute);
    }}>
      <label for="story" .textContent=${texts.text('story')}></label>
      <textarea id="story" rows="4" maxlength=${MAX_TEXT} .value=${text} aria-describedby="answer" ?readonly=${isSending}
        @input=${({ target }: Event) => {
          // The answer was to another text.
          defence.state = '';
          change(draft, { text: (target as HTMLTextAreaElement).value, idempotencyKey: '' });
        }}></textarea>
      ${files.map(
        (file) => html`<p class="file"><bdi .textContent=${file.name}></bdi>
          <button class="quiet" type="button" ?disabled=${isSending} aria-label=${texts.text('remove', { name: file.name })} .textContent=${'×'}
            @click=${() => change(draft, { files: files.filter((other) => other !== file), idempotencyKey: '' })}></button></p>`,
      )}
      ${
        room > 0
          ? html`<label class="choose"><span .textContent=${texts.text('chooseFiles')}></span><input class="sr" type="file" multiple accept=${MEDIA_TYPES} ?disabled=${isSending}
              @change=${({ target }: Event) => void addFiles(draft, dispute, target as HTMLInputElement)} /></label>
            <p class="hint" .textContent=${texts.text('filesHint', { count: room })}></p>`
          : html`<p class="hint" .textContent=${texts.text('filesFull')}></p>`
      }
      <div class="buttons">
        <button part="defence-button" class="new" ?disabled=${isSending || draft.isReading} .textContent=${texts.text(isSending ? 'sending' : 'sendDefence')}></button>
        <p id="answer" role="status" class=${isWrong ? 'invalid' : 'hint'} .textContent=${problem || answer}></p>
      </div>
    </form>`;
  }

  function acceptance(dispute: Dispute, draft: Draft): TemplateResult {
    const { acceptance: request, isAsking } = draft;
    const amount = texts.formats.money(dispute.amountCents);
    const isSending = request.state === 'sending';
    const ask = (asking: boolean) => {
      draft.isAsking = asking;
      host.requestUpdate();
      void focus(asking ? 'keep' : 'accept');
    };
    if (!isAsking)
      return html`<button id="accept" part="accept-button" class="quiet" type="button" .textContent=${texts.text('accept')} @click=${() => ask(true)}></button>`;
    return html`<form class="acceptance" novalidate @submit=${(event: Event) => {
      event.preventDefault();
      const detail: Omit<AcceptRequest, 'respondWith'> = { disputeId: dispute.disputeId };
      void request
        .send('psa-accept-request', detail)
        .then(() => request.state === 'done' && onSent(dispute.id));
    }}>
      <p id="price" .textContent=${texts.text('acceptPrice', { amount })}></p>
      <div class="buttons">
        <button part="confirm-button" class="new danger" aria-describedby="price" ?disabled=${isSending || request.state === 'done'}
          .textContent=${texts.text(isSending ? 'sending' : 'acceptNow', { amount })}></button>
        <button id="keep" class="quiet" type="button" ?disabled=${isSending} .textContent=${texts.text('keep')} @click=${() => ask(false)}></button>
        <p role="status" class="invalid" .textContent=${answerText(request, 'acceptFailed', 'acceptedByYou')}></p>
      </div>
    </form>`;
  }

  return (dispute) => {
    const mayDefend = host.offers('defence', dispute);
    const mayAccept = host.offers('accept', dispute);
    if (!mayDefend && !mayAccept) return '';
    const draft = draftOf(dispute);
    return html`${mayDefend ? defenceForm(dispute, draft) : ''}${mayAccept ? acceptance(dispute, draft) : ''}`;
  };
}
