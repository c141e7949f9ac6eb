const css = String.raw;

// The QR code is black on white with its quiet zone in every theme, because many readers accept nothing else.
export const styles = css`
  .pix {
    display: grid;
    grid-column: 1/-1;
    gap: 0.75rem;
    justify-items: center;
    margin-block-start: 0.75rem;
  }
  .pix > *,
  .copy > * {
    inline-size: 100%;
    min-inline-size: 0;
  }
  .copy {
    display: grid;
    gap: 0.5rem;
  }
  .qr,
  .wait {
    inline-size: min(100%, 15rem);
    aspect-ratio: 1;
  }
  .qr {
    display: block;
    margin-inline: auto;
    border-radius: 8px;
    background: #fff;
    fill: #000;
    stroke: none;
    forced-color-adjust: none;
  }
  .returned p {
    margin-block-start: 0.35rem;
    color: var(--_text);
    font-weight: 600;
  }
  .said,
  details {
    font-size: 0.9rem;
    text-align: center;
  }
  summary {
    padding-block: 0.6rem;
    cursor: pointer;
  }
  @container (width > 36rem) {
    .pix:has(> .qr, > .wait) {
      grid-template-columns: auto 1fr;
      gap: 1.25rem;
      align-items: center;
    }
    .pix > .qr,
    .wait {
      inline-size: 15rem;
    }
  }
`;
