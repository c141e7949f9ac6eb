// The controls of a filter's conditions, which load when they are opened. Like the chunks of `<psa-checkout>`, they import
// nothing from the entry at run time.
import type { TemplateResult } from 'lit';
import { adoptStyles } from '../adopt-styles.ts';
import { exportRows } from './export.ts';
import { type FilterField, initialValues, readForm, wordsOf } from './filter-fields.ts';
import { styles } from './filter-form.styles.ts';
import type { Checks, FilterForm, FilterParts } from './filter-form.ts';
import type { ControlTexts, ListTexts } from './locales/texts.ts';

/** The fields of the lists whose rows are created. */
export const CREATED: readonly FilterField<ControlTexts & { createdFrom: string; createdUntil: string }>[] = [
  { name: 'amountCents', label: 'amountBrl', reads: 'amount' },
  { name: 'createdAfter', label: 'createdFrom', reads: 'from' },
  { name: 'createdBefore', label: 'createdUntil', reads: 'until' },
];

/** Creates the exports of an element's chunk from its fields and their Portuguese texts: its controls, and the export of its rows. */
export function createControls<T extends ListTexts>(
  fields: readonly FilterField<T>[],
  portuguese: Partial<T>,
) {
  return { createForm: (parts: FilterParts<T>) => createFilterForm(parts, fields, portuguese), exportRows };
}

function createFilterForm<T extends ListTexts>(
  { html, host, data, texts, checks }: FilterParts<T>,
  fields: readonly FilterField<T>[],
  portuguese: Partial<T>,
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
    const { formats } = texts;
    const { changes, errors: found } = readForm(form, fields, initialValues(host, fields, formats), formats);
    errors = found;
    if (checks) {
      const { property } = checks;
      const checked = new FormData(form).getAll(property).map(String);
      if (String(checked.toSorted()) !== String(wordsOf(host, property).sort()))
        changes[property] = checked.join(' ') || undefined;
    }
    result = '';
    host.requestUpdate();
    await host.updateComplete;
    const [wrong] = Object.keys(errors);
    if (wrong) return form.querySelector<HTMLElement>(`#${wrong}`)?.focus();
    Object.assign(host, changes);
    host.renderRoot.querySelector('.scroller')?.scrollTo({ top: 0 });
    isAsked = true;
    host.requestUpdate();
    await host.updateComplete;
    if (Object.keys(changes).length > 0) data.emitFilter();
  }

  /** Writes the server's result for the conditions, once: later rows are announced separately. */
  function noteResult(): void {
    const { busy, phase, error, list } = data;
    if (!isAsked || phase === 'loading' || (busy === 'view' && phase === 'ready')) return;
    isAsked = false;
    isRefused = /^(inv|not_)/.test(error?.code ?? '');
    if (isRefused) result = texts.text('filterRefused');
    else if (phase === 'ready')
      result = list.total ? texts.count('countOne', 'count', list.total) : texts.text('emptyFiltered');
  }

  function checkBoxes({ property, legend, options }: Checks<T>): TemplateResult {
    const checked = wordsOf(host, property);
    return html`<fieldset part="filter-field">
      <legend .textContent=${texts.text(legend)}></legend>
      ${options(texts).map(
        ([value, label]) =>
          html`<label><input type="checkbox" name=${property} value=${value} .checked=${checked.includes(value)} /><span .textContent=${label}></span></label>`,
      )}
    </fieldset>`;
  }

  return {
    render() {
      noteResult();
      const values = initialValues(host, fields, texts.formats);
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
          ({ name, label, reads, hint }) => html`<div part="filter-field">
            <label for=${name} .textContent=${texts.text(label)}></label>
            <input id=${name} name=${name} type=${/from|until/.test(reads) ? 'date' : reads === 'code' ? 'search' : 'text'} inputmode=${reads === 'amount' ? 'decimal' : 'text'} .value=${values[name] ?? ''} aria-invalid=${errors[name] ? 'true' : 'false'}
              aria-describedby=${hint ? `${name}-error ${name}-hint` : `${name}-error`} />
            ${hint ? html`<p class="hint" id="${name}-hint" .textContent=${texts.text(hint)}></p>` : ''}
            ${error(name)}
          </div>`,
        )}
        ${checks ? checkBoxes(checks) : ''}
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
