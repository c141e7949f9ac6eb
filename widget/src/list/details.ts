// The panel with the details of a row, which loads when the first row is opened. Like the other chunks, it imports nothing from
// the entry at run time.
import type { html as Html, LitElement, TemplateResult } from 'lit';
import { adoptStyles } from '../adopt-styles.ts';
import type { BoardTexts } from '../board/board-texts.ts';
import type { CheckoutError } from '../checkout-state.ts';
import { styles } from './details.styles.ts';
import type { ListTexts } from './locales/texts.ts';
import type { Row } from './row-list.ts';

/** The panel of one element. */
export interface DetailsPanel {
  open(id: string): void;
  onRow(id?: string): void;
  /** Renders the dialog; on the page of one row its content alone. */
  render(isPage?: boolean): TemplateResult;
}

/** The panel gets Lit and the parts of the element from its first file, which its chunk must not import. */
export interface DetailsParts<R, T> {
  html: typeof Html;
  host: LitElement;
  data: {
    /** The kind has the document of a whole row; without one the rows are whole. A chunk with the document would be shared with the first file, which would have to load it. */
    readonly kind: { isNewer?(row: R, known: R): boolean; documents: { details?: string } };
    readonly connectedSignal: AbortSignal;
    /** The rows of an account; another one has another list. */
    readonly list: { get(id: string): R | undefined };
    request<Answer>(query: string, variables: object, signal: AbortSignal): Promise<Answer>;
  };
  texts: BoardTexts<T>;
}

/** A name and its words. Without words there is no line. */
export type Fact = readonly [name: string, words: string | false | null | undefined];

/** A step of a row's history. Without an instant it has not come yet. */
export interface Step {
  at: string | null | undefined;
  words: string;
  note?: string | null | undefined;
  /** The reason in the words of a bank or of an acquirer, who write Portuguese. */
  quote?: string | null | undefined;
}

/** The words of a panel. */
export interface Details {
  title: string;
  /** The status, with the class that has its color in the table. */
  status?: readonly [words: string, style: string];
  /** The groups of facts. Each has a name, except for the first. */
  facts: readonly (readonly [name: string, facts: readonly Fact[]])[];
  history: readonly Step[];
  /** The forms and buttons of the row. */
  actions?: TemplateResult | '';
}

/** The part in which the panels of the lists differ. */
export interface DetailsKind<R, Full extends R, T> {
  /** Describes a row: at first the one of the table, then the whole one. */
  describe(row: R & Partial<Full>): Details;
  /** Forgets what was said about forms that are done, because a row is opened. */
  reset?(): void;
  portuguese: Partial<T>;
}

/** A text that sorts behind every instant. */
const LAST = '9999';

const isLater = (row: Row, known: Row) => (row.version ?? 0) > (known.version ?? 0);

/** Creates the panel of an element. */
export function createDetailsPanel<R extends Row, Full extends R, T extends ListTexts>(
  { html, host, data, texts }: DetailsParts<R, T>,
  { describe, reset, portuguese }: DetailsKind<R, Full, T>,
): DetailsPanel {
  const { documents, isNewer = isLater } = data.kind;
  adoptStyles(host, styles);
  texts.addPortuguese(portuguese);
  let openId = '';
  let openList = data.list;
  let full: Full | undefined;
  let isReading = false;
  let isOutdated = false;
  let error: CheckoutError | undefined;
  /** Whether the pointer went down beside the panel: a selection of text may end there. */
  let isBeside = false;

  const dialog = () => host.renderRoot.querySelector('dialog');
  const close = () => dialog()?.close();

  /** Reads the open row, once more if it changes meanwhile. */
  async function read(): Promise<void> {
    isOutdated = true;
    if (!documents.details || isReading) return;
    isReading = true;
    while (isOutdated && openId) {
      isOutdated = false;
      error = undefined;
      const id = openId;
      try {
        const { node } = await data.request<{ node: Full | null }>(
          documents.details,
          { id },
          data.connectedSignal,
        );
        if (id === openId) full = node ?? full;
        else isOutdated = true;
      } catch (thrown) {
        if (id === openId) error = thrown as CheckoutError;
        isOutdated = id !== openId;
      }
    }
    isReading = false;
    host.requestUpdate();
  }

  function facts(all: readonly Fact[]): TemplateResult {
    return html`<dl>${all.map(([name, words]) =>
      words ? html`<div><dt .textContent=${name}></dt><dd><bdi .textContent=${words}></bdi></dd></div>` : '',
    )}</dl>`;
  }

  function step({ at, words, note, quote }: Step): TemplateResult {
    const { day, hour } = texts.formats;
    const time = at && new Date(at);
    return html`<li>
      <span .textContent=${words}></span>
      ${time ? html`<time datetime=${at} .textContent=${`${day(time)}, ${hour(time)}`}></time>` : ''}
      ${note ? html`<small .textContent=${note}></small>` : ''}
      ${quote ? html`<small><q lang="pt-BR" .textContent=${quote}></q></small>` : ''}
    </li>`;
  }

  function content(row: R & Partial<Full>): TemplateResult {
    const { title, status, facts: groups, history, actions = '' } = describe(row);
    // A server may give equal instants, whose order is then that of the description.
    const steps = [...history].sort((left, right) => (left.at ?? LAST).localeCompare(right.at ?? LAST));
    return html`
      <h2 id="details-title" .textContent=${title}></h2>
      ${status ? html`<p class="status ${status[1]}"><span class="state" .textContent=${status[0]}></span></p>` : ''}
      <slot name="details"></slot>
      ${actions}
      ${groups.map(([name, all]) =>
        all.some(([, words]) => words)
          ? html`${name ? html`<h3 .textContent=${name}></h3>` : ''}${facts(all)}`
          : '',
      )}
      ${steps[0] ? html`<h3 .textContent=${texts.text('history')}></h3><ol>${steps.map(step)}</ol>` : ''}
    `;
  }

  return {
    open(id) {
      if (id !== openId) reset?.();
      openId = id;
      openList = data.list;
      void read();
      host.requestUpdate();
      void host.updateComplete.then(() => {
        // The page may have removed the element while the chunk was loaded.
        if (!host.isConnected) openId = '';
        else if (!dialog()?.open) dialog()?.showModal();
      });
    },
    onRow(id = openId) {
      if (openId && id === openId) void read();
    },
    render(isPage) {
      // Nothing of an account stays when its token is gone.
      if (openId && openList !== data.list) {
        full = undefined;
        close();
      }
      const known = openList === data.list ? openList.get(openId) : undefined;
      const isBehind = known && full && isNewer(known, full);
      const row = (isBehind ? { ...full, ...known } : (full ?? known)) as (R & Partial<Full>) | undefined;
      const shown = html`
        ${row ? content(row) : ''}
        <p role="status">${
          error
            ? html`<span .textContent=${texts.problem(error)}></span>
                <button class="quiet" type="button" .textContent=${texts.text('retry')} @click=${read}></button>`
            : html`<span .textContent=${isReading && !full ? texts.text('loading') : ''}></span>`
        }</p>
      `;
      if (isPage) return html`<div part="details" class="panel page">${shown}</div>`;
      return html`<dialog part="details" class="details" aria-labelledby="details-title"
        @close=${() => {
          // Another row was opened before this event.
          if (dialog()?.open) return;
          // The next row gets forms of its own.
          openId = '';
          full = undefined;
          host.requestUpdate();
        }}
        @pointerdown=${({ target }: Event) => (isBeside = target === dialog())}
        @click=${({ target }: Event) => isBeside && target === dialog() && close()}
      >
        <div class="panel">
          <button part="close-button" class="close" type="button" aria-label=${texts.text('close')} @click=${close}>
            <svg viewBox="0 0 12 12" aria-hidden="true"><path d="m2 2 8 8m0-8-8 8" /></svg>
          </button>
          ${shown}
        </div>
      </dialog>`;
    },
  };
}
