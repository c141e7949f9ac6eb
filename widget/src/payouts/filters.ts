// The chunk of the controls of the filter's conditions, which loads when they are opened. Like the chunks of
// `<psa-checkout>`, it imports nothing from the entry at run time.
import type { html as Html } from 'lit';
import { adoptStyles } from '../adopt-styles.ts';
import { arrive } from '../import-again.ts';
import { fields, initialValues, readForm } from './filter-fields.ts';
import type { FilterForm, FilterHost } from './filter-form.ts';
import { styles } from './filters.styles.ts';
import { texts as portuguese } from './locales/pt-BR.filters.ts';
import type { ControlTexts } from './locales/texts.ts';
import type { METHOD_LABELS } from './methods.ts';
import type { PayoutTexts } from './payout-texts.ts';
import type { PayoutsController } from './payouts-controller.ts';

export function createFilterForm(
  html: typeof Html,
  host: FilterHost,
  data: PayoutsController,
  texts: PayoutTexts,
  methods: typeof METHOD_LABELS,
): FilterForm {
  adoptStyles(host, styles);
  texts.addPortuguese(portuguese);
  /** The texts of the mistakes, by the names of their controls. */
  let errors: Partial<Record<string, keyof ControlTexts>> = {};
  /** Whether the server has not answered the form's last request yet. */
  let isAsked = false;
  let result = '';
  let isRefused = false;

  async function apply(form: HTMLFormElement): Promise<void> {
    const read = readForm(form, initialValues(host, texts), texts);
    errors = read.errors;
    result = '';
    host.requestUpdate();
    await host.updateComplete;
    const [wrong] = Object.keys(errors);
    if (wrong) return form.querySelector<HTMLElement>(`#${wrong}`)?.focus();
    Object.assign(host, read.changes);
    host.renderRoot.querySelector('.scroller')?.scrollTo({ top: 0 });
    isAsked = true;
    host.requestUpdate();
    await host.updateComplete;
    const { statuses, filter } = host.view;
    if (Object.keys(read.changes).length > 0) data.emit('psa-filter-change', { statuses, filter });
  }

  /** Writes the server's result for the conditions, once: later rows are announced separately. */
  function noteResult(): void {
    const { busy, phase, error, list } = data;
    if (!isAsked || phase === 'loading' || (busy === 'view' && phase === 'ready')) return;
    isAsked = false;
    isRefused = /^(inv|not_)/.test(error?.code ?? '');
    if (isRefused) result = texts.text('filterRefused');
    else if (phase === 'ready')
      result = list.total ? texts.count('count', list.total) : texts.text('emptyFiltered');
  }

  return {
    render() {
      noteResult();
      const values = initialValues(host, texts);
      const error = (name: string) => {
        const text = errors[name];
        return html`<p class="invalid" id="${name}-error" .textContent=${text ? texts.text(text, { example: texts.formats.money(123_456) }) : ''}></p>`;
      };
      return html`<form part="filters" class="conditions" aria-label=${texts.text('moreFilters')} novalidate autocomplete="off"
        @submit=${(event: Event) => {
          event.preventDefault();
          void apply(event.target as HTMLFormElement);
        }}
      >
        ${fields.map(
          ({ name, label, type, mode, hint }) => html`<div part="filter-field">
            <label for=${name} .textContent=${texts.text(label)}></label>
            <input id=${name} name=${name} type=${type} inputmode=${mode} .value=${values[name] ?? ''} aria-invalid=${errors[name] ? 'true' : 'false'}
              aria-describedby=${hint ? `${name}-error ${name}-hint` : `${name}-error`} />
            ${hint ? html`<p class="hint" id="${name}-hint" .textContent=${texts.text(hint)}></p>` : ''}
            ${error(name)}
          </div>`,
        )}
        <fieldset part="filter-field">
          <legend .textContent=${texts.text('method')}></legend>
          ${Object.entries(methods).map(([method, label]) =>
            method === 'UNKNOWN'
              ? ''
              : html`<label><input type="checkbox" name="methods" value=${method} .checked=${values.methods.includes(method)} /><span .textContent=${label}></span></label>`,
          )}
        </fieldset>
        <div class="actions">
          <button part="apply-button" class="new" .textContent=${texts.text('apply')}></button>
          <button part="clear-button" class="quiet" type="button" .textContent=${texts.text('clear')} @click=${({
            target,
          }: Event) => {
            const form = (target as HTMLButtonElement).form!;
            form.reset();
            void apply(form);
          }}></button>
          <p role="status" class=${isRefused ? 'invalid' : 'sr'} .textContent=${result}></p>
        </div>
      </form>`;
    },
  };
}

arrive('payouts.filters', { createFilterForm });
