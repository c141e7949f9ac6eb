// The chunk of the controls of the conditions of `<psa-payouts>`, and of its export.
import { arrive } from '../import-again.ts';
import { createControls } from '../list/filters.ts';
import { texts } from './locales/pt-BR.filters.ts';
import type { Texts } from './locales/texts.ts';

export const { createForm, exportRows } = createControls<Texts>(
  [
    { name: 'reference', label: 'search', reads: 'code', hint: 'searchHint' },
    { name: 'externalId', label: 'externalId', reads: 'text' },
    { name: 'amountCents', label: 'amountBrl', reads: 'amount' },
    { name: 'requestedAfter', label: 'requestedFrom', reads: 'from' },
    { name: 'requestedBefore', label: 'requestedUntil', reads: 'until' },
  ],
  texts,
);

arrive('payouts.filters', { createForm, exportRows });
