import { html, LitElement, type TemplateResult } from 'lit';
import { parseCents } from '../../demo/shared/format.ts';
import { postJson } from '../../demo/shared/post-json.ts';
import { refusalWords } from './refusal-words.ts';

/** The words for the mistakes in a product, by the members of the server's input. */
const PROBLEMS: Readonly<Record<string, string>> = {
  name: 'Escreva um nome de até 200 caracteres.',
  description: 'A descrição pode ter até 2.000 caracteres.',
  priceCents: 'Escreva um preço a partir de R$ 0,80, como 49,90.',
};
const FIELDS = ['name', 'priceCents', 'description'] as const;
type Field = (typeof FIELDS)[number];

const LABELS: Readonly<Record<Field, string>> = {
  name: 'Nome',
  priceCents: 'Preço em reais',
  description: 'Descrição (opcional)',
};

/**
 * Creates a product. It never changes afterwards: it is deleted.
 * @fires product-change - The product was created.
 */
export class ConsoleProductForm extends LitElement {
  static override properties = {
    wrong: { state: true },
    problem: { state: true },
    done: { state: true },
    busy: { state: true },
  };

  /** The field with the mistake, if it is in one. */
  declare wrong: Field | null;
  declare problem: string;
  declare done: string;
  declare busy: boolean;

  constructor() {
    super();
    this.wrong = null;
    this.problem = '';
    this.done = '';
    this.busy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  readonly #submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    if (this.busy) return;
    const form = event.target as HTMLFormElement;
    const textOf = (field: Field) => String(new FormData(form).get(field) ?? '').trim();
    const [name, description] = [textOf('name'), textOf('description')];
    const priceCents = parseCents(textOf('priceCents'));
    this.done = '';
    if (name === '') return this.#refuse('name');
    if (priceCents === null || priceCents === 0) return this.#refuse('priceCents');
    this.busy = true;
    const result = await postJson('./products', { name, priceCents, ...(description && { description }) });
    this.busy = false;
    const refused = result.ok ? [] : result.refusal.fields.map(({ path }) => path);
    const wrong = FIELDS.find((field) => refused.includes(field));
    if (wrong) return this.#refuse(wrong);
    this.wrong = null;
    this.problem = refusalWords(result, { lost: 'Sem resposta. Confira na lista antes de repetir.' });
    // A product whose answer is lost may be in the list by now.
    this.dispatchEvent(new CustomEvent('product-change'));
    if (this.problem) return;
    form.reset();
    this.done = 'Produto criado.';
  };

  #refuse(field: Field): void {
    this.wrong = field;
    this.problem = PROBLEMS[field]!;
    this.querySelector<HTMLElement>(`[name=${field}]`)?.focus();
  }

  protected override render(): TemplateResult {
    const { wrong, problem, done, busy } = this;
    return html`<form class="product-form" novalidate autocomplete="off" @submit=${this.#submit}>
      ${FIELDS.map(
        (field) => html`<div class="field">
          <label for="product-${field}">${LABELS[field]}</label>
          <input
            id="product-${field}"
            name=${field}
            inputmode=${field === 'priceCents' ? 'decimal' : 'text'}
            ?readonly=${busy}
            aria-invalid=${field === wrong ? 'true' : 'false'}
            aria-describedby="product-answer"
          />
        </div>`,
      )}
      <p id="product-answer" role="status" class=${problem ? 'form-error' : 'done'}>${problem || done}</p>
      <p class="hint">Nome e preço não mudam depois: um produto é excluído, e outro é criado.</p>
      <button class="primary" aria-disabled=${busy ? 'true' : 'false'}>${busy ? 'Criando…' : 'Criar produto'}</button>
    </form>`;
  }
}

customElements.define('console-product-form', ConsoleProductForm);
