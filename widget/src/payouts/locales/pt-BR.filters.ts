import { controls } from '../../list/locales/pt-BR.filters.ts';
import type { ControlTexts } from './texts.ts';

/** The texts of the chunk of the filter's controls. */
export const texts: ControlTexts = {
  ...controls,
  searchHint: 'Código (SAQ-…), número do saque ou identificador do PIX (E2E)',
  externalId: 'Seu número',
  requestedFrom: 'Solicitado desde (Brasília)',
  requestedUntil: 'Solicitado até (Brasília)',
  method: 'Forma de saque',
};
