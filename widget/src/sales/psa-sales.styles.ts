const css = String.raw;

/** The columns and colors of sales, in a wide container and as the lines of a card. */
export const styles = css`
  tr {
    grid-template-columns:
      minmax(7.25rem, 0.7fr) minmax(7rem, 0.7fr) minmax(9rem, 2.2fr) minmax(8.25rem, 1.2fr)
      minmax(9.25rem, 0.9fr);
  }
  .created {
    text-align: end;
    font-variant-numeric: tabular-nums;
  }
  .payer {
    padding-inline-start: 0.75rem;
  }
  td.code {
    padding-inline-end: 0.75rem;
  }
  td.code span {
    font: 0.8125rem ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  }
  td.status small {
    padding-inline-start: 0.95rem;
  }
  .PENDING .state,
  .EXPIRED .state,
  .UNKNOWN .state {
    color: var(--_muted);
  }
  .PENDING .state::before {
    background: none;
    border-width: 2px;
  }
  .PAID .state {
    color: var(--_good);
  }
  .REFUNDED .state {
    color: var(--_warn);
  }
  .FAILED .state {
    color: var(--_bad);
  }
  @container (max-width: 44rem) {
    th:is(.payer, .code) {
      position: absolute;
      inline-size: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    td.status {
      grid-column: span 2;
      padding-inline-end: 1rem;
    }
    td.created {
      grid-column: span 2;
    }
    td.payer > *,
    time > * {
      display: inline;
    }
    td.payer > span {
      margin-inline-end: 0.5rem;
      font-size: 0.875rem;
    }
    td.payer {
      grid-column: 1 / -1;
      padding: 0.25rem 0 0;
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
    }
    td.code,
    td.created {
      color: var(--_muted);
      font-size: 0.8125rem;
    }
  }
`;
