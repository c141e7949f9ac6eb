import type { Database } from '../db/database.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { inSlices } from '../kernel/slices.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { StoredEvent } from './event.ts';
import { readAfter, readHead, type Topic } from './log.ts';

/**
 * The live end of every tenant's log that somebody listens to: one reader a tenant, however many listeners.
 * A wake says only "look"; what is delivered is what the log holds, in order, each version once.
 */
export interface Follower {
  /**
   * Something was committed for this tenant, on another instance, or here: then `events` are what, and where they
   * continue what was delivered, nothing is read.
   */
  wake(tenant: Tenant, events?: readonly StoredEvent[]): void;
  /**
   * Joins the live end if it stands at `after` or before it, or makes one there; from then on `heard` gets each event
   * of the topic beyond `after`. Null if the live end has passed `after`: read on in the log first. The last one
   * that leaves gives the live end up.
   */
  join(tenant: Tenant, listener: Listener): (() => void) | null;
  /** How many have joined the tenant's live end here. */
  listening(tenant: Tenant): number;
  /** From now on `heard` gets each event of the topic. */
  listen(tenant: Tenant, topic: Topic, heard: (event: StoredEvent) => void): Promise<() => void>;
  /** Begins to hear what other instances commit. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface Listener {
  readonly topic: Topic;
  /** The last event that it has read or heard: it moves on with each. */
  after: number;
  heard(event: StoredEvent): void;
}

/** What another instance calls out after a commit: see `announcement`. */
export const STREAM_CHANNEL = 'psa_stream';

/** The tenant, and the newest version that was committed, so that whoever has it does not look; without it, look. */
export function announcement(tenant: Tenant, version?: number): string {
  return version === undefined ? tenantKey(tenant) : `${tenantKey(tenant)} ${version}`;
}

/** The key of the tenant that it is about; null for whichever, where some may have been lost. */
export function announcedTenant(heard: string): string | null {
  return heard.split(' ')[0] || null;
}

/** Notifications can get lost; then this is how late an event comes. */
const POLL_MS = 5_000;
const PAGE = 200;

interface LiveEnd {
  tenant: Tenant;
  /** Every event up to here has been delivered, or is being delivered, to those who had joined before. */
  position: number;
  listeners: Map<string, Set<Listener>>;
  /** How many there are; without any, the live end is no longer in the map. */
  listening: number;
  reading: Promise<void> | null;
  wokenAgain: boolean;
}

export function createFollower({
  database,
  clock,
  onError,
  onDelivered,
}: {
  database: Database;
  clock: Clock;
  onError: (error: unknown) => void;
  /** An event has been handed to so many listeners, at least one. Must not throw. */
  onDelivered?: (event: StoredEvent, listeners: number) => void;
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
          const delivered = deliverAll(end, events);
          if (delivered) await delivered;
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

  /** In order, and at once where few listen. */
  function deliverAll(end: LiveEnd, events: readonly StoredEvent[], from = 0): Promise<void> | void {
    for (let index = from; index < events.length; index += 1) {
      const delivered = deliver(end, events[index]!);
      if (delivered) return delivered.then(() => deliverAll(end, events, index + 1));
    }
  }

  function deliver(end: LiveEnd, event: StoredEvent): Promise<void> | void {
    // Who joins from here on has it already, or reads it in the log.
    end.position = event.version;
    let listeners = 0;
    const delivered = inSlices(listenersTo(end, event), (listener) => {
      if (event.version <= listener.after) return;
      listener.after = event.version;
      listeners += 1;
      try {
        listener.heard(event);
      } catch (error) {
        // Its own fault: the others hear what they came for.
        onError(error);
      }
    });
    const tell = () => {
      if (listeners > 0) onDelivered?.(event, listeners);
    };
    return delivered ? delivered.then(tell) : tell();
  }

  function poll(): void {
    cancelPoll = clock.schedule(plusMs(clock.now(), POLL_MS), () => {
      for (const end of liveEnds.values()) void read(end);
      if (!closed) poll();
    });
  }

  function wake(tenant: Tenant, events: readonly StoredEvent[] = []): void {
    const end = liveEnds.get(tenantKey(tenant));
    if (!end) return;
    if (end.reading !== null || events[0]?.version !== end.position + 1) return void read(end);
    const delivered = deliverAll(end, events);
    if (!delivered) return;
    end.wokenAgain = false;
    end.reading = delivered.then(() => {
      end.reading = null;
      if (end.wokenAgain && !closed && end.listening > 0) return read(end);
    });
  }

  function hear(said: string): void {
    if (said === '') {
      for (const end of liveEnds.values()) void read(end);
      return;
    }
    const [key = '', version = Number.POSITIVE_INFINITY] = said.split(' ');
    const end = liveEnds.get(key);
    if (end && end.position < Number(version)) void read(end);
  }

  function join(tenant: Tenant, listener: Listener): (() => void) | null {
    const end = liveEnds.get(tenantKey(tenant)) ?? createLiveEnd(tenant, listener.after);
    if (end.position > listener.after) return null;
    liveEnds.set(tenantKey(tenant), end);
    const key = topicKey(listener.topic);
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
    // Who joins exactly where the live end stands misses nothing from now on.
    const after = liveEnds.get(tenantKey(tenant))?.position ?? (await readHead(database.sql, tenant));
    return join(tenant, { after, topic, heard }) ?? listen(tenant, topic, heard);
  }

  return {
    wake,
    listening: (tenant) => liveEnds.get(tenantKey(tenant))?.listening ?? 0,
    join,
    listen,
    async start() {
      unlisten = await database.listen(STREAM_CHANNEL, hear);
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

function createLiveEnd(tenant: Tenant, position: number): LiveEnd {
  return { tenant, position, listeners: new Map(), listening: 0, reading: null, wokenAgain: false };
}

function* listenersTo({ listeners }: LiveEnd, event: StoredEvent): Generator<Listener> {
  for (const topic of [topicKey(event), topicKey({ resource: event.resource })])
    yield* listeners.get(topic) ?? [];
}

function topicKey({ resource, resourceId }: Topic): string {
  return resourceId === undefined ? resource : `${resource}:${resourceId}`;
}
