import { html, type TemplateResult } from 'lit';
import { formatTime } from '../demo/shared/format.ts';

/** Says from when figures are that the service behind the server did not renew; nothing for those of now. */
export const staleNotice = (staleSince: Date | null | undefined, now: Date): TemplateResult | '' =>
  staleSince
    ? html`<p class="hint" role="status">Dados de ${formatTime(staleSince, now)}: o serviço não responde agora.</p>`
    : '';
