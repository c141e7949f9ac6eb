import { html, type TemplateResult } from 'lit';
import { formatTime } from '../demo/shared/format.ts';

/** Renders the age of data that the service behind the server has not renewed; nothing if it is current. */
export const staleNotice = (staleSince: Date | null | undefined, now: Date): TemplateResult | '' =>
  staleSince
    ? html`<p class="stale" role="status">Dados de ${formatTime(staleSince, now)}: o serviço não os renovou desde então.</p>`
    : '';
