const css = String.raw;

// In a narrow container a row is a card of lines. These styles come last, because they override the others;
// the last two apply a reader's settings.
export const narrowStyles = css`
  @container (max-width: 56rem) {
    .toolbar {
      flex-wrap: wrap;
    }
    .filters {
      order: 1;
      flex-basis: 100%;
    }
  }
  @container (max-width: 44rem) {
    .base {
      --_row: 6.75rem;
    }
    tr {
      grid-template-columns: minmax(0, 1fr) auto auto;
      gap: 0;
      align-content: center;
    }
    .connection {
      white-space: normal;
    }
    .filters {
      gap: 0.125rem;
    }
    .filter {
      padding-inline: 0.55rem;
    }
    .header {
      display: flex;
      justify-content: space-between;
    }
    th:is(.destination, .code) {
      position: absolute;
      inline-size: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    .amount .sort {
      flex-direction: row;
    }
    td.status {
      grid-column: span 2;
      padding-inline-end: 1rem;
    }
    td.requested {
      grid-column: span 2;
    }
    td.destination > *,
    time > * {
      display: inline;
    }
    td.destination > span {
      margin-inline-end: 0.5rem;
      font-size: 0.875rem;
    }
    td.destination {
      grid-column: 1 / -1;
      padding: 0.25rem 0 0;
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
    }
    td.code,
    td.requested {
      color: var(--_muted);
      font-size: 0.8125rem;
    }
  }
  @media (forced-colors: active) {
    .filter[aria-pressed="true"],
    .new {
      color: HighlightText;
      background: Highlight;
      forced-color-adjust: none;
    }
  }
  @media (prefers-reduced-motion) {
    * {
      animation: none !important;
      transition: none !important;
    }
  }
`;
