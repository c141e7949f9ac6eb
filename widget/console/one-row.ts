import { type CSSResult, html, type PropertyValues, type TemplateResult, unsafeCSS } from 'lit';
import { connectionState, line, problem } from '../src/board/messages.ts';
import type { ListElement } from '../src/list/list-element.ts';
import type { ListTexts } from '../src/list/locales/texts.ts';
import { SKELETON } from '../src/list/messages.ts';
import type { Row } from '../src/list/row-list.ts';

const css = String.raw;

const styles = css`
  .panel.page {
    padding: 0 var(--_side);
  }
  .panel.page h2 {
    padding-inline-end: 0;
  }
`;

/** The class of any list. */
interface ListClass {
  new (): ListElement<Row, ListTexts>;
  readonly styles: readonly CSSResult[];
}

/**
 * Makes an element for one row out of the element of a list: it shows the row that the filter finds, with its details in place of
 * the table. The event `console-row` has each state of that row.
 */
export function oneRow(list: new () => HTMLElement, missing: string): CustomElementConstructor {
  const List = list as unknown as ListClass;
  return class extends List {
    /** The row whose details are open, and its list: another account has another one. */
    #opened: { id: string; list: object } | undefined;
    #row: Row | undefined;

    static override get styles() {
      return [...List.styles, unsafeCSS(styles)];
    }

    protected override willUpdate(changed: PropertyValues<this>): void {
      super.willUpdate(changed);
      const { list } = this.data;
      const [id = ''] = list.ids;
      const row = list.get(id);
      if (row !== this.#row) this.dispatchEvent(new CustomEvent('console-row', { detail: { row } }));
      this.#row = row;
      if (!row || (id === this.#opened?.id && list === this.#opened.list)) return;
      this.#opened = { id, list };
      void this.rowDetails.open(id);
    }

    protected override render(): TemplateResult {
      const { list, phase } = this.data;
      return html`<div part="base" class="base" lang=${this.texts.language}>
        <div class="toolbar">${connectionState(this.texts, this.data)}</div>
        <div class="notice" role="status">${problem(this.texts, this.data)}</div>
        ${
          list.ids.length > 0
            ? this.rowDetails.render(true)
            : phase === 'ready'
              ? html`<p part="empty" class="empty">${line(missing)}</p>`
              : phase === 'error'
                ? ''
                : SKELETON
        }
      </div>`;
    }
  };
}

/** Says that there is no such resource, where its id alone shows it. */
export const missingRow = (words: string): TemplateResult =>
  html`<section class="card" data-missing><p class="empty">${words}</p></section>`;
