const css = String.raw;

// In a narrow container a row is a card of lines. These styles come after those of the list, which they override;
// the last two apply a reader's settings.
export const narrowStyles = css`
  @container (max-width: 64rem) {
    .toolbar {
      flex-wrap: wrap;
    }
    .search,
    .filters {
      order: 1;
      flex-basis: 100%;
    }
    .filters {
      order: 2;
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
      gap: 0.5rem;
      justify-content: space-between;
    }
    .amount .sort {
      flex-direction: row;
    }
  }
  @container (max-width: 20rem) {
    :is(table, thead, tbody) {
      font-size: 0.875rem;
    }
    td.status {
      padding-inline-end: 0.5rem;
    }
  }
  @media (forced-colors: active) {
    .export {
      padding-inline: 0.7rem;
      border-radius: 99px;
    }
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
