import { html, nothing, type TemplateResult } from 'lit';
import type { CheckoutController } from './checkout-controller.ts';
import type { Labels } from './locales/texts.ts';
import type { CheckoutMethod } from './methods.ts';

/**
 * Renders an icon, or the spinner without a path. They are two templates, so that an icon is never the
 * element that was the spinner: WebKit does not stop the animation of a former spinner.
 */
export const icon = (path?: string) =>
  path
    ? html`<svg viewBox="0 0 24 24" aria-hidden="true"><path pathLength="1" d=${path} /></svg>`
    : html`<svg part="spinner" class="spinner" viewBox="0 0 24 24" aria-hidden="true"><path d="M21 12a9 9 0 1 1-9-9" /></svg>`;

/**
 * Renders words as a property of an element, here and elsewhere. A browser that translates the page replaces
 * text nodes, but Lit would continue to write into the old ones: the words of the last state would stay.
 */
const say = (words: string) => html`<span .textContent=${words}></span>`;

/** The icon of an error, which may be needed before the chunk with the other icons. */
export const ERROR = 'M12 7v6m0 3.8v.2M3.5 12a8.5 8.5 0 1 1 17 0 8.5 8.5 0 1 1-17 0';
export const LOCK = 'M8 11V8a4 4 0 0 1 8 0v3M5 11h14v9H5z';
const RHOMBUS = 'M12 3l9 9-9 9-9-9z';
const payName = (method?: CheckoutMethod) => (method === 'pix' ? 'payPix' : 'pay');

/**
 * Whether the page has set a label: its other children have slots of their own, and it may contain line
 * breaks between them.
 */
const isLabelled = ({ childNodes }: Node) =>
  ([...childNodes] as Partial<Element & Text>[]).some(
    ({ slot, wholeText }) => slot === '' || wholeText?.trim(),
  );

/**
 * Renders a button for each method. A single button has the page's label; with several it names the group.
 */
export function methodButtons(
  element: Node & { readonly disabled: boolean; start(method?: CheckoutMethod): Promise<void> },
  checkout: CheckoutController,
  text: (name: keyof Labels) => string,
): TemplateResult {
  const { methods, method: chosen, state } = checkout;
  const isCreating = state.phase === 'creating';
  // If the token takes none of the methods, the click is refused.
  const [first, second] = methods;
  const button = (method: CheckoutMethod | undefined, symbol: unknown, content: unknown) => {
    const busy = isCreating && method === chosen;
    return html`
      <button
        part="button"
        class=${method === first ? 'button' : 'button outline'}
        value=${method ?? nothing}
        ?disabled=${element.disabled || (isCreating && !busy)}
        aria-disabled=${busy || nothing}
        aria-busy=${busy || nothing}
        @click=${() => element.start(method)}
        @pointerenter=${() => checkout.load(method).catch(() => undefined)}
      >
        ${busy ? icon() : symbol}
        <span part="label">${busy ? say(text('creating')) : content}</span>
      </button>
    `;
  };
  const label = (name: keyof Labels) => html`<slot></slot>${isLabelled(element) ? '' : say(text(name))}`;
  if (!second) return button(first, html`<slot name="icon">${icon(LOCK)}</slot>`, label(payName(first)));
  return html`
    <div part="methods" class="actions" role="group" aria-labelledby="label">
      <span class="sr" id="label">${label('pay')}</span>
      ${methods.map((method) =>
        button(
          method,
          icon(method === 'pix' ? RHOMBUS : LOCK),
          say(text(method === first ? payName(method) : method)),
        ),
      )}
    </div>
  `;
}
