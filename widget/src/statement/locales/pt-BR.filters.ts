import { controls } from '../../list/locales/pt-BR.filters.ts';
import type { ControlTexts } from './texts.ts';

/** The texts of the chunk of the filter's controls. */
export const texts: ControlTexts = {
  ...controls,
  searchHint: 'Código ou número do pagamento, do saque, do estorno, da disputa ou da transferência',
  createdFrom: 'Desde (Brasília)',
  createdUntil: 'Até (Brasília)',
  kindFilter: 'Lançamentos',
};
