const css = String.raw;

// As in psa-checkout, public properties are read into private ones, and borders without a color are for
// forced colors.
export const boardStyles = css`
  :host {
    --_primary: var(--psa-color-primary, light-dark(#3340d3, #8f9bff));
    --_surface: var(--psa-color-surface, light-dark(#fff, #181b22));
    --_text: var(--psa-color-text, light-dark(#171a21, #f2f3f6));
    --_muted: var(--psa-color-muted, light-dark(#596070, #a6aebd));
    --_good: var(--psa-color-success, light-dark(#0b7a4b, #58d99c));
    --_warn: var(--psa-color-warning, light-dark(#8a5200, #f3bd5f));
    --_bad: var(--psa-color-danger, light-dark(#b4232c, #ff9a9a));
    --_flash: var(--psa-color-highlight, color-mix(in srgb, var(--_primary) 16%, transparent));
    --_tint: color-mix(in srgb, var(--_text) 6%, transparent);
    --_line: color-mix(in srgb, var(--_text) 11%, transparent);
    --_radius: var(--psa-radius, 14px);
    display: block;
    container-type: inline-size;
    color: var(--_text);
    font: 400 1rem/1.4 var(--psa-font-family, system-ui, sans-serif);
    text-align: start;
  }
  :host([hidden]),
  [hidden] {
    display: none !important;
  }
  * {
    box-sizing: border-box;
    margin: 0;
  }
  .base {
    --_row: 3.875rem;
    --_side: 0.5rem;
    display: flex;
    flex-direction: column;
    gap: var(--psa-spacing, 0.75rem);
    block-size: 100%;
    padding: var(--psa-padding, 0);
    background: var(--_surface);
  }
  .sr {
    position: absolute;
    inline-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  button {
    padding: 0;
    border: 1px solid transparent;
    background: none;
    color: inherit;
    font: inherit;
    cursor: pointer;
  }
  :focus-visible {
    outline: 3px solid var(--psa-focus-ring-color, var(--_primary));
    outline-offset: 2px;
  }
  .toolbar {
    display: flex;
    gap: 0.5rem 1.25rem;
    align-items: center;
    padding-inline: var(--_side);
  }
  .connection {
    display: flex;
    gap: 0.45rem;
    align-items: center;
    color: var(--_muted);
    font-size: 0.875rem;
  }
  .connection:not(:empty)::before,
  .state::before {
    content: "";
    flex: none;
    inline-size: 0.5rem;
    block-size: 0.5rem;
    border: 1px solid currentColor;
    border-radius: 50%;
    background: currentColor;
    forced-color-adjust: none;
  }
  .live::before,
  .polling::before {
    color: var(--_good);
  }
  .connecting::before,
  .reconnecting::before,
  .stale::before {
    color: var(--_warn);
  }
  .offline {
    color: var(--_bad);
    font-weight: 600;
  }
  .notice:empty {
    display: none;
  }
  .problem {
    display: flex;
    flex-wrap: wrap;
    gap: 0.25rem 1rem;
    align-items: center;
    justify-content: space-between;
    padding: 0.6rem 0.9rem;
    border: 1px solid transparent;
    border-radius: var(--_radius);
    background: color-mix(in srgb, var(--_bad) 10%, transparent);
    font-size: 0.9375rem;
  }
  .quiet {
    min-block-size: 2rem;
    color: var(--_primary);
    font-weight: 600;
  }
  .quiet:hover {
    text-decoration: underline;
  }
  @keyframes breathe {
    to {
      opacity: 0.45;
    }
  }
`;
