import { describe, expect, it } from 'vitest';
import { type CheckoutState, INITIAL, pickNewer, reduce } from '../../widget/src/checkout-state.ts';
import type { CardPayment, CardPaymentStatus, Payment } from '../../widget/src/operations.ts';

const STATUSES: CardPaymentStatus[] = ['PENDING', 'PAID', 'EXPIRED', 'REFUNDED', 'FAILED', 'UNKNOWN'];

const payment = (status: CardPaymentStatus, version: number, orderCode = 'A'): CardPayment => ({
  __typename: 'CardPayment',
  orderCode,
  status,
  amountCents: 4990,
  currency: 'BRL',
  checkoutUrl: 'https://pay.example/checkout/A',
  expiresAt: '2031-01-01T12:00:00.000Z',
  expiresInSeconds: 60,
  description: null,
  paidAt: null,
  paidLate: false,
  orderPaid: false,
  orderRefunded: false,
  returned: false,
  canceledAt: null,
  refundedAt: null,
  failureReason: null,
  version,
});

const afterAnswers = (...payments: CardPayment[]): CheckoutState =>
  payments.reduce(
    (state, answer) => reduce(state, { type: 'answered', payment: answer }),
    reduce(INITIAL, { type: 'started' }),
  );

describe('the state of a checkout', () => {
  it.each([
    ['PENDING', 'pending'],
    ['UNKNOWN', 'pending'],
    ['PAID', 'paid'],
    ['EXPIRED', 'expired'],
    ['REFUNDED', 'refunded'],
    ['FAILED', 'failed'],
  ] as const)('a payment that is %s is shown as %s', (status, phase) => {
    expect(afterAnswers(payment(status, 1)).phase).toBe(phase);
  });

  it('a payment whose order was paid by another says so while it is open or expired, and is no receipt', () => {
    const closed = (status: CardPaymentStatus, orderRefunded = false): CardPayment => ({
      ...payment(status, 2),
      ...{ orderPaid: true, orderRefunded },
    });
    expect(afterAnswers(payment('PENDING', 1), closed('PENDING')).phase).toBe('order_paid');
    expect(afterAnswers(closed('EXPIRED')).phase).toBe('order_paid');
    expect(afterAnswers(closed('PENDING', true)).phase).toBe('order_refunded');
    expect(afterAnswers(closed('PAID')).phase).toBe('paid');
    const late = { ...closed('FAILED'), returned: true };
    expect(afterAnswers(closed('EXPIRED'), { ...late, version: 3 }).phase).toBe('order_paid');
    expect(afterAnswers({ ...late, orderRefunded: true }).phase).toBe('order_refunded');
    expect(afterAnswers({ ...late, orderPaid: false }).phase).toBe('failed');
    expect(afterAnswers(closed('FAILED')).phase).toBe('failed');
    const refusal = { message: 'no', retryable: false };
    for (const code of ['order_paid', 'order_refunded'] as const)
      expect(reduce({ phase: 'creating' }, { type: 'refused', error: { code, ...refusal } })).toEqual({
        phase: code,
        payment: undefined,
      });
  });

  it('the larger version wins, whichever answer comes last', () => {
    expect(afterAnswers(payment('PAID', 2), payment('PENDING', 1))).toMatchObject({
      phase: 'paid',
      payment: { version: 2 },
    });
  });

  it('an expired payment can become paid, and a paid one refunded', () => {
    expect(afterAnswers(payment('EXPIRED', 2), payment('PAID', 3)).phase).toBe('paid');
    expect(afterAnswers(payment('PAID', 2), payment('REFUNDED', 3)).phase).toBe('refunded');
  });

  it('no order of answers and no version leads a payment back', () => {
    const order = { PENDING: 0, UNKNOWN: 0, EXPIRED: 1, FAILED: 2, PAID: 2, REFUNDED: 3 };
    for (const held of STATUSES)
      for (const answer of STATUSES)
        for (const version of [1, 2, 3]) {
          const kept = pickNewer(payment(held, 2), payment(answer, version));
          expect(order[kept.status], `${held} then ${answer} v${version}`).toBeGreaterThanOrEqual(
            order[held],
          );
          expect(kept.version).toBeGreaterThanOrEqual(2);
        }
  });

  it('an answer of the same version refreshes the countdown', () => {
    const fresh = { ...payment('PENDING', 1), expiresInSeconds: 12 };
    expect(pickNewer(payment('PENDING', 1), fresh)).toBe(fresh);
  });

  it('versions of different payments are not compared', () => {
    expect(afterAnswers(payment('EXPIRED', 9, 'A'), payment('PENDING', 1, 'B')).phase).toBe('pending');
  });

  it('a payment by PIX is compared by its own identifier', () => {
    const { orderCode: _, checkoutUrl: __, failureReason: ___, ...shared } = payment('EXPIRED', 9);
    const pix = { ...shared, pix: null };
    const first: Payment = { ...pix, __typename: 'Payment', paymentId: 'psa_1', returnedCredits: [] };
    expect(pickNewer(first, { ...first, status: 'PENDING', version: 10 })).toBe(first);
    const second: Payment = { ...first, paymentId: 'psa_2', status: 'PENDING', version: 1 };
    expect(pickNewer(first, second)).toBe(second);
    expect(pickNewer(payment('PAID', 9), second)).toBe(second);
  });

  it('a start forgets the payment before it', () => {
    expect(reduce(afterAnswers(payment('EXPIRED', 9)), { type: 'started' })).toEqual({ phase: 'creating' });
  });

  it('an error does not hide a result', () => {
    const error = { code: 'network', message: '', retryable: true } as const;
    const paid = afterAnswers(payment('PAID', 2));
    expect(reduce(paid, { type: 'refused', error })).toBe(paid);
    expect(reduce(afterAnswers(payment('PENDING', 1)), { type: 'refused', error }).phase).toBe('error');
  });

  it('a result clears the blocked popup', () => {
    const blocked = reduce(afterAnswers(payment('PENDING', 1)), { type: 'blocked' });
    expect(blocked.blocked).toBe(true);
    expect(reduce(blocked, { type: 'answered', payment: payment('PAID', 2) }).blocked).toBe(false);
  });
});
