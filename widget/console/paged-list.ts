import {
  html,
  nothing,
  type ReactiveController,
  type ReactiveControllerHost,
  type TemplateResult,
} from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Answer, Api } from './api.ts';
import { keepFocusIn } from './keep-focus.ts';
import { staleNotice } from './stale.ts';

/** The pause between two readings of a list of one page, while it is visible. */
const EVERY_MS = 30_000;

export interface ListPage<Item> {
  items: readonly Item[];
  /** The length of the whole list; null if it is not known. */
  total: number | null;
  /** The cursor of the next page; null at the end of the list. */
  next: string | null;
  staleSince: Date | null;
}

/** Reads the page behind a cursor; null if there is no such list here. */
type ReadPage<Item> = (after: string | null) => Promise<ListPage<Item> | null>;

/** The words of a list that has no rows. */
interface Words {
  empty: string;
  absent: string;
}

/** A page of a GraphQL connection. */
export interface Connection<Item> {
  totalCount: number;
  nodes: readonly Item[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** The page of a root field of an answer. @throws Error if it could not be read */
export function pageOf<Data, Item>(
  { data, codes, staleSince }: Answer<Data>,
  root: keyof Data & string,
  connectionOf: (value: NonNullable<Data[keyof Data & string]>) => Connection<Item> = (value) =>
    value as unknown as Connection<Item>,
): ListPage<Item> | null {
  const value = data[root];
  if (value === null) {
    if (codes[root] === 'NOT_OFFERED') return null;
    throw new Error('The list could not be read');
  }
  const { nodes, totalCount, pageInfo } = connectionOf(value as NonNullable<Data[keyof Data & string]>);
  const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  return { items: nodes, total: totalCount, next, staleSince };
}

/** The element of a list. */
type Host = ReactiveControllerHost & HTMLElement & { api: Api };

/** A list that is read page by page. One that `polls` is read again from time to time, while one page of it is shown. */
export class PagedList<Item> implements ReactiveController {
  items: readonly Item[] = [];
  total: number | null = null;
  phase: 'reading' | 'ready' | 'failed' | 'absent' = 'reading';
  /** Whether what is shown could not be read again, or the next page not be read. */
  isOld = false;
  readonly #host: Host;
  readonly #keyOf: (item: Item) => string;
  readonly #read: ReadPage<Item>;
  readonly #polls: boolean;
  #staleSince: Date | null = null;
  #next: string | null = null;
  #pages = 0;
  /** The number of the newest reading: an older one that is answered later changes nothing. */
  #turn = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `keyOf` names an item, whose row stays the same while others come before it. */
  constructor(host: Host, keyOf: (item: Item) => string, read: ReadPage<Item>, polls = true) {
    this.#polls = polls;
    this.#host = host;
    this.#keyOf = keyOf;
    this.#read = read;
    host.addController(this);
    keepFocusIn(host);
  }

  hostConnected(): void {
    if (this.#polls) document.addEventListener('visibilitychange', this.#readAgain);
    void this.reload();
  }

  hostDisconnected(): void {
    document.removeEventListener('visibilitychange', this.#readAgain);
    clearTimeout(this.#timer);
    this.#turn += 1;
  }

  /** Reads the list from its start; what is shown stays until then. */
  readonly reload = () => this.#take(null);
  readonly #more = () => void this.#take(this.#next);
  readonly #readAgain = () => {
    if (!document.hidden && this.#pages <= 1) void this.reload();
  };

  async #take(after: string | null): Promise<void> {
    clearTimeout(this.#timer);
    this.#turn += 1;
    const turn = this.#turn;
    try {
      const page = await this.#read(after);
      if (turn !== this.#turn) return;
      this.phase = page ? 'ready' : 'absent';
      this.isOld = false;
      this.items = after === null ? (page?.items ?? []) : [...this.items, ...(page?.items ?? [])];
      this.#pages = after === null ? 1 : this.#pages + 1;
      this.#next = page?.next ?? null;
      this.total = page?.total ?? null;
      this.#staleSince = page?.staleSince ?? null;
    } catch {
      if (turn !== this.#turn) return;
      if (this.phase === 'reading') this.phase = 'failed';
      this.isOld = true;
    }
    if (this.#polls) this.#timer = setTimeout(this.#readAgain, EVERY_MS);
    this.#host.requestUpdate();
  }

  /** Empties the list, and reads it with another filter. */
  restart(): void {
    this.items = [];
    this.total = null;
    this.phase = 'reading';
    this.#pages = 0;
    this.#next = null;
    void this.reload();
    this.#host.requestUpdate();
  }

  render({ empty, absent }: Words, renderItem: (item: Item) => TemplateResult): TemplateResult {
    if (this.phase === 'reading') return html`<p class="empty" role="status">Lendo…</p>`;
    if (this.phase === 'absent') return html`<p class="empty">${absent}</p>`;
    if (this.phase === 'failed')
      return html`<p class="error" role="alert">
        A lista não pôde ser lida.
        <button type="button" class="secondary" @click=${this.reload}>Tentar de novo</button>
      </p>`;
    return html`
      ${this.isOld ? html`<p class="error" role="status">Não foi possível ler agora. O que se vê pode ter mudado.</p>` : nothing}
      ${staleNotice(this.#staleSince, this.#host.api.now())}
      ${this.items.length === 0 ? html`<p class="empty">${empty}</p>` : html`<ul class="rows">${repeat(this.items, this.#keyOf, (item) => html`<li>${renderItem(item)}</li>`)}</ul>`}
      ${this.#next === null ? nothing : html`<button type="button" class="secondary" @click=${this.#more}>Mostrar mais</button>`}
    `;
  }
}
