import { html, nothing, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import { timeCell } from '../list/cells.ts';
import type { Texts } from './locales/texts.ts';
import type { Sale } from './operations.ts';

/** Renders the cells of a sale's row. */
export function saleCells(sale: Sale, texts: BoardTexts<Texts>): TemplateResult {
  const {
    status,
    amountCents,
    refundedCents,
    method,
    description,
    customer,
    reference,
    createdAt,
    canceledAt,
  } = sale;
  const { money } = texts.formats;
  const hint = canceledAt && status === 'EXPIRED' ? texts.text('canceled') : texts.text(method);
  const [payer, ...others] = [customer?.name, customer?.email, description].filter(Boolean);
  const more = others.join(' · ');
  return html`
    <td role="gridcell" class="status ${status}">
      <span part="status" class="state" .textContent=${texts.text(status)}></span>
      <small><bdi .textContent=${hint}></bdi></small>
    </td>
    <td role="gridcell" class="amount">
      <b .textContent=${money(amountCents)}></b>
      ${refundedCents && status === 'PAID' ? html`<small .textContent=${texts.text('refunded', { amount: money(refundedCents) })}></small>` : nothing}
    </td>
    <td role="gridcell" class="payer">
      <span title=${payer ?? ''}><bdi .textContent=${payer ?? '—'}></bdi></span>
      <small title=${more}><bdi .textContent=${more}></bdi></small>
    </td>
    <td role="gridcell" class="code"><span title=${reference} .textContent=${reference}></span></td>
    <td role="gridcell" class="created">${timeCell(createdAt, texts)}</td>
  `;
}
