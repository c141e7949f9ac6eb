// The columns of the tables of payments and disputes.
export const PAYMENT_COLUMNS = [
  { label: 'Status' },
  { label: 'Valor', numeric: true },
  { label: 'Venda' },
  { label: 'Código' },
  { label: 'Criado' },
];

export const DISPUTE_COLUMNS = [
  { label: 'Status' },
  { label: 'Valor', numeric: true },
  { label: 'Venda' },
  { label: 'Código' },
  { label: 'Prazo ou decisão' },
];
