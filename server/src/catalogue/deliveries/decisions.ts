import { PreconditionError, ValidationError } from '../../kernel/errors.ts';
import type { ContentKind, DeliveredStatus } from '../../money-in/receiving/model.ts';
import {
  type DeliverySnapshot,
  MAX_DELIVERIES,
  MAX_STOCK,
  type NewCode,
  type NewContent,
  type PaidType,
  type StoredDelivery,
} from './model.ts';

/** A code of a product's stock. */
export interface StoredCode extends NewCode {
  productId: string;
  deliveryId: string;
  isDelivered: boolean;
}

/** One delivery of a product, for one payment. */
export interface DeliveredItem {
  deliveryId: string;
  kind: ContentKind;
  status: DeliveredStatus;
  /** The hash of the code; null for the other kinds, and until there is a code. */
  codeHash: string | null;
  deliveredAt: Date | null;
}

/** The content of a payment: that of its product at the moment when it was paid. */
export interface PaidContent {
  payment: { type: PaidType; id: string };
  productId: string;
  callbackUrl: string | null;
  paidAt: Date;
  items: readonly DeliveredItem[];
}

/** The writes of a decision. */
export interface DeliveryChange {
  readonly deliveries: readonly StoredDelivery[];
  readonly codes: readonly StoredCode[];
  readonly given: readonly PaidContent[];
  readonly announced: readonly Announcement[];
}
export interface Announcement {
  kind: 'delivery.delivered' | 'delivery.out_of_stock';
  snapshot: DeliverySnapshot;
}

/** A delivery with the next code of its stock; null if the stock is empty. */
export interface Offer {
  delivery: StoredDelivery;
  next: StoredCode | null;
}

/**
 * Delivers the content of a product to a payment that becomes paid; null if the product has none, or the
 * payment has it already.
 */
export function decideDeliver(
  offers: readonly Offer[],
  sale: Omit<PaidContent, 'items'>,
  { before, now }: { before: PaidContent | null; now: Date },
): DeliveryChange | null {
  if (before || offers.length === 0) return null;
  const codes: StoredCode[] = [];
  const deliveries: StoredDelivery[] = [];
  const items = offers.map(({ delivery, next }): DeliveredItem => {
    const { deliveryId, kind } = delivery;
    if (kind === 'codes' && !next)
      return { deliveryId, kind, status: 'pending', codeHash: null, deliveredAt: null };
    if (next) codes.push({ ...next, isDelivered: true });
    deliveries.push(afterDelivery(delivery, 1));
    return { deliveryId, kind, status: 'delivered', codeHash: next?.hash ?? null, deliveredAt: now };
  });
  const given: PaidContent = { ...sale, items };
  return { deliveries, codes, given: [given], announced: items.map((item) => announcementOf(given, item)) };
}

/**
 * Hides the delivered content of a payment, and ends its wait for codes; null if there is nothing to hide. A
 * code is not sold again.
 */
export function decideRevoke(given: PaidContent | null): DeliveryChange | null {
  if (!given || given.items.every(({ status }) => status === 'revoked')) return null;
  const items = given.items.map((item) => ({ ...item, status: 'revoked' }) as const);
  return { deliveries: [], codes: [], given: [{ ...given, items }], announced: [] };
}

/**
 * Adds content to a product, or codes to its stock.
 * @throws PreconditionError (LIMIT_REACHED), ValidationError (a code that the product had before)
 */
export function decideCreate(
  content: NewContent,
  {
    deliveryId,
    productId,
    deliveries,
    known,
    waiting,
    now,
  }: {
    deliveryId: string;
    productId: string;
    /** The product's deliveries. */
    deliveries: readonly StoredDelivery[];
    /** Whether the product has or had a code. */
    known: (hash: string) => boolean;
    /** The payments that wait for a code, in any order. */
    waiting: readonly PaidContent[];
    now: Date;
  },
): DeliveryChange & { delivery: StoredDelivery } {
  const stock = content.kind === 'codes' ? deliveries.find(({ kind }) => kind === 'codes') : undefined;
  if (!stock && deliveries.length >= MAX_DELIVERIES)
    throw new PreconditionError('LIMIT_REACHED', `A product has at most ${MAX_DELIVERIES} deliveries`);
  const delivery: StoredDelivery = stock ?? {
    deliveryId,
    productId,
    kind: content.kind,
    deliveredCount: 0,
    createdAt: now,
    deletedAt: null,
    content: content.kind === 'codes' ? null : content.content,
    remainingCount: content.kind === 'codes' ? 0 : null,
  };
  if (content.kind !== 'codes')
    return { delivery, deliveries: [delivery], codes: [], given: [], announced: [] };
  return addCodes(delivery, content.codes, { known, waiting, now });
}

function addCodes(
  delivery: StoredDelivery,
  added: readonly NewCode[],
  { known, waiting, now }: { known: (hash: string) => boolean; waiting: readonly PaidContent[]; now: Date },
): DeliveryChange & { delivery: StoredDelivery } {
  const firstKnown = added.findIndex(({ hash }) => known(hash));
  if (firstKnown >= 0)
    throw new ValidationError([
      { path: `input.content.codes.${firstKnown}`, message: 'is a code that this product had before' },
    ]);
  if (delivery.remainingCount! + added.length > MAX_STOCK)
    throw new PreconditionError('LIMIT_REACHED', `A product has at most ${MAX_STOCK} codes in stock`);
  const { deliveryId, productId } = delivery;
  const served = [...waiting]
    .sort((left, right) => left.paidAt.getTime() - right.paidAt.getTime())
    .slice(0, added.length);
  const given = served.map(
    (content, index): PaidContent => ({
      ...content,
      // The stock for which the payment waited may have been deleted.
      items: content.items.map((item) =>
        item.status === 'pending'
          ? { ...item, deliveryId, status: 'delivered', codeHash: added[index]!.hash, deliveredAt: now }
          : item,
      ),
    }),
  );
  const stocked = { ...delivery, remainingCount: delivery.remainingCount! + added.length };
  const changed = afterDelivery(stocked, served.length);
  return {
    delivery: changed,
    deliveries: [changed],
    codes: added.map(({ hash, code }, index) => ({
      hash,
      code,
      productId,
      deliveryId,
      isDelivered: index < served.length,
    })),
    given,
    announced: given.map((content) =>
      announcementOf(content, content.items.find((item) => item.kind === 'codes')!),
    ),
  };
}

function afterDelivery(delivery: StoredDelivery, count: number): StoredDelivery {
  return {
    ...delivery,
    deliveredCount: delivery.deliveredCount + count,
    remainingCount: delivery.remainingCount === null ? null : delivery.remainingCount - count,
  };
}

/** Whether a payment waits for a code. */
export function waits({ items }: PaidContent): boolean {
  return items.some(({ status }) => status === 'pending');
}

function announcementOf(
  { payment, productId, callbackUrl }: PaidContent,
  { deliveryId, status }: DeliveredItem,
): Announcement {
  return {
    kind: status === 'pending' ? 'delivery.out_of_stock' : 'delivery.delivered',
    snapshot: { deliveryId, productId, resource: payment, callbackUrl },
  };
}
