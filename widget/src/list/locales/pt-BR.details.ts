/** The texts of the chunk of a row's details. */
export const details = {
  close: 'Fechar',
  history: 'Histórico (Brasília)',
};
