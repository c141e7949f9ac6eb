/** The texts of the chunk of the filter's controls. */
export const controls = {
  search: 'Busca',
  amountBrl: 'Valor (R$)',
  apply: 'Filtrar',
  clear: 'Limpar',
  invalidSearch: 'Escreva um código inteiro, sem espaços nem acentos.',
  invalidNumber: 'Escreva até 100 caracteres, sem caracteres invisíveis.',
  invalidAmount: 'Escreva um valor, como {example}.',
  invalidDate: 'Escreva a data inteira: dia, mês e ano.',
  invalidPeriod: 'O último dia vem antes do primeiro.',
  filterRefused: 'Este filtro não está disponível aqui.',
};
