/** Rows drawn above and below the visible ones, and the step in which the drawn window moves. */
const OVERSCAN = 8;
const STEP = 4;
const MIN_ROWS = 12;

/** The window of rows that are drawn, out of many more that are not. */
export class RowWindow {
  /** The index of the first visible row. */
  top = 0;
  rowPx = 60;
  #first = 0;
  #last = MIN_ROWS;

  /** The first of `count` rows to draw, and the row after the last one. */
  range(count: number): [number, number] {
    const first = Math.max(0, Math.min(this.#first, count - MIN_ROWS));
    return [first, Math.min(count, Math.max(this.#last, first + MIN_ROWS))];
  }

  /**
   * The row to which a key of the keyboard leads; undefined for other keys. `active`: the row with the focus,
   * or -1.
   */
  rowOfKey(
    key: string,
    {
      active,
      isOnRow,
      heightPx,
      count,
    }: { active: number; isOnRow: boolean; heightPx: number; count: number },
  ): number | undefined {
    const current = active < 0 ? this.top : active;
    const page = Math.max(1, Math.floor(heightPx / this.rowPx) - 2);
    const rows: Partial<Record<string, number>> = {
      ArrowDown: isOnRow ? current + 1 : current,
      ArrowUp: current - 1,
      PageDown: current + page,
      PageUp: current - page,
      Home: 0,
      End: count - 1,
    };
    return rows[key];
  }

  /** Moves the window to a row that must be drawn, such as one to be focused. */
  reveal(index: number): void {
    this.#first = Math.max(0, index - OVERSCAN);
    this.#last = index + OVERSCAN;
  }

  /**
   * Measures which rows are visible. `moved`: other rows must be drawn now. `end`: the row after the last one
   * to draw, if a row is on the screen. Undefined while the element has no size.
   */
  measure(scroller: HTMLElement, body: HTMLElement): { moved: boolean; end: number } | undefined {
    const row = body.firstElementChild?.getBoundingClientRect();
    const box = scroller.getBoundingClientRect();
    if (box.height === 0) return undefined;
    const rowPx = row?.height || this.rowPx;
    const start = body.getBoundingClientRect().top;
    const from = Math.max(body.offsetTop + box.top, 0) - start;
    const to = Math.min(box.bottom, innerHeight) - start;
    const step = (index: number) => Math.max(0, Math.floor(index / STEP) * STEP);
    const first = step(from / rowPx - OVERSCAN);
    const last = step(to / rowPx + OVERSCAN + STEP);
    const moved = first !== this.#first || last !== this.#last || rowPx !== this.rowPx;
    this.#first = first;
    this.#last = last;
    this.rowPx = rowPx;
    this.top = Math.max(0, Math.floor(from / rowPx + 0.5));
    return { moved, end: to > 0 && from < to ? last : 0 };
  }
}
