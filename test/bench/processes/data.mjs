// The data that every server reads from memory, as our own port returns it: names of enum values in its words,
// instants as dates.

export const WALLET = {
  environment: 'live',
  balanceCents: 1_234_567,
  disputeBlockedCents: 0,
  withdrawableCents: 1_200_050,
  pendingReleaseCents: 14_990,
  subaccountsBalanceCents: 34_517,
  assignableCents: 1_200_050,
  cryptoBalanceLitoshi: 0,
};

const NEWEST_AT = Date.UTC(2026, 0, 31, 12);
const MINUTE_MS = 60_000;

/** Fifty payouts, newest first: one page. */
export const PAYOUTS = Array.from({ length: 50 }, (_, index) => {
  const requestedAt = new Date(NEWEST_AT - index * MINUTE_MS);
  return {
    withdrawalId: index.toString(16).padStart(24, '0'),
    code: `SAQ-${String(index).padStart(12, '0')}`,
    version: 2,
    method: index % 5 === 0 ? 'pix_turbo' : 'pix',
    status: index % 4 === 0 ? 'processing' : 'completed',
    amountCents: 4_990 + index,
    feeCents: 100,
    litoshi: null,
    // The destination is already masked, so that no server has to mask it.
    destination: 'a***@padaria.example',
    requestedAt,
    processedAt: index % 4 === 0 ? null : new Date(requestedAt.getTime() + 2_000),
    deniedReason: null,
    endToEndId: null,
  };
});

/** A card payment as a peer's subscriber reads it. @param {number} number */
export function cardPayment(number) {
  const createdAt = new Date(NEWEST_AT);
  return {
    orderCode: `PSC-${String(number).padStart(24, '0')}`,
    version: 1,
    status: 'PENDING',
    amountCents: 4_990,
    currency: 'BRL',
    description: 'Caneca',
    createdAt,
    expiresAt: new Date(NEWEST_AT + 30 * MINUTE_MS),
    paidAt: null,
  };
}
