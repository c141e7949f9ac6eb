const css = String.raw;

// What a button, a skeleton and a bare panel need; the rest is panel.styles.ts. The public properties are read into
// private ones, never set here: a value set on :host would win over one that the page inherits down to the element.
// light-dark() follows the color-scheme that the page gives the element.
export const styles = css`
  :host {
    --_primary: var(--psa-color-primary, light-dark(#3340d3, #8f9bff));
    --_surface: var(--psa-color-surface, light-dark(#fff, #181b22));
    --_text: var(--psa-color-text, light-dark(#171a21, #f2f3f6));
    --_muted: var(--psa-color-muted, light-dark(#596070, #a6aebd));
    --_line: color-mix(in srgb, var(--_text) 13%, transparent);
    --_tint: color-mix(in srgb, var(--_text) 5%, transparent);
    --_radius: var(--psa-radius, 14px);
    display: block;
    max-inline-size: 27rem;
    color: var(--_text);
    font: 400 1rem/1.5 var(--psa-font-family, system-ui, sans-serif);
    text-align: start;
  }
  :host([hidden]) {
    display: none;
  }
  * {
    box-sizing: border-box;
    margin: 0;
  }
  svg {
    display: block;
    inline-size: 1.3em;
    flex: none;
    fill: none;
    stroke: currentColor;
    stroke-width: 2;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  .sr {
    position: absolute;
    inline-size: 1px;
    block-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }
  .base {
    position: relative;
    border-radius: var(--_radius);
    outline: none;
  }
  .panel {
    display: grid;
    gap: var(--psa-spacing, 1rem);
    padding: var(--psa-padding, 1.25rem);
    background: var(--_surface);
    border: 1px solid var(--_line);
    box-shadow: 0 12px 32px -18px rgb(15 20 40 / 30%);
  }
  :focus-visible {
    outline: 3px solid color-mix(in srgb, var(--psa-focus-ring-color, var(--_primary)) 65%, transparent);
    outline-offset: 3px;
  }
  .head {
    display: flex;
    gap: 0.875rem;
    align-items: center;
  }
  .status {
    font-weight: 650;
    font-size: 1.0625rem;
    line-height: 1.35;
    text-wrap: balance;
  }
  .hint {
    color: var(--_muted);
    font-size: 0.9rem;
    text-wrap: pretty;
  }
  .button {
    display: flex;
    gap: 0.6rem;
    align-items: center;
    justify-content: center;
    flex: 4 1 auto;
    min-block-size: 3rem;
    padding: 0.7rem 1.25rem;
    border: 1px solid transparent;
    border-radius: calc(var(--_radius) * 0.85);
    color: var(--psa-color-on-primary, light-dark(#fff, #0d1030));
    background: var(--_primary);
    font: inherit;
    font-weight: 600;
    line-height: 1.25;
    text-align: center;
    text-decoration: none;
    cursor: pointer;
    transition: background-color 0.15s;
  }
  .main {
    inline-size: 100%;
    min-block-size: 3.25rem;
    border-radius: inherit;
    box-shadow:
      inset 0 1px rgb(255 255 255 / 16%),
      0 8px 20px -10px var(--_primary);
  }
  .button:hover {
    background: color-mix(in srgb, var(--_primary) 88%, var(--_text));
  }
  .button:disabled {
    opacity: 0.55;
    cursor: not-allowed;
  }
  [aria-busy] {
    cursor: progress;
  }
  .spinner {
    animation: spin 0.9s linear infinite;
  }
  .spinner circle {
    opacity: 0.25;
  }
  .skeleton {
    block-size: 4.5rem;
    border-radius: calc(var(--_radius) * 0.7);
    background: var(--_tint);
  }
  @keyframes spin {
    to {
      rotate: 360deg;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    * {
      animation: none !important;
      transition: none !important;
    }
  }
  @media (forced-colors: active) {
    .button {
      border-color: ButtonText;
    }
  }
`;
