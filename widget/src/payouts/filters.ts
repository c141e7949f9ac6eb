// The chunk of the controls of the conditions of `<psa-payouts>`, and of its export.
import { arrive } from '../import-again.ts';
import { exportRows } from '../list/export.ts';
import type { FilterField } from '../list/filter-fields.ts';
import type { FilterForm, FilterParts } from '../list/filter-form.ts';
import { createFilterForm } from '../list/filters.ts';
import { texts } from './locales/pt-BR.filters.ts';
import type { Texts } from './locales/texts.ts';

const fields: readonly FilterField<Texts>[] = [
  { name: 'reference', label: 'search', reads: 'code', hint: 'searchHint' },
  { name: 'externalId', label: 'externalId', reads: 'text' },
  { name: 'amountCents', label: 'amountBrl', reads: 'amount' },
  { name: 'requestedAfter', label: 'requestedFrom', reads: 'from' },
  { name: 'requestedBefore', label: 'requestedUntil', reads: 'until' },
];

export function createForm(parts: FilterParts<Texts>): FilterForm {
  return createFilterForm(parts, fields, texts);
}

export { exportRows };

arrive('payouts.filters', { createForm, exportRows });
