const css = String.raw;

// The line of the history has the width of the element; its text stands below it.
export const styles = css`
  .base {
    --_chart: var(--psa-color-chart, var(--_primary));
  }
  .connection {
    margin-inline-start: auto;
  }
  .figures {
    display: grid;
    grid-template-columns: repeat(auto-fit, minmax(min(100%, 10.5rem), 1fr));
    gap: 0.75rem 1.5rem;
    padding-inline: var(--_side);
  }
  .available {
    grid-column: 1 / -1;
  }
  dt {
    color: var(--_muted);
    font-size: 0.8125rem;
    font-weight: 600;
  }
  dd {
    overflow-wrap: anywhere;
    border-radius: 6px;
    font-size: 1.0625rem;
    font-weight: 600;
    font-variant-numeric: tabular-nums;
  }
  .available dd {
    font-size: clamp(1.5rem, 9cqi, 2.25rem);
    line-height: 1.2;
    letter-spacing: -0.01em;
  }
  .negative dd {
    color: var(--_bad);
  }
  .waiting dd {
    inline-size: 8rem;
    max-inline-size: 100%;
    color: transparent;
    background: var(--_tint);
    animation: breathe 1.6s ease-in-out infinite alternate;
  }
  .note,
  figcaption {
    padding-inline: var(--_side);
    color: var(--_muted);
    font-size: 0.8125rem;
  }
  svg {
    display: block;
    inline-size: 100%;
    block-size: 4rem;
    padding-inline: var(--_side);
    overflow: visible;
  }
  path {
    fill: none;
    vector-effect: non-scaling-stroke;
  }
  .line {
    stroke: var(--_chart);
    stroke-width: 2px;
    stroke-linejoin: round;
  }
  .area {
    fill: color-mix(in srgb, var(--_chart) 12%, transparent);
  }
  figcaption {
    padding-block-start: 0.35rem;
  }
  @container (max-width: 26rem) {
    .toolbar {
      flex-wrap: wrap;
    }
    .figures {
      grid-template-columns: repeat(auto-fit, minmax(min(100%, 7.25rem), 1fr));
      column-gap: 1rem;
    }
  }
  @media (forced-colors: active) {
    .line {
      stroke: CanvasText;
    }
    .area {
      fill: none;
    }
  }
  @media (prefers-reduced-motion) {
    * {
      animation: none !important;
    }
  }
`;
