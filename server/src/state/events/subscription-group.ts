import type { Cursors, CursorsFor } from '../../kernel/cursor.ts';
import type { Tenant } from '../../kernel/tenant.ts';
import type { Database } from '../db/database.ts';
import type { StoredEvent } from './event.ts';
import type { Position, Topic } from './log.ts';
import type { LogTailer } from './log-tailer.ts';
import type { SubscriptionOptions } from './subscription.ts';

/**
 * The most events that wait in the queue of one subscription. An event of another commit ends it as too slow.
 * Waiting would hold back all others, and a dropped event would go unnoticed; the client reconnects with its
 * cursor and misses nothing.
 */
const QUEUE_LIMIT = 256;

/** The state that subscriptions with the same dedupe key share. */
export interface SubscriptionGroup<Item> {
  readonly dedupeKey: string | undefined;
  readonly database: Database;
  readonly tailer: LogTailer;
  readonly cursors: Cursors;
  readonly tenant: Tenant;
  readonly topic: Topic;
  readonly matches: (event: StoredEvent) => boolean;
  readonly toItem: SubscriptionOptions<Item>['toItem'];
  readonly isLast: SubscriptionOptions<Item>['isLast'];
  readonly coalesce: SubscriptionOptions<Item>['coalesce'];
  /** The number of subscriptions in the group. */
  members: number;
  readonly queueLimit: number;
  /** The item of each event, while any queue holds the event. */
  readonly items: WeakMap<StoredEvent, Item>;
  /**
   * The newest event and its item, which most subscriptions deliver next; dropped in the next turn of the
   * event loop.
   */
  newest: { event: StoredEvent; item: Item } | null;
}
export type SubscriptionGroups = Map<string, SubscriptionGroup<unknown>>;

export function findOrCreateGroup<Item>(
  subscription: SubscriptionOptions<Item>,
  groups: SubscriptionGroups,
): SubscriptionGroup<Item> {
  const { database, tailer, cursorsFor, tenant, topic, matches = () => true, dedupeKey } = subscription;
  const { toItem, isLast, coalesce, queueLimit = QUEUE_LIMIT } = subscription;
  // The same request may refer to another resource later.
  const key = dedupeKey && `${dedupeKey} ${topic.resourceId}`;
  const existing = key && groups.get(key);
  if (existing) return existing as SubscriptionGroup<Item>;
  const cursors = updatesCursors(cursorsFor, tenant);
  const group: SubscriptionGroup<Item> = {
    dedupeKey: key,
    database,
    tailer,
    cursors,
    tenant,
    topic,
    matches: rememberNewest(matches),
    toItem,
    isLast,
    coalesce,
    queueLimit,
    members: 0,
    items: new WeakMap(),
    newest: null,
  };
  if (key) groups.set(key, group as SubscriptionGroup<unknown>);
  return group;
}

/** Caches the result for one event: the subscriptions of a group check it one after the other. */
function rememberNewest(matches: (event: StoredEvent) => boolean): (event: StoredEvent) => boolean {
  let newest: StoredEvent | null = null;
  let isMatch = false;
  return (event) => {
    if (event !== newest) {
      isMatch = matches(event);
      newest = event;
    }
    return isMatch;
  };
}

export function findOrMakeItem<Item>(group: SubscriptionGroup<Item>, event: StoredEvent): Item {
  if (group.newest?.event === event) return group.newest.item;
  const item = group.items.get(event) ?? makeItem(group, event);
  if (event.version < (group.newest?.event.version ?? 0)) return item;
  if (group.newest === null && recent.push(group as SubscriptionGroup<unknown>) === 1)
    setImmediate(forgetNewest);
  group.newest = { event, item };
  return item;
}

/**
 * The groups with a newest event. Without this list each would hold the item and its result until its next
 * event, which may never happen.
 */
const recent: SubscriptionGroup<unknown>[] = [];

function forgetNewest(): void {
  for (const group of recent.splice(0)) group.newest = null;
}

function makeItem<Item>(group: SubscriptionGroup<Item>, event: StoredEvent): Item {
  const item = group.toItem(event, encodeCursor(group.cursors, event));
  // The item of a single subscription is requested only once.
  if (group.members > 1) group.items.set(event, item);
  if (group.dedupeKey === undefined || typeof item !== 'object' || item === null) return item;
  // A shared item is executed once for all. If two groups shared one, each would show what only the other may
  // see.
  if (madeItems.has(item))
    throw new TypeError('Each kind of subscription has to make its own item of each event');
  madeItems.add(item);
  return item;
}

const madeItems = new WeakSet<object>();

export function encodeCursor(cursors: Cursors, { version, mark }: Position): string {
  return cursors.encode(version, mark);
}

/** The cursors of a tenant's log. All topics share one purpose: a position in the log does not depend on the topic. */
export function updatesCursors(cursorsFor: CursorsFor, tenant: Tenant): Cursors {
  return cursorsFor(tenant, 'updates');
}
