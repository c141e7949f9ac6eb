import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { KeptRequest } from '../../demo/shared/kept-request.ts';
import { dropButton } from '../lost-request.ts';
import { type ContentMember, contentProblem, readContent } from './content-input.ts';
import { refusalWords } from './refusal-words.ts';

const MEMBERS: readonly [ContentMember, string][] = [
  ['codes', 'Códigos'],
  ['text', 'Texto'],
  ['link', 'Link'],
];

const HINTS: Readonly<Record<ContentMember, string>> = {
  codes:
    'Um por linha, até 1.000 de cada vez. Cada código vai para um pagamento só; quem já espera recebe primeiro.',
  text: 'O mesmo texto para todos que pagarem, de até 4.000 caracteres.',
  link: 'O mesmo endereço https:// para todos que pagarem.',
};

/**
 * Adds content to a product, or codes to its stock.
 * @fires product-change - The content was added.
 */
export class ConsoleContentForm extends LitElement {
  static override properties = {
    productId: { attribute: false },
    member: { state: true },
    problem: { state: true },
    done: { state: true },
    busy: { state: true },
  };

  declare productId: string;
  declare member: ContentMember;
  declare problem: string;
  declare done: string;
  declare busy: boolean;
  #request!: KeptRequest<{ member: ContentMember; text: string }>;

  constructor() {
    super();
    this.member = 'codes';
    this.problem = '';
    this.done = '';
    this.busy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#request = new KeptRequest(`content ${this.productId}`);
    const { lost } = this.#request;
    if (!lost) return;
    this.member = lost.member;
    this.problem =
      'O último envio ficou sem resposta, e pode ter chegado. Repetido igual, nada é acrescentado em dobro.';
  }

  readonly #drop = (): void => {
    this.problem = '';
  };

  readonly #submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (this.busy) return;
    const { productId, member } = this;
    const field = this.querySelector('textarea')!;
    const read = readContent(member, field.value);
    this.done = '';
    this.problem = 'problem' in read ? read.problem : '';
    if ('problem' in read) return field.focus();
    this.busy = true;
    const body = { productId, content: read.content };
    const result = await this.#request.post('./deliveries', { member, text: field.value }, body);
    this.busy = false;
    this.problem = refusalWords(result, {
      lost: 'Sem resposta. Tente de novo: nada é acrescentado em dobro.',
      refusals: {
        IDEMPOTENCY_CONFLICT: 'O envio anterior chegou. Para acrescentar também este, envie de novo.',
      },
      ofField: contentProblem,
    });
    if (this.problem) return;
    field.value = '';
    this.done = member === 'codes' ? 'Códigos acrescentados.' : 'Conteúdo acrescentado.';
    this.dispatchEvent(new CustomEvent('product-change'));
  };

  protected override render(): TemplateResult {
    const { member, problem, done, busy, productId } = this;
    const id = `content-${productId}`;
    return html`<form class="product-form" novalidate @submit=${this.#submit}>
      <fieldset class="kinds">
        <legend>Acrescentar</legend>
        ${MEMBERS.map(
          ([value, label]) => html`<label
            ><input
              type="radio"
              name="member"
              value=${value}
              .checked=${value === member}
              @change=${() => {
                this.member = value;
                this.problem = '';
                this.done = '';
              }}
            /><span>${label}</span></label
          >`,
        )}
      </fieldset>
      <div class="field">
        <label for=${id}>${MEMBERS.find(([value]) => value === member)![1]}</label>
        <textarea
          id=${id}
          rows=${member === 'link' ? 1 : 4}
          spellcheck=${member === 'text' ? 'true' : 'false'}
          .defaultValue=${this.#request.lost?.text ?? ''}
          ?readonly=${busy}
          aria-describedby="${id}-hint ${id}-answer"
          aria-invalid=${problem ? 'true' : 'false'}
        ></textarea>
        <p class="hint" id="${id}-hint">${HINTS[member]}</p>
      </div>
      <p id="${id}-answer" role="status" class=${problem ? 'form-error' : 'done'}>${problem || done}</p>
      ${busy ? nothing : dropButton(this, this.#request, this.#drop)}
      <button class="primary" aria-disabled=${busy ? 'true' : 'false'}>${busy ? 'Acrescentando…' : 'Acrescentar'}</button>
    </form>`;
  }
}

customElements.define('console-content-form', ConsoleContentForm);
