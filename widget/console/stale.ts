import { html, type TemplateResult } from 'lit';
import { formatTime } from '../demo/shared/format.ts';

/** Renders the age of figures that the service behind the server has not renewed; nothing if they are current. */
export const staleNotice = (staleSince: Date | null | undefined, now: Date): TemplateResult | '' =>
  staleSince
    ? html`<p class="hint" role="status">Dados de ${formatTime(staleSince, now)}: o serviço não responde agora.</p>`
    : '';
