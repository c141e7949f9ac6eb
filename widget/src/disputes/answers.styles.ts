const css = String.raw;

/** The forms in the details of a dispute. */
export const styles = css`
  .panel textarea {
    min-block-size: 6rem;
    padding-block: 0.5rem;
    resize: vertical;
  }
  .panel li small {
    white-space: pre-line;
  }
  .file {
    display: flex;
    gap: 0.75rem;
    align-items: center;
    justify-content: space-between;
    inline-size: 100%;
    padding-inline-start: 0.6rem;
    border-radius: 8px;
    background: var(--_tint);
    font-size: 0.9375rem;
    overflow-wrap: anywhere;
  }
  .file button {
    flex: none;
    inline-size: 2.5rem;
    min-block-size: 2.5rem;
    font-size: 1.25rem;
  }
  .panel .choose {
    position: relative;
    padding: 0.4rem 0.9rem;
    border: 1px dashed color-mix(in srgb, var(--_text) 55%, transparent);
    border-radius: 8px;
    font-size: 0.9375rem;
    cursor: pointer;
  }
  .choose:hover {
    background: var(--_tint);
  }
  .choose:focus-within {
    outline: 3px solid var(--psa-focus-ring-color, var(--_primary));
    outline-offset: 2px;
  }
  .panel .choose .sr {
    inline-size: 1px;
    min-block-size: 0;
  }
  .panel > .quiet {
    align-self: start;
  }
  .panel .danger {
    color: light-dark(#fff, #2b0a0c);
    background: var(--_bad);
  }
  .hint {
    color: var(--_muted);
    font-size: 0.8125rem;
  }
`;
