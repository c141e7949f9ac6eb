const css = String.raw;

/** The columns of disputes, in a wide container and as the lines of a card. */
export const styles = css`
  tr {
    grid-template-columns:
      minmax(7rem, 1.1fr) minmax(6.5rem, 0.7fr) minmax(10.25rem, 1.8fr) minmax(4.5rem, 1.8fr)
      minmax(9.75rem, 0.9fr);
  }
  .due {
    font-variant-numeric: tabular-nums;
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
    th.due {
      padding: 0;
    }
    tbody tr {
      scroll-margin-block-start: 5rem;
    }
    td.sale {
      grid-column: span 2;
      padding-inline-end: 0.75rem;
    }
    td.created {
      grid-column: auto;
    }
    td.created small {
      display: none;
    }
  }
`;
