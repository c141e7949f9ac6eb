import { html, nothing, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import { timeCell } from '../list/cells.ts';
import { texts as portuguese } from './locales/pt-BR.ts';
import type { Texts } from './locales/texts.ts';
import { METHOD_LABELS, type PayoutMethod } from './methods.ts';
import type { Payout } from './operations.ts';

/** The reasons that the service itself gives, each in the words of its Portuguese text. */
const OWN_REASONS = ['notReceived', 'bankRefused', 'destinationBlocked'] as const;

/** The reason of a denial: in the reader's language if it is one of the service, else in the words of a bank. */
export interface DenialReason {
  words?: string;
  quote?: string;
}

export function reasonOf({ deniedReason }: Payout, texts: BoardTexts<Texts>): DenialReason {
  if (!deniedReason) return {};
  const own = OWN_REASONS.find((name) => portuguese[name] === deniedReason);
  return own ? { words: texts.text(own) } : { quote: deniedReason };
}

export function methodText(method: PayoutMethod): string {
  return METHOD_LABELS[method] ?? '—';
}

/** Renders the cells of a payout's row. */
export function payoutCells(payout: Payout, texts: BoardTexts<Texts>): TemplateResult {
  const { status, amountCents, serviceFeeCents, method, destination, code, requestedAt } = payout;
  const { money } = texts.formats;
  return html`
    <td role="gridcell" class="status ${status}">
      <span part="status" class="state" .textContent=${texts.text(status)}></span>
      ${hint(payout, texts)}
    </td>
    <td role="gridcell" class="amount">
      <b .textContent=${money(amountCents)}></b>
      ${serviceFeeCents === null ? nothing : html`<small .textContent=${texts.text('fee', { amount: money(serviceFeeCents) })}></small>`}
    </td>
    <td role="gridcell" class="destination">
      <span .textContent=${methodText(method)}></span>
      <small title=${destination}><bdi .textContent=${destination}></bdi></small>
    </td>
    <td role="gridcell" class="code"><span .textContent=${code ?? '—'}></span></td>
    <td role="gridcell" class="requested">${timeCell(requestedAt, texts)}</td>
  `;
}

/** Renders the line below the status: what it means for the money, or why the payout was denied. */
function hint(payout: Payout, texts: BoardTexts<Texts>): TemplateResult {
  const { words, quote } = payout.status === 'DENIED' ? reasonOf(payout, texts) : {};
  // For a reader of another language, what became of the money comes first.
  const text = words ?? (quote && texts.language === 'pt-BR' ? '' : hintText(payout, texts));
  return html`<small title=${[text, quote].filter(Boolean).join(' · ')}><bdi .textContent=${quote && text ? `${text} · ` : text}></bdi>${quote ? html`<q lang="pt-BR" .textContent=${quote}></q>` : nothing}</small>`;
}

/** Explains what the status means for the money. */
function hintText({ status, requestedAt, processedAt }: Payout, texts: BoardTexts<Texts>): string {
  if (status === 'DENIED' || status === 'RETURNED') return texts.text('deniedHint');
  if (status === 'COMPLETED' && processedAt) {
    const { day, hour } = texts.formats;
    const at = new Date(processedAt);
    const sameDay = requestedAt && day(new Date(requestedAt)) === day(at);
    return sameDay ? hour(at) : `${day(at)} ${hour(at)}`;
  }
  return status === 'PENDING' || status === 'PROCESSING'
    ? texts.text(`${status.toLowerCase()}Hint` as 'pendingHint')
    : '';
}
