import type { CardPaymentStatus, PayResult } from '../../server/src/card-payments/model.ts';
import { createClient, type GraphQLClient } from '../support/graphql.ts';
import type { AuditedPayment } from './audit.ts';
import { type ChildServer, ServerDied } from './child.ts';
import type { Random } from './random.ts';

/** One payment as its client knows it: what was asked for, and what was acknowledged. */
interface Order {
  readonly key: string;
  /** No two alike, so that a payment tells whose it is. */
  readonly valueCents: number;
  /** Null: the payer never comes back. */
  readonly card: { number: string; leadsTo: CardPaymentStatus } | null;
  readonly refundIt: boolean;
  /** Sends everything twice at once, as an impatient client does. */
  readonly twice: boolean;
  /** The last two were answered. */
  orderCode: string | null;
  outcome: PayResult['kind'] | null;
  refundAcknowledged: boolean;
  /** What an audit has shown; it never falls. */
  version: number;
  busy: boolean;
}

const CARDS = [
  { number: '4242424242424242', leadsTo: 'paid' },
  { number: '4242424242424242', leadsTo: 'paid' },
  { number: '5555555555554444', leadsTo: 'paid' },
  // Decided five seconds later.
  { number: '4000000000003220', leadsTo: 'paid' },
  { number: '4000000000000002', leadsTo: 'expired' },
  { number: '4100000000000019', leadsTo: 'failed' },
  null,
] as const;

/** Where a payment may stand once this was answered; other tries may have been answered with more. */
const MAY_FOLLOW: Record<PayResult['kind'], readonly CardPaymentStatus[]> = {
  paid: ['paid', 'refunded'],
  processing: ['pending', 'paid', 'refunded'],
  declined: ['pending', 'expired'],
  failed: ['failed'],
  // Another try has decided it, or its time is over.
  not_payable: ['paid', 'refunded', 'failed', 'expired'],
  in_progress: ['pending', 'paid', 'refunded', 'failed'],
  paid_elsewhere: [],
};

const CREATE = `mutation ($input: CreateCardPaymentInput!) {
  createCardPayment(input: $input) { ... on CardPaymentSuccess { cardPayment { orderCode } } ... on UserError { code message } }
}`;

/**
 * Clients that create payments, pay and refund them, and come back with the same key for whatever was not answered.
 * They remember every answer; `complaints` says where the books do not bear one out.
 */
export function createCustomers(random: Random, liveKey: string) {
  const orders: Order[] = [];
  let acknowledged = 0;
  let heard: () => void = () => undefined;

  function newOrder(): Order {
    const order: Order = {
      key: `order:${orders.length}`,
      valueCents: 1_000 + orders.length,
      card: random.pick(CARDS),
      refundIt: random.below(4) === 0,
      twice: random.below(4) === 0,
      orderCode: null,
      outcome: null,
      refundAcknowledged: false,
      version: 0,
      busy: false,
    };
    orders.push(order);
    return order;
  }

  const wantsRefund = (order: Order) =>
    order.refundIt && order.outcome === 'paid' && !order.refundAcknowledged;
  const isOpen = (order: Order) =>
    !order.busy && (order.orderCode === null || (order.card && order.outcome === null) || wantsRefund(order));

  async function step(order: Order, server: ChildServer, api: GraphQLClient): Promise<void> {
    if (order.orderCode === null) {
      const created = await repeated(order, async () => {
        const { createCardPayment } = await api.request(CREATE, {
          input: { valueCents: order.valueCents, idempotencyKey: order.key },
        });
        if (!createCardPayment.cardPayment) throw new Error(`refused: ${JSON.stringify(createCardPayment)}`);
        order.orderCode ??= createCardPayment.cardPayment.orderCode as string;
        return createCardPayment.cardPayment.orderCode as string;
      });
      if (created.some((orderCode) => orderCode !== order.orderCode))
        throw new Error(`${order.key} created ${created.join(' and ')}`);
    } else if (order.card && order.outcome === null) {
      const { orderCode, card } = order;
      const kinds = await repeated(order, async () => {
        const { kind } = await server.ask('pay', { orderCode, cardNumber: card.number });
        if (kind !== 'in_progress' && kind !== 'not_payable') order.outcome = kind;
        return kind;
      });
      if (order.outcome === null && kinds.includes('not_payable')) order.outcome = 'not_payable';
    } else {
      await server.ask('refund', { orderCode: order.orderCode });
      order.refundAcknowledged = true;
    }
  }

  /** Every answer counts, also where the other one is lost. */
  async function repeated<T>(order: Order, send: () => Promise<T>): Promise<T[]> {
    const sent = await Promise.allSettled(order.twice ? [send(), send()] : [send()]);
    for (const result of sent) if (result.status === 'rejected') throw result.reason;
    return sent.map((result) => (result as PromiseFulfilledResult<T>).value);
  }

  async function work(server: ChildServer, url: string, takeNew: () => boolean): Promise<void> {
    const api = createClient(`${url}/graphql`, liveKey);
    while (!server.dead) {
      const order = orders.find(isOpen) ?? (takeNew() ? newOrder() : null);
      if (!order) return;
      order.busy = true;
      try {
        await step(order, server, api);
        acknowledged += 1;
        heard();
      } catch (error) {
        // A connection breaks a moment before the exit is known.
        const broken =
          error instanceof ServerDied || (error instanceof TypeError && error.message === 'fetch failed');
        const cutOff = error instanceof TypeError && error.message === 'terminated';
        if (!broken && !cutOff) throw error;
        await server.death;
      } finally {
        order.busy = false;
      }
    }
  }

  return {
    /** Until the server is dead. `onAnswer` is called at each answer. */
    async crowd(server: ChildServer, url: string, clients: number, onAnswer: () => void = () => undefined) {
      heard = onAnswer;
      await Promise.all(Array.from({ length: clients }, () => work(server, url, () => true)));
    },
    /** Until everything that was begun is answered. */
    async finish(server: ChildServer, url: string) {
      heard = () => undefined;
      await work(server, url, () => false);
    },
    tally: () => ({
      orders: orders.length,
      acknowledged,
      refunds: orders.filter((order) => order.refundAcknowledged).length,
    }),

    /** Every answer that these payments do not bear out. `final`: nothing is under way any more. */
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
        if (version < order.version) complain(`fell from version ${order.version} to ${version}`);
        order.version = version;
        if (!final) continue;
        if (payment.hasOpenCharge || status === 'pending') complain('was never decided');
        if (order.refundAcknowledged !== (status === 'refunded')) complain(`is ${status} in the end`);
        // Whoever answers too late finds it expired; an answer that it was paid is looked at above.
        const ends = [order.card?.leadsTo ?? 'expired', 'expired', ...(order.refundIt ? ['refunded'] : [])];
        if (!ends.includes(status)) complain(`is ${status} in the end`);
        if (order.outcome === 'processing' && status === 'expired') complain('was taken and not paid');
      }
      return complaints;
    },
  };
}
