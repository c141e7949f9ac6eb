// A page may style the element itself, with !important, and its descendants inherit that; so `base` resets everything.
const css = String.raw;

// The public properties are read into private ones and never set here: a value set on :host would override one that the
// element inherits from the page. light-dark() follows the color-scheme that the page gives the element. Borders without
// a color are drawn in forced-colors mode. Each text has the direction of its own words and is aligned to the start of
// the page's direction. The element is as wide as its container, which selects its layout, and has a minimum width.
export const styles = css`
  :host {
    --_primary: var(--psa-color-primary, light-dark(#3340d3, #8f9bff));
    --_text: var(--psa-color-text, light-dark(#171a21, #f2f3f6));
    --_muted: var(--psa-color-muted, light-dark(#596070, #a6aebd));
    --_tint: color-mix(in srgb, var(--_text) 6%, transparent);
    --_radius: var(--psa-radius, 14px);
    --_space: var(--psa-spacing, 1rem);
    container-type: inline-size;
    display: block;
    inline-size: 100%;
    min-inline-size: 13rem;
    max-inline-size: 27rem;
  }
  :host([hidden]) {
    display: none;
  }
  * {
    box-sizing: border-box;
    margin: 0;
    unicode-bidi: plaintext;
  }
  svg {
    inline-size: 1.3em;
    flex: none;
    fill: none;
    stroke: currentColor;
    stroke-width: 2;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
  [part~='base'] {
    --_tone: var(--_primary);
    all: initial;
    position: relative;
    border-radius: var(--_radius);
    box-sizing: border-box;
    display: block;
    color-scheme: inherit;
    visibility: inherit;
    color: var(--_text);
    font: 400 1rem/1.5 var(--psa-font-family, system-ui, sans-serif);
    text-align: left;
  }
  [part~='base']:dir(rtl) {
    text-align: right;
  }
  .sr {
    position: absolute;
    inline-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  [part~='panel'] {
    display: grid;
    grid-template-columns: auto 1fr;
    gap: 0.25rem 0.875rem;
    padding: var(--psa-padding, 1.25rem);
    background: var(--psa-color-surface, light-dark(#fff, #181b22));
    border: 1px solid var(--_tint);
    box-shadow: 0 12px 32px -18px rgb(15 20 40/35%);
    animation: rise 0.25s ease-out;
  }
  :focus-visible {
    outline: 3px solid var(--psa-focus-ring-color, color-mix(in srgb, var(--_primary) 65%, transparent));
    outline-offset: 3px;
  }
  .failed,
  .error {
    --_tone: var(--psa-color-danger, light-dark(#b4232c, #ff9a9a));
  }
  .status {
    align-self: center;
    font-weight: 650;
    font-size: 1.0625rem;
    line-height: 1.35;
  }
  .hint {
    color: var(--_muted);
    font-size: 0.9rem;
    text-wrap: pretty;
    overflow-wrap: anywhere;
  }
  .button,
  .badge,
  .skeleton {
    border: 1px solid transparent;
  }
  .button {
    display: flex;
    flex: 1;
    gap: 0.6rem;
    align-items: center;
    justify-content: center;
    min-inline-size: 100%;
    min-block-size: 3.25rem;
    padding: 0.6rem 1.25rem;
    border-radius: var(--_radius);
    color: var(--psa-color-on-primary, light-dark(#fff, #0d1030));
    background: var(--_primary);
    box-shadow: 0 8px 20px -12px var(--_primary);
    font: inherit;
    font-weight: 600;
    line-height: 1.25;
    text-align: center;
    text-decoration: none;
    cursor: pointer;
  }
  .button:hover {
    background: color-mix(in srgb, var(--_primary) 88%, var(--_text));
  }
  .button:active {
    translate: 0 1px;
  }
  .button:disabled {
    opacity: 0.55;
    cursor: default;
  }
  [part='methods'] {
    gap: 0.6rem;
    align-items: stretch;
  }
  [part='methods'] > .button {
    flex: auto;
    min-inline-size: min-content;
    padding-inline: 0.9rem;
  }
  .button.outline {
    border-color: color-mix(in srgb, var(--_text) 35%, transparent);
    color: var(--_text);
    background: none;
    box-shadow: none;
  }
  .spinner {
    animation: spin 0.9s linear infinite;
  }
  .badge {
    display: grid;
    grid-row: span 2;
    place-items: center;
    inline-size: 2.75rem;
    block-size: 2.75rem;
    border-radius: 50%;
    color: var(--_tone);
    background: color-mix(in srgb, var(--_tone) 11%, transparent);
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    grid-column: 1/-1;
  }
  .actions > * {
    margin-block-start: calc(var(--_space) - 0.25rem);
  }
  .skeleton {
    inline-size: 75%;
    block-size: 0.9rem;
    border-radius: var(--_radius);
    background: var(--_tint);
  }
  @keyframes rise {
    from {
      opacity: 0;
      translate: 0 0.375rem;
    }
  }
  @keyframes spin {
    to {
      rotate: 360deg;
    }
  }
  @media (prefers-reduced-motion) {
    * {
      animation: none !important;
    }
  }
`;
