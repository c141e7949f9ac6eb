import { html, nothing, type TemplateResult } from 'lit';
import type { CheckoutMethod } from './methods.ts';
import type { Labels } from './psa-checkout.ts';

interface MethodButtonsView {
  methods: readonly CheckoutMethod[];
  /** The method whose payment is being created. */
  busy: CheckoutMethod | undefined;
  disabled: boolean;
  /** Renders an icon; without a path it is the spinner. */
  icon: (path?: string) => TemplateResult;
  text: (name: keyof Labels) => string;
  onStart: (method: CheckoutMethod | undefined) => void;
  onPreload: (method: CheckoutMethod | undefined) => void;
}

const ICONS = { pix: 'M12 3l9 9-9 9-9-9zM8 12h8', card: 'M3 6h18v12H3zM3 10.5h18' };
const LOCK = 'M8 11V8a4 4 0 0 1 8 0v3M5 11h14v9H5z';

/** Renders a button for each method. A lone one has the page's label, which is the name of the group of several. */
export function methodButtons({ methods, ...view }: MethodButtonsView): TemplateResult {
  // Where the token takes none of the methods, the click on the one button is answered by an error.
  if (!methods[1])
    return button(view, methods[0], html`<slot>${view.text(NAMES[methods[0] ?? 'card'][0])}</slot>`);
  return html`
    <div part="methods" class="actions" role="group" aria-labelledby="label">
      <span class="sr" id="label"><slot>${view.text('pay')}</slot></span>
      ${methods.map((method, index) => button(view, method, view.text(NAMES[method][index && 1]!), index))}
    </div>
  `;
}

/** The text of the first button of a method, and of a further one. */
const NAMES = { pix: ['payPix', 'pix'], card: ['pay', 'card'] } as const;

function button(
  { busy, disabled, icon, text, onStart, onPreload }: Omit<MethodButtonsView, 'methods'>,
  method: CheckoutMethod | undefined,
  label: unknown,
  index?: number,
): TemplateResult {
  const isBusy = busy !== undefined && busy === method;
  return html`
    <button
      part="button"
      class=${index ? 'button other' : 'button'}
      value=${method ?? nothing}
      ?disabled=${disabled || (busy && !isBusy)}
      aria-disabled=${isBusy || nothing}
      aria-busy=${isBusy || nothing}
      @click=${() => onStart(method)}
      @pointerenter=${() => onPreload(method)}
    >
      ${
        isBusy
          ? icon()
          : index === undefined
            ? html`<slot name="icon">${icon(LOCK)}</slot>`
            : icon(ICONS[method as CheckoutMethod])
      }
      <span part="label">${isBusy ? text('creating') : label}</span>
    </button>
  `;
}
