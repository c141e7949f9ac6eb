import type { ReadMoney, SeenMove } from '../../../upstream/seen-money.ts';
import { type SubaccountPayout, subaccountPayoutFromJson } from '../model.ts';

/** A subaccount's payout takes its gross amount from the subaccount, until that is reversed. The account's own fee is its own once the payout has arrived. */
export const moneyOfSubaccountPayout: ReadMoney = (snapshot) => {
  const payout = subaccountPayoutFromJson(snapshot);
  const { id, formerId, payoutId, inDoubt, neverMade } = payout;
  return {
    ids: [id, ...(formerId === undefined ? [] : [formerId])],
    reference: payoutId ?? id,
    moves: inDoubt || neverMade ? [] : movesOf(payout),
  };
};

function movesOf(payout: SubaccountPayout): SeenMove[] {
  const { status, reversed, amountCents, feeCents, platformFeeCents, subaccountId } = payout;
  const { createdAt, completedAt, reversedAt } = payout;
  const moved = (cents: number) => ({ amountCents: cents, subaccountsDeltaCents: cents, subaccountId });
  return [
    { kind: 'subaccount_payout', ...moved(-amountCents), feeCents: platformFeeCents, at: createdAt },
    ...(reversed
      ? [
          {
            kind: 'subaccount_payout_return' as const,
            ...moved(amountCents),
            feeCents: platformFeeCents === null ? null : 0 - platformFeeCents,
            at: reversedAt,
          },
        ]
      : []),
    ...(status === 'completed' && !reversed && feeCents
      ? [
          {
            kind: 'subaccount_markup' as const,
            amountCents: feeCents,
            feeCents: 0,
            subaccountId,
            at: completedAt,
          },
        ]
      : []),
  ];
}
