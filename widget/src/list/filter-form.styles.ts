const css = String.raw;

export const styles = css`
  .conditions {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 11.5rem), 1fr));
    gap: 0.75rem 1rem;
    padding: 0.25rem var(--_side) 0.5rem;
  }
  .conditions :is(fieldset, label) {
    min-inline-size: 0;
    padding: 0;
    border: 0;
  }
  .conditions :is(legend, label) {
    display: block;
    padding: 0 0 0.25rem;
    font-size: 0.8125rem;
    font-weight: 600;
  }
  .conditions fieldset label {
    display: inline-flex;
    gap: 0.4rem;
    align-items: center;
    min-block-size: 2rem;
    margin-inline-end: 1rem;
    font-size: 0.9375rem;
    font-weight: 400;
  }
  .conditions input {
    accent-color: var(--_primary);
  }
  .conditions div > input {
    inline-size: 100%;
    min-block-size: 2.5rem;
    padding: 0.35rem 0.6rem;
    border: 1px solid color-mix(in srgb, var(--_text) 55%, transparent);
    border-radius: 8px;
    color: inherit;
    background: transparent;
    font: inherit;
  }
  .conditions [type="checkbox"] {
    inline-size: 1.125rem;
    block-size: 1.125rem;
  }
  .conditions [aria-invalid="true"] {
    border-color: var(--_bad);
    outline: 1px solid var(--_bad);
  }
  .hint,
  .invalid {
    padding-block-start: 0.25rem;
    color: var(--_muted);
    font-size: 0.8125rem;
  }
  .invalid {
    color: var(--_bad);
    font-weight: 600;
  }
  .invalid:empty {
    display: none;
  }
  .actions {
    grid-column: 1 / -1;
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem 1.25rem;
    align-items: center;
  }
`;
