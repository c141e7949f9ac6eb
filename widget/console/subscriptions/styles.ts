const css = String.raw;

/** The columns and colors of subscriptions, in a wide container and as the lines of a card. */
export const styles = css`
  tr {
    grid-template-columns:
      minmax(7.5rem, 1fr) minmax(6.5rem, 0.8fr) minmax(8rem, 2fr) minmax(7.5rem, 0.8fr)
      minmax(7.75rem, 0.9fr);
  }
  .created {
    text-align: end;
    font-variant-numeric: tabular-nums;
  }
  .created .sort {
    flex-direction: row-reverse;
  }
  .payer {
    padding-inline-start: 0.75rem;
  }
  .next {
    font-variant-numeric: tabular-nums;
  }
  .next .label {
    display: none;
  }
  td.status small {
    padding-inline-start: 0.95rem;
  }
  .PENDING .state,
  .CANCELED .state,
  .EXPIRED .state,
  .UNKNOWN .state {
    color: var(--_muted);
  }
  .PENDING .state::before {
    background: none;
    border-width: 2px;
  }
  .ACTIVE .state,
  .COMPLETED .state {
    color: var(--_good);
  }
  .PAST_DUE .state {
    color: var(--_warn);
  }
  @container (max-width: 44rem) {
    .header {
      flex-wrap: wrap;
    }
    tbody tr {
      scroll-margin-block-start: 5rem;
    }
    th.payer {
      position: absolute;
      inline-size: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
    td.status {
      grid-column: span 2;
      padding-inline-end: 1rem;
    }
    td.payer {
      grid-column: 1 / -1;
      padding: 0.25rem 0 0;
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
    }
    td.payer > *,
    td.created time > * {
      display: inline;
    }
    td.payer > span {
      margin-inline-end: 0.5rem;
      font-size: 0.875rem;
    }
    td:is(.next, .created) {
      color: var(--_muted);
      font-size: 0.8125rem;
    }
    td.next > :is(.label, time) {
      display: inline;
      white-space: pre;
    }
    td.next .none {
      display: none;
    }
    td.created {
      grid-column: span 2;
    }
  }
`;
