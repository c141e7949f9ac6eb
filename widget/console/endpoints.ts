import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { isLost, type PostResult, postJson } from '../demo/shared/post-json.ts';
import { type Api, ask } from './api.ts';
import { ENDPOINTS, type Endpoint, type Endpoints, type EventType } from './developer-operations.ts';
import { askToConfirm } from './key-dialog.ts';
import { PagedList } from './paged-list.ts';
import './secret.ts';
import { timeOf } from './time.ts';
import { messageOf, postWithKey } from './write.ts';

const STATUSES: Record<Endpoint['status'], string> = {
  ENABLED: 'Ligado',
  DISABLED: 'Desligado',
  DISABLED_BY_FAILURES: 'Desligado por falhas: uma entrega é tentada por dia',
};
const EVERY = '*';
const WRONG_URL = 'A URL não foi aceita: ela é pública, https, e de nenhum outro endpoint.';
const REFUSALS = { LIMIT_REACHED: 'A conta já tem dez endpoints neste ambiente.' };
const LOST =
  'Sem resposta. A lista mostra se a mudança foi feita; um segredo que se perdeu é trocado por outro.';

/** An answer to a change: the secret that it has made, or null. */
interface Changed {
  secret: string | null;
}

/** An answer to a test event. */
interface Sent {
  payload: string;
  responseStatus: number | null;
  durationMs: number;
  error: string | null;
  responseBody: string | null;
}

/** The webhook endpoints, with their events: added, changed, tested and deleted. */
export class ConsoleEndpoints extends LitElement {
  static override properties = {
    api: { attribute: false },
    message: { state: true },
    done: { state: true },
    secret: { state: true },
    sent: { state: true },
    busy: { state: true },
  };

  declare api: Api;
  declare message: string;
  declare done: string;
  /** The secret that was just made. */
  declare secret: string | null;
  /** The answer to the last test, and the endpoint that was tried. */
  declare sent: (Sent & { endpointId: string }) | null;
  declare busy: boolean;
  #types: readonly EventType[] = [];
  readonly #list: PagedList<Endpoint>;

  constructor() {
    super();
    this.message = '';
    this.done = '';
    this.secret = null;
    this.sent = null;
    this.busy = false;
    this.#list = new PagedList(
      this,
      ({ endpointId }) => endpointId,
      async () => {
        const { data, staleSince } = await ask<Endpoints>(this.api, ENDPOINTS, {});
        if (!data.webhookEndpoints || !data.webhookEvents) throw new Error('The endpoints could not be read');
        this.#types = data.webhookEvents;
        return { items: data.webhookEndpoints, total: null, next: null, staleSince };
      },
    );
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Makes a change, and says how it went. `title` asks for the key. */
  async #change(
    title: string,
    done: string,
    post: (confirmed: { key?: string }) => Promise<PostResult<Changed>>,
  ): Promise<boolean> {
    if (this.busy) return false;
    this.#begin();
    this.busy = true;
    const result = await postWithKey(this.api, title, post);
    this.busy = false;
    if (!result) this.message = 'Nada foi mudado.';
    else if (result.ok) {
      this.done = done;
      this.secret = result.body.secret;
    } else if (isLost(result.refusal)) this.message = LOST;
    else {
      const isUrl = result.refusal.fields.some(({ path }) => path === 'url');
      this.message = isUrl ? WRONG_URL : messageOf(result.refusal, REFUSALS);
    }
    void this.#list.reload();
    return result?.ok ?? false;
  }

  #begin(): void {
    this.message = '';
    this.done = '';
    this.secret = null;
    this.sent = null;
  }

  readonly #create = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const data = new FormData(form);
    const url = String(data.get('url') ?? '').trim();
    const isOfAccount = data.has('ofAccount');
    if (!url) {
      this.#begin();
      this.message = 'Escreva a URL.';
      return;
    }
    const isMade = await this.#change('Criar um endpoint de webhook', 'Endpoint criado.', (confirmed) =>
      isOfAccount
        ? postJson('./endpoints/change', { endpointId: null, url, ...confirmed })
        : postJson('./endpoints', { url, ...confirmed }),
    );
    if (isMade) form.reset();
  };

  #update(endpoint: Endpoint, title: string, changes: object): Promise<boolean> {
    const endpointId = endpoint.ofAccount ? null : endpoint.endpointId;
    return this.#change(title, 'Endpoint mudado.', (confirmed) =>
      postJson('./endpoints/change', { endpointId, ...changes, ...confirmed }),
    );
  }

  async #chooseEvents(event: SubmitEvent, endpoint: Endpoint): Promise<void> {
    event.preventDefault();
    const data = new FormData(event.target as HTMLFormElement);
    const events = data.has(EVERY) ? [EVERY] : data.getAll('event').map(String);
    if (events.length === 0 && !endpoint.ofAccount) {
      this.#begin();
      this.message = 'Escolha ao menos um evento, ou desligue o endpoint.';
      return;
    }
    await this.#update(endpoint, 'Mudar os eventos do endpoint', { events });
  }

  async #delete({ endpointId, url }: Endpoint): Promise<void> {
    this.#begin();
    const what = `Excluir o endpoint ${url}. O que ainda não foi entregue a ele é cancelado.`;
    if (!(await askToConfirm(what, this.api.leaving))) return;
    const result = await postJson('./endpoints/delete', { endpointId });
    if (result.ok) this.done = 'Endpoint excluído.';
    else this.message = isLost(result.refusal) ? LOST : messageOf(result.refusal);
    void this.#list.reload();
  }

  async #test(event: SubmitEvent, { endpointId }: Endpoint): Promise<void> {
    event.preventDefault();
    if (this.busy) return;
    const name = String(new FormData(event.target as HTMLFormElement).get('test') ?? '');
    this.#begin();
    this.busy = true;
    const result = await postJson<Sent>('./webhooks/test', { endpointId, event: name });
    this.busy = false;
    if (result.ok) this.sent = { ...result.body, endpointId };
    else
      this.message = messageOf(result.refusal, {
        RATE_LIMITED: 'São no máximo dez testes por minuto. Espere um pouco.',
      });
  }

  protected override render(): TemplateResult {
    return html`
      <h2>Endpoints de webhook</h2>
      <p class="form-error" role="alert">${this.message}</p>
      <p class="done" role="status">${this.done}</p>
      <console-secret
        .label=${'O segredo que assina o que este endpoint recebe.'}
        .secret=${this.secret}
        @console-hidden=${() => {
          this.secret = null;
        }}
      ></console-secret>
      ${this.#list.render({ empty: 'Ainda não há endpoints.', absent: '' }, this.#renderEndpoint)}
      ${this.api.mayWrite ? this.#renderForm() : nothing}
    `;
  }

  #renderForm(): TemplateResult {
    const hasAccountUrl = this.#list.items.some(({ ofAccount }) => ofAccount);
    return html`
      <details class="task">
        <summary><span>Criar um endpoint</span></summary>
        <form class="request" novalidate @submit=${this.#create}>
          <div class="field">
            <label for="endpoint-url">URL</label>
            <input id="endpoint-url" name="url" type="url" autocomplete="off" spellcheck="false" maxlength="500" placeholder="https://" />
          </div>
          ${
            hasAccountUrl || !this.api.documents.rest
              ? nothing
              : html`<div class="choices">
                  <label
                    ><input type="checkbox" name="ofAccount" />
                    <span>É a URL da conta: o <code>callbackUrl</code> de um pagamento fica no lugar dela</span></label
                  >
                </div>`
          }
          <button class="primary" aria-disabled=${this.busy ? 'true' : 'false'}>Criar endpoint</button>
        </form>
      </details>
    `;
  }

  readonly #renderEndpoint = (endpoint: Endpoint): TemplateResult => {
    const { url, ofAccount, status, enabled, events, failingSince } = endpoint;
    return html`<details class="task endpoint">
      <summary>
        <span class="what">
          <bdi>${url}</bdi>
          <small>
            ${ofAccount ? 'URL da conta · ' : nothing}${STATUSES[status] ?? status}
            ${failingSince === null ? nothing : html` · falha desde ${timeOf(failingSince, this.api.now())}`}
            · ${events[0] === EVERY ? 'todos os eventos' : events.length === 1 ? '1 evento' : `${events.length} eventos`}
          </small>
        </span>
      </summary>
      ${
        this.api.mayWrite
          ? html`${this.#renderTest(endpoint)} ${this.#renderEvents(endpoint)}
              <p class="buttons">
                <button
                  type="button"
                  class="secondary"
                  @click=${() => this.#update(endpoint, enabled ? 'Desligar o endpoint' : 'Ligar o endpoint', { enabled: !enabled })}
                >
                  ${enabled ? 'Desligar' : 'Ligar'}
                </button>
                <button
                  type="button"
                  class="secondary"
                  @click=${() => this.#update(endpoint, 'Trocar o segredo do endpoint', { rotateSecret: true })}
                >
                  Trocar o segredo
                </button>
                ${ofAccount ? nothing : html`<button type="button" class="secondary" @click=${() => this.#delete(endpoint)}>Excluir</button>`}
              </p>
              ${endpoint.previousSecretValidUntil === null ? nothing : html`<p class="hint">O segredo anterior também assina até ${timeOf(endpoint.previousSecretValidUntil, this.api.now())}.</p>`}`
          : html`<p class="hint">${events[0] === EVERY ? 'Todos os eventos' : events.join(', ')}</p>`
      }
    </details>`;
  };

  #renderTest(endpoint: Endpoint): TemplateResult {
    const { sent } = this;
    const name = `test-${endpoint.endpointId}`;
    return html`<form class="request" @submit=${(event: SubmitEvent) => this.#test(event, endpoint)}>
        <div class="field">
          <label for=${name}>Evento de teste</label>
          <select id=${name} name="test">
            ${this.#types.map((type) => html`<option value=${type.name}>${type.name}</option>`)}
          </select>
        </div>
        <button class="secondary" aria-disabled=${this.busy ? 'true' : 'false'}>Enviar teste</button>
      </form>
      ${
        sent?.endpointId === endpoint.endpointId
          ? html`<div role="status">
              <p>${sent.responseStatus === null ? 'Sem resposta' : `Resposta ${sent.responseStatus}`} em ${sent.durationMs} ms.</p>
              ${sent.error === null ? nothing : html`<p class="error"><bdi lang="en">${sent.error}</bdi></p>`}
              ${body('Corpo enviado', sent.payload)} ${body('Resposta', sent.responseBody)}
            </div>`
          : nothing
      }`;
  }

  #renderEvents(endpoint: Endpoint): TemplateResult {
    const { ofAccount, events } = endpoint;
    const types = ofAccount ? this.#types.filter(({ optional }) => optional) : this.#types;
    return html`<details class="task">
      <summary><span>Eventos</span></summary>
      <form class="request" @submit=${(event: SubmitEvent) => this.#chooseEvents(event, endpoint)}>
        ${ofAccount ? html`<p class="hint">A URL da conta recebe sempre os eventos documentados, e os que forem marcados.</p>` : nothing}
        <div class="choices" role="group" aria-label="Eventos">
          ${
            ofAccount
              ? nothing
              : html`<label
                  ><input type="checkbox" name=${EVERY} .checked=${events[0] === EVERY} />
                  <span>Todos, também os de versões futuras</span></label
                >`
          }
          ${types.map(
            ({ name }) => html`<label
              ><input type="checkbox" name="event" value=${name} .checked=${events.includes(name)} />
              <span><code>${name}</code></span></label
            >`,
          )}
        </div>
        <button class="secondary">Guardar eventos</button>
      </form>
    </details>`;
  }
}

/** A body of a request or an answer, which may be long. */
export function body(label: string, text: string | null): TemplateResult | typeof nothing {
  return text === null
    ? nothing
    : html`<p class="hint">${label}</p>
        <pre tabindex="0" aria-label=${label}>${text}</pre>`;
}

customElements.define('console-endpoints', ConsoleEndpoints);
