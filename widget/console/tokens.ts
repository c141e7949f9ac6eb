import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { postJson } from '../demo/shared/post-json.ts';
import type { Api } from './api.ts';
import { askToConfirm } from './key-dialog.ts';
import { type ListPage, PagedList } from './paged-list.ts';
import { timeOf } from './time.ts';
import { messageOf } from './write.ts';

interface Token {
  tokenId: string;
  kind: 'checkout' | 'dashboard';
  status: 'active' | 'expired' | 'revoked';
  createdAt: string;
  expiresAt: string | null;
  allowedOrigins: readonly string[];
  /** Whether a session of the console reads with it. */
  ofConsole: boolean;
  /** Null for a checkout token. */
  scopes: readonly string[] | null;
}

const STATUSES: Record<Token['status'], string> = {
  active: 'Em vigor',
  expired: 'Expirado',
  revoked: 'Encerrado',
};

/** The checkout and dashboard tokens, which can be ended. Their texts are stored nowhere. */
export class ConsoleTokens extends LitElement {
  static override properties = {
    api: { attribute: false },
    ended: { state: true },
    message: { state: true },
    done: { state: true },
  };

  declare api: Api;
  /** Whether those that have ended are listed, too. */
  declare ended: boolean;
  declare message: string;
  declare done: string;
  readonly #list: PagedList<Token>;

  constructor() {
    super();
    this.ended = false;
    this.message = '';
    this.done = '';
    this.#list = new PagedList(
      this,
      ({ tokenId }) => tokenId,
      (after) => this.#read(after),
      // The list does not poll: each read counts towards the requests a minute of the account.
      false,
    );
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  async #read(after: string | null): Promise<ListPage<Token>> {
    const input = { ...(after !== null && { after }), ended: this.ended };
    const result = await postJson<{ tokens: Token[]; next: string | null }>('./tokens', input);
    if (!result.ok) throw new Error('The tokens could not be read');
    return { items: result.body.tokens, total: null, next: result.body.next, staleSince: null };
  }

  readonly #choose = ({ target }: Event): void => {
    this.ended = (target as HTMLInputElement).checked;
    this.#list.restart();
  };

  async #revoke({ tokenId, kind }: Token): Promise<void> {
    this.message = '';
    this.done = '';
    const what =
      kind === 'checkout'
        ? 'Encerrar o token de checkout. As páginas que o usam deixam de vender.'
        : 'Encerrar o token de painel. As páginas que o usam deixam de ler.';
    if (!(await askToConfirm(what, this.api.leaving))) return;
    const result = await postJson('./tokens/revoke', { tokenId });
    if (result.ok) this.done = 'Token encerrado.';
    else this.message = messageOf(result.refusal);
    void this.#list.reload();
  }

  protected override render(): TemplateResult {
    return html`
      <h2>Tokens</h2>
      <p class="hint">
        <label><input type="checkbox" .checked=${this.ended} @change=${this.#choose} /> Mostrar também os que acabaram</label>
      </p>
      <p class="form-error" role="alert">${this.message}</p>
      <p class="done" role="status">${this.done}</p>
      ${this.#list.render({ empty: 'Nenhum token.', absent: '' }, this.#renderToken)}
    `;
  }

  readonly #renderToken = (token: Token): TemplateResult => {
    const { tokenId, kind, status, createdAt, expiresAt, allowedOrigins, ofConsole, scopes } = token;
    return html`
      <span class="what">
        <strong>${kind === 'checkout' ? 'Checkout' : ofConsole ? 'Painel deste console' : 'Painel'}</strong>
        <small>
          <code>${tokenId}</code> · ${STATUSES[status]} · criado ${timeOf(createdAt, this.api.now())}
          ${expiresAt === null ? ' · sem prazo' : html` · até ${timeOf(expiresAt, this.api.now())}`}
          ${scopes === null || ofConsole ? nothing : ` · ${scopes.join(', ')}`}
          ${allowedOrigins.length === 0 ? nothing : html` · <bdi>${allowedOrigins.join(', ')}</bdi>`}
        </small>
      </span>
      ${
        status === 'active'
          ? html`<button type="button" class="secondary" @click=${() => this.#revoke(token)}>
              Encerrar<span class="sr-only"> ${tokenId}</span>
            </button>`
          : nothing
      }
    `;
  };
}

customElements.define('console-tokens', ConsoleTokens);
