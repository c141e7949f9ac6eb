// The chunk of the controls of the conditions of `<psa-disputes>`, and of its export.
import { arrive } from '../import-again.ts';
import { CREATED, createControls } from '../list/filters.ts';
import { texts } from './locales/pt-BR.filters.ts';
import type { Texts } from './locales/texts.ts';

export const { createForm, exportRows } = createControls<Texts>(CREATED, texts);

arrive('disputes.filters', { createForm, exportRows });
