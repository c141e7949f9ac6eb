import { createBatches } from '../../kernel/batches.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Database } from '../db/database.ts';
import { announcement, STREAM_CHANNEL } from './announcement.ts';
import type { Appended } from './log.ts';

/** The most events of a tenant that are announced themselves: more would hardly fit into a notification. */
const MAX_EVENTS = 16;

/** The most events that one NOTIFY carries, of all tenants. */
const MAX_CARRIED = 64;

/**
 * Sends one NOTIFY at a time, unless its answer is late: the next one covers all commits since, of every tenant. Each NOTIFY is a
 * transaction with its own flush.
 */
export function createAnnouncer({
  database,
  clock,
  onError,
}: {
  database: Pick<Database, 'engine' | 'notify'>;
  clock: Clock;
  onError: (error: unknown) => void;
}) {
  /** The events of each tenant since the last NOTIFY; none if only the newest version is announced. */
  const waiting = new Map<string, Appended & { tenant: Tenant; version: number }>();
  // PGlite has no other instance.
  const carriesEvents = database.engine === 'postgres';

  const announcements = createBatches({
    clock,
    take() {
      let carried = 0;
      const all = [...waiting.values()].map(({ tenant, version, ...appended }) => {
        carried += appended.events.length;
        return announcement(tenant, version, carried <= MAX_CARRIED ? appended : undefined);
      });
      waiting.clear();
      return all;
    },
    run: (all) => database.notify(STREAM_CHANNEL, ...all).catch(onError),
  });

  /** The events of a commit behind those that wait, if they continue them and are few. */
  function appendedBehind(before: Appended | undefined, { events, previousMark }: Appended): Appended {
    const last = before?.events.at(-1);
    const all = last && last.version + 1 === events[0]!.version ? [...before!.events, ...events] : events;
    const isWhole = !before || all !== events;
    return isWhole && carriesEvents && all.length <= MAX_EVENTS
      ? { events: all, previousMark: before ? before.previousMark : previousMark }
      : NONE;
  }

  return {
    /** Announces the newest version of each of the tenants of a commit. */
    announce(committed: readonly (Appended & { readonly tenant: Tenant })[]) {
      for (const each of committed) {
        const key = tenantKey(each.tenant);
        const appended = appendedBehind(waiting.get(key), each);
        waiting.set(key, { tenant: each.tenant, version: each.events.at(-1)!.version, ...appended });
      }
      if (waiting.size > 0) announcements.begin();
    },
    /** Resolves when every notification has been sent. */
    idle: announcements.idle,
  };
}

const NONE: Appended = { events: [], previousMark: 0 };
