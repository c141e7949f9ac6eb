const css = String.raw;

/** The columns and colors of entries, in a wide container and as the lines of a card. */
export const styles = css`
  tr {
    grid-template-columns: minmax(9rem, 2.4fr) minmax(7.5rem, 1.6fr) minmax(7.5rem, 1fr) minmax(6.5rem, 0.6fr);
  }
  td.kind span {
    font-weight: 500;
  }
  .in b {
    color: var(--_good);
  }
  td.created {
    color: var(--_muted);
  }
  td.day {
    grid-column: 1 / -1;
    align-self: end;
    padding-block-end: 0.5rem;
    font-weight: 600;
  }
  tr:has(.day) {
    cursor: auto;
  }
  tr:has(.day):hover {
    background: none;
  }
  .conditions fieldset {
    grid-column: 1 / -1;
  }
  @container (max-width: 44rem) {
    .base[lang] {
      --_row: 5.25rem;
    }
    tbody tr {
      grid-template-columns: minmax(48%, 1fr) minmax(0, auto);
    }
    td.kind {
      padding-inline-end: 1rem;
    }
    td.kind span {
      white-space: normal;
      line-height: 1.25;
    }
    td:is(.created, .balance) {
      padding-block-start: 0.25rem;
    }
    td.created {
      grid-column: 1;
      grid-row: 2;
      text-align: start;
    }
  }
  @container (max-width: 20rem) {
    .base[lang] {
      --_row: 6.25rem;
    }
  }
`;
