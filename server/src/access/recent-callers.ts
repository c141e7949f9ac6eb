import type { Caller } from '../kernel/caller.ts';
import type { Clock } from '../kernel/clock.ts';
import { UnauthenticatedError } from '../kernel/errors.ts';
import { hashSecret } from '../kernel/ids.ts';
import { createLRUCache } from '../kernel/lru-cache.ts';
import { tenantKey } from '../kernel/tenant.ts';
import type { AccessService } from './model.ts';

/** The life of a cache entry: at most this long a revocation goes unnoticed if its notification was lost. */
const CACHE_MS = 1_000;
/** The size of the cache of callers: ten thousand. */
const CALLER_CACHE_BYTES = 11_000_000;
const CALLER_BYTES = 800;
/**
 * The size of the cache of refusals: two thousand, so that a repeated wrong credential does not reach the database
 * each time.
 */
const REFUSAL_CACHE_BYTES = 1_000_000;
const REFUSAL_BYTES = 100;
const MAX_TENANTS = 10_000;

export interface RecentCallers {
  /**
   * Authenticates a credential, at once if it is cached. A credential that is repeated on the same
   * `connection` is not hashed again.
   * @throws UnauthenticatedError, at once or later
   */
  authenticate(authorization: string | null | undefined, connection?: object): Caller | Promise<Caller>;
  /**
   * Counts a request against the limit of its network before anything of it is read. The count is undone for
   * a valid credential: a neighbor on the same network cannot lock out a known caller.
   * @throws RateLimitError, at once or later
   */
  admit(authorization: string | null | undefined, address: string, connection?: object): void | Promise<void>;
  /**
   * Invalidates the cached callers of a tenant, given as `tenantKey`, after a commit on this or another
   * instance that may have revoked one of its credentials. Null means all tenants.
   */
  revoked(tenant: string | null): void;
}

/**
 * Caches for a second which caller a credential belongs to. A revocation is an event of its tenant, and
 * invalidates the entries of the tenant's credentials: on the committing instance before the result is sent,
 * on the others with the notification, or within the second if that is lost. A refusal is cached for a second
 * too.
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
  const refusals = createLRUCache<{ message: string; at: number }>(REFUSAL_CACHE_BYTES, () => REFUSAL_BYTES);
  const cachedCallers = createLRUCache<CachedCaller>(CALLER_CACHE_BYTES, () => CALLER_BYTES);
  /** Marks that all cached callers of a tenant share; a revocation makes the tenant's mark invalid. */
  const tenants = new Map<string, Validity>();
  /** The tenants with a revocation during each lookup in flight, whose result may be older than that. */
  const lookups = new Set<Set<string | null>>();

  function validityOf(key: string): Validity {
    const known = tenants.get(key);
    if (known) return known;
    if (tenants.size >= MAX_TENANTS) invalidateAll();
    const validity = { isValid: true };
    tenants.set(key, validity);
    return validity;
  }

  /** The last credential of each connection, which is dropped with the connection. */
  const lastCredentials = new WeakMap<object, { authorization: string; hash: string }>();

  function hashOf(authorization: string, connection: object | undefined): string {
    const known = connection && lastCredentials.get(connection);
    if (known?.authorization === authorization) return known.hash;
    const hash = hashSecret(authorization);
    if (connection) lastCredentials.set(connection, { authorization, hash });
    return hash;
  }

  function invalidateAll(): void {
    for (const validity of tenants.values()) validity.isValid = false;
    tenants.clear();
  }

  async function lookUp(authorization: string | null | undefined, hash: string): Promise<Caller> {
    const revoked = new Set<string | null>();
    lookups.add(revoked);
    try {
      const at = clock.ms();
      const caller = await access.authenticate(authorization);
      const key = tenantKey(caller.tenant);
      if (!revoked.has(key) && !revoked.has(null))
        cachedCallers.set(hash, { caller, at, validity: validityOf(key) });
      return caller;
    } catch (error) {
      if (error instanceof UnauthenticatedError)
        refusals.set(hash, { message: error.message, at: clock.ms() });
      throw error;
    } finally {
      lookups.delete(revoked);
    }
  }

  /**
   * Whether a result of the instant `at` is still valid. `at` is ahead of `now` after the clock was set back.
   */
  const isFresh = (at: number, now: number) => at <= now && now < at + CACHE_MS;

  function authenticate(
    authorization: string | null | undefined,
    connection?: object,
  ): Caller | Promise<Caller> {
    const hash = hashOf(authorization ?? '', connection);
    const known = cachedCallers.get(hash);
    const now = clock.ms();
    if (known?.validity.isValid) {
      const { caller, at } = known;
      if (isFresh(at, now) && (caller.expiresAt === null || now < caller.expiresAt.getTime())) return caller;
    }
    const refusal = refusals.get(hash);
    if (refusal && isFresh(refusal.at, now)) throw new UnauthenticatedError(refusal.message);
    return lookUp(authorization, hash);
  }

  /** Undoes a request's count against its network's limit, unless its credential is refused. */
  async function putBackIfValid(authorization: string, address: string, connection?: object): Promise<void> {
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
      const refusal = refusals.get(hash);
      if (cachedCallers.get(hash) && !(refusal && isFresh(refusal.at, clock.ms()))) return;
      const taken = strangers.take(address);
      return taken
        ? taken.then(() => putBackIfValid(authorization, address, connection))
        : putBackIfValid(authorization, address, connection);
    },
    revoked(key) {
      for (const revoked of lookups) revoked.add(key);
      if (key === null) return invalidateAll();
      const validity = tenants.get(key);
      if (validity) validity.isValid = false;
      tenants.delete(key);
    },
  };
}

interface CachedCaller {
  caller: Caller;
  at: number;
  validity: Validity;
}

interface Validity {
  isValid: boolean;
}
