import type { Database } from '../db/database.ts';
import { type Clock, plusMs } from '../kernel/clock.ts';
import { inSlices } from '../kernel/slices.ts';
import { type Tenant, tenantKey } from '../kernel/tenant.ts';
import type { Snapshots, StoredEvent } from './event.ts';
import { type Appended, type Position, readAfter, readPosition, type Topic } from './log.ts';

/**
 * The live end of every tenant's log that somebody listens to: one reader a tenant, however many listeners.
 * A wake says only "look"; what is delivered is what the log holds, in order, each version once. Where the log was set back
 * behind what was delivered (an asynchronous standby was promoted), the listeners are notified, and it goes on from the
 * new head.
 */
export interface LogTailer {
  /** Parses what is read from the log, here and by a subscriber that has still to catch up. */
  readonly snapshots: Snapshots;
  /**
   * Something was committed for this tenant, on another instance, or here: then `appended` is what, and where that
   * continues what was delivered, nothing is read.
   */
  wake(tenant: Tenant, appended?: Appended): void;
  /**
   * Joins the live end if it stands at `after` or before it, or makes one there; from then on `heard` gets each event
   * of the topic beyond `after`. Null if the live end has passed `after`: read on in the log first. The last one
   * that leaves gives the live end up.
   */
  join(tenant: Tenant, listener: Listener): (() => void) | null;
  /** How many have joined the tenant's live end here. */
  listening(tenant: Tenant): number;
  /**
   * From now on `heard` gets each event of the topic. `setBack` is called when the log was set back: events before its new
   * head were not heard, and those heard may be lost; from then on `heard` gets each event behind that head.
   */
  listen(
    tenant: Tenant,
    topic: Topic,
    heard: (event: StoredEvent) => void,
    setBack: () => void,
  ): Promise<() => void>;
  /** Begins to hear what other instances commit. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface Listener {
  readonly topic: Topic;
  /** The last event that it has read or heard: it moves on with each. */
  after: number;
  /** The mark of the event at which it joins. */
  mark: number;
  onEvent(event: StoredEvent): void;
  /** The log was set back behind what the live end has delivered. The listener stays, at the new head. */
  onSetBack(): void;
  /** It has joined ahead of the live end, which does not come past the same event. It was removed: read on in the log first. */
  onDropped(): void;
}

/** The channel of the notifications that instances send after a commit: see `announcement`. */
export const STREAM_CHANNEL = 'psa_stream';

/** The tenant and its newest committed version: an instance that has that version does not read. Without one, it reads. */
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

interface Tail {
  tenant: Tenant;
  /** Every event up to here has been delivered, or is being delivered, to those who had joined before. */
  position: number;
  /** The mark of the event there. */
  mark: number;
  listeners: Map<string, Set<Listener>>;
  /** Those that have joined ahead of it, and how they leave: until it comes past the event that they have read. */
  ahead: Map<Listener, () => void>;
  /** How many there are; without any, the live end is no longer in the map. */
  listening: number;
  reading: Promise<void> | null;
  rerun: boolean;
}

export function createLogTailer({
  database,
  snapshots,
  clock,
  onError,
  onDelivered,
}: {
  database: Database;
  snapshots: Snapshots;
  clock: Clock;
  onError: (error: unknown) => void;
  /** An event has been handed to so many listeners, at least one. Must not throw. */
  onDelivered?: (event: StoredEvent, listeners: number) => void;
}): LogTailer {
  const liveEnds = new Map<string, Tail>();
  let closed = false;
  let unlisten: (() => Promise<void>) | undefined;
  let cancelPoll: (() => void) | undefined;

  function read(end: Tail): Promise<void> {
    if (end.reading !== null) {
      end.rerun = true;
      return end.reading;
    }
    end.reading = (async () => {
      try {
        do {
          end.rerun = false;
          const ahead = [...end.ahead.keys()];
          const { events, through, mark, isSetBack } = await readAfter(database.sql, end.tenant, {
            snapshots,
            after: end.position,
            mark: end.mark,
            limit: PAGE,
          });
          if (isSetBack) {
            await restart(end);
            continue;
          }
          const delivered = deliverAll(end, events);
          if (delivered) await delivered;
          end.position = through;
          end.mark = mark;
          if (events.length === PAGE) end.rerun = true;
          // They had read what lies behind the head that was read after them.
          else for (const listener of ahead) if (listener.after > through) drop(end, listener);
        } while (end.rerun && !closed && end.listening > 0);
      } catch (error) {
        // The poll reads again from the same position.
        if (!closed) onError(error);
      } finally {
        end.reading = null;
      }
    })();
    return end.reading;
  }

  /** Goes on from the log's head as it is now, and notifies all who heard what came before. */
  async function restart(end: Tail): Promise<void> {
    const head = await readPosition(database.sql, end.tenant);
    end.position = head.version;
    end.mark = head.mark;
    // Where they have joined may be in the log as it is now: they find out themselves.
    for (const listener of [...end.ahead.keys()]) drop(end, listener);
    const listeners = [...end.listeners.values()].flatMap((each) => [...each]);
    await inSlices(listeners, (listener) => {
      listener.after = head.version;
      try {
        listener.onSetBack();
      } catch (error) {
        onError(error);
      }
    });
  }

  function drop(end: Tail, listener: Listener): void {
    const leave = end.ahead.get(listener);
    if (!leave) return;
    leave();
    try {
      listener.onDropped();
    } catch (error) {
      onError(error);
    }
  }

  /** In order, and at once where few listen. */
  function deliverAll(end: Tail, events: readonly StoredEvent[], from = 0): Promise<void> | void {
    for (let index = from; index < events.length; index += 1) {
      const delivered = deliver(end, events[index]!);
      if (delivered) return delivered.then(() => deliverAll(end, events, index + 1));
    }
  }

  function deliver(end: Tail, event: StoredEvent): Promise<void> | void {
    // Who joins from here on has it already, or reads it in the log.
    end.position = event.version;
    end.mark = event.mark;
    if (end.ahead.size > 0) passThoseAhead(end, event);
    let listeners = 0;
    const delivered = inSlices(listenersTo(end, event), (listener) => {
      if (event.version <= listener.after) return;
      listener.after = event.version;
      listeners += 1;
      try {
        listener.onEvent(event);
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

  function passThoseAhead(end: Tail, event: StoredEvent): void {
    for (const listener of [...end.ahead.keys()]) {
      if (listener.after > event.version) continue;
      if (listener.after === event.version && listener.mark === event.mark) end.ahead.delete(listener);
      else drop(end, listener);
    }
  }

  function poll(): void {
    cancelPoll = clock.schedule(plusMs(clock.now(), POLL_MS), () => {
      for (const end of liveEnds.values()) void read(end);
      if (!closed) poll();
    });
  }

  function wake(tenant: Tenant, { events, previousMark }: Appended = NOTHING): void {
    const end = liveEnds.get(tenantKey(tenant));
    if (!end) return;
    const continues = events[0]?.version === end.position + 1 && previousMark === end.mark;
    if (end.reading !== null || !continues) return void read(end);
    const delivered = deliverAll(end, events);
    if (!delivered) return;
    end.rerun = false;
    end.reading = delivered.then(() => {
      end.reading = null;
      if (end.rerun && !closed && end.listening > 0) return read(end);
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
    const { after: version, mark } = listener;
    const end = liveEnds.get(tenantKey(tenant)) ?? createLiveEnd(tenant, { version, mark });
    if (end.position <= version) return add(end, listener);
    // The log may have been set back to where the listener is, and the live end has not noticed yet.
    void read(end);
    return null;
  }

  function add(end: Tail, listener: Listener): () => void {
    const name = tenantKey(end.tenant);
    liveEnds.set(name, end);
    const key = topicKey(listener.topic);
    const listeners = end.listeners.get(key) ?? new Set();
    end.listeners.set(key, listeners.add(listener));
    end.listening += 1;
    const leave = () => {
      if (!listeners.delete(listener)) return;
      end.ahead.delete(listener);
      end.listening -= 1;
      if (listeners.size === 0 && end.listeners.get(key) === listeners) end.listeners.delete(key);
      if (end.listening === 0 && liveEnds.get(name) === end) liveEnds.delete(name);
    };
    if (listener.after > end.position || listener.mark !== end.mark) end.ahead.set(listener, leave);
    // Something may have been committed since the position was read, and its wake found nobody.
    void read(end);
    return leave;
  }

  async function listen(
    tenant: Tenant,
    topic: Topic,
    heard: (event: StoredEvent) => void,
    setBack: () => void,
  ): Promise<() => void> {
    const name = tenantKey(tenant);
    let end = liveEnds.get(name);
    if (!end) {
      const head = await readPosition(database.sql, tenant);
      end = liveEnds.get(name) ?? createLiveEnd(tenant, head);
    }
    // Who joins exactly where the live end stands misses nothing from now on, and is not ahead of it.
    const { position: after, mark } = end;
    return add(end, { topic, after, mark, onEvent: heard, onSetBack: setBack, onDropped: () => undefined });
  }

  return {
    snapshots,
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

const NOTHING: Appended = { events: [], previousMark: 0 };

function createLiveEnd(tenant: Tenant, { version, mark }: Position): Tail {
  return {
    tenant,
    position: version,
    mark,
    listeners: new Map(),
    ahead: new Map(),
    listening: 0,
    reading: null,
    rerun: false,
  };
}

function* listenersTo({ listeners }: Tail, event: StoredEvent): Generator<Listener> {
  for (const topic of [topicKey(event), topicKey({ resource: event.resource })])
    yield* listeners.get(topic) ?? [];
}

function topicKey({ resource, resourceId }: Topic): string {
  return resourceId === undefined ? resource : `${resource}:${resourceId}`;
}
