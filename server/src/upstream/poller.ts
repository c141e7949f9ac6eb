import { type Clock, plusMs } from '../kernel/clock.ts';
import { RateLimitError } from '../kernel/errors.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { MirroredResource } from './mirror-store.ts';
import { isRetryable } from './responses.ts';

/** The followed resources of one kind: all of them, or these. */
export interface PollTargets {
  readonly all: boolean;
  readonly ids: readonly string[];
  /**
   * Something is known to have changed: a poll a moment ago, here or on another instance, does not make this one
   * superfluous.
   */
  readonly isChanged?: boolean;
}

/**
 * Polls the followed resources that are due and records them; gives the time of the next poll, null where nothing can
 * change any more.
 * @throws RateLimitError, UpstreamFault: then it is tried again later
 */
export type Poll = (tenant: Tenant, wanted: PollTargets) => Promise<Date | null>;

export interface Poller {
  /** Follows a resource until the returned function is called. */
  join(tenant: Tenant, resource: MirroredResource, id: string | null): () => void;
  /** Polls a resource now, if it is followed: something has changed, or was begun. */
  pollNow(tenant: Tenant, resource: MirroredResource): void;
  close(): Promise<void>;
}

/** The pause after a fault: by then the circuit has been tried, or the budget has room. */
const AFTER_FAULT_MS = 5_000;

/**
 * Polls the resources that somebody follows, for a webhook may be lost: each once, however many follow it, and no
 * others. How often is decided by each poll, and the cost is bounded by the budget's class of polling.
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
    /** The number of followers of each id. */
    ids: Map<string, number>;
    at: Date | null;
    cancel: (() => void) | null;
    polling: Promise<void> | null;
    again: boolean;
    isChanged: boolean;
  }
  const targets = new Map<string, Target>();
  let closed = false;

  const isFollowed = (target: Target) => target.all > 0 || target.ids.size > 0;

  function targetOf(tenant: Tenant, resource: MirroredResource): Target {
    const key = `${tenantKey(tenant)} ${resource}`;
    let target = targets.get(key);
    if (!target) {
      target = {
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
      targets.set(key, target);
    }
    return target;
  }

  function poll(target: Target): void {
    target.cancel?.();
    target.cancel = null;
    target.at = null;
    if (target.polling) {
      target.again = true;
      return;
    }
    if (closed || !isFollowed(target)) return;
    target.again = false;
    const { tenant, resource, isChanged } = target;
    target.isChanged = false;
    const wanted: PollTargets = {
      all: target.all > 0,
      ids: [...target.ids.keys()],
      ...(isChanged && { isChanged }),
    };
    target.polling = pollers[resource](tenant, wanted)
      .catch((error: unknown) => {
        if (error instanceof RateLimitError) return plusMs(clock.now(), error.retryAfterSeconds * 1_000);
        if (!isRetryable(error)) onFault(error);
        return plusMs(clock.now(), AFTER_FAULT_MS);
      })
      .then((at) => {
        target.polling = null;
        if (target.again) poll(target);
        else if (at) pollAt(target, at);
      });
  }

  /** Plans a poll at `at`, or leaves an earlier one. */
  function pollAt(target: Target, at: Date): void {
    if (closed || (target.at && target.at <= at)) return;
    target.cancel?.();
    target.at = at;
    target.cancel = clock.schedule(at, () => poll(target));
  }

  return {
    join(tenant, resource, id) {
      const target = targetOf(tenant, resource);
      if (id === null) target.all += 1;
      else target.ids.set(id, (target.ids.get(id) ?? 0) + 1);
      // Followers that join together share a poll.
      pollAt(target, clock.now());
      let joined = true;
      return () => {
        if (!joined) return;
        joined = false;
        if (id === null) target.all -= 1;
        else {
          const others = (target.ids.get(id) ?? 1) - 1;
          if (others > 0) target.ids.set(id, others);
          else target.ids.delete(id);
        }
        if (isFollowed(target)) return;
        target.cancel?.();
        target.cancel = null;
        target.at = null;
      };
    },
    pollNow(tenant, resource) {
      const target = targetOf(tenant, resource);
      if (!isFollowed(target)) return;
      target.isChanged = true;
      pollAt(target, clock.now());
    },
    async close() {
      closed = true;
      for (const target of targets.values()) target.cancel?.();
      await Promise.all([...targets.values()].map(({ polling }) => polling));
    },
  };
}
