import { html, type TemplateResult } from 'lit';
import { importAgain } from '../import-again.ts';
import type { FilterForm, FilterHost } from './filter-form.ts';
import { line } from './messages.ts';
import { METHOD_LABELS } from './methods.ts';
import type { PayoutTexts } from './payout-texts.ts';
import type { PayoutsController } from './payouts-controller.ts';

/** The button of the filter's conditions, without the statuses, and their form. */
export interface MoreFilters {
  renderButton(): TemplateResult;
  renderForm(): TemplateResult | '';
}

/** Creates the button, whose first click loads the chunk of the form. */
export function createMoreFilters(
  host: FilterHost,
  data: PayoutsController,
  texts: PayoutTexts,
): MoreFilters {
  let isOpen = false;
  let form: FilterForm | undefined;
  let isLost = false;

  const toggle = async () => {
    isOpen = !isOpen;
    host.requestUpdate();
    try {
      const { createFilterForm } = await importAgain('payouts.filters', () => import('./filters.ts'));
      form ??= createFilterForm(html, host, data, texts, METHOD_LABELS);
    } catch {
      isLost = true;
    }
    host.requestUpdate();
  };

  return {
    renderButton() {
      const { length } = Object.keys(host.view.filter ?? {});
      return html`<button part="filters-button" class="filter" aria-expanded=${isOpen ? 'true' : 'false'} @click=${toggle}
        .textContent=${texts.text('moreFilters') + (length ? ` (${length})` : '')}></button>`;
    },
    renderForm: () => (isOpen && (form?.render() ?? (isLost && line(texts.text('network'))))) || '',
  };
}
