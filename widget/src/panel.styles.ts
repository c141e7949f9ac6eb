const css = String.raw;

/** The panel in colour and detail, added to the element's shadow root when there is a payment to show. */
export const panelStyles = css`
  .base {
    --_tone: var(--_primary);
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
  .panel {
    animation: in 0.28s cubic-bezier(0.2, 0.7, 0.2, 1);
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
    border-radius: calc(var(--_radius) * 0.7);
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
  }
  .low {
    color: var(--_tone);
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem;
  }
  .quiet {
    flex-grow: 1;
    color: var(--_muted);
    background: none;
  }
  .quiet:hover {
    color: var(--_text);
    background: var(--_tint);
  }
  .paid .line {
    stroke-dasharray: 1;
    animation: draw 0.45s 0.12s ease-out backwards;
  }
  @keyframes in {
    from {
      opacity: 0;
      translate: 0 6px;
    }
  }
  @keyframes draw {
    from {
      stroke-dashoffset: 1;
    }
  }
  @media (forced-colors: active) {
    .badge,
    .facts {
      border: 1px solid;
    }
  }
`;
