import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatTime } from '../demo/shared/format.ts';
import { postJson } from '../demo/shared/post-json.ts';
import { type Api, query } from './api.ts';
import { DELIVERY_STATES } from './delivery-states.ts';
import { WEBHOOKS, type Webhooks } from './operations.ts';
import { addressOf } from './place.ts';
import { Reading } from './reading.ts';
import { messageOf } from './write.ts';

const EVERY_MS = 15_000;

type Delivery = Webhooks['webhookDeliveries']['nodes'][number];

/** The webhooks that report a resource, each with its last attempt. */
export class ConsoleWebhooks extends LitElement {
  static override properties = {
    api: { attribute: false },
    reference: { attribute: false },
    message: { state: true },
  };

  declare api: Api;
  declare reference: string;
  /** The answer to the last request to send one again. */
  declare message: string;
  readonly #webhooks = new Reading(this, EVERY_MS, () =>
    query<Webhooks>(this.api, WEBHOOKS, { reference: this.reference }),
  );

  constructor() {
    super();
    this.message = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  async #resend(webhookId: string): Promise<void> {
    const result = await postJson(addressOf('./webhooks/redeliver'), { webhookId });
    this.message = result.ok
      ? 'O webhook é enviado de novo agora.'
      : messageOf(result.refusal, { NOT_FOUND: 'O endpoint deste webhook foi excluído.' });
    this.#webhooks.again();
  }

  protected override render(): TemplateResult {
    const { data, failed } = this.#webhooks;
    const page = data?.webhookDeliveries;
    return html`
      <h2>Webhooks</h2>
      <p class="hint" role="status">${this.message}</p>
      ${failed || data?.webhookDeliveries === null ? html`<p class="error" role="status">Não foi possível ler os webhooks agora.</p>` : nothing}
      ${
        page
          ? page.nodes.length > 0
            ? html`<ul class="deliveries">${page.nodes.map((delivery) => this.#renderDelivery(delivery))}</ul>`
            : html`<p class="empty">Nenhum webhook foi enviado sobre isto.</p>`
          : failed || data
            ? nothing
            : html`<p class="empty">Lendo…</p>`
      }
    `;
  }

  #renderDelivery({
    webhookId,
    event,
    status,
    createdAt,
    nextAttemptAt,
    url,
    attempts,
  }: Delivery): TemplateResult {
    const now = this.api.now();
    const [words, tone] = DELIVERY_STATES[status] ?? ['Desconhecido', 'waiting'];
    const last = attempts.at(-1);
    const answer =
      last && (last.responseStatus === null ? (last.error ?? 'sem resposta') : `HTTP ${last.responseStatus}`);
    const count = attempts.length === 1 ? '1 tentativa' : `${last?.number ?? 0} tentativas`;
    return html`<li data-webhook=${webhookId}>
      <p><strong>${event}</strong> <span class="tone ${tone}">${words}</span></p>
      <p class="hint">
        <time datetime=${createdAt}>${formatTime(new Date(createdAt), now)}</time> · ${url}
      </p>
      ${last ? html`<p>${count}; a última em ${last.durationMs} ms: ${answer}</p>` : nothing}
      ${last?.responseBody ? html`<pre role="group" tabindex="0" aria-label="Resposta">${last.responseBody}${last.responseBodyTruncated ? '…' : ''}</pre>` : nothing}
      ${nextAttemptAt ? html`<p class="hint">Próxima tentativa: ${formatTime(new Date(nextAttemptAt), now)}</p>` : nothing}
      ${this.api.mayWrite ? html`<button type="button" class="secondary" @click=${() => this.#resend(webhookId)}>Reenviar</button>` : nothing}
    </li>`;
  }
}

customElements.define('console-webhooks', ConsoleWebhooks);

/** Shows the webhooks that report a resource, to a key that may read webhooks. */
export const webhooksOf = (
  api: Api,
  scopes: readonly string[],
  reference: string,
): TemplateResult | typeof nothing =>
  scopes.includes('webhooks')
    ? html`<console-webhooks class="card" .api=${api} .reference=${reference}></console-webhooks>`
    : nothing;
