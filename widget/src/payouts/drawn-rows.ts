import { type LitElement, render } from 'lit';
import type { Payout } from './operations.ts';
import { payoutCells } from './payout-cells.ts';
import type { PayoutList } from './payout-list.ts';
import type { PayoutTexts } from './payout-texts.ts';
import type { RowWindow } from './row-window.ts';

const FLASH_MS = 1_600;

/** The rows of the table that are in the document. */
export class DrawnRows {
  readonly #host: LitElement;
  readonly #texts: PayoutTexts;
  #rows = new Map<string, { row: HTMLTableRowElement; payout?: Payout; flash?: Animation }>();
  #sources: readonly unknown[] = [];
  #flashing = new Set<string>();

  constructor(host: LitElement, texts: PayoutTexts) {
    this.#host = host;
    this.#texts = texts;
  }

  /**
   * Draws the rows that are in the window. A row that stays is not touched, so it keeps focus and selection.
   */
  draw(body: HTMLElement, list: PayoutList, window: RowWindow, activeId: string): void {
    const { length } = list.ids;
    const [first, last] = window.range(length);
    const payouts = list.ids.slice(first, last).map((id) => list.get(id)!);
    const active = payouts.findIndex(({ id }) => id === activeId);
    const tabStop = active < 0 ? Math.max(0, window.top - first) : active;
    const ids = new Set(payouts.map(({ id }) => id));
    for (const [id, { row }] of this.#rows)
      if (!ids.has(id)) {
        row.remove();
        this.#rows.delete(id);
      }
    const { sources } = this.#texts;
    const textsChanged = sources.some((text, index) => text !== this.#sources[index]);
    this.#sources = sources;
    payouts.forEach((payout, index) => {
      let drawn = this.#rows.get(payout.id);
      if (!drawn) {
        drawn = { row: document.createElement('tr') };
        this.#rows.set(payout.id, drawn);
        drawn.row.dataset.id = payout.id;
        drawn.row.setAttribute('part', 'row');
        drawn.row.setAttribute('role', 'row');
      }
      const { row } = drawn;
      if (drawn.payout !== payout || textsChanged)
        render(payoutCells(payout, this.#texts), row, { host: this.#host });
      drawn.payout = payout;
      row.setAttribute('aria-rowindex', String(first + index + 2));
      row.tabIndex = index === tabStop ? 0 : -1;
      if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
    });
    // Set through the object model, because a strict policy forbids style attributes.
    body.style.paddingBlock = `${first * window.rowPx}px ${(length - last) * window.rowPx}px`;
  }

  /** Marks a payout, to be highlighted once it is drawn. */
  mark(id: string): void {
    this.#flashing.add(id);
  }

  /**
   * Highlights the marked rows, without a fade if the reader prefers reduced motion. `keep`: rows that are
   * not drawn yet stay marked.
   */
  flash(keep: boolean): void {
    if (this.#flashing.size === 0) return;
    const easing = matchMedia('(prefers-reduced-motion)').matches ? 'step-end' : 'ease-out';
    for (const id of this.#flashing) {
      const drawn = this.#rows.get(id);
      if (!drawn || !this.#flashing.delete(id)) continue;
      // One animation at a time: a row that changes often would have several, and each takes its part of
      // every frame.
      drawn.flash?.cancel();
      drawn.flash = drawn.row.animate([{ backgroundColor: 'var(--_flash)' }, {}], {
        duration: FLASH_MS,
        easing,
      });
    }
    if (!keep) this.#flashing.clear();
  }
}
