import type { Clock } from '../kernel/clock.ts';
import { hashSecret } from '../kernel/ids.ts';
import { createRecent } from '../kernel/recent.ts';
import { tenantKey } from '../kernel/tenant.ts';
import type { AccessService, Caller } from './model.ts';

/** How long a revocation that nobody told of may go unnoticed. */
const REMEMBERED_MS = 1_000;
/** Of those that are remembered: ten thousand. */
const REMEMBERED_BYTES = 11_000_000;
const CALLER_BYTES = 800;
const MOST_TENANTS = 10_000;

export interface RecentCallers {
  /**
   * At once where it is remembered. Who presents the same credential on the same `connection` again need not be hashed
   * again. @throws as `AccessService.authenticate`, later
   */
  authenticate(authorization: string | null | undefined, connection?: object): Caller | Promise<Caller>;
  /** Something was committed for this tenant, by its key, here or on another instance; null: for whichever. */
  changed(tenant: string | null): void;
}

/**
 * Does not ask again within a second who is behind a credential. A revocation is a change of its tenant, and each change of
 * a tenant ends what is remembered of its credentials: on the instance that commits it before anybody is told, on the
 * others with the notification, and where that is lost, within the second. Refusals are not remembered.
 */
export function createRecentCallers({
  access,
  clock,
}: {
  access: Pick<AccessService, 'authenticate'>;
  clock: Clock;
}): RecentCallers {
  const remembered = createRecent<Remembered>(REMEMBERED_BYTES, () => CALLER_BYTES);
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
    } finally {
      asking.delete(changed);
    }
  }

  return {
    authenticate(authorization, connection) {
      const hash = hashOf(authorization ?? '', connection);
      const known = remembered.get(hash);
      if (!known?.unchanged.holds) return ask(authorization, hash);
      const now = clock.ms();
      const { caller, at } = known;
      // `at` lies ahead where the clock was set back.
      const holds = at <= now && now < at + REMEMBERED_MS;
      return holds && (caller.expiresAt === null || now < caller.expiresAt.getTime())
        ? caller
        : ask(authorization, hash);
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
