import type { Clock } from '../kernel/clock.ts';
import { UnauthenticatedError } from '../kernel/errors.ts';
import { hashSecret } from '../kernel/ids.ts';
import { createLRUCache } from '../kernel/lru-cache.ts';
import { tenantKey } from '../kernel/tenant.ts';
import type { AccessService, Caller } from './model.ts';

/** How long a revocation whose notification was lost may go unnoticed; and how long a refusal holds. */
const REMEMBERED_MS = 1_000;
/** Of those that are remembered: ten thousand. */
const REMEMBERED_BYTES = 11_000_000;
const CALLER_BYTES = 800;
/** Refusals that are remembered: two thousand, so that the same wrong credential does not ask the database each time. */
const REFUSED_BYTES = 1_000_000;
const REFUSAL_BYTES = 100;
const MOST_TENANTS = 10_000;

export interface RecentCallers {
  /**
   * At once where it is remembered. Who presents the same credential on the same `connection` again need not be hashed
   * again. @throws as `AccessService.authenticate`, later
   */
  authenticate(authorization: string | null | undefined, connection?: object): Caller | Promise<Caller>;
  /**
   * Counts a request against the limit of its network, unless its credential lets somebody in: before anything is read,
   * parsed or looked up for it. Of a credential that was let in lately nothing is counted, so that a neighbour on the
   * same network keeps out nobody who is known. @throws RateLimitError, at once or later
   */
  admit(authorization: string | null | undefined, address: string, connection?: object): void | Promise<void>;
  /** Something was committed for this tenant, by its key, here or on another instance; null: for whichever. */
  changed(tenant: string | null): void;
}

/**
 * Does not ask again within a second who is behind a credential. A revocation is a change of its tenant, and each change of
 * a tenant ends what is remembered of its credentials: on the instance that commits it before anybody is told, on the
 * others with the notification, and where that is lost, within the second. A refusal is remembered
 * for a second, too.
 */
export function createRecentCallers({
  access,
  strangers,
  clock,
}: {
  access: Pick<AccessService, 'authenticate'>;
  /** The limit of a network on requests without a known credential. `take` throws, or rejects with, RateLimitError. */
  strangers: { take(address: string): void | Promise<void>; putBack(address: string): void };
  clock: Clock;
}): RecentCallers {
  /** The message alone: an error would hold on to its stack, and with it to its request. */
  const refused = createLRUCache<{ message: string; at: number }>(REFUSED_BYTES, () => REFUSAL_BYTES);
  const remembered = createLRUCache<Remembered>(REMEMBERED_BYTES, () => CALLER_BYTES);
  /** Of each tenant that something is remembered of, until it changes. */
  const tenants = new Map<string, Unchanged>();
  /** What has changed while each of them asks: it may have been told what was so before. */
  const asking = new Set<Set<string | null>>();

  function unchangedOf(key: string): Unchanged {
    const before = tenants.get(key);
    if (before) return before;
    if (tenants.size >= MOST_TENANTS) forgetAll();
    const unchanged = { holds: true };
    tenants.set(key, unchanged);
    return unchanged;
  }

  /** What was presented last on each connection, and with it forgotten. */
  const presented = new WeakMap<object, { authorization: string; hash: string }>();

  function hashOf(authorization: string, connection: object | undefined): string {
    const before = connection && presented.get(connection);
    if (before?.authorization === authorization) return before.hash;
    const hash = hashSecret(authorization);
    if (connection) presented.set(connection, { authorization, hash });
    return hash;
  }

  function forgetAll(): void {
    for (const unchanged of tenants.values()) unchanged.holds = false;
    tenants.clear();
  }

  async function ask(authorization: string | null | undefined, hash: string): Promise<Caller> {
    const changed = new Set<string | null>();
    asking.add(changed);
    try {
      const at = clock.ms();
      const caller = await access.authenticate(authorization);
      const key = tenantKey(caller.tenant);
      if (!changed.has(key) && !changed.has(null))
        remembered.set(hash, { caller, at, unchanged: unchangedOf(key) });
      return caller;
    } catch (error) {
      if (error instanceof UnauthenticatedError)
        refused.set(hash, { message: error.message, at: clock.ms() });
      throw error;
    } finally {
      asking.delete(changed);
    }
  }

  /** Whether what was learned at an instant still holds. That lies ahead where the clock was set back. */
  const isFresh = (at: number, now: number) => at <= now && now < at + REMEMBERED_MS;

  function authenticate(
    authorization: string | null | undefined,
    connection?: object,
  ): Caller | Promise<Caller> {
    const hash = hashOf(authorization ?? '', connection);
    const known = remembered.get(hash);
    const now = clock.ms();
    if (known?.unchanged.holds) {
      const { caller, at } = known;
      if (isFresh(at, now) && (caller.expiresAt === null || now < caller.expiresAt.getTime())) return caller;
    }
    const refusal = refused.get(hash);
    if (refusal && isFresh(refusal.at, now)) throw new UnauthenticatedError(refusal.message);
    return ask(authorization, hash);
  }

  /** Resolves when it is known whether the credential lets anybody in; the limit has been taken from. */
  async function introduce(authorization: string, address: string, connection?: object): Promise<void> {
    try {
      await authenticate(authorization, connection);
    } catch (error) {
      // Who presents it is answered with the refusal when the credential is needed.
      if (error instanceof UnauthenticatedError) return;
    }
    strangers.putBack(address);
  }

  return {
    authenticate,
    admit(authorization, address, connection) {
      if (!authorization) return strangers.take(address);
      const hash = hashOf(authorization, connection);
      const refusal = refused.get(hash);
      if (remembered.get(hash) && !(refusal && isFresh(refusal.at, clock.ms()))) return;
      const taken = strangers.take(address);
      return taken
        ? taken.then(() => introduce(authorization, address, connection))
        : introduce(authorization, address, connection);
    },
    changed(key) {
      for (const changed of asking) changed.add(key);
      if (key === null) return forgetAll();
      const unchanged = tenants.get(key);
      if (unchanged) unchanged.holds = false;
      tenants.delete(key);
    },
  };
}

interface Remembered {
  caller: Caller;
  at: number;
  unchanged: Unchanged;
}

interface Unchanged {
  holds: boolean;
}
