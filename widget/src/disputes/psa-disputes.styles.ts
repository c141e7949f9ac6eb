const css = String.raw;

/** The columns and colors of disputes, in a wide container and as the lines of a card. */
export const styles = css`
  tr {
    grid-template-columns:
      minmax(7rem, 1.1fr) minmax(6.5rem, 0.7fr) minmax(10.25rem, 1.8fr) minmax(4.5rem, 1.8fr)
      minmax(7.75rem, 0.9fr);
  }
  .created {
    text-align: end;
    font-variant-numeric: tabular-nums;
  }
  .created .sort {
    flex-direction: row-reverse;
  }
  .due {
    padding-inline-start: 0.75rem;
    font-variant-numeric: tabular-nums;
  }
  td.status small {
    padding-inline-start: 0.95rem;
  }
  .OPEN .state {
    color: var(--_warn);
  }
  .UNDER_REVIEW .state,
  .FORGIVEN .state,
  .UNKNOWN .state {
    color: var(--_muted);
  }
  .UNDER_REVIEW .state::before {
    background: none;
    border-width: 2px;
  }
  .WON .state {
    color: var(--_good);
  }
  .LOST .state {
    color: var(--_bad);
  }
  .urgent small {
    color: var(--_bad);
    font-weight: 600;
  }
  @container (max-width: 56rem) {
    time > span {
      font-size: 0.8125rem;
    }
  }
  @container (max-width: 44rem) {
    .header {
      flex-wrap: wrap;
    }
    tbody tr {
      scroll-margin-block-start: 5rem;
    }
    th.sale {
      position: absolute;
      inline-size: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    td.status {
      grid-column: span 2;
      padding-inline-end: 1rem;
    }
    td:is(.due, .sale) {
      grid-column: 1 / -1;
      padding: 0.25rem 0 0;
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
    }
    td.sale {
      grid-column: span 2;
    }
    td.due time > *,
    td.sale > * {
      display: inline;
    }
    td.sale > span {
      margin-inline-end: 0.5rem;
      font-size: 0.875rem;
    }
    td.created {
      color: var(--_muted);
    }
    td.created small {
      display: none;
    }
  }
`;
