import { html, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import type { Texts } from './locales/texts.ts';
import type { WalletEntry } from './operations.ts';

/** Brasília is three hours behind UTC, the whole year. */
const ZONE_MS = -3 * 3_600_000;

/** The day of an entry in Brasília, as the id of its heading. */
export function dayOf({ createdAt }: WalletEntry): string {
  return `day ${new Date(Date.parse(createdAt) + ZONE_MS).toISOString().slice(0, 10)}`;
}

/** Renders the heading of a day. */
export function dayCells({ createdAt }: WalletEntry, { formats }: BoardTexts<Texts>): TemplateResult {
  return html`<td role="rowheader" class="day" .textContent=${formats.day(new Date(createdAt))}></td>`;
}

/** An amount with its sign, also if money came in. */
export function signed(cents: number, { formats }: BoardTexts<Texts>): string {
  return `${cents > 0 ? '+' : ''}${formats.money(cents)}`;
}

/** Renders the cells of an entry's row. */
export function entryCells(entry: WalletEntry, texts: BoardTexts<Texts>): TemplateResult {
  const { kind, amountCents, reference, createdAt, after } = entry;
  const { balanceCents } = after;
  const { formats } = texts;
  const moved = otherMoves(entry, texts);
  return html`
    <td role="gridcell" class="kind">
      <span .textContent=${texts.text(kind)}></span>
      <small title=${reference ?? ''}><bdi .textContent=${reference ?? ''}></bdi></small>
    </td>
    <td role="gridcell" class="amount ${amountCents > 0 ? 'in' : ''}">
      <b .textContent=${amountCents ? signed(amountCents, texts) : '—'}></b>
      <small title=${moved}><bdi .textContent=${moved}></bdi></small>
    </td>
    <td role="gridcell" class="balance"><span .textContent=${balanceCents === null ? '—' : formats.money(balanceCents)}></span></td>
    <td role="gridcell" class="created"><time datetime=${createdAt} .textContent=${formats.hour(new Date(createdAt))}></time></td>
  `;
}

/** The fee, and the other figures that an entry has moved, in words. */
export function otherMoves(entry: WalletEntry, texts: BoardTexts<Texts>): string {
  const { formats } = texts;
  const { serviceFeeCents: fee, cryptoDeltaLtc } = entry;
  const moves = [
    ['pending', entry.pendingReleaseDeltaCents],
    ['blocked', entry.disputeBlockedDeltaCents],
    ['subaccounts', entry.subaccountsDeltaCents],
    ['receivable', entry.receivableDeltaCents],
  ] as const;
  const ltc = Number(cryptoDeltaLtc);
  return [
    ...(fee ? [texts.text('fee', { amount: formats.money(fee) })] : []),
    ...moves.flatMap(([name, cents]) => (cents ? [texts.text(name, { amount: signed(cents, texts) })] : [])),
    ...(ltc ? [`${ltc > 0 ? '+' : ''}${formats.ltc(cryptoDeltaLtc)}`] : []),
  ].join(' · ');
}
