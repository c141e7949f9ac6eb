import type { Clock } from '../kernel/clock.ts';
import { UnauthenticatedError } from '../kernel/errors.ts';
import { hashSecret } from '../kernel/ids.ts';
import { createLRUCache } from '../kernel/lru-cache.ts';
import { tenantKey } from '../kernel/tenant.ts';
import type { AccessService, Caller } from './model.ts';

/** The life of a cache entry: a revocation goes unnoticed for at most this time where its notification was lost. */
const REMEMBERED_MS = 1_000;
/** The size of the cache of callers: ten thousand. */
const REMEMBERED_BYTES = 11_000_000;
const CALLER_BYTES = 800;
/**
 * The size of the cache of refusals: two thousand, so that a repeated wrong credential does not reach the database
 * each time.
 */
const REFUSED_BYTES = 1_000_000;
const REFUSAL_BYTES = 100;
const MOST_TENANTS = 10_000;

export interface RecentCallers {
  /**
   * Authenticates a credential, at once where it is cached. A credential that is repeated on the same `connection` is
   * not hashed again.
   * @throws as `AccessService.authenticate`, later
   */
  authenticate(authorization: string | null | undefined, connection?: object): Caller | Promise<Caller>;
  /**
   * Counts a request against the limit of its network, unless its credential is valid, before anything is read,
   * parsed or looked up for it. A request with a recently accepted credential is not counted, so that a neighbour on
   * the same network cannot lock out a known caller.
   * @throws RateLimitError, at once or later
   */
  admit(authorization: string | null | undefined, address: string, connection?: object): void | Promise<void>;
  /**
   * Invalidates the entries of a tenant, by its key, after a commit on this or another instance; null: of all
   * tenants.
   */
  changed(tenant: string | null): void;
}

/**
 * Caches for a second which caller is behind a credential. A revocation is a change of its tenant, and each change of
 * a tenant invalidates the entries of its credentials: on the committing instance before the result is sent, on the
 * others with the notification, and within the second where that is lost. A refusal is cached for a second too.
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
  /** Messages of refusals: an error itself would retain its stack, and with it its request. */
  const refused = createLRUCache<{ message: string; at: number }>(REFUSED_BYTES, () => REFUSAL_BYTES);
  const remembered = createLRUCache<Remembered>(REMEMBERED_BYTES, () => CALLER_BYTES);
  /** The validity of each tenant's entries, until the tenant changes. */
  const tenants = new Map<string, Unchanged>();
  /** The tenants that have changed during each lookup under way, whose result may be older than the change. */
  const asking = new Set<Set<string | null>>();

  function unchangedOf(key: string): Unchanged {
    const before = tenants.get(key);
    if (before) return before;
    if (tenants.size >= MOST_TENANTS) forgetAll();
    const unchanged = { holds: true };
    tenants.set(key, unchanged);
    return unchanged;
  }

  /** The last credential of each connection, which is dropped with the connection. */
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

  /** Whether a result of an instant is still valid. The instant lies ahead where the clock was set back. */
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

  /** Returns the request to the limit of its network once its credential has proved valid. */
  async function introduce(authorization: string, address: string, connection?: object): Promise<void> {
    try {
      await authenticate(authorization, connection);
    } catch (error) {
      // The refusal is thrown when the credential is needed.
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
