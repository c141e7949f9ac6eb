import { plusMs } from '../kernel/clock.ts';
import { ValidationError } from '../kernel/errors.ts';
import { objectId } from '../kernel/ids.ts';
import { among, before, type Conditions, from, matches, named } from '../kernel/list-filter.ts';
import type { ListedRange, ListRange } from '../kernel/list-range.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { callableUrl, nullMessage } from '../kernel/text.ts';
import type { WebhookExchange } from './exchange.ts';

/** The statuses of a delivery. Pending: an attempt is due. Exhausted: all attempts have failed. */
export const WEBHOOK_DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted'] as const;
export type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];

/** The delivery of one event to one URL (the document's section 6). All instants in UTC. */
export interface WebhookDelivery {
  /** The X-Webhook-Id header: the same on every attempt. */
  webhookId: string;
  /** The event's name on the wire. */
  event: string;
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

/** The kind of the task that makes an attempt. */
export const DELIVER = 'webhook.deliver';

/** The kind of the task that sends many deliveries again. */
export const RESEND = 'webhook.redeliver';

/** The task of the next attempt. Attempts to one host share slots. */
export function attemptAt({ webhookId, url }: Pick<WebhookDelivery, 'webhookId' | 'url'>, at: Date) {
  return { kind: DELIVER, key: webhookId, group: URL.canParse(url) ? new URL(url).host : '', at };
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
const NOT_KNOWN = { responseStatus: null, resource: '', resourceId: '', subjectType: null, subjectId: null };

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

/** A replaced secret, which signs beside the new one until an instant. */
interface PreviousSecret {
  secret: string;
  until: Date;
}

export type SigningSecrets = Pick<WebhookEndpoint, 'secret' | 'previousSecrets'>;

/** The URL of a tenant's events, the secret that signs them, and the choice of events. */
export interface WebhookEndpoint {
  /** The URL; null until the merchant configures one. */
  url: string | null;
  /** Whether events are sent to the URL. Those of a payment with its own callbackUrl are sent anyway. */
  enabled: boolean;
  /**
   * `whsec_…`. It is created with the first delivery, because a payment's own callbackUrl needs no URL of the
   * account.
   */
  secret: string;
  /** Whether the secret was ever shown to the merchant. */
  secretShown: boolean;
  /** The replaced secrets, newest first; some may have expired. */
  previousSecrets: readonly PreviousSecret[];
  /**
   * The optional events that are sent, also to a payment's own callbackUrl. Empty until the merchant
   * configures some. A newer server may have stored an event that this one does not know.
   */
  optionalEvents: readonly string[];
}

export function newWebhookId(): string {
  return `whd_${objectId()}`;
}

/** Whether a text can be the id of a delivery, of this server or of another service. */
export function isWebhookId(text: string): boolean {
  return /^[\x20-\x7e]{1,255}$/.test(text);
}

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

/** Changes of an endpoint: what is left out stays as it is, and null is refused. */
export interface ConfigureWebhookInput {
  /** It may be left out once there is one. */
  url?: string | null | undefined;
  enabled?: boolean | null | undefined;
  rotateSecret?: boolean | null | undefined;
  /** The hours from now on in which earlier secrets sign beside the new one. */
  previousSecretHours?: number | null | undefined;
  /** The optional events to send. */
  optionalEvents?: readonly string[] | null | undefined;
}

/**
 * Refuses null, which may be a value that was lost: a server that leaves it would not have done what was meant.
 * @throws ValidationError
 */
export function assertNoNull(input: ConfigureWebhookInput): void {
  const fields = (['url', 'enabled', 'previousSecretHours', 'optionalEvents'] as const)
    .filter((member) => input[member] === null)
    .map((member) => ({ path: `input.${member}`, message: nullMessage('no change') }));
  if (fields.length > 0) throw new ValidationError(fields);
}

/** Whether a URL may be called. The addresses of its host name are checked again at each call. */
export function mayBeCalled(url: string, privateAddresses: boolean): boolean {
  return callableUrl(privateAddresses).safeParse(url).success;
}

/** @throws ValidationError */
export function assertEndpointUrl(url: string, privateAddresses: boolean): void {
  const { error } = callableUrl(privateAddresses).safeParse(url);
  if (error) throw new ValidationError([{ path: 'input.url', message: error.issues[0]!.message }]);
}

/** Reads how long earlier secrets still sign; null if the input does not say it. @throws ValidationError */
export function parsePreviousSecretHours(hours: number | null | undefined): number | null {
  if (hours == null) return null;
  if (!Number.isInteger(hours) || hours < 0 || hours > MAX_PREVIOUS_HOURS)
    throw new ValidationError([
      {
        path: 'input.previousSecretHours',
        message: `must be an integer number of hours from 0 to ${MAX_PREVIOUS_HOURS}`,
      },
    ]);
  return hours;
}

// ── The port ────────────────────────────────────────────────────────────────────────────────────

/** The configuration in force, which shows no secret. */
export interface WebhookSettings {
  url: string;
  enabled: boolean;
  optionalEvents: readonly string[];
  /** The instant until which an earlier secret signs too; null if none does. */
  previousSecretValidUntil: Date | null;
}

/** The configuration in force, with the secret if the merchant may see it now. */
export interface ConfiguredWebhook extends WebhookSettings {
  secret: string | null;
}

/** A filter of deliveries. A period includes its `from` and excludes its `before`. */
export interface WebhookDeliveryFilter {
  status?: readonly WebhookDeliveryStatus[] | undefined;
  /** The names of events on the wire. */
  event?: readonly string[] | undefined;
  /** The id, or that of the resource that it reports or whose events it follows. */
  reference?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
  /** The HTTP statuses of the last answer; 0 for none. */
  responseStatus?: readonly number[] | undefined;
}

/** The condition of each member of the filter, for lists and updates. */
export const webhookDeliveryConditions = {
  status: among('status'),
  event: among('event'),
  reference: named(['webhookId', 'resourceId', 'subjectId']),
  createdAfter: from('createdAt'),
  createdBefore: before('createdAt'),
  responseStatus: among('responseStatus'),
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
   * @throws NotFoundError
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

/** The configuration as a merchant sees it; null before a URL was set. */
export function settingsOf(endpoint: WebhookEndpoint | null, now: Date): WebhookSettings | null {
  if (!endpoint || endpoint.url === null) return null;
  const { url, enabled, optionalEvents, previousSecrets } = endpoint;
  // An earlier secret may outlast the one that replaced it.
  const valid = previousSecrets.filter(({ until }) => until > now).map(({ until }) => until.getTime());
  return {
    ...{ url, enabled, optionalEvents },
    previousSecretValidUntil: valid.length === 0 ? null : new Date(Math.max(...valid)),
  };
}

// ── Rules ───────────────────────────────────────────────────────────────────────────────────────

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** The hours for which a replaced secret signs beside the new one: the default, which is also the limit. */
const PREVIOUS_HOURS = 24;
const MAX_PREVIOUS_HOURS = 7 * 24;
/**
 * The largest number of replaced secrets that sign: a rotation whose answer was lost is repeated, and the receivers still
 * have the first secret.
 */
const MAX_PREVIOUS_SECRETS = 3;

/** The limit of one whole exchange: connect, request, answer (section 6). */
export const ATTEMPT_TIMEOUT_MS = 5 * SECOND;
/**
 * The number of the last attempts that a delivery shows, because it may be redelivered any number of times.
 */
export const SHOWN_ATTEMPTS = 50;

/**
 * The secrets that sign an attempt: the newest first, then earlier ones that have not expired. There may be
 * several: a rotation whose answer was lost is repeated, and receivers still have the secret before both.
 */
export function signingSecrets({ secret, previousSecrets }: SigningSecrets, now: Date): string[] {
  return [secret, ...previousSecrets.filter(({ until }) => until > now).map((previous) => previous.secret)];
}

/**
 * Decides the earlier secrets: a rotation adds the replaced secret, if anybody has seen it. None signs for
 * longer than `hours` from now. Null leaves the time of each, and gives a replaced one the default.
 */
function previousSecretsAfter(
  endpoint: WebhookEndpoint | null,
  { rotates, hours, now }: { rotates: boolean; hours: number | null; now: Date },
): PreviousSecret[] {
  if (!endpoint) return [];
  const replaced =
    rotates && endpoint.secretShown
      ? [{ secret: endpoint.secret, until: plusMs(now, (hours ?? PREVIOUS_HOURS) * HOUR) }]
      : [];
  const limit = hours === null ? null : plusMs(now, hours * HOUR);
  return [...replaced, ...endpoint.previousSecrets]
    .map(({ secret, until }) => ({ secret, until: limit && limit < until ? limit : until }))
    .filter(({ until }) => until > now)
    .slice(0, MAX_PREVIOUS_SECRETS);
}

/**
 * Returns the new endpoint, and its secret if the merchant may see it now.
 * @throws ValidationError if there is no URL yet and none is given
 */
export function decideConfigure(
  endpoint: WebhookEndpoint | null,
  {
    url = endpoint?.url ?? null,
    enabled = endpoint?.enabled ?? true,
    rotateSecret,
    previousSecretHours = null,
    freshSecret,
    optionalEvents,
    now,
  }: {
    /** Undefined leaves the URL as it is. */
    url?: string | null | undefined;
    enabled?: boolean | undefined;
    rotateSecret: boolean;
    /** Null leaves earlier secrets as they are, and gives a replaced one the default. */
    previousSecretHours?: number | null;
    freshSecret: string;
    /** Null leaves the events as they are. */
    optionalEvents: readonly string[] | null;
    now: Date;
  },
): { endpoint: WebhookEndpoint & { url: string }; secret: string | null } {
  if (url === null)
    throw new ValidationError([{ path: 'input.url', message: 'must be given, because no URL is set yet' }]);
  const secret = endpoint && !rotateSecret ? endpoint.secret : freshSecret;
  const isKnown = endpoint?.secretShown === true && secret === endpoint.secret;
  return {
    endpoint: {
      url,
      enabled,
      secret,
      secretShown: true,
      previousSecrets: previousSecretsAfter(endpoint, {
        rotates: rotateSecret,
        hours: previousSecretHours,
        now,
      }),
      optionalEvents: optionalEvents ?? endpoint?.optionalEvents ?? [],
    },
    secret: isKnown ? null : secret,
  };
}
