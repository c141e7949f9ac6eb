import { plusMs } from '../kernel/clock.ts';
import { ValidationError } from '../kernel/errors.ts';
import { objectId } from '../kernel/ids.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { idempotencyKeyText } from '../kernel/text.ts';
import { matchesFilter, type WebhookDelivery, type WebhookDeliveryFilter } from './model.ts';
import { decideRedeliver } from './series.ts';

// Sending many deliveries again, in the background.

/** Deliveries that match a filter, on their way once more. All instants in UTC. */
export interface WebhookRedelivery {
  redeliveryId: string;
  filter: WebhookDeliveryFilter;
  /** Whether deliveries to an endpoint go to the URL that it has now. */
  toCurrentUrl: boolean;
  /** The number of the newest delivery that matched at the request. */
  upto: number;
  /** The number of the last delivery that was sent again or passed over. */
  place: number;
  /** The deliveries that matched at the request. */
  total: number;
  /** The deliveries that were sent again. */
  done: number;
  createdAt: Date;
  finishedAt: Date | null;
  canceledAt: Date | null;
}

export const WEBHOOK_REDELIVERY_STATUSES = ['running', 'finished', 'canceled'] as const;

export function statusOf({
  finishedAt,
  canceledAt,
}: WebhookRedelivery): (typeof WEBHOOK_REDELIVERY_STATUSES)[number] {
  if (canceledAt !== null) return 'canceled';
  return finishedAt === null ? 'running' : 'finished';
}

export interface RedeliverWebhooksInput {
  filter: WebhookDeliveryFilter;
  /** More deliveries are refused; by default 1,000. */
  most?: number | null | undefined;
  toCurrentUrl?: boolean | null | undefined;
  idempotencyKey: string;
}

export interface WebhookRedeliveryService {
  /**
   * Sends all deliveries that a filter selects again, in the background. The same key and input have one effect.
   * @throws ValidationError (also: more match than were allowed), IdempotencyError; PreconditionError in front of another
   * service, for its URL of today
   */
  request(
    tenant: Tenant,
    input: RedeliverWebhooksInput,
  ): Promise<{ redelivery: WebhookRedelivery; replayed: boolean }>;
  /** Ends a redelivery before its last delivery. @throws NotFoundError */
  cancel(tenant: Tenant, redeliveryId: string): Promise<WebhookRedelivery>;
  /** Finds redeliveries, in the order of the ids; null for one that is not found, or belongs to another tenant. */
  findMany(tenant: Tenant, redeliveryIds: readonly string[]): Promise<(WebhookRedelivery | null)[]>;
}

export const DEFAULT_MOST = 1_000;
export const MAX_MOST = 10_000;
/** The deliveries that one commit sends again. */
export const BULK_PAGE = 50;
/** The time between two deliveries that are sent again: ten a second. */
const PACE_MS = 100;
/** The instant at which the next page is due. */
export const nextPageAt = (now: Date) => plusMs(now, BULK_PAGE * PACE_MS);

/** Decides deliveries that are sent again one after the other, in their order. */
export function decidePaced(deliveries: readonly WebhookDelivery[], now: Date): WebhookDelivery[] {
  return deliveries.map((each, nth) => decideRedeliver(each, plusMs(now, nth * PACE_MS)));
}

function newRedeliveryId(): string {
  return `whr_${objectId()}`;
}

export function isRedeliveryId(text: string): boolean {
  return /^whr_[0-9a-f]{24}$/.test(text);
}

/** @throws ValidationError */
export function parseRedeliverWebhooks({ most, toCurrentUrl, ...input }: RedeliverWebhooksInput) {
  const parsed = { ...input, most: most ?? DEFAULT_MOST, toCurrentUrl: toCurrentUrl ?? false };
  const key = idempotencyKeyText.safeParse(input.idempotencyKey);
  const fields = [
    ...(key.error ? [{ path: 'input.idempotencyKey', message: key.error.issues[0]!.message }] : []),
    ...(parsed.most < 1 || parsed.most > MAX_MOST
      ? [{ path: 'input.most', message: `must be from 1 to ${MAX_MOST}` }]
      : []),
  ];
  if (fields.length > 0) throw new ValidationError(fields);
  return parsed;
}

/** @throws ValidationError if more deliveries match than the request allows */
export function decideBulk(
  { filter, toCurrentUrl, most }: ReturnType<typeof parseRedeliverWebhooks>,
  { total, upto, hasUrl, now }: { total: number; upto: number; hasUrl: boolean; now: Date },
): WebhookRedelivery {
  if (total > most)
    throw new ValidationError([
      { path: 'input.most', message: 'is below the number of deliveries that match' },
    ]);
  if (toCurrentUrl && !hasUrl)
    throw new ValidationError([
      { path: 'input.toCurrentUrl', message: 'needs a URL that is set and switched on' },
    ]);
  return {
    ...{ redeliveryId: newRedeliveryId(), filter, toCurrentUrl, upto, place: 0, total, done: 0 },
    ...{ createdAt: now, finishedAt: total === 0 ? now : null, canceledAt: null },
  };
}

/** A canceled redelivery sends nothing more; what it has sent goes on. One that has ended stays as it is. */
export function decideCancel(redelivery: WebhookRedelivery, now: Date): WebhookRedelivery {
  return statusOf(redelivery) === 'running' ? { ...redelivery, canceledAt: now } : redelivery;
}

/** A delivery of the next page. */
export interface Matching {
  webhookId: string;
  number: number;
  /** The endpoint to which it goes; null for a payment's own URL, and for one that another service was given. */
  endpointId: string | null;
}

/**
 * Decides the deliveries of a page, and what follows it. A delivery that no longer matches, or whose endpoint was deleted, is
 * passed over; so is one that goes to today's URL where that is switched off.
 */
export function decidePage(
  redelivery: WebhookRedelivery,
  page: readonly (Matching & { delivery: WebhookDelivery | null })[],
  { urls, now }: { urls: ReadonlyMap<string, string | null>; now: Date },
): { redelivery: WebhookRedelivery; again: WebhookDelivery[]; nextAt: Date | null } {
  const matching = page.flatMap(({ delivery, endpointId }) => {
    if (!delivery || !matchesFilter(delivery, redelivery.filter)) return [];
    if (endpointId !== null && !urls.has(endpointId)) return [];
    const moves = redelivery.toCurrentUrl && endpointId !== null;
    const url = moves ? urls.get(endpointId) : delivery.url;
    return url ? [{ ...delivery, url }] : [];
  });
  const isLast = page.length < BULK_PAGE;
  return {
    redelivery: {
      ...redelivery,
      place: page.at(-1)?.number ?? redelivery.place,
      done: redelivery.done + matching.length,
      finishedAt: isLast ? now : null,
    },
    again: decidePaced(matching, now),
    nextAt: isLast ? null : nextPageAt(now),
  };
}
