import { html, type TemplateResult } from 'lit';
import { line } from '../board/messages.ts';
import { importAgain } from '../import-again.ts';
import type { FilterForm, FilterParts } from './filter-form.ts';
import type { ListKind } from './list-kind.ts';
import type { ListTexts } from './locales/texts.ts';
import type { Row } from './row-list.ts';

/** The button of the filter's conditions, without those that are buttons themselves, and their form. */
export interface MoreFilters {
  renderButton(): TemplateResult;
  renderForm(): TemplateResult | '';
}

/** Creates the button, whose first click loads the chunk of the form. */
export function createMoreFilters<R extends Row, T extends ListTexts>(
  kind: ListKind<R, T>,
  parts: Omit<FilterParts<T>, 'html' | 'checks'>,
): MoreFilters {
  const { host, texts } = parts;
  let isOpen = false;
  let form: FilterForm | undefined;
  let isLost = false;

  const toggle = async () => {
    isOpen = !isOpen;
    host.requestUpdate();
    try {
      const { createForm } = await importAgain(`${kind.title}.filters`, kind.loadControls);
      form ??= createForm({ html, checks: kind.checks, ...parts });
    } catch {
      isLost = true;
    }
    host.requestUpdate();
  };

  return {
    renderButton() {
      const given = host as unknown as Record<string, unknown>;
      const { length } = kind.conditions.filter((name) => name !== kind.search?.property && given[name]);
      return html`<button part="filters-button" class="filter" aria-expanded=${isOpen ? 'true' : 'false'} @click=${toggle}
        .textContent=${texts.text('moreFilters') + (length ? ` (${length})` : '')}></button>`;
    },
    renderForm: () => (isOpen && (form?.render() ?? (isLost && line(texts.text('network'))))) || '',
  };
}
