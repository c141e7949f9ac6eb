import { plusMs } from '../kernel/clock.ts';
import { NotFoundError, PreconditionError, ValidationError } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { HEALTHY } from './endpoint-health.ts';
import {
  accountEndpointId,
  type FurtherEndpoint,
  MAX_ENDPOINTS,
  newEndpointId,
  noEndpoints,
  type SigningSecrets,
  type WebhookEndpoint,
} from './endpoints.ts';

// Changes of endpoints.

const HOUR = 3_600_000;

/** The hours for which a replaced secret signs beside the new one, if nothing else is asked. */
const PREVIOUS_HOURS = 24;
/**
 * The largest number of replaced secrets that sign: a rotation whose answer was lost is repeated, and the receivers still
 * have the first secret.
 */
const MAX_PREVIOUS_SECRETS = 3;

/**
 * Decides the earlier secrets: a rotation adds the replaced secret, if anybody has seen it. None signs for
 * longer than `hours` from now. Null leaves the time of each, and gives a replaced one the default.
 */
function previousSecretsAfter(
  { secret: replacedSecret, previousSecrets }: SigningSecrets,
  { rotates, hours, now }: { rotates: boolean; hours: number | null; now: Date },
): SigningSecrets['previousSecrets'] {
  const replaced = rotates
    ? [{ secret: replacedSecret, until: plusMs(now, (hours ?? PREVIOUS_HOURS) * HOUR) }]
    : [];
  const limit = hours === null ? null : plusMs(now, hours * HOUR);
  return [...replaced, ...previousSecrets]
    .map(({ secret, until }) => ({ secret, until: limit && limit < until ? limit : until }))
    .filter(({ until }) => until > now)
    .slice(0, MAX_PREVIOUS_SECRETS);
}

/** The changes that every endpoint takes, as a service has read them. Undefined leaves what it is. */
interface ReadChanges {
  url?: string | undefined;
  enabled?: boolean | undefined;
  rotateSecret: boolean;
  /** Null leaves earlier secrets as they are, and gives a replaced one the default. */
  previousSecretHours?: number | null;
  freshSecret: string;
  now: Date;
}

/**
 * Changes the URL of the account. Returns the endpoint, and its secret if the merchant may see it now.
 * @throws ValidationError if there is no URL yet and none is given, or if a further endpoint has it
 */
export function decideConfigure(
  endpoint: WebhookEndpoint | null,
  {
    url: given,
    enabled = endpoint?.enabled ?? true,
    rotateSecret,
    previousSecretHours = null,
    freshSecret,
    optionalEvents,
    now,
  }: ReadChanges & {
    /** Null leaves the events as they are. */
    optionalEvents: readonly string[] | null;
  },
): { endpoint: WebhookEndpoint & { url: string }; secret: string | null } {
  const { further, ...before } = endpoint ?? noEndpoints(freshSecret);
  const url = given ?? before.url;
  if (url === null)
    throw new ValidationError([{ path: 'input.url', message: 'must be given, because no URL is set yet' }]);
  assertNoOther(further, url);
  const secret = endpoint && !rotateSecret ? endpoint.secret : freshSecret;
  const isKnown = before.secretShown && secret === before.secret;
  return {
    endpoint: {
      ...{ url, enabled, secret, secretShown: true, further },
      failingSince: url === before.url ? before.failingSince : null,
      previousSecrets: previousSecretsAfter(before, {
        rotates: rotateSecret && before.secretShown,
        hours: previousSecretHours,
        now,
      }),
      optionalEvents: optionalEvents ?? before.optionalEvents,
    },
    secret: isKnown ? null : secret,
  };
}

/** @throws ValidationError if another endpoint has the URL; PreconditionError (LIMIT_REACHED) */
export function decideCreateEndpoint(
  endpoint: WebhookEndpoint,
  {
    url,
    events,
    freshSecret,
    now,
  }: { url: string; events: readonly string[]; freshSecret: string; now: Date },
): { endpoint: WebhookEndpoint; created: FurtherEndpoint } {
  const { further } = endpoint;
  if (further.length >= MAX_ENDPOINTS - 1)
    throw new PreconditionError(
      'LIMIT_REACHED',
      `An account has at most ${MAX_ENDPOINTS} webhook endpoints in each environment, its own URL included`,
    );
  assertNoOther([endpoint, ...further], url);
  const created: FurtherEndpoint = {
    ...{ endpointId: newEndpointId(), url, enabled: true, events, createdAt: now },
    ...{ secret: freshSecret, previousSecrets: [], ...HEALTHY },
  };
  return { endpoint: { ...endpoint, further: [...further, created] }, created };
}

/**
 * Changes a further endpoint. Returns its secret if that is new.
 * @throws NotFoundError; ValidationError if it is the URL of the account, or if another endpoint has the URL
 */
export function decideUpdateEndpoint(
  tenant: Tenant,
  endpoint: WebhookEndpoint | null,
  endpointId: string,
  {
    url,
    enabled,
    events,
    rotateSecret,
    previousSecretHours = null,
    freshSecret,
    now,
  }: ReadChanges & {
    /** Null leaves the events as they are. */
    events: readonly string[] | null;
  },
): { endpoint: WebhookEndpoint; updated: FurtherEndpoint; secret: string | null } {
  const { all, before, others } = findFurther(tenant, endpoint, endpointId, 'input.endpointId');
  if (url !== undefined) assertNoOther([all, ...others], url);
  // Another URL may work, and so may one that the merchant has repaired.
  const isRepaired = (url !== undefined && url !== before.url) || enabled === true;
  const updated: FurtherEndpoint = {
    ...before,
    ...(isRepaired && HEALTHY),
    url: url ?? before.url,
    enabled: enabled ?? before.enabled,
    events: events ?? before.events,
    secret: rotateSecret ? freshSecret : before.secret,
    previousSecrets: previousSecretsAfter(before, {
      rotates: rotateSecret,
      hours: previousSecretHours,
      now,
    }),
  };
  return {
    endpoint: { ...all, further: all.further.map((each) => (each === before ? updated : each)) },
    updated,
    secret: rotateSecret ? updated.secret : null,
  };
}

/** @throws NotFoundError; ValidationError if it is the URL of the account */
export function decideDeleteEndpoint(
  tenant: Tenant,
  endpoint: WebhookEndpoint | null,
  endpointId: string,
): WebhookEndpoint {
  const { all, others } = findFurther(tenant, endpoint, endpointId, 'endpointId');
  return { ...all, further: others };
}

function findFurther(tenant: Tenant, endpoint: WebhookEndpoint | null, endpointId: string, path: string) {
  if (endpointId === accountEndpointId(tenant))
    throw new ValidationError([
      { path, message: 'is the URL of the account, which configureWebhook changes' },
    ]);
  const before = endpoint?.further.find((each) => each.endpointId === endpointId);
  if (!endpoint || !before) throw new NotFoundError('Webhook endpoint not found');
  return { all: endpoint, before, others: endpoint.further.filter((each) => each !== before) };
}

/** @throws ValidationError if one of these endpoints has the URL */
function assertNoOther(endpoints: readonly { url: string | null }[], url: string): void {
  const { href } = new URL(url);
  if (endpoints.some((each) => each.url !== null && new URL(each.url).href === href))
    throw new ValidationError([{ path: 'input.url', message: 'is the URL of another endpoint' }]);
}
