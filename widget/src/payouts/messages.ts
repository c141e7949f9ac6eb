import { html, type TemplateResult } from 'lit';
import type { PayoutTexts } from './payout-texts.ts';
import { MAX_ROWS, type PayoutsController } from './payouts-controller.ts';

/** The placeholder while the first page is loaded. */
export const SKELETON = html`<div part="skeleton" class="skeleton" aria-hidden="true">${[
  1, 2, 3, 4, 5, 6,
].map(() => html`<i></i>`)}</div>`;

/** Shows that there is no payout, or none that matches the filter. */
export function noPayouts(texts: PayoutTexts, isFiltered: boolean): TemplateResult {
  return html`<div part="empty" class="empty">${
    isFiltered
      ? line(texts.text('emptyFiltered'))
      : html`<slot name="empty" .textContent=${texts.text('empty')}></slot>`
  }</div>`;
}

/** Shows the problem, and what to do. */
export function problem(texts: PayoutTexts, data: PayoutsController): TemplateResult | '' {
  if (!data.error) return '';
  const { code, retryAfterSeconds } = data.error;
  const name = /timeout|network/.test(code)
    ? 'network'
    : /server|unknown|aborted/.test(code)
      ? 'server'
      : /unau|rate/.test(code)
        ? (code as 'unauthorized')
        : 'contact';
  return html`
    <div part="error" class="problem">
      ${line(texts.text(name, { seconds: retryAfterSeconds ?? 60 }))}
      <button part="retry-button" class="quiet" @click=${() => data.retry()} .textContent=${texts.text('retry')}></button>
    </div>
  `;
}

/** Shows how many payouts there are, and how many of them are loaded. */
export function countOfPayouts(
  texts: PayoutTexts,
  data: PayoutsController,
  isWaiting: boolean,
): TemplateResult | '' {
  const { list, busy, moreError, phase } = data;
  if (isWaiting || busy === 'more' || busy === 'view') return line(texts.text('loading'));
  if (moreError)
    return html`${line(`${texts.text('moreFailed')} `)}<button part="retry-button" class="quiet" @click=${() => data.retryPage()} .textContent=${texts.text('retry')}></button>`;
  if (list.total === 0 || (phase !== 'ready' && list.ids.length === 0)) return '';
  if (list.complete) return line(texts.count('count', list.total));
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

/** Renders words as a property: if a browser has translated them, the next words still replace them. */
export function line(words: string): TemplateResult {
  return html`<span .textContent=${words}></span>`;
}
