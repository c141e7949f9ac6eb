// Made from the records of the payout methods in server/src/kernel/payout-methods; `npm run regenerate` writes it.

/** The methods that the demo offers: by GraphQL and by REST. An address is of a public ledger, and a key is not. */
export const PAYOUT_METHODS = [
  { method: 'PIX', wireName: 'pix', label: 'PIX', isAddress: false },
  { method: 'PIX_TURBO', wireName: 'pix_turbo', label: 'PIX turbo', isAddress: false },
  { method: 'LTC', wireName: 'ltc', label: 'LTC', isAddress: true },
  { method: 'USDT', wireName: 'usd', label: 'USDT', isAddress: true },
] as const;

export type PayableMethod = (typeof PAYOUT_METHODS)[number]['method'];
