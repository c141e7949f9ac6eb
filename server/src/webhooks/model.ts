import { createHash } from 'node:crypto';
import { objectId } from '../kernel/ids.ts';
import { among, before, type Conditions, equal, from, matches, named } from '../kernel/list-filter.ts';
import type { ListedRange, ListRange } from '../kernel/list-range.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { callableUrl } from '../kernel/text.ts';
import {
  type ConfiguredWebhook,
  type ConfigureWebhookInput,
  isFurther,
  type WebhookSettings,
} from './endpoints.ts';
import type { WebhookExchange } from './exchange.ts';

/**
 * The statuses of a delivery. Pending: an attempt is due. Exhausted: all attempts have failed. Held: its endpoint is disabled
 * by its failures. Canceled: its endpoint was deleted before it was delivered.
 */
export const WEBHOOK_DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted', 'held', 'canceled'] as const;
export type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];

/** The delivery of one event to one URL (the document's section 6). All instants in UTC. */
export interface WebhookDelivery {
  /** The X-Webhook-Id header: the same on every attempt. */
  webhookId: string;
  /** The event's name on the wire. */
  event: string;
  /** The endpoint to which it goes. Null for a payment's own callbackUrl, and for a delivery of an older version. */
  endpointId: string | null;
  url: string;
  status: WebhookDeliveryStatus;
  /** The number of attempts so far, those before a redelivery included. */
  attempts: number;
  /** The number of failed attempts in the current series. */
  failures: number;
  /** The instant of the next attempt; null if none is due. */
  nextAttemptAt: Date | null;
  /** The HTTP status of the last attempt's answer: 0 without an answer, null before the first attempt. */
  responseStatus: number | null;
  /** The class of that status, 5 for 503. */
  responseClass: number | null;
  /** The resource whose events it follows in order: the payment of a refund, a dispute or delivered content. */
  resource: string;
  resourceId: string;
  /** The type of the resource that it reports, if that is another one. */
  subjectType: string | null;
  /** The id of that resource. Without a type: the id by which the merchant knows the resource itself, if the log has another. */
  subjectId: string | null;
  createdAt: Date;
}

/** The resource that a delivery reports. */
export function subjectOf({ resource, resourceId, subjectType, subjectId }: WebhookDelivery): {
  type: string;
  id: string;
} {
  return subjectType === null ? { type: resource, id: resourceId } : { type: subjectType, id: subjectId! };
}

/** The kinds of the tasks that make an attempt. A server of the version before would sign for a further endpoint with another secret. */
export const DELIVER = 'webhook.deliver';
export const DELIVER_FURTHER = 'webhook.deliver_further';

/** The kind of the task that sends many deliveries again. */
export const RESEND = 'webhook.redeliver';

/** The kind of the task that ends the deliveries of a deleted endpoint, and sends those of one that is enabled again. */
export const SETTLE = 'webhook.settle';
export const settleAt = (endpointId: string, at: Date) => ({ kind: SETTLE, key: endpointId, at });

/** The kind of the task that tries a disabled endpoint. */
export const PROBE = 'webhook.probe';
export const probeAt = (endpointId: string, at: Date) => ({ kind: PROBE, key: endpointId, at });

/** The task of the next attempt. Attempts to one host share slots. */
export function attemptAt(delivery: Pick<WebhookDelivery, 'webhookId' | 'url' | 'endpointId'>, at: Date) {
  const { url } = delivery;
  return { ...attemptOf(delivery), group: URL.canParse(url) ? new URL(url).host : '', at };
}

/** The name of the task that makes the attempts of a delivery. */
export function attemptOf({ webhookId, endpointId }: Pick<WebhookDelivery, 'webhookId' | 'endpointId'>) {
  return { kind: isFurther(endpointId) ? DELIVER_FURTHER : DELIVER, key: webhookId };
}

/** Reads a delivery back from an event's snapshot in JSON, where instants are text. */
export function deliveryFromJson(json: unknown): WebhookDelivery {
  const delivery = json as WebhookDelivery & { nextAttemptAt: string | null; createdAt: string };
  return {
    ...NOT_KNOWN,
    ...delivery,
    nextAttemptAt: delivery.nextAttemptAt === null ? null : new Date(delivery.nextAttemptAt),
    createdAt: new Date(delivery.createdAt),
  };
}

/** The members that an event of an older version does not have. */
const NOT_KNOWN = {
  ...{ endpointId: null, responseStatus: null, responseClass: null },
  ...{ resource: '', resourceId: '', subjectType: null, subjectId: null },
};

export interface WebhookAttempt {
  webhookId: string;
  /** The attempt's number within its delivery, from 1. */
  number: number;
  at: Date;
  /** The HTTP status of the answer; null without an answer. */
  responseStatus: number | null;
  /** The reason of the failure, in plain words; null if the event was delivered. */
  error: string | null;
  durationMs: number;
  /** The request and its answer, if they are known without the log. */
  exchange?: WebhookExchange | null;
}

export function newWebhookId(): string {
  return `whd_${objectId()}`;
}

/** The id of the copy of another service's webhook to an endpoint. */
export function copiedWebhookId(webhookId: string, endpointId: string): string {
  return `whd_${createHash('sha256').update(`${endpointId} ${webhookId}`).digest('hex').slice(0, 24)}`;
}

/** Whether a text can be the id of a delivery, of this server or of another service. */
export function isWebhookId(text: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(text);
}

/** Whether a URL may be called. The addresses of its host name are checked again at each call. */
export function mayBeCalled(url: string, privateAddresses: boolean): boolean {
  return callableUrl(privateAddresses).safeParse(url).success;
}

/** Whether a URL is this server's own, by http or https: a proxy in front of this server may use both. */
export function isSameEndpoint(own: URL, url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname, port, pathname } = new URL(url);
  return hostname.replace(/\.$/, '') === own.hostname && port === own.port && pathname === own.pathname;
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** A filter of deliveries. A period includes its `from` and excludes its `before`. */
export interface WebhookDeliveryFilter {
  status?: readonly WebhookDeliveryStatus[] | undefined;
  /** The names of events on the wire. */
  event?: readonly string[] | undefined;
  endpointId?: string | undefined;
  /** The id, or that of the resource that it reports or whose events it follows. */
  reference?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** The HTTP statuses of the last answer; 0 for none. */
  responseStatus?: readonly number[] | undefined;
  /** The classes of the HTTP statuses of the last answer, from 2 to 5. */
  responseClass?: readonly number[] | undefined;
}

/** Reads HTTP statuses and classes of them, such as 5. Classes alone are a condition that an index answers. */
export function readStatuses(
  asked: readonly number[],
): Pick<WebhookDeliveryFilter, 'responseStatus' | 'responseClass'> {
  const isClass = (status: number) => status >= 2 && status <= 5;
  if (asked.every(isClass)) return { responseClass: asked };
  return {
    responseStatus: asked.flatMap((status) =>
      isClass(status) ? Array.from({ length: 100 }, (_, nth) => status * 100 + nth) : [status],
    ),
  };
}

/** The class of an HTTP status, 5 for 503; 0 for none. */
export const classOf = (status: number) => Math.floor(status / 100);

/** The condition of each member of the filter, for lists and updates. */
export const webhookDeliveryConditions = {
  status: among('status'),
  event: among('event'),
  endpointId: equal('endpointId'),
  reference: named(['webhookId', 'resourceId', 'subjectId']),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
  responseStatus: among('responseStatus'),
  responseClass: among('responseClass'),
} satisfies Conditions<WebhookDeliveryFilter, WebhookDelivery>;

/** Whether a filter selects a delivery. */
export function matchesFilter(delivery: WebhookDelivery, filter: WebhookDeliveryFilter): boolean {
  return matches(webhookDeliveryConditions, delivery, filter);
}

export interface WebhookService {
  /**
   * Changes the account's URL, whether it is sent to, and its optional events, for events from now on. Returns the
   * secret if it is new, or was never shown before. A new secret signs at once, including attempts of older
   * deliveries, and the secret before it signs too.
   * @throws ValidationError (also: no URL is given, and none was set before)
   */
  configure(tenant: Tenant, input: ConfigureWebhookInput): Promise<ConfiguredWebhook>;
  /** Reads the configuration; null before a URL was set. @throws PreconditionError in front of another service */
  settings(tenant: Tenant): Promise<WebhookSettings | null>;
  /**
   * Sends a delivery again under the same id, with as many attempts as the first time; a pending one is due now.
   * @throws NotFoundError (also: its endpoint was deleted)
   */
  redeliver(tenant: Tenant, webhookId: string): Promise<WebhookDelivery>;
  /**
   * Finds deliveries, in the order of the ids; null for one that is not found, or belongs to another tenant.
   */
  findMany(tenant: Tenant, webhookIds: readonly string[]): Promise<(WebhookDelivery | null)[]>;
  /** Finds a delivery with the version of the tenant's log for which its state holds. */
  findWithVersion(
    tenant: Tenant,
    webhookId: string,
  ): Promise<{ version: number; resource: WebhookDelivery } | null>;
  /** Reads the last 50 attempts of each delivery, oldest first. */
  attemptsOf(tenant: Tenant, webhookIds: readonly string[]): Promise<WebhookAttempt[][]>;
  /** Reads what the last ten attempts of each delivery have sent and what came back, by the attempt's number. */
  exchangesOf(tenant: Tenant, webhookIds: readonly string[]): Promise<ReadonlyMap<number, WebhookExchange>[]>;
  /** Reads the signed body of each delivery; null for one that is not found. */
  payloadsOf(tenant: Tenant, webhookIds: readonly string[]): Promise<(string | null)[]>;
  /** Lists deliveries, newest first, each with its position in the list. */
  list(
    tenant: Tenant,
    range: WebhookDeliveryFilter & ListRange,
  ): Promise<ListedRange<{ position: number; delivery: WebhookDelivery }>>;
  count(tenant: Tenant, filter: WebhookDeliveryFilter): Promise<number>;
}

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

const SECOND = 1_000;

/** The limit of one whole exchange: connect, request, answer (section 6). */
export const ATTEMPT_TIMEOUT_MS = 5 * SECOND;
/**
 * The number of the last attempts that a delivery shows, because it may be redelivered any number of times.
 */
export const SHOWN_ATTEMPTS = 50;
