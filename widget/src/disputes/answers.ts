// The merchant's answers to a claim in the details of a dispute: a defence, or the acceptance. The page does what they ask for.
import type { TemplateResult } from 'lit';
import { newKey, PageRequest } from '../board/page-request.ts';
import type { DetailsParts } from '../list/details.ts';
import type { DisputesHost } from './disputes-host.ts';
import type { AcceptRequest, DefenceRequest } from './events.ts';
import { MAX_FILES, MEDIA_TYPES, readFile, sha256Of } from './files.ts';
import type { Texts } from './locales/texts.ts';
import type { Dispute, WholeDispute } from './operations.ts';

const MAX_TEXT = 4_000;
const EMPTY = { text: '', files: [], leftOut: [], idempotencyKey: '' };

/** A dispute whose submissions may not have been read yet. */
type Answered = Dispute & Partial<WholeDispute>;

/** The merchant's answer to one dispute, as far as it is written. It stays while the page does. */
interface Draft {
  text: string;
  files: File[];
  /** The ids of the uploaded files that it leaves out. */
  leftOut: string[];
  /** The key of its next submission; empty where it has changed since the last one. */
  idempotencyKey: string;
  /** The mistake in it, in words. */
  problem: string;
  defence: PageRequest;
  acceptance: PageRequest;
  /** The number of times that files were chosen that are still being looked at. */
  reading: number;
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
): (dispute: Answered) => TemplateResult | '' {
  const drafts = new Map<string, Draft>();
  /** The SHA-256 of each chosen file; empty where the page can compute none. */
  const sums = new WeakMap<File, string>();

  function draftOf({ disputeId }: Dispute): Draft {
    const known = drafts.get(disputeId);
    if (known) return known;
    const requests = { defence: new PageRequest(host), acceptance: new PageRequest(host) };
    const draft: Draft = { ...EMPTY, problem: '', reading: 0, isAsking: false, ...requests };
    drafts.set(disputeId, draft);
    return draft;
  }

  /** Changes a draft, to which the last answer does not belong any more. */
  function change(draft: Draft, values: Partial<Draft>): void {
    Object.assign(draft, { problem: '' }, values);
    if (draft.defence.state !== 'sending') draft.defence.state = '';
    host.requestUpdate();
  }

  /** The uploaded files that a draft sends besides its own, and the number of files for which there is room. */
  function partsOf({ files, submissions }: Answered, draft: Draft) {
    const unsent = submissions
      ? files.filter(({ fileId }) => !submissions.some(({ fileIds }) => fileIds.includes(fileId)))
      : [];
    // A submission that failed has left its files: those of the draft have the same bytes, by which they are one.
    const isOwn = ({ name, sha256 }: Dispute['files'][number]) =>
      draft.files.some((file) => (sums.get(file) ? sums.get(file) === sha256 : file.name === name));
    return {
      uploaded: unsent.filter((file) => !isOwn(file) && !draft.leftOut.includes(file.fileId)),
      room: MAX_FILES - files.length - draft.files.length + files.filter(isOwn).length,
    };
  }

  /** Adds the chosen files that the dispute takes, and names the first mistake. */
  async function addFiles(draft: Draft, dispute: Answered, input: HTMLInputElement): Promise<void> {
    const chosen = [...(input.files ?? [])];
    // The same file may be chosen again after it was removed.
    input.value = '';
    const problems: string[] = [];
    change(draft, { reading: draft.reading + 1 });
    for (const each of chosen) {
      const file = await readFile(each);
      if (typeof file === 'string') {
        problems.push(texts.text(file, { name: each.name }));
        continue;
      }
      sums.set(file, await sha256Of(file));
      // The same file, chosen twice, is one.
      if (draft.files.some((other) => isSame(file, other, sums))) continue;
      const files = [...draft.files, file];
      if (partsOf(dispute, { ...draft, files }).room < 0)
        problems.push(texts.text('tooMany', { name: each.name }));
      else change(draft, { files, idempotencyKey: '', problem: draft.problem });
    }
    change(draft, { problem: problems[0] ?? draft.problem, reading: draft.reading - 1 });
  }

  async function submit(draft: Draft, dispute: Answered): Promise<void> {
    const { id, disputeId } = dispute;
    const { files, defence } = draft;
    const text = draft.text.trim();
    const fileIds = partsOf(dispute, draft).uploaded.map(({ fileId }) => fileId);
    if (!text && files.length + fileIds.length === 0) {
      change(draft, { problem: texts.text('nothingWritten') });
      return focus('story');
    }
    change(draft, { idempotencyKey: draft.idempotencyKey || newKey() });
    const { idempotencyKey } = draft;
    const detail: Omit<DefenceRequest, 'respondWith'> = { disputeId, text, files, fileIds, idempotencyKey };
    await defence.send('psa-defence-request', detail);
    if (defence.state !== 'done') return;
    Object.assign(draft, EMPTY);
    host.requestUpdate();
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

  function defenceForm(dispute: Answered, draft: Draft): TemplateResult {
    const { text, files, leftOut, problem, defence } = draft;
    const { uploaded, room } = partsOf(dispute, draft);
    const isSending = defence.state === 'sending';
    const line = (
      name: string,
      values: () => Partial<Draft>,
    ) => html`<p class="file"><bdi .textContent=${name}></bdi>
      <button class="quiet" type="button" ?disabled=${isSending} aria-label=${texts.text('remove', { name })} .textContent=${'×'}
        @click=${() => change(draft, { ...values(), idempotencyKey: '' })}></button></p>`;
    const answer = answerText(defence, 'submitFailed', 'submitted');
    const isWrong = problem || /^[rf]/.test(defence.state);
    return html`<form class="defence" novalidate @submit=${(event: Event) => {
      event.preventDefault();
      void submit(draft, dispute);
    }}>
      <label for="story" .textContent=${texts.text('story')}></label>
      <textarea id="story" rows="4" maxlength=${MAX_TEXT} .value=${text} aria-describedby="answer" ?readonly=${isSending}
        @input=${({ target }: Event) =>
          change(draft, { text: (target as HTMLTextAreaElement).value, idempotencyKey: '' })}></textarea>
      ${uploaded.map(({ fileId, name }) => line(name, () => ({ leftOut: [...leftOut, fileId] })))}
      ${files.map((file) => line(file.name, () => ({ files: files.filter((other) => other !== file) })))}
      ${
        room > 0
          ? html`<label class="choose"><span .textContent=${texts.text('chooseFiles')}></span><input class="sr" type="file" multiple accept=${MEDIA_TYPES} ?disabled=${isSending}
              @change=${({ target }: Event) => void addFiles(draft, dispute, target as HTMLInputElement)} /></label>
            <p class="hint" .textContent=${texts.text('filesHint', { count: room })}></p>`
          : html`<p class="hint" .textContent=${texts.text('filesFull')}></p>`
      }
      <div class="buttons">
        <button part="defence-button" class="new" ?disabled=${isSending || draft.reading > 0} .textContent=${texts.text(isSending ? 'sending' : 'sendDefence')}></button>
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
        <p role="status" class=${request.state === 'done' ? 'hint' : 'invalid'} .textContent=${answerText(request, 'acceptFailed', 'acceptedByYou')}></p>
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

/** Whether two chosen files are one, by their SHA-256 if they have one. */
function isSame(one: File, other: File, sums: WeakMap<File, string>): boolean {
  if (sums.get(one)) return sums.get(one) === sums.get(other);
  return one.name === other.name && one.size === other.size && one.lastModified === other.lastModified;
}
