import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { keepFocusIn } from './keep-focus.ts';

/** A text that the server has shown once: it stands here until the user has put it away, and nowhere else. */
export class ConsoleSecret extends LitElement {
  static override properties = {
    label: { attribute: false },
    secret: { attribute: false },
    copied: { state: true },
  };

  declare label: string;
  /** The text; null if there is none to show. */
  declare secret: string | null;
  declare copied: string;

  constructor() {
    super();
    this.secret = null;
    this.copied = '';
    keepFocusIn(this);
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.secret = null;
  }

  readonly #copy = async (): Promise<void> => {
    const isCopied = await navigator.clipboard.writeText(this.secret ?? '').then(
      () => true,
      () => false,
    );
    this.copied = isCopied ? 'Copiado.' : 'Não foi copiado: selecione o texto.';
  };

  readonly #hide = (): void => {
    this.secret = null;
    this.copied = '';
    this.dispatchEvent(new Event('console-hidden'));
  };

  protected override render(): TemplateResult | typeof nothing {
    if (!this.secret) return nothing;
    return html`<section class="secret" aria-label=${this.label}>
      <p><strong>${this.label}</strong> Guarde agora: este texto não é mostrado de novo.</p>
      <p><code>${this.secret}</code></p>
      <p class="buttons">
        <button type="button" class="secondary" @click=${this.#copy}>Copiar</button>
        <button type="button" class="secondary" @click=${this.#hide}>Já guardei</button>
        <span role="status">${this.copied}</span>
      </p>
    </section>`;
  }
}

customElements.define('console-secret', ConsoleSecret);
