const css = String.raw;

export const styles = css`
  #delivered {
    font-weight: 650;
  }
  .delivered > div {
    display: flex;
    flex-wrap: wrap;
    gap: 0.35rem 0.5rem;
    margin-block-start: 0.6rem;
  }
  .delivered > div > * {
    flex: 1 0 100%;
    min-inline-size: 0;
  }
  .delivered > div > textarea {
    flex: 99 1 10rem;
    max-block-size: 12rem;
    font-size: 0.875rem;
  }
  .delivered .button {
    min-block-size: 2.75rem;
  }
  .delivered button {
    flex: 1 0 auto;
    align-self: start;
  }
  .delivered :is(label, p:not([id])) {
    color: var(--_muted);
  }
  .address {
    overflow-wrap: anywhere;
  }
`;
