import { type Change, type Collection, put, type Reader, type State, type Writes } from '../commit/commit.ts';
import { NotFoundError } from '../kernel/errors.ts';
import type { CardPaymentChange } from './decisions.ts';
import type { StoredCardPayment } from './model.ts';
import {
  decideRefundBegin,
  decideRefundCompleted,
  decideRefundFailed,
  type RefundRequest,
} from './refunding.ts';
import {
  type CheckoutUse,
  saveCardPayments,
  saveCheckoutUses,
  selectByAttempts,
  selectCardPayments,
  selectCheckoutUses,
} from './store.ts';

/** Card payments, as a decision reads and writes them. */
export const cardPayments: Collection<StoredCardPayment> = {
  name: 'card_payment',
  load: selectCardPayments,
  keyOf: (payment) => payment.orderCode,
  save: saveCardPayments,
};

export const checkoutUses: Collection<CheckoutUse> = {
  name: 'checkout_use',
  load: (sql, _tenant, tokenIds) => selectCheckoutUses(sql, tokenIds),
  keyOf: (use) => use.tokenId,
  save: (sql, _tenant, uses) => saveCheckoutUses(sql, uses),
};

interface Attempt {
  attempt: string;
  orderCodes: string[];
}

/** Checkout attempts, derived from the payments; read only. */
const attempts: Collection<Attempt> = {
  name: 'checkout_attempt',
  async load(sql, tenant, keys) {
    const rows = await selectByAttempts(sql, tenant, keys);
    return keys.map((attempt) => ({
      attempt,
      orderCodes: rows.filter((row) => row.attempt === attempt).map((row) => row.orderCode),
    }));
  },
  keyOf: (row) => row.attempt,
  save: () => Promise.reject(new Error('a checkout attempt is read only')),
};

/** Loads a payment, and the others of its checkout attempt. */
export async function readWithSiblings(reader: Reader, orderCode: string): Promise<void> {
  const payment = await reader.load(cardPayments, orderCode);
  if (!payment?.checkoutAttempt) return;
  const attempt = await reader.load(attempts, payment.checkoutAttempt);
  await Promise.all((attempt?.orderCodes ?? []).map((sibling) => reader.load(cardPayments, sibling)));
}

export function siblingsOf(state: State, payment: StoredCardPayment): StoredCardPayment[] {
  if (!payment.checkoutAttempt) return [];
  const orderCodes = state.get(attempts, payment.checkoutAttempt)?.orderCodes ?? [];
  return orderCodes
    .filter((orderCode) => orderCode !== payment.orderCode)
    .map((orderCode) => state.get(cardPayments, orderCode))
    .filter((sibling) => sibling !== null);
}

/** Translates a step of a payment into writes. */
export function writesOf({ previous, payment, transaction, due, announced }: CardPaymentChange): Writes & {
  records: Change[];
} {
  return {
    records: [put(cardPayments, payment)],
    transactions: transaction ? [transaction] : [],
    events: announced
      ? [
          {
            kind: `card_payment.${payment.status}`,
            resource: 'card_payment',
            resourceId: payment.orderCode,
            previousStatus: previous?.status ?? null,
            snapshot: payment,
          },
        ]
      : [],
    tasks: due.map(({ kind, at }) => ({ kind, key: payment.orderCode, at })),
  };
}

/** Card payments, as refunds take from them and end. */
export const refundableCardPayments = {
  read: (reader: Reader, orderCode: string) => reader.load(cardPayments, orderCode),

  begin(state: State, orderCode: string, request: RefundRequest) {
    const payment = state.get(cardPayments, orderCode);
    if (!payment) throw new NotFoundError('Card payment not found');
    const { change, amountCents } = decideRefundBegin(payment, request, state);
    return {
      amountCents,
      chargeId: payment.paidChargeId!,
      details: refundDetailsOf(payment),
      writes: writesOf(change),
    };
  },

  end(
    state: State,
    orderCode: string,
    refund: { refundId: string; amountCents: number; status: 'completed' | 'failed' },
  ) {
    const payment = state.need(cardPayments, orderCode);
    const details = refundDetailsOf(payment);
    // The merchant never gets the money of a payment that is returned by itself: there is no other end than its refund.
    if (refund.status === 'failed' && payment.status === 'refunded')
      return { details, writes: {}, mustRepeat: true };
    const change =
      refund.status === 'completed'
        ? decideRefundCompleted(payment, refund, state.now)
        : decideRefundFailed(payment, refund, state.balances);
    return { details, writes: writesOf(change), mustRepeat: false };
  },
};

/** The details of a payment that the webhooks of its refunds need. */
export function refundDetailsOf({ metadata, callbackUrl }: StoredCardPayment) {
  return { metadata, callbackUrl };
}
