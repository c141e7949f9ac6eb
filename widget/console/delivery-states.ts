/** The words for the states of a webhook's delivery, and their tones. A newer server may have others. */
export const DELIVERY_STATES: Readonly<Record<string, [words: string, tone: string]>> = {
  PENDING: ['Na fila', 'waiting'],
  DELIVERED: ['Entregue', 'good'],
  EXHAUSTED: ['Não entregue', 'bad'],
  HELD: ['Retido', 'waiting'],
  CANCELED: ['Cancelado', 'waiting'],
};
