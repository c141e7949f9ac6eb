import { html, type TemplateResult } from 'lit';
import type { BoardTexts } from '../board/board-texts.ts';

/** Renders date and time in full: the device's clock may be wrong, so nothing is “2 minutes ago”. */
export function timeCell<T>(
  instant: string | null,
  { formats: { day, hour } }: BoardTexts<T>,
): TemplateResult {
  if (!instant) return html`<span>—</span>`;
  const at = new Date(instant);
  return html`<time datetime=${instant}><span .textContent=${day(at)}></span> <small><bdi .textContent=${hour(at)}></bdi></small></time>`;
}
