import type { MoneyMovement } from './chart-hours.ts';
import type { CardPayment, CompletedRefund, PaidByPix, Payout, SubaccountPayout } from './operations.ts';

/** The money movements that the chart of the day shows. */
export function movementsOf({
  cardPayments,
  pixPayments,
  payouts,
  subaccountPayouts,
}: {
  cardPayments: readonly CardPayment[];
  pixPayments: readonly PaidByPix[];
  payouts: readonly Payout[];
  subaccountPayouts: readonly SubaccountPayout[];
}): MoneyMovement[] {
  return [
    ...cardPayments.flatMap((payment) => [
      ...movement(payment.paidAt, payment.amountCents),
      ...refundsOf(payment),
    ]),
    // LTC are no reais: the chart has neither their payments nor the payouts of their balance.
    ...pixPayments.flatMap((payment) =>
      'method' in payment && payment.method === 'LTC'
        ? []
        : [...movement(payment.paidAt, payment.amountCents), ...refundsOf(payment)],
    ),
    ...payouts
      .filter(({ status, method }) => status === 'COMPLETED' && method !== 'LTC')
      .flatMap(({ processedAt, amountCents }) => movement(processedAt, -amountCents)),
    ...subaccountPayouts
      .filter(({ status }) => status === 'COMPLETED')
      .flatMap(({ completedAt, amountCents }) => movement(completedAt, -amountCents)),
  ];
}

/** The refunds of a payment, each at its instant; the refund of the whole alone where the service does not list them. */
function refundsOf({
  refunds,
  refundedAt,
  amountCents,
}: {
  refunds: readonly CompletedRefund[] | null;
  refundedAt: string | null;
  amountCents: number;
}): MoneyMovement[] {
  if (refunds === null) return movement(refundedAt, -amountCents);
  return refunds
    .filter(({ status }) => status === 'COMPLETED')
    .flatMap((refund) => movement(refund.completedAt, -refund.amountCents));
}

function movement(instant: string | null, cents: number): MoneyMovement[] {
  return instant === null ? [] : [{ at: new Date(instant), cents }];
}
