import type { ReadMoney, SeenMove } from '../../../upstream/seen-money.ts';
import { refundFromJson } from '../model.ts';

/** A refund takes its amount when it begins, and gives it back if it fails. Of a card nobody shows from which figure. */
export const moneyOfRefund: ReadMoney = (snapshot) => {
  const { refundId, status, resource, amountCents, createdAt, failedAt } = refundFromJson(snapshot);
  if (resource.type === 'card_payment') return null;
  const taken: SeenMove = { kind: 'refund', amountCents: -amountCents, feeCents: 0, at: createdAt };
  const failure: SeenMove = { kind: 'refund_failure', amountCents, feeCents: 0, at: failedAt };
  return {
    ids: [refundId],
    reference: resource.id,
    moves: status === 'failed' ? [taken, failure] : [taken],
  };
};
