const css = String.raw;

/** The columns of payouts. */
export const styles = css`
  tr {
    grid-template-columns:
      minmax(7.25rem, 1.9fr) minmax(8rem, 0.8fr) minmax(7.25rem, 1.4fr) minmax(6.75rem, 1.2fr)
      minmax(9.75rem, 0.9fr);
  }
  td.code span {
    white-space: normal;
    word-break: break-all;
  }
`;
