import { z } from 'zod';
import { instant } from '../../kernel/instant.ts';
import {
  isObjectId,
  readCents,
  readInstant,
  readPage,
  readRecord,
  readWholeText,
  readWord,
} from '../../kernel/lenient-json.ts';
import type { Environment } from '../../kernel/tenant.ts';
import { answeredWord } from '../../kernel/text.ts';
import { nameIn, webhookEvent } from '../../kernel/webhook-event.ts';
import { CONTENT_KINDS } from '../../money-in/receiving/model.ts';
import { type Delivery, type DeliverySnapshot, PAID_TYPES } from './model.ts';

/** A delivery in the REST interface (the document's 2.5). */
export const deliveryWire = z
  .object({
    deliveryId: z.string().meta({ description: '24 hex digits', examples: ['0c7d1a5be2f94a3d8e6b7f10'] }),
    productId: z.string(),
    kind: answeredWord(CONTENT_KINDS),
    content: z.string().nullable().meta({ description: 'The text or the link; null for codes' }),
    deliveredCount: z.int().meta({ description: 'Payments that were given it' }),
    remainingCount: z.int().nullable().meta({ description: 'Codes in stock; null for text and link' }),
    createdAt: instant,
  })
  .meta({ id: 'Delivery' });

/** The events, with the members of each. */
export const deliveryWebhooks = {
  'delivery.delivered': deliveryEvent('delivered', {
    summary: 'A payment was given content of its product',
    optional: ': a payment received content of its product, which the event does not contain.',
  }),
  'delivery.out_of_stock': deliveryEvent('out_of_stock', {
    summary: 'A paid payment waits for a code',
    optional: ': a payment waits for a code. delivery.delivered follows once there is one.',
  }),
};

function deliveryEvent(name: string, said: { summary: string; optional: string }) {
  const { deliveryId, productId } = deliveryWire.shape;
  return webhookEvent(`delivery.${name}`, {
    ...said,
    resource: 'delivery',
    members: {
      deliveryId,
      productId,
      of: z
        .object({ type: answeredWord(PAID_TYPES), id: z.string() })
        .meta({ description: 'The payment; the content is not in the event' }),
    },
  });
}

/**
 * Encodes the event of content that was delivered to a payment, or for which it waits. The content itself is
 * not included.
 */
export function deliveryWebhook(
  kind: 'delivery.delivered' | 'delivery.out_of_stock',
  { deliveryId, productId, resource: { type, id } }: DeliverySnapshot,
  environment: Environment,
) {
  return {
    event: nameIn(environment, kind),
    deliveryId,
    productId,
    of: { type, id },
  };
}

// ── Read from another service: the document names no fields of a delivery ────────────────────────

/** Reads a delivery; null without an id. */
export function deliveryFromWire(json: unknown): Delivery | null {
  const record = readRecord(json);
  const idIn = (value: unknown) =>
    typeof value === 'string' && isObjectId(value) ? value.toLowerCase() : null;
  const deliveryId = idIn(record?.deliveryId) ?? idIn(record?.id);
  const productId = idIn(record?.productId);
  if (!record || deliveryId === null) return null;
  const word = readWord(record.kind);
  const kind = CONTENT_KINDS.find((each) => each === word) ?? 'unknown';
  return {
    deliveryId,
    productId,
    kind,
    content: kind === 'codes' ? null : readWholeText(record.content, { max: 4_000 }),
    deliveredCount: readCents(record.deliveredCount),
    remainingCount: readCents(record.remainingCount),
    createdAt: readInstant(record.createdAt),
  };
}

/** Reads a page of the list and the total count; null if the response is no page. */
export function deliveriesFromWire(
  body: unknown,
): { items: (Delivery | null)[]; total: number | null } | null {
  const page = readPage(body, 'deliveries');
  return page && { items: page.items.map(deliveryFromWire), total: page.total };
}
