// The chunk of a payment by PIX, which loads with the first one. Like the payment chunk, it imports nothing
// from the entry at run time; `html` is a parameter, because the chunk must not load Lit again.
import type { LitElement } from 'lit';
import { arrive } from './import-again.ts';
import { texts } from './locales/pt-BR.pix.ts';
import { styles } from './pix.styles.ts';
import type { PixView } from './views.ts';

/** The time for which the button shows that the code was copied. */
const COPIED_MS = 4_000;
/** A phone cannot read the QR code of its own screen. */
const PHONE = '(pointer: coarse) and (max-width: 48rem)';

type PixHost = Pick<LitElement, 'renderRoot' | 'requestUpdate'>;

export function createPix(
  host: PixHost,
  { adoptStyles }: Pick<typeof import('./panel.ts'), 'adoptStyles'>,
  onCopied: () => void,
): PixView {
  adoptStyles(host, styles);
  const isPhone = matchMedia(PHONE).matches;
  /** The code that the payer has copied, or has to copy from the field; another code resets both. */
  let copied: string | undefined;
  let selected: string | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function confirm(code: string): void {
    copied = code;
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      host.requestUpdate();
    }, COPIED_MS);
    host.requestUpdate();
    onCopied();
  }

  async function copy(code: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(code);
      confirm(code);
    } catch {
      // Without https, or in a frame, there is no clipboard.
      const field = host.renderRoot.querySelector('textarea');
      field?.focus({ preventScroll: true });
      field?.select();
      selected = code;
      copied = undefined;
      host.requestUpdate();
    }
  }

  function onFieldCopy({ target }: Event): void {
    const { value, selectionStart, selectionEnd } = target as HTMLTextAreaElement;
    if (selectionEnd - selectionStart === value.length) confirm(value);
  }

  return {
    texts,
    payee: ({ pix }) => payeeOf(pix?.copyPaste ?? ''),
    hint: ({ pix }) => (!pix ? 'preparing' : isPhone ? 'phoneHint' : 'pendingHint'),

    returned: (html, { state: { payment }, text }, money) => {
      return html`<div class="returned" role="status">
        ${payment?.returnedCredits?.map(
          ({ amountCents, returnedAt }) =>
            html`<p .textContent=${text(returnedAt ? 'returned' : 'returning').replace('{amount}', money(amountCents))}></p>`,
        )}
      </div>`;
    },

    code(html, { state: { payment, phase }, text, seconds }, money) {
      if (phase !== 'pending' || !payment) return;
      const { pix, amountCents } = payment;
      if (!pix) return html`<div part="pix" class="pix"><div part="skeleton" class="wait facts"></div></div>`;
      const { copyPaste: code, qr } = pix;
      const name = text('qr')
        .replace('{amount}', money(amountCents))
        .replace('{payee}', payeeOf(code) ?? '');
      const drawing =
        qr &&
        html`<svg part="qr" class="qr" role="img" aria-label=${name} viewBox="-4 -4 ${qr.size + 8} ${qr.size + 8}"
          shape-rendering="crispEdges"><path d=${qr.path} /></svg>`;
      const isCopied = copied === code;
      // The countdown itself is silent.
      const spoken =
        seconds === undefined || seconds > 300
          ? ''
          : text(seconds > 60 ? 'lastMinutes' : seconds ? 'lastMinute' : 'checking');
      return html`<div part="pix" class="pix">
        ${isPhone ? '' : drawing}
        <div class="copy">
          <button part="copy-button" class="button" @click=${() => copy(code)}>
            <span .textContent=${text(isCopied && timer ? 'copied' : 'copy')}></span>
          </button>
          <p class="said" role="status" .textContent=${isCopied ? text('openBank') : selected === code ? text('selected') : ''}></p>
          <textarea part="code" readonly rows="5" dir="ltr" aria-label=${text('code')} .value=${code}
            @focus=${({ target }: Event) => (target as HTMLTextAreaElement).select()} @copy=${onFieldCopy}></textarea>
        </div>
        ${isPhone && drawing ? html`<details><summary .textContent=${text('showQr')}></summary>${drawing}</details>` : ''}
        <span class="sr" role="status" .textContent=${spoken}></span>
      </div>`;
    },
  };
}

/**
 * Reads the merchant's name (field 59) from a code: a field has two digits of id, two digits of length, and
 * the value.
 */
function payeeOf(code: string): string | undefined {
  for (let at = 0; at < code.length; ) {
    const end = at + 4 + Number(code.slice(at + 2, at + 4));
    if (code.startsWith('59', at)) return code.slice(at + 4, end);
    if (!(end > at)) return undefined;
    at = end;
  }
  return undefined;
}

arrive('checkout.pix', { createPix });
