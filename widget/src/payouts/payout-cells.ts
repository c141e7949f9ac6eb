import { html, nothing, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import { timeCell } from '../list/cells.ts';
import type { Texts } from './locales/texts.ts';
import { METHOD_LABELS } from './methods.ts';
import type { Payout } from './operations.ts';

/** Renders the cells of a payout's row. */
export function payoutCells(payout: Payout, texts: BoardTexts<Texts>): TemplateResult {
  const { status, amountCents, serviceFeeCents, method, destination, code, requestedAt } = payout;
  const { money } = texts.formats;
  const hint = hintText(payout, texts);
  return html`
    <td role="gridcell" class="status ${status}">
      <span part="status" class="state" .textContent=${texts.text(status)}></span>
      <small title=${hint}><bdi .textContent=${hint}></bdi></small>
    </td>
    <td role="gridcell" class="amount">
      <b .textContent=${money(amountCents)}></b>
      ${serviceFeeCents === null ? nothing : html`<small .textContent=${texts.text('fee', { amount: money(serviceFeeCents) })}></small>`}
    </td>
    <td role="gridcell" class="destination">
      <span .textContent=${METHOD_LABELS[method] ?? '—'}></span>
      <small title=${destination}><bdi .textContent=${destination}></bdi></small>
    </td>
    <td role="gridcell" class="code"><span .textContent=${code ?? '—'}></span></td>
    <td role="gridcell" class="requested">${timeCell(requestedAt, texts)}</td>
  `;
}

/** Explains what the status means for the money. */
function hintText(
  { status, deniedReason, requestedAt, processedAt }: Payout,
  texts: BoardTexts<Texts>,
): string {
  if (status === 'DENIED') return deniedReason ?? texts.text('deniedHint');
  if (status === 'RETURNED') return texts.text('deniedHint');
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
