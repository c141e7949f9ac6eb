import { type FollowProgram, follow } from './follow.ts';
import { type PsaServerOptions, request } from './request.ts';
import { accountDocument } from './topics.ts';
import type {
  CardPaymentPaidEvent,
  CardPaymentRefundedEvent,
  PaymentPaidEvent,
  PaymentRefundedEvent,
  WebhookEvent,
} from './webhook-events.generated.ts';

/** A payment that was paid, by any method. */
export interface Sale {
  /** The `orderCode` or `paymentId` of the payment. */
  id: string;
  /** The number of your order, as the checkout token had it; null if it had none. */
  orderId: string | null;
  /** @deprecated Use `orderId`, which is the same. */
  externalId: string | null;
  amountCents: number;
  paidAt: string;
  /** The text that was given at creation. */
  metadata: string | null;
}

/** The sale that a webhook reports; null if it reports something else. */
export function saleOf(event: WebhookEvent): Sale | null {
  if (!isPaid(event)) return null;
  // A server of a version before has sent the order's earlier name alone.
  const { externalId = null, orderId = externalId, metadata, paidAt = '' } = event;
  const sale = { orderId, externalId: orderId, metadata, paidAt };
  return 'orderCode' in event
    ? { id: event.orderCode, ...sale, amountCents: Math.round(event.amount * 100) }
    : { id: event.paymentId, ...sale, amountCents: event.amountCents };
}

const PAID: readonly string[] = ['card_payment.paid', 'payment.paid', 'payment.test.paid'];

function isPaid(event: WebhookEvent): event is CardPaymentPaidEvent | PaymentPaidEvent {
  return PAID.includes(event.event);
}

/** A sale whose whole amount was given back. */
export interface SaleRefund {
  /** The `orderCode` or `paymentId` of the payment, as in its sale. */
  id: string;
  /** The number of your order; null if it had none. */
  orderId: string | null;
  /** @deprecated Use `orderId`, which is the same. */
  externalId: string | null;
  amountCents: number;
  /** Null if it is not known. */
  refundedAt: string | null;
  metadata: string | null;
}

/**
 * The whole refund of a sale that a webhook reports; null if it reports something else, also a refund of a part. Money that
 * did not pay, such as that of a second payment of an order, was no sale: what goes back of it is never one. The events are
 * optional: `CARD_PAYMENT_REFUNDED` and `PAYMENT_REFUNDED`.
 */
export function refundOf(event: WebhookEvent): SaleRefund | null {
  if (!isRefunded(event)) return null;
  const { externalId = null, orderId = externalId, metadata, refundedAt } = event;
  const refund = { orderId, externalId: orderId, refundedAt, metadata };
  return 'orderCode' in event
    ? { id: event.orderCode, ...refund, amountCents: Math.round(event.amount * 100) }
    : { id: event.paymentId, ...refund, amountCents: event.amountCents };
}

const REFUNDED: readonly string[] = ['card_payment.refunded', 'payment.refunded', 'payment.test.refunded'];

function isRefunded(event: WebhookEvent): event is CardPaymentRefundedEvent | PaymentRefundedEvent {
  return REFUNDED.includes(event.event);
}

export interface SalesOptions {
  /** Paid at this instant or later. */
  from: Date;
  /** Paid before this instant; without it until now. */
  to?: Date | undefined;
}

/** The list of payments by card, and the one of others. */
const LISTS = [
  `query($after:String,$from:DateTime!,$to:DateTime){page:cardPayments(first:100,after:$after,filter:{status:[PAID],paidAfter:$from,paidBefore:$to}){nodes{id:orderCode `,
  `query($after:String,$from:DateTime!,$to:DateTime){page:payments(first:100,after:$after,filter:{status:[PAID],paidAfter:$from,paidBefore:$to}){nodes{id:paymentId `,
];
const SELECTION = 'orderId externalId:orderId amountCents paidAt metadata}pageInfo{hasNextPage endCursor}}}';
export const SALES_DOCUMENTS: readonly string[] = LISTS.map((list) => list + SELECTION);

interface Page {
  nodes: readonly Sale[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/**
 * Reads what was paid in a span of time and is paid still, by card and by other methods: each sale that a webhook has
 * reported, or should have. Compare it with your orders once a day.
 * @throws PsaError
 */
export async function* sales(server: PsaServerOptions, { from, to }: SalesOptions): AsyncGenerator<Sale> {
  for (const document of SALES_DOCUMENTS) {
    let after: string | null = null;
    do {
      const { nodes, pageInfo }: Page = await request<Page>(server, document, { after, from, to });
      yield* nodes;
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after !== null);
  }
}

/** A shop's position in the log of its account, and its handling of sales and refunds. */
export interface FollowSalesOptions extends Omit<FollowProgram<never>, 'onUpdate' | 'reconcile'> {
  /** Handles a sale. It may come twice: recognize it by its `id`, or by your `orderId`. */
  onSale(sale: Sale): unknown;
  /** Handles a sale whose whole amount was given back. */
  onRefund?: ((refund: SaleRefund) => unknown) | undefined;
  /**
   * Called at the first start, and if the log no longer continues from the stored cursor. Without it `onSale` gets
   * the sales of the last seven days.
   */
  reconcile?: FollowProgram<never>['reconcile'] | undefined;
}

const RECONCILED_MS = 7 * 86_400_000;
const SALE_KINDS = ['CARD_PAYMENT', 'PAYMENT'] as const;
const SALE_FIELDS = ' orderId metadata status amountCents paidAt refundedAt';
const FIELDS = { CARD_PAYMENT: `orderCode${SALE_FIELDS}`, PAYMENT: `paymentId${SALE_FIELDS}` };
export const SALE_UPDATES = accountDocument(SALE_KINDS, FIELDS);

/**
 * Follows sales by card and by PIX, and their refunds, from one cursor: as `follow` does, over cuts, restarts and
 * expired cursors.
 */
export function followSales({ onSale, onRefund, reconcile, ...options }: FollowSalesOptions): Promise<void> {
  async function handleRecent(): Promise<void> {
    for await (const sale of sales(options, { from: new Date(Date.now() - RECONCILED_MS) }))
      await onSale(sale);
  }
  return follow('accountUpdates', {
    ...options,
    kinds: SALE_KINDS,
    fields: FIELDS,
    reconcile: reconcile ?? handleRecent,
    onUpdate({ resource, previousStatus }) {
      const { status, orderId, amountCents, metadata } = resource;
      const { paidAt, refundedAt } = resource as typeof resource & {
        paidAt: string;
        refundedAt: string | null;
      };
      // Something else of it has changed, such as a part that was given back.
      if (status === previousStatus) return;
      const id = 'orderCode' in resource ? resource.orderCode : resource.paymentId;
      const sale = { id, orderId, externalId: orderId, amountCents, metadata };
      if (status === 'PAID') return onSale({ ...sale, paidAt });
      if (status === 'REFUNDED') return onRefund?.({ ...sale, refundedAt });
    },
  });
}
