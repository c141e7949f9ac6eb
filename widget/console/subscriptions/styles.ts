const css = String.raw;

/** The columns and further statuses of subscriptions, in a wide container and as the lines of a card. */
export const styles = css`
  tr {
    grid-template-columns:
      minmax(7.5rem, 1fr) minmax(6.5rem, 0.8fr) minmax(7.75rem, 2fr) minmax(7.5rem, 0.8fr)
      minmax(9.75rem, 0.9fr);
  }
  .next {
    font-variant-numeric: tabular-nums;
  }
  .next .label {
    display: none;
  }
  .CANCELED .state {
    color: var(--_muted);
  }
  .ACTIVE .state {
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
    td.next {
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
    tr:has(td.next time) td.next {
      grid-column: 1 / -1;
    }
    tr:has(td.next time) td.created {
      display: none;
    }
  }
`;
