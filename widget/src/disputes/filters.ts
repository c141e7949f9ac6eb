// The chunk of the controls of the conditions of `<psa-disputes>`, and of its export.
import { arrive } from '../import-again.ts';
import { exportRows } from '../list/export.ts';
import type { FilterField } from '../list/filter-fields.ts';
import type { FilterForm, FilterParts } from '../list/filter-form.ts';
import { createFilterForm } from '../list/filters.ts';
import { texts } from './locales/pt-BR.filters.ts';
import type { Texts } from './locales/texts.ts';

const fields: readonly FilterField<Texts>[] = [
  { name: 'amountCents', label: 'amountBrl', reads: 'amount' },
  { name: 'createdAfter', label: 'createdFrom', reads: 'from' },
  { name: 'createdBefore', label: 'createdUntil', reads: 'until' },
];

export function createForm(parts: FilterParts<Texts>): FilterForm {
  return createFilterForm(parts, fields, texts);
}

export { exportRows };

arrive('disputes.filters', { createForm, exportRows });
