import { createHash } from 'node:crypto';
import { ValidationError } from '../kernel/errors.ts';
import { objectId } from '../kernel/ids.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import { callableUrl, nullMessage } from '../kernel/text.ts';

// The endpoints of a tenant: the URL of its account, which the document has, and further ones.

/** A replaced secret, which signs beside the new one until an instant. */
interface PreviousSecret {
  secret: string;
  until: Date;
}

export interface SigningSecrets {
  /** `whsec_…`. */
  secret: string;
  /** The replaced secrets, newest first; some may have expired. */
  previousSecrets: readonly PreviousSecret[];
}

/** The URL of a tenant's events, the secret that signs them, and the choice of events; with the further endpoints. */
export interface WebhookEndpoint extends SigningSecrets {
  /** The URL; null until the merchant configures one. */
  url: string | null;
  /** Whether events are sent to the URL. Those of a payment with its own callbackUrl are sent anyway. */
  enabled: boolean;
  /** Whether the secret was ever shown to the merchant. It is created with the first delivery or the first endpoint. */
  secretShown: boolean;
  /**
   * The optional events that are sent, also to a payment's own callbackUrl. Empty until the merchant
   * configures some. A newer server may have stored an event that this one does not know.
   */
  optionalEvents: readonly string[];
  /** The first failure at the URL after its last success; null if it does not fail. */
  failingSince: Date | null;
  /** The further endpoints, oldest first. */
  further: readonly FurtherEndpoint[];
}

/** An endpoint beside the URL of the account. */
export interface FurtherEndpoint extends SigningSecrets {
  endpointId: string;
  url: string;
  enabled: boolean;
  /** The names of the events that are sent, or `*`. A newer server may have stored one that this one does not know. */
  events: readonly string[];
  createdAt: Date;
  /** The first failure after the last success; null if it does not fail. */
  failingSince: Date | null;
  /** The failed attempts since then. */
  failedAttempts: number;
  /** The time at which it was disabled because it failed for days; null if it is not. */
  disabledAt: Date | null;
}

/** The choice of all events, those of later versions too. */
export const EVERY_EVENT = '*';

/** Whether an endpoint is sent an event, by its name in either environment. */
export function selects({ enabled, events }: FurtherEndpoint, event: string): boolean {
  return enabled && (events.includes(EVERY_EVENT) || events.includes(event.replace('.test.', '.')));
}

/** The endpoints of a tenant that has configured none. */
export function noEndpoints(secret: string): WebhookEndpoint {
  return {
    ...{ url: null, enabled: true, secret, secretShown: false },
    ...{ previousSecrets: [], optionalEvents: [], failingSince: null, further: [] },
  };
}

const ACCOUNT_ID = 'whe_account_';

/** The id of the URL of the account, whether or not one is set. */
export function accountEndpointId(tenant: Tenant): string {
  return ACCOUNT_ID + createHash('sha256').update(tenantKey(tenant)).digest('hex').slice(0, 24);
}

/** Whether an id is that of a further endpoint. */
export function isFurther(endpointId: string | null): endpointId is string {
  return endpointId !== null && !endpointId.startsWith(ACCOUNT_ID);
}

export function newEndpointId(): string {
  return `whe_${objectId()}`;
}

/** The largest number of endpoints, the URL of the account included. */
export const MAX_ENDPOINTS = 10;
/** The largest number of hours for which a replaced secret signs beside the new one. */
const MAX_PREVIOUS_HOURS = 7 * 24;

// ── Input ───────────────────────────────────────────────────────────────────────────────────────

/** Changes of an endpoint: what is left out stays as it is, and null is refused. */
interface EndpointChanges {
  url?: string | null | undefined;
  enabled?: boolean | null | undefined;
  rotateSecret?: boolean | null | undefined;
  /** The hours from now on in which earlier secrets sign beside the new one. */
  previousSecretHours?: number | null | undefined;
}

/** Changes of the URL of the account, which must be given the first time. */
export interface ConfigureWebhookInput extends EndpointChanges {
  /** The optional events to send. */
  optionalEvents?: readonly string[] | null | undefined;
}

export interface CreateEndpointInput {
  url: string;
  /** The names of the events to send, or `*`; all if it is left out, and null is refused. */
  events?: readonly string[] | null | undefined;
}

export interface UpdateEndpointInput extends EndpointChanges {
  endpointId: string;
  events?: readonly string[] | null | undefined;
}

/** @throws ValidationError */
export function assertEndpointUrl(url: string, privateAddresses: boolean): void {
  const { error } = callableUrl(privateAddresses).safeParse(url);
  if (error) throw new ValidationError([{ path: 'input.url', message: error.issues[0]!.message }]);
}

/**
 * Reads the changes that every endpoint takes. Null is refused, which may be a value that was lost: a server that leaves it
 * would not have done what was meant.
 * @throws ValidationError
 */
export function parseChanges(input: ConfigureWebhookInput | UpdateEndpointInput, privateAddresses: boolean) {
  const given: Readonly<Record<string, unknown>> = { ...input };
  const nulls = ['url', 'enabled', 'previousSecretHours', 'optionalEvents', 'events']
    .filter((member) => given[member] === null)
    .map((member) => ({ path: `input.${member}`, message: nullMessage('no change') }));
  if (nulls.length > 0) throw new ValidationError(nulls);
  const [url, enabled] = [input.url ?? undefined, input.enabled ?? undefined];
  if (url !== undefined) assertEndpointUrl(url, privateAddresses);
  const previousSecretHours = parsePreviousSecretHours(input.previousSecretHours);
  return { url, enabled, rotateSecret: input.rotateSecret === true, previousSecretHours };
}

/** Reads how long earlier secrets still sign; null if the input does not say it. @throws ValidationError */
function parsePreviousSecretHours(hours: number | null | undefined): number | null {
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

/** The configuration of an endpoint, which shows no secret. */
export interface WebhookSettings {
  endpointId: string;
  /** Whether it is the URL of the account. */
  isOfAccount: boolean;
  url: string;
  enabled: boolean;
  /** The events of a further endpoint, or `*`; none for the URL of the account, which has optionalEvents. */
  events: readonly string[];
  optionalEvents: readonly string[];
  /** The instant until which an earlier secret signs too; null if none does. */
  previousSecretValidUntil: Date | null;
  /** Null for the URL of the account. */
  createdAt: Date | null;
  /** The first failure after the last success; null if it does not fail. */
  failingSince: Date | null;
  /** The time at which it was disabled because it failed for days; null if it is not. */
  disabledAt: Date | null;
}

/** The states of an endpoint: disabled is the merchant's word, disabled_by_failures the server's. */
export const WEBHOOK_ENDPOINT_STATUSES = ['enabled', 'disabled', 'disabled_by_failures'] as const;

export function endpointStatusOf({
  enabled,
  disabledAt,
}: {
  enabled: boolean;
  disabledAt: Date | string | null;
}): (typeof WEBHOOK_ENDPOINT_STATUSES)[number] {
  if (!enabled) return 'disabled';
  return disabledAt === null ? 'enabled' : 'disabled_by_failures';
}

/** The configuration after a change, with the secret if the merchant may see it now. */
export interface ConfiguredWebhook extends WebhookSettings {
  secret: string | null;
}

/** The endpoints of a tenant. In front of another service those of the account are its own: each throws PreconditionError. */
export interface WebhookEndpointService {
  /**
   * Creates an endpoint for events from now on, with a secret of its own.
   * @throws ValidationError (also: another endpoint has the URL), PreconditionError (LIMIT_REACHED)
   */
  create(tenant: Tenant, input: CreateEndpointInput): Promise<ConfiguredWebhook & { secret: string }>;
  /**
   * Changes a further endpoint, for events from now on. A new secret signs at once, including attempts of older deliveries,
   * and the secret before it signs too.
   * @throws ValidationError, NotFoundError
   */
  update(tenant: Tenant, input: UpdateEndpointInput): Promise<ConfiguredWebhook>;
  /** Deletes a further endpoint. Its deliveries that are not sent yet are canceled. @throws ValidationError, NotFoundError */
  delete(tenant: Tenant, endpointId: string): Promise<void>;
  /** Lists the endpoints: the URL of the account if one is set, then the further ones, oldest first. */
  list(tenant: Tenant): Promise<WebhookSettings[]>;
  /** Finds endpoints, in the order of the ids; null for one that is not found, or belongs to another tenant. */
  findMany(tenant: Tenant, endpointIds: readonly string[]): Promise<(WebhookSettings | null)[]>;
}

/** The URL of the account as a merchant sees it; null before one was set. */
export function settingsOf(
  tenant: Tenant,
  endpoint: WebhookEndpoint | null,
  now: Date,
): WebhookSettings | null {
  if (!endpoint || endpoint.url === null) return null;
  const { url, enabled, optionalEvents, failingSince } = endpoint;
  return {
    ...{ endpointId: accountEndpointId(tenant), isOfAccount: true, url, enabled, events: [], optionalEvents },
    ...{ previousSecretValidUntil: lastValidUntil(endpoint, now), createdAt: null },
    ...{ failingSince, disabledAt: null },
  };
}

/** A further endpoint as a merchant sees it. */
export function furtherSettingsOf(
  endpoint: FurtherEndpoint,
  optionalEvents: readonly string[],
  now: Date,
): WebhookSettings {
  const { endpointId, url, enabled, events, createdAt, failingSince, disabledAt } = endpoint;
  return {
    ...{ endpointId, isOfAccount: false, url, enabled, events, optionalEvents, createdAt },
    ...{ failingSince, disabledAt },
    previousSecretValidUntil: lastValidUntil(endpoint, now),
  };
}

/** The end of the last earlier secret: one may outlast the one that replaced it. */
function lastValidUntil({ previousSecrets }: SigningSecrets, now: Date): Date | null {
  const valid = previousSecrets.filter(({ until }) => until > now).map(({ until }) => until.getTime());
  return valid.length === 0 ? null : new Date(Math.max(...valid));
}

/**
 * The secrets that sign an attempt: the newest first, then earlier ones that have not expired. There may be
 * several: a rotation whose answer was lost is repeated, and receivers still have the secret before both.
 */
export function signingSecrets({ secret, previousSecrets }: SigningSecrets, now: Date): string[] {
  return [secret, ...previousSecrets.filter(({ until }) => until > now).map((previous) => previous.secret)];
}

/** The URL of each endpoint by its id: null if events are not sent to it. */
export function urlsOf(tenant: Tenant, endpoint: WebhookEndpoint | null): ReadonlyMap<string, string | null> {
  const all = [{ url: null, enabled: true, ...endpoint, endpointId: accountEndpointId(tenant) }];
  return new Map(
    [...all, ...(endpoint?.further ?? [])].map(({ endpointId, url, enabled }) => [
      endpointId,
      enabled ? url : null,
    ]),
  );
}
