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
  signal: AbortSignal;
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
  wants = () => true,
  after,
  begin,
  toItem,
  isLast,
  coalesce,
  signal,
}: Subscription<Item>): Promise<AsyncIterableIterator<Item>> {
  const cursors = updatesCursors(cursorsFor, tenant);
  const start = await beginning();
  let { first } = start;
  /** Every event up to here is in the queue or was given out. */
  let position = start.version;

  const queue: StoredEvent[] = [];
  /** What the client has seen last, where that counts. */
  let seen = start.seen;
  let leave: (() => void) | null = null;
  let waiting: { resolve: () => void } | null = null;
  let failure: Error | null = null;
  let done = false;

  const end = () => {
    // A credential that has ended is told; a client that has left is not there to be told.
    if (signal.reason instanceof PaymentError) failure = signal.reason;
    done = true;
    leave?.();
    leave = null;
    queue.length = 0;
    waiting?.resolve();
    signal.removeEventListener('abort', end);
  };
  if (signal.aborted) end();
  else signal.addEventListener('abort', end);

  function heard(event: StoredEvent): void {
    if (!wants(event)) return;
    if (coalesce) queue.length = 0;
    if (queue.length >= QUEUE_LIMIT) {
      failure = new SlowConsumerError('The subscriber is too slow; come back with the last cursor');
      end();
      return;
    }
    queue.push(event);
    waiting?.resolve();
  }

  async function take(): Promise<IteratorResult<Item>> {
    if (first !== null && !done) {
      const value = first;
      first = null;
      if (start.overAt !== null) end();
      return { value, done: false };
    }
    for (;;) {
      if (failure) {
        const thrown = failure;
        failure = null;
        throw thrown;
      }
      if (done) return { value: undefined, done: true };
      const event = queue.shift();
      if (event) {
        if (isLast(event)) end();
        const value = toItem(event, cursors.encode(event.version));
        if (coalesce && seen !== null && coalesce(seen, value)) continue;
        seen = value;
        return { value, done: false };
      }
      if (leave) {
        await new Promise<void>((resolve) => {
          waiting = { resolve };
        });
        waiting = null;
      } else {
        await catchUp().catch((error: unknown) => {
          // Whoever gets an error from an iterator does not return it.
          end();
          throw error;
        });
      }
    }
  }

  /** Reads on in the log, at the client's own pace; at its end, joins the live end. */
  async function catchUp(): Promise<void> {
    const { events, through } = await readOn();
    if (done) return;
    queue.push(...events.filter(wants));
    position = through;
    if (events.length > 0) return;
    if (start.overAt !== null && position >= start.overAt) return end();
    leave = follower.join(tenant, { after: position, topic, heard });
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
      const first = state?.first?.(cursors.encode(state.version)) ?? null;
      return {
        version: state?.version ?? (await readHead(database.sql, tenant)),
        first,
        seen: first,
        overAt,
      };
    }
    const version = cursors.decode(after);
    if (version === null)
      throw new ValidationError([{ path: 'after', message: 'is not a cursor of this server' }]);
    if (!(await isKept(database.sql, tenant, version)))
      throw new CursorExpiredError('What follows this cursor is not kept; subscribe again without it');
    return { version, first: null, seen: coalesce ? await seenAt(version) : null, overAt };
  }

  async function seenAt(version: number): Promise<Item | null> {
    const { event } = await readNewest(database.sql, tenant, { after: 0, upTo: version, topic });
    return event && toItem(event, cursors.encode(event.version));
  }

  /** Whoever asks again before the last answer waits for it: two that read on at once would read the same. */
  let turn: Promise<unknown> = Promise.resolve();
  function next(): Promise<IteratorResult<Item>> {
    const taken = turn.then(take, take);
    turn = taken;
    return taken;
  }

  const iterator: AsyncIterableIterator<Item> = {
    next,
    async return() {
      end();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator](): AsyncIterableIterator<Item> {
      return iterator;
    },
  };
  return iterator;
}

/** Everything that an operation may ask of the log, whoever the caller is. */
export interface Updates {
  subscribe<Item>(
    subscription: Omit<Subscription<Item>, 'database' | 'follower' | 'cursorsFor'>,
  ): Promise<AsyncIterableIterator<Item>>;
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
  subscription: Omit<Subscription<Item>, 'database' | 'follower' | 'cursorsFor' | 'tenant' | 'signal'>,
) => Promise<AsyncIterableIterator<Item>>;
