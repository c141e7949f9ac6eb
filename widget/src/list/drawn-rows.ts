import { type LitElement, render, type TemplateResult } from 'lit';
import type { RowWindow } from './row-window.ts';

const FLASH_MS = 1_600;

/** The rows of the table that are in the document. */
export class DrawnRows {
  readonly #host: LitElement;
  readonly #cells: (id: string, value: object) => TemplateResult;
  #rows = new Map<string, { row: HTMLTableRowElement; value?: object; flash?: Animation }>();
  #sources: readonly unknown[] = [];
  #flashing = new Set<string>();

  constructor(host: LitElement, cells: (id: string, value: object) => TemplateResult) {
    this.#host = host;
    this.#cells = cells;
  }

  /**
   * Draws the rows that are in the window. A row that stays is not touched, so it keeps focus and selection.
   */
  draw(
    body: HTMLElement,
    all: { ids: readonly string[]; get(id: string): object; sources: readonly unknown[] },
    window: RowWindow,
    activeId: string,
  ): void {
    const { length } = all.ids;
    const [first, last] = window.range(length);
    const shown = all.ids.slice(first, last);
    const active = shown.indexOf(activeId);
    const tabStop = active < 0 ? Math.max(0, window.top - first) : active;
    for (const [id, { row }] of this.#rows)
      if (!shown.includes(id)) {
        row.remove();
        this.#rows.delete(id);
      }
    const { sources } = all;
    const textsChanged = sources.some((text, index) => text !== this.#sources[index]);
    this.#sources = sources;
    shown.forEach((id, index) => {
      const value = all.get(id);
      let drawn = this.#rows.get(id);
      if (!drawn) {
        drawn = { row: document.createElement('tr') };
        this.#rows.set(id, drawn);
        drawn.row.dataset.id = id;
        drawn.row.setAttribute('part', 'row');
        drawn.row.setAttribute('role', 'row');
      }
      const { row } = drawn;
      if (drawn.value !== value || textsChanged) render(this.#cells(id, value), row, { host: this.#host });
      drawn.value = value;
      row.setAttribute('aria-rowindex', String(first + index + 2));
      row.tabIndex = index === tabStop ? 0 : -1;
      if (body.children[index] !== row) body.insertBefore(row, body.children[index] ?? null);
    });
    // Set through the object model, because a strict policy forbids style attributes.
    body.style.paddingBlock = `${first * window.rowPx}px ${(length - last) * window.rowPx}px`;
  }

  /** Marks a row, to be highlighted once it is drawn. */
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
