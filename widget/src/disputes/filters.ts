// The chunk of the controls of the conditions of `<psa-disputes>`, and of its export.
import { CREATED, createControls } from '../list/filters.ts';
import { texts } from './locales/pt-BR.filters.ts';
import type { Texts } from './locales/texts.ts';

export const { createForm, exportRows } = createControls<Texts>('disputes', CREATED, texts);
