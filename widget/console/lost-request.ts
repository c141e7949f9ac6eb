import { html, type LitElement, nothing, type TemplateResult } from 'lit';
import type { KeptRequest } from '../demo/shared/kept-request.ts';

/** The words for a request whose answer was lost, at once and after a reload. */
export const LOST =
  'Sem resposta: o pedido pode ter sido feito. Repita-o igual, nesta aba: ele não é feito duas vezes.';
export const FOUND =
  'O último pedido ficou sem resposta, e pode ter sido feito: confira abaixo. Repetido igual, ele não é feito duas vezes.';

/** The button by which the user of a form drops a request whose outcome is not known; nothing where there is none. */
export function dropButton(
  form: LitElement,
  request: KeptRequest<unknown>,
  onDrop: () => void,
): TemplateResult | typeof nothing {
  if (request.lost === null) return nothing;
  const drop = () => {
    request.drop();
    onDrop();
    form.requestUpdate();
    form.querySelector<HTMLElement>('input:not([type=radio]), textarea')?.focus();
  };
  return html`<p class="buttons">
    <button type="button" class="secondary" @click=${drop}>Esquecer o pedido sem resposta</button>
  </p>`;
}
