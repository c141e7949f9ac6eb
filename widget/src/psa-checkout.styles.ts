import { css } from 'lit';

// The public properties are read into private ones, never set here: a value set on :host would win over one that
// the page inherits down to the element. light-dark() follows the color-scheme that the page gives the element.
export const styles = css`
  :host {
    --_primary: var(--psa-color-primary, light-dark(#3340d3, #8f9bff));
    --_on-primary: var(--psa-color-on-primary, light-dark(#fff, #0d1030));
    --_surface: var(--psa-color-surface, light-dark(#fff, #181b22));
    --_text: var(--psa-color-text, light-dark(#171a21, #f2f3f6));
    --_muted: var(--psa-color-muted, light-dark(#596070, #a6aebd));
    --_success: var(--psa-color-success, light-dark(#0b7a4b, #58d99c));
    --_danger: var(--psa-color-danger, light-dark(#b4232c, #ff9a9a));
    --_warning: light-dark(#8a5200, #f3bd5f);
    --_line: color-mix(in srgb, var(--_text) 13%, transparent);
    --_ring: var(--psa-focus-ring-color, var(--_primary));
    --_radius: var(--psa-radius, 14px);
    --_space: var(--psa-spacing, 1rem);
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
    inline-size: 1.25em;
    block-size: 1.25em;
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
    white-space: nowrap;
  }
  .base {
    --_tone: var(--_primary);
    position: relative;
    border-radius: var(--_radius);
    outline: none;
  }
  .paid {
    --_tone: var(--_success);
  }
  .expired {
    --_tone: var(--_warning);
  }
  .refunded {
    --_tone: var(--_muted);
  }
  .failed,
  .error {
    --_tone: var(--_danger);
  }
  .panel {
    display: grid;
    gap: var(--_space);
    padding: var(--psa-padding, 1.25rem);
    background: var(--_surface);
    border: 1px solid var(--_line);
    box-shadow:
      0 1px 2px rgb(15 20 40 / 5%),
      0 12px 32px -16px rgb(15 20 40 / 22%);
    animation: in 0.28s cubic-bezier(0.2, 0.7, 0.2, 1);
  }
  .panel:focus-visible,
  .button:focus-visible,
  a:focus-visible {
    outline: 3px solid color-mix(in srgb, var(--_ring) 65%, transparent);
    outline-offset: 3px;
  }
  .head {
    display: flex;
    gap: 0.875rem;
    align-items: flex-start;
  }
  .text {
    min-inline-size: 0;
    flex: 1;
  }
  .status {
    font-weight: 650;
    font-size: 1.0625rem;
    line-height: 1.35;
    letter-spacing: -0.008em;
    text-wrap: balance;
  }
  .hint {
    margin-block-start: 0.25rem;
    color: var(--_muted);
    font-size: 0.9rem;
    text-wrap: pretty;
  }
  .badge {
    display: grid;
    place-items: center;
    inline-size: 2.75rem;
    block-size: 2.75rem;
    flex: none;
    border-radius: 50%;
    color: var(--_tone);
    background: color-mix(in srgb, var(--_tone) 11%, transparent);
  }
  .facts {
    display: grid;
    overflow: hidden;
    border-radius: calc(var(--_radius) * 0.7);
    background: color-mix(in srgb, var(--_text) 4%, transparent);
    font-size: 0.9rem;
  }
  .facts > div {
    display: flex;
    gap: 0.25rem 1rem;
    align-items: baseline;
    justify-content: space-between;
    flex-wrap: wrap;
    padding: 0.6rem 0.9rem;
  }
  .facts > div + div {
    border-block-start: 1px dashed var(--_line);
  }
  dt {
    color: var(--_muted);
  }
  dd {
    font-weight: 600;
    font-variant-numeric: tabular-nums;
    overflow-wrap: anywhere;
  }
  .large {
    font-size: 1.3rem;
    line-height: 1.2;
    letter-spacing: -0.015em;
  }
  .code {
    font-family: ui-monospace, monospace;
    font-weight: 500;
    font-size: 0.85rem;
  }
  .timer {
    font-variant-numeric: tabular-nums;
  }
  .low {
    color: var(--_danger);
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
  }
  .button {
    display: inline-flex;
    gap: 0.6rem;
    align-items: center;
    justify-content: center;
    flex: 1 1 auto;
    min-block-size: 3rem;
    padding: 0.7rem 1.25rem;
    border: 1px solid transparent;
    border-radius: calc(var(--_radius) * 0.85);
    color: var(--_on-primary);
    background: var(--_primary);
    font: inherit;
    font-weight: 600;
    line-height: 1.25;
    text-align: center;
    text-decoration: none;
    cursor: pointer;
    transition:
      background-color 0.15s,
      box-shadow 0.15s,
      translate 0.15s;
  }
  .main {
    inline-size: 100%;
    min-block-size: 3.25rem;
    border-radius: var(--_radius);
    box-shadow:
      inset 0 1px 0 rgb(255 255 255 / 16%),
      0 1px 2px rgb(15 20 40 / 16%),
      0 8px 20px -10px color-mix(in srgb, var(--_primary) 75%, transparent);
  }
  .button:hover {
    background: color-mix(in srgb, var(--_primary) 88%, var(--_text));
  }
  .button:active {
    translate: 0 1px;
  }
  .quiet {
    flex: 0 1 auto;
    color: var(--_muted);
    background: none;
  }
  .quiet:hover {
    color: var(--_text);
    background: color-mix(in srgb, var(--_text) 7%, transparent);
  }
  .button:disabled {
    opacity: 0.55;
    cursor: not-allowed;
  }
  .button[aria-disabled='true'] {
    cursor: progress;
  }
  .label {
    min-inline-size: 0;
  }
  .spinner {
    animation: spin 0.9s linear infinite;
  }
  .spinner circle {
    opacity: 0.25;
  }
  .tick {
    stroke-dasharray: 24;
    animation: draw 0.45s 0.12s ease-out backwards;
  }
  .skeleton {
    display: grid;
    gap: 0.6rem;
  }
  .skeleton i {
    block-size: 0.9rem;
    border-radius: 0.45rem;
    background: color-mix(in srgb, var(--_text) 9%, transparent);
    animation: pulse 1.4s ease-in-out infinite alternate;
  }
  .skeleton i:last-child {
    inline-size: 62%;
  }
  .connection {
    color: var(--_muted);
    font-size: 0.85rem;
  }
  @keyframes in {
    from {
      opacity: 0;
      translate: 0 6px;
    }
  }
  @keyframes spin {
    to {
      rotate: 360deg;
    }
  }
  @keyframes draw {
    from {
      stroke-dashoffset: 24;
    }
  }
  @keyframes pulse {
    to {
      opacity: 0.45;
    }
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    .panel {
      animation: none !important;
      transition: none !important;
    }
  }
  @media (forced-colors: active) {
    .badge,
    .facts,
    .button {
      border: 1px solid;
    }
    .button {
      border-color: ButtonText;
    }
    .skeleton i {
      background: GrayText;
    }
  }
`;
