// The chunk of delivered content, which loads with the first content. Like the payment chunk, it imports
// nothing from the entry at run time; `html` is a parameter, because the chunk must not load Lit again.
import type { html as Html, LitElement, TemplateResult } from 'lit';
import { styles } from './delivered.styles.ts';
import { arrive } from './import-again.ts';
import { texts } from './locales/pt-BR.delivered.ts';
import type { Labels } from './locales/texts.ts';
import type { DeliveredContent } from './operations.ts';

/** The time for which a button shows that its content was copied. */
const COPIED_MS = 4_000;
const MAX_ROWS = 8;
/** About as many characters fit into a line of a narrow element. */
const CHARACTERS_A_ROW = 24;

/** The view of delivered content in one element. */
export interface DeliveredView {
  /** The texts in Portuguese. */
  texts: typeof texts;
  /** Renders the content: the merchant's words, never its markup. */
  render(
    html: typeof Html,
    content: readonly DeliveredContent[],
    text: (name: keyof Labels) => string,
  ): TemplateResult;
}

type DeliveredHost = Pick<LitElement, 'renderRoot' | 'requestUpdate'>;

export function createDelivered(
  host: DeliveredHost,
  { adoptStyles }: Pick<typeof import('./panel.ts'), 'adoptStyles'>,
): DeliveredView {
  adoptStyles(host, styles);
  /** The content that the payer has copied, or has to copy from its field. */
  let copied: string | undefined;
  let selected: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function copy(content: string, { currentTarget }: Event): Promise<void> {
    const field = (currentTarget as HTMLElement).parentElement?.querySelector('textarea');
    copied = selected = undefined;
    try {
      await navigator.clipboard.writeText(content);
      copied = content;
      clearTimeout(timer);
      timer = setTimeout(() => {
        timer = undefined;
        host.requestUpdate();
      }, COPIED_MS);
    } catch {
      // Without https, or in a frame, there is no clipboard.
      field?.focus({ preventScroll: true });
      field?.select();
      selected = content;
    }
    host.requestUpdate();
  }

  return {
    texts,
    render(html, content, text) {
      const item = ({ kind, content }: DeliveredContent, index: number): TemplateResult => {
        if (content === null) return html`<p .textContent=${text('deliveredPending')}></p>`;
        // An address of another kind, such as javascript:, is rendered as text.
        if (kind === 'LINK' && /^https?:\/\//i.test(content))
          return html`<a part="link" class="button outline" href=${content} target="_blank" rel="noopener noreferrer"
              ><span .textContent=${text('deliveredLink')}></span><span class="sr" .textContent=${`\xa0${text('newTab')}`}></span></a
            ><p class="address" .textContent=${content}></p>`;
        const isCopied = copied === content;
        const rows = content
          .split('\n')
          .reduce((sum, line) => sum + Math.ceil((line.length || 1) / CHARACTERS_A_ROW), 0);
        return html`<label for="content-${index}" id="label-${index}" .textContent=${text(kind === 'CODES' ? 'deliveredCode' : 'deliveredText')}></label>
          <textarea id="content-${index}" readonly rows=${Math.min(rows, MAX_ROWS)} .value=${content}
            @focus=${({ target }: Event) => (target as HTMLTextAreaElement).select()}></textarea>
          <button part="copy-button" class="button outline" id="copy-${index}" aria-labelledby="copy-${index} label-${index}"
            @click=${(event: Event) => copy(content, event)} .textContent=${text(isCopied && timer ? 'deliveredCopied' : 'deliveredCopy')}></button>
          <p role="status" .textContent=${isCopied ? text('deliveredSaved') : selected === content ? text('deliveredSelected') : ''}></p>`;
      };
      return html`<div part="delivered" class="delivered" role="group" aria-labelledby="delivered">
        <p id="delivered" .textContent=${text('delivered')}></p>
        ${content.map((each, index) => html`<div>${item(each, index)}</div>`)}
      </div>`;
    },
  };
}

arrive('checkout.delivered', { createDelivered });
