const css = String.raw;

/** The columns of sales. */
export const styles = css`
  tr {
    grid-template-columns:
      minmax(8.5rem, 0.7fr) minmax(9.25rem, 0.7fr) minmax(6rem, 2.2fr) minmax(5.5rem, 1.2fr)
      minmax(9.75rem, 0.9fr);
  }
  td.code {
    padding-inline-end: 0.75rem;
  }
`;
