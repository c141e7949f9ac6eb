const css = String.raw;

// The dialog is in the top layer, so that the width of the page decides and not that of the element.
export const styles = css`
  .details {
    position: fixed;
    inset: auto 0 0;
    inline-size: 100%;
    max-inline-size: none;
    max-block-size: 92dvh;
    padding: 0;
    border: 1px solid transparent;
    border-radius: var(--_radius) var(--_radius) 0 0;
    overflow: auto;
    overscroll-behavior: contain;
    color: inherit;
    background: var(--_surface);
    box-shadow: 0 0 3rem #0003;
  }
  .details::backdrop {
    background: #0007;
  }
  .panel {
    position: relative;
    display: flex;
    flex-direction: column;
    gap: 0.75rem;
    padding: 1.25rem;
  }
  .close {
    position: absolute;
    inset: 0.9rem 0.9rem auto auto;
    inline-size: 2.5rem;
    block-size: 2.5rem;
    border-radius: 50%;
  }
  .close:hover {
    background: var(--_tint);
  }
  .close svg {
    inline-size: 1rem;
    stroke: currentColor;
    stroke-width: 1.5;
    vertical-align: middle;
  }
  .panel :is(h2, h3) {
    font-size: 1rem;
    font-weight: 600;
  }
  .panel h2 {
    padding-inline-end: 3rem;
    font-size: 1.375rem;
    line-height: 1.25;
    overflow-wrap: anywhere;
  }
  .panel h3 {
    padding-block-start: 0.5rem;
  }
  .panel dl div {
    display: grid;
    grid-template-columns: minmax(7rem, 1fr) 2fr;
    gap: 0 1rem;
    padding-block: 0.35rem;
    border-block-end: 1px solid var(--_line);
  }
  .panel dt {
    color: var(--_muted);
    font-size: 0.875rem;
    font-weight: 400;
  }
  .panel dd {
    font-size: 0.9375rem;
    font-weight: 400;
    overflow-wrap: anywhere;
    white-space: pre-line;
    user-select: text;
  }
  .panel ol {
    padding: 0;
    list-style: none;
  }
  .panel li {
    position: relative;
    padding: 0 0 0.75rem 1.25rem;
    border-inline-start: 2px solid var(--_line);
    margin-inline-start: 0.3rem;
    font-size: 0.9375rem;
  }
  .panel li::before {
    content: "";
    position: absolute;
    inset: 0.4rem auto auto -0.4rem;
    inline-size: 0.7rem;
    block-size: 0.7rem;
    border: 2px solid var(--_primary);
    border-radius: 50%;
    background: var(--_surface);
  }
  .panel li:last-child {
    border: 0;
    margin-inline-start: calc(0.3rem + 2px);
  }
  .panel li time {
    display: block;
    color: var(--_muted);
    font-size: 0.8125rem;
  }
  .panel li small {
    white-space: normal;
    overflow-wrap: anywhere;
  }
  .panel summary {
    inline-size: fit-content;
    min-block-size: 2rem;
    color: var(--_primary);
    font-weight: 600;
    cursor: pointer;
  }
  .panel .hint {
    color: var(--_muted);
    font-size: 0.8125rem;
  }
  .panel form {
    display: grid;
    gap: 0.5rem;
    justify-items: start;
    padding: 0.9rem;
    border: 1px solid var(--_line);
    border-radius: var(--_radius);
  }
  .panel form label {
    font-size: 0.8125rem;
    font-weight: 600;
  }
  .panel form :is(input, textarea) {
    inline-size: 100%;
    min-block-size: 2.5rem;
    padding: 0.35rem 0.6rem;
    border: 1px solid color-mix(in srgb, var(--_text) 55%, transparent);
    border-radius: 8px;
    color: inherit;
    background: transparent;
    font: inherit;
  }
  .panel [aria-invalid="true"] {
    border-color: var(--_bad);
  }
  .panel .invalid:not(:empty) {
    color: var(--_bad);
    font-size: 0.875rem;
    font-weight: 600;
  }
  .panel .buttons {
    display: flex;
    flex-wrap: wrap;
    gap: 0.5rem 1.25rem;
    align-items: center;
  }
  .panel button:is(:disabled, [aria-disabled='true']) {
    opacity: 0.55;
  }
  @media (min-width: 40rem) {
    .details {
      inset: 0 0 0 auto;
      inline-size: 30rem;
      block-size: 100dvh;
      max-block-size: none;
      border-radius: var(--_radius) 0 0 var(--_radius);
    }
  }
  @media (prefers-reduced-motion: no-preference) {
    .details[open] {
      animation: arrive 0.18s ease-out;
    }
    @keyframes arrive {
      from {
        opacity: 0;
        translate: 0 1rem;
      }
    }
  }
`;
