import type { Database } from '../db/database.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { type Tenant, tenantFromKey, tenantKey } from '../kernel/tenant.ts';
import type { StoredEvent } from './event.ts';
import { readAfter, readHead, type Topic } from './log.ts';

/**
 * The live end of every tenant's log that somebody listens to: one reader a tenant, however many listeners.
 * A wake says only "look"; what is delivered is what the log holds, in order, each version once.
 */
export interface Follower {
  /** Something was committed for this tenant, here or on another instance. */
  wake(tenant: Tenant): void;
  /**
   * Joins the live end if it stands at `after` or before it; from then on `heard` gets each event of the topic
   * beyond `after`. Null if the live end has passed `after`: read on in the log first.
   */
  join(
    tenant: Tenant,
    listener: { after: number; topic: Topic; heard: (event: StoredEvent) => void },
  ): (() => void) | null;
  /** A live end exists at the log's present head, for `join` to succeed. */
  open(tenant: Tenant): Promise<void>;
  /** From now on `heard` gets each event of the topic. */
  listen(tenant: Tenant, topic: Topic, heard: (event: StoredEvent) => void): Promise<() => void>;
  /** Begins to hear what other instances commit. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** What another instance calls out after a commit: the tenant's key. */
export const STREAM_CHANNEL = 'psa_stream';
/** Notifications can get lost; then this is how late an event comes. */
const POLL_MS = 5_000;
const PAGE = 200;

interface LiveEnd {
  tenant: Tenant;
  /** Every event up to here has been delivered to whoever had joined. */
  position: number;
  listeners: Map<string, Set<{ after: number; heard: (event: StoredEvent) => void }>>;
  listening: number;
  reading: Promise<void> | null;
  wokenAgain: boolean;
}

export function createFollower({
  database,
  clock,
  onError,
}: {
  database: Database;
  clock: Clock;
  onError: (error: unknown) => void;
}): Follower {
  const liveEnds = new Map<string, LiveEnd>();
  let closed = false;
  let unlisten: (() => Promise<void>) | undefined;
  let cancelPoll: (() => void) | undefined;

  function read(end: LiveEnd): Promise<void> {
    if (end.reading !== null) {
      end.wokenAgain = true;
      return end.reading;
    }
    end.reading = (async () => {
      try {
        do {
          end.wokenAgain = false;
          const { events, through } = await readAfter(database.sql, end.tenant, {
            after: end.position,
            limit: PAGE,
          });
          for (const event of events) deliver(end, event);
          end.position = through;
          if (events.length === PAGE) end.wokenAgain = true;
        } while (end.wokenAgain && !closed && end.listening > 0);
      } catch (error) {
        // The poll reads again from the same position.
        if (!closed) onError(error);
      } finally {
        end.reading = null;
      }
    })();
    return end.reading;
  }

  function deliver(end: LiveEnd, event: StoredEvent): void {
    for (const topic of [topicKey(event), topicKey({ resource: event.resource })])
      for (const listener of end.listeners.get(topic) ?? [])
        if (event.version > listener.after) listener.heard(event);
  }

  function poll(): void {
    cancelPoll = clock.schedule(plusMs(clock.now(), POLL_MS), () => {
      for (const end of liveEnds.values()) if (end.listening > 0) void read(end);
      if (!closed) poll();
    });
  }

  function wake(tenant: Tenant): void {
    const end = liveEnds.get(tenantKey(tenant));
    if (end && end.listening > 0) void read(end);
  }

  async function open(tenant: Tenant): Promise<void> {
    const key = tenantKey(tenant);
    if ((liveEnds.get(key)?.listening ?? 0) > 0) return;
    const position = await readHead(database.sql, tenant);
    const end = liveEnds.get(key);
    // Nobody listened, so whatever lies between was delivered to nobody.
    if (end && end.listening === 0) end.position = Math.max(end.position, position);
    else if (!end)
      liveEnds.set(key, {
        tenant,
        position,
        listeners: new Map(),
        listening: 0,
        reading: null,
        wokenAgain: false,
      });
  }

  function join(
    tenant: Tenant,
    { after, topic, heard }: { after: number; topic: Topic; heard: (event: StoredEvent) => void },
  ): (() => void) | null {
    const end = liveEnds.get(tenantKey(tenant));
    if (!end || end.position > after) return null;
    const key = topicKey(topic);
    const listener = { after, heard };
    const listeners = end.listeners.get(key) ?? new Set();
    end.listeners.set(key, listeners.add(listener));
    end.listening += 1;
    // Something may have been committed since the position was read, and its wake found nobody.
    void read(end);
    return () => {
      if (!listeners.delete(listener)) return;
      end.listening -= 1;
      if (listeners.size === 0 && end.listeners.get(key) === listeners) end.listeners.delete(key);
      if (end.listening === 0 && liveEnds.get(tenantKey(tenant)) === end) liveEnds.delete(tenantKey(tenant));
    };
  }

  async function listen(
    tenant: Tenant,
    topic: Topic,
    heard: (event: StoredEvent) => void,
  ): Promise<() => void> {
    await open(tenant);
    // The live end is at its own position: who joins exactly there misses nothing from now on.
    const after = liveEnds.get(tenantKey(tenant))?.position ?? 0;
    return join(tenant, { after, topic, heard }) ?? listen(tenant, topic, heard);
  }

  return {
    wake,
    open,
    join,
    listen,
    async start() {
      unlisten = await database.listen(STREAM_CHANNEL, (key) => {
        if (key === '') for (const end of liveEnds.values()) void read(end);
        else wake(tenantFromKey(key));
      });
      poll();
    },
    async close() {
      closed = true;
      cancelPoll?.();
      await unlisten?.();
      await Promise.all([...liveEnds.values()].map((end) => end.reading));
    },
  };
}

function topicKey({ resource, resourceId }: Topic): string {
  return resourceId === undefined ? resource : `${resource}:${resourceId}`;
}
