import { html, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import { timeCell } from '../list/cells.ts';
import { isUndecided, msUntilDue } from './deadlines.ts';
import type { Texts } from './locales/texts.ts';
import type { Dispute, DisputedSale } from './operations.ts';

export const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Renders the cells of a dispute's row. */
export function disputeCells(dispute: Dispute, texts: BoardTexts<Texts>): TemplateResult {
  const { status, reason, amountCents, blockedCents, of, disputeId } = dispute;
  const { money } = texts.formats;
  const why = reason === 'UNKNOWN' ? '' : texts.text(reason);
  const sold = of?.description ?? of?.customer?.name ?? disputeId;
  const sale = saleText(of, texts);
  return html`
    <td role="gridcell" class="status ${status}">
      <span part="status" class="state" .textContent=${texts.text(status)}></span>
      <small title=${why} .textContent=${why}></small>
    </td>
    <td role="gridcell" class="amount">
      <b .textContent=${money(amountCents)}></b>
      <small .textContent=${blockedCents ? texts.text('blocked') : ''}></small>
    </td>
    <td role="gridcell" class="due">${dueCell(dispute, texts)}</td>
    <td role="gridcell" class="sale">
      <span title=${sold}><bdi .textContent=${sold}></bdi></span>
      <small title=${sale}><bdi .textContent=${sale}></bdi></small>
    </td>
    <td role="gridcell" class="created">${timeCell(dispute.createdAt, texts)}</td>
  `;
}

/** The kind of the claim, and the number or the code of the sale. */
export function saleText(of: DisputedSale | null, texts: BoardTexts<Texts>): string {
  if (!of) return '';
  const { method, orderId, reference } = of;
  return `${texts.text(method === 'CARD' ? 'chargeback' : 'med')} · ${orderId ?? reference}`;
}

/** Renders the deadline with the time that is left, or the decision with its time. */
function dueCell(dispute: Dispute, texts: BoardTexts<Texts>): TemplateResult {
  const { status, evidence, evidenceDueAt, closedAt, acceptedAt } = dispute;
  const isOpen = isUndecided(dispute);
  const instant = isOpen ? evidenceDueAt : closedAt;
  if (!instant) return html`<span>—</span>`;
  const at = new Date(instant);
  const { day, hour } = texts.formats;
  const words = [
    hour(at),
    isOpen ? leftText(dispute, texts) : texts.text(acceptedAt ? 'accepted' : 'decided'),
    isOpen && evidence.length > 0 && texts.text('sent'),
  ];
  const small = words.filter(Boolean).join(' · ');
  const isUrgent = status === 'OPEN' && msUntilDue(dispute) < DAY_MS;
  return html`<time datetime=${instant} class=${isUrgent ? 'urgent' : ''}><span .textContent=${day(at)}></span> <small title=${small}><bdi .textContent=${small}></bdi></small></time>`;
}

/** The time until the deadline, in its two largest units, such as “ainda 4 dias 3 h”; empty if the deadline is unknown. */
export function leftText(dispute: Dispute, texts: BoardTexts<Texts>): string {
  const leftMs = msUntilDue(dispute);
  if (leftMs === Number.POSITIVE_INFINITY) return '';
  if (leftMs <= 0) return texts.text('over');
  const seconds = Math.ceil(leftMs / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), 'day'],
    [Math.floor(seconds / 3_600) % 24, 'hour'],
    [Math.floor(seconds / 60) % 60, 'minute'],
    [seconds % 60, 'second'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const time = parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) =>
      count.toLocaleString(texts.language, { style: 'unit', unit, unitDisplay: 'short' }),
    );
  return texts.text('left', { time: time.join(' ') });
}
