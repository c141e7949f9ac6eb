import type { ControlTexts } from './texts.ts';

/** The texts of the chunk of the filter's controls. */
export const texts: ControlTexts = {
  search: 'Busca',
  searchHint: 'Código (SAQ-…), número do saque ou identificador do PIX (E2E)',
  externalId: 'Seu número',
  amountBrl: 'Valor (R$)',
  requestedFrom: 'Solicitado desde (Brasília)',
  requestedUntil: 'Solicitado até (Brasília)',
  method: 'Forma de saque',
  apply: 'Filtrar',
  clear: 'Limpar',
  invalidSearch: 'Escreva um código inteiro, sem espaços nem acentos.',
  invalidNumber: 'Escreva até 100 caracteres, sem caracteres invisíveis.',
  invalidAmount: 'Escreva um valor, como {example}.',
  invalidDate: 'Escreva a data inteira: dia, mês e ano.',
  invalidPeriod: 'O último dia vem antes do primeiro.',
  filterRefused: 'Este filtro não está disponível aqui.',
};
