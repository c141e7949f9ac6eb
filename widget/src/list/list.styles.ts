const css = String.raw;

// All rows have the same height, so that the position of a row follows from its index.
export const listStyles = css`
  .filters {
    display: flex;
    flex: 1;
    flex-wrap: wrap;
    gap: 0.25rem;
  }
  .filter {
    padding: 0.25rem 0.7rem;
    min-block-size: 2rem;
    border-radius: 99px;
    color: var(--_muted);
    font-size: 0.875rem;
    font-weight: 500;
    transition: background 0.15s;
  }
  .filter:hover {
    background: var(--_tint);
  }
  .filter[aria-pressed="true"] {
    color: var(--_text);
    background: color-mix(in srgb, var(--_primary) 14%, transparent);
    font-weight: 600;
  }
  .news {
    display: flex;
    gap: 0.75rem;
    align-items: center;
    margin-inline-start: auto;
    min-block-size: 2rem;
    white-space: nowrap;
  }
  .new {
    padding: 0.25rem 0.85rem;
    min-block-size: 2rem;
    border-radius: 99px;
    color: var(--psa-color-on-primary, light-dark(#fff, #0d1030));
    background: var(--_primary);
    font-size: 0.875rem;
    font-weight: 600;
  }
  /* Keeps its place, so that nothing moves when it appears. */
  .new:disabled {
    visibility: hidden;
  }
  .group {
    display: contents;
  }
  .search {
    flex: 0 1 15.5rem;
    min-inline-size: 9rem;
    min-block-size: 2.25rem;
    padding: 0.25rem 0.85rem;
    border: 1px solid color-mix(in srgb, var(--_text) 55%, transparent);
    border-radius: 99px;
    color: inherit;
    background: transparent;
    font: inherit;
    font-size: 0.875rem;
    text-overflow: ellipsis;
  }
  .search::placeholder {
    color: var(--_muted);
    opacity: 1;
  }
  .export {
    padding-inline: 0.25rem;
    font-size: 0.875rem;
  }
  .summary {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 7.5rem), 1fr));
    gap: 0.5rem 1.5rem;
    padding: 0.25rem var(--_side);
  }
  dt {
    color: var(--_muted);
    font-size: 0.8125rem;
    font-weight: 600;
  }
  dd {
    overflow-wrap: anywhere;
    font-weight: 600;
    font-variant-numeric: tabular-nums;
  }
  .scroller {
    position: relative;
    flex: 0 1 auto;
    min-block-size: 0;
    max-block-size: var(--psa-max-block-size, 34rem);
    overflow: hidden auto;
    overflow-anchor: none;
    scrollbar-width: thin;
    outline-offset: -3px;
  }
  table,
  thead,
  tbody {
    display: block;
    font-size: 0.9375rem;
  }
  thead {
    position: sticky;
    inset-block-start: 0;
    z-index: 1;
    background: var(--_surface);
  }
  tr {
    display: grid;
    gap: 0 1rem;
    align-items: center;
    padding-inline: var(--_side);
    border-block-end: 1px solid var(--_line);
  }
  tbody tr {
    block-size: var(--_row);
    scroll-margin-block-start: 2.5rem;
    outline-offset: -3px;
  }
  .opens tr {
    cursor: pointer;
  }
  tbody tr:hover {
    background: var(--_tint);
  }
  tbody tr:focus-visible {
    border-radius: 6px;
  }
  :is(tbody, dl).stale {
    opacity: 0.55;
  }
  th {
    padding: 0;
    color: var(--_muted);
    font-size: 0.8125rem;
    font-weight: 600;
    line-height: 2.375rem;
    text-align: start;
  }
  th > span {
    vertical-align: middle;
  }
  .sort {
    border: 0;
    display: inline-flex;
    gap: 0.3rem;
    align-items: center;
    min-block-size: 2.25rem;
    vertical-align: middle;
    border-radius: 6px;
    line-height: 1.2;
    text-align: inherit;
  }
  .sort:hover,
  [aria-sort] {
    color: var(--_text);
  }
  .sort svg {
    inline-size: 0.7rem;
    fill: currentColor;
    opacity: 0.5;
  }
  [aria-sort] svg {
    opacity: 1;
  }
  td {
    min-inline-size: 0;
    padding: 0;
    line-height: 1.35;
  }
  td > *,
  small {
    display: block;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  time > * {
    display: block;
  }
  small {
    color: var(--_muted);
    font-size: 0.8125rem;
  }
  b {
    font-weight: 600;
  }
  .amount,
  .balance,
  .created,
  .requested {
    text-align: end;
    font-variant-numeric: tabular-nums;
  }
  .payer,
  .destination,
  .due {
    padding-inline-start: 0.75rem;
  }
  td.code span,
  td.kind small {
    font: 0.8125rem ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  }
  .amount .sort {
    flex-direction: row-reverse;
  }
  td.status small {
    padding-inline-start: 0.95rem;
  }
  .state {
    display: flex;
    gap: 0.45rem;
    align-items: center;
    font-weight: 600;
  }
  /* The statuses of all lists. */
  :is(.PENDING, .EXPIRED, .UNDER_REVIEW, .FORGIVEN, .UNKNOWN) .state {
    color: var(--_muted);
  }
  :is(.PENDING, .UNDER_REVIEW) .state::before {
    background: none;
    border-width: 2px;
  }
  :is(.PAID, .COMPLETED, .WON) .state {
    color: var(--_good);
  }
  :is(.REFUNDED, .PROCESSING, .OPEN) .state {
    color: var(--_warn);
  }
  :is(.FAILED, .DENIED, .RETURNED, .LOST) .state {
    color: var(--_bad);
  }
  .empty {
    padding: 2rem var(--_side);
    color: var(--_muted);
    text-align: center;
    text-wrap: balance;
  }
  .skeleton i {
    display: block;
    block-size: var(--_row);
    border-block-end: 1px solid var(--_line);
    background:
      linear-gradient(var(--_tint) 0 0) var(--_side) 35% / 32% 0.8rem no-repeat,
      linear-gradient(var(--_tint) 0 0) var(--_side) 68% / 22% 0.6rem no-repeat,
      linear-gradient(var(--_tint) 0 0) 96% 50% / 26% 0.8rem no-repeat;
    animation: breathe 1.6s ease-in-out infinite alternate;
  }
  .footer {
    display: flex;
    flex-wrap: wrap;
    gap: 0 0.75rem;
    align-items: center;
    min-block-size: 2rem;
    padding-inline: var(--_side);
    color: var(--_muted);
    font-size: 0.8125rem;
    font-variant-numeric: tabular-nums;
  }
  /* A row is a card of lines: status, amount and time in two of them, and the rest in one of its own. */
  @container (max-width: 44rem) {
    th:not(.kind, :has(.sort)) {
      position: absolute;
      inline-size: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    td:is(.status, .created, .requested) {
      grid-column: span 2;
    }
    td.status {
      padding-inline-end: 1rem;
    }
    td:is(.payer, .destination, .sale) > *,
    time > * {
      display: inline;
    }
    td:is(.payer, .destination, .sale) > span {
      margin-inline-end: 0.5rem;
      font-size: 0.875rem;
    }
    td:is(.payer, .destination, .sale, .due) {
      grid-column: 1 / -1;
      padding: 0.25rem 0 0;
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
    }
    td:is(.code, .created, .requested, .balance) {
      color: var(--_muted);
      font-size: 0.8125rem;
    }
  }
`;
