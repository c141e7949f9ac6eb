import { html, nothing, type TemplateResult } from 'lit';
import type { MoreFilters } from './more-filters.ts';
import type { PayoutFilter, PayoutStatus } from './operations.ts';
import type { PayoutSort, PayoutView } from './payout-list.ts';
import type { PayoutTexts } from './payout-texts.ts';
import type { PayoutsController } from './payouts-controller.ts';

/** The statuses of the filter, without UNKNOWN, which means a status of a newer server. */
const STATUSES: PayoutStatus[] = ['PENDING', 'PROCESSING', 'COMPLETED', 'DENIED', 'RETURNED'];
/** The statuses without a button until the attribute chooses them: a return is rare, and the buttons fill a phone’s width. */
const RARE: readonly PayoutStatus[] = ['RETURNED'];
const COLUMNS = ['status', 'amount', 'destination', 'code', 'requested'] as const;
const SORTS: PayoutSort[] = ['-requested', 'requested', '-amount', 'amount', 'status', '-status'];

const UP = 'M6 2.5 2.5 6.5h7zM6 2.5v7.5';
const DOWN = 'M6 9.5 9.5 5.5h-7z';
const UNSORTED = 'M6 1.5 3.5 4.5h5zM6 10.5 8.5 7.5h-5z';

/** The attributes of the element that are conditions of the filter, besides the statuses. */
export const CONDITIONS = [
  'methods',
  'requestedAfter',
  'requestedBefore',
  'amountCents',
  'externalId',
  'reference',
] as const;

/** Reads filter and order from the element's attributes. Unknown statuses are left out; a removed attribute is null. */
export function readView(
  host: { statuses: string | null; sort: PayoutSort } & {
    [Name in (typeof CONDITIONS)[number]]?: string | number | null | undefined;
  },
): PayoutView {
  const { statuses, sort, methods } = host;
  const [, ...members] = CONDITIONS;
  // An empty attribute is no condition.
  const given = members.filter((name) => host[name]).map((name) => [name, host[name]] as const);
  const method = `${methods ?? ''}`.match(/\w+/g);
  return {
    statuses: STATUSES.filter((status) => statuses?.includes(status)),
    sort: SORTS.includes(sort) ? sort : '-requested',
    filter:
      method || given[0]
        ? ({ ...(method && { method }), ...Object.fromEntries(given) } as PayoutFilter)
        : undefined,
  };
}

/** Renders the buttons of the filter. */
export function filters(
  texts: PayoutTexts,
  statuses: readonly PayoutStatus[],
  onChoose: (statuses: readonly PayoutStatus[]) => void,
  more: MoreFilters,
): TemplateResult {
  const button = (name: 'all' | PayoutStatus, pressed: boolean, next: readonly PayoutStatus[]) => html`
    <button
      part="filter"
      class="filter"
      aria-pressed=${pressed ? 'true' : 'false'}
      @click=${() => onChoose(next)}
      .textContent=${texts.text(name as 'all')}
    ></button>
  `;
  return html`
    <div class="filters" role="group" aria-label=${texts.text('filter')}>
      ${button('all', statuses.length === 0, [])}
      ${STATUSES.filter((status) => !RARE.includes(status) || statuses.includes(status)).map((status) =>
        statuses.includes(status)
          ? button(
              status,
              true,
              statuses.filter((other) => other !== status),
            )
          : button(status, false, [...statuses, status]),
      )}
      ${more.renderButton()}
    </div>
  `;
}

/** Renders the number of waiting new payouts, and the state of the connection. */
export function news(
  texts: PayoutTexts,
  { list, connection, age }: PayoutsController,
  onShow: () => void,
): TemplateResult {
  const shown = age.shown(connection);
  const name = shown === 'stale' && age.isKeyRefused ? 'keyRefused' : shown;
  const words = name === 'idle' ? '' : texts.text(name).replace(age.oldSince ? '…' : '', '');
  return html`
    <div class="news">
      <button part="new-button" class="new" ?disabled=${list.waiting === 0} @click=${onShow}
        .textContent=${/* Reserves room for two digits. */ texts.count('new', list.waiting || 10)}></button>
      <span part="connection" class="connection ${shown}" .textContent=${
        words + (words && age.oldSince ? texts.text('asOf', { age: texts.formats.ago(age.oldSince) }) : '')
      }></span>
    </div>
  `;
}

/** Renders the names of the columns; those that can be sorted by are buttons. */
export function columns(
  texts: PayoutTexts,
  sort: PayoutSort,
  onChoose: (sort: PayoutSort) => void,
): TemplateResult[] {
  return COLUMNS.map((column) => {
    const sorts = SORTS.filter((each) => each.endsWith(column));
    const current = sorts.indexOf(sort);
    const isDescending = sort.startsWith('-');
    return html`
      <th
        role="columnheader"
        class=${column}
        aria-sort=${current < 0 ? nothing : isDescending ? 'descending' : 'ascending'}
      >${
        sorts.length > 0
          ? html`<button part="sort-button" class="sort" @click=${() => onChoose(sorts[current === 0 ? 1 : 0]!)}>
              <span .textContent=${texts.text(column)}></span><svg viewBox="0 0 12 12" aria-hidden="true"><path d=${current < 0 ? UNSORTED : isDescending ? DOWN : UP} /></svg>
            </button>`
          : html`<span .textContent=${texts.text(column)}></span>`
      }</th>
    `;
  });
}
