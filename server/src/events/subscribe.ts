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
  /** It is over, or has not begun; with what ended it, if that is something to be told of. */
  onEnd?: (failure: unknown) => void;
}

/** What one subscription is told: taken as it comes, or pulled item by item. */
export interface LiveUpdates<Item> extends AsyncIterableIterator<Item> {
  /**
   * The next item, or null where it is still to come: `onReady` is called when there may be one. Only what is taken makes
   * room in the queue.
   * @throws what ended it, once: SlowConsumerError, the end of the credential, a log that cannot be read
   */
  take(): Item | null;
  /** Nothing follows. */
  over: boolean;
  /** Called within an event's delivery, so that whoever takes it at once has passed it on before the next is heard. */
  onReady: (() => void) | null;
  end(): void;
}

/**
 * The contract of every subscription: the first state or what came after a cursor, then every change, in order,
 * none missed (but by who coalesces), none twice. It pulls from the log until it has reached the live end, joins it without a
 * gap, and from there on is pushed to. Ends after the event for which `isLast` holds, at an abort, or by a throw:
 * @throws CursorExpiredError, ValidationError (not a cursor of these updates), SlowConsumerError
 */
export async function subscribe<Item>(subscription: Subscription<Item>): Promise<LiveUpdates<Item>> {
  const start = await beginningOf(subscription).catch((error: unknown) => {
    subscription.onEnd?.(error);
    throw error;
  });
  return follow(subscription, start);
}

/** Where a subscription starts. */
interface Start<Item> {
  /** Every event up to here is in what it is told first. */
  version: number;
  first: Item | null;
  /** What the client has seen last, where that counts. */
  seen: Item | null;
  /** The version with which the stream has completed; null while it has not. */
  overAt: number | null;
}

async function beginningOf<Item>(subscription: Subscription<Item>): Promise<Start<Item>> {
  const { database, tenant, topic, cursorsFor, after, begin, toItem, coalesce } = subscription;
  const cursors = updatesCursors(cursorsFor, tenant);
  const state = begin ? await begin() : null;
  const overAt = state?.over ? state.version : null;
  if (after == null) {
    const first = state?.first?.(cursors.encode(state.version)) ?? null;
    const version = state?.version ?? (await readHead(database.sql, tenant));
    return { version, first, seen: coalesce ? first : null, overAt };
  }
  const version = cursors.decode(after);
  if (version === null)
    throw new ValidationError([{ path: 'after', message: 'is not a cursor of this server' }]);
  if (!(await isKept(database.sql, tenant, version)))
    throw new CursorExpiredError('What follows this cursor is not kept; subscribe again without it');
  if (!coalesce) return { version, first: null, seen: null, overAt };
  const { event } = await readNewest(database.sql, tenant, { after: 0, upTo: version, topic });
  return { version, first: null, seen: event && toItem(event, cursors.encode(event.version)), overAt };
}

/** Thousands wait here at a time: what is kept of each is what it needs to go on. */
function follow<Item>(
  {
    database,
    follower,
    cursorsFor,
    tenant,
    topic,
    wants = every,
    toItem,
    isLast,
    coalesce,
    sharedAs,
    signal,
    onEnd,
  }: Subscription<Item>,
  { version, first, seen, overAt }: Start<Item>,
): LiveUpdates<Item> {
  /** Every event up to here is in the queue or was given out. */
  let position = version;
  const queue: StoredEvent[] = [];
  let leave: (() => void) | null = null;
  let isReading = false;
  let failure: unknown = null;

  function end(): void {
    if (updates.over) return;
    // A credential that has ended is told; a client that has left is not there to be told.
    if (signal.reason instanceof PaymentError) failure = signal.reason;
    updates.over = true;
    leave?.();
    leave = null;
    queue.length = 0;
    signal.removeEventListener('abort', cut);
    onEnd?.(failure);
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
    if (first !== null && !updates.over) {
      const item = first;
      first = null;
      if (overAt !== null) end();
      return item;
    }
    if (failure !== null) {
      const thrown = failure;
      failure = null;
      throw thrown;
    }
    while (!updates.over) {
      const event = queue.shift();
      if (!event) {
        if (!leave && !isReading) void catchUp();
        return null;
      }
      if (isLast(event)) end();
      const make = () => toItem(event, updatesCursors(cursorsFor, tenant).encode(event.version));
      const item = sharedAs === undefined ? make() : sharedItem(event, sharedAs, make);
      if (!coalesce) return item;
      const isSeen = seen !== null && coalesce(seen, item);
      seen = item;
      if (!isSeen) return item;
    }
    return null;
  }

  /** Reads on in the log, at the client's own pace; at its end, joins the live end. */
  async function catchUp(): Promise<void> {
    isReading = true;
    try {
      const from = { after: position, topic };
      const { events, through } = coalesce
        ? await readNewest(database.sql, tenant, from).then(({ event, through }) => ({
            events: event ? [event] : [],
            through,
          }))
        : await readAfter(database.sql, tenant, { ...from, limit: PAGE });
      if (updates.over) return;
      queue.push(...events.filter(wants));
      position = through;
      if (events.length === 0) {
        if (overAt !== null && position >= overAt) end();
        else leave = follower.join(tenant, { ...from, after: position, heard });
      }
    } catch (error) {
      failure = error;
      end();
    } finally {
      isReading = false;
    }
    updates.onReady?.();
  }

  const updates: LiveUpdates<Item> = {
    take,
    over: false,
    onReady: null,
    end: cut,
    next: nextInTurn(() => updates),
    async return() {
      cut();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]: itself,
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', cut);
  return updates;
}

/** Whoever asks again before the last answer waits for it. */
function nextInTurn<Item>(of: () => LiveUpdates<Item>): () => Promise<IteratorResult<Item>> {
  let turn: Promise<unknown> | null = null;
  async function pull(): Promise<IteratorResult<Item>> {
    const updates = of();
    for (;;) {
      const value = updates.take();
      if (value !== null) return { value, done: false };
      if (updates.over) return { value: undefined, done: true };
      await new Promise<void>((resolve) => {
        updates.onReady = resolve;
      });
    }
  }
  return () => {
    const taken = turn ? turn.then(pull, pull) : pull();
    turn = taken;
    return taken;
  };
}

function itself<Iterator>(this: Iterator): Iterator {
  return this;
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
