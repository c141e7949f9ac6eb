import type { ReadMoney, SeenMove } from '../../../upstream/seen-money.ts';
import { type Payout, payoutFromJson } from '../model.ts';

/**
 * A payout is debited with its request, and credited if it is denied (the document's 3.3) or comes back. One in doubt, or that the
 * service never made, has moved nothing for certain.
 */
export const moneyOfPayout: ReadMoney = (snapshot) => {
  const payout = payoutFromJson(snapshot);
  const { withdrawalId, requestId, code } = payout;
  // The service names what it has made.
  if (withdrawalId === null || payout.inDoubt) return null;
  return {
    ids: [withdrawalId, ...(requestId === undefined ? [] : [requestId])],
    reference: code ?? withdrawalId,
    moves: movesOf(payout),
  };
};

function movesOf(payout: Payout): SeenMove[] {
  const { method, status, amountCents, litoshi, feeCents, requestedAt, processedAt, returnedAt } = payout;
  // What an unknown method takes, and how much LTC if the service does not show it, is not known.
  if (method === 'unknown' || (method === 'ltc' && litoshi === null)) return [];
  const amountOf = (sign: 1 | -1) =>
    litoshi === null ? { amountCents: sign * amountCents } : { litoshiDelta: sign * litoshi };
  const isBack = status === 'denied' || status === 'returned';
  return [
    { kind: 'payout', ...amountOf(-1), feeCents, at: requestedAt },
    ...(isBack
      ? [
          {
            kind: 'payout_return' as const,
            ...amountOf(1),
            feeCents: feeCents === null ? null : 0 - feeCents,
            at: status === 'denied' ? processedAt : returnedAt,
          },
        ]
      : []),
  ];
}
