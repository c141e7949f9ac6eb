import type { Database } from '../db/database.ts';
import type { CursorsFor } from '../kernel/cursor.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { StoredEvent } from './event.ts';
import type { Topic } from './log.ts';
import type { LogTailer } from './log-tailer.ts';

/**
 * The client reads more slowly than things happen, and its queue is full. It is closed with 1013 and comes back
 * with `after`: it loses nothing, and it has cost the others nothing.
 */
export class SlowConsumerError extends Error {
  override readonly name = 'SlowConsumerError';
}

/** The state of a resource, and the version of the tenant's log that it holds for. */
export interface InitialState<Item> {
  version: number;
  /** With the cursor that continues behind it; null where there is no state to tell yet. */
  first: ((cursor: string) => Item) | null;
  /** The stream has completed already: nothing follows this state. */
  over: boolean;
}

export interface SubscriptionOptions<Item> {
  database: Database;
  tailer: LogTailer;
  cursorsFor: CursorsFor;
  tenant: Tenant;
  topic: Topic;
  /** Selects events of the topic; all where left out. */
  wants?: (event: StoredEvent) => boolean;
  after: string | null | undefined;
  /** The state as it is, and the version that it holds for; left out where a stream has changes only. */
  begin?: () => Promise<InitialState<Item>>;
  /** With the cursor that continues behind the event. */
  toItem: (event: StoredEvent, cursor: string) => Item;
  isLast: (event: StoredEvent) => boolean;
  /**
   * Given where only the newest state counts: a client that has not read one when the next comes gets the next alone, and
   * is never too slow. It is true where two items show the same: the second is then left out.
   */
  coalesce?: (left: Item, right: Item) => boolean;
  /**
   * Subscriptions of one name make the same item of an event, and share it. The caller guarantees that they ask the same
   * with the same rights.
   */
  dedupeKey?: string | undefined;
  signal: AbortSignal;
  /** Called when the subscription has ended, or could not begin; with the error that ended it, if there is one to report. */
  onEnd?: (failure: unknown) => void;
}

/** The consumer of one subscription's items. */
export interface Reader<Item> {
  /** The item is next, within its event's delivery. False where it cannot be passed on at once: it is to be taken, then. */
  trySend(item: Item): boolean;
  /** There may be something to take. */
  ready(): void;
}

/** The items of one subscription: pushed to a reader as they come, or pulled one by one. */
export interface LiveUpdates<Item> extends AsyncIterableIterator<Item> {
  reader: Reader<Item> | null;
  /**
   * The next item, or null where it is still to come. Only what is taken makes room in the queue.
   * @throws what ended it, once: SlowConsumerError, the end of the credential, a log that cannot be read
   */
  take(): Item | null;
  /** Nothing follows. */
  over: boolean;
  end(): void;
}
