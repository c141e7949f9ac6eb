/** The intervals of a subscription, as the pages name them. */
export const INTERVALS: Record<string, string> = {
  weekly: 'por semana',
  monthly: 'por mês',
  quarterly: 'por trimestre',
  semiannual: 'por semestre',
  yearly: 'por ano',
};
