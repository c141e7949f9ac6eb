// What the page says above its figures: about the network, the service behind the server, and parts that could not be read.
import { html, nothing, type TemplateResult } from 'lit';
import { formatRelative } from '../shared/format.ts';
import type { ConnectionState, DashboardData } from './dashboard-data.ts';
import { CONNECTION_LABELS, PART_LABELS } from './labels.ts';
import type { Part } from './parts.ts';
import { isCutOff } from './service-contact.ts';

const CUT_OFF = 'Sem contato com o serviço';
const KEY_REFUSED = 'Chave recusada';
const PARTLY_OLD = 'Em parte desatualizado';

type NoticedData = Pick<DashboardData, 'phase' | 'connection' | 'missing' | 'contact' | 'now' | 'moreFailed'>;

/** The page's state in a word or two: that of its connection, and behind it that of the service. */
export function stateOf(data: NoticedData): { name: string; label: string } {
  const { connection, contact } = data;
  if (connection !== 'live') return { name: connection, label: CONNECTION_LABELS[connection] };
  if (contact.isKeyRefused) return { name: 'refused', label: KEY_REFUSED };
  const old = contact.oldAt(data.now());
  if (!old) return { name: connection, label: CONNECTION_LABELS[connection] };
  return { name: 'stale', label: isCutOff(old) ? CUT_OFF : PARTLY_OLD };
}

export function notices(data: NoticedData): (TemplateResult | typeof nothing)[] {
  if (data.phase !== 'ready') return [];
  return [networkNotice(data.connection), serviceNotice(data), missingNotice(data)];
}

function networkNotice(connection: ConnectionState): TemplateResult | typeof nothing {
  if (connection === 'live' || connection === 'connecting') return nothing;
  return html`
    <p class="network-notice">
      ${
        connection === 'offline'
          ? 'Você está sem rede. Os números são os últimos recebidos; nada se perde, o painel alcança quando ela voltar.'
          : 'Conexão perdida. Reconectando; o que mudar enquanto isso chega em seguida.'
      }
    </p>
  `;
}

function serviceNotice(data: NoticedData): TemplateResult | typeof nothing {
  const { contact } = data;
  const now = data.now();
  const old = contact.oldAt(now);
  const age = old && ageOf(old.since, now);
  // Only the first words are an alert: the age changes every few seconds.
  if (contact.isKeyRefused)
    return html`<p class="network-notice refused" data-key-refused>
      <span role="alert">O serviço de pagamentos recusou a chave desta loja.</span> Quem cuida do sistema precisa trocá-la: até lá
      nada novo chega.${age ? html` <span data-age>Os números aqui são ${age}.</span>` : nothing}
    </p>`;
  if (!old) return nothing;
  return html`<p class="network-notice" data-stale>
    ${
      isCutOff(old)
        ? html`Sem contato com o serviço de pagamentos. <span data-age>Os números aqui são ${age}.</span>`
        : html`O serviço de pagamentos não respondeu a tudo. <span data-age>São ${age}: ${namesOf(old.parts)}.</span>`
    }
    O painel tenta de novo sozinho.
  </p>`;
}

/** The age of what is shown, behind “são”, without the full stop of its unit. */
function ageOf(since: Date, now: Date): string {
  const ago = formatRelative(since, now);
  return ago === 'agora' ? 'de há instantes' : `de ${ago.replace(/\.$/, '')}`;
}

function missingNotice(data: NoticedData): TemplateResult | typeof nothing {
  const { missing, contact } = data;
  if (missing.size === 0) return nothing;
  const isRestCurrent = !contact.isKeyRefused && !contact.oldAt(data.now());
  return html`<p class="network-notice" role="status" data-missing>
    Não foi possível ler agora: ${namesOf([...missing])}. ${isRestCurrent ? 'O resto está em dia, e o painel' : 'O painel'} tenta de novo
    sozinho.
  </p>`;
}

/** The names of the parts that have one. */
function namesOf(parts: readonly string[]): string {
  return parts.flatMap((part) => PART_LABELS[part as Part] ?? []).join(', ');
}
