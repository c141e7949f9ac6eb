import { type Clock, plusMs } from '../../kernel/clock.ts';
import { inSlices } from '../../kernel/slices.ts';
import { type Tenant, tenantKey } from '../../kernel/tenant.ts';
import type { Database } from '../db/database.ts';
import { readAnnouncement, STREAM_CHANNEL } from './announcement.ts';
import type { Snapshots, StoredEvent } from './event.ts';
import { type Appended, type Position, readAfter, readPosition, type Topic } from './log.ts';

/**
 * Delivers the new events of each tenant that has listeners, with one reader for each tenant and any number
 * of listeners: the live end of its log. Events of a commit that continue it are delivered as they come, of
 * this instance or announced by another; otherwise the log says which are new, in order, each version once. If the log was set back behind the delivered events (an asynchronous standby
 * was promoted), or no longer has those that follow, the listeners are notified, and delivery continues from the new head.
 */
export interface LogTailer {
  /** Parses snapshots from the log, here and for a subscriber that is still catching up. */
  readonly snapshots: Snapshots;
  /**
   * Reports a commit of this tenant. A commit of this instance passes the `appended` events: if they continue
   * the delivered ones, nothing is read.
   */
  wake(tenant: Tenant, appended?: Appended): void;
  /**
   * Joins the live end if it is at `after` or before it, or creates one there; from then on `onEvent` gets
   * each event of the topic beyond `after`. Null if the live end has passed `after`: the listener has to read
   * the log up to it first. The live end is removed with its last listener.
   */
  join(tenant: Tenant, listener: Listener): (() => void) | null;
  /** The number of listeners at the live end of a tenant, on this instance. */
  listenerCount(tenant: Tenant): number;
  /**
   * Passes each new event of the topic to `onEvent`. Calls `onSetBack` when the log was set back: events
   * before its new head were not delivered, and delivered ones may be lost. From then on `onEvent` gets each
   * event after that head.
   */
  listen(
    tenant: Tenant,
    topic: Topic,
    onEvent: (event: StoredEvent) => void,
    onSetBack: () => void,
  ): Promise<() => void>;
  /** Listens for the commits of other instances from now on. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface Listener {
  readonly topic: Topic;
  /** The version of the last event that the listener has read or received; each delivery advances it. */
  after: number;
  /** The mark of the event at which the listener joins. */
  mark: number;
  onEvent(event: StoredEvent): void;
  /** Called when the log was set back before the delivered events. The listener stays, at the new head. */
  onSetBack(): void;
  /**
   * Called when the listener was removed, and has to read the log first: it had joined ahead of the live end,
   * which has delivered another event at that position.
   */
  onDropped(): void;
}

/** The interval of polls: an event is this late at most if its notification was lost. */
const POLL_MS = 5_000;
const PAGE = 200;

interface Tail {
  tenant: Tenant;
  /**
   * The version of the last event that was delivered, or is being delivered, to all listeners that had joined
   * before.
   */
  position: number;
  /** The mark of the event at `position`. */
  mark: number;
  listeners: Map<string, Set<Listener>>;
  /**
   * Listeners that joined ahead of `position`, each with its leave function, until the live end reaches the
   * event that they have read.
   */
  ahead: Map<Listener, () => void>;
  /** The number of listeners; a live end without any is no longer in the map. */
  listenerCount: number;
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
  /** Called with each delivered event and the number of its listeners, at least one. Must not throw. */
  onDelivered?: (event: StoredEvent, listeners: number) => void;
}): LogTailer {
  const tails = new Map<string, Tail>();
  let closed = false;
  let unlisten: (() => Promise<void>) | undefined;
  let cancelPoll: (() => void) | undefined;

  function read(tail: Tail): Promise<void> {
    if (tail.reading !== null) {
      tail.rerun = true;
      return tail.reading;
    }
    tail.reading = (async () => {
      try {
        do {
          tail.rerun = false;
          const ahead = [...tail.ahead.keys()];
          const { events, through, mark, isInterrupted } = await readAfter(database.sql, tail.tenant, {
            snapshots,
            after: tail.position,
            mark: tail.mark,
            limit: PAGE,
          });
          if (isInterrupted) {
            await restart(tail);
            continue;
          }
          const delivered = deliverAll(tail, events);
          if (delivered) await delivered;
          tail.position = through;
          tail.mark = mark;
          if (events.length === PAGE) tail.rerun = true;
          // These listeners had read events beyond the head that was read after that: the log was set back.
          else for (const listener of ahead) if (listener.after > through) drop(tail, listener);
        } while (tail.rerun && !closed && tail.listenerCount > 0);
      } catch (error) {
        // The poll reads again from the same position.
        if (!closed) onError(error);
      } finally {
        tail.reading = null;
      }
    })();
    return tail.reading;
  }

  /** Continues from the present head of the log, and notifies all listeners that the log was set back. */
  async function restart(tail: Tail): Promise<void> {
    const head = await readPosition(database.sql, tail.tenant);
    tail.position = head.version;
    tail.mark = head.mark;
    // Their positions may be in the present log: the listeners check that when they read it.
    for (const listener of [...tail.ahead.keys()]) drop(tail, listener);
    const listeners = [...tail.listeners.values()].flatMap((each) => [...each]);
    await inSlices(listeners, (listener) => {
      listener.after = head.version;
      try {
        listener.onSetBack();
      } catch (error) {
        onError(error);
      }
    });
  }

  function drop(tail: Tail, listener: Listener): void {
    const leave = tail.ahead.get(listener);
    if (!leave) return;
    leave();
    try {
      listener.onDropped();
    } catch (error) {
      onError(error);
    }
  }

  /** Delivers the events in order; synchronously if there are few listeners. */
  function deliverAll(tail: Tail, events: readonly StoredEvent[], from = 0): Promise<void> | void {
    for (let index = from; index < events.length; index += 1) {
      const delivered = deliver(tail, events[index]!);
      if (delivered) return delivered.then(() => deliverAll(tail, events, index + 1));
    }
  }

  function deliver(tail: Tail, event: StoredEvent): Promise<void> | void {
    // A listener that joins from here on has the event already, or reads it from the log.
    tail.position = event.version;
    tail.mark = event.mark;
    if (tail.ahead.size > 0) checkAhead(tail, event);
    let listeners = 0;
    const delivered = inSlices(listenersTo(tail, event), (listener) => {
      if (event.version <= listener.after) return;
      listener.after = event.version;
      listeners += 1;
      try {
        listener.onEvent(event);
      } catch (error) {
        // A listener that throws must not keep the event from the others.
        onError(error);
      }
    });
    const report = () => {
      if (listeners > 0) onDelivered?.(event, listeners);
    };
    return delivered ? delivered.then(report) : report();
  }

  function checkAhead(tail: Tail, event: StoredEvent): void {
    for (const listener of [...tail.ahead.keys()]) {
      if (listener.after > event.version) continue;
      if (listener.after === event.version && listener.mark === event.mark) tail.ahead.delete(listener);
      else drop(tail, listener);
    }
  }

  function poll(): void {
    cancelPoll = clock.schedule(plusMs(clock.now(), POLL_MS), () => {
      for (const tail of tails.values()) void read(tail);
      if (!closed) poll();
    });
  }

  function wake(tenant: Tenant, { events, previousMark }: Appended = NOTHING): void {
    const tail = tails.get(tenantKey(tenant));
    if (!tail) return;
    const continues = events[0]?.version === tail.position + 1 && previousMark === tail.mark;
    if (tail.reading !== null || !continues) return void read(tail);
    const delivered = deliverAll(tail, events);
    if (!delivered) return;
    tail.rerun = false;
    tail.reading = delivered.then(() => {
      tail.reading = null;
      if (tail.rerun && !closed && tail.listenerCount > 0) return read(tail);
    });
  }

  function onNotify(payload: string): void {
    if (payload === '') {
      for (const tail of tails.values()) void read(tail);
      return;
    }
    const announced = readAnnouncement(payload);
    const tail = tails.get(announced.key ?? '');
    if (!tail || tail.position >= announced.version) return;
    const appended = tail.reading === null ? announced.events(snapshots) : null;
    wake(tail.tenant, appended ? behind(tail, appended) : NOTHING);
  }

  function join(tenant: Tenant, listener: Listener): (() => void) | null {
    const { after: version, mark } = listener;
    const tail = tails.get(tenantKey(tenant)) ?? createTail(tenant, { version, mark });
    if (tail.position <= version) return add(tail, listener);
    // The log may have been set back to the listener's position before the live end has noticed it.
    void read(tail);
    return null;
  }

  function add(tail: Tail, listener: Listener): () => void {
    const name = tenantKey(tail.tenant);
    tails.set(name, tail);
    const key = topicKey(listener.topic);
    const listeners = tail.listeners.get(key) ?? new Set();
    tail.listeners.set(key, listeners.add(listener));
    tail.listenerCount += 1;
    const leave = () => {
      if (!listeners.delete(listener)) return;
      tail.ahead.delete(listener);
      tail.listenerCount -= 1;
      if (listeners.size === 0 && tail.listeners.get(key) === listeners) tail.listeners.delete(key);
      if (tail.listenerCount === 0 && tails.get(name) === tail) tails.delete(name);
    };
    if (listener.after > tail.position || listener.mark !== tail.mark) tail.ahead.set(listener, leave);
    // Another commit may have come since the position was read, before there was a listener to wake.
    void read(tail);
    return leave;
  }

  async function listen(
    tenant: Tenant,
    topic: Topic,
    onEvent: (event: StoredEvent) => void,
    onSetBack: () => void,
  ): Promise<() => void> {
    const name = tenantKey(tenant);
    let tail = tails.get(name);
    if (!tail) {
      const head = await readPosition(database.sql, tenant);
      tail = tails.get(name) ?? createTail(tenant, head);
    }
    // A listener that joins exactly at the live end misses nothing, and is not ahead of it.
    const { position: after, mark } = tail;
    return add(tail, { topic, after, mark, onEvent, onSetBack, onDropped: () => undefined });
  }

  return {
    snapshots,
    wake,
    listenerCount: (tenant) => tails.get(tenantKey(tenant))?.listenerCount ?? 0,
    join,
    listen,
    async start() {
      unlisten = await database.listen(STREAM_CHANNEL, onNotify);
      poll();
    },
    async close() {
      closed = true;
      cancelPoll?.();
      await unlisten?.();
      await Promise.all([...tails.values()].map((tail) => tail.reading));
    },
  };
}

const NOTHING: Appended = { events: [], previousMark: 0 };

/** The announced events that were not delivered yet, with the mark of the event before them. */
function behind(tail: Tail, { events, previousMark }: Appended): Appended {
  const index = events.findIndex(({ version }) => version > tail.position);
  return {
    events: events.slice(index),
    previousMark: index > 0 ? events[index - 1]!.mark : previousMark,
  };
}

function createTail(tenant: Tenant, { version, mark }: Position): Tail {
  return {
    tenant,
    position: version,
    mark,
    listeners: new Map(),
    ahead: new Map(),
    listenerCount: 0,
    reading: null,
    rerun: false,
  };
}

function* listenersTo({ listeners }: Tail, event: StoredEvent): Generator<Listener> {
  for (const topic of [topicKey(event), topicKey({ resource: event.resource }), ALL])
    yield* listeners.get(topic) ?? [];
}

/** The key of the topic that selects every event. */
const ALL = '*';

function topicKey({ resource, resourceId }: Topic): string {
  if (resource === undefined) return ALL;
  return resourceId === undefined ? resource : `${resource}:${resourceId}`;
}
