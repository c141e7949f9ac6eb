import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { postOnce } from '../demo/shared/kept-request.ts';
import { isLost, postJson } from '../demo/shared/post-json.ts';
import { createSharedFilter } from './address.ts';
import { type Api, ask } from './api.ts';
import { DELIVERY_STATES } from './delivery-states.ts';
import {
  DELIVERIES,
  DELIVERY,
  type Deliveries,
  type Delivery,
  type DeliveryFilter,
  type Exchange,
  type OneDelivery,
} from './developer-operations.ts';
import { body } from './endpoints.ts';
import { askToConfirm } from './key-dialog.ts';
import { PagedList, pageOf } from './paged-list.ts';
import { Polling } from './polling.ts';
import { timeOf } from './time.ts';
import { messageOf } from './write.ts';

const filter = createSharedFilter(['status', 'reference']);
const isStatus = (text: string | undefined): text is Delivery['status'] =>
  text !== undefined && Object.hasOwn(DELIVERY_STATES, text);
/** The pause between two readings of the deliveries that are open. */
const EVERY_MS = 15_000;

/** The answer to a request to send deliveries again. */
interface Resent {
  total: number;
  /** Whether an earlier request, whose answer was lost, had been received. */
  replayed: boolean;
}

/** The deliveries of webhooks by the filter of the address, with what was sent and answered, which can be sent again. */
export class ConsoleDeliveries extends LitElement {
  static override properties = {
    api: { attribute: false },
    status: { attribute: false },
    reference: { attribute: false },
    message: { state: true },
    done: { state: true },
    shown: { state: true },
  };

  declare api: Api;
  declare status: string | undefined;
  declare reference: string | undefined;
  declare message: string;
  declare done: string;
  /** The exchanges of the deliveries that are open; undefined before they were read, and null for one that could not be. */
  declare shown: ReadonlyMap<string, Exchange | null | undefined>;
  readonly #list: PagedList<Delivery>;
  readonly #exchanges = new Polling(this, () => this.#readOpen(), EVERY_MS);

  constructor() {
    super();
    this.message = '';
    this.done = '';
    this.shown = new Map();
    filter.attach(this);
    this.#list = new PagedList(
      this,
      ({ webhookId }) => webhookId,
      async (after) => {
        const variables = { after, filter: this.#filter() };
        return pageOf(await ask<Deliveries>(this.api, DELIVERIES, variables), 'webhookDeliveries');
      },
    );
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  #filter(): DeliveryFilter {
    const { status, reference } = this;
    return { ...(isStatus(status) && { status: [status] }), ...(reference && { reference }) };
  }

  readonly #apply = (event: Event): void => {
    event.preventDefault();
    const data = new FormData((event.currentTarget as HTMLFormElement) ?? undefined);
    this.status = String(data.get('status') ?? '') || undefined;
    this.reference = String(data.get('reference') ?? '').trim() || undefined;
    this.message = '';
    this.done = '';
    this.shown = new Map();
    void filter.share(this);
    this.#list.restart();
  };

  #toggle(event: Event, { webhookId }: Delivery): void {
    const shown = new Map(this.shown);
    if (!(event.currentTarget as HTMLDetailsElement).open) shown.delete(webhookId);
    else if (!shown.has(webhookId)) shown.set(webhookId, undefined);
    this.shown = shown;
    void this.#exchanges.now();
  }

  /** Reads the exchanges of the deliveries that are open; where that fails, what was read stays. */
  async #readOpen(): Promise<void> {
    const read = async (id: string) => {
      const answer = await ask<OneDelivery>(this.api, DELIVERY, { id }).catch(() => null);
      return [id, answer?.data.webhookDelivery ?? null] as const;
    };
    const found = await Promise.all([...this.shown.keys()].map(read));
    const shown = new Map(this.shown);
    for (const [id, exchange] of found) if (shown.has(id)) shown.set(id, exchange ?? shown.get(id) ?? null);
    if (found.length > 0) this.shown = shown;
  }

  async #resend({ webhookId }: Delivery): Promise<void> {
    this.message = '';
    this.done = '';
    const result = await postJson('./webhooks/redeliver', { webhookId });
    if (result.ok) this.done = 'A entrega é enviada de novo agora.';
    else this.message = messageOf(result.refusal, { NOT_FOUND: 'O endpoint desta entrega foi excluído.' });
    void this.#exchanges.now();
    void this.#list.reload();
  }

  readonly #resendAll = async (): Promise<void> => {
    const { total } = this.#list;
    this.message = '';
    this.done = '';
    const what =
      total === 1
        ? 'Reenviar a entrega deste filtro.'
        : `Reenviar as ${total} entregas deste filtro, da mais antiga à mais nova.`;
    if (!(await askToConfirm(what, this.api.leaving))) return;
    const { status, reference } = this.#filter();
    const statuses = status?.map((each) => each.toLowerCase());
    const input = { ...(statuses && { status: statuses }), ...(reference && { reference }) };
    const result = await postOnce<Resent>('./webhooks/redeliver-all', input);
    if (result.ok) this.done = resentWords(result.body);
    else if (isLost(result.refusal))
      this.message = 'Sem resposta. Repita: nada é reenviado duas vezes por isso.';
    else {
      const isTooMany = result.refusal.fields.some(({ path }) => path === 'most');
      this.message = isTooMany
        ? 'São mais de 1.000 entregas: use um filtro mais estreito.'
        : messageOf(result.refusal);
    }
    void this.#list.reload();
  };

  protected override render(): TemplateResult {
    const { total, items } = this.#list;
    const isFiltered = Object.keys(this.#filter()).length > 0;
    return html`
      <h2>Entregas de webhook ${total === null ? nothing : html`<small>${total === 1 ? '1 entrega' : `${total} entregas`}</small>`}</h2>
      <form class="filter" novalidate @submit=${this.#apply} @change=${this.#apply}>
        <div class="field">
          <label for="delivery-status">Situação</label>
          <select id="delivery-status" name="status">
            <option value="" .selected=${!isStatus(this.status)}>Todas</option>
            ${Object.entries(DELIVERY_STATES).map(
              ([value, [label]]) =>
                html`<option value=${value} .selected=${value === this.status}>${label}</option>`,
            )}
          </select>
        </div>
        <div class="field">
          <label for="delivery-reference">Webhook, pagamento ou saque</label>
          <input id="delivery-reference" name="reference" autocomplete="off" spellcheck="false" maxlength="100" .value=${this.reference ?? ''} />
        </div>
        ${
          this.api.mayWrite && isFiltered && items.length > 0
            ? html`<p class="buttons"><button type="button" class="secondary" @click=${this.#resendAll}>Reenviar todas</button></p>`
            : nothing
        }
      </form>
      <p class="form-error" role="alert">${this.message}</p>
      <p class="done" role="status">${this.done}</p>
      ${this.#list.render(
        { empty: isFiltered ? 'Nenhuma entrega com este filtro.' : 'Ainda não há entregas.', absent: '' },
        this.#renderDelivery,
      )}
    `;
  }

  readonly #renderDelivery = (delivery: Delivery): TemplateResult => {
    const { webhookId, event, status, url, createdAt, nextAttemptAt } = delivery;
    return html`<details class="task" @toggle=${(toggled: Event) => this.#toggle(toggled, delivery)}>
      <summary>
        <span class="what">
          <span><code>${event}</code> · ${DELIVERY_STATES[status]?.[0] ?? status}</span>
          <small>${timeOf(createdAt, this.api.now())} · <bdi>${url}</bdi></small>
        </span>
      </summary>
      <p class="hint"><code>${webhookId}</code>${nextAttemptAt === null ? nothing : html` · próxima tentativa ${timeOf(nextAttemptAt, this.api.now())}`}</p>
      ${this.api.mayWrite ? html`<p class="buttons"><button type="button" class="secondary" @click=${() => this.#resend(delivery)}>Reenviar</button></p>` : nothing}
      ${this.#renderExchange(this.shown.get(webhookId))}
    </details>`;
  };

  #renderExchange(exchange: Exchange | null | undefined): TemplateResult | typeof nothing {
    if (exchange === undefined) return nothing;
    if (exchange === null) return html`<p class="error">O conteúdo não pôde ser lido.</p>`;
    return html`
      ${body('Corpo enviado', exchange.payload)}
      ${exchange.attempts.map(
        ({ number, at, responseStatus, error, durationMs, responseBody, responseBodyTruncated }) => html`
          <p>
            ${number}ª tentativa, ${timeOf(at, this.api.now())}: ${responseStatus === null ? 'sem resposta' : `resposta ${responseStatus}`} em ${durationMs} ms
          </p>
          ${error === null ? nothing : html`<p class="error"><bdi lang="en">${error}</bdi></p>`}
          ${body(responseBodyTruncated ? 'Resposta, só o começo' : 'Resposta', responseBody)}
        `,
      )}
    `;
  }
}

function resentWords({ total, replayed }: Resent): string {
  if (replayed)
    return 'O pedido anterior já tinha chegado. Para reenviar também as entregas de depois dele, peça de novo.';
  return total === 1 ? 'Uma entrega é reenviada.' : `${total} entregas são reenviadas, dez por segundo.`;
}

customElements.define('console-deliveries', ConsoleDeliveries);
