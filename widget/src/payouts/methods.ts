// Made from the records of the payout methods in server/src/kernel/payout-methods; `npm run regenerate` writes it.

/** The name of each method in the table, the same in every language. */
export const METHOD_LABELS = {
  PIX: 'PIX',
  PIX_TURBO: 'PIX turbo',
  LTC: 'LTC',
  USDT: 'USDT',
  UNKNOWN: '—',
} as const;

/** UNKNOWN is a method that the server itself does not know yet. */
export type PayoutMethod = keyof typeof METHOD_LABELS;
