// A page may style the element itself, with !important, and what it sets is inherited; so `base` begins anew.
const css = String.raw;

// The public properties are read into private ones, never set here: a value set on :host would win over one that the
// page inherits down to the element. light-dark() follows the color-scheme that the page gives the element. Borders
// without colour are for forced colours, which draw them.
export const styles = css`
  :host {
    --_primary: var(--psa-color-primary, light-dark(#3340d3, #8f9bff));
    --_text: var(--psa-color-text, light-dark(#171a21, #f2f3f6));
    --_muted: var(--psa-color-muted, light-dark(#596070, #a6aebd));
    --_tint: color-mix(in srgb, var(--_text) 6%, transparent);
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
  .base {
    --_tone: var(--_primary);
    position: relative;
    border-radius: var(--_radius);
    outline: none;
  }
  .panel {
    display: grid;
    gap: var(--psa-spacing, 1rem);
    padding: var(--psa-padding, 1.25rem);
    background: var(--psa-color-surface, light-dark(#fff, #181b22));
    border: 1px solid var(--_tint);
    box-shadow: 0 12px 32px -18px rgb(15 20 40 / 35%);
  }
  :focus-visible {
    outline: 3px solid var(--psa-focus-ring-color, color-mix(in srgb, var(--_primary) 65%, transparent));
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
    inline-size: 100%;
    min-block-size: 3.25rem;
    padding: 0.6rem 1.25rem;
    border: 1px solid transparent;
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
  .button:disabled {
    opacity: 0.55;
    cursor: default;
  }
  .spinner {
    animation: spin 0.9s linear infinite;
  }
  .spinner circle {
    opacity: 0.25;
  }
  .skeleton {
    block-size: 4.5rem;
    border-radius: var(--_radius);
    background: var(--_tint);
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
  .error,
  .low {
    --_tone: var(--psa-color-danger, light-dark(#b4232c, #ff9a9a));
  }
  .badge {
    display: grid;
    place-items: center;
    inline-size: 2.75rem;
    block-size: 2.75rem;
    flex: none;
    border: 1px solid transparent;
    border-radius: 50%;
    color: var(--_tone);
    background: color-mix(in srgb, var(--_tone) 11%, transparent);
  }
  .facts {
    border: 1px solid transparent;
    border-radius: var(--_radius);
    background: var(--_tint);
    font-size: 0.9rem;
  }
  .facts > div {
    display: flex;
    gap: 0 1rem;
    align-items: baseline;
    justify-content: space-between;
    flex-wrap: wrap;
    padding: 0.6rem 0.9rem;
  }
  .facts > div + div {
    border-block-start: 1px dashed var(--_tint);
  }
  dt {
    color: var(--_muted);
  }
  dd {
    font-weight: 600;
    font-variant-numeric: tabular-nums;
    overflow-wrap: anywhere;
  }
  small {
    font-weight: 400;
  }
  .large {
    font-size: 1.3rem;
    line-height: 1.2;
  }
  .low {
    color: var(--_tone);
  }
  .quiet {
    margin-block: -0.5rem;
    color: var(--_muted);
    background: none !important;
    box-shadow: none;
  }
  .quiet:hover {
    color: var(--_text);
  }
  .paid .line {
    stroke-dasharray: 1;
    animation: draw 0.45s ease-out;
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
