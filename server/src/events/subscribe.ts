import type { Database } from '../db/database.ts';
import type { Cursors, CursorsFor } from '../kernel/cursor.ts';
import { CursorExpiredError, PaymentError, ValidationError } from '../kernel/errors.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { StoredEvent } from './event.ts';
import type { Follower } from './follow.ts';
import { isKept, readAfter, readHead, readNewest, type Topic } from './log.ts';

/**
 * The client reads more slowly than things happen, and its queue is full. It is closed with 1013 and comes back
 * with `after`: it loses nothing, and it has cost the others nothing.
 */
export class SlowConsumerError extends Error {
  override readonly name = 'SlowConsumerError';
}

/** Changes that one subscription may lie behind. Beyond what it has not read yet, it reads from the log. */
const QUEUE_LIMIT = 256;
const PAGE = 100;

/** The state of a resource, and the version of the tenant's log that it holds for. */
export interface Beginning<Item> {
  version: number;
  /** With the cursor that continues behind it; null where there is no state to tell yet. */
  first: ((cursor: string) => Item) | null;
  /** The stream has completed already: nothing follows this state. */
  over: boolean;
}

export interface Subscription<Item> {
  database: Database;
  follower: Follower;
  cursorsFor: CursorsFor;
  tenant: Tenant;
  topic: Topic;
  /** Of the topic, the events that are followed; all where left out. */
  wants?: (event: StoredEvent) => boolean;
  after: string | null | undefined;
  /** The state as it is, and the version that it holds for; left out where a stream has changes only. */
  begin?: () => Promise<Beginning<Item>>;
  /** With the cursor that continues behind the event. */
  toItem: (event: StoredEvent, cursor: string) => Item;
  isLast: (event: StoredEvent) => boolean;
  /**
   * Given where only the newest state counts: a client that has not read one when the next comes gets the next alone, and
   * is never too slow. Tells whether two items show the same, of which the second is left out.
   */
  coalesce?: (left: Item, right: Item) => boolean;
  /**
   * Subscriptions of one name make the same item of an event, and are given the very same one. Whoever names them answers
   * for it that they ask the same with the same rights.
   */
  sharedAs?: string | undefined;
  signal: AbortSignal;
  /** It is over, however it ended, or has not begun. */
  onEnd?: () => void;
}

/** What one subscription is told: pulled item by item, or taken as it comes. */
export interface LiveUpdates<Item> extends AsyncIterableIterator<Item> {
  /**
   * The next item, or null where it is still to come: `onReady` is called when there may be one. Only what is taken makes
   * room in the queue.
   * @throws what ended it, once: SlowConsumerError, or the end of the credential
   */
  take(): Item | null;
  /** Nothing follows. */
  readonly over: boolean;
  /** Called within an event's delivery, so that whoever takes it at once has passed it on before the next is heard. */
  onReady: (() => void) | null;
  return(): Promise<IteratorResult<Item>>;
}

/**
 * The contract of every subscription: the first state or what came after a cursor, then every change, in order,
 * none missed (but by who coalesces), none twice. It pulls from the log until it has reached the live end, joins it without a
 * gap, and from there on is pushed to. Ends after the event for which `isLast` holds, at an abort, or by a throw:
 * @throws CursorExpiredError, ValidationError (not a cursor of these updates), SlowConsumerError
 */
export async function subscribe<Item>({
  database,
  follower,
  cursorsFor,
  tenant,
  topic,
  wants = every,
  after,
  begin,
  toItem,
  isLast,
  coalesce,
  sharedAs,
  signal,
  onEnd,
}: Subscription<Item>): Promise<LiveUpdates<Item>> {
  const start = await beginning().catch((error: unknown) => {
    onEnd?.();
    throw error;
  });
  let { first } = start;
  /** Every event up to here is in the queue or was given out. */
  let position = start.version;

  const queue: StoredEvent[] = [];
  /** What the client has seen last, where that counts. */
  let seen = start.seen;
  let leave: (() => void) | null = null;
  let isReading = false;
  let failure: unknown = null;
  let over = false;

  function end(): void {
    if (over) return;
    // A credential that has ended is told; a client that has left is not there to be told.
    if (signal.reason instanceof PaymentError) failure = signal.reason;
    over = true;
    leave?.();
    leave = null;
    queue.length = 0;
    signal.removeEventListener('abort', cut);
    onEnd?.();
  }

  function cut(): void {
    end();
    updates.onReady?.();
  }

  function heard(event: StoredEvent): void {
    if (!wants(event)) return;
    if (coalesce) queue.length = 0;
    if (queue.length >= QUEUE_LIMIT) {
      failure = new SlowConsumerError('The subscriber is too slow; come back with the last cursor');
      cut();
      return;
    }
    queue.push(event);
    updates.onReady?.();
  }

  function take(): Item | null {
    if (first !== null && !over) {
      const item = first;
      first = null;
      if (start.overAt !== null) end();
      return item;
    }
    if (failure !== null) {
      const thrown = failure;
      failure = null;
      throw thrown;
    }
    while (!over) {
      const event = queue.shift();
      if (!event) {
        if (!leave && !isReading) void catchUp();
        return null;
      }
      if (isLast(event)) end();
      const item = itemOf(event);
      if (coalesce) {
        const isSeen = seen !== null && coalesce(seen, item);
        seen = item;
        if (isSeen) continue;
      }
      return item;
    }
    return null;
  }

  function itemOf(event: StoredEvent): Item {
    const make = () => toItem(event, cursorAt(event.version));
    return sharedAs === undefined ? make() : sharedItem(event, sharedAs, make);
  }

  function cursorAt(version: number): string {
    return updatesCursors(cursorsFor, tenant).encode(version);
  }

  /** Reads on in the log, at the client's own pace; at its end, joins the live end. */
  async function catchUp(): Promise<void> {
    isReading = true;
    try {
      const { events, through } = await readOn();
      if (over) return;
      queue.push(...events.filter(wants));
      position = through;
      if (events.length === 0) {
        if (start.overAt !== null && position >= start.overAt) end();
        else leave = follower.join(tenant, { after: position, topic, heard });
      }
    } catch (error) {
      failure = error;
      end();
    } finally {
      isReading = false;
    }
    updates.onReady?.();
  }

  async function readOn(): Promise<{ events: StoredEvent[]; through: number }> {
    if (!coalesce) return readAfter(database.sql, tenant, { after: position, topic, limit: PAGE });
    const { event, through } = await readNewest(database.sql, tenant, { after: position, topic });
    return { events: event ? [event] : [], through };
  }

  async function beginning(): Promise<{
    version: number;
    first: Item | null;
    seen: Item | null;
    overAt: number | null;
  }> {
    const state = begin ? await begin() : null;
    const overAt = state?.over ? state.version : null;
    if (after == null) {
      const first = state?.first?.(cursorAt(state.version)) ?? null;
      return {
        version: state?.version ?? (await readHead(database.sql, tenant)),
        first,
        seen: coalesce ? first : null,
        overAt,
      };
    }
    const version = updatesCursors(cursorsFor, tenant).decode(after);
    if (version === null)
      throw new ValidationError([{ path: 'after', message: 'is not a cursor of this server' }]);
    if (!(await isKept(database.sql, tenant, version)))
      throw new CursorExpiredError('What follows this cursor is not kept; subscribe again without it');
    return { version, first: null, seen: coalesce ? await seenAt(version) : null, overAt };
  }

  async function seenAt(version: number): Promise<Item | null> {
    const { event } = await readNewest(database.sql, tenant, { after: 0, upTo: version, topic });
    return event && toItem(event, cursorAt(event.version));
  }

  /** Whoever asks again before the last answer waits for it. */
  let turn: Promise<unknown> | null = null;
  async function pull(): Promise<IteratorResult<Item>> {
    for (;;) {
      const value = take();
      if (value !== null) return { value, done: false };
      if (over) return { value: undefined, done: true };
      await new Promise<void>((resolve) => {
        updates.onReady = resolve;
      });
    }
  }

  const updates: LiveUpdates<Item> = {
    take,
    get over() {
      return over;
    },
    onReady: null,
    next() {
      const taken = turn ? turn.then(pull, pull) : pull();
      turn = taken;
      return taken;
    },
    async return() {
      cut();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]: () => updates,
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', cut);
  return updates;
}

function every(): boolean {
  return true;
}

/** What was made of an event, by the name under which it is shared. An event that nobody keeps takes them with it. */
const sharedItems = new WeakMap<StoredEvent, Map<string, unknown>>();

function sharedItem<Item>(event: StoredEvent, name: string, make: () => Item): Item {
  let items = sharedItems.get(event);
  if (!items) {
    items = new Map();
    sharedItems.set(event, items);
  }
  if (!items.has(name)) items.set(name, make());
  return items.get(name) as Item;
}

/** Everything that an operation may ask of the log, whoever the caller is. */
export interface Updates {
  subscribe<Item>(
    subscription: Omit<Subscription<Item>, 'database' | 'follower' | 'cursorsFor'>,
  ): Promise<LiveUpdates<Item>>;
  /** Where the tenant's log stands. */
  cursor(tenant: Tenant): Promise<string>;
}

export function createUpdates({
  database,
  follower,
  cursorsFor,
}: {
  database: Database;
  follower: Follower;
  cursorsFor: CursorsFor;
}): Updates {
  return {
    subscribe: (subscription) => subscribe({ ...subscription, database, follower, cursorsFor }),
    cursor: async (tenant) => updatesCursors(cursorsFor, tenant).encode(await readHead(database.sql, tenant)),
  };
}

/** One purpose for all topics: a place in the log is the same one whatever is followed from there. */
function updatesCursors(cursorsFor: CursorsFor, tenant: Tenant): Cursors {
  return cursorsFor(tenant, 'updates');
}

/** `subscribe` for one caller: its tenant, and the signal that ends with its credential or its connection. */
export type SubscribeTo = <Item>(
  subscription: Omit<
    Subscription<Item>,
    'database' | 'follower' | 'cursorsFor' | 'tenant' | 'signal' | 'sharedAs' | 'onEnd'
  >,
) => Promise<LiveUpdates<Item>>;
