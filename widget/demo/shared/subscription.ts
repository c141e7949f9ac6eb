/** The intervals of a subscription, as the pages name them. */
export const INTERVALS: Record<string, string> = {
  weekly: 'semanal',
  monthly: 'mensal',
  quarterly: 'trimestral',
  semiannual: 'semestral',
  yearly: 'anual',
};
