import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { forgetAll, keepOnlyOf } from '../demo/shared/kept-request.ts';
import { refusalText } from '../demo/shared/refusals.ts';
import { type Api, ask } from './api.ts';
import { type Entry, endpointOf, isSignedOut, requestEntry, signIn, signOut } from './entry.ts';
import { keepFocusIn } from './keep-focus.ts';
import { OFFERED, type Offered } from './operations.ts';
import { addressOf, placeOf } from './place.ts';

/** Renders a page, or with an id the page of one of its resources. */
type Render = (api: Api, scopes: readonly string[], id: string | null) => TemplateResult;

interface Page {
  /** The part of the address. */
  name: string;
  title: string;
  /** The title of one of its resources, if these have pages: the id follows in the address. */
  one?: string;
  /** The scopes that open it, one of them enough; without any it is open to all. */
  scopes: readonly string[];
  load: () => Promise<{ render: Render }>;
}

const PAGES: readonly [Page, ...Page[]] = [
  { name: '', title: 'Início', scopes: [], load: () => import('./home.ts') },
  {
    name: 'sales',
    title: 'Vendas',
    one: 'Venda',
    scopes: ['card_payments', 'payments'],
    load: () => import('./sales.ts'),
  },
  {
    name: 'subscriptions',
    title: 'Assinaturas',
    one: 'Assinatura',
    scopes: ['subscriptions'],
    load: () => import('./subscriptions.ts'),
  },
  {
    name: 'disputes',
    title: 'Disputas',
    one: 'Disputa',
    scopes: ['disputes'],
    load: () => import('./disputes.ts'),
  },
  { name: 'products', title: 'Produtos', scopes: ['products'], load: () => import('./products.ts') },
  { name: 'statement', title: 'Extrato', scopes: ['wallet'], load: () => import('./statement.ts') },
  {
    name: 'payouts',
    title: 'Saques',
    one: 'Saque',
    scopes: ['payouts'],
    load: () => import('./payouts.ts'),
  },
  {
    name: 'subaccounts',
    title: 'Subcontas',
    scopes: ['subaccounts'],
    load: () => import('./subaccounts.ts'),
  },
  {
    name: 'developers',
    title: 'Desenvolvedores',
    scopes: ['webhooks'],
    load: () => import('./developers.ts'),
  },
];

const SESSION_OVER = 'A sessão terminou. Entre de novo para continuar.';
const KEY_REFUSED =
  'O serviço de pagamentos recusou a chave deste servidor. Quem cuida dele precisa trocá-la: até lá nada novo chega.';
const WRONG_KEY = 'Esta chave não vale aqui, ou foi revogada.';
/** The pause before the server is asked again, which did not answer. */
const RETRY_MS = 5_000;

/** The merchant's console: it asks for an API key once, and shows the page of the address. */
export class ConsoleApp extends LitElement {
  static override properties = {
    phase: { state: true },
    place: { state: true },
    notice: { state: true },
    content: { state: true },
    busy: { state: true },
    absent: { state: true },
    isKeyRefused: { state: true },
  };

  declare phase: 'loading' | 'signed-out' | 'ready' | 'failed';
  declare place: Place;
  /** The message above the form. */
  declare notice: string;
  declare busy: boolean;
  /** The names of the pages whose lists the service behind this server does not have. */
  declare absent: ReadonlySet<string>;
  /** The page's code, once it is loaded; its failure is an error. */
  declare content: { place: Place; render: Render } | Error | null;
  /** Whether another service behind the server refuses the key with which the server asks it. */
  declare isKeyRefused: boolean;

  #entry: Entry | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #renewal: Promise<string> | null = null;
  /** The time by which the server's clock is ahead of this machine's. */
  #aheadMs = 0;
  #visit = new AbortController();

  constructor() {
    super();
    this.phase = 'loading';
    this.place = findPlace();
    this.notice = '';
    this.content = null;
    this.busy = false;
    this.absent = new Set();
    keepFocusIn(this);
    this.isKeyRefused = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('popstate', this.#show);
    addEventListener('pageshow', this.#comeBack);
    void this.#enter();
    void this.#show();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener('popstate', this.#show);
    removeEventListener('pageshow', this.#comeBack);
    clearTimeout(this.#retry);
  }

  async #enter(): Promise<void> {
    clearTimeout(this.#retry);
    const result = await requestEntry();
    if (result.ok) {
      this.#begin(result.body);
      return this.#findAbsent(result.body);
    }
    if (isSignedOut(result.refusal)) return this.#leave('');
    this.notice = refusalText(result.refusal);
    this.phase = 'failed';
    this.#retry = setTimeout(() => void this.#enter(), RETRY_MS);
  }

  #begin(entry: Entry): void {
    this.#entry = entry;
    this.isKeyRefused = entry.keyRefused;
    this.#aheadMs = Date.parse(entry.now) - Date.now();
    this.notice = '';
    this.phase = 'ready';
    // Another tab may have signed in with a key of another account: the page begins again.
    if (keepOnlyOf(`${entry.environment} ${entry.account}`)) void this.#show();
  }

  /** Finds the pages that the navigation leaves out. Where that fails, they say themselves what there is not. */
  async #findAbsent({ isFacade, token }: Entry): Promise<void> {
    this.absent = new Set();
    if (!isFacade || token === null) return;
    const answer = await ask<Offered>(this.#apiOf(token), OFFERED, {}).catch(() => null);
    const codes = Object.entries(answer?.codes ?? {});
    this.absent = new Set(codes.flatMap(([name, code]) => (code === 'NOT_OFFERED' ? name : [])));
  }

  #endVisit(): void {
    this.#visit.abort();
    this.#visit = new AbortController();
  }

  #leave(notice: string): void {
    this.#endVisit();
    this.#entry = null;
    this.isKeyRefused = false;
    this.notice = notice;
    this.phase = 'signed-out';
  }

  /** Requests the next token, once for all that have met the end of the one before. */
  readonly #renewToken = (): Promise<string> => {
    this.#renewal ??= this.#requestToken().finally(() => {
      this.#renewal = null;
    });
    return this.#renewal;
  };

  async #requestToken(): Promise<string> {
    const result = await requestEntry();
    if (!result.ok) {
      if (isSignedOut(result.refusal)) this.#leave(SESSION_OVER);
      throw new Error(refusalText(result.refusal));
    }
    this.#begin(result.body);
    return result.body.token ?? '';
  }

  readonly #show = async (): Promise<void> => {
    this.#endVisit();
    const place = findPlace();
    this.place = place;
    const { page, id, title } = place;
    document.title = `${id ?? title} · Console`;
    try {
      const { render } = id === null || page.one ? await page.load() : NO_PAGE;
      if (this.place === place) this.content = { place, render };
    } catch (error) {
      if (this.place === place) this.content = error as Error;
    }
  };

  /** Begins the page again that a browser has kept: meanwhile another one of this tab may have requested what it offers. */
  readonly #comeBack = ({ persisted }: PageTransitionEvent) => persisted && this.#show();

  readonly #follow = (event: MouseEvent) => {
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[data-page]');
    if (!isPlain || !link) return;
    event.preventDefault();
    history.pushState(null, '', link.href);
    void this.#show();
    document.getElementById('console')?.focus();
  };

  protected override render(): TemplateResult {
    if (this.phase === 'loading') return html`<p class="waiting" role="status">Abrindo…</p>`;
    if (this.phase === 'failed')
      return html`<section class="card gate" role="alert">
        <h1>O console não abriu.</h1>
        <p>${this.notice} A página tenta de novo sozinha.</p>
      </section>`;
    return this.phase === 'ready' && this.#entry ? this.#renderPage(this.#entry) : this.#renderGate();
  }

  #renderGate(): TemplateResult {
    return html`
      <section class="card gate">
        <h1>Entrar no console</h1>
        <p>
          Use uma chave de API da conta. Ela abre uma sessão de 12 horas e não fica guardada neste navegador. O console
          mostra o que a chave permite.
        </p>
        <form @submit=${this.#signIn}>
          <div class="field">
            <label for="key">Chave de API</label>
            <input
              id="key"
              name="key"
              type="password"
              required
              autocomplete="off"
              spellcheck="false"
              maxlength="300"
              placeholder="ps_live_…"
              aria-describedby="gate-notice"
              aria-invalid=${this.notice === WRONG_KEY ? 'true' : 'false'}
            />
          </div>
          <p id="gate-notice" class="form-error" role="alert">${this.notice}</p>
          <button class="primary" aria-disabled=${this.busy ? 'true' : 'false'}>Entrar</button>
        </form>
      </section>
    `;
  }

  readonly #signIn = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const input = this.querySelector<HTMLInputElement>('#key');
    const key = input?.value.trim() ?? '';
    if (!input || this.busy || key === '') return;
    this.busy = true;
    const result = await signIn(key);
    this.busy = false;
    if (result.ok) {
      // The page forgets the key: the cookie of the session, which no script reads, stands for it.
      input.value = '';
      this.#begin(result.body);
      return this.#findAbsent(result.body);
    }
    const isWrong = isSignedOut(result.refusal) || result.refusal.status === 400;
    this.notice = isWrong ? WRONG_KEY : refusalText(result.refusal);
    input.select();
  };

  readonly #signOut = async (): Promise<void> => {
    if (this.busy) return;
    this.busy = true;
    const result = await signOut();
    this.busy = false;
    if (result.ok) {
      // What a tab has kept of its account is not shown to the next one.
      forgetAll();
      this.#leave('');
    } else this.notice = `Não foi possível sair. ${refusalText(result.refusal)}`;
  };

  #renderPage(entry: Entry): TemplateResult {
    const { page, id, title } = this.place;
    return html`
      <header class="bar" @click=${this.#follow}>
        <nav aria-label="Páginas">
          ${PAGES.filter((each) => each === page || !this.absent.has(each.name)).map(
            (each) => html`<a
              data-page
              href=${addressOf(each.name)}
              aria-current=${each === page ? (id === null ? 'page' : 'true') : nothing}
              >${each.title}</a
            >`,
          )}
        </nav>
        <div class="session">
          ${entry.environment === 'sandbox' ? html`<span class="badge">Ambiente de teste</span>` : nothing}
          ${
            entry.key
              ? html`<span class="key">${nameOf(entry.key)}</span>
                  <button type="button" class="secondary" @click=${this.#signOut}>Sair</button>`
              : nothing
          }
        </div>
      </header>
      ${this.notice ? html`<p class="form-error" role="alert">${this.notice}</p>` : nothing}
      ${this.isKeyRefused ? html`<p class="form-error" role="alert" data-key-refused>${KEY_REFUSED}</p>` : nothing}
      <div class="page-title" @click=${this.#follow}>
        ${id === null ? nothing : html`<a data-page class="back" href=${addressOf(page.name)}>‹ ${page.title}</a>`}
        <h1>${title}</h1>
      </div>
      <div class="page" @click=${this.#follow}>${this.#renderContent(entry)}</div>
    `;
  }

  /** The means of this visit to a page, which begins with `token`. */
  #apiOf(token: string): Api {
    const { key, mayWrite, actions, mayPaySubaccounts, documents } = this.#entry!;
    const now = () => new Date(Date.now() + this.#aheadMs);
    const newestToken = () => this.#entry?.token ?? token;
    return {
      ...{ endpoint: endpointOf(), renewToken: this.#renewToken, leaving: this.#visit.signal, now },
      ...{ mayWrite, actions, asksForKey: key !== null, mayPaySubaccounts, documents },
      noteKey: (isRefused) => {
        this.isKeyRefused = isRefused;
      },
      get token() {
        return newestToken();
      },
    };
  }

  #renderContent({ token, scopes }: Entry): TemplateResult | typeof nothing {
    const { place, content } = this;
    const { page } = place;
    const needed = page.scopes;
    const isOpen = needed.length === 0 || needed.some((scope) => scopes.includes(scope));
    if (token === null || !isOpen)
      return html`<section class="card" data-forbidden>
        <h2>Esta chave não mostra esta página.</h2>
        <p>Ela tem outras permissões. Entre com uma chave que permita ler ${needed.length > 0 ? `“${page.title}”` : 'a conta'}.</p>
      </section>`;
    if (content instanceof Error)
      return html`<section class="card" role="alert">
        <p>A página não carregou.</p>
        <button type="button" class="secondary" @click=${this.#show}>Tentar de novo</button>
      </section>`;
    if (content?.place !== place) return html`<p class="waiting" role="status">Abrindo…</p>`;
    // Each visit begins with the filter of its address.
    return html`${keyed(content, content.render(this.#apiOf(token), scopes, place.id))}`;
  }
}

/** The page that the address names, with the id of its resource. */
interface Place {
  page: Page;
  id: string | null;
  title: string;
}

function findPlace(): Place {
  const { name, id } = placeOf(location.pathname);
  const page = PAGES.find((each) => each.name === name) ?? PAGES[0];
  return { page, id, title: (id !== null && page.one) || page.title };
}

const NO_PAGE: { render: Render } = {
  render: () => html`<section class="card" data-missing>
    <h2>Esta página não existe.</h2>
    <p>Confira o endereço, ou escolha uma das páginas acima.</p>
  </section>`,
};

function nameOf({ name, hint }: NonNullable<Entry['key']>): string {
  const end = hint ? `…${hint}` : '';
  return name ? `${name} ${end}`.trim() : `Chave ${end}`.trim();
}

customElements.define('console-app', ConsoleApp);
