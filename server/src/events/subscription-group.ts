import type { Database } from '../db/database.ts';
import type { Cursors, CursorsFor } from '../kernel/cursor.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { StoredEvent } from './event.ts';
import type { Position, Topic } from './log.ts';
import type { LogTailer } from './log-tailer.ts';
import type { SubscriptionOptions } from './subscription.ts';

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
  /** The item made of an event, while any queue holds the event. */
  readonly items: WeakMap<StoredEvent, Item>;
  /** The newest event and its item, which most subscriptions deliver next. */
  newest: { event: StoredEvent; item: Item } | null;
}
export type SubscriptionGroups = Map<string, SubscriptionGroup<unknown>>;

export function findOrCreateGroup<Item>(
  subscription: SubscriptionOptions<Item>,
  groups: SubscriptionGroups,
): SubscriptionGroup<Item> {
  const { database, tailer, cursorsFor, tenant, topic, matches = () => true, dedupeKey } = subscription;
  const { toItem, isLast, coalesce } = subscription;
  // The same request may refer to another resource by now.
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
    members: 0,
    items: new WeakMap(),
    newest: null,
  };
  if (key) groups.set(key, group as SubscriptionGroup<unknown>);
  return group;
}

/** Keeps the answer for one event: the subscriptions of a group are asked about it one after the other. */
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
  if (event.version >= (group.newest?.event.version ?? 0)) group.newest = { event, item };
  return item;
}

function makeItem<Item>(group: SubscriptionGroup<Item>, event: StoredEvent): Item {
  const item = group.toItem(event, encodeCursor(group.cursors, event));
  group.items.set(event, item);
  if (group.dedupeKey === undefined || typeof item !== 'object' || item === null) return item;
  // A shared item is executed once for all: two groups that shared one would show each what only the other may see.
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
