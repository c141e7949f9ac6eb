import { html, type TemplateResult } from 'lit';
import type { BoardTexts } from '../../src/board/board-texts.ts';
import { timeCell } from '../../src/list/cells.ts';
import type { Subscription } from './operations.ts';
import type { Texts } from './texts.ts';

/** Renders the cells of a subscription's row. */
export function subscriptionCells(subscription: Subscription, texts: BoardTexts<Texts>): TemplateResult {
  const { status, cancelReason, amountCents, customer, description, nextDueAt, createdAt } = subscription;
  const [payer, ...others] = [customer?.name, customer?.email, description].filter(Boolean);
  const more = others.join(' · ');
  const reason = cancelReason && cancelReason !== 'UNKNOWN' ? texts.text(cancelReason) : '';
  return html`
    <td role="gridcell" class="status ${status}">
      <span part="status" class="state" .textContent=${texts.text(status)}></span>
      <small title=${reason}><bdi .textContent=${reason}></bdi></small>
    </td>
    <td role="gridcell" class="amount">
      <b .textContent=${texts.formats.money(amountCents)}></b>
      <small .textContent=${intervalText(subscription, texts)}></small>
    </td>
    <td role="gridcell" class="payer">
      <span title=${payer ?? ''}><bdi .textContent=${payer ?? '—'}></bdi></span>
      <small title=${more}><bdi .textContent=${more}></bdi></small>
    </td>
    <td role="gridcell" class="next">${
      nextDueAt
        ? html`<span class="label" aria-hidden="true" .textContent=${texts.text('nextShort')}></span><time datetime=${nextDueAt} .textContent=${texts.formats.day(new Date(nextDueAt))}></time>`
        : html`<span class="none">—</span>`
    }</td>
    <td role="gridcell" class="created">${timeCell(createdAt, texts)}</td>
  `;
}

/** The interval in words, such as “por mês”; empty for one that only a newer server knows. */
export function intervalText({ interval }: Subscription, texts: BoardTexts<Texts>): string {
  return interval === 'UNKNOWN' ? '' : texts.text(interval);
}
