// A page may style the element itself, with !important, and its descendants inherit that; so `base` resets everything.
const css = String.raw;

// The public properties are read into private ones and never set here: a value set on :host would override one that the
// element inherits from the page. light-dark() follows the color-scheme that the page gives the element. Borders without
// a colour are drawn in forced-colors mode. Each text has the direction of its own words and is aligned to the start of
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
    all: initial;
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
  [part~='base'] {
    --_tone: var(--_primary);
    position: relative;
    border-radius: var(--_radius);
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
  .status {
    align-self: center;
    font-weight: 650;
    font-size: 1.0625rem;
    line-height: 1.35;
  }
  .hint,
  .facts {
    font-size: 0.9rem;
  }
  .hint,
  dt,
  dd + dd {
    color: var(--_muted);
    text-wrap: pretty;
  }
  .button,
  .badge,
  .facts,
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
  .spinner {
    animation: spin 0.9s linear infinite;
  }
  .paid {
    --_tone: var(--psa-color-success, light-dark(#0b7a4b, #58d99c));
  }
  .expired {
    --_tone: light-dark(#8a5200, #f3bd5f);
  }
  .refunded {
    --_tone: var(--_muted);
  }
  .failed,
  .error {
    --_tone: var(--psa-color-danger, light-dark(#b4232c, #ff9a9a));
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
  .facts,
  .actions {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    grid-column: 1/-1;
  }
  .facts,
  .actions > * {
    margin-block-start: calc(var(--_space) - 0.25rem);
  }
  .facts,
  .skeleton {
    border-radius: var(--_radius);
    background: var(--_tint);
  }
  .skeleton {
    inline-size: 75%;
    block-size: 0.9rem;
  }
  .facts > div {
    display: flex;
    flex: 1 0 100%;
    flex-wrap: wrap;
    gap: 0 1rem;
    align-items: baseline;
    padding: 0.6rem 0.9rem;
  }
  .facts > div + div {
    border-block-start: 1px dashed color-mix(in srgb, var(--_text) 18%, transparent);
  }
  dd {
    font-weight: 600;
    font-variant-numeric: tabular-nums;
    overflow-wrap: anywhere;
    user-select: all;
  }
  dt {
    flex: 1;
  }
  dd + dd {
    flex-basis: 100%;
  }
  dd + dd,
  small {
    font-weight: 400;
  }
  .large {
    font-size: 1.3rem;
    line-height: 1.2;
  }
  .quiet {
    min-block-size: 2.5rem;
    margin-block: 0.25rem -0.5rem;
    color: var(--_muted);
    background: none !important;
    box-shadow: none;
    outline-offset: -3px;
  }
  .quiet:hover {
    color: var(--_text);
  }
  @media (forced-colors: none) {
    .paid .facts {
      padding-block-end: 0.5rem;
      border-end-start-radius: 0;
      border-end-end-radius: 0;
      mask: conic-gradient(from -45deg at bottom, #0000, #000 1deg 89deg, #0000 90deg) 50%/0.75rem;
    }
  }
  .paid path {
    stroke-dasharray: 1;
    animation: draw 0.45s ease-out;
  }
  .refunded:dir(rtl) svg {
    scale: -1 1;
  }
  @container (width > 36rem) {
    [part~='panel'] {
      --_space: var(--psa-spacing, 1.25rem);
      padding: var(--psa-padding, 1.5rem);
    }
    .facts {
      flex-wrap: nowrap;
    }
    .facts > div {
      flex: auto;
      display: block;
    }
    .large,
    small {
      white-space: nowrap;
    }
    .facts > div + div {
      border: 0;
    }
    .actions > * {
      min-inline-size: 0;
    }
    .quiet {
      flex: none;
    }
  }
  @container (width < 18rem) {
    [part~='panel'] {
      padding: var(--psa-padding, 1rem);
    }
    [part~='panel'] > * {
      grid-column: 1/-1;
    }
    dt {
      flex-basis: 100%;
    }
  }
  @keyframes rise {
    from {
      opacity: 0;
      translate: 0 0.375rem;
    }
  }
  @keyframes draw {
    from {
      stroke-dashoffset: 1;
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
