import { html, type TemplateResult } from 'lit';
import { formatFull, formatTime } from '../demo/shared/format.ts';

/** The time of an instant of the server, with its date unless that is today's. */
export function timeOf(at: string, now: Date): TemplateResult {
  const instant = new Date(at);
  return html`<time datetime=${at} title=${formatFull(instant)}>${formatTime(instant, now)}</time>`;
}
