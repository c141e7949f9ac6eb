import type { CursorsFor } from '../../kernel/cursor.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Database } from '../db/database.ts';
import type { StoredEvent } from './event.ts';
import type { Topic } from './log.ts';
import type { LogTailer } from './log-tailer.ts';

/**
 * The client reads more slowly than events arrive, and its queue is full. Its socket is closed with 1013, and
 * it can resume with `after`: it loses nothing, and other clients are not slowed down.
 */
export class SlowConsumerError extends Error {
  override readonly name = 'SlowConsumerError';
}

/** The state of a resource, and the version of the tenant's log for which it holds. */
export interface InitialState<Item> {
  version: number;
  /** Makes the first item from the cursor that continues after it; null if there is no state yet. */
  first: ((cursor: string) => Item) | null;
  /** Whether the stream has completed: nothing follows this state. */
  isOver: boolean;
}

export interface SubscriptionOptions<Item> {
  database: Database;
  tailer: LogTailer;
  cursorsFor: CursorsFor;
  tenant: Tenant;
  topic: Topic;
  /** Selects events of the topic; by default all. */
  matches?: (event: StoredEvent) => boolean;
  after: string | null | undefined;
  /** Another cursor, which the transport got from the client. The later of the two counts. */
  lastEventId?: string | null | undefined;
  /**
   * Reads the current state and the version for which it holds; left out if a stream consists of changes
   * only.
   */
  begin?: () => Promise<InitialState<Item>>;
  /** Makes the item of an event, with the cursor that continues after the event. */
  toItem: (event: StoredEvent, cursor: string) => Item;
  isLast: (event: StoredEvent) => boolean;
  /** The most events that wait in the queue, if it is fewer than usual. */
  queueLimit?: number | undefined;
  /**
   * Compares two items. It is given if only the newest state counts: the next item replaces an unread one, so
   * the client is never too slow, and an item that equals the last one is left out.
   */
  coalesce?: (left: Item, right: Item) => boolean;
  /**
   * The key of subscriptions that share the item of each event. The caller guarantees that they request the
   * same with the same rights.
   */
  dedupeKey?: string | undefined;
  signal: AbortSignal;
  /**
   * Called when the subscription has ended, or could not begin, with the error to report, if there is one.
   */
  onEnd?: (failure: unknown) => void;
}

/** The consumer of one subscription's items. */
export interface Reader<Item> {
  /**
   * Sends the next item while its event is delivered. False if that is not possible at once: then `take`
   * returns it.
   */
  trySend(item: Item): boolean;
  /** Called when there may be an item to take. */
  ready(): void;
}

/** The items of one subscription: pushed to a reader as they arrive, or pulled one by one. */
export interface LiveUpdates<Item> extends AsyncIterableIterator<Item> {
  reader: Reader<Item> | null;
  /**
   * Returns the next item, or null if there is none yet. Only a taken item makes room in the queue.
   * @throws the error that ended it, once: SlowConsumerError, the end of the credential, a log that cannot be
   * read
   */
  take(): Item | null;
  /** Drops queued events that can be read from the log again, because the consumer takes none for a while. */
  park(): void;
  /** Whether the subscription has ended: no item follows. */
  isOver: boolean;
  end(): void;
}
