import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Database } from '../db/database.ts';
import type { StoredEvent } from './event.ts';
import { announcement, STREAM_CHANNEL } from './log-tailer.ts';

/**
 * Sends one NOTIFY at a time: the next one covers all commits since, of every tenant. Each NOTIFY is a
 * transaction with its own flush.
 */
export function createAnnouncer(database: Database, onError: (error: unknown) => void) {
  /** The announcement of each tenant's newest version. */
  const waiting = new Map<string, string>();
  let inFlight: Promise<void> | null = null;
  async function announceAll() {
    while (waiting.size > 0) {
      const announcements = [...waiting.values()];
      waiting.clear();
      await database.notify(STREAM_CHANNEL, ...announcements).catch(onError);
    }
    inFlight = null;
  }
  return {
    /** Announces the newest version of each of the tenants of a commit. */
    announce(committed: readonly { readonly tenant: Tenant; readonly events: readonly StoredEvent[] }[]) {
      for (const { tenant, events } of committed)
        waiting.set(tenantKey(tenant), announcement(tenant, events.at(-1)!.version));
      if (waiting.size > 0) inFlight ??= announceAll();
    },
    /** Resolves when every notification has been sent. */
    idle: async () => inFlight,
  };
}
