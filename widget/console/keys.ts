import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';
import { formatTime } from '../demo/shared/format.ts';
import { isLost, postJson } from '../demo/shared/post-json.ts';
import type { Api } from './api.ts';
import { PagedList } from './paged-list.ts';
import './secret.ts';
import { timeOf } from './time.ts';
import { messageOf, postWithKey } from './write.ts';

interface Key {
  keyId: string;
  name: string | null;
  /** Empty: without a restriction. */
  permissions: readonly string[];
  hint: string | null;
  createdAt: string;
}

/** The server's answer: the keys of this environment, null if they are not managed here. */
interface Keys {
  keys: readonly Key[] | null;
  mostKeys: number;
  permissions: readonly string[];
  ownKeyId: string | null;
  /** The account's in this minute, and since midnight in Brasília. */
  requests: { limit: number; remaining: number; resetAt: string; today: number };
}

const PERMISSIONS: Readonly<Record<string, string>> = {
  'subcontas.gerenciar': 'Gerenciar subcontas: abrir, transferir, sacar e ler',
  'subcontas.sacar': 'Sacar de subcontas',
  'statement.read': 'Ler a carteira e o extrato',
  'webhooks.payloads': 'Ler os webhooks, com seus conteúdos',
};

const LOST =
  'Sem resposta. Se uma chave nova aparecer na lista sem que você tenha o texto dela, revogue-a e crie outra.';
const REFUSALS = {
  LIMIT_REACHED: 'A conta já tem o máximo de chaves ativas. Revogue uma antes de criar outra.',
};

/** The API keys of the environment: made, limited and revoked; and the requests of this minute and this day. */
export class ConsoleKeys extends LitElement {
  static override properties = {
    api: { attribute: false },
    answer: { state: true },
    isLimited: { state: true },
    message: { state: true },
    done: { state: true },
    secret: { state: true },
    busy: { state: true },
  };

  declare api: Api;
  declare answer: Keys | null;
  /** Whether the new key is to have permissions alone. */
  declare isLimited: boolean;
  declare message: string;
  declare done: string;
  /** The text of the key that was just made. */
  declare secret: string | null;
  declare busy: boolean;
  readonly #list: PagedList<Key>;

  constructor() {
    super();
    this.answer = null;
    this.isLimited = true;
    this.message = '';
    this.done = '';
    this.secret = null;
    this.busy = false;
    this.#list = new PagedList(
      this,
      ({ keyId }) => keyId,
      async () => {
        const result = await postJson<Keys>('./keys');
        if (!result.ok) throw new Error('The keys could not be read');
        this.answer = result.body;
        if (!result.body.keys) return null;
        // The newest first.
        const items = result.body.keys.toReversed();
        return { items, total: null, next: null, staleSince: null };
      },
      // The list does not poll: each read counts towards the requests a minute of the account.
      false,
    );
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  readonly #create = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (this.busy) return;
    const form = event.target as HTMLFormElement;
    const data = new FormData(form);
    const permissions = this.isLimited ? data.getAll('permission').map(String) : [];
    const name = String(data.get('name') ?? '').trim() || null;
    this.#begin();
    if (this.isLimited && permissions.length === 0) {
      this.message = 'Marque ao menos uma permissão.';
      return;
    }
    this.busy = true;
    const what = this.isLimited ? 'Criar uma chave restrita' : 'Criar uma chave que pode tudo';
    const result = await postWithKey<{ secret: string }>(this.api, what, (confirmed) =>
      postJson('./keys/new', { permissions, name, ...confirmed }),
    );
    this.busy = false;
    if (!result) this.message = 'Nenhuma chave foi criada.';
    else if (result.ok) {
      this.secret = result.body.secret;
      this.done = 'Chave criada.';
      form.reset();
      this.isLimited = true;
    } else this.message = isLost(result.refusal) ? LOST : messageOf(result.refusal, REFUSALS);
    void this.#list.reload();
  };

  async #revoke({ keyId, name, hint }: Key): Promise<void> {
    if (this.busy) return;
    this.#begin();
    this.busy = true;
    const own = keyId === this.answer?.ownKeyId ? ' É a chave desta sessão: o console fecha.' : '';
    const result = await postWithKey(
      this.api,
      `Revogar a chave ${name ?? ''} …${hint ?? ''}. Quem a usa é recusado na hora.${own}`,
      (confirmed) => postJson('./keys/revoke', { keyId, ...confirmed }),
      true,
    );
    this.busy = false;
    if (result?.ok) this.done = 'Chave revogada.';
    else if (result)
      this.message = messageOf(result.refusal, { NOT_FOUND: 'Esta chave já tinha sido revogada.' });
    void this.#list.reload();
  }

  #begin(): void {
    this.message = '';
    this.done = '';
    this.secret = null;
  }

  protected override render(): TemplateResult {
    const { answer } = this;
    return html`
      <h2>Chaves de API</h2>
      ${answer ? this.#renderRequests(answer.requests) : nothing}
      ${answer?.keys ? html`<p class="hint">${answer.keys.length === 1 ? 'Uma ativa' : `${answer.keys.length} ativas`} neste ambiente; a conta tem no máximo ${answer.mostKeys}, com as do outro.</p>` : nothing}
      <p class="form-error" role="alert">${this.message}</p>
      <p class="done" role="status">${this.done}</p>
      <console-secret
        .label=${'A chave nova.'}
        .secret=${this.secret}
        @console-hidden=${() => {
          this.secret = null;
        }}
      ></console-secret>
      ${this.#list.render(
        {
          empty: 'Não há chaves.',
          absent: 'As chaves deste servidor vêm da configuração dele: quem o opera as troca.',
        },
        this.#renderKey,
      )}
      ${answer?.keys ? this.#renderForm(answer.permissions) : nothing}
    `;
  }

  #renderRequests({ limit, remaining, resetAt, today }: Keys['requests']): TemplateResult {
    return html`<p class="hint">
      Neste minuto a conta usou ${limit - remaining} de ${limit} requisições, pela API REST e por este console. O limite volta
      inteiro às ${formatTime(new Date(resetAt), this.api.now())}. Hoje ${today === 1 ? 'foi 1' : `foram ${today.toLocaleString('pt-BR')}`}, com as recusadas.
      <button type="button" class="secondary" @click=${this.#list.reload}>Contar de novo</button>
    </p>`;
  }

  #renderForm(permissions: readonly string[]): TemplateResult {
    const choose = ({ target }: Event) => {
      this.isLimited = (target as HTMLSelectElement).value === 'limited';
    };
    const setChoice = (element: Element | undefined) => {
      if (element) (element as HTMLSelectElement).value = this.isLimited ? 'limited' : 'all';
    };
    return html`
      <details class="task">
        <summary><span>Criar uma chave</span></summary>
        <form class="request" novalidate @submit=${this.#create}>
          <div class="field">
            <label for="key-name">Nome, para reconhecê-la</label>
            <input id="key-name" name="name" autocomplete="off" maxlength="100" />
          </div>
          <div class="field">
            <label for="key-access">Acesso</label>
            <select id="key-access" @change=${choose} ${ref(setChoice)}>
              <option value="limited">Só as permissões marcadas</option>
              <option value="all">Tudo, sem restrição</option>
            </select>
          </div>
          ${
            this.isLimited
              ? html`<div class="choices" role="group" aria-label="Permissões">
                  ${permissions.map(
                    (permission) => html`<label
                      ><input type="checkbox" name="permission" value=${permission} />
                      <span>${PERMISSIONS[permission] ?? permission} <code>${permission}</code></span></label
                    >`,
                  )}
                </div>`
              : html`<p class="hint">Move dinheiro e cria outras chaves. Guarde-a só em servidores.</p>`
          }
          <button class="primary" aria-disabled=${this.busy ? 'true' : 'false'}>Criar chave</button>
        </form>
      </details>
    `;
  }

  readonly #renderKey = (key: Key): TemplateResult => {
    const { keyId, name, permissions, hint, createdAt } = key;
    return html`
      <span class="what">
        <strong><bdi>${name ?? 'Sem nome'}</bdi></strong>
        <small>
          <code>…${hint ?? ''}</code> ·
          ${permissions.length === 0 ? 'Sem restrição' : permissions.join(', ')} ·
          criada ${timeOf(createdAt, this.api.now())}
          ${keyId === this.answer?.ownKeyId ? ' · chave desta sessão' : nothing}
        </small>
      </span>
      <button type="button" class="secondary" @click=${() => this.#revoke(key)}>
        Revogar<span class="sr-only"> a chave …${hint ?? keyId}</span>
      </button>
    `;
  };
}

customElements.define('console-keys', ConsoleKeys);
