import { type Clock, plusMs } from '../kernel/clock.ts';
import { RateLimitError } from '../kernel/errors.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { MirroredResource } from '../kernel/upstream-family.ts';
import { isRetryable } from './responses.ts';

/** The followed resources of one kind: all of them, or those with these ids. */
export interface PollTargets {
  readonly all: boolean;
  readonly ids: readonly string[];
  /**
   * Whether a resource is known to have changed: then a recent poll, here or on another instance, does not
   * suffice.
   */
  readonly isChanged?: boolean;
}

/**
 * Polls the followed resources that are due and records them. Returns the time of the next poll; null if
 * nothing can change any more.
 * @throws RateLimitError, UpstreamFault: then the poll is retried later
 */
export type Poll = (tenant: Tenant, targets: PollTargets) => Promise<Date | null>;

export interface Poller {
  /**
   * Follows a resource, or all resources of its kind if `id` is null, until the returned function is called.
   */
  join(tenant: Tenant, resource: MirroredResource, id: string | null): () => void;
  /** Polls a resource now if it is followed, because a request or a webhook has changed its known state. */
  pollNow(tenant: Tenant, resource: MirroredResource): void;
  /** Ends all polling; resolves when the polls under way have ended. */
  close(): Promise<void>;
}

/** The pause after a fault: by its end the circuit has been probed, or the budget has room. */
const RETRY_AFTER_MS = 5_000;

/**
 * Creates a poller of followed resources, because a webhook may be lost. Followers of one resource share its
 * polls. Each poll decides when the next is due, and the budget's class `poll` bounds the cost.
 */
export function createPoller({
  clock,
  slices,
  onFault,
}: {
  clock: Clock;
  /** The slices that poll each resource. */
  slices: Readonly<Record<MirroredResource, { poll: Poll }>>;
  onFault: (fault: unknown) => void;
}): Poller {
  interface Target {
    tenant: Tenant;
    resource: MirroredResource;
    /** The number of followers of all resources. */
    all: number;
    /** The number of followers of each id. */
    ids: Map<string, number>;
    /** The time of the next poll; null if none is scheduled. */
    at: Date | null;
    cancel: (() => void) | null;
    polling: Promise<void> | null;
    /** Whether another poll became due during the one under way. */
    isDueAgain: boolean;
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
        isDueAgain: false,
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
      target.isDueAgain = true;
      return;
    }
    if (closed || !isFollowed(target)) return;
    target.isDueAgain = false;
    const { tenant, resource, isChanged } = target;
    target.isChanged = false;
    const pollTargets: PollTargets = {
      all: target.all > 0,
      ids: [...target.ids.keys()],
      ...(isChanged && { isChanged }),
    };
    target.polling = slices[resource]
      .poll(tenant, pollTargets)
      .catch((error: unknown) => {
        // The change was not read, so it stays to be read.
        if (isChanged) target.isChanged = true;
        if (error instanceof RateLimitError) return plusMs(clock.now(), error.retryAfterSeconds * 1_000);
        if (!isRetryable(error)) onFault(error);
        return plusMs(clock.now(), RETRY_AFTER_MS);
      })
      .then((at) => {
        target.polling = null;
        if (target.isDueAgain) poll(target);
        else if (at) pollAt(target, at);
      });
  }

  /** Schedules a poll at `at`, unless an earlier one is scheduled. */
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
      let isJoined = true;
      return () => {
        if (!isJoined) return;
        isJoined = false;
        if (id === null) target.all -= 1;
        else {
          const remaining = (target.ids.get(id) ?? 1) - 1;
          if (remaining > 0) target.ids.set(id, remaining);
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
