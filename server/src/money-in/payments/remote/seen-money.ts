import { lastStatusOf } from '../../../kernel/upstream-source.ts';
import type { ReadMoney, SeenMove } from '../../../upstream/seen-money.ts';
import { refundOf } from '../../pix/remote/seen-money.ts';
import { wasPaidBy } from '../../receiving/upstream-payment.ts';
import { type Payment, paymentFromJson } from '../model.ts';

/** A payment by PIX credits its amount without the fee; one by LTC what was received. */
export const moneyOfPayment: ReadMoney = (snapshot) => {
  const payment = paymentFromJson(snapshot);
  const { paymentId } = payment;
  return {
    ids: [paymentId],
    reference: paymentId,
    moves: wasPaidBy(lastStatusOf(payment)) ? movesOf(payment) : [],
  };
};

function movesOf(payment: Payment): SeenMove[] {
  const { method, ltc, amountCents, feeCents, paidAt: at } = payment;
  if (method === 'ltc') {
    const litoshi = ltc?.receivedLitoshi ?? null;
    return litoshi === null ? [] : [{ kind: 'payment', litoshiDelta: litoshi, feeCents, at }];
  }
  if (method !== 'pix') return [];
  return [
    { kind: 'payment', amountCents: amountCents - (feeCents ?? 0), feeCents, at },
    ...refundOf(payment),
  ];
}
