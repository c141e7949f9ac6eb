import { controls } from '../../list/locales/pt-BR.filters.ts';
import type { ControlTexts } from './texts.ts';

/** The texts of the chunk of the filter's controls. */
export const texts: ControlTexts = {
  ...controls,
  createdFrom: 'Aberta desde (Brasília)',
  createdUntil: 'Aberta até (Brasília)',
};
