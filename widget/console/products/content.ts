// The words of the pages for the content of products, and for its stocks.

export const CONTENT_LABELS = { TEXT: 'Texto', LINK: 'Link', CODES: 'Códigos', UNKNOWN: 'Outro' } as const;

/** Whether a product's content can be delivered at this moment. */
export const STOCK_LABELS = {
  READY: { label: 'Disponível', tone: 'good' },
  LOW: { label: 'Acabando', tone: 'warning' },
  EMPTY: { label: 'Sem estoque', tone: 'bad' },
} as const;
