import { type Html, html } from './html.ts';

/** Line icons of 24 × 24, drawn in the color of the text and silent to a screen reader. */
const icon = (shape: Html): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" width="24" height="24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${shape}</svg>`;

export const ICONS = {
  alert: icon(html`<path d="M12 3.5 2.5 20h19L12 3.5Z"/><path d="M12 10v4.5M12 17.4v.1"/>`),
  back: icon(html`<path d="M10 6 4 12l6 6M4.5 12H20"/>`),
  card: icon(
    html`<rect x="2.75" y="5" width="18.5" height="14" rx="2.5"/><path d="M2.75 9.5h18.5M6.5 15h4"/>`,
  ),
  check: icon(html`<path d="m5 12.5 4.5 4.5L19 7.5"/>`),
  clock: icon(html`<circle cx="12" cy="12" r="8.75"/><path d="M12 7v5.25l3.25 2"/>`),
  copy: icon(
    html`<rect x="8.75" y="8.75" width="11.5" height="11.5" rx="2.25"/><path d="M15.25 8.75V6A2.25 2.25 0 0 0 13 3.75H6A2.25 2.25 0 0 0 3.75 6v7A2.25 2.25 0 0 0 6 15.25h2.75"/>`,
  ),
  cross: icon(html`<path d="m6.5 6.5 11 11M17.5 6.5l-11 11"/>`),
  flask: icon(
    html`<path d="M9.5 3h5M10.5 3v6L5 18.5A1.75 1.75 0 0 0 6.5 21h11a1.75 1.75 0 0 0 1.5-2.5L13.5 9V3M7.75 15h8.5"/>`,
  ),
  lock: icon(
    html`<rect x="4.75" y="10.5" width="14.5" height="10" rx="2.5"/><path d="M8 10.5V7.75a4 4 0 0 1 8 0v2.75"/>`,
  ),
  print: icon(
    html`<path d="M7 8.5V3.75h10V8.5M7 17.5H4.5a1.25 1.25 0 0 1-1.25-1.25v-6.5A1.25 1.25 0 0 1 4.5 8.5h15a1.25 1.25 0 0 1 1.25 1.25v6.5a1.25 1.25 0 0 1-1.25 1.25H17"/><path d="M7 14h10v6.25H7Z"/>`,
  ),
  refresh: icon(html`<path d="M20 12a8 8 0 1 1-2.35-5.65L20 8.5M20 4v4.5h-4.5"/>`),
  refund: icon(html`<path d="M4 9.5h10.5a5 5 0 0 1 0 10H9"/><path d="M8 5 3.75 9.5 8 14"/>`),
  search: icon(html`<circle cx="10.75" cy="10.75" r="6.5"/><path d="m15.75 15.75 4.5 4.5"/>`),
  share: icon(html`<path d="M12 15V3.75M8 7.5l4-3.75 4 3.75M5 12.5v6.75h14V12.5"/>`),
  shield: icon(
    html`<path d="M12 3 4.75 5.75v5.5c0 4.6 3 7.9 7.25 9.75 4.25-1.85 7.25-5.15 7.25-9.75v-5.5L12 3Z"/><path d="m8.75 12 2.25 2.25 4.25-4.5"/>`,
  ),
} as const;
