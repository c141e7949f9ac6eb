import { lastStatusOf } from '../../../kernel/upstream-source.ts';
import type { ReadMoney, SeenMove } from '../../../upstream/seen-money.ts';
import { pixResourceFromJson } from '../../pix/model.ts';
import { refundOf } from '../../pix/remote/seen-money.ts';
import { wasPaidBy } from '../../receiving/upstream-payment.ts';
import type { Charge } from '../model.ts';

/** A charge credits the owner's part without the fee, and each subaccount's share. */
export const moneyOfCharge: ReadMoney = (snapshot) => {
  const charge = pixResourceFromJson<Charge>(snapshot);
  const { chargeId } = charge;
  return {
    ids: [chargeId],
    reference: chargeId,
    moves: wasPaidBy(lastStatusOf(charge)) ? movesOf(charge) : [],
  };
};

function movesOf(charge: Charge): SeenMove[] {
  const { amountCents, feeCents, splits, paidAt: at } = charge;
  const shares = new Map<string, number>();
  for (const { subaccountId, amountCents: share } of splits)
    shares.set(subaccountId, (shares.get(subaccountId) ?? 0) + share);
  const shared = splits.reduce((sum, split) => sum + split.amountCents, 0);
  return [
    { kind: 'charge', amountCents: amountCents - shared - (feeCents ?? 0), feeCents, at },
    ...[...shares].map(
      ([subaccountId, share]): SeenMove => ({
        kind: 'split',
        amountCents: share,
        subaccountsDeltaCents: share,
        feeCents: 0,
        subaccountId,
        at,
      }),
    ),
    ...refundOf(charge),
  ];
}
