import type { PayResult } from '../../server/src/money-in/card-payments/hosted-checkout.ts';
import type { CardPaymentStatus } from '../../server/src/money-in/card-payments/model.ts';
import type { AuditedPayment } from './audit.ts';
import { type RequestSequence, repeated } from './load.ts';
import type { Random } from './random.ts';

/** One payment as its client knows it: what was requested, and what was acknowledged. */
interface Order {
  readonly key: string;
  /** The amount is unique, so that it identifies the order of a payment. */
  readonly valueCents: number;
  /** The card, or null if the payer never comes back. */
  readonly card: { number: string; leadsTo: CardPaymentStatus } | null;
  readonly refundIt: boolean;
  /** Set if the merchant cancels it before anybody pays. */
  readonly cancelIt: boolean;
  /** Set if the client sends everything twice at once, as an impatient one does. */
  readonly twice: boolean;
  orderCode: string | null;
  outcome: PayResult['kind'] | null;
  refundAcknowledged: boolean;
  cancelAcknowledged: boolean;
  /** The highest version that an audit has shown; it never falls. */
  version: number;
}

export const CARDS = [
  { number: '4242424242424242', leadsTo: 'paid' },
  { number: '4242424242424242', leadsTo: 'paid' },
  { number: '5555555555554444', leadsTo: 'paid' },
  // The acquirer decides this card five seconds later.
  { number: '4000000000003220', leadsTo: 'paid' },
  { number: '4000000000000002', leadsTo: 'expired' },
  { number: '4100000000000019', leadsTo: 'failed' },
  null,
] as const;

/** The statuses that a payment may have after this answer; other tries may have changed it further. */
const MAY_FOLLOW: Record<PayResult['kind'], readonly CardPaymentStatus[]> = {
  paid: ['paid', 'refunded'],
  processing: ['pending', 'paid', 'refunded'],
  // Each of these payments has an order of its own.
  returned: [],
  declined: ['pending', 'expired'],
  not_charged: ['pending', 'expired'],
  // These payers have no address that could be held back.
  held_back: [],
  failed: ['failed'],
  // Another try has decided the payment, or its time is over.
  not_payable: ['paid', 'refunded', 'failed', 'expired'],
  in_progress: ['pending', 'paid', 'refunded', 'failed'],
  paid_elsewhere: [],
};

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) { ... on CreateCardPaymentSuccess { cardPayment { orderCode } } ... on UserError { code message } }
}`;
const CANCEL = `mutation ($orderCode: String!) {
  done: cancelCardPayment(orderCode: $orderCode) { ... on CancelCardPaymentSuccess { cardPayment { status } } ... on UserError { code message } }
}`;

/**
 * Clients that create payments, pay and refund them, and repeat each unanswered request with its key. They remember
 * every answer; `complaints` lists the answers that contradict the ledger.
 */
export function createCustomers(random: Random) {
  const orders: Order[] = [];

  function newOrder(given: Partial<Pick<Order, 'card' | 'refundIt' | 'cancelIt'>> = {}): RequestSequence {
    const order: Order = {
      key: `order:${orders.length}`,
      valueCents: 1_000 + orders.length,
      card: random.pick(CARDS),
      refundIt: random.below(4) === 0,
      cancelIt: false,
      twice: random.below(4) === 0,
      orderCode: null,
      outcome: null,
      refundAcknowledged: false,
      cancelAcknowledged: false,
      version: 0,
      ...given,
    };
    orders.push(order);
    return {
      key: order.key,
      isOpen: () =>
        order.orderCode === null ||
        wantsCancel(order) ||
        (order.card !== null && order.outcome === null) ||
        wantsRefund(order),
      step: (server, api) => step(order, server, api),
    };
  }

  const wantsRefund = (order: Order) =>
    order.refundIt && order.outcome === 'paid' && !order.refundAcknowledged;

  const wantsCancel = (order: Order) => order.cancelIt && !order.cancelAcknowledged;

  const step = async (order: Order, ...[server, api]: Parameters<RequestSequence['step']>): Promise<void> => {
    if (order.orderCode === null) {
      const created = await repeated(order.twice, async () => {
        const { createCardPayment } = await api.request(CREATE, {
          input: { valueCents: order.valueCents, idempotencyKey: order.key },
        });
        if (!createCardPayment.cardPayment) throw new Error(`refused: ${JSON.stringify(createCardPayment)}`);
        order.orderCode ??= createCardPayment.cardPayment.orderCode as string;
        return createCardPayment.cardPayment.orderCode as string;
      });
      if (created.some((orderCode) => orderCode !== order.orderCode))
        throw new Error(`${order.key} created ${created.join(' and ')}`);
    } else if (wantsCancel(order)) {
      const { orderCode } = order;
      await repeated(order.twice, async () => {
        const { done } = await api.request(CANCEL, { orderCode });
        if (done.cardPayment?.status !== 'EXPIRED') throw new Error(`refused: ${JSON.stringify(done)}`);
      });
      order.cancelAcknowledged = true;
    } else if (order.card && order.outcome === null) {
      const { orderCode, card } = order;
      const kinds = await repeated(order.twice, async () => {
        const { kind } = await server.ask('pay', { orderCode, cardNumber: card.number });
        if (kind !== 'in_progress' && kind !== 'not_payable') order.outcome = kind;
        return kind;
      });
      if (order.outcome === null && kinds.includes('not_payable')) order.outcome = 'not_payable';
    } else {
      await server.ask('refund', { orderCode: order.orderCode });
      order.refundAcknowledged = true;
    }
  };

  return {
    newOrder,
    tally: () => ({
      orders: orders.length,
      refunds: orders.filter((order) => order.refundAcknowledged).length,
    }),

    /** Every answer that contradicts these payments. `final`: no work is left. */
    complaints(payments: readonly AuditedPayment[], { final }: { final: boolean }): string[] {
      const found = new Map(payments.map((payment) => [payment.orderCode, payment]));
      const complaints: string[] = [];
      for (const order of orders) {
        const complain = (what: string) => complaints.push(`${order.key} ${JSON.stringify(order)}: ${what}`);
        const sameValue = payments.filter((payment) => payment.amountCents === order.valueCents);
        if (sameValue.length > 1) complain(`${sameValue.length} payments`);
        if (order.orderCode === null) continue;
        const payment = found.get(order.orderCode);
        if (!payment) {
          complain('is gone');
          continue;
        }
        const { status, version } = payment;
        if (payment.key !== order.key || payment.amountCents !== order.valueCents) complain('is another’s');
        if (order.outcome && !MAY_FOLLOW[order.outcome].includes(status)) complain(`is ${status}`);
        if (order.cancelAcknowledged && status !== 'expired') complain(`was canceled and is ${status}`);
        if (version < order.version) complain(`fell from version ${order.version} to ${version}`);
        order.version = version;
        if (!final) continue;
        if (payment.hasOpenCharge || status === 'pending') complain('was never decided');
        if (order.refundAcknowledged !== (status === 'refunded')) complain(`is ${status} in the end`);
        // A payer who is too late finds the payment expired; an answer that it was paid is checked above.
        const ends = order.cancelIt
          ? ['expired']
          : [order.card?.leadsTo ?? 'expired', 'expired', ...(order.refundIt ? ['refunded'] : [])];
        if (!ends.includes(status)) complain(`is ${status} in the end`);
        if (order.outcome === 'processing' && status === 'expired') complain('was taken and not paid');
      }
      return complaints;
    },
  };
}
