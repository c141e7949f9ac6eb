import { lastStatusOf } from '../../../kernel/upstream-source.ts';
import type { ReadMoney } from '../../../upstream/seen-money.ts';
import { wasPaidBy } from '../../receiving/upstream-payment.ts';
import { cardPaymentFromJson } from '../model.ts';

/**
 * A card sale waits for its release, which the service does not report: neither that nor from which figure a refund is taken
 * is known for certain.
 */
export const moneyOfCardPayment: ReadMoney = (snapshot) => {
  const payment = cardPaymentFromJson(snapshot);
  const { orderCode, amountCents, feeCents = null, paidAt: at } = payment;
  const pendingReleaseDeltaCents = amountCents - (feeCents ?? 0);
  return {
    ids: [orderCode],
    reference: orderCode,
    moves: wasPaidBy(lastStatusOf(payment))
      ? [{ kind: 'card_payment', pendingReleaseDeltaCents, feeCents, at }]
      : [],
  };
};
