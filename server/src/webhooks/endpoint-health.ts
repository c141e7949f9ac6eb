import { DAY_MS, plusMs } from '../kernel/clock.ts';
import type { Tenant } from '../kernel/tenant.ts';
import { accountEndpointId, type FurtherEndpoint, type WebhookEndpoint } from './endpoints.ts';
import type { WebhookDelivery } from './model.ts';

// Endpoints that fail for days.

/** The time of failures alone, and the number of them, after which a further endpoint is disabled. */
const DISABLED_AFTER_MS = 5 * DAY_MS;
const DISABLED_AFTER_ATTEMPTS = 20;
/** The time between two attempts at a disabled endpoint. */
export const PROBE_INTERVAL_MS = DAY_MS;

/** The health of an endpoint without a failure. */
export const HEALTHY = { failingSince: null, failedAttempts: 0, disabledAt: null };

/** An endpoint that was disabled, as the log and the other endpoints have it: with the host of its URL alone, for the rest may be a secret. */
export interface DisabledEndpoint {
  endpointId: string;
  url: string;
  failingSince: Date;
  failedAttempts: number;
  disabledAt: Date;
}

/** The change of an endpoint by an attempt. */
export interface HealthChange {
  endpoint: WebhookEndpoint;
  /** The endpoint that was disabled by it. */
  disabled: DisabledEndpoint | null;
  /** Whether a disabled endpoint is enabled again. */
  isEnabledAgain: boolean;
}

/**
 * Decides the health of a delivery's endpoint after an attempt; null if nothing changes. An attempt at a URL that the
 * endpoint had before says nothing of it. The URL of the account is never disabled: the document promises its attempts.
 */
export function decideHealth(
  tenant: Tenant,
  endpoint: WebhookEndpoint,
  { endpointId, url }: Pick<WebhookDelivery, 'endpointId' | 'url'>,
  { delivered, now }: { delivered: boolean; now: Date },
): HealthChange | null {
  if (endpointId === accountEndpointId(tenant)) {
    const failingSince = delivered ? null : (endpoint.failingSince ?? now);
    if (url !== endpoint.url || failingSince === endpoint.failingSince) return null;
    return { endpoint: { ...endpoint, failingSince }, disabled: null, isEnabledAgain: false };
  }
  const before = endpoint.further.find((each) => each.endpointId === endpointId);
  if (before?.url !== url) return null;
  if (delivered && before.failingSince === null) return null;
  const after = { ...before, ...(delivered ? HEALTHY : failedOnceMore(before, now)) };
  return {
    endpoint: { ...endpoint, further: endpoint.further.map((each) => (each === before ? after : each)) },
    disabled: before.disabledAt === null ? disabledIn(after) : null,
    isEnabledAgain: before.disabledAt !== null && after.disabledAt === null,
  };
}

function disabledIn({ endpointId, url, failingSince, failedAttempts, disabledAt }: FurtherEndpoint) {
  if (failingSince === null || disabledAt === null) return null;
  return { endpointId, url: `${new URL(url).origin}/***`, failingSince, failedAttempts, disabledAt };
}

function failedOnceMore({ failingSince, failedAttempts, disabledAt }: FurtherEndpoint, now: Date) {
  const since = failingSince ?? now;
  const failed = failedAttempts + 1;
  const isDue = failed >= DISABLED_AFTER_ATTEMPTS && now >= plusMs(since, DISABLED_AFTER_MS);
  return { failingSince: since, failedAttempts: failed, disabledAt: disabledAt ?? (isDue ? now : null) };
}

/** Whether a delivery waits until its endpoint is enabled again. */
export function isHeld(endpoint: WebhookEndpoint | null, endpointId: string | null): boolean {
  return (
    endpoint?.further.some((each) => each.endpointId === endpointId && each.disabledAt !== null) ?? false
  );
}
