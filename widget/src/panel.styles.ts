const css = String.raw;

// The styles of a payment's details, beside those of the element: the payment chunk brings them.
export const styles = css`
  .paid {
    --_tone: var(--psa-color-success, light-dark(#0b7a4b, #58d99c));
  }
  .expired {
    --_tone: light-dark(#8a5200, #f3bd5f);
  }
  .refunded {
    --_tone: var(--_muted);
  }
  .facts,
  .delivered {
    grid-column: 1/-1;
    margin-block-start: calc(var(--_space) - 0.25rem);
    font-size: 0.9rem;
  }
  p:empty {
    display: none;
  }
  .facts {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    border: 1px solid transparent;
    border-radius: var(--_radius);
    background: var(--_tint);
  }
  dt,
  dd + dd {
    color: var(--_muted);
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
  textarea {
    display: block;
    field-sizing: content;
    resize: none;
    padding: 0.6rem 0.75rem;
    border: 1px solid color-mix(in srgb, currentColor 45%, transparent);
    border-radius: 8px;
    color: inherit;
    background: none;
    font: 0.8125rem/1.45 ui-monospace, Menlo, Consolas, monospace;
    overflow-wrap: anywhere;
  }
  .quiet {
    min-block-size: 2.5rem;
    margin-block: 0.25rem -0.5rem;
    color: var(--_muted);
    background: none !important;
    box-shadow: none;
    outline-offset: -3px;
  }
  .quiet:not(:last-child) {
    margin-block-end: 0;
  }
  .quiet:hover {
    color: var(--_text);
  }
  @media (forced-colors: none) {
    .paid .facts {
      padding-block-end: 0.5rem;
      border-radius: var(--_radius) var(--_radius) 0 0;
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
  @keyframes draw {
    from {
      stroke-dashoffset: 1;
    }
  }
`;
