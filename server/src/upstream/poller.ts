import { type Clock, plusMs } from '../kernel/clock.ts';
import { RateLimitError } from '../kernel/errors.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { MirroredResource } from './mirror-store.ts';
import { isRetryable } from './responses.ts';

/** What is followed of one kind of resource: all of it, or these. */
export interface PollTargets {
  readonly all: boolean;
  readonly ids: readonly string[];
  /** Something is known to have changed: that it was looked at a moment ago, here or on another instance, is no reason. */
  readonly isChanged?: boolean;
}

/**
 * Asks the service for what is due of what is followed, records it, and tells when it should be asked again; null where
 * nothing can change any more. @throws RateLimitError, UpstreamFault: then it is tried again later
 */
export type Poll = (tenant: Tenant, wanted: PollTargets) => Promise<Date | null>;

export interface Poller {
  /** Somebody follows it from now on, until the returned function is called. */
  join(tenant: Tenant, resource: MirroredResource, id: string | null): () => void;
  /** Something has changed, or was begun: it is looked at now, if it is followed. */
  pollNow(tenant: Tenant, resource: MirroredResource): void;
  close(): Promise<void>;
}

/** After a fault: by then the circuit has been tried, or the budget has room. */
const AFTER_FAULT_MS = 5_000;

/**
 * The net under the webhooks: what somebody follows is polled, however many follow it once, and what nobody follows is
 * not. How often is each poller's to say, and what it may cost the budget's class of polling.
 */
export function createPoller({
  clock,
  pollers,
  onFault,
}: {
  clock: Clock;
  pollers: Readonly<Record<MirroredResource, Poll>>;
  onFault: (fault: unknown) => void;
}): Poller {
  interface Target {
    tenant: Tenant;
    resource: MirroredResource;
    all: number;
    /** Followers of each. */
    ids: Map<string, number>;
    at: Date | null;
    cancel: (() => void) | null;
    polling: Promise<void> | null;
    again: boolean;
    isChanged: boolean;
  }
  const places = new Map<string, Target>();
  let closed = false;

  const isFollowed = (place: Target) => place.all > 0 || place.ids.size > 0;

  function placeOf(tenant: Tenant, resource: MirroredResource): Target {
    const key = `${tenantKey(tenant)} ${resource}`;
    let place = places.get(key);
    if (!place) {
      place = {
        tenant,
        resource,
        all: 0,
        ids: new Map(),
        at: null,
        cancel: null,
        polling: null,
        again: false,
        isChanged: false,
      };
      places.set(key, place);
    }
    return place;
  }

  function poll(place: Target): void {
    place.cancel?.();
    place.cancel = null;
    place.at = null;
    if (place.polling) {
      place.again = true;
      return;
    }
    if (closed || !isFollowed(place)) return;
    place.again = false;
    const { tenant, resource, isChanged } = place;
    place.isChanged = false;
    const wanted: PollTargets = {
      all: place.all > 0,
      ids: [...place.ids.keys()],
      ...(isChanged && { isChanged }),
    };
    place.polling = pollers[resource](tenant, wanted)
      .catch((error: unknown) => {
        if (error instanceof RateLimitError) return plusMs(clock.now(), error.retryAfterSeconds * 1_000);
        if (!isRetryable(error)) onFault(error);
        return plusMs(clock.now(), AFTER_FAULT_MS);
      })
      .then((at) => {
        place.polling = null;
        if (place.again) poll(place);
        else if (at) pollAt(place, at);
      });
  }

  /** At `at`, or earlier where something earlier is planned already. */
  function pollAt(place: Target, at: Date): void {
    if (closed || (place.at && place.at <= at)) return;
    place.cancel?.();
    place.at = at;
    place.cancel = clock.schedule(at, () => poll(place));
  }

  return {
    join(tenant, resource, id) {
      const place = placeOf(tenant, resource);
      if (id === null) place.all += 1;
      else place.ids.set(id, (place.ids.get(id) ?? 0) + 1);
      // Who comes together is polled for together.
      pollAt(place, clock.now());
      let joined = true;
      return () => {
        if (!joined) return;
        joined = false;
        if (id === null) place.all -= 1;
        else {
          const others = (place.ids.get(id) ?? 1) - 1;
          if (others > 0) place.ids.set(id, others);
          else place.ids.delete(id);
        }
        if (isFollowed(place)) return;
        place.cancel?.();
        place.cancel = null;
        place.at = null;
      };
    },
    pollNow(tenant, resource) {
      const place = placeOf(tenant, resource);
      if (!isFollowed(place)) return;
      place.isChanged = true;
      pollAt(place, clock.now());
    },
    async close() {
      closed = true;
      for (const place of places.values()) place.cancel?.();
      await Promise.all([...places.values()].map(({ polling }) => polling));
    },
  };
}
