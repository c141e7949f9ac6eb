import type { Database } from '../db/database.ts';
import type { Cursors, CursorsFor } from '../kernel/cursor.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { StoredEvent } from './event.ts';
import type { Position, Topic } from './log.ts';
import type { LogTailer } from './log-tailer.ts';
import type { SubscriptionOptions } from './subscription.ts';

/** The state that subscriptions of one name share. */
export interface SubscriptionGroup<Item> {
  readonly dedupeKey: string | undefined;
  readonly database: Database;
  readonly tailer: LogTailer;
  readonly cursors: Cursors;
  readonly tenant: Tenant;
  readonly topic: Topic;
  readonly wants: (event: StoredEvent) => boolean;
  readonly toItem: SubscriptionOptions<Item>['toItem'];
  readonly isLast: SubscriptionOptions<Item>['isLast'];
  readonly coalesce: SubscriptionOptions<Item>['coalesce'];
  /** How many there are. */
  members: number;
  /** The item made of an event, while any queue holds it. */
  readonly items: WeakMap<StoredEvent, Item>;
  /** The same of the newest, which most are at. */
  newest: { event: StoredEvent; item: Item } | null;
}
export type SubscriptionGroups = Map<string, SubscriptionGroup<unknown>>;

export function groupOf<Item>(
  subscription: SubscriptionOptions<Item>,
  groups: SubscriptionGroups,
): SubscriptionGroup<Item> {
  const { database, tailer, cursorsFor, tenant, topic, wants = () => true, dedupeKey } = subscription;
  const { toItem, isLast, coalesce } = subscription;
  // The same reference may stand for another resource by now.
  const name = dedupeKey && `${dedupeKey} ${topic.resourceId}`;
  const known = name && groups.get(name);
  if (known) return known as SubscriptionGroup<Item>;
  const cursors = updatesCursors(cursorsFor, tenant);
  const group: SubscriptionGroup<Item> = {
    ...{ dedupeKey: name, database, tailer, cursors, tenant, topic, wants, toItem, isLast, coalesce },
    members: 0,
    items: new WeakMap(),
    newest: null,
  };
  if (name) groups.set(name, group as SubscriptionGroup<unknown>);
  return group;
}

export function itemOf<Item>(group: SubscriptionGroup<Item>, event: StoredEvent): Item {
  if (group.newest?.event === event) return group.newest.item;
  const item = group.items.get(event) ?? make(group, event);
  if (event.version >= (group.newest?.event.version ?? 0)) group.newest = { event, item };
  return item;
}

function make<Item>(group: SubscriptionGroup<Item>, event: StoredEvent): Item {
  const item = group.toItem(event, encodeCursor(group.cursors, event));
  group.items.set(event, item);
  if (group.dedupeKey === undefined || typeof item !== 'object' || item === null) return item;
  // An item is executed once: if two groups shared one, a subscriber would read what only the other may see.
  if (made.has(item)) throw new TypeError('Each kind of subscription makes an item of its own of each event');
  made.add(item);
  return item;
}

const made = new WeakSet<object>();

export function encodeCursor(cursors: Cursors, { version, mark }: Position): string {
  return cursors.encode(version, mark);
}

/** One purpose for all topics: a place in the log is the same one whatever is followed from there. */
export function updatesCursors(cursorsFor: CursorsFor, tenant: Tenant): Cursors {
  return cursorsFor(tenant, 'updates');
}
