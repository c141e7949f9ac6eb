const css = String.raw;

/** The columns and colors of payouts, in a wide container and as the lines of a card. */
export const styles = css`
  tr {
    grid-template-columns:
      minmax(7.25rem, 1.9fr) minmax(7rem, 0.8fr) minmax(7.25rem, 1.4fr) minmax(8.25rem, 1.2fr)
      minmax(9.25rem, 0.9fr);
  }
  .requested {
    text-align: end;
    font-variant-numeric: tabular-nums;
  }
  .destination {
    padding-inline-start: 0.75rem;
  }
  td.code span {
    font: 0.8125rem ui-monospace, "SF Mono", Menlo, Consolas, monospace;
    white-space: normal;
    word-break: break-all;
  }
  td.status small {
    padding-inline-start: 0.95rem;
  }
  .PENDING .state,
  .UNKNOWN .state {
    color: var(--_muted);
  }
  .PENDING .state::before {
    background: none;
    border-width: 2px;
  }
  .PROCESSING .state {
    color: var(--_warn);
  }
  .COMPLETED .state {
    color: var(--_good);
  }
  .DENIED .state,
  .RETURNED .state {
    color: var(--_bad);
  }
  @container (max-width: 44rem) {
    th:is(.destination, .code) {
      position: absolute;
      inline-size: 1px;
      overflow: hidden;
      clip-path: inset(50%);
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
`;
