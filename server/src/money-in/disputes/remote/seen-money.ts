import type { ReadMoney, SeenMove } from '../../../upstream/seen-money.ts';
import { disputeFromJson } from '../model.ts';

/** A dispute blocks its amount until it is won or forgiven (the document's 2.4). */
export const moneyOfDispute: ReadMoney = (snapshot) => {
  const {
    disputeId,
    status,
    lastStatus = null,
    resource,
    amountCents,
    createdAt,
    closedAt,
  } = disputeFromJson(snapshot);
  const known = status === 'unknown' ? lastStatus : status;
  if (known === null) return null;
  const hold: SeenMove = {
    kind: 'dispute_hold',
    disputeBlockedDeltaCents: amountCents,
    feeCents: 0,
    at: createdAt,
  };
  const release: SeenMove = {
    kind: 'dispute_release',
    disputeBlockedDeltaCents: -amountCents,
    feeCents: 0,
    at: closedAt,
  };
  return {
    ids: [disputeId],
    reference: resource?.id ?? disputeId,
    moves: known === 'won' || known === 'forgiven' ? [hold, release] : [hold],
  };
};
