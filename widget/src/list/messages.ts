import { html, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';
import { line } from '../board/messages.ts';
import { type ListController, MAX_ROWS } from './list-controller.ts';
import type { ListTexts } from './locales/texts.ts';
import type { Row } from './row-list.ts';

/** The placeholder while the first page is loaded. */
export const SKELETON = html`<div part="skeleton" class="skeleton" aria-hidden="true">${[
  1, 2, 3, 4, 5, 6,
].map(() => html`<i></i>`)}</div>`;

/** Shows that there is no row, or none that matches the filter. */
export function noRows<T extends ListTexts>(texts: BoardTexts<T>, isFiltered: boolean): TemplateResult {
  return html`<div part="empty" class="empty">${
    isFiltered
      ? line(texts.text('emptyFiltered'))
      : html`<slot name="empty" .textContent=${texts.text('empty')}></slot>`
  }</div>`;
}

/** Shows how many rows there are, and how many of them are loaded. */
export function countOfRows<R extends Row, T extends ListTexts>(
  texts: BoardTexts<T>,
  data: ListController<R, T>,
  isWaiting: boolean,
): TemplateResult | '' {
  const { list, busy, moreError, phase } = data;
  if (isWaiting || busy === 'more' || busy === 'view') return line(texts.text('loading'));
  if (moreError)
    return html`${line(`${texts.text('moreFailed')} `)}<button part="retry-button" class="quiet" @click=${() => data.retryPage()} .textContent=${texts.text('retry')}></button>`;
  if (list.total === 0 || (phase !== 'ready' && list.ids.length === 0)) return '';
  if (list.complete) return line(texts.count('countOne', 'count', list.total));
  const { number } = texts.formats;
  const values = { loaded: number(list.loaded), total: number(list.total) };
  if (busy === 'all') return line(`${texts.text('loading')} ${texts.text('countOf', values)}`);
  if (!list.sortedLocally) return line(texts.text('countOf', values));
  return html`${line(`${texts.text('sortedOf', values)} `)}${
    list.loaded < MAX_ROWS
      ? html`<button part="more-button" class="quiet" @click=${() => data.loadAll()} .textContent=${texts.text('loadAll')}></button>`
      : ''
  }`;
}
