const css = String.raw;

export const styles = css`
  .delivered {
    grid-column: 1/-1;
    margin-block-start: calc(var(--_space) - 0.25rem);
    font-size: 0.9rem;
  }
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
    field-sizing: content;
    max-block-size: 12rem;
    resize: none;
    padding: 0.6rem 0.75rem;
    border: 1px solid color-mix(in srgb, currentColor 45%, transparent);
    border-radius: 8px;
    color: inherit;
    background: none;
    font: 0.875rem/1.45 ui-monospace, Menlo, Consolas, monospace;
    overflow-wrap: anywhere;
  }
  .delivered .button {
    min-block-size: 2.75rem;
    border-color: color-mix(in srgb, var(--_text) 35%, transparent);
    color: var(--_text);
    background: none;
    box-shadow: none;
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
  .delivered p:empty {
    display: none;
  }
`;
