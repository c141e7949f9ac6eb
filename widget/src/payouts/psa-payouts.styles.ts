const css = String.raw;

// As in psa-checkout, public properties are read into private ones, and borders without a color are for
// forced colors. All rows have the same height, so that the position of a row follows from its index.
export const styles = css`
  :host {
    --_primary: var(--psa-color-primary, light-dark(#3340d3, #8f9bff));
    --_surface: var(--psa-color-surface, light-dark(#fff, #181b22));
    --_text: var(--psa-color-text, light-dark(#171a21, #f2f3f6));
    --_muted: var(--psa-color-muted, light-dark(#596070, #a6aebd));
    --_good: var(--psa-color-success, light-dark(#0b7a4b, #58d99c));
    --_warn: var(--psa-color-warning, light-dark(#8a5200, #f3bd5f));
    --_bad: var(--psa-color-danger, light-dark(#b4232c, #ff9a9a));
    --_flash: var(--psa-color-highlight, color-mix(in srgb, var(--_primary) 16%, transparent));
    --_tint: color-mix(in srgb, var(--_text) 6%, transparent);
    --_line: color-mix(in srgb, var(--_text) 11%, transparent);
    --_radius: var(--psa-radius, 14px);
    display: block;
    container-type: inline-size;
    color: var(--_text);
    font: 400 1rem/1.4 var(--psa-font-family, system-ui, sans-serif);
    text-align: start;
  }
  :host([hidden]),
  [hidden] {
    display: none !important;
  }
  * {
    box-sizing: border-box;
    margin: 0;
  }
  .base {
    --_row: 3.875rem;
    --_side: 0.5rem;
    display: flex;
    flex-direction: column;
    gap: var(--psa-spacing, 0.75rem);
    block-size: 100%;
    padding: var(--psa-padding, 0);
    background: var(--_surface);
  }
  .sr {
    position: absolute;
    inline-size: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  button {
    padding: 0;
    border: 1px solid transparent;
    background: none;
    color: inherit;
    font: inherit;
    cursor: pointer;
  }
  :focus-visible {
    outline: 3px solid var(--psa-focus-ring-color, var(--_primary));
    outline-offset: 2px;
  }
  .toolbar {
    display: flex;
    gap: 0.5rem 1.25rem;
    align-items: center;
    padding-inline: var(--_side);
  }
  .filters {
    display: flex;
    flex: 1;
    flex-wrap: wrap;
    gap: 0.25rem;
  }
  .filter {
    padding: 0.25rem 0.7rem;
    min-block-size: 2rem;
    border-radius: 99px;
    color: var(--_muted);
    font-size: 0.875rem;
    font-weight: 500;
    transition: background 0.15s;
  }
  .filter:hover {
    background: var(--_tint);
  }
  .filter[aria-pressed="true"] {
    color: var(--_text);
    background: color-mix(in srgb, var(--_primary) 14%, transparent);
    font-weight: 600;
  }
  .news {
    display: flex;
    gap: 0.75rem;
    align-items: center;
    margin-inline-start: auto;
    min-block-size: 2rem;
    white-space: nowrap;
  }
  .new {
    padding: 0.25rem 0.85rem;
    min-block-size: 2rem;
    border-radius: 99px;
    color: var(--psa-color-on-primary, light-dark(#fff, #0d1030));
    background: var(--_primary);
    font-size: 0.875rem;
    font-weight: 600;
  }
  /* Keeps its place, so that nothing moves when it appears. */
  .new:disabled {
    visibility: hidden;
  }
  .connection {
    display: flex;
    gap: 0.45rem;
    align-items: center;
    color: var(--_muted);
    font-size: 0.875rem;
  }
  .connection:not(:empty)::before,
  .state::before {
    content: "";
    flex: none;
    inline-size: 0.5rem;
    block-size: 0.5rem;
    border: 1px solid currentColor;
    border-radius: 50%;
    background: currentColor;
    forced-color-adjust: none;
  }
  .live::before,
  .polling::before {
    color: var(--_good);
  }
  .connecting::before,
  .reconnecting::before,
  .stale::before {
    color: var(--_warn);
  }
  .offline {
    color: var(--_bad);
    font-weight: 600;
  }
  .notice:empty {
    display: none;
  }
  .problem {
    display: flex;
    flex-wrap: wrap;
    gap: 0.25rem 1rem;
    align-items: center;
    justify-content: space-between;
    padding: 0.6rem 0.9rem;
    border: 1px solid transparent;
    border-radius: var(--_radius);
    background: color-mix(in srgb, var(--_bad) 10%, transparent);
    font-size: 0.9375rem;
  }
  .quiet {
    min-block-size: 2rem;
    color: var(--_primary);
    font-weight: 600;
  }
  .quiet:hover {
    text-decoration: underline;
  }
  .scroller {
    position: relative;
    flex: 0 1 auto;
    min-block-size: 0;
    max-block-size: var(--psa-max-block-size, 34rem);
    overflow: hidden auto;
    overflow-anchor: none;
    scrollbar-width: thin;
    outline-offset: -3px;
  }
  table,
  thead,
  tbody {
    display: block;
    font-size: 0.9375rem;
  }
  thead {
    position: sticky;
    inset-block-start: 0;
    z-index: 1;
    background: var(--_surface);
  }
  tr {
    display: grid;
    grid-template-columns:
      minmax(7.25rem, 1.9fr) minmax(7rem, 0.8fr) minmax(7.25rem, 1.4fr) minmax(8.25rem, 1.2fr)
      minmax(9.25rem, 0.9fr);
    gap: 0 1rem;
    align-items: center;
    padding-inline: var(--_side);
    border-block-end: 1px solid var(--_line);
  }
  tbody tr {
    block-size: var(--_row);
    scroll-margin-block-start: 2.5rem;
    outline-offset: -3px;
  }
  tbody tr:hover {
    background: var(--_tint);
  }
  tbody tr:focus-visible {
    border-radius: 6px;
  }
  tbody.stale {
    opacity: 0.55;
  }
  th {
    padding: 0;
    color: var(--_muted);
    font-size: 0.8125rem;
    font-weight: 600;
    line-height: 2.375rem;
    text-align: start;
  }
  th > span {
    vertical-align: middle;
  }
  .sort {
    border: 0;
    display: inline-flex;
    gap: 0.3rem;
    align-items: center;
    min-block-size: 2.25rem;
    vertical-align: middle;
    border-radius: 6px;
    line-height: 1.2;
    text-align: inherit;
  }
  .sort:hover,
  [aria-sort] {
    color: var(--_text);
  }
  .sort svg {
    inline-size: 0.7rem;
    fill: currentColor;
    opacity: 0.5;
  }
  [aria-sort] svg {
    opacity: 1;
  }
  td {
    min-inline-size: 0;
    padding: 0;
    line-height: 1.35;
  }
  td > *,
  small {
    display: block;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  time > * {
    display: block;
  }
  small {
    color: var(--_muted);
    font-size: 0.8125rem;
  }
  b {
    font-weight: 600;
  }
  .amount,
  .requested {
    text-align: end;
    font-variant-numeric: tabular-nums;
  }
  .amount .sort {
    flex-direction: row-reverse;
  }
  .destination {
    padding-inline-start: 0.75rem;
  }
  td.code span {
    font: 0.8125rem ui-monospace, "SF Mono", Menlo, Consolas, monospace;
    white-space: normal;
    word-break: break-all;
  }
  .state {
    display: flex;
    gap: 0.45rem;
    align-items: center;
    font-weight: 600;
  }
  td.status small {
    padding-inline-start: 0.95rem;
  }
  .PENDING .state,
  .UNKNOWN .state {
    color: var(--_muted);
  }
  .PENDING .state::before {
    background: none;
    border-width: 2px;
  }
  .PROCESSING .state {
    color: var(--_warn);
  }
  .COMPLETED .state {
    color: var(--_good);
  }
  .DENIED .state,
  .RETURNED .state {
    color: var(--_bad);
  }
  .empty {
    padding: 2rem var(--_side);
    color: var(--_muted);
    text-align: center;
    text-wrap: balance;
  }
  .skeleton i {
    display: block;
    block-size: var(--_row);
    border-block-end: 1px solid var(--_line);
    background:
      linear-gradient(var(--_tint) 0 0) var(--_side) 35% / 32% 0.8rem no-repeat,
      linear-gradient(var(--_tint) 0 0) var(--_side) 68% / 22% 0.6rem no-repeat,
      linear-gradient(var(--_tint) 0 0) 96% 50% / 26% 0.8rem no-repeat;
    animation: breathe 1.6s ease-in-out infinite alternate;
  }
  @keyframes breathe {
    to {
      opacity: 0.45;
    }
  }
  .footer {
    display: flex;
    flex-wrap: wrap;
    gap: 0 0.75rem;
    align-items: center;
    min-block-size: 2rem;
    padding-inline: var(--_side);
    color: var(--_muted);
    font-size: 0.8125rem;
    font-variant-numeric: tabular-nums;
  }
`;
